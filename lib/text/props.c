#include "lib/text/props.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/file.h"

enum { LARGEST = 16 << 20 };

/* ---- logical lines ---- */

struct reader {
	const char *p, *end;
	int at;             /* line of p */
	char *line;         /* the logical line, escapes still in it */
	size_t n;
	int first;          /* line where it began */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\f';
}

/* Takes one end of line: \n, \r or \r\n. */
static void take_newline(struct reader *in)
{
	if (*in->p == '\r' && in->p + 1 < in->end && in->p[1] == '\n')
		in->p++;
	in->p++;
	in->at++;
}

/* Collects the next line that is neither blank nor a comment, its continuations joined. */
static bool read_line(struct reader *in)
{
	bool at_start = true, continued = false, escaped = false;

	in->n = 0;
	while (in->p < in->end) {
		char c = *in->p;
		bool newline = c == '\n' || c == '\r';

		if (at_start && (is_blank(c) || (newline && !continued))) {
			if (newline)
				take_newline(in);
			else
				in->p++;
			continue;
		}
		if (at_start && in->n == 0 && (c == '#' || c == '!')) {
			while (in->p < in->end && *in->p != '\n' && *in->p != '\r')
				in->p++;
			continued = false;
			continue;
		}
		at_start = continued = false;
		if (!newline) {
			if (in->n == 0)
				in->first = in->at;
			in->line[in->n++] = c;
			escaped = c == '\\' && !escaped;
			in->p++;
			continue;
		}
		take_newline(in);
		if (escaped)
			in->n--;
		else if (in->n > 0)
			return true;
		at_start = true;
		continued = escaped;
		escaped = false;
	}
	in->n -= escaped;
	return in->n > 0;
}

/* ---- names and values ---- */

static char *put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		*out++ = (char)c;
	} else if (c < 0x800) {
		*out++ = (char)(0xc0 | c >> 6);
		*out++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*out++ = (char)(0xe0 | c >> 12);
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	} else {
		*out++ = (char)(0xf0 | c >> 18);
		*out++ = (char)(0x80 | (c >> 12 & 0x3f));
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	}
	return out;
}

/* The four hex digits of a \u escape at p, -1 if they are not there. */
static int32_t hex4(const char *p, const char *end)
{
	char digits[5] = "";

	if (end - p < 4)
		return -1;
	memcpy(digits, p, 4);
	if (strspn(digits, "0123456789abcdefABCDEF") != 4)
		return -1;
	return (int32_t)strtol(digits, NULL, 16);
}

/* Decodes the escape whose backslash is at *p. A UTF-16 surrogate takes its partner along; one without is U+FFFD.
 * Negative: malformed. */
static int32_t unescape(const char **p, const char *end)
{
	static const char letters[] = "tnrf", meanings[] = "\t\n\r\f";
	const char *letter;
	int32_t c, low;

	if (++*p == end)
		return -1;
	letter = memchr(letters, **p, sizeof letters - 1);
	if (*(*p)++ != 'u')
		return letter ? meanings[letter - letters] : (unsigned char)(*p)[-1];
	c = hex4(*p, end);
	if (c < 0)
		return -1;
	*p += 4;
	if (c < 0xd800 || c > 0xdfff)
		return c;
	low = c < 0xdc00 && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u' ? hex4(*p + 2, end) : -1;
	if (low < 0xdc00 || low > 0xdfff)
		return 0xfffd;
	*p += 6;
	return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

/* Appends [p, end) to *out, decoded and with a NUL: at most twice as long as it was. */
static int convert(const char *p, const char *end, char **out, struct kt_err *err)
{
	while (p < end) {
		int32_t c = *p == '\\' ? unescape(&p, end) : (unsigned char)*p++;

		if (c < 0)
			return kt_fail(err, KT_ESYNTAX, "malformed \\u escape");
		if (c == 0)
			return kt_fail(err, KT_ESYNTAX, "a NUL character");
		*out = put_utf8(*out, (uint32_t)c);
	}
	*(*out)++ = '\0';
	return 0;
}

/* Splits the logical line into name and value. */
static int take_property(const struct reader *in, struct kt_prop *prop, char **out, struct kt_err *err)
{
	const char *p = in->line, *end = in->line + in->n, *name_end;
	bool escaped = false;
	int rc;

	for (; p < end && (escaped || (*p != '=' && *p != ':' && !is_blank(*p))); p++)
		escaped = *p == '\\' && !escaped;
	name_end = p;
	while (p < end && is_blank(*p))
		p++;
	if (p < end && (*p == '=' || *p == ':'))
		p++;
	while (p < end && is_blank(*p))
		p++;
	*prop = (struct kt_prop){.line = in->first, .name = *out};
	rc = convert(in->line, name_end, out, err);
	prop->value = *out;
	return rc < 0 ? rc : convert(p, end, out, err);
}

/* ---- the whole file ---- */

static int by_name_and_line(const void *a, const void *b)
{
	const struct kt_prop *pa = a, *pb = b;
	int order = strcmp(pa->name, pb->name);

	return order ? order : (pa->line > pb->line) - (pa->line < pb->line);
}

static int by_line(const void *a, const void *b)
{
	const struct kt_prop *pa = a, *pb = b;

	return (pa->line > pb->line) - (pa->line < pb->line);
}

/* Keeps the last property of each name. */
static void drop_replaced(struct kt_props *props)
{
	size_t kept = 0;

	qsort(props->v, props->n, sizeof *props->v, by_name_and_line);
	for (size_t i = 0; i < props->n; i++) {
		struct kt_prop prop = props->v[i];

		if (kept > 0 && strcmp(props->v[kept - 1].name, prop.name) == 0)
			prop.earlier = props->v[--kept].line;
		props->v[kept++] = prop;
	}
	props->n = kept;
	qsort(props->v, props->n, sizeof *props->v, by_line);
}

static int add(struct kt_props *props, size_t *cap, const struct kt_prop *prop)
{
	struct kt_prop *grown;

	if (props->n == *cap) {
		*cap = *cap ? *cap * 2 : 32;
		grown = realloc(props->v, *cap * sizeof *grown);
		if (!grown)
			return KT_ENOMEM;
		props->v = grown;
	}
	props->v[props->n++] = *prop;
	return 0;
}

static int read_all(struct kt_props *props, struct reader *in, struct kt_err *err)
{
	char *out = props->text;
	struct kt_prop prop;
	size_t cap = 0;
	int rc;

	while (read_line(in)) {
		rc = take_property(in, &prop, &out, err);
		if (rc == 0 && add(props, &cap, &prop) < 0)
			rc = kt_fail(err, KT_ENOMEM, "out of memory");
		if (rc < 0)
			return rc;
	}
	if (props->n > 0)
		drop_replaced(props);
	return 0;
}

int kt_props_parse(struct kt_props *props, const char *file, const char *text, size_t n, struct kt_err *err)
{
	struct reader in = {.p = text, .end = text + n, .at = 1, .first = 0};
	int rc;

	*props = (struct kt_props){0};
	if (n > LARGEST) {
		rc = kt_fail(err, KT_ELIMIT, "larger than the limit of %d bytes", LARGEST);
		goto out;
	}
	/* A property of n bytes becomes at most two strings of 2n bytes in all and their NULs. */
	props->text = malloc(4 * n + 2);
	in.line = malloc(n + 1);
	rc = props->text && in.line ? read_all(props, &in, err) : kt_fail(err, KT_ENOMEM, "out of memory");
out:
	if (rc < 0 && err) {
		snprintf(err->file, sizeof err->file, "%s", file);
		err->line = in.first;
	}
	free(in.line);
	return rc;
}

int kt_props_load(struct kt_props *props, const char *file, struct kt_err *err)
{
	char *text;
	size_t n;
	int rc = kt_file_read(file, LARGEST, &text, &n, err);

	*props = (struct kt_props){0};
	if (rc < 0)
		return rc;
	rc = kt_props_parse(props, file, text, n, err);
	free(text);
	return rc;
}

void kt_props_fini(struct kt_props *props)
{
	free(props->v);
	free(props->text);
	*props = (struct kt_props){0};
}

const struct kt_prop *kt_props_find(const struct kt_props *props, const char *name)
{
	for (size_t i = 0; i < props->n; i++) {
		if (strcmp(props->v[i].name, name) == 0)
			return &props->v[i];
	}
	return NULL;
}
