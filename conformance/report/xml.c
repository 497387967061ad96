#include "conformance/report/xml.h"

#include <stdbool.h>
#include <string.h>

#include "lib/text/err.h"

/* U+FFFE and U+FFFF, which no document may have. */
static bool is_no_character(const char *s)
{
	return strncmp(s, "\xef\xbf\xbe", 3) == 0 || strncmp(s, "\xef\xbf\xbf", 3) == 0;
}

/* How a character is written that is not to be seen as markup, or as one that cannot be; NULL for any other. */
static const char *written(char c)
{
	switch (c) {
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '&': return "&amp;";
	case '"': return "&quot;";
	case '\n': return "\n";
	case '\t': return "\t";
	default: return NULL;
	}
}

void cf_xml_put(FILE *out, const char *s)
{
	while (*s) {
		if (written(*s)) {
			fputs(written(*s++), out);
		} else if (is_no_character(s)) {
			fputc('?', out);
			s += 3;
		} else {
			s += kt_put_clean_char(out, s);
		}
	}
}
