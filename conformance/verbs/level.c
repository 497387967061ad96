/* level: moves metadata.version, for cases whose question is about another level. */
#include "conformance/verbs/verbs.h"

const struct cf_arg cf_args_level[] = {
	{"to", CF_ARG_INT, true, "level"},
	{0},
};

int cf_verb_level(struct cf_run *run, json_t *args, struct cf_outcome *out, struct kt_err *err)
{
	int level = (int)json_integer_value(json_object_get(args, "to"));

	out->fate = CF_NO_CONNECTION;
	if (cf_level_move(run, level, err))
		return err->code;
	out->answered = true;
	cf_run_set(run, "level", json_integer(level));
	return 0;
}
