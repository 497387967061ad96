#include "lib/text/regex.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What a pattern comes to, as it is read from left to right. */
struct sizing {
	size_t group[KT_REGEX_DEEPEST + 1];   /* atoms of each group that is open, without the last atom */
	int depth;
	size_t last;                          /* of the last atom; a repeat is of that */
};

/* Adds the last atom to its group and begins another of `size`. */
static void begin_atom(struct sizing *s, size_t size)
{
	s->group[s->depth] += s->last;
	s->last = size;
}

/* Behind a bracket expression; the end when it has none. */
static const char *skip_bracket(const char *p)
{
	p += 1 + (p[1] == '^');
	if (*p == ']')
		p++;
	while (*p && *p != ']') {
		char kind = p[0] == '[' && p[1] && strchr(".:=", p[1]) ? p[1] : '\0';

		p += kind ? 2 : 1;
		while (kind && *p && !(p[0] == kind && p[1] == ']'))
			p++;
		p += kind && *p ? 2 : 0;
	}
	return p + (*p == ']');
}

/* {m}, {m,}, {,n} or {m,n}: how often the atom is written out, at least once, and *end behind it; 0 for what is none. */
static size_t interval(const char *p, const char **end)
{
	size_t digits = strspn(p + 1, "0123456789"), more = 0;
	unsigned long low = strtoul(p + 1, NULL, 10), high = 0;
	bool comma = p[1 + digits] == ',';

	if (comma) {
		more = strspn(p + 2 + digits, "0123456789");
		high = more ? strtoul(p + 2 + digits, NULL, 10) : low + 1;
	}
	*end = p + 1 + digits + comma + more;
	if (*(*end)++ != '}' || !(digits || comma))
		return 0;
	low = high > low ? high : low;
	return low == 0 ? 1 : low < KT_REGEX_MOST ? low : KT_REGEX_MOST;
}

static const char *take_interval(struct sizing *s, const char *p)
{
	const char *end;
	size_t times = interval(p, &end);

	if (times) {
		s->last *= times;
		return end;
	}
	begin_atom(s, 1);
	return p + 1;
}

/* One atom or one repeat at p. Behind it, or NULL when it is nested too deeply. */
static const char *take(struct sizing *s, const char *p)
{
	switch (*p) {
	case '\\':
		begin_atom(s, 1);
		return p + 1 + (p[1] != '\0');
	case '[':
		begin_atom(s, 1);
		return skip_bracket(p);
	case '(':
		begin_atom(s, 0);
		if (s->depth == KT_REGEX_DEEPEST)
			return NULL;
		s->group[++s->depth] = 1;
		return p + 1;
	case ')':
		if (s->depth > 0) {
			s->last += s->group[s->depth--];
			return p + 1;
		}
		break;
	case '*': case '?':
		s->last++;
		return p + 1;
	case '+':
		s->last *= 2;
		return p + 1;
	case '{':
		return take_interval(s, p);
	default:
		break;
	}
	begin_atom(s, 1);
	return p + 1;
}

static int check_bounds(const char *pattern, struct kt_err *err)
{
	struct sizing s = {.depth = 0};

	for (const char *p = pattern; *p;) {
		if (p[0] == '\\' && p[1] >= '1' && p[1] <= '9')
			return kt_fail(err, KT_ELIMIT, "has a back reference, \\%c", p[1]);
		p = take(&s, p);
		if (!p)
			return kt_fail(err, KT_ELIMIT, "is nested more than %d deep", KT_REGEX_DEEPEST);
		if (s.group[s.depth] + s.last > KT_REGEX_MOST)
			return kt_fail(err, KT_ELIMIT, "comes to more than %d atoms", KT_REGEX_MOST);
	}
	return 0;
}

int kt_regex_compile(regex_t *regex, const char *pattern, struct kt_err *err)
{
	char reason[200];
	int rc = check_bounds(pattern, err);

	if (rc)
		return rc;
	rc = regcomp(regex, pattern, REG_EXTENDED | REG_NOSUB);
	if (rc == 0)
		return 0;
	regerror(rc, regex, reason, sizeof reason);
	return kt_fail(err, rc == REG_ESPACE ? KT_ENOMEM : KT_ESYNTAX, "%s", reason);
}
