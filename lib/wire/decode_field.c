/* Any field, the general way, with what is wrong with it and where; and what a map keeps of it.
 *
 * What it makes of odd values is what Kafka 4.4 makes of them: any negative length is null, a bool of 7 is true, tags
 * may repeat (the last wins) or come in any order, and the size of a known tagged field is not looked at.
 */
#include <stdio.h>

#include "lib/wire/decode.h"
#include "lib/wire/varint.h"

static const uint8_t *fail(struct kw_dec *d, const uint8_t *p, const struct kw_frame *frame, int code, const char *what)
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

static const uint8_t *truncated(struct kw_dec *d, const uint8_t *p, const struct kw_frame *frame, size_t want)
{
	char text[96];

	snprintf(text, sizeof text, "%zu bytes are needed, %zu are left", want, (size_t)(d->end - p));
	return fail(d, p, frame, KT_ETRUNC, text);
}

static const uint8_t *long_uvarint(struct kw_dec *d, const uint8_t *p, const struct kw_frame *frame, uint32_t *v)
{
	int n = kw_get_uvarint(p, d->end, v);

	if (n == 0)
		return truncated(d, p, frame, (size_t)(d->end - p) + 1);
	if (n < 0)
		return fail(d, p, frame, KT_ECORRUPT, "varint is too long");
	return p + n;
}

static inline const uint8_t *uvarint(struct kw_dec *d, const uint8_t *p, const struct kw_frame *frame, uint32_t *v)
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
static ptrdiff_t add_span(struct kw_dec *d, const uint8_t *p, const struct kw_op *op, const struct kw_frame *frame)
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

static inline ptrdiff_t open_span(struct kw_dec *d, const uint8_t *p, const struct kw_op *op,
				  const struct kw_frame *frame)
{
	return d->map ? add_span(d, p, op, frame) : NO_SPAN;
}

/* The tagged fields of a struct, with their count in front. */
static ptrdiff_t add_tags_span(struct kw_dec *d, const uint8_t *p, const struct kw_frame *up)
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

static inline void end_length(struct kw_dec *d, const uint8_t *p, ptrdiff_t span)
{
	if (span != NO_SPAN)
		d->map->v[span].len_end = (size_t)((p ? p : d->stop) - d->map->base);
}

static inline void close_span(struct kw_dec *d, const uint8_t *p, ptrdiff_t span)
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
static inline const uint8_t *length(struct kw_dec *d, const uint8_t *p, const struct kw_op *op,
				    const struct kw_frame *frame, unsigned wide, bool nullable, ptrdiff_t span,
				    int32_t *n)
{
	if (op->compact) {
		uint32_t v = 0;

		p = uvarint(d, p, frame, &v);
		*n = (int32_t)(v - 1);   /* wraps as Java's int does: a huge one is null, too */
	} else if (kw_has(d, p, wide)) {
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
	return kw_has(d, p, (size_t)*n) ? p : truncated(d, p, frame, (size_t)*n);
}

static inline const uint8_t *read_text(struct kw_dec *d, const uint8_t *p, const struct kw_op *op,
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

static inline const uint8_t *read_blob(struct kw_dec *d, const uint8_t *p, const struct kw_op *op,
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
static inline const uint8_t *read_value(struct kw_dec *d, const uint8_t *p, const struct kw_op *op, bool nullable,
					struct kw_frame *frame, char *at)
{
	ptrdiff_t span = open_span(d, p, op, frame);

	if (op->type == KW_STRUCT)
		p = kw_read_struct(d, p, op->sub, at, frame);
	else if (op->type == KW_STRING)
		p = read_text(d, p, op, frame, nullable, span, at);
	else if (op->type > KW_STRING)
		p = read_blob(d, p, op, frame, nullable, span, at);
	else if (kw_has(d, p, op->elem_min))
		p = read_number(op, at, p);
	else
		p = truncated(d, p, frame, op->elem_min);
	close_span(d, p, span);
	return p;
}

static const uint8_t *read_count(struct kw_dec *d, const uint8_t *p, const struct kw_op *op,
				 const struct kw_frame *frame, ptrdiff_t span, int32_t *n)
{
	char text[96];

	if (op->compact) {
		uint32_t v = 0;

		p = uvarint(d, p, frame, &v);
		*n = (int32_t)(v - 1);
	} else if (kw_has(d, p, 4)) {
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

static const uint8_t *read_elements(struct kw_dec *d, const uint8_t *p, const struct kw_op *op, struct kw_frame *frame,
				    char *v, int32_t n)
{
	/* The count was held against the bytes left, so numbers need no further look. */
	if (op->type == KW_INT32 && !d->map) {
		for (int32_t i = 0; i < n; i++, p += 4)
			((uint32_t *)(void *)v)[i] = kw_rd32(p);
		return p;
	}
	if (op->type == KW_STRUCT && !d->map)
		return kw_read_structs(d, p, op->sub, v, n, frame);
	for (int32_t i = 0; i < n && p; i++, v += op->elem_size) {
		frame->index = i;
		p = read_value(d, p, op, false, frame, v);
	}
	frame->index = -1;
	return p;
}

static const uint8_t *read_array(struct kw_dec *d, const uint8_t *p, const struct kw_op *op, struct kw_frame *frame,
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
static const uint8_t *read_presence(struct kw_dec *d, const uint8_t *p, const struct kw_op *op,
				    const struct kw_frame *frame, bool *present)
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
	if (!kw_has(d, p, 1))
		return truncated(d, p, frame, 1);
	*present = (int8_t)*p >= 0;
	return p + 1;
}

static const uint8_t *read_pointer(struct kw_dec *d, const uint8_t *p, const struct kw_op *op, struct kw_frame *frame,
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
		p = *out ? kw_read_struct(d, p, op->sub, *out, frame) : fail(d, p, frame, KT_ENOMEM, "out of memory");
	}
	close_span(d, p, span);
	return p;
}

const uint8_t *kw_read_field(struct kw_dec *d, const uint8_t *p, const struct kw_op *op,
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
static const uint8_t *read_unknown_tag(struct kw_dec *d, const uint8_t *p, const struct kw_plan *plan, uint32_t tag,
				       uint32_t size, uint32_t left, struct kw_tags *unknown,
				       const struct kw_frame *frame)
{
	if (is_of_another_version(plan, tag))
		return fail(d, p, frame, KT_ECORRUPT, "a tagged field of another version");
	if (!kw_has(d, p, size))
		return truncated(d, p, frame, size);
	if (!unknown->v && !(unknown->v = kw_alloc(d->arena, left * sizeof *unknown->v)))
		return fail(d, p, frame, KT_ENOMEM, "out of memory");
	unknown->v[unknown->n++] = (struct kw_tag){tag, {p, (int32_t)size}};
	return p + size;
}

/* A known one. If it is not for the first time, what it had before is gone. */
static const uint8_t *read_known_tag(struct kw_dec *d, const uint8_t *p, const struct kw_op *op, struct kw_frame *frame,
				     char *out, bool again)
{
	if (again && op->type == KW_STRUCT && !op->array && !op->pointer)
		memset(out + op->offset, 0, op->elem_size);
	p = kw_read_field(d, p, op, frame, out);
	frame->field = NULL;
	return p;
}

static const uint8_t *read_tagged(struct kw_dec *d, const uint8_t *p, const struct kw_plan *plan, char *out,
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
		if (tag >= next)   /* tags need not ascend: 1, 0, 1 has 1 again */
			next = tag + 1;
	}
	return p;
}

const uint8_t *kw_read_tags(struct kw_dec *d, const uint8_t *p, const struct kw_plan *plan, char *out,
				struct kw_frame *frame)
{
	ptrdiff_t span = d->map ? add_tags_span(d, p, frame->up) : NO_SPAN;

	frame->field = NULL;
	p = read_tagged(d, p, plan, out, frame, span);
	close_span(d, p, span);
	return p;
}

