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
	const uint8_t *base, *p, *end;
	struct kw_arena *arena;
	struct kt_err *err;
	struct kw_map *map;        /* gets the place of each field; or NULL */
	int code;                  /* the first failure; everything after it is a no-op */
};

static int fail(struct dec *d, const struct kw_frame *frame, int code, const char *what)
{
	if (d->code)
		return d->code;
	d->code = code;
	kw_frame_fail(frame, d->err, code, "%s", what);
	if (d->err && !d->err->has_offset) {
		d->err->offset = (size_t)(d->p - d->base);
		d->err->has_offset = 1;
	}
	return code;
}

static int truncated(struct dec *d, const struct kw_frame *frame, size_t want)
{
	char text[96];

	snprintf(text, sizeof text, "%zu bytes are needed, %zu are left", want, (size_t)(d->end - d->p));
	return fail(d, frame, KT_ETRUNC, text);
}

/* n bytes, or NULL after a failure. */
static inline const uint8_t *take(struct dec *d, const struct kw_frame *frame, size_t n)
{
	const uint8_t *p = d->p;

	if (d->code || (size_t)(d->end - p) < n) {
		truncated(d, frame, n);
		return NULL;
	}
	d->p += n;
	return p;
}

static uint32_t uvarint(struct dec *d, const struct kw_frame *frame)
{
	uint32_t v = 0;
	int n;

	if (d->code)
		return 0;
	n = kw_get_uvarint(d->p, d->end, &v);
	if (n == 0)
		truncated(d, frame, (size_t)(d->end - d->p) + 1);
	else if (n < 0)
		fail(d, frame, KT_ECORRUPT, "varint is too long");
	else
		d->p += n;
	return n > 0 ? v : 0;
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
static ptrdiff_t open_span(struct dec *d, const struct kw_op *op, const struct kw_frame *frame)
{
	struct kw_span *span;
	char path[256];

	if (!d->map || d->code)
		return NO_SPAN;
	kw_frame_path(frame, path, sizeof path);
	span = kw_map_add(d->map, path, d->p);
	if (!span) {
		fail(d, frame, KT_ENOMEM, "out of memory");
		return NO_SPAN;
	}
	span->type = op->type;
	span->array = op->array && frame->index < 0;
	span->coding = (uint8_t)length_coding(op, span->array);
	span->tagged = op->tag >= 0;
	return (ptrdiff_t)d->map->n - 1;
}

/* The tagged fields of a struct, with their count in front. */
static ptrdiff_t open_tags_span(struct dec *d, const struct kw_frame *up)
{
	struct kw_span *span;
	char of[256] = "", path[280];

	if (!d->map || d->code)
		return NO_SPAN;
	if (up)
		kw_frame_path(up, of, sizeof of);
	snprintf(path, sizeof path, "%s%s_taggedFields", of, up ? "." : "");
	span = kw_map_add(d->map, path, d->p);
	if (!span) {
		fail(d, up, KT_ENOMEM, "out of memory");
		return NO_SPAN;
	}
	span->type = KW_STRUCT;
	span->array = true;
	span->coding = KW_UVARINT;
	return (ptrdiff_t)d->map->n - 1;
}

static void end_length(struct dec *d, ptrdiff_t span)
{
	if (span != NO_SPAN)
		d->map->v[span].len_end = (size_t)(d->p - d->map->base);
}

static void close_span(struct dec *d, ptrdiff_t span)
{
	if (span != NO_SPAN)
		d->map->v[span].end = (size_t)(d->p - d->map->base);
}

/* ---- values ---- */

/* A length prefix: -1 = null, checked against what is left. `wide` is the size of the prefix where not compact. */
static int32_t length(struct dec *d, const struct kw_op *op, const struct kw_frame *frame, unsigned wide, bool nullable,
		      ptrdiff_t span)
{
	const uint8_t *p;
	int64_t n;

	if (op->compact)
		n = (int32_t)(uvarint(d, frame) - 1);   /* wraps as Java's int does: a huge one is null, too */
	else if ((p = take(d, frame, wide)))
		n = wide == 2 ? (int16_t)kw_rd16(p) : (int32_t)kw_rd32(p);
	else
		return 0;
	end_length(d, span);
	if (d->code)
		return 0;
	if (n < 0) {
		if (!nullable)
			fail(d, frame, KT_ECORRUPT, "a value that cannot be null is null");
		return -1;
	}
	if (n > d->end - d->p) {
		truncated(d, frame, (size_t)n);
		return 0;
	}
	return (int32_t)n;
}

static void read_struct(struct dec *d, const struct kw_plan *plan, void *out, const struct kw_frame *up);

static void read_string(struct dec *d, const struct kw_op *op, const struct kw_frame *frame, bool nullable,
			ptrdiff_t span, struct kw_str *out)
{
	int32_t n = length(d, op, frame, 2, nullable, span);

	if (n > 0x7fff)
		fail(d, frame, KT_ECORRUPT, "string is longer than 32767 bytes");
	if (d->code)
		return;
	*out = (struct kw_str){(const char *)d->p, n};
	d->p += n > 0 ? n : 0;
}

static void read_value(struct dec *d, const struct kw_op *op, bool nullable, const struct kw_frame *frame, char *at)
{
	ptrdiff_t span = open_span(d, op, frame);
	const uint8_t *p;
	int32_t n;

	switch ((enum kw_type)op->type) {
	case KW_BOOL:
		if ((p = take(d, frame, 1)))
			*(bool *)at = *p != 0;
		break;
	case KW_INT8:
		if ((p = take(d, frame, 1)))
			*(int8_t *)at = (int8_t)*p;
		break;
	case KW_INT16:
	case KW_UINT16:
		if ((p = take(d, frame, 2)))
			*(uint16_t *)at = kw_rd16(p);
		break;
	case KW_INT32:
	case KW_UINT32:
		if ((p = take(d, frame, 4)))
			*(uint32_t *)at = kw_rd32(p);
		break;
	case KW_INT64:
	case KW_FLOAT64:
		if ((p = take(d, frame, 8))) {
			uint64_t v = kw_rd64(p);
			memcpy(at, &v, sizeof v);
		}
		break;
	case KW_UUID:
		if ((p = take(d, frame, 16)))
			memcpy(at, p, 16);
		break;
	case KW_STRING:
		read_string(d, op, frame, nullable, span, (struct kw_str *)at);
		break;
	case KW_BYTES:
		n = length(d, op, frame, 4, nullable, span);
		*(struct kw_bytes *)at = (struct kw_bytes){d->p, n};
		d->p += n > 0 ? n : 0;
		break;
	case KW_RECORDS:
		n = length(d, op, frame, 4, nullable, span);
		*(struct kw_records *)at = (struct kw_records){.p = d->p, .n = n};
		d->p += n > 0 ? n : 0;
		break;
	case KW_STRUCT:
		read_struct(d, op->sub, at, frame);
		break;
	}
	close_span(d, span);
}

static void read_elements(struct dec *d, const struct kw_op *op, struct kw_frame *frame, ptrdiff_t span,
			  struct kw_arr *out)
{
	const uint8_t *p;
	int64_t n;
	char *v;

	if (op->compact)
		n = (int32_t)(uvarint(d, frame) - 1);
	else
		n = (p = take(d, frame, 4)) ? (int32_t)kw_rd32(p) : 0;
	end_length(d, span);
	if (d->code)
		return;
	if (n < 0) {
		if (!op->nullable)
			fail(d, frame, KT_ECORRUPT, "an array that cannot be null is null");
		out->n = -1;
		return;
	}
	if (n * op->elem_min > d->end - d->p) {
		char text[96];
		snprintf(text, sizeof text, "%lld elements cannot lie in the %zu bytes left", (long long)n,
			 (size_t)(d->end - d->p));
		fail(d, frame, KT_ECORRUPT, text);
		return;
	}
	v = kw_alloc(d->arena, (size_t)n * op->elem_size);
	if (!v) {
		fail(d, frame, KT_ENOMEM, "out of memory");
		return;
	}
	*out = (struct kw_arr){v, (int32_t)n};
	for (int32_t i = 0; i < n && !d->code; i++) {
		frame->index = i;
		read_value(d, op, false, frame, v + (size_t)i * op->elem_size);
	}
	frame->index = -1;
}

static void read_array(struct dec *d, const struct kw_op *op, struct kw_frame *frame, struct kw_arr *out)
{
	ptrdiff_t span = open_span(d, op, frame);

	read_elements(d, op, frame, span, out);
	close_span(d, span);
}

/* Before a nullable struct stands whether it is there: a signed byte, in a tagged field an unsigned varint. */
static bool read_presence(struct dec *d, const struct kw_op *op, const struct kw_frame *frame)
{
	const uint8_t *p;

	if (!op->nullable)
		return true;
	if (op->tag >= 0)
		return (int32_t)uvarint(d, frame) > 0;
	p = take(d, frame, 1);
	return p && (int8_t)*p >= 0;
}

static void read_pointer(struct dec *d, const struct kw_op *op, const struct kw_frame *frame, void **out)
{
	ptrdiff_t span = open_span(d, op, frame);
	bool present = read_presence(d, op, frame);

	end_length(d, span);
	*out = NULL;
	if (present && !d->code) {
		*out = kw_alloc(d->arena, op->elem_size);
		if (!*out)
			fail(d, frame, KT_ENOMEM, "out of memory");
		else
			read_struct(d, op->sub, *out, frame);
	}
	close_span(d, span);
}

static void read_op(struct dec *d, const struct kw_op *op, struct kw_frame *frame, char *out)
{
	frame->field = op->field;
	if (op->array)
		read_array(d, op, frame, (struct kw_arr *)(void *)(out + op->offset));
	else if (kw_is_pointer(op->field))
		read_pointer(d, op, frame, (void **)(void *)(out + op->offset));
	else
		read_value(d, op, op->nullable, frame, out + op->offset);
}

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
static void read_unknown_tag(struct dec *d, const struct kw_plan *plan, uint32_t tag, uint32_t size, uint32_t left,
			     struct kw_tags *unknown, const struct kw_frame *frame)
{
	const uint8_t *p;

	if (!d->code && is_of_another_version(plan, tag))
		fail(d, frame, KT_ECORRUPT, "a tagged field of another version");
	p = take(d, frame, size);
	if (!p)
		return;
	if (!unknown->v && !(unknown->v = kw_alloc(d->arena, left * sizeof *unknown->v))) {
		fail(d, frame, KT_ENOMEM, "out of memory");
		return;
	}
	unknown->v[unknown->n++] = (struct kw_tag){tag, {p, (int32_t)size}};
}

static void read_tagged(struct dec *d, const struct kw_plan *plan, char *out, struct kw_frame *frame, ptrdiff_t span)
{
	uint32_t n;

	frame->field = NULL;
	n = uvarint(d, frame);
	end_length(d, span);
	if (d->code || n == 0)
		return;
	if (n > (size_t)(d->end - d->p) / 2) {
		fail(d, frame, KT_ECORRUPT, "more tagged fields than the bytes left can hold");
		return;
	}
	for (uint32_t i = 0; i < n && !d->code; i++) {
		uint32_t tag = uvarint(d, frame), size = uvarint(d, frame);
		const struct kw_op *op = find_tag(plan, tag);

		if (op) {
			read_op(d, op, frame, out);
			frame->field = NULL;
		} else {
			read_unknown_tag(d, plan, tag, size, n - i,
					 (struct kw_tags *)(void *)(out + plan->st->tags_offset), frame);
		}
	}
}

static void read_tags(struct dec *d, const struct kw_plan *plan, char *out, struct kw_frame *frame)
{
	ptrdiff_t span = open_tags_span(d, frame->up);

	read_tagged(d, plan, out, frame, span);
	close_span(d, span);
}

static void read_struct(struct dec *d, const struct kw_plan *plan, void *out, const struct kw_frame *up)
{
	struct kw_frame frame = {up, NULL, -1};

	memcpy(out, plan->defaults, plan->st->size);
	for (uint32_t i = 0; i < plan->nops && !d->code; i++)
		read_op(d, &plan->ops[i], &frame, out);
	if (plan->flexible && !d->code)
		read_tags(d, plan, out, &frame);
}

int kw_decode_map(const struct kw_msg *msg, int version, const uint8_t *p, size_t n, struct kw_arena *arena, void **out,
		  size_t *used, struct kw_map *map, struct kt_err *err)
{
	const struct kw_plan *plan = kw_plan_get(msg, version, err);
	struct dec d = {.arena = arena, .err = err, .map = map};

	if (!p) {   /* which must not be counted from */
		p = (const uint8_t *)"";
		if (map)
			map->base = p;
	}
	d.base = d.p = p;
	d.end = p + n;
	*out = NULL;
	if (!plan)
		return err ? err->code : KT_EVERSION;
	*out = kw_alloc(arena, msg->root->size);
	if (!*out)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	read_struct(&d, plan, *out, NULL);
	if (used)
		*used = (size_t)(d.p - p);
	return d.code;
}

int kw_decode(const struct kw_msg *msg, int version, const uint8_t *p, size_t n, struct kw_arena *arena, void **out,
	      size_t *used, struct kt_err *err)
{
	return kw_decode_map(msg, version, p, n, arena, out, used, NULL, err);
}
