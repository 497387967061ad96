#include "conformance/report/xml.h"

void cf_xml_put(FILE *out, const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '&': fputs("&amp;", out); break;
		case '"': fputs("&quot;", out); break;
		default: fputc((unsigned char)*s < 0x20 && *s != '\n' && *s != '\t' ? '?' : *s, out);
		}
	}
}
