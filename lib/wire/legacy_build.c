/* Messages of magic 0 and 1, written as Kafka's LegacyRecord and MemoryRecordsBuilder write them. */
#include "lib/wire/batch.h"
#include "lib/wire/legacy.h"

static void put_run(struct kw_buf *out, const struct kw_bytes *bytes)
{
	kw_put_u32(out, (uint32_t)(bytes->n < 0 ? -1 : bytes->n));
	if (bytes->n > 0)
		kw_put(out, bytes->p, (size_t)bytes->n);
}

/* Gives the message that begins at `start` and ends at the end its length and CRC. */
static void seal(struct kw_buf *out, size_t start)
{
	uint8_t *p;
	size_t size;

	if (out->failed)
		return;
	p = out->p + start;
	size = out->n - start;
	if (size - KW_E_BODY > INT32_MAX) {
		out->failed = KT_ELIMIT;
		return;
	}
	kw_wr32(p + KW_L_LENGTH, (uint32_t)(size - KW_E_BODY));
	kw_wr32(p + KW_L_CRC, kw_legacy_crc(p, size));
}

void kw_legacy_put(struct kw_buf *out, const struct kw_legacy *message)
{
	size_t start = out->n;

	kw_put_u64(out, (uint64_t)message->offset);
	kw_put_u64(out, 0);   /* length and CRC */
	kw_put_u8(out, (uint8_t)message->magic);
	kw_put_u8(out, (uint8_t)message->attributes);
	if (message->magic != 0)
		kw_put_u64(out, (uint64_t)message->timestamp);
	put_run(out, &message->key);
	put_run(out, &message->value);
	seal(out, start);
}

void kw_legacy_set_init(struct kw_legacy_set *set, const struct kw_legacy_spec *spec, struct kw_buf *out)
{
	*set = (struct kw_legacy_set){.spec = *spec, .out = out, .maxTimestamp = KW_NO_TIMESTAMP};
	kw_buf_init(&set->inner, 0);
}

void kw_legacy_set_fini(struct kw_legacy_set *set)
{
	kw_buf_fini(&set->inner);
}

static int8_t attributes_of(const struct kw_legacy_spec *spec, int codec)
{
	bool append_time = spec->magic != 0 && spec->timestampType == KW_LOG_APPEND_TIME;

	return (int8_t)(codec | (append_time ? KW_A_LOG_APPEND_TIME : 0));
}

/* What Kafka's builder asks of a message. */
static int check(const struct kw_legacy_set *set, const struct kw_legacy *message, struct kt_err *err)
{
	long long offset = message->offset;

	if (set->n > 0 && offset <= set->last)
		return kt_fail(err, KT_ERANGE, "Illegal offset %lld following previous offset %lld (Offsets must "
			       "increase monotonically).", offset, (long long)set->last);
	if (message->timestamp < KW_NO_TIMESTAMP)
		return kt_fail(err, KT_ERANGE, "Invalid negative timestamp %lld", (long long)message->timestamp);
	if (set->n > 0 && (uint64_t)offset - (uint64_t)set->first > INT32_MAX)
		return kt_fail(err, KT_ERANGE, "Maximum offset delta exceeded, base offset: %lld, last offset: %lld",
			       (long long)set->first, offset);
	return 0;
}

int kw_legacy_set_add(struct kw_legacy_set *set, const struct kw_legacy *message, struct kt_err *err)
{
	const struct kw_legacy_spec *spec = &set->spec;
	struct kw_legacy put = *message;
	int code = check(set, message, err);

	if (code)
		return code;
	if (set->n == 0)
		set->first = message->offset;
	set->last = message->offset;
	set->n++;
	put.magic = spec->magic;
	put.attributes = attributes_of(spec, KW_NONE);
	if (spec->timestampType == KW_LOG_APPEND_TIME)
		put.timestamp = spec->logAppendTime;
	if (put.timestamp > set->maxTimestamp)
		set->maxTimestamp = put.timestamp;
	if (spec->codec != KW_NONE && spec->magic != 0)
		put.offset -= set->first;
	kw_legacy_put(spec->codec == KW_NONE ? set->out : &set->inner, &put);
	return 0;
}

/* Appends the wrapper, whose value is the compressed inner set. */
static int wrap(struct kw_legacy_set *set, struct kt_err *err)
{
	const struct kw_legacy_spec *spec = &set->spec;
	struct kw_legacy wrapper = {
		.magic = spec->magic, .attributes = attributes_of(spec, spec->codec), .offset = set->last,
		.timestamp = set->maxTimestamp, .key = {NULL, -1},
	};
	size_t start = set->out->n, value;
	int code;

	kw_legacy_put(set->out, &wrapper);
	value = set->out->n;
	if (set->inner.failed || set->out->failed)
		return 0;
	code = kw_compress_as(spec->codec, &spec->deflate, set->inner.p, set->inner.n, set->out, err);
	if (code)
		return code;
	kw_wr32(set->out->p + value - 4, (uint32_t)(set->out->n - value));
	seal(set->out, start);
	return 0;
}

int kw_legacy_set_end(struct kw_legacy_set *set, struct kt_err *err)
{
	int codec = set->spec.codec, code = 0;

	if (codec == KW_ZSTD)
		return kt_fail(err, KT_EUNKNOWN, "ZStandard compression is not supported for magic %d",
			       set->spec.magic);
	if (codec != KW_NONE && set->n > 0)
		code = wrap(set, err);
	if (code == 0 && (set->inner.failed || set->out->failed))
		code = kw_buf_fail(set->inner.failed ? &set->inner : set->out, err,
				   "message set of %d messages is too large", set->n);
	return code;
}

int kw_legacy_build(const struct kw_legacy_spec *spec, const struct kw_legacy *messages, int32_t n, struct kw_buf *out,
		    struct kt_err *err)
{
	struct kw_legacy_set set;
	size_t start = out->n;
	int code = 0;

	kw_legacy_set_init(&set, spec, out);
	for (int32_t i = 0; code == 0 && i < n; i++)
		code = kw_legacy_set_add(&set, &messages[i], err);
	if (code == 0)
		code = kw_legacy_set_end(&set, err);
	kw_legacy_set_fini(&set);
	if (code)
		out->n = start;
	return code;
}
