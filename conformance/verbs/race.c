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
			      &runner->frame, err);
}

/* One answer, or null; what is wrong with one is told for all. */
static json_t *answer_of(struct runner *runner, struct cf_outcome *out, struct kt_err *err)
{
	struct cf_outcome one = {.evidence = json_incref(out->evidence)};
	json_t *answer;

	cf_run_take_answer(&runner->link, runner->api, runner->version, &one, err);
	out->answered = out->answered || one.answered;
	answer = one.body ? json_incref(one.body) : json_null();
	cf_outcome_fini(&one);
	return answer;
}

/* What became of the connections: of the first that was not kept. */
static enum cf_fate fate_of(struct runner *runners, size_t n, json_t *evidence)
{
	enum cf_fate fate = CF_KEPT;

	for (size_t i = 0; i < n; i++) {
		enum cf_fate one = cf_link_fate(&runners[i].link, evidence);

		if (fate == CF_KEPT)
			fate = one;
	}
	return fate;
}

/* A peer that does not take a request has not answered it. */
static void run_all(struct runner *runners, size_t n, struct cf_outcome *out, struct kt_err *err)
{
	json_t *answers = json_array();

	for (size_t i = 0; i < n; i++) {
		struct kt_err why = {0};

		cf_link_send(&runners[i].link, runners[i].frame.p, runners[i].frame.n, out->evidence, &why);
	}
	for (size_t i = 0; i < n && err->code == KT_OK; i++)
		json_array_append_new(answers, answer_of(&runners[i], out, err));
	out->fate = fate_of(runners, n, out->evidence);
	json_object_set(out->evidence, "response", answers);
	out->subject = json_pack("{s:o}", "answers", answers);
}

int cf_verb_race(struct cf_run *run, json_t *args, struct cf_outcome *out, struct kt_err *err)
{
	json_t *list = json_object_get(args, "requests"), *request;
	struct runner runners[MOST];
	size_t n = json_array_size(list), i;

	out->fate = CF_NO_CONNECTION;
	memset(runners, 0, sizeof runners);
	if (n == 0 || n > MOST)
		return kt_fail(err, KT_EUSAGE, "requests: must be 1 to %d", MOST);
	json_array_foreach(list, i, request)
		if (err->code == KT_OK)
			prepare(run, request, &runners[i], err);
	out->evidence = json_pack("{s:O}", "request", list);
	if (err->code == KT_OK)
		run_all(runners, n, out, err);
	for (i = 0; i < n; i++) {
		kw_buf_fini(&runners[i].frame);
		cf_link_close(&runners[i].link);
	}
	return err->code;
}
