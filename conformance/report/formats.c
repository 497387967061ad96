#include "conformance/report/report.h"

#include <string.h>

const struct cf_format cf_formats[] = {
#define CF_X(name, file, fn, help) {#name, file, help, fn},
	CF_FORMATS(CF_X)
#undef CF_X
	{0},
};

const struct cf_format *cf_format_find(const char *name)
{
	for (const struct cf_format *format = cf_formats; format->name; format++)
		if (strcmp(format->name, name) == 0)
			return format;
	return NULL;
}

bool cf_write_json(FILE *out, json_t *result)
{
	return json_dumpf(result, out, JSON_INDENT(1)) == 0 && fputc('\n', out) != EOF;
}
