#include "conformance/report/report.h"

#include <string.h>

static const char *const colors[CF_NVERDICTS] = {
	[CF_PASS] = "32", [CF_PASS_LENIENT] = "33", [CF_FAIL] = "1;31", [CF_XFAIL] = "36", [CF_XPASS] = "1;35",
	[CF_UNSUPPORTED] = "2", [CF_DISABLED] = "2", [CF_INCONCLUSIVE] = "1;33", [CF_ERROR] = "1;31",
};

void cf_text_row(FILE *out, json_t *row, bool color)
{
	enum cf_verdict verdict = cf_row_verdict(row);
	const char *reason = cf_text(row, "reason");

	if (color)
		fprintf(out, "\033[%sm%-12s\033[m", colors[verdict], cf_verdict_word(verdict));
	else
		fprintf(out, "%-12s", cf_verdict_word(verdict));
	fprintf(out, "  %s", cf_text(row, "id"));
	if (*reason) {
		fputs("  ", out);
		kt_put_clean(out, reason);
	}
	fputc('\n', out);
}

/* ---- summary ---- */

static void print_counts(FILE *out, json_t *result)
{
	int counts[CF_NVERDICTS];
	const char *sep = "";

	cf_result_count(result, counts);
	for (int v = 0; v < CF_NVERDICTS; v++) {
		if (counts[v] == 0)
			continue;
		fprintf(out, "%s%d %s", sep, counts[v], cf_verdict_word((enum cf_verdict)v));
		sep = ", ";
	}
}

static int same_reason(json_t *rows, size_t from, const char *reason)
{
	int n = 0;

	for (size_t i = from; i < json_array_size(rows); i++) {
		json_t *row = json_array_get(rows, i);

		if (cf_row_verdict(row) == CF_UNSUPPORTED && strcmp(cf_text(row, "reason"), reason) == 0)
			n++;
	}
	return n;
}

/* A line that ends with a text of the target's. */
static void __attribute__((format(printf, 3, 4))) print_line(FILE *out, const char *text, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(out, fmt, ap);
	va_end(ap);
	kt_put_clean(out, text);
	fputc('\n', out);
}

/* Each reason once, with the number of cases that it keeps from running. */
static void print_unsupported(FILE *out, json_t *rows)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		const char *reason = cf_text(row, "reason");
		int n = same_reason(rows, 0, reason);

		if (cf_row_verdict(row) == CF_UNSUPPORTED && same_reason(rows, i, reason) == n)
			print_line(out, reason, "unsupported, %d %s: ", n, n == 1 ? "case" : "cases");
	}
}

void cf_text_summary(FILE *out, json_t *result, bool color)
{
	json_t *rows = json_object_get(result, "cases"), *target = json_object_get(result, "target"), *row;
	const char *note = cf_text(result, "note");
	size_t i, n = json_array_size(rows), red = 0;

	fprintf(out, "\n%zu %s on %s: ", n, n == 1 ? "case" : "cases", cf_text(target, "name"));
	print_counts(out, result);
	fprintf(out, "\ncluster %s, metadata.version %d, %.1f s, seed %s\n", cf_text(target, "clusterId"),
		(int)json_integer_value(json_object_get(target, "metadataVersion")),
		(double)json_integer_value(json_object_get(result, "ms")) / 1000, cf_text(result, "seed"));
	print_unsupported(out, rows);
	json_array_foreach(rows, i, row)
		if (cf_row_red(row) && red++ == 0)
			fprintf(out, "\nnot as expected:\n");
	json_array_foreach(rows, i, row)
		if (cf_row_red(row))
			cf_text_row(out, row, color);
	json_array_foreach(rows, i, row)
		if (*cf_text(row, "leftBehind"))
			print_line(out, cf_text(row, "leftBehind"), "left behind by %s: ", cf_text(row, "id"));
	if (*note)
		fprintf(out, "%s\n", note);
}
