/* The records of a batch, read as Kafka's DefaultRecordBatch and DefaultRecord read them: same order of checks, same
 * words, same stops. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/wire/batch.h"
#include "lib/wire/entry.h"
#include "lib/wire/tally.h"
#include "lib/wire/varint.h"

enum { RECORD_MAX = INT32_MAX - 8, FEW_HEADERS = 16 };

/* What a reader may read, and why there is no more. */
struct area {
	const uint8_t *p, *end;
	const struct kt_err *fault;   /* the compressed stream broke at `end`; NULL if it just ends there */
};

struct walk {
	struct area area;
	const uint8_t *start;         /* of the records area */
	bool stream;                  /* the area comes out of a compressed stream */
	bool skip;                    /* see kw_walk_opts.skip_bodies; only with stream */
	int32_t record_max;
	size_t memory;                /* most that a record may take before a byte of it is read */
	struct kw_header *headers;    /* few, until a record has more */
	size_t capheaders;
	struct kw_header few[FEW_HEADERS];
	enum kw_walk why;
	struct kt_err *err;
};

static const struct {
	const char *name;
	int code;
} walks[] = {
#define KW_X(sym, name, code) [sym] = {name, code},
	KW_WALKS(KW_X)
#undef KW_X
};

size_t kw_walk_memory(const struct kw_walk_opts *opts)
{
	if (opts->record_max >= 0)
		return SIZE_MAX;
	return opts->inflate_max ? opts->inflate_max : KW_INFLATE_MAX;
}

const char *kw_walk_name(enum kw_walk why)
{
	return walks[why].name;
}

int kw_walk_code(enum kw_walk why)
{
	return walks[why].code;
}

/* Ends the walk with a fault at `at`. */
static int stop(struct walk *walk, enum kw_walk why, const uint8_t *at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int stop(struct walk *walk, enum kw_walk why, const uint8_t *at, const char *fmt, ...)
{
	int code = why == KW_WALK_LIMIT ? KT_ELIMIT : KT_ECORRUPT;
	va_list ap;

	walk->why = why;
	va_start(ap, fmt);
	kw_vfail_at(walk->err, code, (size_t)(at - walk->start), fmt, ap);
	va_end(ap);
	return code;
}

/* Ends the walk at a limit, or without memory. */
static int stop_short(struct walk *walk, int code, const uint8_t *at, const char *text)
{
	walk->why = KW_WALK_LIMIT;
	return kw_fail_at(walk->err, code, (size_t)(at - walk->start), "%s", text);
}

/* Ends the walk because the stream broke before a byte that is needed. */
static int broken(struct walk *walk, const struct area *area, const char *doing)
{
	const struct kt_err *fault = area->fault;

	if (fault->code == KT_ENOMEM || fault->code == KT_ELIMIT)
		return stop_short(walk, fault->code, area->end, fault->text);
	return stop(walk, KW_WALK_BAD_CODEC, area->end, "%s: %s", doing, fault->text);
}

static int broken_record(struct walk *walk, const struct area *area)
{
	return broken(walk, area, "Failed to decompress record stream");
}

/* What Kafka makes of a field that cannot be read: the stream broke, or the record is not one. */
static int malformed(struct walk *walk, const struct area *area, bool ran_out)
{
	if (ran_out && area->fault)
		return broken_record(walk, area);
	return stop(walk, KW_WALK_BAD_RECORD, area->p, "Found invalid record structure");
}

static int read_varint(struct walk *walk, struct area *area, int32_t *v)
{
	int used = kw_get_varint(area->p, area->end, v);

	if (used <= 0)
		return malformed(walk, area, used == 0);
	area->p += used;
	return 0;
}

static int read_varlong(struct walk *walk, struct area *area, int64_t *v)
{
	int used = kw_get_varlong(area->p, area->end, v);

	if (used <= 0)
		return malformed(walk, area, used == 0);
	area->p += used;
	return 0;
}

/* n bytes; null when n is negative. */
static int read_run(struct walk *walk, struct area *area, int32_t n, struct kw_bytes *out)
{
	size_t left = (size_t)(area->end - area->p);

	*out = (struct kw_bytes){NULL, -1};
	if (n < 0)
		return 0;
	if ((size_t)n > left) {
		if (!walk->skip || area->fault)
			return malformed(walk, area, true);
		return stop(walk, KW_WALK_BAD_RECORD, area->end,
			    "Reached end of input stream before skipping all bytes. Remaining bytes:%zu",
			    (size_t)n - left);
	}
	*out = (struct kw_bytes){area->p, n};
	area->p += n;
	return 0;
}

/* A length and that many bytes. */
static int read_bytes(struct walk *walk, struct area *area, struct kw_bytes *out)
{
	int32_t n = 0;
	int code = read_varint(walk, area, &n);

	return code ? code : read_run(walk, area, n, out);
}

static int read_header(struct walk *walk, struct area *area, struct kw_header *header)
{
	const uint8_t *at = area->p;
	struct kw_bytes key;
	int32_t n = 0;
	int code = read_varint(walk, area, &n);

	if (code)
		return code;
	if (n < 0)
		return stop(walk, KW_WALK_BAD_RECORD, at, "Invalid negative header key size %d", n);
	code = read_run(walk, area, n, &key);
	if (code)
		return code;
	header->key = (struct kw_str){(const char *)key.p, key.n};
	return read_bytes(walk, area, &header->value);
}

/* Room for one header more than the n there are. */
static int grow_headers(struct walk *walk, size_t n)
{
	bool first = walk->headers == walk->few;
	struct kw_header *headers = realloc(first ? NULL : walk->headers, 2 * n * sizeof *headers);

	if (!headers)
		return stop_short(walk, KT_ENOMEM, walk->area.p, "no memory for record headers");
	if (first)
		memcpy(headers, walk->few, sizeof walk->few);
	walk->headers = headers;
	walk->capheaders = 2 * n;
	return 0;
}

static int read_headers(struct walk *walk, struct area *area, struct kw_record *record)
{
	const uint8_t *at = area->p;
	int32_t n = 0;
	int code = read_varint(walk, area, &n);

	if (code)
		return code;
	if (n < 0)
		return stop(walk, KW_WALK_BAD_RECORD, at, "Found invalid number of record headers %d", n);
	if (!walk->skip && n > area->end - area->p)
		return stop(walk, KW_WALK_BAD_RECORD, at, "Found invalid number of record headers. "
			    "%d is larger than the remaining size of the buffer", n);
	for (size_t i = 0; i < (size_t)n; i++) {
		if (!walk->skip && i == walk->capheaders) {
			code = grow_headers(walk, i);
			if (code)
				return code;
		}
		code = read_header(walk, area, &walk->headers[walk->skip ? 0 : i]);
		if (code)
			return code;
	}
	record->nheaders = n;
	record->headers = n && !walk->skip ? walk->headers : NULL;
	return 0;
}

static int read_body(struct walk *walk, struct area *area, struct kw_record *record)
{
	int code;

	if (area->p == area->end)
		return malformed(walk, area, true);
	record->attributes = (int8_t)*area->p++;
	if ((code = read_varlong(walk, area, &record->timestampDelta)) ||
	    (code = read_varint(walk, area, &record->offsetDelta)) ||
	    (code = read_bytes(walk, area, &record->key)) ||
	    (code = read_bytes(walk, area, &record->value)))
		return code;
	return read_headers(walk, area, record);
}

/* The record's length prefix. In a compressed stream Kafka takes an over-long varint and the end of the data alike. */
static int read_size(struct walk *walk, int32_t *size)
{
	struct area *area = &walk->area;
	int used = kw_get_varint(area->p, area->end, size);

	if (used > 0) {
		area->p += used;
		return 0;
	}
	if (used == 0 && area->fault)
		return broken_record(walk, area);
	if (used < 0 && !walk->stream)
		return stop(walk, KW_WALK_BAD_VARINT, area->p,
			    "Varint is too long, the most significant bit in the 5th byte is set, converted value: %x",
			    (uint32_t)*size);
	return stop(walk, KW_WALK_EARLY_EOF, area->p, "Incorrect declared batch size, premature EOF reached");
}

/* Checks the size of a record in a compressed stream. `at` is the place of its length. */
static int check_stream_size(struct walk *walk, const uint8_t *at, int32_t size)
{
	struct area *area = &walk->area;

	if (walk->skip && walk->record_max < 0)
		return 0;
	if (size < 0)
		return stop(walk, KW_WALK_BAD_RECORD, at, "Invalid record size: %d is negative.", size);
	if (walk->record_max > 0 && size > walk->record_max)
		return stop(walk, KW_WALK_BAD_RECORD, at,
			    "Invalid record size: %d exceeds the configured maximum record size of %d.", size,
			    walk->record_max);
	if ((size_t)size > walk->memory)
		return stop(walk, KW_WALK_LIMIT, at, "no memory for a record of %d bytes", size);
	if (walk->skip || size <= area->end - area->p)
		return 0;
	if (area->fault)
		return broken_record(walk, area);
	return stop(walk, KW_WALK_BAD_RECORD, at, "Invalid record size: expected %d bytes in record payload, "
		    "but the record payload reached EOF.", size);
}

/* Checks the size of a record in the batch itself. */
static int check_size(struct walk *walk, const uint8_t *at, int32_t size)
{
	size_t left = (size_t)(walk->area.end - walk->area.p);

	if (size <= 0 || (size_t)size <= left)
		return 0;
	return stop(walk, KW_WALK_BAD_RECORD, at, "Invalid record size: expected %d bytes in record payload, "
		    "but instead the buffer has only %zu remaining bytes.", size, left);
}

static int read_record(struct walk *walk, struct kw_record *record)
{
	const uint8_t *at = walk->area.p, *body_at;
	struct area body;
	int32_t size = 0;
	int code = read_size(walk, &size);

	if (code)
		return code;
	code = walk->stream ? check_stream_size(walk, at, size) : check_size(walk, at, size);
	if (code)
		return code;
	body_at = walk->area.p;
	body = walk->area;
	/* Only a whole record taken out of a stream is bounded by its length; in a plain batch Kafka reads on. */
	if (walk->stream && !walk->skip)
		body = (struct area){body_at, body_at + size, NULL};
	code = read_body(walk, &body, record);
	if (code)
		return code;
	walk->area.p = body.p;
	if (!walk->skip && body.p - body_at != size)
		return stop(walk, KW_WALK_BAD_RECORD, at, "Invalid record size: expected to read %d bytes "
			    "in record payload, but instead read %td", size, body.p - body_at);
	record->at = (size_t)(at - walk->start);
	record->size = (size_t)(body.p - at);
	return 0;
}

/* ---- the short way ----
 * A record as nearly all are, in as few steps as can be. Nothing is judged here: whatever is odd, and a record of a
 * batch that is skimmed, is read once more by read_record(), which has the words for it. */

static inline const uint8_t *take_run(const uint8_t *p, const uint8_t *end, const uint8_t **run, int32_t *n)
{
	p = kw_take_varint(p, end, n);
	if (!p || *n > end - p)
		return NULL;
	if (*n < 0) {
		*run = NULL;
		*n = -1;
		return p;
	}
	*run = p;
	return p + *n;
}

static inline const uint8_t *take_headers(const uint8_t *p, const uint8_t *end, struct walk *walk,
					  struct kw_record *record)
{
	struct kw_header *headers = walk->headers;
	const uint8_t *key;
	int32_t n;

	p = kw_take_varint(p, end, &n);
	if (!p || (uint32_t)n > walk->capheaders)
		return NULL;
	for (int32_t i = 0; i < n; i++) {
		p = take_run(p, end, &key, &headers[i].key.n);
		if (!p || headers[i].key.n < 0)
			return NULL;
		headers[i].key.s = (const char *)key;
		p = take_run(p, end, &headers[i].value.p, &headers[i].value.n);
		if (!p)
			return NULL;
	}
	record->nheaders = n;
	record->headers = n ? headers : NULL;
	return p;
}

static inline bool take_record(struct walk *walk, struct kw_record *record)
{
	const uint8_t *at = walk->area.p, *p, *end;
	int32_t size;
	int used;

	p = kw_take_varint(at, walk->area.end, &size);
	if (!p || size <= 0 || size > walk->area.end - p || (walk->record_max > 0 && size > walk->record_max) ||
	    walk->skip)
		return false;
	end = p + size;
	record->attributes = (int8_t)*p++;
	used = kw_get_varlong(p, end, &record->timestampDelta);
	if (used <= 0 || !(p = kw_take_varint(p + used, end, &record->offsetDelta)) ||
	    !(p = take_run(p, end, &record->key.p, &record->key.n)) ||
	    !(p = take_run(p, end, &record->value.p, &record->value.n)) ||
	    !(p = take_headers(p, end, walk, record)) || p != end)
		return false;
	record->at = (size_t)(at - walk->start);
	record->size = (size_t)(p - at);
	walk->area.p = p;
	return true;
}

/* After the last record nothing may follow, and a stream must end well. */
static int check_end(struct walk *walk)
{
	struct area *area = &walk->area;

	if (area->p < area->end)
		return stop(walk, KW_WALK_TRAILING, area->p,
			    "Incorrect declared batch size, records still remaining in file");
	if (area->fault)
		return broken(walk, area, "Error checking for remaining bytes after reading batch");
	return 0;
}

static int visit(struct walk *walk, int32_t count, kw_record_fn *fn, void *arg)
{
	struct kw_record record;

	if (count < 0)
		return stop(walk, KW_WALK_BAD_RECORD, walk->start, "Found invalid record count %d in magic v2 batch",
			    count);
	for (int32_t i = 0; i < count; i++) {
		int code = 0;

		if (!take_record(walk, &record)) {
			record = (struct kw_record){0};
			code = read_record(walk, &record);
		}
		if (code == 0 && i == count - 1)
			code = check_end(walk);
		if (code)
			return code;
		code = fn ? fn(arg, i, &record) : 0;
		if (code) {
			walk->why = KW_WALK_STOPPED;
			return code;
		}
	}
	return 0;
}

static int visit_or_tally(struct walk *walk, const struct kw_batch *batch, const struct kw_walk_opts *opts,
			  kw_record_fn *fn, void *arg)
{
	struct kw_tally tally;

	if (opts->tally && !walk->area.fault &&
	    kw_tally_records(batch, walk->area.p, walk->area.end, walk->record_max, &tally) && opts->tally(arg, &tally))
		return 0;
	return visit(walk, batch->count, fn, arg);
}

static int visit_stream(struct walk *walk, const struct kw_batch *batch, const struct kw_walk_opts *opts,
			kw_record_fn *fn, void *arg)
{
	struct kw_inflate_opts limits = {opts->inflate_max, opts->inflate_ratio, opts->inflate_ratio_from, false};
	struct kt_err fault = {0};
	struct kw_buf own = {0}, *inflated = opts->inflated ? opts->inflated : &own;
	int code;

	kw_buf_clear(inflated);
	code = kw_decompress_as(batch->attributes & KW_A_CODEC, &limits, batch->p + KW_B_RECORDS,
				batch->size - KW_B_RECORDS, inflated, &fault);
	if (code == KT_EUNKNOWN) {
		code = stop(walk, KW_WALK_BAD_CODEC, walk->start, "%s", fault.text);
	} else {
		if (inflated->n > 0)
			walk->start = walk->area.p = inflated->p;
		walk->area.end = walk->start + inflated->n;
		walk->area.fault = code ? &fault : NULL;
		code = visit_or_tally(walk, batch, opts, fn, arg);
	}
	kw_buf_fini(&own);
	return code;
}

int kw_batch_walk(const struct kw_batch *batch, const struct kw_walk_opts *opts, kw_record_fn *fn, void *arg,
		  enum kw_walk *why, struct kt_err *err)
{
	static const struct kw_walk_opts full;
	struct walk walk = {.capheaders = FEW_HEADERS, .why = KW_WALK_END, .err = err};
	int code = 0;

	if (!opts)
		opts = &full;
	walk.headers = walk.few;
	walk.stream = (batch->attributes & KW_A_CODEC) != KW_NONE;
	walk.skip = walk.stream && opts->skip_bodies;
	walk.record_max = opts->record_max ? opts->record_max : RECORD_MAX;
	walk.memory = kw_walk_memory(opts);
	walk.start = walk.area.p = batch->p + KW_B_RECORDS;
	walk.area.end = batch->p + batch->size;
	if (batch->count > 0 && walk.stream)
		code = visit_stream(&walk, batch, opts, fn, arg);
	else if (batch->count != 0)
		code = visit_or_tally(&walk, batch, opts, fn, arg);
	if (walk.headers != walk.few)
		free(walk.headers);
	*why = walk.why;
	return code;
}
