#include "conformance/verbs/verbs.h"

const struct cf_verb cf_verbs[] = {
#define CF_X(name, fn, need, help) {#name, cf_args_##name, fn, need, help},
	CF_VERBS(CF_X)
#undef CF_X
	{0},
};
