/* race: requests that are on their way at the same time, each on a connection of its own. */
#include <string.h>

#include "conformance/verbs/verbs.h"

enum { MOST = 8 };

const struct cf_arg cf_args_race[] = {
	{"requests", CF_ARG_ARRAY, true,
	 "up to 8 of {\"api\", \"body\", \"to\": \"broker\" (unless given) or \"controller\"}"},
	{0},
};

struct runner {
	struct cf_link link;
	struct kw_buf frame;
	int api, version;
	int32_t correlation;
	json_t *answer;
};

static int prepare(struct cf_run *run, json_t *request, struct runner *runner, struct kt_err *err)
{
	const char *name = json_string_value(json_object_get(request, "api"));
	const char *to = json_string_value(json_object_get(request, "to"));

	runner->api = name ? kw_api_key(name) : -1;
	if (runner->api < 0)
		return kt_fail(err, KT_EUSAGE, "requests: \"api\" must be the name of a request");
	runner->link = to && strcmp(to, "controller") == 0 ? cf_target_controller(run->target)
							   : cf_target_broker(run->target);
	if (cf_link_open(&runner->link, err))
		return err->code;
	runner->version = cf_link_version(&runner->link, runner->api, CF_LATEST, -1, err);
	if (err->code)
		return err->code;
	return cf_link_encode(&runner->link, runner->api, runner->version, json_object_get(request, "body"), NULL,
			      &runner->frame, &runner->correlation, err);
}

static int run_all(struct runner *runners, size_t n, json_t *requests, json_t *responses, struct kt_err *err)
{
	for (size_t i = 0; i < n; i++) {
		json_t *evidence = json_object();
		int code = cf_link_send(&runners[i].link, runners[i].frame.p, runners[i].frame.n, evidence, err);

		json_array_append_new(requests, evidence);
		if (code)
			return code;
	}
	for (size_t i = 0; i < n; i++) {
		json_t *evidence = json_object();
		int code = cf_link_receive(&runners[i].link, runners[i].api, runners[i].version, evidence,
					   &runners[i].correlation, &runners[i].answer, err);

		json_array_append_new(responses, evidence);
		if (code)
			return code;
	}
	return 0;
}

int cf_verb_race(struct cf_run *run, json_t *args, struct cf_outcome *out, struct kt_err *err)
{
	json_t *list = json_object_get(args, "requests"), *request, *answers = json_array();
	json_t *sent = json_array(), *received = json_array();
	struct runner runners[MOST];
	size_t n = json_array_size(list), i;

	out->fate = CF_NO_CONNECTION;
	memset(runners, 0, sizeof runners);
	if (n == 0 || n > MOST)
		kt_fail(err, KT_EUSAGE, "requests: must be 1 to %d", MOST);
	for (i = 0; i < MOST; i++)
		kw_buf_init(&runners[i].frame, 0);
	json_array_foreach(list, i, request)
		if (err->code == KT_OK)
			prepare(run, request, &runners[i], err);
	if (err->code == KT_OK && run_all(runners, n, sent, received, err) == 0)
		out->answered = true;
	for (i = 0; i < MOST; i++) {
		if (out->answered && i < n)
			json_array_append(answers, runners[i].answer);
		json_decref(runners[i].answer);
		kw_buf_fini(&runners[i].frame);
		cf_link_close(&runners[i].link);
	}
	out->subject = json_pack("{s:o}", "answers", answers);
	out->evidence = json_pack("{s:o, s:o}", "request", sent, "response", received);
	return err->code;
}
