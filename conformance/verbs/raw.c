/* raw: bytes as they are, frame size included unless "size" asks for it. */
#include <stdlib.h>
#include <string.h>

#include "conformance/verbs/verbs.h"
#include "lib/text/base64.h"

const struct cf_arg cf_args_raw[] = {
	{"hex", CF_ARG_STR, true, "the bytes; blanks are ignored"},
	{"size", CF_ARG_BOOL, false, "put the right frame size in front"},
	{"halfClose", CF_ARG_BOOL, false, "end the sending side behind the bytes"},
	{"answer", CF_ARG_OBJECT, false, "{\"api\": NAME, \"version\": N}: read the answer as this"},
	{"answers", CF_ARG_INT, false, "read so many answers; the subject is {\"correlationIds\": [..]}"},
	{"to", CF_ARG_STR, false, "\"broker\" (unless given) or \"controller\""},
	{0},
};

static int bytes_of(json_t *args, struct kw_buf *buf, struct kt_err *err)
{
	const char *hex = json_string_value(json_object_get(args, "hex"));
	size_t n = strlen(hex);
	uint8_t *p = malloc(n / 2 + 1);
	long size = p ? kt_hex_decode(hex, n, p) : -1;

	if (!p)
		kt_fail(err, KT_ENOMEM, "out of memory");
	else if (size < 0)
		kt_fail(err, KT_ESYNTAX, "hex: not pairs of hexadecimal digits");
	if (size >= 0) {
		if (json_is_true(json_object_get(args, "size")))
			kw_put_u32(buf, (uint32_t)size);
		kw_put(buf, p, (size_t)size);
	}
	free(p);
	return err->code;
}

int cf_read_raw(struct cf_link *link, json_t *answer, struct cf_outcome *out, struct kt_err *err)
{
	const char *name = json_string_value(json_object_get(answer, "api"));
	int api = name ? kw_api_key(name) : -1, version = (int)json_integer_value(json_object_get(answer, "version"));

	if (answer && api < 0)
		return kt_fail(err, KT_EUSAGE, "answer: needs \"api\" and \"version\"");
	return cf_run_take_answer(link, api, version, out, err);
}

static void read_several(struct cf_link *link, int n, struct cf_outcome *out)
{
	json_t *ids = json_array();
	int32_t correlation;

	for (int i = 0; i < n; i++) {
		struct kt_err why = {0};

		if (cf_link_receive_any(link, out->evidence, &correlation, &why))
			break;
		json_array_append_new(ids, json_integer(correlation));
		out->answered = true;
	}
	out->subject = json_pack("{s:o}", "correlationIds", ids);
}

int cf_verb_raw(struct cf_run *run, json_t *args, struct cf_outcome *out, struct kt_err *err)
{
	json_t *answers = json_object_get(args, "answers");
	struct cf_link *link = cf_run_link(run, json_string_value(json_object_get(args, "to")), NULL, err);
	struct kt_err why = {0};
	struct kw_buf buf;

	kw_buf_init(&buf, 0);
	if (!link || bytes_of(args, &buf, err))
		goto out;
	out->evidence = json_object();
	if (cf_link_send(link, buf.p, buf.n, out->evidence, &why) == 0) {
		if (json_is_true(json_object_get(args, "halfClose")))
			kc_shutdown_write(link->conn);
		if (answers)
			read_several(link, (int)json_integer_value(answers), out);
		else
			cf_read_raw(link, json_object_get(args, "answer"), out, err);
	}
out:
	kw_buf_fini(&buf);
	return err->code;
}
