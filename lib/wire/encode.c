/* Encode: one interpreter for every message and version. */
#include "lib/wire/plan.h"

struct enc {
	struct kw_buf *buf;
	uint8_t *limit;        /* end of the room that the buffer has */
	struct kt_err *err;
	int code;              /* of the first failure, 0 if it was the buffer's */
};

/* All that writes takes the place to write at and returns the place behind, or NULL after a failure. The buffer learns
 * of it only when it has to grow, and in the end. */
static uint8_t *fail(struct enc *e, const struct kw_frame *frame, int code, const char *what)
{
	e->code = code;
	kw_frame_fail(frame, e->err, code, "%s", what);
	return NULL;
}

/* The buffer goes on from its own count of bytes. */
static uint8_t *resume(struct enc *e)
{
	if (e->buf->failed)
		return NULL;
	e->limit = kw_buf_limit(e->buf);
	return e->buf->p + e->buf->n;
}

static uint8_t *more_room(struct enc *e, uint8_t *q, size_t n)
{
	e->buf->n = (size_t)(q - e->buf->p);
	kw_buf_room(e->buf, n);
	return resume(e);
}

/* Room for n bytes: the place, perhaps elsewhere now. */
static inline uint8_t *room(struct enc *e, uint8_t *q, size_t n)
{
	return (size_t)(e->limit - q) >= n ? q : more_room(e, q, n);
}

/* ---- values ---- */

enum { LENGTH_MAX = 5 };       /* bytes of any length prefix */

static size_t uvarint_size(uint32_t v)
{
	size_t n = 1;

	for (; v > 0x7f; v >>= 7)
		n++;
	return n;
}

/* Room for a length prefix of that value, compact or of `wide` bytes, and n bytes behind it. */
static inline uint8_t *length_room(struct enc *e, uint8_t *q, bool compact, unsigned wide, uint32_t v, size_t n)
{
	if ((size_t)(e->limit - q) >= LENGTH_MAX + n)
		return q;
	return more_room(e, q, (compact ? uvarint_size(v) : wide) + n);
}

/* There is room for it. */
static inline uint8_t *put_uvarint(uint8_t *q, uint32_t v)
{
	for (; v > 0x7f; v >>= 7)
		*q++ = (uint8_t)(v | 0x80);
	*q++ = (uint8_t)v;
	return q;
}

static inline uint8_t *put_number(const struct kw_op *op, const char *at, uint8_t *q)
{
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	switch ((enum kw_type)op->type) {
	case KW_BOOL:
	case KW_INT8:
		*q = (uint8_t)*at;
		break;
	case KW_INT16:
	case KW_UINT16:
		memcpy(&v16, at, sizeof v16);
		kw_wr16(q, v16);
		break;
	case KW_INT32:
	case KW_UINT32:
		memcpy(&v32, at, sizeof v32);
		kw_wr32(q, v32);
		break;
	case KW_INT64:
	case KW_FLOAT64:
		memcpy(&v64, at, sizeof v64);
		kw_wr64(q, v64);
		break;
	default:   /* KW_UUID */
		memcpy(q, at, sizeof(struct kw_uuid));
	}
	return q + op->elem_min;
}

/* A length prefix, with room for n bytes more behind it; `wide` is its size where not compact. */
static inline uint8_t *put_length(struct enc *e, uint8_t *q, const struct kw_op *op, const struct kw_frame *frame,
				  unsigned wide, int32_t n, size_t more, bool nullable)
{
	if (n < 0 && !nullable)
		return fail(e, frame, KT_ETYPE, "null where this version does not allow it");
	q = length_room(e, q, op->compact, wide, (uint32_t)n + 1, more);
	if (!q)
		return NULL;
	if (op->compact)
		return put_uvarint(q, (uint32_t)n + 1);
	if (wide == 2)
		kw_wr16(q, (uint16_t)n);
	else
		kw_wr32(q, (uint32_t)n);
	return q + wide;
}

static uint8_t *put_records(struct enc *e, uint8_t *q, const struct kw_op *op, const struct kw_frame *frame,
			    const struct kw_records *records, bool nullable)
{
	q = put_length(e, q, op, frame, 4, records->n, 0, nullable);
	if (!q || records->n <= 0)
		return q;
	e->buf->n = (size_t)(q - e->buf->p);
	if (records->v)
		for (int32_t i = 0; i < records->nv; i++)
			kw_put_ref(e->buf, records->v[i].p, records->v[i].n);
	else
		kw_put_ref(e->buf, records->p, (size_t)records->n);
	return resume(e);
}

static inline uint8_t *put_run(struct enc *e, uint8_t *q, const struct kw_op *op, const struct kw_frame *frame,
			       unsigned wide, const void *p, int32_t n, bool nullable)
{
	size_t size = n > 0 ? (size_t)n : 0;

	q = put_length(e, q, op, frame, wide, n, size, nullable);
	if (q && size > 0)
		memcpy(q, p, size);
	return q ? q + size : NULL;
}

static uint8_t *write_structs(struct enc *e, uint8_t *q, const struct kw_plan *plan, const char *in, int32_t n,
			      struct kw_frame *up);

/* What is no array and no pointer. */
static inline uint8_t *write_value(struct enc *e, uint8_t *q, const struct kw_op *op, bool nullable,
				   struct kw_frame *frame, const char *at)
{
	const struct kw_str *str = (const struct kw_str *)(const void *)at;
	const struct kw_bytes *bytes = (const struct kw_bytes *)(const void *)at;

	if (op->type == KW_STRUCT)
		return write_structs(e, q, op->sub, at, frame->index + 1, frame);
	if (op->type == KW_STRING && str->n > 0x7fff)
		return fail(e, frame, KT_ERANGE, "string is longer than 32767 bytes");
	if (op->type == KW_STRING)
		return put_run(e, q, op, frame, 2, str->s, str->n, nullable);
	if (op->type == KW_BYTES)
		return put_run(e, q, op, frame, 4, bytes->p, bytes->n, nullable);
	if (op->type == KW_RECORDS)
		return put_records(e, q, op, frame, (const struct kw_records *)(const void *)at, nullable);
	q = room(e, q, op->elem_min);
	return q ? put_number(op, at, q) : NULL;
}

static uint8_t *write_array(struct enc *e, uint8_t *q, const struct kw_op *op, struct kw_frame *frame, const char *at)
{
	const struct kw_arr *arr = (const struct kw_arr *)(const void *)at;
	const char *v = arr->v;

	q = put_length(e, q, op, frame, 4, arr->n, 0, op->nullable);
	if (q && op->type == KW_STRUCT) {
		frame->index = 0;
		return write_structs(e, q, op->sub, v, arr->n, frame);
	}
	for (int32_t i = 0; i < arr->n && q; i++, v += op->elem_size) {
		frame->index = i;
		q = write_value(e, q, op, false, frame, v);
	}
	frame->index = -1;
	return q;
}

/* Before a nullable struct stands whether it is there: a signed byte, in a tagged field an unsigned varint. */
static uint8_t *write_pointer(struct enc *e, uint8_t *q, const struct kw_op *op, struct kw_frame *frame,
			      const char *at)
{
	const void *sub = *(void *const *)(const void *)at;

	if (!sub && !op->nullable)
		return fail(e, frame, KT_ETYPE, "null where this version does not allow it");
	if (op->nullable) {
		q = room(e, q, 1);
		if (!q)
			return NULL;
		*q++ = sub ? 1 : op->tag >= 0 ? 0 : 0xff;
	}
	return sub ? write_structs(e, q, op->sub, sub, 0, frame) : q;
}

static __attribute__((noinline)) uint8_t *write_op(struct enc *e, uint8_t *q, const struct kw_op *op,
						   struct kw_frame *frame, const char *in)
{
	frame->field = op->field;
	if (op->array)
		return write_array(e, q, op, frame, in + op->offset);
	if (op->pointer)
		return write_pointer(e, q, op, frame, in + op->offset);
	return write_value(e, q, op, op->nullable, frame, in + op->offset);
}

/* ---- tagged fields ---- */

/* A tagged field's size stands before it: one byte is left for it, and the field moved up if it takes more. */
static uint8_t *write_tagged(struct enc *e, uint8_t *q, const struct kw_op *op, struct kw_frame *frame, const char *in)
{
	uint8_t prefix[LENGTH_MAX];
	size_t at, size, n;

	q = length_room(e, q, true, 0, (uint32_t)op->tag, 1);
	if (!q)
		return NULL;
	q = put_uvarint(q, (uint32_t)op->tag);
	at = (size_t)(q - e->buf->p);
	q = write_op(e, q + 1, op, frame, in);
	if (!q)
		return NULL;
	size = (size_t)(q - e->buf->p) - at - 1;
	n = (size_t)(put_uvarint(prefix, (uint32_t)size) - prefix);
	q = room(e, q, n - 1);
	if (!q)
		return NULL;
	if (n > 1)
		memmove(e->buf->p + at + n, e->buf->p + at + 1, size);
	memcpy(e->buf->p + at, prefix, n);
	return q + n - 1;
}

static uint8_t *write_unknown_tag(struct enc *e, uint8_t *q, const struct kw_tag *tag)
{
	size_t size = (size_t)tag->data.n;

	q = length_room(e, q, true, 0, tag->tag, 0);
	q = q ? length_room(e, put_uvarint(q, tag->tag), true, 0, (uint32_t)size, size) : NULL;
	if (!q)
		return NULL;
	q = put_uvarint(q, (uint32_t)size);
	if (size > 0)
		memcpy(q, tag->data.p, size);
	return q + size;
}

static inline const struct kw_tags *tags_of(const struct kw_plan *plan, const char *in)
{
	return (const struct kw_tags *)(const void *)(in + plan->tags_offset);
}

/* Whether all in the extent has its default, as far as can be said at once: mostly it has the default's very bytes. */
static inline bool has_defaults(const struct kw_plan *plan, struct kw_extent extent, const char *in)
{
	uint64_t odd = extent.from == extent.to, is[2], should[2];
	uint32_t at = extent.from;

	for (; at + sizeof is <= extent.to; at += sizeof is) {   /* two words at a time do not wait for each other */
		memcpy(is, in + at, sizeof is);
		memcpy(should, (const char *)plan->defaults + at, sizeof should);
		odd |= (is[0] ^ should[0]) | (is[1] ^ should[1]);
	}
	if (at < extent.to) {
		memcpy(is, in + at, KW_WORD);
		memcpy(should, (const char *)plan->defaults + at, KW_WORD);
		odd |= is[0] ^ should[0];
	}
	return odd == 0;
}

/* The same of one tagged field, and if it cannot be said at once. */
static inline bool is_default(const struct kw_plan *plan, const struct kw_op *op, const char *in)
{
	size_t size = op->array ? sizeof(struct kw_arr) : op->pointer ? sizeof(void *) : op->elem_size;

	return memcmp(in + op->offset, (const char *)plan->defaults + op->offset, size) == 0 ||
	       kw_field_is_default(op->field, in);
}

static __attribute__((noinline)) uint8_t *write_tags(struct enc *e, uint8_t *q, const struct kw_plan *plan,
						     const char *in, struct kw_frame *frame)
{
	const struct kw_tags *unknown = tags_of(plan, in);
	uint32_t n = (uint32_t)unknown->n, k = 0;
	uint64_t set = 0;          /* a bit for each known one */

	for (uint32_t i = 0; i < plan->ntagged; i++)
		if (!is_default(plan, &plan->tagged[i], in)) {
			set |= (uint64_t)1 << i;
			n++;
		}
	q = length_room(e, q, true, 0, n, 0);
	if (!q)
		return NULL;
	q = put_uvarint(q, n);
	if (n == 0)
		return q;
	for (int32_t i = 0; i <= unknown->n && q; i++) {
		uint32_t next = i < unknown->n ? unknown->v[i].tag : UINT32_MAX;

		for (; q && k < plan->ntagged && (uint32_t)plan->tagged[k].tag < next; k++)
			if (set >> k & 1)
				q = write_tagged(e, q, &plan->tagged[k], frame, in);
		if (q && i < unknown->n)
			q = write_unknown_tag(e, q, &unknown->v[i]);
	}
	return q;
}

/* ---- structs ---- */

/* That nothing is set which this version cannot say. */
static __attribute__((noinline)) bool check_absent(struct enc *e, const struct kw_plan *plan, const char *in,
						   struct kw_frame *frame)
{
	for (uint32_t i = 0; i < plan->nabsent; i++) {
		if (kw_field_is_default(plan->absent[i], in))
			continue;
		frame->field = plan->absent[i];
		fail(e, frame, KT_EVERSION, "is set, but this version does not have it");
		return false;
	}
	if (plan->flexible || !tags_of(plan, in)->n)
		return true;
	fail(e, frame->up, KT_EVERSION, "has tagged fields, but this version is not flexible");
	return false;
}

/* A run of numbers; there is room for run_put. */
static inline uint8_t *write_run(const struct kw_step *step, uint8_t *q, const char *in)
{
	for (const struct kw_move *move = step->moves, *end = move + step->nmoves; move < end; move++)
		kw_shuffle(q + move->to, (const uint8_t *)in + move->offset, move->put, NULL);
	return q + step->run_bytes;
}

static inline uint8_t *write_ints(uint8_t *q, const int32_t *v, int32_t n)
{
	for (int32_t i = 0; i < n; i++, q += 4)
		kw_wr32(q, (uint32_t)v[i]);
	return q;
}

/* The common cases of a step, with as little ado as can be. NULL for all others and for what is not allowed: that is
 * left to write_slowly(), which says what is wrong. */
static inline uint8_t *write_quickly(struct enc *e, uint8_t *q, const struct kw_step *step, const char *in,
				     struct kw_frame *frame)
{
	const void *at = in + step->offset;
	const struct kw_str *str = at;
	const struct kw_arr *arr = at;
	const struct kw_records *records = at;
	size_t left = (size_t)(e->limit - q);

	if (step->kind == KW_STEP_RUN)
		return left >= step->run_put ? write_run(step, q, in) : NULL;
	if (left == 0)
		return NULL;
	switch ((enum kw_step_kind)step->kind) {
	case KW_STEP_16:
		if (left < 2)
			return NULL;
		kw_wr16(q, *(const uint16_t *)at);
		return q + 2;
	case KW_STEP_32:
		if (left < 4)
			return NULL;
		kw_wr32(q, *(const uint32_t *)at);
		return q + 4;
	case KW_STEP_64:
		if (left < 8)
			return NULL;
		kw_wr64(q, *(const uint64_t *)at);
		return q + 8;
	case KW_STEP_BOOL:
		*q = *(const bool *)at;
		return q + 1;
	case KW_STEP_TEXT:      /* of less than 127 bytes */
		if (str->n >= 0x7f || (str->n < 0 && !step->nullable) || (int64_t)left <= str->n)
			return NULL;
		*q++ = (uint8_t)(str->n < 0 ? 0 : str->n + 1);
		if (str->n <= 0)
			return q;
		memcpy(q, str->s, (size_t)str->n);
		return q + str->n;
	case KW_STEP_RECORDS:   /* of less than 16383 bytes, in one run */
		if ((uint32_t)records->n >= 0x3fff || left < 2 || records->v)
			return NULL;
		e->buf->n = (size_t)(put_uvarint(q, (uint32_t)records->n + 1) - e->buf->p);
		if (records->n > 0)
			kw_put_ref(e->buf, records->p, (size_t)records->n);
		return resume(e);
	case KW_STEP_INTS:      /* less than 127 */
		if ((uint32_t)arr->n >= 0x7f || left <= 4 * (size_t)arr->n)
			return NULL;
		*q++ = (uint8_t)(arr->n + 1);
		return write_ints(q, arr->v, arr->n);
	case KW_STEP_STRUCTS:
		if (arr->n > 0 && arr->n < 0x7f) {
			frame->field = step->op->field;
			frame->index = 0;
			*q++ = (uint8_t)(arr->n + 1);
			return write_structs(e, q, step->sub, arr->v, arr->n, frame);
		}
		/* fall through */
	case KW_STEP_ARRAY:     /* an empty one, or null */
		if (arr->n > 0 || (arr->n < 0 && !step->nullable))
			return NULL;
		*q = (uint8_t)(arr->n < 0 ? 0 : 1);
		return q + 1;
	default:
		return NULL;
	}
}

static __attribute__((noinline)) uint8_t *write_slowly(struct enc *e, uint8_t *q, const struct kw_step *step,
						       const char *in, struct kw_frame *frame)
{
	if (e->code || e->buf->failed)
		return NULL;
	for (uint32_t i = 0; i < step->nops && q; i++)
		q = write_op(e, q, &step->op[i], frame, in);
	return q;
}

/* Elements of an array from up->index to n, or one struct that is no element: then they are -1 and 0. */
static uint8_t *write_structs(struct enc *e, uint8_t *q, const struct kw_plan *plan, const char *in, int32_t n,
			      struct kw_frame *up)
{
	bool may_lack = plan->nabsent || !plan->flexible;
	struct kw_frame frame = {up, NULL, -1};

	for (int32_t i = up->index; i < n; up->index = ++i, in += plan->size) {
		if (may_lack && !(plan->flexible && has_defaults(plan, plan->absent_at, in)) &&
		    !check_absent(e, plan, in, &frame))
			return NULL;
		for (const struct kw_step *step = plan->steps; step->kind < KW_STEP_TAGS; step++) {
			uint8_t *next = write_quickly(e, q, step, in, &frame);

			if (!next && !(next = write_slowly(e, q, step, in, &frame)))
				return NULL;
			q = next;
		}
		if (!plan->flexible)
			continue;
		if (q < e->limit && tags_of(plan, in)->n == 0 &&   /* as nearly always */
		    (plan->ntagged == 0 || has_defaults(plan, plan->tagged_at, in)))
			*q++ = 0;
		else
			q = write_tags(e, q, plan, in, &frame);
		if (!q)
			return NULL;
	}
	up->index = -1;
	return q;
}

int kw_encode(const struct kw_msg *msg, int version, const void *in, struct kw_buf *buf, struct kt_err *err)
{
	const struct kw_plan *plan = kw_plan_get(msg, version, err);
	struct enc e = {.buf = buf, .err = err};
	struct kw_frame root = {NULL, NULL, -1};
	uint8_t *q;

	if (!plan)
		return err && err->code ? err->code : KT_EVERSION;
	kw_buf_room(buf, plan->min_size);
	q = resume(&e);
	q = q ? write_structs(&e, q, plan, in, 0, &root) : NULL;
	if (q)
		buf->n = (size_t)(q - buf->p);
	else if (!e.code)
		e.code = kw_buf_fail(buf, err, "%s does not fit into its buffer", msg->name);
	return e.code;
}
