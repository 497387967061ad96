/* Regular expressions of foreign origin: the C library's extended ones (POSIX, regcomp(3)), bounded. */
#ifndef KASSAY_TEXT_REGEX_H
#define KASSAY_TEXT_REGEX_H

#include <regex.h>

#include "lib/text/err.h"

/* Compiles the pattern, of which only is asked whether it matches; for regfree(). A pattern may come to KT_REGEX_MOST atoms
 * when its repeats are written out, a + counting as one more, and be nested KT_REGEX_DEEPEST deep: the C library, which
 * does write them out and whose memory may then grow with their square, would take all there is, or its stack, for a few
 * bytes. Nor may it have back references (\1 to \9), with which a match of thirty bytes can take hours.
 * 0, KT_ESYNTAX with the library's reason, KT_ELIMIT or KT_ENOMEM; on failure there is nothing to free. */
enum { KT_REGEX_MOST = 2000, KT_REGEX_DEEPEST = 16 };
int kt_regex_compile(regex_t *regex, const char *pattern, struct kt_err *err);

#endif
