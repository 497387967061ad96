/* JSON that a hand would write: without sizes in the millions, which are legal and only slow. */
#ifndef KASSAY_WIRE_FUZZ_HAND_WRITTEN_H
#define KASSAY_WIRE_FUZZ_HAND_WRITTEN_H

#include <ctype.h>
#include <jansson.h>
#include <stdbool.h>

#include "lib/text/fuzz/fuzz.h"

/* Does a number of more than three digits follow the name? */
static inline bool is_large(const char *text, const char *name)
{
	for (const char *at = text; (at = strstr(at, name)) != NULL;) {
		size_t digits = 0;

		at += strlen(name);
		while (*at && !isdigit((unsigned char)*at) && *at != ',' && *at != '}')
			at++;
		while (isdigit((unsigned char)at[digits]))
			digits++;
		if (digits > 3)
			return true;
	}
	return false;
}

/* A new reference, or NULL. Escapes could hide the names. */
static inline json_t *hand_written(const uint8_t *p, size_t n)
{
	char *text = fuzz_text(p, n);
	json_t *json = NULL;

	if (!is_large(text, "\"size\"") && !is_large(text, "\"repeat\"") && !strstr(text, "\\u"))
		json = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
	free(text);
	return json;
}

#endif
