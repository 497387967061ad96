#include "conformance/inspect/hex.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* The digits of an offset; bytes of a line of hexdump -C; blanks that may stand between two of them. */
enum { OFFSET_MIN = 6, OFFSET_MAX = 8, WIDTH = 16, GAP_MAX = 2 };

static int digit(char c)
{
	return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

static bool is_pair(const char *s, const char *end)
{
	return end - s >= 2 && isxdigit((unsigned char)s[0]) && isxdigit((unsigned char)s[1]);
}

static size_t blanks(const char *s, const char *end)
{
	size_t n = 0;

	while (s + n < end && s[n] == ' ')
		n++;
	return n;
}

/* ---- dumps ---- */

enum style { NO_DUMP, XXD, HEXDUMP };

struct dump {
	enum style style;        /* of the first line */
	struct kw_buf *buf;
	size_t begin;            /* what buf had before */
	uint64_t first;          /* offset of the first line: only a part may have been dumped */
	size_t last;             /* bytes of the line before */
	uint64_t repeated;       /* bytes of lines that were left out */
	bool starred;            /* behind a "*" */
	bool ended;              /* behind an offset alone */
	int line;
};

__attribute__((format(printf, 4, 5)))
static int wrong(const struct dump *dump, int code, struct kt_err *err, const char *fmt, ...)
{
	va_list ap;

	err->line = dump->line;
	va_start(ap, fmt);
	kt_vfail(err, code, fmt, ap);
	va_end(ap);
	return code;
}

/* Where the next line has to begin. */
static uint64_t end_of(const struct dump *dump)
{
	return dump->first + (dump->buf->n - dump->begin);
}

/* The offset that a line begins with; where it ends, NULL if there is none. */
static const char *read_offset(const char *s, const char *end, uint64_t *offset)
{
	const char *begin = s;

	for (*offset = 0; s < end && s - begin <= OFFSET_MAX && isxdigit((unsigned char)*s); s++)
		*offset = *offset << 4 | (uint64_t)digit(*s);
	return s - begin >= OFFSET_MIN && s - begin <= OFFSET_MAX ? s : NULL;
}

/* What stands behind the offset tells who wrote the dump. */
static enum style style_of(const char *s, const char *end)
{
	if (end - s >= 2 && s[0] == ':' && s[1] == ' ')
		return XXD;
	return end - s >= 2 && s[0] == ' ' && s[1] == ' ' ? HEXDUMP : NO_DUMP;
}

/* "7061 7373 0a  pass.": groups of any size, as many as there are, then two blanks. False for anything else. */
static bool take_xxd(const char *s, const char *end, struct kw_buf *buf, size_t *n)
{
	for (*n = 0; is_pair(s, end); ++*n) {
		kw_put_u8(buf, (uint8_t)(digit(s[0]) << 4 | digit(s[1])));
		s += 2;
		if (blanks(s, end) == 1)
			s++;
	}
	return *n > 0 && (s >= end || *s == ' ');
}

/* "70 61 73 73 0a  |pass.|": up to 16, with one more blank after eight. The kit's own .hex has no such blank, and no
 * bars. */
static bool take_hexdump(const char *s, const char *end, struct kw_buf *buf, size_t *n)
{
	size_t gap = 1;

	for (*n = 0; *n < WIDTH && gap > 0 && gap <= GAP_MAX && is_pair(s, end); ++*n) {
		kw_put_u8(buf, (uint8_t)(digit(s[0]) << 4 | digit(s[1])));
		s += 2;
		gap = blanks(s, end);
		if (gap <= GAP_MAX && *n + 1 < WIDTH)
			s += gap;
	}
	return *n > 0 && gap != 1 && (s >= end || *s == ' ' || *s == '|');
}

static bool take_bytes(struct dump *dump, const char *s, const char *end)
{
	return dump->style == XXD ? take_xxd(s + 2, end, dump->buf, &dump->last)
				  : take_hexdump(s + 2, end, dump->buf, &dump->last);
}

/* Puts in the lines that "*" stands for, up to an offset. */
static int repeat(struct dump *dump, uint64_t offset, struct kt_err *err)
{
	uint64_t missing = offset - end_of(dump);

	if (offset <= end_of(dump) || missing % dump->last != 0)
		return wrong(dump, KT_ESYNTAX, err, "does not lie behind whole lines like the one before \"*\"");
	dump->repeated += missing;
	if (dump->repeated > CF_HEX_REPEATED_MAX)
		return wrong(dump, KT_ELIMIT, err, "lines that are left out stand for more than %d MiB",
			     CF_HEX_REPEATED_MAX >> 20);
	for (; missing > 0 && kw_buf_room(dump->buf, dump->last); missing -= dump->last)
		kw_put(dump->buf, dump->buf->p + dump->buf->n - dump->last, dump->last);
	dump->starred = false;
	return 0;
}

static int take_line(struct dump *dump, const char *s, const char *end, struct kt_err *err)
{
	uint64_t offset;
	const char *behind = read_offset(s, end, &offset);

	if (s == end)
		return 0;
	if (dump->ended)
		return wrong(dump, KT_ESYNTAX, err, "stands behind the end of the dump");
	if (end - s == 1 && *s == '*') {
		dump->starred = true;
		return 0;
	}
	if (!behind || (behind < end && style_of(behind, end) != dump->style))
		return wrong(dump, KT_ESYNTAX, err, "is no line of a dump, as those before");
	if (dump->starred && repeat(dump, offset, err))
		return err->code;
	if (offset != end_of(dump) && !dump->buf->failed)
		return wrong(dump, KT_ESYNTAX, err,
			     "begins at offset %" PRIx64 ", but the bytes before end at %" PRIx64, offset,
			     end_of(dump));
	dump->ended = behind == end;
	if (dump->ended || take_bytes(dump, behind, end))
		return 0;
	return wrong(dump, KT_ESYNTAX, err, "is no line of a dump, as those before");
}

/* A line without what ends it, and blanks in front of that. Returns where the next one begins. */
static const char *next_line(const char *s, const char *text_end, const char **end)
{
	const char *line = memchr(s, '\n', (size_t)(text_end - s));

	*end = line ? line : text_end;
	while (*end > s && isspace((unsigned char)(*end)[-1]))
		--*end;
	return line ? line + 1 : text_end;
}

/* Is the first line one of a dump? Puts nothing into buf. */
static bool begins_dump(struct dump *dump, const char *s, const char *end)
{
	const char *behind = read_offset(s, end, &dump->first);
	bool is;

	dump->style = behind ? style_of(behind, end) : NO_DUMP;
	is = dump->style != NO_DUMP && take_bytes(dump, behind, end);
	dump->buf->n = dump->begin;
	return is;
}

static int read_dump(struct dump *dump, const char *s, const char *text_end, struct kt_err *err)
{
	const char *end;

	while (s < text_end && !dump->buf->failed) {
		const char *next = next_line(s, text_end, &end);

		dump->line++;
		if (take_line(dump, s, end, err))
			return err->code;
		s = next;
	}
	if (dump->starred)
		return wrong(dump, KT_ESYNTAX, err, "ends the dump behind \"*\", without the offset that says how many "
			     "lines it stands for");
	return 0;
}

/* ---- pairs ---- */

/* Nothing but pairs of digits and blanks. */
static bool take_pairs(const char *s, const char *end, struct kw_buf *buf)
{
	while (s < end) {
		if (isspace((unsigned char)*s)) {
			s++;
			continue;
		}
		if (!is_pair(s, end))
			return false;
		kw_put_u8(buf, (uint8_t)(digit(s[0]) << 4 | digit(s[1])));
		s += 2;
	}
	return true;
}

int cf_hex_read(const struct kw_slice *text, struct kw_buf *buf, bool *is, struct kt_err *err)
{
	const char *s = (const char *)text->p, *text_end = s + text->n, *end;
	struct dump dump = {.buf = buf, .begin = buf->n};
	struct kt_err none = {0};

	err = err ? err : &none;
	next_line(s, text_end, &end);
	if (begins_dump(&dump, s, end)) {
		*is = true;
		if (read_dump(&dump, s, text_end, err))
			return err->code;
	} else {
		*is = take_pairs(s, text_end, buf) && buf->n > dump.begin;
		if (!*is)
			buf->n = dump.begin;
	}
	return buf->failed ? kw_buf_fail(buf, err, "too many bytes") : 0;
}
