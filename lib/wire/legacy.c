/* Messages of magic 0 and 1, read as Kafka's LegacyRecord and AbstractLegacyRecordBatch read them: same order of
 * checks, same words, same stops. */
#include <zlib.h>

#include "lib/wire/batch.h"
#include "lib/wire/legacy.h"

enum { RECORD_MAX = INT32_MAX - 8 };

uint32_t kw_legacy_crc(const uint8_t *p, size_t size)
{
	return (uint32_t)crc32_z(0, p + KW_L_MAGIC, size - KW_L_MAGIC);
}

/* ---- one message ---- */

/* A length at *at and that many bytes; moves *at behind them. */
static int read_bytes(const struct kw_legacy *legacy, const char *what, size_t *at, struct kw_bytes *out,
		      struct kt_err *err)
{
	size_t left = legacy->size - *at;
	int32_t n;

	if (left < 4)
		return kw_fail_at(err, KT_ECORRUPT, *at, "%zu bytes do not hold the length of the %s", left, what);
	n = (int32_t)kw_rd32(legacy->p + *at);
	left -= 4;
	if (n > 0 && (size_t)n > left)
		return kw_fail_at(err, KT_ECORRUPT, *at, "%s of %d bytes in a message that has %zu bytes left", what, n,
				  left);
	*at += 4;
	if (n >= 0) {
		*out = (struct kw_bytes){legacy->p + *at, n};
		*at += (size_t)n;
	}
	return 0;
}

/* What follows the magic. The smallest message of magic 0 reaches as far as the timestamp of magic 1. */
static int read_fields(struct kw_legacy *legacy, struct kt_err *err)
{
	const uint8_t *p = legacy->p;
	size_t at = KW_L_KEY_V0;
	int code;

	legacy->crc = kw_rd32(p + KW_L_CRC);
	legacy->attributes = (int8_t)p[KW_L_ATTRIBUTES];
	if (legacy->magic != 0) {
		bool append_time = legacy->attributes & KW_A_LOG_APPEND_TIME;

		at = KW_L_KEY_V1;
		legacy->timestamp = (int64_t)kw_rd64(p + KW_L_TIMESTAMP);
		legacy->timestampType = append_time ? KW_LOG_APPEND_TIME : KW_CREATE_TIME;
	}
	code = read_bytes(legacy, "key", &at, &legacy->key, err);
	return code ? code : read_bytes(legacy, "value", &at, &legacy->value, err);
}

int kw_legacy_parse(const uint8_t *p, size_t n, struct kw_legacy *legacy, struct kt_err *err)
{
	struct kw_entry entry;
	int code = kw_entry_parse(p, n, &entry, err);

	*legacy = (struct kw_legacy){
		.p = p, .size = entry.size, .offset = entry.offset, .length = entry.length, .magic = entry.magic,
		.timestampType = KW_NO_TIMESTAMP_TYPE, .timestamp = KW_NO_TIMESTAMP,
		.key = {NULL, -1}, .value = {NULL, -1},
	};
	return code ? code : read_fields(legacy, err);
}

int kw_legacy_parse_fields(const uint8_t *p, size_t n, enum kw_fields fields, struct kw_legacy *legacy,
			   struct kt_err *err)
{
	struct kt_err beyond = {0};
	int code = kw_legacy_parse(p, n, legacy, &beyond);
	size_t key = legacy->magic == 0 ? KW_L_KEY_V0 : KW_L_KEY_V1;
	bool has_length = legacy->size >= key + 4;

	if (code == 0 || code == KT_ETRUNC || legacy->size == 0 || fields == KW_FIELDS_ALL ||
	    (fields == KW_FIELDS_KEY_LENGTH && !has_length)) {
		if (code && err)
			*err = beyond;
		return code;
	}
	legacy->cut = true;
	if (has_length && legacy->key.n < 0)
		legacy->key.n = (int32_t)kw_rd32(p + key);
	return 0;
}

/* ---- a wrapper ---- */

struct walk {
	const struct kw_legacy *wrapper;
	const struct kw_walk_opts *opts;
	const uint8_t *start, *end;      /* of the inflated set */
	const struct kt_err *fault;      /* the stream broke at `end`; NULL if it just ends there */
	uint64_t base;                   /* to be added to an inner offset */
	enum kw_walk why;
	struct kt_err *err;
};

static int stop(struct walk *walk, enum kw_walk why, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int stop(struct walk *walk, enum kw_walk why, size_t at, const char *fmt, ...)
{
	int code = why == KW_WALK_LIMIT ? KT_ELIMIT : KT_ECORRUPT;
	va_list ap;

	walk->why = why;
	va_start(ap, fmt);
	kw_vfail_at(walk->err, code, at, fmt, ap);
	va_end(ap);
	return code;
}

/* Where the length of the value stands. */
static size_t value_place(const struct kw_legacy *message)
{
	size_t key = message->magic == 0 ? KW_L_KEY_V0 : KW_L_KEY_V1;

	return key + 4 + (message->key.n > 0 ? (size_t)message->key.n : 0);
}

/* Ends the walk because the stream broke before a byte that is needed. */
static int broken(struct walk *walk)
{
	const struct kt_err *fault = walk->fault;
	bool limit = fault->code == KT_ENOMEM || fault->code == KT_ELIMIT;

	walk->why = limit ? KW_WALK_LIMIT : KW_WALK_BAD_CODEC;
	return kw_fail_at(walk->err, limit ? fault->code : KT_ECORRUPT, (size_t)(walk->end - walk->start), "%s",
			  fault->text);
}

/* Frames the inner message at p: *size is 0 when there is no whole one. */
static int next_inner(struct walk *walk, const uint8_t *p, size_t *size)
{
	int32_t length, max = walk->opts->record_max ? walk->opts->record_max : RECORD_MAX;
	size_t left = (size_t)(walk->end - p), at = (size_t)(p - walk->start) + KW_L_LENGTH;

	*size = 0;
	if (left < KW_E_BODY)
		return walk->fault ? broken(walk) : 0;
	length = (int32_t)kw_rd32(p + KW_L_LENGTH);
	if (length < KW_E_MIN_LENGTH)
		return stop(walk, KW_WALK_INNER_SIZE, at, "Record size is less than the minimum record overhead (%d)",
			    KW_E_MIN_LENGTH);
	if (max > 0 && length > max)
		return stop(walk, KW_WALK_BAD_RECORD, at,
			    "Invalid record size: %d exceeds the configured maximum record size of %d.", length, max);
	if ((size_t)length > kw_walk_memory(walk->opts))
		return stop(walk, KW_WALK_LIMIT, at, "no memory for a message of %d bytes", length);
	if ((size_t)length > left - KW_E_BODY)
		return walk->fault ? broken(walk) : 0;
	*size = (size_t)length + KW_E_BODY;
	return 0;
}

static int check_inner_magic(struct walk *walk, const uint8_t *p)
{
	int magic = (int8_t)p[KW_L_MAGIC];

	if (!walk->opts->inner_magic || magic == walk->wrapper->magic)
		return 0;
	return stop(walk, KW_WALK_INNER_MAGIC, (size_t)(p - walk->start) + KW_L_MAGIC,
		    "Compressed message magic %d does not match wrapper magic %d", magic, walk->wrapper->magic);
}

/* What an inner offset counts from: only the last inner message tells. */
static int find_base(struct walk *walk, int64_t last)
{
	int64_t offset = walk->wrapper->offset;

	if (walk->wrapper->magic == 0 || offset == 0)
		return 0;
	if (offset < last)
		return stop(walk, KW_WALK_WRAPPER_OFFSET, KW_L_OFFSET,
			    "Found invalid wrapper offset in compressed v1 message set, wrapper offset '%lld' is less "
			    "than the last inner message offset '%lld' and it is not zero.", (long long)offset,
			    (long long)last);
	walk->base = (uint64_t)offset - (uint64_t)last;
	return 0;
}

/* Frames all inner messages before any is shown: Kafka takes the stream as a whole. */
static int measure(struct walk *walk)
{
	const uint8_t *p = walk->start;
	int64_t last = 0;
	size_t size;

	for (;;) {
		int code = next_inner(walk, p, &size);

		if (code == 0 && size > 0)
			code = check_inner_magic(walk, p);
		if (code)
			return code;
		if (size == 0)
			break;
		last = (int64_t)kw_rd64(p);
		p += size;
	}
	if (p == walk->start)
		return stop(walk, KW_WALK_WRAPPER_EMPTY, value_place(walk->wrapper),
			    "Found invalid compressed record set with no inner records");
	return find_base(walk, last);
}

/* The parts of an inner message that its wrapper overrules. */
static void overrule(const struct walk *walk, struct kw_legacy *inner)
{
	inner->offset = (int64_t)((uint64_t)inner->offset + walk->base);
	if (inner->magic != 1)
		return;
	inner->timestampType = walk->wrapper->timestampType;
	if (inner->timestampType == KW_LOG_APPEND_TIME)
		inner->timestamp = walk->wrapper->timestamp;
}

static int read_inner(struct walk *walk, const uint8_t *p, struct kw_legacy *inner)
{
	size_t at = (size_t)(p - walk->start);
	struct kt_err err = {0};
	int beyond = kw_legacy_parse_fields(p, (size_t)(walk->end - p), walk->opts->fields, inner, &err);
	int codec = inner->attributes & KW_A_CODEC;
	uint32_t crc;

	inner->at = at;
	if (!kw_codec_name(codec))
		return stop(walk, KW_WALK_BAD_CODEC, at + KW_L_ATTRIBUTES, "Unknown compression type id: %d", codec);
	if (codec != KW_NONE)
		return stop(walk, KW_WALK_INNER_CODEC, at + KW_L_ATTRIBUTES, "Inner messages must not be compressed");
	crc = walk->opts->inner_crc && inner->magic == walk->wrapper->magic ? kw_legacy_crc(p, inner->size)
									    : inner->crc;
	if (crc != inner->crc)
		return stop(walk, KW_WALK_INNER_CRC, at + KW_L_CRC,
			    "Record is corrupt (stored crc = %u, computed crc = %u)", inner->crc, crc);
	if (beyond)
		return stop(walk, KW_WALK_BEYOND, at + err.offset, "%s", err.text);
	overrule(walk, inner);
	return 0;
}

static int visit_inner(struct walk *walk, kw_legacy_fn *fn, void *arg)
{
	const uint8_t *p = walk->start;
	int code = measure(walk);

	for (int32_t i = 0; code == 0; i++) {
		struct kw_legacy inner;
		size_t size;

		code = next_inner(walk, p, &size);
		if (code || size == 0)
			break;
		code = read_inner(walk, p, &inner);
		if (code == 0 && fn && (code = fn(arg, i, &inner)) != 0)
			walk->why = KW_WALK_STOPPED;
		p += size;
	}
	return code;
}

static int visit_wrapper(struct walk *walk, int codec, kw_legacy_fn *fn, void *arg)
{
	const struct kw_legacy *wrapper = walk->wrapper;
	struct kw_inflate_opts limits = {walk->opts->inflate_max, walk->opts->inflate_ratio,
					 walk->opts->inflate_ratio_from, wrapper->magic == 0};
	struct kt_err fault = {0};
	struct kw_buf inflated;
	int code;

	if (wrapper->magic != 0 && wrapper->magic != 1)
		return stop(walk, KW_WALK_WRAPPER_MAGIC, KW_L_MAGIC,
			    "Invalid wrapper magic found in legacy deep record iterator %d", wrapper->magic);
	if (codec == KW_ZSTD)
		return stop(walk, KW_WALK_WRAPPER_ZSTD, KW_L_ATTRIBUTES,
			    "Invalid wrapper compressionType found in legacy deep record iterator %d", wrapper->magic);
	if (wrapper->value.n < 0)
		return stop(walk, KW_WALK_WRAPPER_NULL, value_place(wrapper),
			    "Found invalid compressed record set with null value (magic = %d)", wrapper->magic);
	kw_buf_init(&inflated, 0);
	code = kw_decompress_as(codec, &limits, wrapper->value.p, (size_t)wrapper->value.n, &inflated, &fault);
	walk->start = inflated.n ? inflated.p : wrapper->value.p;
	walk->end = walk->start + inflated.n;
	walk->fault = code ? &fault : NULL;
	code = visit_inner(walk, fn, arg);
	kw_buf_fini(&inflated);
	return code;
}

int kw_legacy_walk(const struct kw_legacy *message, const struct kw_walk_opts *opts, kw_legacy_fn *fn, void *arg,
		   enum kw_walk *why, struct kt_err *err)
{
	static const struct kw_walk_opts plain;
	struct walk walk = {.wrapper = message, .opts = opts ? opts : &plain, .why = KW_WALK_END, .err = err};
	int codec = message->attributes & KW_A_CODEC, code = 0;

	if (!kw_codec_name(codec))
		code = stop(&walk, KW_WALK_BAD_CODEC, KW_L_ATTRIBUTES, "Unknown compression type id: %d", codec);
	else if (codec != KW_NONE)
		code = visit_wrapper(&walk, codec, fn, arg);
	else if (fn && (code = fn(arg, 0, message)) != 0)
		walk.why = KW_WALK_STOPPED;
	*why = walk.why;
	return code;
}
