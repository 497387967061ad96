/* result.json: what a run found out, whole. Every report is drawn from it, and from nothing else.
 *
 *	{"kassay": "0.1.0", "format": 1, "repeat": ["--strict", ..], "target": {...},
 *	 "started": "2026-11-29T12:00:00Z", "ms": 3100, "seed": "..",
 *	 "strict": false, "only": [..], "skip": [..], "counts": {"pass": 150, ...}, "exit": 0, "note": "",
 *	 "interrupted": false, "notRun": ["records.crc@v9"], "families": [{"family", "title", "about"}],
 *	 "requirements": {"records.crc": {"level", "origin", "source", "text"}},
 *	 "cases": [{"id", "case", "family", "title", "file", "requirements": [..], "level", "verdict", "reason",
 *	            "alternative", "ms", "steps": [{"verb", "path", "verdict", "reason", "alternative", "grade",
 *	            "connection", "ms", "expected", "got", "api", "version", "request", "response", "requestHex",
 *	            "responseHex", "unreadable"}]}]}
 */
#ifndef KASSAY_CONFORMANCE_RESULT_H
#define KASSAY_CONFORMANCE_RESULT_H

#include "conformance/case.h"
#include "conformance/verdict.h"
#include "lib/text/json.h"

/* Adds to a row what the case says of itself. */
void cf_row_describe(json_t *row, const struct cf_instance *instance);
/* Cuts hex of more than max bytes, and says so in the row. */
void cf_row_trim(json_t *row, size_t max);

/* A member's text; "" if it is not there. */
const char *cf_text(json_t *object, const char *name);
/* The value of any bytes, as kt_clean() leaves them: of a text that was cut, a path, a word of a command line. */
json_t *cf_clean_json(const char *s);
/* Of a row of "cases". */
enum cf_verdict cf_row_verdict(json_t *row);
/* Is it what nobody wants to see: fail, xpass, inconclusive, error? Of a row, and of any row of a result. */
bool cf_row_red(json_t *row);
bool cf_result_red(json_t *result);
/* Is there anything that --rerun would run: what is red, or was not run when it was interrupted? */
bool cf_result_again(json_t *result);

/* Puts register and counts of all rows into a result, and the exit code. */
void cf_result_finish(json_t *result, const struct cf_register *reg);
void cf_result_count(json_t *result, int counts[CF_NVERDICTS]);

/* Reads a result.json and checks what the reports rely on. A new value, NULL with err. */
json_t *cf_result_load(const char *file, struct kt_err *err);
/* The same of its text. */
json_t *cf_result_parse(const char *text, size_t n, struct kt_err *err);

#endif
