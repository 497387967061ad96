/* Regular expressions of foreign origin, bounded: PCRE2's syntax without what takes more than one pass over the text.
 *
 * That leaves about what RE2 has, which Kafka uses: \d, \w, \b, (?i), non-greedy repeats, classes such as [[:alpha:]]
 * and \pL. Refused are back references, (?=...), (?!...), (?<=...), (?<!...), (?>...), possessive groups and counts
 * such as (...)++ and x{2}+, conditions, subroutines, (*VERBS), \X, \K and \C; and (?x). As in RE2, $ is the very end
 * (in a pattern that has (?m), before a line feed at the end as well), a dot is any character but a line feed, and \d,
 * \w, \s and \b are of ASCII. */
#ifndef KASSAY_TEXT_REGEX_H
#define KASSAY_TEXT_REGEX_H

#include <stddef.h>

#include "lib/text/err.h"

enum { KT_REGEX_LONGEST = 4096 };    /* bytes of a pattern */

enum kt_regex_extent {
	KT_REGEX_FOUND,      /* somewhere in the text */
	KT_REGEX_WHOLE,      /* the text from its begin to its end */
};

struct kt_regex;

/* Compiles a pattern in UTF-8, which may hold NULs and need not be kept. 0 and the caller owns *regex, for
 * kt_regex_free(); or KT_ESYNTAX, KT_ELIMIT for what is refused, too long or compiles to more than 64 KiB, or
 * KT_ENOMEM, with *regex NULL. */
int kt_regex_compile(struct kt_regex **regex, const char *pattern, size_t n, enum kt_regex_extent extent,
		     struct kt_err *err);

/* NULL is fine. */
void kt_regex_free(struct kt_regex *regex);

/* 1 if the n bytes at p match, 0 if not; p may be NULL when n is 0. A text is matched character by character if it is
 * UTF-8, and otherwise byte by byte, \xff being one. The pattern is followed in all ways at once, one pass over the
 * text: KT_ELIMIT if these are too many for a text that long (1,000 for up to 64 bytes, about 30 for 64 KiB) or the
 * text has more than KT_REGEX_TEXT_MOST bytes; KT_ENOMEM. The answer depends on pattern and text alone. Any threads may
 * use one regex. */
enum { KT_REGEX_TEXT_MOST = 1 << 17 };
int kt_regex_matches(const struct kt_regex *regex, const void *p, size_t n);

#endif
