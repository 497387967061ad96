/* A case: refused with a line of its text, or it has instances, and its steps can be expanded and matched. */
#include "conformance/case.h"
#include "conformance/match.h"
#include "conformance/vars.h"
#include "lib/text/fuzz/fuzz.h"

FUZZ_TARGET

/* The patterns of a step against what they cannot know. */
static void match(const struct cf_step *step, json_t *vars, json_t *got)
{
	struct kt_err err = {0};
	json_t *args = cf_expand(step->args, vars, &err);

	FUZZ_CHECK(!args == !!err.code);
	json_decref(args);
	for (size_t i = 0; i < step->nalternatives; i++) {
		struct kt_err why = {0};
		json_t *pattern = step->alternatives[i].body ? cf_expand(step->alternatives[i].body, vars, &why) : NULL;
		struct cf_mismatch miss = {0};

		if (pattern && cf_pattern_check(pattern, true, &why) == 0)
			FUZZ_CHECK(cf_match(pattern, got, &miss) || miss.text[0]);
		json_decref(pattern);
	}
}

static void check(const struct cf_case *cas)
{
	json_t *vars = json_pack("{s:s, s:i, s:[s]}", "topic", "t-1", "n", 7, "list", "x");
	json_t *got = json_pack("{s:i, s:n, s:[{s:i, s:s}]}", "errorCode", 0, "errorMessage", "responses", "index", 1,
				"name", "t");
	struct cf_instance *instances = NULL;
	size_t n = 0;

	FUZZ_CHECK(vars && got && cas->steps.n > 0);
	FUZZ_CHECK(cf_case_instances(cas, &instances, &n) == 0 && n == (cas->nversions ? cas->nversions : 1));
	for (size_t i = 0; i < cas->steps.n; i++)
		match(&cas->steps.v[i], vars, got);
	free(instances);
	json_decref(vars);
	json_decref(got);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	char *text = fuzz_text(p, n);
	struct kt_err err = {0};
	struct cf_case *cas = NULL;
	int code, lines = 1;

	for (const char *at = text; *at; at++)
		lines += *at == '\n';
	code = cf_case_parse("fuzz.json", text, &cas, &err);
	FUZZ_CHECK(code == err.code && !cas == !!code);
	FUZZ_CHECK(code == 0 || (err.text[0] && err.line >= 0 && err.line <= lines));
	if (cas)
		check(cas);
	cf_case_free(cas);
	free(text);
	return 0;
}
