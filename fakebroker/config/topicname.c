#include "fakebroker/config/topicname.h"

#include "fakebroker/mutants.h"

#include <ctype.h>

enum { MAX_NAME = 249 };

const char *fb_topic_name_fault(struct kw_str name, struct kw_arena *arena)
{
	if (name.n <= 0)
		return "Topic name is invalid: the empty string is not allowed";
	if (kw_str_is(name, ".") || kw_str_is(name, ".."))
		return kw_sprintf(arena, "Topic name is invalid: '%.*s' is not allowed", name.n, name.s);
	if (name.n > MAX_NAME)
		return kw_sprintf(arena, "Topic name is invalid: the length of '%.*s' is longer than the max allowed "
			"length %d", name.n, name.s, MAX_NAME);
	for (int32_t i = 0; i < name.n; i++) {
		char c = name.s[i];

		if (fb_mutant(FB_M_TOPIC_NAME_SPACE) && c == ' ')
			continue;
		if (!isascii(c) || (!isalnum((uint8_t)c) && c != '.' && c != '_' && c != '-'))
			return kw_sprintf(arena, "Topic name is invalid: '%.*s' contains one or more characters "
				"other than ASCII alphanumerics, '.', '_' and '-'", name.n, name.s);
	}
	return NULL;
}

static int alike(char c)
{
	return (uint8_t)(c == '.' ? '_' : c);
}

int fb_topic_name_cmp_alike(struct kw_str a, struct kw_str b)
{
	for (int32_t i = 0; i < a.n && i < b.n; i++)
		if (alike(a.s[i]) != alike(b.s[i]))
			return alike(a.s[i]) - alike(b.s[i]);
	return (a.n > b.n) - (a.n < b.n);
}
