#include "lib/text/near.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
	LONGEST = 128,        /* bytes of a word or name that is looked at */
	SHORTEST_PREFIX = 3,  /* a beginning of fewer letters says too little */
};

static size_t min_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Optimal string alignment: rows of the classic table, of which the last three are kept. Both strings are at most
 * LONGEST bytes. */
static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
	size_t rows[3][LONGEST + 1];
	size_t *before = rows[0], *last = rows[1], *row = rows[2], *spare;

	for (size_t j = 0; j <= nb; j++)
		last[j] = j;
	for (size_t i = 1; i <= na; i++) {
		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t best = last[j - 1] + !same(a[i - 1], b[j - 1]);

			best = min_of(best, min_of(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
				best = min_of(best, before[j - 2] + 1);
			row[j] = best;
		}
		spare = before;
		before = last;
		last = row;
		row = spare;
	}
	return last[nb];
}

static size_t limit_of(const char *word)
{
	size_t third = strlen(word) / 3;

	return third > 2 ? third : 2;
}

void kt_near_init(struct kt_near *near, const char *word)
{
	*near = (struct kt_near){.word = word, .distance = limit_of(word) + 1};
}

void kt_near_offer(struct kt_near *near, const char *name)
{
	size_t nword = strlen(near->word), nname = strlen(name), limit = limit_of(near->word), d;

	if (nword > LONGEST || nname > LONGEST)
		return;
	if (nname <= nword + limit && nword <= nname + limit) {
		d = distance(near->word, nword, name, nname);
		if (d < near->distance && d < (nword > nname ? nword : nname)) {
			near->best = name;
			near->distance = d;
		}
	}
	if (!near->best && nword >= SHORTEST_PREFIX && strncasecmp(near->word, name, nword) == 0)
		near->best = name;
}

const char *kt_nearest(const char *word, const char *const *words, size_t n)
{
	struct kt_near near;

	kt_near_init(&near, word);
	for (size_t i = 0; i < n; i++)
		kt_near_offer(&near, words[i]);
	return near.best;
}

int kt_choose(const char *word, const char *const *names, int *v, struct kt_err *err)
{
	char list[384] = "";
	size_t at = 0, n;
	const char *near;

	for (n = 0; names[n]; n++) {
		if (strcmp(names[n], word) == 0) {
			*v = (int)n;
			return 0;
		}
	}
	near = kt_nearest(word, names, n);
	if (near)
		return kt_fail(err, KT_EUNKNOWN, "unknown choice \"%s\"; did you mean \"%s\"?", word, near);
	for (size_t i = 0; i < n && at < sizeof list; i++)
		at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i ? ", " : "", names[i]);
	return kt_fail(err, KT_EUNKNOWN, "unknown choice \"%s\"; there is %s", word, list);
}
