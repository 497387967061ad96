#include "fakebroker/cluster/metadata_log.h"

#include <stdlib.h>

#include "lib/wire/varint.h"

enum { FRAME_VERSION = 1, MAX_BATCH = 64 * 1024 * 1024 };

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

/* The message behind what is in the buffer already; out lives in the arena. */
static bool encode(struct fb_metadata_log *log, struct kw_buf *buf, const struct kw_msg *msg, int version,
		   const void *in, struct kw_bytes *out)
{
	uint8_t *copy = NULL;

	if (kw_encode(msg, version, in, buf, NULL) == 0 && !buf->failed)
		copy = (uint8_t *)kw_strndup(&log->arena, (const char *)buf->p, buf->n);
	*out = (struct kw_bytes){copy, (int32_t)buf->n};
	kw_buf_fini(buf);
	return copy;
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

static void add(struct fb_metadata_log *log, struct kw_bytes key, struct kw_bytes value, bool good)
{
	if (good && !log->failed && room_for_record(log))
		log->records[log->nrecords] =
			(struct kw_record){.offsetDelta = log->nrecords, .key = key, .value = value};
	else
		log->failed = true;
	log->nrecords++;
}

/* Frame version, apiKey and version go before the message. */
void fb_metadata_add(struct fb_metadata_log *log, const struct kw_msg *msg, int version, const void *in)
{
	struct kw_bytes value;
	struct kw_buf buf;
	bool good;

	kw_buf_init(&buf, MAX_BATCH);
	kw_put_uvarint(&buf, FRAME_VERSION);
	kw_put_uvarint(&buf, (uint32_t)msg->key);
	kw_put_uvarint(&buf, (uint32_t)version);
	good = encode(log, &buf, msg, version, in, &value);
	add(log, (struct kw_bytes){NULL, -1}, value, good);
}

void fb_metadata_add_control(struct fb_metadata_log *log, enum kw_control type, const void *in)
{
	const uint8_t head[4] = {0, 0, 0, (uint8_t)type};   /* version of the key, type */
	struct kw_bytes key = {(uint8_t *)kw_strndup(&log->arena, (const char *)head, sizeof head), sizeof head}, value;
	struct kw_buf buf;
	bool good;

	kw_buf_init(&buf, MAX_BATCH);
	good = encode(log, &buf, kw_control_message((int)type), 0, in, &value) && key.p;
	log->control = true;
	add(log, key, value, good);
}

void fb_metadata_rewind(struct fb_metadata_log *log, int32_t nrecords)
{
	log->nrecords = nrecords;
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

/* Takes the batch, unless it could not be made. */
static void append(struct fb_metadata_log *log, struct fb_metadata_batch *batch, int32_t count, bool good)
{
	size_t excess = 0, bytes;

	good = good && keep(log, batch);
	log->end += count;
	if (!good) {
		kw_buf_fini(&batch->bytes);
		drop(log, log->n);
		return;
	}
	for (bytes = log->bytes; excess + 1 < log->n && bytes > log->max; excess++)
		bytes -= log->batches[excess].bytes.n;
	/* Not one by one: what lies behind is moved. */
	if (excess)
		drop(log, excess < log->n / 4 ? log->n / 4 : excess);
}

void fb_metadata_close(struct fb_metadata_log *log, int64_t now)
{
	struct kw_batch_spec spec = spec_of(log, now);
	struct fb_metadata_batch batch = {.baseOffset = log->end};
	int32_t n = log->nrecords;
	bool good = !log->failed;

	if (n == 0)
		return;
	kw_buf_init(&batch.bytes, 2 * (size_t)MAX_BATCH);
	good = good && kw_batch_build(&spec, log->records, n, &batch.bytes, NULL) == 0;
	log->nrecords = 0;
	log->control = log->failed = false;
	kw_arena_reset(&log->arena);
	append(log, &batch, n, good);
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
