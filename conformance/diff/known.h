/* Differences that are known and have a reason: conformance/diff/produce.json.
 *
 *   {"known": [{"id", "reason", "when": pattern of {"request", "a", "b"} in the language of cases}]}
 */
#ifndef KASSAY_CONFORMANCE_DIFF_KNOWN_H
#define KASSAY_CONFORMANCE_DIFF_KNOWN_H

#include <stdio.h>

#include "lib/text/json.h"

struct cf_known {
	struct kt_json doc;
	size_t n;
	struct cf_known_row {
		const char *id, *reason;
		json_t *when;
		int met;
	} *rows;
};

/* dir is the suite's directory; without the file nothing is known. */
int cf_known_load(struct cf_known *known, const char *dir, struct kt_err *err);
void cf_known_free(struct cf_known *known);

/* The row that the difference is one of, counted; or NULL. */
const struct cf_known_row *cf_known_find(struct cf_known *known, json_t *request, json_t *a, json_t *b);
/* ", 3 known (id)" for each row that was met. */
void cf_known_print(const struct cf_known *known, FILE *out);

#endif
