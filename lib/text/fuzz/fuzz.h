/* What every fuzz target has: a file fuzz_NAME.c beside the code that it is for, which says FUZZ_TARGET and defines
 * LLVMFuzzerTestOneInput(). See docs/fuzzing.md.
 */
#ifndef KASSAY_TEXT_FUZZ_FUZZ_H
#define KASSAY_TEXT_FUZZ_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One input. Returns 0; whatever breaks a promise aborts. */
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

/* Tells replay.c where corpus and regressions of the target lie. */
extern const char fuzz_source[];
#define FUZZ_TARGET const char fuzz_source[] = __FILE__;

/* A promise that holds of every input. */
#define FUZZ_CHECK(promise) \
	((promise) ? (void)0 : (fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #promise), abort()))

/* Options of a target come first in its input: the next byte, 0 at the end. */
static inline uint8_t fuzz_byte(const uint8_t **p, size_t *n)
{
	if (*n == 0)
		return 0;
	--*n;
	return *(*p)++;
}

/* What is left, with a NUL behind it, for free(). Ends the program when there is no memory. */
static inline char *fuzz_text(const uint8_t *p, size_t n)
{
	char *text = malloc(n + 1);

	if (!text)
		exit(1);
	memcpy(text, p, n);
	text[n] = '\0';
	return text;
}

#endif
