/* Decode: one interpreter for every message and version.
 *
 * What it makes of odd values is what Kafka 4.4 makes of them: any negative length is null, a bool of 7 is true, tags
 * may repeat (the last wins) or come in any order, and the size of a known tagged field is not looked at.
 */
#include <stdio.h>

#include "lib/wire/map.h"
#include "lib/wire/plan.h"
#include "lib/wire/varint.h"

struct dec {
	const uint8_t *base, *end;
	struct kw_arena *arena;
	struct kt_err *err;
	struct kw_map *map;        /* gets the place of each field; or NULL */
	const uint8_t *stop;       /* where the first failure was */
	int code;                  /* of the first failure */
};

/* All that reads takes the place to read at and returns the place behind, or NULL after a failure: so the place stays in
 * a register, and one look at it is enough. */
static const uint8_t *fail(struct dec *d, const uint8_t *p, const struct kw_frame *frame, int code, const char *what)
{
	if (d->code)
		return NULL;
	d->code = code;
	d->stop = p;
	kw_frame_fail(frame, d->err, code, "%s", what);
	if (d->err && !d->err->has_offset) {
		d->err->offset = (size_t)(p - d->base);
		d->err->has_offset = 1;
	}
	return NULL;
}

static const uint8_t *truncated(struct dec *d, const uint8_t *p, const struct kw_frame *frame, size_t want)
{
	char text[96];

	snprintf(text, sizeof text, "%zu bytes are needed, %zu are left", want, (size_t)(d->end - p));
	return fail(d, p, frame, KT_ETRUNC, text);
}

static inline bool has(const struct dec *d, const uint8_t *p, size_t n)
{
	return (size_t)(d->end - p) >= n;
}

static const uint8_t *long_uvarint(struct dec *d, const uint8_t *p, const struct kw_frame *frame, uint32_t *v)
{
	int n = kw_get_uvarint(p, d->end, v);

	if (n == 0)
		return truncated(d, p, frame, (size_t)(d->end - p) + 1);
	if (n < 0)
		return fail(d, p, frame, KT_ECORRUPT, "varint is too long");
	return p + n;
}

static inline const uint8_t *uvarint(struct dec *d, const uint8_t *p, const struct kw_frame *frame, uint32_t *v)
{
	if (p < d->end && *p < 0x80) {
		*v = *p;
		return p + 1;
	}
	return long_uvarint(d, p, frame, v);
}

/* ---- places ---- */

enum { NO_SPAN = -1 };

/* Numbers are never compact; what stands before a nullable struct is a number of its own kind. */
static enum kw_coding length_coding(const struct kw_op *op, bool array)
{
	if (op->type == KW_STRUCT && !array)
		return op->tag >= 0 ? KW_UVARINT : KW_FIXED;
	return op->compact && (array || op->type >= KW_STRING) ? KW_COMPACT : KW_FIXED;
}

/* Returns its index: spans move when more are added. */
static ptrdiff_t add_span(struct dec *d, const uint8_t *p, const struct kw_op *op, const struct kw_frame *frame)
{
	struct kw_span *span;
	char path[256];

	kw_frame_path(frame, path, sizeof path);
	span = kw_map_add(d->map, path, p);
	if (!span) {
		fail(d, p, frame, KT_ENOMEM, "out of memory");
		return NO_SPAN;
	}
	span->type = op->type;
	span->array = op->array && frame->index < 0;
	span->coding = (uint8_t)length_coding(op, span->array);
	span->tagged = op->tag >= 0;
	return (ptrdiff_t)d->map->n - 1;
}

static inline ptrdiff_t open_span(struct dec *d, const uint8_t *p, const struct kw_op *op, const struct kw_frame *frame)
{
	return d->map ? add_span(d, p, op, frame) : NO_SPAN;
}

/* The tagged fields of a struct, with their count in front. */
static ptrdiff_t add_tags_span(struct dec *d, const uint8_t *p, const struct kw_frame *up)
{
	struct kw_span *span;
	char of[256] = "", path[280];

	kw_frame_path(up, of, sizeof of);
	snprintf(path, sizeof path, "%s%s_taggedFields", of, *of ? "." : "");
	span = kw_map_add(d->map, path, p);
	if (!span) {
		fail(d, p, up, KT_ENOMEM, "out of memory");
		return NO_SPAN;
	}
	span->type = KW_STRUCT;
	span->array = true;
	span->coding = KW_UVARINT;
	return (ptrdiff_t)d->map->n - 1;
}

static inline void end_length(struct dec *d, const uint8_t *p, ptrdiff_t span)
{
	if (span != NO_SPAN)
		d->map->v[span].len_end = (size_t)((p ? p : d->stop) - d->map->base);
}

static inline void close_span(struct dec *d, const uint8_t *p, ptrdiff_t span)
{
	if (span != NO_SPAN)
		d->map->v[span].end = (size_t)((p ? p : d->stop) - d->map->base);
}

/* ---- numbers ---- */

static inline const uint8_t *read_number(const struct kw_op *op, char *at, const uint8_t *p)
{
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	switch ((enum kw_type)op->type) {
	case KW_BOOL:
		*(bool *)at = *p != 0;
		break;
	case KW_INT8:
		*at = (char)*p;
		break;
	case KW_INT16:
	case KW_UINT16:
		v16 = kw_rd16(p);
		memcpy(at, &v16, sizeof v16);
		break;
	case KW_INT32:
	case KW_UINT32:
		v32 = kw_rd32(p);
		memcpy(at, &v32, sizeof v32);
		break;
	case KW_INT64:
	case KW_FLOAT64:
		v64 = kw_rd64(p);
		memcpy(at, &v64, sizeof v64);
		break;
	default:   /* KW_UUID */
		memcpy(at, p, sizeof(struct kw_uuid));
	}
	return p + op->elem_min;
}

/* ---- values ---- */

/* A length prefix into *n: -1 = null, else no more than what is left. `wide` is its size where not compact. */
static inline const uint8_t *length(struct dec *d, const uint8_t *p, const struct kw_op *op, const struct kw_frame *frame,
				    unsigned wide, bool nullable, ptrdiff_t span, int32_t *n)
{
	if (op->compact) {
		uint32_t v = 0;

		p = uvarint(d, p, frame, &v);
		*n = (int32_t)(v - 1);   /* wraps as Java's int does: a huge one is null, too */
	} else if (has(d, p, wide)) {
		*n = wide == 2 ? (int16_t)kw_rd16(p) : (int32_t)kw_rd32(p);
		p += wide;
	} else {
		p = truncated(d, p, frame, wide);
	}
	end_length(d, p, span);
	if (!p)
		return NULL;
	if (*n < 0) {
		*n = -1;
		return nullable ? p : fail(d, p, frame, KT_ECORRUPT, "a value that cannot be null is null");
	}
	return has(d, p, (size_t)*n) ? p : truncated(d, p, frame, (size_t)*n);
}

static const uint8_t *read_structs(struct dec *d, const uint8_t *p, const struct kw_plan *plan, char *out, int32_t n,
				   struct kw_frame *up);

static inline const uint8_t *read_text(struct dec *d, const uint8_t *p, const struct kw_op *op,
				       const struct kw_frame *frame, bool nullable, ptrdiff_t span, char *at)
{
	int32_t n = 0;

	p = length(d, p, op, frame, 2, nullable, span, &n);
	if (!p)
		return NULL;
	if (n > 0x7fff)
		return fail(d, p, frame, KT_ECORRUPT, "string is longer than 32767 bytes");
	*(struct kw_str *)(void *)at = (struct kw_str){(const char *)p, n};
	return p + (n > 0 ? n : 0);
}

static inline const uint8_t *read_blob(struct dec *d, const uint8_t *p, const struct kw_op *op,
				       const struct kw_frame *frame, bool nullable, ptrdiff_t span, char *at)
{
	int32_t n = 0;

	p = length(d, p, op, frame, 4, nullable, span, &n);
	if (!p)
		return NULL;
	if (op->type == KW_BYTES)
		*(struct kw_bytes *)(void *)at = (struct kw_bytes){p, n};
	else
		*(struct kw_records *)(void *)at = (struct kw_records){.p = p, .n = n};
	return p + (n > 0 ? n : 0);
}

/* What is no array and no pointer. */
static inline const uint8_t *read_value(struct dec *d, const uint8_t *p, const struct kw_op *op, bool nullable,
					struct kw_frame *frame, char *at)
{
	ptrdiff_t span = open_span(d, p, op, frame);

	if (op->type == KW_STRUCT)
		p = read_structs(d, p, op->sub, at, frame->index + 1, frame);
	else if (op->type == KW_STRING)
		p = read_text(d, p, op, frame, nullable, span, at);
	else if (op->type > KW_STRING)
		p = read_blob(d, p, op, frame, nullable, span, at);
	else if (has(d, p, op->elem_min))
		p = read_number(op, at, p);
	else
		p = truncated(d, p, frame, op->elem_min);
	close_span(d, p, span);
	return p;
}

static const uint8_t *read_count(struct dec *d, const uint8_t *p, const struct kw_op *op, const struct kw_frame *frame,
				 ptrdiff_t span, int32_t *n)
{
	char text[96];

	if (op->compact) {
		uint32_t v = 0;

		p = uvarint(d, p, frame, &v);
		*n = (int32_t)(v - 1);
	} else if (has(d, p, 4)) {
		*n = (int32_t)kw_rd32(p);
		p += 4;
	} else {
		p = truncated(d, p, frame, 4);
	}
	end_length(d, p, span);
	if (!p)
		return NULL;
	if (*n < 0) {
		*n = -1;
		return op->nullable ? p : fail(d, p, frame, KT_ECORRUPT, "an array that cannot be null is null");
	}
	if ((int64_t)*n * op->elem_min <= d->end - p)
		return p;
	snprintf(text, sizeof text, "%d elements cannot lie in the %zu bytes left", (int)*n, (size_t)(d->end - p));
	return fail(d, p, frame, KT_ECORRUPT, text);
}

static const uint8_t *read_elements(struct dec *d, const uint8_t *p, const struct kw_op *op, struct kw_frame *frame,
				    char *v, int32_t n)
{
	/* The count was held against the bytes left, so numbers need no further look. */
	if (op->type == KW_INT32 && !d->map) {
		for (int32_t i = 0; i < n; i++, p += 4)
			((uint32_t *)(void *)v)[i] = kw_rd32(p);
		return p;
	}
	if (op->type == KW_STRUCT && !d->map) {
		frame->index = 0;
		return read_structs(d, p, op->sub, v, n, frame);
	}
	for (int32_t i = 0; i < n && p; i++, v += op->elem_size) {
		frame->index = i;
		p = read_value(d, p, op, false, frame, v);
	}
	frame->index = -1;
	return p;
}

static const uint8_t *read_array(struct dec *d, const uint8_t *p, const struct kw_op *op, struct kw_frame *frame,
				 char *at)
{
	struct kw_arr *out = (struct kw_arr *)(void *)at;
	ptrdiff_t span = open_span(d, p, op, frame);
	int32_t n = 0;
	char *v;

	p = read_count(d, p, op, frame, span, &n);
	if (p && n <= 0) {
		*out = (struct kw_arr){NULL, n};
	} else if (p) {
		v = kw_alloc(d->arena, (size_t)n * op->elem_size);
		*out = (struct kw_arr){v, v ? n : 0};
		p = v ? read_elements(d, p, op, frame, v, n) : fail(d, p, frame, KT_ENOMEM, "out of memory");
	}
	close_span(d, p, span);
	return p;
}

/* Before a nullable struct stands whether it is there: a signed byte, in a tagged field an unsigned varint. */
static const uint8_t *read_presence(struct dec *d, const uint8_t *p, const struct kw_op *op, const struct kw_frame *frame,
				    bool *present)
{
	uint32_t v;

	*present = true;
	if (!op->nullable)
		return p;
	if (op->tag >= 0) {
		p = uvarint(d, p, frame, &v);
		*present = p && (int32_t)v > 0;
		return p;
	}
	if (!has(d, p, 1))
		return truncated(d, p, frame, 1);
	*present = (int8_t)*p >= 0;
	return p + 1;
}

static const uint8_t *read_pointer(struct dec *d, const uint8_t *p, const struct kw_op *op, struct kw_frame *frame,
				   char *at)
{
	ptrdiff_t span = open_span(d, p, op, frame);
	void **out = (void **)(void *)at;
	bool present;

	p = read_presence(d, p, op, frame, &present);
	end_length(d, p, span);
	*out = NULL;
	if (p && present) {
		*out = kw_alloc(d->arena, op->elem_size);
		p = *out ? read_structs(d, p, op->sub, *out, 0, frame) : fail(d, p, frame, KT_ENOMEM, "out of memory");
	}
	close_span(d, p, span);
	return p;
}

static __attribute__((noinline)) const uint8_t *read_op(struct dec *d, const uint8_t *p, const struct kw_op *op,
							struct kw_frame *frame, char *out)
{
	frame->field = op->field;
	if (op->array)
		return read_array(d, p, op, frame, out + op->offset);
	if (op->pointer)
		return read_pointer(d, p, op, frame, out + op->offset);
	return read_value(d, p, op, op->nullable, frame, out + op->offset);
}

/* ---- tagged fields ---- */

static const struct kw_op *find_tag(const struct kw_plan *plan, uint32_t tag)
{
	for (uint32_t i = 0; i < plan->ntagged; i++)
		if ((uint32_t)plan->tagged[i].tag == tag)
			return &plan->tagged[i];
	return NULL;
}

/* A tag of another version is an error, while a tag of none is kept. */
static bool is_of_another_version(const struct kw_plan *plan, uint32_t tag)
{
	for (uint32_t i = 0; i < plan->st->nfields; i++)
		if (plan->st->fields[i].tag >= 0 && (uint32_t)plan->st->fields[i].tag == tag)
			return true;
	return false;
}

/* `left`: how many tagged fields there can still be. */
static const uint8_t *read_unknown_tag(struct dec *d, const uint8_t *p, const struct kw_plan *plan, uint32_t tag,
				       uint32_t size, uint32_t left, struct kw_tags *unknown, const struct kw_frame *frame)
{
	if (is_of_another_version(plan, tag))
		return fail(d, p, frame, KT_ECORRUPT, "a tagged field of another version");
	if (!has(d, p, size))
		return truncated(d, p, frame, size);
	if (!unknown->v && !(unknown->v = kw_alloc(d->arena, left * sizeof *unknown->v)))
		return fail(d, p, frame, KT_ENOMEM, "out of memory");
	unknown->v[unknown->n++] = (struct kw_tag){tag, {p, (int32_t)size}};
	return p + size;
}

/* A known one. If it is not for the first time, what it had before is gone. */
static const uint8_t *read_known_tag(struct dec *d, const uint8_t *p, const struct kw_op *op, struct kw_frame *frame,
				     char *out, bool again)
{
	if (again && op->type == KW_STRUCT && !op->array && !op->pointer)
		memset(out + op->offset, 0, op->elem_size);
	p = read_op(d, p, op, frame, out);
	frame->field = NULL;
	return p;
}

static const uint8_t *read_tagged(struct dec *d, const uint8_t *p, const struct kw_plan *plan, char *out,
				  struct kw_frame *frame, ptrdiff_t span)
{
	uint32_t n = 0, tag = 0, size = 0, next = 0;

	p = uvarint(d, p, frame, &n);
	end_length(d, p, span);
	if (p && n > (size_t)(d->end - p) / 2)
		return fail(d, p, frame, KT_ECORRUPT, "more tagged fields than the bytes left can hold");
	for (uint32_t i = 0; p && i < n; i++) {
		const struct kw_op *op;

		if (!(p = uvarint(d, p, frame, &tag)) || !(p = uvarint(d, p, frame, &size)))
			return NULL;
		op = find_tag(plan, tag);
		p = op ? read_known_tag(d, p, op, frame, out, tag < next) :
			 read_unknown_tag(d, p, plan, tag, size, n - i,
					  (struct kw_tags *)(void *)(out + plan->tags_offset), frame);
		next = tag + 1;
	}
	return p;
}

static const uint8_t *read_tags(struct dec *d, const uint8_t *p, const struct kw_plan *plan, char *out,
				struct kw_frame *frame)
{
	ptrdiff_t span = d->map ? add_tags_span(d, p, frame->up) : NO_SPAN;

	frame->field = NULL;
	p = read_tagged(d, p, plan, out, frame, span);
	close_span(d, p, span);
	return p;
}

/* ---- structs ---- */

/* A run of numbers; run_get bytes are there, so one look at what is left does for all. */
static inline const uint8_t *read_run(const struct kw_step *step, char *out, const uint8_t *p)
{
	for (const struct kw_move *move = step->moves, *end = move + step->nmoves; move < end; move++)
		kw_shuffle((uint8_t *)out + move->offset, p + move->from, move->get, move->fill);
	return p + step->run_bytes;
}

/* The same of a short run near the end of the input. NULL when it is too near. */
static __attribute__((noinline)) const uint8_t *read_short_run(const struct dec *d, const uint8_t *p,
							       const struct kw_step *step, char *out)
{
	uint8_t copy[KW_LANES] = {0};

	if (!has(d, p, step->run_bytes))
		return NULL;
	memcpy(copy, p, step->run_bytes);
	read_run(step, out, copy);
	return p + step->run_bytes;
}

/* The following take the common cases of a step, with as little ado as can be. NULL for all others and for what is broken:
 * that is left to read_slowly(), which says what is wrong. */

/* What has a length of one byte: less than 127, wraps where null. */
static inline bool short_length(const struct dec *d, const uint8_t *p, uint32_t *n)
{
	if (p == d->end)
		return false;
	*n = *p - 1u;
	return true;
}

static inline const uint8_t *read_short_text(const struct dec *d, const uint8_t *p, bool nullable, struct kw_str *out)
{
	uint32_t n;

	if (!short_length(d, p++, &n))
		return NULL;
	*out = (struct kw_str){(const char *)p, (int32_t)n};
	if (n == UINT32_MAX)
		return nullable ? p : NULL;
	return n < 0x7f && has(d, p, n) ? p + n : NULL;
}

/* Of less than 2 MiB, which a length of three bytes can say; not null. */
static inline const uint8_t *read_records(const struct dec *d, const uint8_t *p, struct kw_records *out)
{
	uint32_t v;

	if (p == d->end)
		return NULL;
	v = *p++;
	if (v >= 0x80) {
		if (!has(d, p, 2))
			return NULL;
		v += (uint32_t)*p++ * 0x80 - 0x80;
		if (v >= 0x4000)
			v += (uint32_t)*p++ * 0x4000 - 0x4000;
	}
	if (v == 0 || v >= 0x200000 || !has(d, p, v - 1))
		return NULL;
	*out = (struct kw_records){.p = p, .n = (int32_t)(v - 1)};
	return p + v - 1;
}

/* An array of which only the count is there. */
static inline const uint8_t *read_no_array(const uint8_t *p, uint32_t n, bool nullable, struct kw_arr *out)
{
	if (n != 0 && !(n == UINT32_MAX && nullable))
		return NULL;
	out->n = (int32_t)n;
	return p + 1;
}

static inline const uint8_t *read_ints(const struct dec *d, const uint8_t *p, bool nullable, struct kw_arr *out)
{
	uint32_t n, *v;

	if (!short_length(d, p, &n))
		return NULL;
	if (n - 1 >= 0x7e)
		return read_no_array(p, n, nullable, out);
	if (!has(d, ++p, 4 * (size_t)n) || !(v = kw_alloc(d->arena, 4 * (size_t)n)))
		return NULL;
	*out = (struct kw_arr){v, (int32_t)n};
	for (uint32_t i = 0; i < n; i++, p += 4)
		v[i] = kw_rd32(p);
	return p;
}

static inline const uint8_t *read_short_array(struct dec *d, const uint8_t *p, const struct kw_step *step,
					      struct kw_arr *out, struct kw_frame *frame)
{
	const struct kw_op *op = step->op;
	uint32_t n;
	char *v;

	if (!short_length(d, p, &n))
		return NULL;
	if (n - 1 >= 0x7e)
		return read_no_array(p, n, step->nullable, out);
	if (n * (uint64_t)op->elem_min > (size_t)(d->end - ++p) || !(v = kw_alloc(d->arena, (size_t)n * op->elem_size)))
		return NULL;
	*out = (struct kw_arr){v, (int32_t)n};
	frame->field = op->field;
	frame->index = 0;
	return read_structs(d, p, step->sub, v, (int32_t)n, frame);
}

static inline const uint8_t *read_quickly(struct dec *d, const uint8_t *p, const struct kw_step *step, char *out,
					  struct kw_frame *frame)
{
	void *at = out + step->offset;
	uint32_t n;

	switch ((enum kw_step_kind)step->kind) {
	case KW_STEP_RUN:
		return has(d, p, step->run_get) ? read_run(step, out, p) : read_short_run(d, p, step, out);
	case KW_STEP_16:
		if (!has(d, p, 2))
			return NULL;
		*(uint16_t *)at = kw_rd16(p);
		return p + 2;
	case KW_STEP_32:
		if (!has(d, p, 4))
			return NULL;
		*(uint32_t *)at = kw_rd32(p);
		return p + 4;
	case KW_STEP_64:
		if (!has(d, p, 8))
			return NULL;
		*(uint64_t *)at = kw_rd64(p);
		return p + 8;
	case KW_STEP_BOOL:
		if (p == d->end)
			return NULL;
		*(bool *)at = *p != 0;
		return p + 1;
	case KW_STEP_TEXT:
		return read_short_text(d, p, step->nullable, at);
	case KW_STEP_RECORDS:
		return read_records(d, p, at);
	case KW_STEP_INTS:
		return read_ints(d, p, step->nullable, at);
	case KW_STEP_STRUCTS:
		return read_short_array(d, p, step, at, frame);
	case KW_STEP_ARRAY:
		return short_length(d, p, &n) ? read_no_array(p, n, step->nullable, at) : NULL;
	case KW_STEP_SLOW:
	case KW_STEP_END:
		break;
	}
	return NULL;
}

static __attribute__((noinline)) const uint8_t *read_slowly(struct dec *d, const uint8_t *p, const struct kw_step *step,
							    char *out, struct kw_frame *frame)
{
	for (uint32_t i = 0; i < step->nops && p && !d->code; i++)
		p = read_op(d, p, &step->op[i], frame, out);
	return d->code ? NULL : p;
}

static const uint8_t *read_mapped(struct dec *d, const uint8_t *p, const struct kw_plan *plan, char *out, int32_t n,
				  struct kw_frame *up)
{
	struct kw_frame frame = {up, NULL, -1};

	for (; p && up->index < n; up->index++, out += plan->size) {
		memcpy(out, plan->image, plan->size);
		for (uint32_t i = 0; i < plan->nops && p; i++)
			p = read_op(d, p, &plan->ops[i], &frame, out);
		if (p && plan->flexible)
			p = read_tags(d, p, plan, out, &frame);
	}
	up->index = -1;
	return p;
}

/* Elements of an array from up->index to n, or one struct that is no element: then they are -1 and 0. The memory is
 * zeroed. */
static const uint8_t *read_structs(struct dec *d, const uint8_t *p, const struct kw_plan *plan, char *out, int32_t n,
				   struct kw_frame *up)
{
	struct kw_frame frame = {up, NULL, -1};

	if (d->map)
		return read_mapped(d, p, plan, out, n, up);
	for (int32_t i = up->index; i < n; up->index = ++i, out += plan->size) {
		for (const struct kw_fill *fill = plan->fills, *end = fill + plan->nfills; fill < end; fill++)
			memcpy(out + fill->offset, fill->bytes, sizeof fill->bytes);
		for (const struct kw_step *step = plan->steps; step->kind != KW_STEP_END; step++) {
			const uint8_t *next = read_quickly(d, p, step, out, &frame);

			if (!next && !(next = read_slowly(d, p, step, out, &frame)))
				return NULL;
			p = next;
		}
		if (!plan->flexible)
			continue;
		if (p < d->end && *p == 0)   /* no tagged fields, as nearly always */
			p++;
		else if (!(p = read_tags(d, p, plan, out, &frame)))
			return NULL;
	}
	up->index = -1;
	return p;
}

static inline int decode(const struct kw_msg *msg, int version, const uint8_t *p, size_t n, struct kw_arena *arena,
			 void **out, size_t *used, struct kw_map *map, struct kt_err *err)
{
	const struct kw_plan *plan = kw_plan_get(msg, version, err);
	struct dec d = {.base = p, .end = p + n, .arena = arena, .err = err, .map = map};
	struct kw_frame root = {NULL, NULL, -1};
	const uint8_t *end;

	*out = NULL;
	if (!plan)
		return err ? err->code : KT_EVERSION;
	*out = kw_alloc(arena, plan->size);
	if (!*out)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	end = read_structs(&d, p, plan, *out, 0, &root);
	if (used)
		*used = (size_t)((end ? end : d.stop) - p);
	return d.code;
}

static const uint8_t nothing[1];   /* stands for a NULL, which must not be counted from */

int kw_decode_map(const struct kw_msg *msg, int version, const uint8_t *p, size_t n, struct kw_arena *arena, void **out,
		  size_t *used, struct kw_map *map, struct kt_err *err)
{
	if (!p)
		map->base = nothing;
	return decode(msg, version, p ? p : nothing, n, arena, out, used, map, err);
}

int kw_decode(const struct kw_msg *msg, int version, const uint8_t *p, size_t n, struct kw_arena *arena, void **out,
	      size_t *used, struct kt_err *err)
{
	return decode(msg, version, p ? p : nothing, n, arena, out, used, NULL, err);
}
