#include "conformance/verdict.h"

#include <string.h>

static const struct {
	const char *word, *meaning;
	int exits;
	enum cf_tap tap;
} rows[CF_NVERDICTS] = {
#define CF_X(sym, word, exits, tap, meaning) {word, meaning, KT_EXIT_##exits, CF_TAP_##tap},
	CF_VERDICTS(CF_X)
#undef CF_X
};

const char *cf_verdict_word(enum cf_verdict verdict)
{
	return rows[verdict].word;
}

const char *cf_verdict_meaning(enum cf_verdict verdict)
{
	return rows[verdict].meaning;
}

enum cf_tap cf_verdict_tap(enum cf_verdict verdict)
{
	return rows[verdict].tap;
}

enum cf_verdict cf_verdict_find(const char *word)
{
	enum cf_verdict verdict;

	for (verdict = 0; verdict < CF_NVERDICTS; verdict++)
		if (strcmp(rows[verdict].word, word) == 0)
			break;
	return verdict;
}

bool cf_verdict_judged(enum cf_verdict verdict)
{
	return verdict <= CF_XPASS;
}

int cf_exit_code(const int counts[CF_NVERDICTS])
{
	static const int order[] = {KT_EXIT_ENGINE, KT_EXIT_VERDICT, KT_EXIT_INCOMPLETE};
	int judged = 0;

	for (size_t i = 0; i < sizeof order / sizeof *order; i++)
		for (int v = 0; v < CF_NVERDICTS; v++)
			if (rows[v].exits == order[i] && counts[v] > 0)
				return order[i];
	for (int v = 0; v < CF_NVERDICTS; v++)
		if (cf_verdict_judged((enum cf_verdict)v))
			judged += counts[v];
	return judged > 0 ? KT_EXIT_OK : KT_EXIT_INCOMPLETE;
}
