/* control: the kit's control API, where a fakebroker tells what its hooks saw. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/client/http.h"
#include "conformance/vars.h"
#include "conformance/verbs/verbs.h"

const struct cf_arg cf_args_control[] = {
	{"path", CF_ARG_STR, true, "\"/v1/observer\""},
	{"method", CF_ARG_STR, false, "\"GET\" unless given"},
	{"body", CF_ARG_ANY, false, "JSON to send"},
	{"at", CF_ARG_STR, false, "path of the part of {\"status\", \"body\"} that the expectation is about"},
	{0},
};

int cf_verb_control(struct cf_run *run, json_t *args, struct cf_outcome *out, struct kt_err *err)
{
	const char *method = json_string_value(json_object_get(args, "method"));
	const char *at = json_string_value(json_object_get(args, "at"));
	json_t *body = json_object_get(args, "body"), *whole;
	char url[600], *text = body ? json_dumps(body, JSON_ENCODE_ANY) : NULL, *answer = NULL;
	json_error_t why;
	int status = 0;

	out->fate = CF_NO_CONNECTION;
	snprintf(url, sizeof url, "%s%s", run->target->control_url, json_string_value(json_object_get(args, "path")));
	if (kc_http(method ? method : "GET", url, text, run->target->profile->timeout, &status, &answer, err) == 0) {
		out->answered = true;
		out->body = json_loads(answer, JSON_DECODE_ANY, &why);
		whole = json_pack("{s:i, s:O}", "status", status, "body", out->body ? out->body : json_null());
		out->subject = json_incref(cf_at(whole, at ? at : ""));
		out->evidence = json_pack("{s:s, s:O, s:o}", "url", url, "request", body ? body : json_null(),
					  "response", whole);
	}
	free(text);
	free(answer);
	return err->code;
}
