/* A message as JSON, in the form of Kafka's generated JsonConverters with records serialized. */
#include <math.h>
#include <stdlib.h>

#include "lib/text/base64.h"
#include "lib/wire/plan.h"

struct out {
	const struct kw_msg *msg;
	int version;
	struct kt_err *err;
};

static json_t *base64(const void *p, size_t n)
{
	char *text = malloc(kt_base64_len(n, false) + 1);
	json_t *json;

	if (!text)
		return NULL;
	kt_base64_encode(p, n, false, text);
	json = json_string_nocheck(text);
	free(text);
	return json;
}

/* A string that JSON cannot hold is {"hex": "..."}. */
static json_t *string(struct kw_str str)
{
	json_t *json = json_stringn(str.s ? str.s : "", (size_t)str.n);

	return json ? json : json_pack("{s:o}", "hex", kt_hex_json(str.s, (size_t)str.n));
}

/* What JSON has no number for is a string, as Jackson does it. */
static json_t *real_number(double real)
{
	if (isnan(real))
		return json_string("NaN");
	if (isinf(real))
		return json_string(real > 0 ? "Infinity" : "-Infinity");
	return json_real(real);
}

static json_t *records(const struct kw_records *r)
{
	struct kw_buf buf;
	json_t *json;

	if (!r->v)
		return base64(r->p, (size_t)r->n);
	kw_buf_init(&buf, 0);
	for (int32_t i = 0; i < r->nv; i++)
		kw_put(&buf, r->v[i].p, r->v[i].n);
	json = buf.failed ? NULL : base64(buf.p, buf.n);
	kw_buf_fini(&buf);
	return json;
}

static json_t *from_struct(struct out *o, const struct kw_struct *st, const void *in, const struct kw_frame *up);

static json_t *from_value(struct out *o, const struct kw_field *field, const char *at, const struct kw_frame *frame)
{
	const struct kw_bytes *bytes = (const struct kw_bytes *)(const void *)at;
	char id[23];
	int64_t v64;
	double real;

	switch ((enum kw_type)field->type) {
	case KW_BOOL: return json_boolean(*(const bool *)at);
	case KW_INT8: return json_integer(*(const int8_t *)at);
	case KW_INT16: return json_integer(*(const int16_t *)(const void *)at);
	case KW_UINT16: return json_integer(*(const uint16_t *)(const void *)at);
	case KW_INT32: return json_integer(*(const int32_t *)(const void *)at);
	case KW_UINT32: return json_integer(*(const uint32_t *)(const void *)at);
	case KW_INT64: memcpy(&v64, at, sizeof v64); return json_integer(v64);
	case KW_FLOAT64: memcpy(&real, at, sizeof real); return real_number(real);
	case KW_UUID: kw_uuid_text(*(const struct kw_uuid *)at, id); return json_string(id);
	case KW_STRING: return bytes->n < 0 ? json_null() : string(*(const struct kw_str *)(const void *)at);
	case KW_BYTES: return bytes->n < 0 ? json_null() : base64(bytes->p, (size_t)bytes->n);
	case KW_RECORDS: return bytes->n < 0 ? json_null() : records((const struct kw_records *)(const void *)at);
	case KW_STRUCT: return from_struct(o, field->sub, at, frame);
	}
	return NULL;
}

static json_t *from_array(struct out *o, const struct kw_field *field, const struct kw_arr *arr,
			  struct kw_frame *frame)
{
	json_t *json;

	if (arr->n < 0)
		return json_null();
	json = json_array();
	for (int32_t i = 0; json && i < arr->n; i++) {
		const char *at = (const char *)arr->v + (size_t)i * kw_type_size(field);

		frame->index = i;
		if (json_array_append_new(json, from_value(o, field, at, frame)) < 0) {
			json_decref(json);
			json = NULL;
		}
	}
	frame->index = -1;
	return json;
}

static json_t *from_field(struct out *o, const struct kw_field *field, const void *in, struct kw_frame *frame)
{
	const char *at = (const char *)in + field->offset;

	if (field->flags & KW_F_ARRAY)
		return from_array(o, field, (const struct kw_arr *)(const void *)at, frame);
	if (kw_is_pointer(field)) {
		const void *sub = *(void *const *)(const void *)at;
		return sub ? from_struct(o, field->sub, sub, frame) : json_null();
	}
	return from_value(o, field, at, frame);
}

static json_t *from_struct(struct out *o, const struct kw_struct *st, const void *in, const struct kw_frame *up)
{
	struct kw_frame frame = {up, NULL, -1};
	json_t *json = json_object();

	for (uint32_t i = 0; json && i < st->nfields; i++) {
		const struct kw_field *field = &st->fields[i];

		frame.field = field;
		if (!kw_in(field->versions, o->version)) {
			if (field->flags & KW_F_IGNORABLE || kw_field_is_default(field, in))
				continue;
			kw_frame_fail(&frame, o->err, KT_EVERSION, "is set, but version %d does not have it",
				      o->version);
			goto fail;
		}
		if (kw_in(field->tagged, o->version) && kw_field_is_default(field, in))
			continue;
		if (json_object_set_new(json, field->name, from_field(o, field, in, &frame)) < 0) {
			kw_frame_fail(&frame, o->err, KT_ENOMEM, "out of memory");
			goto fail;
		}
	}
	return json;
fail:
	json_decref(json);
	return NULL;
}

json_t *kw_to_json(const struct kw_msg *msg, int version, const void *in, struct kt_err *err)
{
	struct out o = {msg, version, err};

	if (!kw_plan_get(msg, version, err))
		return NULL;
	return from_struct(&o, msg->root, in, NULL);
}
