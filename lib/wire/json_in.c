/* JSON to message: Kafka's JsonConverter form, and the hand-written forms that message.h describes. */
#include <math.h>

#include "lib/text/base64.h"
#include "lib/text/near.h"
#include "lib/wire/batch.h"
#include "lib/wire/plan.h"

struct in {
	const struct kw_msg *msg;
	int version;
	struct kw_arena *arena;
	struct kt_err *err;
};

static int fail(struct in *in, const struct kw_frame *frame, int code, const char *fmt, const char *arg)
{
	char text[256];

	snprintf(text, sizeof text, fmt, arg);
	return kw_frame_fail(frame, in->err, code, "%s", text);
}

static const char *type_name(const json_t *json)
{
	static const char *const names[] = {"an object", "an array", "a string", "an integer", "a real number", "true",
					    "false", "null"};

	return names[json_typeof(json)];
}

static const struct {
	int64_t min, max;
} ints[] = {
	[KW_INT8] = {INT8_MIN, INT8_MAX},
	[KW_INT16] = {INT16_MIN, INT16_MAX},
	[KW_UINT16] = {0, UINT16_MAX},
	[KW_INT32] = {INT32_MIN, INT32_MAX},
	[KW_UINT32] = {0, UINT32_MAX},
	[KW_INT64] = {INT64_MIN, INT64_MAX},
};

static int to_int(struct in *in, const struct kw_field *field, json_t *json, char *at, const struct kw_frame *frame)
{
	int64_t v = json_integer_value(json);

	if (!json_is_integer(json))
		return fail(in, frame, KT_ETYPE, "an integer is expected, not %s", type_name(json));
	if (v < ints[field->type].min || v > ints[field->type].max)
		return kw_frame_fail(frame, in->err, KT_ERANGE, "%lld is outside %lld..%lld", (long long)v,
				     (long long)ints[field->type].min, (long long)ints[field->type].max);
	switch (kw_type_size(field)) {
	case 1: *(int8_t *)at = (int8_t)v; break;
	case 2: *(int16_t *)(void *)at = (int16_t)v; break;
	case 4: *(int32_t *)(void *)at = (int32_t)v; break;
	default: memcpy(at, &v, sizeof v);
	}
	return 0;
}

static int to_real(struct in *in, json_t *json, char *at, const struct kw_frame *frame)
{
	static const struct { const char *name; double value; } names[] = {
		{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY},
	};
	double v = json_number_value(json);

	if (json_is_string(json)) {
		for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
			if (strcmp(json_string_value(json), names[i].name) == 0) {
				memcpy(at, &names[i].value, sizeof v);
				return 0;
			}
		}
	}
	if (!json_is_number(json))
		return fail(in, frame, KT_ETYPE, "a number is expected, not %s", type_name(json));
	memcpy(at, &v, sizeof v);
	return 0;
}

/* {"hex": "..."} or {"text": "..."}: the bytes, in the arena. */
static int to_run(struct in *in, json_t *json, const struct kw_frame *frame, struct kw_bytes *out)
{
	json_t *hex = json_object_get(json, "hex"), *text = json_object_get(json, "text");
	json_t *value = hex ? hex : text;
	size_t n = json_string_length(value);
	uint8_t *p;
	long len = (long)n;

	if (json_object_size(json) != 1 || !json_is_string(value))
		return fail(in, frame, KT_ETYPE, "%s is expected",
			    "a string, {\"hex\": \"...\"} or {\"text\": \"...\"}");
	p = kw_alloc(in->arena, n + 1);
	if (!p)
		return fail(in, frame, KT_ENOMEM, "%s", "out of memory");
	if (hex)
		len = kt_hex_decode(json_string_value(value), n, p);
	else
		memcpy(p, json_string_value(value), n);
	if (len < 0)
		return fail(in, frame, KT_ESYNTAX, "%s", "not an even number of hex digits");
	*out = (struct kw_bytes){p, (int32_t)len};
	return 0;
}

static int to_string(struct in *in, json_t *json, const struct kw_frame *frame, struct kw_str *out)
{
	struct kw_bytes run;

	if (json_is_object(json)) {
		int code = to_run(in, json, frame, &run);
		if (code)
			return code;
		*out = (struct kw_str){(const char *)run.p, run.n};
		return 0;
	}
	if (!json_is_string(json))
		return fail(in, frame, KT_ETYPE, "a string is expected, not %s", type_name(json));
	out->n = (int32_t)json_string_length(json);
	out->s = kw_strndup(in->arena, json_string_value(json), json_string_length(json));
	return out->s ? 0 : fail(in, frame, KT_ENOMEM, "%s", "out of memory");
}

static int to_bytes(struct in *in, json_t *json, const struct kw_frame *frame, struct kw_bytes *out)
{
	size_t n = json_string_length(json);
	uint8_t *p;
	long len;

	if (json_is_object(json))
		return to_run(in, json, frame, out);
	if (!json_is_string(json))
		return fail(in, frame, KT_ETYPE, "base64 text is expected, not %s", type_name(json));
	p = kw_alloc(in->arena, n / 4 * 3 + 3);
	if (!p)
		return fail(in, frame, KT_ENOMEM, "%s", "out of memory");
	len = kt_base64_decode(json_string_value(json), n, p);
	if (len < 0)
		return fail(in, frame, KT_ESYNTAX, "%s", "not valid base64");
	*out = (struct kw_bytes){p, (int32_t)len};
	return 0;
}

static int to_records(struct in *in, json_t *json, const struct kw_frame *frame, struct kw_records *out)
{
	json_t *batches = json_object_get(json, "batches");
	struct kw_bytes run = {NULL, 0};
	struct kw_buf buf;
	int code;

	if (!batches) {
		code = to_bytes(in, json, frame, &run);
		*out = (struct kw_records){.p = run.p, .n = run.n};
		return code;
	}
	if (json_object_size(json) != 1)
		return fail(in, frame, KT_EUNKNOWN, "%s", "beside \"batches\" nothing else is allowed");
	kw_buf_init(&buf, 0);
	code = kw_batches_from_json(batches, &buf, in->err);
	if (!code) {
		uint8_t *p = kw_alloc(in->arena, buf.n);
		if (!p)
			code = fail(in, frame, KT_ENOMEM, "%s", "out of memory");
		else if (buf.n)
			memcpy(p, buf.p, buf.n);
		*out = (struct kw_records){.p = p, .n = (int32_t)buf.n};
	} else if (in->err) {
		char path[sizeof in->err->path], inner[sizeof in->err->path];
		memcpy(inner, in->err->path, sizeof inner);
		kw_frame_path(frame, path, sizeof path);
		snprintf(in->err->path, sizeof in->err->path, "%.120s.%.120s", path, inner);
	}
	kw_buf_fini(&buf);
	return code;
}

static int to_struct(struct in *in, const struct kw_struct *st, json_t *json, void *out, const struct kw_frame *up);

static int to_value(struct in *in, const struct kw_field *field, json_t *json, char *at, const struct kw_frame *frame)
{
	switch ((enum kw_type)field->type) {
	case KW_BOOL:
		if (!json_is_boolean(json))
			return fail(in, frame, KT_ETYPE, "true or false is expected, not %s", type_name(json));
		*(bool *)at = json_is_true(json);
		return 0;
	case KW_FLOAT64: return to_real(in, json, at, frame);
	case KW_UUID:
		if (!json_is_string(json) ||
		    kw_uuid_parse(json_string_value(json), json_string_length(json), (struct kw_uuid *)at) < 0)
			return fail(in, frame, KT_ESYNTAX, "%s", "a uuid of 22 base64 characters is expected");
		return 0;
	case KW_STRING: return to_string(in, json, frame, (struct kw_str *)(void *)at);
	case KW_BYTES: return to_bytes(in, json, frame, (struct kw_bytes *)(void *)at);
	case KW_RECORDS: return to_records(in, json, frame, (struct kw_records *)(void *)at);
	case KW_STRUCT: return to_struct(in, field->sub, json, at, frame);
	default: return to_int(in, field, json, at, frame);
	}
}

static int to_array(struct in *in, const struct kw_field *field, json_t *json, struct kw_arr *out,
		    struct kw_frame *frame)
{
	uint32_t size = kw_type_size(field);
	size_t n = json_array_size(json);
	int code = 0;

	if (!json_is_array(json))
		return fail(in, frame, KT_ETYPE, "an array is expected, not %s", type_name(json));
	out->v = kw_alloc(in->arena, n * size);
	out->n = (int32_t)n;
	if (!out->v)
		return fail(in, frame, KT_ENOMEM, "%s", "out of memory");
	for (size_t i = 0; i < n && !code; i++) {
		frame->index = (int32_t)i;
		code = to_value(in, field, json_array_get(json, i), (char *)out->v + i * size, frame);
	}
	frame->index = -1;
	return code;
}

static void set_null(const struct kw_field *field, char *at)
{
	if (kw_is_pointer(field))
		*(void **)(void *)at = NULL;
	else if (field->flags & KW_F_ARRAY)
		((struct kw_arr *)(void *)at)->n = -1;
	else if (field->type == KW_STRING || field->type == KW_BYTES)
		((struct kw_bytes *)(void *)at)->n = -1;
	else
		((struct kw_records *)(void *)at)->n = -1;
}

static int to_field(struct in *in, const struct kw_field *field, json_t *json, char *out, struct kw_frame *frame)
{
	char *at = out + field->offset;

	if (!kw_in(field->versions, in->version) && !(field->flags & KW_F_IGNORABLE))
		return kw_frame_fail(frame, in->err, KT_EVERSION, "version %d of %s does not have it (it is in %d-%d)",
				     in->version, in->msg->name, field->versions.min, field->versions.max);
	if (json_is_null(json)) {
		if (!kw_in(field->nullable, in->version))
			return fail(in, frame, KT_ETYPE, "%s", "null where this version does not allow it");
		set_null(field, at);
		return 0;
	}
	if (field->flags & KW_F_ARRAY)
		return to_array(in, field, json, (struct kw_arr *)(void *)at, frame);
	if (kw_is_pointer(field)) {
		void *sub = kw_alloc(in->arena, field->sub->size);
		if (!sub)
			return fail(in, frame, KT_ENOMEM, "%s", "out of memory");
		*(void **)(void *)at = sub;
		return to_struct(in, field->sub, json, sub, frame);
	}
	return to_value(in, field, json, at, frame);
}

static const struct kw_field *find_field(const struct kw_struct *st, const char *name)
{
	for (uint32_t i = 0; i < st->nfields; i++) {
		const struct kw_field *field = &st->fields[i];

		if (strcmp(field->name, name) == 0 || (field->alias && strcmp(field->alias, name) == 0))
			return field;
	}
	return NULL;
}

static int unknown_member(struct in *in, const struct kw_struct *st, const char *name, const struct kw_frame *up)
{
	const char *names[64], *near;
	size_t n = 0;

	for (uint32_t i = 0; i < st->nfields && n < 64; i++)
		if (kw_in(st->fields[i].versions, in->version))
			names[n++] = st->fields[i].name;
	near = kt_nearest(name, names, n);
	return kw_frame_fail(up, in->err, KT_EUNKNOWN, "unknown member \"%.60s\"%s%s%s", name,
			     near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static int to_struct(struct in *in, const struct kw_struct *st, json_t *json, void *out, const struct kw_frame *up)
{
	struct kw_frame frame = {up, NULL, -1};
	const char *name;
	json_t *value;

	if (!json_is_object(json))
		return fail(in, up, KT_ETYPE, "an object is expected, not %s", type_name(json));
	kw_set_defaults(st, out);
	json_object_foreach(json, name, value) {
		const struct kw_field *field = find_field(st, name);
		int code;

		if (!field)
			return unknown_member(in, st, name, up);
		frame.field = field;
		code = to_field(in, field, value, out, &frame);
		if (code)
			return code;
	}
	return 0;
}

int kw_from_json(const struct kw_msg *msg, int version, json_t *json, struct kw_arena *arena, void **out,
		 struct kt_err *err)
{
	struct in in = {msg, version, arena, err};

	*out = NULL;
	if (!kw_plan_get(msg, version, err))
		return err && err->code ? err->code : KT_EVERSION;
	*out = kw_alloc(arena, msg->root->size);
	if (!*out)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	return to_struct(&in, msg->root, json, *out, NULL);
}
