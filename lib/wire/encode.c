/* Encode: one interpreter for every message and version. */
#include "lib/wire/plan.h"

struct enc {
	struct kw_buf *buf;
	struct kt_err *err;
	int code;
};

static void fail(struct enc *e, const struct kw_frame *frame, int code, const char *what)
{
	if (e->code)
		return;
	e->code = code;
	kw_frame_fail(frame, e->err, code, "%s", what);
}

/* ---- values ---- */

static void put_length(struct enc *e, const struct kw_op *op, const struct kw_frame *frame, unsigned wide, int64_t n,
		       bool nullable)
{
	if (n < 0 && !nullable) {
		fail(e, frame, KT_ETYPE, "null where this version does not allow it");
		return;
	}
	if (op->compact)
		kw_put_uvarint(e->buf, (uint32_t)(n + 1));
	else if (wide == 2)
		kw_put_u16(e->buf, (uint16_t)n);
	else
		kw_put_u32(e->buf, (uint32_t)n);
}

static void put_records(struct enc *e, const struct kw_records *records)
{
	if (records->n > 0 && records->v) {
		for (int32_t i = 0; i < records->nv; i++)
			kw_put_ref(e->buf, records->v[i].p, records->v[i].n);
	} else if (records->n > 0) {
		kw_put_ref(e->buf, records->p, (size_t)records->n);
	}
}

static void write_struct(struct enc *e, const struct kw_plan *plan, const void *in, const struct kw_frame *up);

static void put_run(struct enc *e, const struct kw_op *op, bool nullable, const struct kw_frame *frame,
		    const char *at)
{
	const struct kw_str *str = (const struct kw_str *)(const void *)at;
	const struct kw_bytes *bytes = (const struct kw_bytes *)(const void *)at;
	const struct kw_records *records = (const struct kw_records *)(const void *)at;

	switch ((enum kw_type)op->type) {
	case KW_STRING:
		if (str->n > 0x7fff) {
			fail(e, frame, KT_ERANGE, "string is longer than 32767 bytes");
			return;
		}
		put_length(e, op, frame, 2, str->n, nullable);
		if (str->n > 0)
			kw_put(e->buf, str->s, (size_t)str->n);
		break;
	case KW_BYTES:
		put_length(e, op, frame, 4, bytes->n, nullable);
		if (bytes->n > 0)
			kw_put(e->buf, bytes->p, (size_t)bytes->n);
		break;
	default:
		put_length(e, op, frame, 4, records->n, nullable);
		put_records(e, records);
	}
}

static void write_value(struct enc *e, const struct kw_op *op, bool nullable, const struct kw_frame *frame,
			const char *at)
{
	uint64_t v64;

	switch ((enum kw_type)op->type) {
	case KW_BOOL: kw_put_u8(e->buf, *(const bool *)at); break;
	case KW_INT8: kw_put_u8(e->buf, *(const uint8_t *)at); break;
	case KW_INT16:
	case KW_UINT16: kw_put_u16(e->buf, *(const uint16_t *)(const void *)at); break;
	case KW_INT32:
	case KW_UINT32: kw_put_u32(e->buf, *(const uint32_t *)(const void *)at); break;
	case KW_INT64:
	case KW_FLOAT64:
		memcpy(&v64, at, sizeof v64);
		kw_put_u64(e->buf, v64);
		break;
	case KW_UUID: kw_put(e->buf, at, 16); break;
	case KW_STRING:
	case KW_BYTES:
	case KW_RECORDS: put_run(e, op, nullable, frame, at); break;
	case KW_STRUCT: write_struct(e, op->sub, at, frame); break;
	}
}

static void write_array(struct enc *e, const struct kw_op *op, struct kw_frame *frame, const struct kw_arr *arr)
{
	put_length(e, op, frame, 4, arr->n, op->nullable);
	for (int32_t i = 0; i < arr->n && !e->code; i++) {
		frame->index = i;
		write_value(e, op, false, frame, (const char *)arr->v + (size_t)i * op->elem_size);
	}
	frame->index = -1;
}

/* Before a nullable struct stands whether it is there: a signed byte, in a tagged field an unsigned varint. */
static void write_pointer(struct enc *e, const struct kw_op *op, const struct kw_frame *frame, const void *sub)
{
	if (!sub && !op->nullable) {
		fail(e, frame, KT_ETYPE, "null where this version does not allow it");
		return;
	}
	if (op->nullable && op->tag >= 0)
		kw_put_uvarint(e->buf, sub ? 1 : 0);
	else if (op->nullable)
		kw_put_u8(e->buf, sub ? 1 : 0xff);
	if (sub)
		write_struct(e, op->sub, sub, frame);
}

static void write_op(struct enc *e, const struct kw_op *op, struct kw_frame *frame, const char *in)
{
	const void *at = in + op->offset;

	frame->field = op->field;
	if (op->array)
		write_array(e, op, frame, at);
	else if (kw_is_pointer(op->field))
		write_pointer(e, op, frame, *(void *const *)at);
	else
		write_value(e, op, op->nullable, frame, at);
}

/* ---- tagged fields ---- */

/* A tagged field's size stands before it, so the field is written first and then moved up. */
static void write_tagged(struct enc *e, const struct kw_op *op, struct kw_frame *frame, const char *in)
{
	size_t at, size, prefix;

	kw_put_uvarint(e->buf, (uint32_t)op->tag);
	at = e->buf->n;
	write_op(e, op, frame, in);
	if (e->buf->failed || e->code)
		return;
	size = e->buf->n - at;
	kw_put_uvarint(e->buf, (uint32_t)size);
	if (e->buf->failed)
		return;
	prefix = e->buf->n - at - size;
	{
		uint8_t len[5];

		memcpy(len, e->buf->p + at + size, prefix);
		memmove(e->buf->p + at + prefix, e->buf->p + at, size);
		memcpy(e->buf->p + at, len, prefix);
	}
}

static void write_tags(struct enc *e, const struct kw_plan *plan, const char *in, struct kw_frame *frame)
{
	const struct kw_tags *unknown = (const struct kw_tags *)(const void *)(in + plan->st->tags_offset);
	uint32_t n = (uint32_t)unknown->n, k = 0;

	for (uint32_t i = 0; i < plan->ntagged; i++)
		n += !kw_field_is_default(plan->tagged[i].field, in);
	kw_put_uvarint(e->buf, n);
	for (int32_t i = 0; i <= unknown->n; i++) {
		uint32_t next = i < unknown->n ? unknown->v[i].tag : UINT32_MAX;

		for (; k < plan->ntagged && (uint32_t)plan->tagged[k].tag < next; k++)
			if (!kw_field_is_default(plan->tagged[k].field, in))
				write_tagged(e, &plan->tagged[k], frame, in);
		if (i == unknown->n)
			break;
		kw_put_uvarint(e->buf, unknown->v[i].tag);
		kw_put_uvarint(e->buf, (uint32_t)unknown->v[i].data.n);
		kw_put(e->buf, unknown->v[i].data.p, (size_t)unknown->v[i].data.n);
	}
}

static void write_struct(struct enc *e, const struct kw_plan *plan, const void *in, const struct kw_frame *up)
{
	const void *tags = (const char *)in + plan->st->tags_offset;
	const struct kw_tags *unknown = tags;
	struct kw_frame frame = {up, NULL, -1};

	for (uint32_t i = 0; i < plan->nabsent; i++) {
		frame.field = plan->absent[i];
		if (!kw_field_is_default(plan->absent[i], in))
			fail(e, &frame, KT_EVERSION, "is set, but this version does not have it");
	}
	if (!plan->flexible && unknown->n)
		fail(e, up, KT_EVERSION, "has tagged fields, but this version is not flexible");
	for (uint32_t i = 0; i < plan->nops && !e->code; i++)
		write_op(e, &plan->ops[i], &frame, in);
	if (plan->flexible && !e->code)
		write_tags(e, plan, in, &frame);
}

int kw_encode(const struct kw_msg *msg, int version, const void *in, struct kw_buf *buf, struct kt_err *err)
{
	const struct kw_plan *plan = kw_plan_get(msg, version, err);
	struct enc e = {buf, err, 0};

	if (!plan)
		return err && err->code ? err->code : KT_EVERSION;
	write_struct(&e, plan, in, NULL);
	if (!e.code && buf->failed)
		e.code = kt_fail(err, KT_ELIMIT, "%s does not fit into its buffer", msg->name);
	return e.code;
}
