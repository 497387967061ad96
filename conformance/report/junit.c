/* JUnit's XML in the form that build servers agree on: a suite for each family. */
#include <string.h>

#include "conformance/report/report.h"
#include "conformance/report/xml.h"

struct tally {
	int tests, failures, errors, skipped;
	json_int_t ms;
};

static struct tally count(json_t *rows, const char *family)
{
	struct tally tally = {0};
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		enum cf_verdict verdict = cf_row_verdict(row);

		if (family && strcmp(cf_text(row, "family"), family) != 0)
			continue;
		tally.tests++;
		tally.failures += verdict == CF_FAIL || verdict == CF_XPASS;
		tally.errors += verdict == CF_ERROR || verdict == CF_INCONCLUSIVE;
		tally.skipped += verdict == CF_UNSUPPORTED || verdict == CF_DISABLED || verdict == CF_XFAIL;
		tally.ms += json_integer_value(json_object_get(row, "ms"));
	}
	return tally;
}

static void put_tally(FILE *out, const char *element, const char *name, struct tally tally)
{
	fprintf(out, "<%s name=\"", element);
	cf_xml_put(out, name);
	fprintf(out, "\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"%.3f\">\n", tally.tests,
		tally.failures, tally.errors, tally.skipped, (double)tally.ms / 1000);
}

static const char *element_of(enum cf_verdict verdict)
{
	switch (verdict) {
	case CF_FAIL:
	case CF_XPASS: return "failure";
	case CF_ERROR:
	case CF_INCONCLUSIVE: return "error";
	case CF_UNSUPPORTED:
	case CF_DISABLED:
	case CF_XFAIL: return "skipped";
	default: return NULL;
	}
}

static void put_case(FILE *out, json_t *row)
{
	const char *element = element_of(cf_row_verdict(row));

	fputs("    <testcase classname=\"", out);
	cf_xml_put(out, cf_text(row, "family"));
	fputs("\" name=\"", out);
	cf_xml_put(out, cf_text(row, "id"));
	fprintf(out, "\" time=\"%.3f\"", (double)json_integer_value(json_object_get(row, "ms")) / 1000);
	if (!element) {
		fputs("/>\n", out);
		return;
	}
	fprintf(out, ">\n      <%s message=\"", element);
	cf_xml_put(out, cf_text(row, "reason"));
	fputs(strcmp(element, "skipped") == 0 ? "\"/>\n    </testcase>\n" : "\">", out);
	if (strcmp(element, "skipped") == 0)
		return;
	cf_xml_put(out, cf_text(row, "title"));
	fprintf(out, "</%s>\n    </testcase>\n", element);
}

/* Families in the order in which their first case stands. */
static bool is_first(json_t *rows, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(cf_text(json_array_get(rows, i), "family"),
			   cf_text(json_array_get(rows, at), "family")) == 0)
			return false;
	return true;
}

bool cf_write_junit(FILE *out, json_t *result)
{
	json_t *rows = json_object_get(result, "cases"), *row, *other;
	size_t i, k;

	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
	put_tally(out, "testsuites", "conformance", count(rows, NULL));
	json_array_foreach(rows, i, row) {
		const char *family = cf_text(row, "family");

		if (!is_first(rows, i))
			continue;
		fputs("  ", out);
		put_tally(out, "testsuite", family, count(rows, family));
		json_array_foreach(rows, k, other)
			if (strcmp(cf_text(other, "family"), family) == 0)
				put_case(out, other);
		fputs("  </testsuite>\n", out);
	}
	fputs("</testsuites>\n", out);
	return ferror(out) == 0;
}
