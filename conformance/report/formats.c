#include "conformance/report/report.h"

#include <stdlib.h>
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
	char *text = json_dumps(result, JSON_INDENT(1)), *end;
	bool made = text != NULL;

	/* Of the control characters only the ends of lines stand outside of strings. */
	for (char *line = text; line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		kt_put_escaped(out, line);
		fputc('\n', out);
	}
	free(text);
	return made && !ferror(out);
}
