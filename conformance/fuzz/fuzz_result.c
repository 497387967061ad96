/* A result that a stranger wrote: refused with a reason, or each report of it is text that drives no terminal, and as
 * JSON it is the same. */
#include "conformance/report/report.h"
#include "lib/text/fuzz/fuzz.h"

FUZZ_TARGET

/* *out is for free(). */
static FILE *begin(char **out, size_t *n)
{
	FILE *f = open_memstream(out, n);

	if (!f)
		exit(1);
	return f;
}

static void check_clean(const char *text, size_t n)
{
	unsigned character;

	FUZZ_CHECK(strlen(text) == n);
	for (; *text; text += kt_utf8(text)) {
		FUZZ_CHECK(kt_utf8(text) > 0);
		FUZZ_CHECK(*text == '\n' || *text == '\t' || kt_control(text, &character) == 0);
	}
}

static void check_page(char *text, size_t n)
{
	char *script = strstr(text, "<script");

	FUZZ_CHECK(script && strlen(text) == n);
	*script = '\0';   /* JSON and code that makes text of it */
	check_clean(text, strlen(text));
}

static void check_json(const char *text, json_t *result)
{
	json_t *again = json_loads(text, 0, NULL);

	FUZZ_CHECK(again && json_equal(again, result));
	json_decref(again);
}

static void check_format(const struct cf_format *format, json_t *result)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = begin(&text, &n);

	FUZZ_CHECK(format->write(f, result));
	fclose(f);
	if (format->write == cf_write_html)
		check_page(text, n);
	else
		check_clean(text, n);
	if (format->write == cf_write_json)
		check_json(text, result);
	free(text);
}

static void check_lines(json_t *result)
{
	json_t *row;
	char *text = NULL;
	size_t n = 0, i;
	FILE *f = begin(&text, &n);

	json_array_foreach(json_object_get(result, "cases"), i, row)
		cf_text_row(f, row, false);
	cf_text_summary(f, result, false);
	fclose(f);
	check_clean(text, n);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct kt_err err = {0};
	json_t *result = cf_result_parse((const char *)p, n, &err);

	FUZZ_CHECK(!result == !!err.code);
	FUZZ_CHECK(!err.code || err.text[0]);
	for (const struct cf_format *format = cf_formats; result && format->name; format++)
		check_format(format, result);
	if (result)
		check_lines(result);
	json_decref(result);
	return 0;
}
