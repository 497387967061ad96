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

/* Bytes of the UTF-8 sequence that c begins, and the least and greatest that its second byte can be: not overlong, no
 * surrogate, nothing above U+10FFFF. 0 for a byte that begins none. */
static size_t sequence(unsigned char c, unsigned char *least, unsigned char *greatest)
{
	*least = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
	*greatest = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
	if (c < 0x80)
		return 1;
	return c < 0xc2 || c > 0xf4 ? 0 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
}

/* How many of a sequence's n bytes are there. */
static size_t begun(const char *s, size_t n, unsigned char least, unsigned char greatest)
{
	size_t i = 1;

	while (i < n && (unsigned char)s[i] >= least && (unsigned char)s[i] <= greatest) {
		least = 0x80;
		greatest = 0xbf;
		i++;
	}
	return i;
}

size_t kt_utf8(const char *s)
{
	unsigned char least, greatest;
	size_t n = *s ? sequence((unsigned char)*s, &least, &greatest) : 0;

	return n > 0 && begun(s, n, least, greatest) == n ? n : 0;
}

bool kt_is_utf8(const char *s)
{
	for (size_t n = 1; *s && n; s += n)
		n = kt_utf8(s);
	return *s == '\0';
}

/* Is s the beginning of a sequence, cut off by the end? */
static bool is_cut_off(const char *s)
{
	unsigned char least, greatest;
	size_t n = sequence((unsigned char)*s, &least, &greatest), there = n ? begun(s, n, least, greatest) : 0;

	return there < n && s[there] == '\0';
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

/* The length of what s begins with, a character or a byte that is none; *bad: it is not for a terminal. */
static size_t look(const char *s, bool *bad)
{
	unsigned character;
	size_t control = kt_control(s, &character), n = kt_utf8(s);

	*bad = control || !n;
	return control ? control : n ? n : 1;
}

size_t kt_put_clean_char(FILE *f, const char *s)
{
	bool bad;
	size_t n = look(s, &bad);

	if (bad)
		fputc('?', f);
	else
		fwrite(s, 1, n, f);
	return n;
}

void kt_put_clean(FILE *f, const char *s)
{
	while (*s)
		s += kt_put_clean_char(f, s);
}

void kt_put_clean_lines(FILE *f, const char *s)
{
	while (*s) {
		if (*s == '\n' || *s == '\t')
			fputc(*s++, f);
		else
			s += kt_put_clean_char(f, s);
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
	bool bad;

	for (size_t n; *s; s += n) {
		n = look(s, &bad);
		if (bad && is_cut_off(s))
			*s = '\0';
		else if (bad)
			memset(s, '?', n);
		n = *s ? n : 0;
	}
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
