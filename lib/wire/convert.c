#include "lib/wire/convert.h"

/* ---- down ---- */

struct down {
	struct kw_legacy_set set;
	int64_t firstOffset;       /* lowest that is taken */
	struct kt_err *err;
};

static int take_down(void *arg, int32_t index, const struct kw_item *item)
{
	struct down *down = arg;
	struct kw_legacy message = {
		.offset = item->offset, .timestamp = item->timestamp, .key = item->key, .value = item->value,
	};

	(void)index;
	return item->offset < down->firstOffset ? 0 : kw_legacy_set_add(&down->set, &message, down->err);
}

/* The time that LogAppendTime gives to all records of an entry. */
static int64_t time_of(const struct kw_entry *entry)
{
	size_t at = entry->magic == 2 ? KW_B_MAX_TIMESTAMP : KW_L_TIMESTAMP;

	return entry->magic == 0 ? KW_NO_TIMESTAMP : (int64_t)kw_rd64(entry->p + at);
}

static bool has_append_time(const struct kw_entry *entry)
{
	size_t at = entry->magic == 2 ? KW_B_ATTRIBUTES + 1 : KW_L_ATTRIBUTES;

	return entry->magic != 0 && entry->p[at] & KW_A_LOG_APPEND_TIME;
}

static int down_convert(const struct kw_entry *entry, int magic, int64_t firstOffset, const struct kw_walk_opts *opts,
			struct kw_buf *out, struct kt_err *err)
{
	struct kw_legacy_spec spec = {
		.magic = (int8_t)magic, .codec = (int8_t)kw_entry_codec(entry),
		.timestampType = has_append_time(entry) ? KW_LOG_APPEND_TIME : KW_CREATE_TIME,
		.logAppendTime = time_of(entry), .deflate = {.lz4_historic = magic == 0},
	};
	struct down down = {.firstOffset = spec.codec == KW_NONE ? firstOffset : INT64_MIN, .err = err};
	enum kw_walk why;
	int code;

	kw_legacy_set_init(&down.set, &spec, out);
	kw_buf_init(&down.set.inner, opts ? opts->inflate_max : 0);
	code = kw_entry_walk(entry, opts, take_down, &down, &why, err);
	if (code == 0)
		code = kw_legacy_set_end(&down.set, err);
	kw_legacy_set_fini(&down.set);
	return code;
}

static bool is_control(const struct kw_entry *entry)
{
	return entry->magic == 2 && entry->size >= KW_B_RECORDS && entry->p[KW_B_ATTRIBUTES + 1] & KW_A_CONTROL;
}

static int put_down(const struct kw_entry *entry, int magic, int64_t firstOffset, const struct kw_walk_opts *opts,
		    struct kw_buf *out, struct kt_err *err)
{
	struct kt_err fault = {0};
	int code = 0;

	if (magic < 2 && is_control(entry))
		return 0;
	if (magic < 2 && kw_entry_codec(entry) == KW_ZSTD)
		code = kt_fail(&fault, KT_EUNKNOWN,
			       "Down-conversion of zstandard-compressed batches is not supported");
	else if (entry->magic > magic && entry->magic == 2 && entry->size < KW_B_RECORDS)
		code = kw_entry_check(entry, &fault);
	else if (entry->magic > magic)
		code = down_convert(entry, magic, firstOffset, opts, out, &fault);
	else
		kw_put(out, entry->p, entry->size);
	if (code == 0 && out->failed)
		code = kw_buf_fail(out, &fault, "the converted set is too large");
	return code ? kw_fail_at(err, code, entry->at, "%s", fault.text) : 0;
}

int kw_convert_down(const uint8_t *p, size_t n, int magic, int64_t firstOffset, const struct kw_walk_opts *opts,
		    struct kw_buf *out, struct kt_err *err)
{
	struct kw_set set = {.p = p, .n = n};
	struct kt_err fault = {0};
	struct kw_entry entry;
	size_t start = out->n;
	int code = 0, next = 0;

	if (magic < 0 || magic > 2)
		return kt_fail(err, KT_ERANGE, "there is no magic %d", magic);
	while (code == 0 && (next = kw_set_next(&set, &entry, &fault)) > 0)
		code = put_down(&entry, magic, firstOffset, opts, out, err);
	if (code == 0 && next == KT_ECORRUPT)
		code = kw_fail_at(err, next, fault.offset, "%s", fault.text);
	if (code)
		out->n = start;
	return code;
}

/* ---- up ---- */

/* Where the records go: into messages, or into the records area of a batch. */
struct up {
	const struct kw_convert_up *to;
	struct kw_legacy_set set;
	struct kw_buf area;
	int32_t n;
	int64_t baseTimestamp, maxTimestamp;
	struct kt_err *err;
};

static int add_message(struct up *up, const struct kw_item *item)
{
	struct kw_legacy message = {
		.offset = up->to->baseOffset + up->n, .timestamp = item->timestamp, .key = item->key,
		.value = item->value,
	};

	return kw_legacy_set_add(&up->set, &message, up->err);
}

static int add_record(struct up *up, const struct kw_item *item)
{
	struct kw_record record = {.offsetDelta = up->n, .key = item->key, .value = item->value};

	if (item->timestamp < KW_NO_TIMESTAMP)
		return kt_fail(up->err, KT_ERANGE, "Invalid negative timestamp %lld", (long long)item->timestamp);
	if (up->n == 0)
		up->baseTimestamp = item->timestamp;
	if (item->timestamp > up->maxTimestamp)
		up->maxTimestamp = item->timestamp;
	/* Wraps, as in Java. */
	record.timestampDelta = (int64_t)((uint64_t)item->timestamp - (uint64_t)up->baseTimestamp);
	kw_record_put(&up->area, &record);
	return 0;
}

static int take_up(void *arg, int32_t index, const struct kw_item *item)
{
	struct up *up = arg;
	int code = up->to->magic == 2 ? add_record(up, item) : add_message(up, item);

	(void)index;
	up->n++;
	return code;
}

static int put_batch(struct up *up, int codec, struct kw_buf *out)
{
	const struct kw_convert_up *to = up->to;
	bool append_time = to->timestampType == KW_LOG_APPEND_TIME;
	struct kw_batch_spec spec = kw_batch_spec_default;

	if (up->area.failed)
		return kw_buf_fail(&up->area, up->err, "batch of %d records is too large", up->n);
	spec.baseOffset = to->baseOffset;
	spec.partitionLeaderEpoch = to->partitionLeaderEpoch;
	spec.attributes = (int16_t)(codec | (append_time ? KW_A_LOG_APPEND_TIME : 0));
	spec.baseTimestamp = up->baseTimestamp;
	spec.maxTimestamp = append_time ? to->now : up->maxTimestamp;
	return kw_batch_wrap(&spec, up->area.p, up->area.n, up->n, up->n - 1, out, up->err);
}

/* What the leader asks of an entry and the one before it; `first` is NULL for the first one. */
static int check_entry(const struct kw_entry *entry, const struct kw_entry *first, int magic, struct kt_err *err)
{
	bool compressed = kw_entry_codec(entry) != KW_NONE || (first && kw_entry_codec(first) != KW_NONE);
	int code = kw_entry_check(entry, err);

	if (code)
		return code;
	if (entry->magic >= magic)
		return kw_fail_at(err, KT_ERANGE, entry->at, "magic %d is not older than %d", entry->magic, magic);
	if (first && compressed)
		return kw_fail_at(err, KT_ECORRUPT, entry->at, "Compressed outer record has more than one batch");
	if (first && entry->magic != first->magic)
		return kw_fail_at(err, KT_ECORRUPT, entry->at,
				  "Batch magic %d is not the same as the first batch's magic byte %d", entry->magic,
				  first->magic);
	return 0;
}

static int walk_up(struct up *up, const struct kw_entry *entry, const struct kw_walk_opts *opts, struct kt_err *err)
{
	struct kw_walk_opts leader = opts ? *opts : (struct kw_walk_opts){0};
	struct kt_err fault = {0};
	enum kw_walk why;
	int code;

	leader.inner_magic = leader.inner_crc = true;
	up->err = &fault;
	code = kw_entry_walk(entry, &leader, take_up, up, &why, &fault);
	return code ? kw_fail_at(err, code, entry->at, "%s", fault.text) : 0;
}

/* Reads the whole set into up; first gets the first entry. */
static int read_set(struct up *up, struct kw_set *set, const struct kw_walk_opts *opts, struct kw_entry *first,
		    struct kt_err *err)
{
	struct kt_err fault = {0};
	struct kw_entry entry;
	int code = 0, next = 0;
	bool any = false;

	while (code == 0 && (next = kw_set_next(set, &entry, &fault)) > 0) {
		code = check_entry(&entry, any ? first : NULL, up->to->magic, err);
		if (code == 0)
			code = walk_up(up, &entry, opts, err);
		if (!any)
			*first = entry;
		any = true;
	}
	if (code == 0 && next == KT_ECORRUPT)
		return kw_fail_at(err, next, fault.offset, "%s", fault.text);
	if (code == 0 && !any)
		return kt_fail(err, KT_ECORRUPT, "Record batch has no batches at all");
	return code;
}

/* Codec of the first entry, which decides how all are written. */
static int first_codec(const uint8_t *p, size_t n)
{
	struct kw_set set = {.p = p, .n = n};
	struct kw_entry entry;

	return kw_set_next(&set, &entry, NULL) > 0 ? kw_entry_codec(&entry) : KW_NONE;
}

int kw_convert_up(const uint8_t *p, size_t n, const struct kw_convert_up *to, const struct kw_walk_opts *opts,
		  struct kw_buf *out, struct kt_err *err)
{
	struct kw_set set = {.p = p, .n = n};
	struct kw_legacy_spec spec = {
		.magic = 1, .codec = (int8_t)(to->codec < 0 ? first_codec(p, n) : to->codec),
		.timestampType = to->timestampType, .logAppendTime = to->now,
	};
	struct up up = {.to = to, .maxTimestamp = KW_NO_TIMESTAMP};
	struct kw_entry first;
	size_t start = out->n;
	int code;

	if (to->magic != 1 && to->magic != 2)
		return kt_fail(err, KT_ERANGE, "no conversion up to magic %d", to->magic);
	kw_legacy_set_init(&up.set, &spec, out);
	kw_buf_init(&up.area, 0);
	code = read_set(&up, &set, opts, &first, err);
	up.err = err;
	if (code == 0)
		code = to->magic == 2 ? put_batch(&up, spec.codec, out) : kw_legacy_set_end(&up.set, err);
	kw_buf_fini(&up.area);
	kw_legacy_set_fini(&up.set);
	if (code)
		out->n = start;
	return code;
}
