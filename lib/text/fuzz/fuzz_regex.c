/* Regular expressions: a pattern, a NUL and a text. Whatever is taken gives an answer, the same one each time. */
#include "lib/text/fuzz/fuzz.h"
#include "lib/text/regex.h"

FUZZ_TARGET

/* The answer, or KT_ESYNTAX when the pattern is refused, which the error tells. */
static int answer(const char *pattern, size_t n, enum kt_regex_extent extent, const char *text, size_t text_n)
{
	struct kt_err err = {0};
	struct kt_regex *regex;
	int rc;

	if (kt_regex_compile(&regex, pattern, n, extent, &err)) {
		FUZZ_CHECK(!regex && err.text[0] && (err.code == KT_ESYNTAX || err.code == KT_ELIMIT));
		return KT_ESYNTAX;
	}
	rc = kt_regex_matches(regex, text, text_n);
	FUZZ_CHECK(rc == 1 || rc == 0 || rc == KT_ELIMIT);
	FUZZ_CHECK(kt_regex_matches(regex, text, text_n) == rc);
	kt_regex_free(regex);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	char *all = fuzz_text(p, n);
	size_t pattern_n = strlen(all), text_n = n > pattern_n ? n - pattern_n - 1 : 0;
	const char *text = all + n - text_n;
	int found = answer(all, pattern_n, KT_REGEX_FOUND, text, text_n);
	int whole = answer(all, pattern_n, KT_REGEX_WHOLE, text, text_n);

	FUZZ_CHECK(whole != 1 || found == 1 || found == KT_ELIMIT);
	free(all);
	return 0;
}
