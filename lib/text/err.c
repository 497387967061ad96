#include "lib/text/err.h"

#include <string.h>

const char *kt_strerror(int code)
{
	switch (code) {
	case KT_OK: return "ok";
#define KT_X(sym, val, text) case sym: return text;
	KT_ERRORS(KT_X)
#undef KT_X
	default: return "unknown error";
	}
}

/* Length of the UTF-8 sequence that a byte begins, 0 for a byte in the middle of one. */
static size_t sequence(unsigned char c)
{
	if (c < 0x80)
		return 1;
	return c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 0;
}

size_t kt_control(const char *s, unsigned *character)
{
	unsigned char c = (unsigned char)s[0], second = c ? (unsigned char)s[1] : 0;
	unsigned last = second ? (unsigned char)s[2] : 0;

	*character = c;
	if (c < 0x20 || c == 0x7f)
		return 1;
	*character = second;
	if (c == 0xc2)
		return second >= 0x80 && second < 0xa0 ? 2 : 0;
	if (c != 0xe2)
		return 0;
	*character = 0x2000 | (second & 0x3fU) << 6 | (last & 0x3f);
	return (second == 0x80 && last >= 0xaa && last <= 0xae) || (second == 0x81 && last >= 0xa6 && last <= 0xa9)
	       ? 3 : 0;
}

void kt_put_clean(FILE *f, const char *s)
{
	unsigned character;

	for (size_t n; *s; s += n ? n : 1) {
		n = kt_control(s, &character);
		fputc(n ? '?' : *s, f);
	}
}

void kt_put_escaped(FILE *f, const char *s)
{
	unsigned character;

	for (size_t n; *s; s += n ? n : 1) {
		n = kt_control(s, &character);
		if (n)
			fprintf(f, "\\u%04x", character);
		else
			fputc(*s, f);
	}
}

void kt_clean(char *s)
{
	size_t n = strlen(s), lead = n;
	unsigned character;

	for (size_t i = 0; i < n; i++)
		memset(s + i, '?', kt_control(s + i, &character));
	while (lead > 0 && n - lead < 3 && sequence((unsigned char)s[lead - 1]) == 0)
		lead--;
	if (lead > 0 && lead - 1 + sequence((unsigned char)s[lead - 1]) > n)
		s[lead - 1] = '\0';
}

int kt_vfail(struct kt_err *err, int code, const char *fmt, va_list ap)
{
	if (err && err->code == KT_OK) {
		err->code = code;
		vsnprintf(err->text, sizeof err->text, fmt, ap);
		kt_clean(err->text);
	}
	return code;
}

int kt_fail(struct kt_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	kt_vfail(err, code, fmt, ap);
	va_end(ap);
	return code;
}

const char *kt_err_line(const struct kt_err *err, char *buf, size_t size)
{
	char where[64] = "", line[32] = "";

	if (err->line > 0)
		snprintf(line, sizeof line, err->file[0] ? ":%d" : "line %d", err->line);
	if (err->has_offset)
		snprintf(where, sizeof where, " (at byte %zu)", err->offset);
	snprintf(buf, size, "%s%s%s%s%s%s%s", err->file, line, err->file[0] || line[0] ? ": " : "",
		 err->path, err->path[0] ? ": " : "", err->text[0] ? err->text : kt_strerror(err->code), where);
	kt_clean(buf);
	return buf;
}
