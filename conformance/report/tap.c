/* TAP 14: https://testanything.org/tap-version-14-specification.html */
#include <stdlib.h>
#include <string.h>

#include "conformance/report/report.h"

/* "\" and "#" have a meaning in descriptions and directives; a line end would end the line. */
static void put_escaped(FILE *out, const char *s)
{
	while (*s) {
		if (*s == '\\' || *s == '#')
			fputc('\\', out);
		s += kt_put_clean_char(out, s);
	}
}

/* A JSON string is a YAML string. */
static void put_yaml(FILE *out, const char *name, const char *value)
{
	json_t *string = json_string(value);
	char *text = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;

	fprintf(out, "  %s: ", name);
	kt_put_escaped(out, text ? text : "\"\"");
	fputc('\n', out);
	free(text);
	json_decref(string);
}

static void put_diagnostics(FILE *out, json_t *row)
{
	fputs("  ---\n", out);
	put_yaml(out, "verdict", cf_text(row, "verdict"));
	put_yaml(out, "message", cf_text(row, "reason"));
	put_yaml(out, "level", cf_text(row, "level"));
	put_yaml(out, "title", cf_text(row, "title"));
	put_yaml(out, "file", cf_text(row, "file"));
	fputs("  ...\n", out);
}

static void put_row(FILE *out, json_t *row, size_t number)
{
	enum cf_verdict verdict = cf_row_verdict(row);
	enum cf_tap tap = cf_verdict_tap(verdict);

	fprintf(out, "%s %zu - ", tap == CF_TAP_OK || tap == CF_TAP_SKIP ? "ok" : "not ok", number);
	put_escaped(out, cf_text(row, "id"));
	if (tap == CF_TAP_SKIP || tap == CF_TAP_TODO) {
		fputs(tap == CF_TAP_SKIP ? " # SKIP " : " # TODO ", out);
		put_escaped(out, cf_text(row, "reason"));
	}
	fputc('\n', out);
	if (tap == CF_TAP_NOT_OK || verdict == CF_PASS_LENIENT)
		put_diagnostics(out, row);
}

bool cf_write_tap(FILE *out, json_t *result)
{
	json_t *rows = json_object_get(result, "cases"), *row;
	size_t i;

	fprintf(out, "TAP version 14\n1..%zu\n", json_array_size(rows));
	fputs("# target ", out);
	kt_put_clean(out, cf_text(json_object_get(result, "target"), "name"));
	fputc('\n', out);
	json_array_foreach(rows, i, row)
		put_row(out, row, i + 1);
	return ferror(out) == 0;
}
