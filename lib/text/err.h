/* The error object that every library function of the kit fills.
 *
 * A function that can fail returns 0 or one of the negative codes below and, when the caller passed an error object,
 * says in it what broke and where. An error object may be NULL wherever one is taken. The first failure wins: kt_fail()
 * never overwrites a code that is already set, so a caller may run several steps and look once.
 */
#ifndef KASSAY_TEXT_ERR_H
#define KASSAY_TEXT_ERR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/text/members.h"

/* X(symbol, value, text) */
#define KT_ERRORS(X)                                               \
	X(KT_ENOMEM, -1, "out of memory")                          \
	X(KT_EUSAGE, -2, "wrong usage")                            \
	X(KT_EFILE, -3, "file cannot be read or written")          \
	X(KT_ESYNTAX, -4, "not well formed")                       \
	X(KT_EUNKNOWN, -5, "unknown name")                         \
	X(KT_ETYPE, -6, "wrong type")                              \
	X(KT_ERANGE, -7, "value out of range")                     \
	X(KT_ETRUNC, -8, "input ends too early")                   \
	X(KT_ELIMIT, -9, "a limit is exceeded")                    \
	X(KT_EVERSION, -10, "not in this version")                 \
	X(KT_ECORRUPT, -11, "data is corrupt")                     \
	X(KT_ENET, -12, "network failure")                         \
	X(KT_ETIMEOUT, -13, "deadline passed")                     \
	X(KT_ECLOSED, -14, "connection closed by the peer")        \
	X(KT_EPLUGIN, -15, "plugin cannot be used")                \
	X(KT_ESYS, -16, "system call failed")                      \
	X(KT_EPEER, -17, "the peer answered with an error")        \
	X(KT_EABSENT, -18, "the peer does not have it")

enum kt_code {
	KT_OK = 0,
#define KT_X(sym, val, text) sym = (val),
	KT_ERRORS(KT_X)
#undef KT_X
};

struct kt_err {
	int code;        /* 0 while nothing failed */
	int line;        /* 1-based line of a text file, 0 if unknown */
	char file[256];  /* what the user calls the input ("scenario.json"), may be "" */
	size_t offset;   /* byte offset of the fault in binary input; meaningful only if has_offset */
	int has_offset;
	char path[256];  /* field path ("topicData[2].name") or JSON path ("$.nodes[0].id"), may be "" */
	char text[512];  /* one sentence without a final full stop; no control characters, whatever it quotes */
};

/* Nothing failed yet: as `= {0}`, without writing all of it. For where it is made for each request or batch. */
KT_ALL_MEMBERS(struct kt_err, text, 0, 0, "", 0, 0, "", "");
static inline void kt_err_init(struct kt_err *err)
{
	err->code = err->line = err->has_offset = 0;
	err->offset = 0;
	err->file[0] = err->path[0] = err->text[0] = '\0';
}

/* Text of a code ("out of memory"); "unknown error" for any other number. */
const char *kt_strerror(int code);

/* Sets code and text unless err is NULL or already failed. Returns code, so that `return kt_fail(...)` reads well. */
int kt_fail(struct kt_err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int kt_vfail(struct kt_err *err, int code, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));

/* Bytes of the control character that s begins with, which is stored, or 0 if it is none. They are U+0000 to 1F and 7F
 * to 9F, and those by which text changes its direction, so that it reads as what it is not: U+202A to 202E, 2066 to
 * 2069. */
size_t kt_control(const char *s, unsigned *character);
/* Bytes of the character of UTF-8 that s begins with; 0 at its end, and for what is none. */
size_t kt_utf8(const char *s);
bool kt_is_utf8(const char *s);
/* Makes UTF-8 for people of any bytes: replaces control characters and bytes that are no UTF-8 by question marks, and
 * drops a character that was cut off at the end. For text that quotes input, and went through a buffer of fixed
 * size: no other is taken into JSON. */
void kt_clean(char *s);
/* Writes s with what kt_clean() replaces replaced, and a question mark for what is cut off: for foreign text on a
 * terminal. */
void kt_put_clean(FILE *f, const char *s);
/* The same, but tabs and ends of lines are left: for a text of several lines. */
void kt_put_clean_lines(FILE *f, const char *s);
/* The same with the first character of s, which is not empty; returns its bytes. */
size_t kt_put_clean_char(FILE *f, const char *s);
/* The same with \u and four digits for each, so that JSON stays what it was. */
void kt_put_escaped(FILE *f, const char *s);

/* Puts err into one line: "path: text (at byte 17)", "line 3: path: text" or "file:3: path: text", without control
 * characters: file names may have them, too. Returns buf. */
const char *kt_err_line(const struct kt_err *err, char *buf, size_t size);

#endif
