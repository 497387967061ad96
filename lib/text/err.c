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

/* Bytes of the control character that s begins with (U+0000 to 1F, 7F to 9F), 0 if it is none. */
static size_t control(const char *s)
{
	unsigned char c = (unsigned char)s[0], follow = c ? (unsigned char)s[1] : 0;

	if (c < 0x20 || c == 0x7f)
		return 1;
	return c == 0xc2 && follow >= 0x80 && follow < 0xa0 ? 2 : 0;
}

void kt_put_clean(FILE *f, const char *s)
{
	for (size_t n; *s; s += n ? n : 1) {
		n = control(s);
		fputc(n ? '?' : *s, f);
	}
}

void kt_clean(char *s)
{
	size_t n = strlen(s), lead = n;

	for (size_t i = 0; i < n; i++)
		memset(s + i, '?', control(s + i));
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
	return buf;
}
