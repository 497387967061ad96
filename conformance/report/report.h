/* Renderings of result.json. */
#ifndef KASSAY_CONFORMANCE_REPORT_H
#define KASSAY_CONFORMANCE_REPORT_H

#include <stdio.h>

#include "conformance/result.h"

/* X(name, file in the output directory, function, help) */
#define CF_FORMATS(X)                                                                                         \
	X(tap, "result.tap", cf_write_tap, "Test Anything Protocol, version 14")                              \
	X(junit, "junit.xml", cf_write_junit, "JUnit's XML, as build servers read it")                        \
	X(json, "result.json", cf_write_json, "everything; the other formats are drawn from it")              \
	X(html, "report.html", cf_write_html, "one page with every case, requirement and byte behind a verdict")

/* Writes one result so that a terminal can show it; false on failure of out. JSON may be of anything. */
typedef bool cf_write_fn(FILE *out, json_t *result);

#define CF_X(name, file, fn, help) cf_write_fn fn;
CF_FORMATS(CF_X)
#undef CF_X

/* A page with a column for each of n results. */
bool cf_write_html_matrix(FILE *out, json_t *const *results, size_t n);

struct cf_format {
	const char *name, *file, *help;
	cf_write_fn *write;
};

/* Ends with a NULL name. */
extern const struct cf_format cf_formats[];
const struct cf_format *cf_format_find(const char *name);

/* ---- for people, on a terminal or in a log ---- */

/* One line: verdict, id, and why it is not a pass. */
void cf_text_row(FILE *out, json_t *row, bool color);
/* What it comes to: counts, what is unsupported and why, what is not as expected. */
void cf_text_summary(FILE *out, json_t *result, bool color);

#endif
