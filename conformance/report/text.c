#include "conformance/report/report.h"

#include <string.h>

static const char *const colors[CF_NVERDICTS] = {
	[CF_PASS] = "32", [CF_PASS_LENIENT] = "33", [CF_FAIL] = "1;31", [CF_XFAIL] = "36", [CF_XPASS] = "1;35",
	[CF_UNSUPPORTED] = "2", [CF_DISABLED] = "2", [CF_INCONCLUSIVE] = "1;33", [CF_ERROR] = "1;31",
};

/* What the target, or a file, says stands between what the kit says. */
static void put(FILE *out, const char *before, const char *text, const char *after)
{
	fputs(before, out);
	kt_put_clean(out, text);
	fputs(after, out);
}

void cf_text_row(FILE *out, json_t *row, bool color)
{
	enum cf_verdict verdict = cf_row_verdict(row);
	const char *reason = cf_text(row, "reason");

	if (color)
		fprintf(out, "\033[%sm%-12s\033[m", colors[verdict], cf_verdict_word(verdict));
	else
		fprintf(out, "%-12s", cf_verdict_word(verdict));
	put(out, "  ", cf_text(row, "id"), "");
	put(out, *reason ? "  " : "", reason, "\n");
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

/* Each reason once, with the number of cases that it keeps from running. */
static void print_unsupported(FILE *out, json_t *rows)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		const char *reason = cf_text(row, "reason");
		int n = same_reason(rows, 0, reason);

		if (cf_row_verdict(row) != CF_UNSUPPORTED || same_reason(rows, i, reason) != n)
			continue;
		fprintf(out, "unsupported, %d %s", n, n == 1 ? "case" : "cases");
		put(out, ": ", reason, "\n");
	}
}

void cf_text_summary(FILE *out, json_t *result, bool color)
{
	json_t *rows = json_object_get(result, "cases"), *target = json_object_get(result, "target"), *row;
	const char *note = cf_text(result, "note");
	size_t i, n = json_array_size(rows), red = 0;

	fprintf(out, "\n%zu %s", n, n == 1 ? "case" : "cases");
	put(out, " on ", cf_text(target, "name"), ": ");
	print_counts(out, result);
	put(out, "\ncluster ", cf_text(target, "clusterId"), "");
	fprintf(out, ", metadata.version %d, %.1f s",
		(int)json_integer_value(json_object_get(target, "metadataVersion")),
		(double)json_integer_value(json_object_get(result, "ms")) / 1000);
	put(out, ", seed ", cf_text(result, "seed"), "\n");
	if (*cf_text(target, "note"))
		put(out, "", cf_text(target, "note"), "\n");
	print_unsupported(out, rows);
	json_array_foreach(rows, i, row)
		if (cf_row_red(row) && red++ == 0)
			fprintf(out, "\nnot as expected:\n");
	json_array_foreach(rows, i, row)
		if (cf_row_red(row))
			cf_text_row(out, row, color);
	json_array_foreach(rows, i, row) {
		if (!*cf_text(row, "leftBehind"))
			continue;
		put(out, "left behind by ", cf_text(row, "id"), ": ");
		put(out, "", cf_text(row, "leftBehind"), "\n");
	}
	if (*note)
		put(out, "", note, "\n");
}
