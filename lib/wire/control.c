#include "lib/wire/control.h"

#include "kw_messages.h"

enum { KEY_SIZE = 4, MARKER_SIZE = 6 };

static const struct control {
	const char *name;
	const struct kw_msg *msg;
	bool prefixed;
} controls[] = {
#define KW_X(sym, type, name, message, prefixed) [type] = {name, &kw_msg_##message, prefixed},
	KW_CONTROLS(KW_X)
#undef KW_X
};

enum { NCONTROLS = sizeof controls / sizeof controls[0] };

static const struct control *find(int type)
{
	return type >= 0 && type < NCONTROLS ? &controls[type] : NULL;
}

const char *kw_control_name(int type)
{
	const struct control *control = find(type);

	return control ? control->name : NULL;
}

int kw_control_find(const char *name)
{
	for (int type = 0; type < NCONTROLS; type++)
		if (strcmp(controls[type].name, name) == 0)
			return type;
	return -1;
}

const struct kw_msg *kw_control_message(int type)
{
	const struct control *control = find(type);

	return control ? control->msg : NULL;
}

int kw_control_read_key(struct kw_bytes key, int *version, int *type, struct kt_err *err)
{
	int16_t found;

	if (key.n < KEY_SIZE)
		return kt_fail(err, KT_ECORRUPT, "Invalid value size found for end control record key. Must have at "
			       "least %d bytes, but found only %d", KEY_SIZE, key.n < 0 ? 0 : key.n);
	found = (int16_t)kw_rd16(key.p);
	if (found < 0)
		return kt_fail(err, KT_ECORRUPT, "Invalid version found for control record: %d. May indicate data "
			       "corruption", found);
	if (version)
		*version = found;
	*type = (int16_t)kw_rd16(key.p + 2);
	return 0;
}

int kw_control_read_value(int type, struct kw_bytes value, struct kw_arena *arena, int *version, void **out,
			  struct kt_err *err)
{
	const struct control *control = find(type);
	size_t skip;
	int known;

	if (!control)
		return kt_fail(err, KT_EUNKNOWN, "there is no control record type %d", type);
	if (control->prefixed && value.n < MARKER_SIZE)
		return kt_fail(err, KT_ECORRUPT, "Invalid value size found for end transaction marker. Must have at "
			       "least %d bytes, but found only %d", MARKER_SIZE, value.n < 0 ? 0 : value.n);
	if (value.n < 2)
		return kt_fail(err, KT_ETRUNC, "%d bytes do not hold the version of a control record",
			       value.n < 0 ? 0 : value.n);
	*version = known = (int16_t)kw_rd16(value.p);
	if (known < 0)
		return kt_fail(err, KT_ECORRUPT, "Invalid version found for %s: %d. May indicate data corruption",
			       control->prefixed ? "end transaction marker" : "control record", known);
	if (known > control->msg->versions.max)
		known = control->msg->versions.max;
	skip = control->prefixed ? 2 : 0;
	return kw_decode(control->msg, known, value.p + skip, (size_t)value.n - skip, arena, out, NULL, err);
}

static int put_value(const struct control *control, int version, const void *in, struct kw_buf *out,
		     struct kt_err *err)
{
	if (control->prefixed)
		kw_put_u16(out, (uint16_t)version);
	return kw_encode(control->msg, version, in, out, err);
}

int kw_control_build(const struct kw_batch_spec *spec, int type, int version, const void *in, struct kw_buf *out,
		     struct kt_err *err)
{
	const struct control *control = find(type);
	struct kw_batch_spec control_spec = *spec;
	uint8_t key[KEY_SIZE] = {0};
	struct kw_record record = {.key = {key, KEY_SIZE}};
	struct kw_buf value;
	int code;

	if (!control)
		return kt_fail(err, KT_EUNKNOWN, "there is no control record type %d", type);
	control_spec.attributes |= control->prefixed ? KW_A_CONTROL | KW_A_TRANSACTIONAL : KW_A_CONTROL;
	kw_wr16(key + 2, (uint16_t)type);
	kw_buf_init(&value, INT32_MAX);
	code = put_value(control, version, in, &value, err);
	record.value = (struct kw_bytes){value.p, (int32_t)value.n};
	if (code == 0 && value.failed)
		code = kw_buf_fail(&value, err, "a control record is too large");
	if (code == 0)
		code = kw_batch_build(&control_spec, &record, 1, out, err);
	kw_buf_fini(&value);
	return code;
}
