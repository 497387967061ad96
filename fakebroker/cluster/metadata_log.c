#include "fakebroker/cluster/metadata_log.h"

#include <stdlib.h>

#include "fakebroker/cluster/log_line.h"
#include "lib/wire/varint.h"

enum { FRAME_VERSION = 1 };

void fb_metadata_init(struct fb_metadata_log *log, size_t max)
{
	*log = (struct fb_metadata_log){.max = max};
	kw_arena_init(&log->arena, 0);
}

static void drop(struct fb_metadata_log *log, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		log->bytes -= log->batches[i].bytes.n;
		kw_buf_fini(&log->batches[i].bytes);
	}
	log->n -= n;
	if (n)
		memmove(log->batches, log->batches + n, log->n * sizeof *log->batches);
	log->start = log->n ? log->batches[0].baseOffset : log->end;
}

void fb_metadata_fini(struct fb_metadata_log *log)
{
	drop(log, log->n);
	free(log->batches);
	free(log->records);
	kw_arena_fini(&log->arena);
}

int64_t fb_metadata_next(const struct fb_metadata_log *log)
{
	return log->end + log->nrecords;
}

/* ---- writing ---- */

/* The message behind what is in the buffer already; out lives in the arena. 0 or an error. */
static int encode(struct fb_metadata_log *log, struct kw_buf *buf, const struct kw_msg *msg, int version,
		  const void *in, struct kw_bytes *out)
{
	int code = kw_encode(msg, version, in, buf, NULL);
	uint8_t *copy = NULL;

	if (!code && !buf->failed)
		copy = (uint8_t *)kw_strndup(&log->arena, (const char *)buf->p, buf->n);
	*out = (struct kw_bytes){copy, (int32_t)buf->n};
	if (!code && !copy)
		code = buf->failed ? buf->failed : KT_ENOMEM;
	kw_buf_fini(buf);
	return code;
}

/* Room grows at every power of two. */
static bool room_for_record(struct fb_metadata_log *log)
{
	size_t n = (size_t)log->nrecords;
	struct kw_record *records;

	if (n & (n - 1))
		return true;
	records = realloc(log->records, (n ? 2 * n : 1) * sizeof *records);
	if (records)
		log->records = records;
	return records;
}

/* Measured as BatchBuilder.bytesNeededForRecords does. */
static void add(struct fb_metadata_log *log, struct kw_bytes key, struct kw_bytes value, int code)
{
	struct kw_record record = {.offsetDelta = log->nrecords, .key = key, .value = value};

	record.size = kw_record_size(&record);
	if (code || log->failed || !room_for_record(log)) {
		fb_metadata_add_failed(log, code ? code : KT_ENOMEM);
		return;
	}
	log->records[log->nrecords++] = record;
	log->open_bytes += record.size;
}

void fb_metadata_add_failed(struct fb_metadata_log *log, int code)
{
	if (!log->failed) {
		log->failed = code;
		log->failed_at = log->nrecords;
	}
	log->nrecords++;
}

/* Frame version, apiKey and version go before the message. */
void fb_metadata_add(struct fb_metadata_log *log, const struct kw_msg *msg, int version, const void *in)
{
	struct kw_bytes value;
	struct kw_buf buf;
	int code;

	kw_buf_init(&buf, FB_METADATA_BATCH_MAX);
	kw_put_uvarint(&buf, FRAME_VERSION);
	kw_put_uvarint(&buf, (uint32_t)msg->key);
	kw_put_uvarint(&buf, (uint32_t)version);
	code = encode(log, &buf, msg, version, in, &value);
	add(log, (struct kw_bytes){NULL, -1}, value, code);
}

void fb_metadata_add_control(struct fb_metadata_log *log, enum kw_control type, const void *in)
{
	const uint8_t head[4] = {0, 0, 0, (uint8_t)type};   /* version of the key, type */
	struct kw_bytes key = {(uint8_t *)kw_strndup(&log->arena, (const char *)head, sizeof head), sizeof head}, value;
	struct kw_buf buf;
	int code;

	kw_buf_init(&buf, FB_METADATA_BATCH_MAX);
	code = encode(log, &buf, kw_control_message((int)type), 0, in, &value);
	log->control = true;
	add(log, key, value, code || key.p ? code : KT_ENOMEM);
}

void fb_metadata_rewind(struct fb_metadata_log *log, int32_t nrecords)
{
	while (log->nrecords > nrecords) {
		log->nrecords--;
		if (!log->failed || log->nrecords < log->failed_at)
			log->open_bytes -= log->records[log->nrecords].size;
	}
	if (log->failed_at >= nrecords)
		log->failed = 0;
	log->control = log->control && nrecords > 0;
}

int fb_metadata_fits(const struct fb_metadata_log *log)
{
	if (log->failed)
		return log->failed;
	return log->open_bytes + KW_B_RECORDS > FB_METADATA_BATCH_MAX ? KT_ELIMIT : 0;
}

static bool keep(struct fb_metadata_log *log, const struct fb_metadata_batch *batch)
{
	size_t cap = log->cap ? 2 * log->cap : 64;
	struct fb_metadata_batch *batches;

	if (log->n == log->cap) {
		batches = realloc(log->batches, cap * sizeof *batches);
		if (!batches)
			return false;
		log->batches = batches;
		log->cap = cap;
	}
	log->batches[log->n++] = *batch;
	log->bytes += batch->bytes.n;
	return true;
}

static struct kw_batch_spec spec_of(const struct fb_metadata_log *log, int64_t now)
{
	struct kw_batch_spec spec = kw_batch_spec_default;

	spec.baseOffset = log->end;
	spec.partitionLeaderEpoch = FB_METADATA_EPOCH;
	spec.baseTimestamp = now;
	spec.attributes = log->control ? KW_A_CONTROL : 0;
	return spec;
}

static void limit(struct fb_metadata_log *log)
{
	size_t excess = 0, bytes;

	for (bytes = log->bytes; excess + 1 < log->n && bytes > log->max; excess++)
		bytes -= log->batches[excess].bytes.n;
	/* Not one by one: what lies behind is moved. */
	if (excess)
		drop(log, excess < log->n / 4 ? log->n / 4 : excess);
}

/* So many records from there on as one batch. */
static bool append(struct fb_metadata_log *log, struct kw_record *records, int32_t n, int64_t now)
{
	struct kw_batch_spec spec = spec_of(log, now);
	struct fb_metadata_batch batch = {.baseOffset = log->end};

	for (int32_t i = 0; i < n; i++)
		records[i].offsetDelta = i;
	kw_buf_init(&batch.bytes, 0);
	if (kw_batch_build(&spec, records, n, &batch.bytes, NULL) || !keep(log, &batch)) {
		kw_buf_fini(&batch.bytes);
		return false;
	}
	log->end += n;
	limit(log);
	return true;
}

/* How many of the records from there on one batch takes: at least one. */
static int32_t count_fitting(const struct fb_metadata_log *log, int32_t from)
{
	size_t bytes = KW_B_RECORDS + log->records[from].size;
	int32_t to = from + 1;

	while (to < log->nrecords && bytes + log->records[to].size <= FB_METADATA_BATCH_MAX)
		bytes += log->records[to++].size;
	return to - from;
}

void fb_metadata_close(struct fb_metadata_log *log, int64_t now)
{
	int64_t end = fb_metadata_next(log);
	bool good = !log->failed;

	for (int32_t at = 0, n; good && at < log->nrecords; at += n) {
		n = count_fitting(log, at);
		good = append(log, log->records + at, n, now);
	}
	if (!good) {
		log->end = end;
		drop(log, log->n);
		fb_log_line(KASSAY_ERROR, "a record of the metadata log could not be made: it begins anew at offset "
			    "%lld", (long long)end);
	}
	fb_metadata_rewind(log, 0);
	kw_arena_reset(&log->arena);
}

/* ---- reading ---- */

void fb_metadata_segment(const struct fb_metadata_log *log, struct kw_buf *out)
{
	for (size_t i = 0; i < log->n; i++)
		kw_put(out, log->batches[i].bytes.p, log->batches[i].bytes.n);
}

struct walk {
	const struct kw_batch *batch;
	int64_t from;
	fb_metadata_fn *fn;
	void *arg;
};

static const struct kw_msg *message_of(uint32_t key)
{
	for (size_t i = 0; i < kw_msg_count(); i++) {
		const struct kw_msg *msg = kw_msg_at(i);

		if (msg->kind == KW_METADATA_RECORD && msg->key == (int)key)
			return msg;
	}
	return NULL;
}

static int read_control(const struct kw_record *record, struct fb_metadata_record *out, struct kw_arena *arena)
{
	void *data;
	int code = kw_control_read_key(record->key, NULL, &out->type, NULL);

	if (!code)
		code = kw_control_read_value(out->type, record->value, arena, &out->version, &data, NULL);
	if (code)
		return code;
	out->control = true;
	out->msg = kw_control_message(out->type);
	out->data = data;
	return 0;
}

static int read_value(struct kw_bytes value, struct fb_metadata_record *out, struct kw_arena *arena)
{
	const uint8_t *p = value.p, *end = p + value.n;
	uint32_t head[3];
	void *data;
	int code;

	for (size_t i = 0; i < 3; i++)
		p += kw_get_uvarint(p, end, &head[i]);
	out->msg = message_of(head[1]);
	out->type = out->msg->key;
	out->version = (int)head[2];
	code = kw_decode(out->msg, out->version, p, (size_t)(end - p), arena, &data, NULL, NULL);
	out->data = data;
	return code;
}

static int visit(void *arg, int32_t index, const struct kw_record *record)
{
	const struct walk *walk = arg;
	struct fb_metadata_record out = {.offset = walk->batch->baseOffset + index,
					 .baseOffset = walk->batch->baseOffset,
					 .timestamp = walk->batch->baseTimestamp + record->timestampDelta};
	struct kw_arena arena;
	int code;

	if (out.offset < walk->from)
		return 0;
	kw_arena_init(&arena, 0);
	if (walk->batch->attributes & KW_A_CONTROL)
		code = read_control(record, &out, &arena);
	else
		code = read_value(record->value, &out, &arena);
	if (!code)
		code = walk->fn(walk->arg, &out);
	kw_arena_fini(&arena);
	return code;
}

int fb_metadata_each(const struct fb_metadata_log *log, int64_t from, fb_metadata_fn *fn, void *arg)
{
	int code = 0;

	for (size_t i = 0; i < log->n && !code; i++) {
		struct kw_batch batch;
		const struct walk walk = {&batch, from, fn, arg};
		enum kw_walk why;

		if (i + 1 < log->n && log->batches[i + 1].baseOffset <= from)
			continue;
		code = kw_batch_parse(log->batches[i].bytes.p, log->batches[i].bytes.n, &batch, NULL);
		if (!code)
			code = kw_batch_walk(&batch, NULL, visit, (void *)&walk, &why, NULL);
	}
	return code;
}
