#include "conformance/capability.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/near.h"
#include "lib/text/number.h"
#include "lib/wire/message.h"

static const struct {
	const char *name, *meaning, *given;
} rows[CF_NCAPABILITIES] = {
#define CF_X(sym, name, meaning, given) {name, meaning, given},
	CF_CAPABILITIES(CF_X)
#undef CF_X
};

const char *cf_capability_name(enum cf_capability capability)
{
	return rows[capability].name;
}

const char *cf_capability_meaning(enum cf_capability capability)
{
	return rows[capability].meaning;
}

const char *cf_capability_given(enum cf_capability capability)
{
	return rows[capability].given;
}

enum cf_capability cf_capability_find(const char *name)
{
	enum cf_capability capability;

	for (capability = 0; capability < CF_NCAPABILITIES; capability++)
		if (strcmp(rows[capability].name, name) == 0)
			break;
	return capability;
}

bool cf_need_api(const char *need, int *api, int *version)
{
	char name[64];
	const char *at;

	if (strncmp(need, "api:", 4) != 0)
		return false;
	at = strchrnul(need, '@');
	snprintf(name, sizeof name, "%.*s", (int)(at - need - 4), need + 4);
	*api = kw_api_key(name);
	*version = *at ? (int)strtol(at + 1, NULL, 10) : -1;
	return *api >= 0;
}

bool cf_need_level(const char *need, int *level)
{
	int64_t n;

	if (strncmp(need, "level:", 6) != 0 || need[6] == '+' || kt_parse_int(need + 6, 1, INT16_MAX, &n, NULL) < 0)
		return false;
	*level = (int)n;
	return true;
}

int cf_need_check(const char *need, struct kt_err *err)
{
	struct kt_near near;
	int api, version, level;

	if (cf_capability_find(need) < CF_NCAPABILITIES || cf_need_api(need, &api, &version) ||
	    cf_need_level(need, &level))
		return 0;
	kt_near_init(&near, need);
	for (int i = 0; i < CF_NCAPABILITIES; i++)
		kt_near_offer(&near, rows[i].name);
	if (near.best)
		return kt_fail(err, KT_EUNKNOWN, "unknown capability \"%s\"; did you mean \"%s\"?", need, near.best);
	return kt_fail(err, KT_EUNKNOWN, "unknown capability \"%s\"", need);
}
