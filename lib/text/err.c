#include "lib/text/err.h"

#include <stdio.h>
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

int kt_vfail(struct kt_err *err, int code, const char *fmt, va_list ap)
{
	if (err && err->code == KT_OK) {
		err->code = code;
		vsnprintf(err->text, sizeof err->text, fmt, ap);
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
	const char *sep = err->path[0] ? ": " : "";

	if (err->line > 0)
		snprintf(line, sizeof line, "line %d: ", err->line);
	if (err->has_offset)
		snprintf(where, sizeof where, " (at byte %zu)", err->offset);
	snprintf(buf, size, "%s%s%s%s%s", line, err->path, sep,
		 err->text[0] ? err->text : kt_strerror(err->code), where);
	return buf;
}
