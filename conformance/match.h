/* Does an answer look as a case wants it?
 *
 * A pattern is JSON. Objects match in part: members that the pattern does not name are not looked at. Arrays match as a
 * whole, element by element. Any other value matches its equal; whole numbers and reals are compared by value. An
 * object with a single member whose name begins with "$" is an operator:
 *
 *	{"$any": true}              anything that is there, also null
 *	{"$absent": true}           the member is not there
 *	{"$not": PATTERN}           there, and not like the pattern
 *	{"$oneOf": [PATTERN, ...]}  like one of them
 *	{"$range": [LOW, HIGH]}     a number, both ends included
 *	{"$regex": "..."}           a string in which the regular expression (lib/text/regex.h) is found
 *	{"$length": PATTERN}        an array or string whose length is like the pattern
 *	{"$contains": "text"}       a string that holds the text, or with an array of texts all of them
 *	{"$contains": [PATTERN..]}  an array in which each pattern has an element of its own, whatever the order
 *	{"$error": "NAME"}          Kafka's number for the error of that name
 *	{"$plus": [N, N, ...]}      the sum of whole numbers
 */
#ifndef KASSAY_CONFORMANCE_MATCH_H
#define KASSAY_CONFORMANCE_MATCH_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/text/err.h"

/* The first difference that was found. */
struct cf_mismatch {
	char path[200];       /* "recordErrors[1].batchIndex"; "" for the whole */
	char text[600];       /* "expected 1, got 2" */
};

/* got == NULL: not there. Fills why when it returns false; why may be NULL. */
bool cf_match(json_t *pattern, json_t *got, struct cf_mismatch *why);

/* Are the operators known, and their operands of the right kind and such that something fits and something does not? A
 * string that is a variable ("$topic") passes for any operand unless expanded is set. The error's path is relative to
 * the pattern ("" or "recordErrors[0]"). */
int cf_pattern_check(json_t *pattern, bool expanded, struct kt_err *err);

/* JSON in one line, cut off with "..." after size bytes, error numbers as they are. Returns buf. */
const char *cf_brief(json_t *json, char *buf, size_t size);

#endif
