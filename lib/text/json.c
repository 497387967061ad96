#include "lib/text/json.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/text/file.h"

enum { LARGEST = 64 << 20 };

/* ---- documents ---- */

/* Parses doc->text, which is in place. */
static int parse(struct kt_json *doc, struct kt_err *err)
{
	json_error_t at;

	doc->root = json_loadb(doc->text, doc->n, JSON_REJECT_DUPLICATES, &at);
	if (doc->root)
		return 0;
	if (err && err->code == KT_OK) {
		err->line = at.line > 0 ? at.line : 0;
		snprintf(err->file, sizeof err->file, "%s", doc->name);
	}
	if (json_error_code(&at) == json_error_out_of_memory)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	return kt_fail(err, KT_ESYNTAX, "%s (column %d)", at.text, at.column);
}

int kt_json_load(struct kt_json *doc, const char *file, struct kt_err *err)
{
	int rc;

	*doc = (struct kt_json){0};
	snprintf(doc->name, sizeof doc->name, "%s", file);
	rc = kt_file_read(file, LARGEST, &doc->text, &doc->n, err);
	return rc < 0 ? rc : parse(doc, err);
}

int kt_json_parse(struct kt_json *doc, const char *name, const char *text, size_t n, struct kt_err *err)
{
	*doc = (struct kt_json){0};
	snprintf(doc->name, sizeof doc->name, "%s", name);
	if (n > LARGEST)
		return kt_json_fail(doc, "", err, KT_ELIMIT, "larger than the limit of %d bytes", LARGEST);
	doc->text = malloc(n + 1);
	if (!doc->text)
		return kt_json_fail(doc, "", err, KT_ENOMEM, "out of memory");
	memcpy(doc->text, text, n);
	doc->text[n] = '\0';
	doc->n = n;
	return parse(doc, err);
}

void kt_json_fini(struct kt_json *doc)
{
	json_decref(doc->root);
	free(doc->text);
	*doc = (struct kt_json){0};
}

static bool is_special(const char *file)
{
	struct stat st;

	return lstat(file, &st) == 0 && !S_ISREG(st.st_mode);
}

static bool write_line(const char *file, const json_t *json, size_t flags)
{
	FILE *out = fopen(file, "w");
	bool written = out && json_dumpf(json, out, flags) == 0 && putc('\n', out) != EOF;

	return out && fclose(out) == 0 && written;
}

int kt_json_write(const char *file, const json_t *json, size_t flags, struct kt_err *err)
{
	char part[PATH_MAX];
	bool direct = is_special(file), written;

	if (!json)
		return kt_fail(err, KT_EFILE, "%s cannot be written: not UTF-8", file);
	if (!direct && snprintf(part, sizeof part, "%s.part", file) >= (int)sizeof part)
		return kt_fail(err, KT_EFILE, "%s cannot be written: the name is too long", file);
	errno = 0;
	written = write_line(direct ? file : part, json, flags);
	if (written && (direct || rename(part, file) == 0))
		return 0;
	kt_fail(err, KT_EFILE, "%s cannot be written: %s", file, errno ? strerror(errno) : "not UTF-8");
	if (!direct)
		unlink(part);
	return KT_EFILE;
}

int kt_json_vfail(const struct kt_json *doc, const char *path, struct kt_err *err, int code, const char *fmt,
		  va_list ap)
{
	if (err && err->code == KT_OK) {
		if (doc) {
			snprintf(err->file, sizeof err->file, "%s", doc->name);
			err->line = kt_json_line(doc, path);
		}
		snprintf(err->path, sizeof err->path, "%s", path);
		kt_clean(err->path);
	}
	return kt_vfail(err, code, fmt, ap);
}

int kt_json_fail(const struct kt_json *doc, const char *path, struct kt_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	kt_json_vfail(doc, path, err, code, fmt, ap);
	va_end(ap);
	return code;
}

/* ---- lines ----
 * A second walk over the text, which is known to be well formed, along one path. */

struct scan {
	const char *p, *end;
	int line;
};

static void next(struct scan *scan)
{
	if (*scan->p++ == '\n')
		scan->line++;
}

static void skip_space(struct scan *scan)
{
	while (scan->p < scan->end && strchr(" \t\r\n", *scan->p))
		next(scan);
}

/* From one quote to behind the other. */
static void skip_string(struct scan *scan)
{
	for (scan->p++; scan->p < scan->end && *scan->p != '"'; scan->p++) {
		if (*scan->p == '\\')
			scan->p++;
	}
	scan->p++;
}

static void skip_value(struct scan *scan)
{
	size_t depth = 0;

	while (scan->p < scan->end) {
		if (depth == 0 && strchr(",]} \t\r\n", *scan->p))
			return;
		if (*scan->p == '"') {
			skip_string(scan);
		} else {
			depth += strchr("[{", *scan->p) != NULL;
			depth -= strchr("]}", *scan->p) != NULL;
			next(scan);
		}
	}
}

/* One step of a path: the name of a member, or an index. */
struct step {
	json_t *name;
	unsigned long index;
};

/* Takes the first step off *path. False at its end or where it is cut off. */
static bool take_step(const char **path, struct step *step)
{
	const char *p = *path;
	struct scan quoted = {p + 1, p + strlen(p), 0};
	char *end;

	*step = (struct step){0};
	if (p[0] == '.') {
		*path += 1 + strcspn(p + 1, ".[");
		step->name = json_stringn(p + 1, (size_t)(*path - p - 1));
		return step->name != NULL;
	}
	if (p[0] != '[')
		return false;
	if (p[1] == '"') {
		skip_string(&quoted);
		if (quoted.p >= quoted.end)
			return false;
		step->name = json_loadb(p + 1, (size_t)(quoted.p - p - 1), JSON_DECODE_ANY, NULL);
		*path = quoted.p + 1;
		return step->name != NULL;
	}
	step->index = strtoul(p + 1, &end, 10);
	*path = end + 1;
	return *end == ']';
}

/* Is the member at scan, whose name is a JSON string, the one that step means? */
static bool is_named(const struct scan *scan, const struct step *step)
{
	struct scan behind = *scan;
	json_t *name;
	bool same;

	skip_string(&behind);
	name = json_loadb(scan->p, (size_t)(behind.p - scan->p), JSON_DECODE_ANY, NULL);
	same = json_equal(name, step->name);
	json_decref(name);
	return same;
}

/* From the name of a member to its value. */
static void skip_name(struct scan *scan)
{
	skip_string(scan);
	skip_space(scan);
	next(scan);
	skip_space(scan);
}

/* Moves scan from the start of an object or array to the value that step names. *line gets the line where the member or
 * element starts. */
static bool enter(struct scan *scan, const struct step *step, int *line)
{
	bool object = *scan->p == '{', found;

	if (!strchr("[{", *scan->p) || object != (step->name != NULL))
		return false;
	for (unsigned long i = 0; !strchr("]}", *scan->p); i++) {
		next(scan);
		skip_space(scan);
		if (strchr("]}", *scan->p))
			return false;
		found = object ? is_named(scan, step) : i == step->index;
		if (found)
			*line = scan->line;
		if (object)
			skip_name(scan);
		if (found)
			return true;
		skip_value(scan);
		skip_space(scan);
	}
	return false;
}

int kt_json_line(const struct kt_json *doc, const char *path)
{
	struct scan scan = {.p = doc->text, .line = 1};
	struct step step;
	bool entered = true;
	int line;

	if (!doc->root)
		return 0;
	scan.end = doc->text + doc->n;
	skip_space(&scan);
	line = scan.line;
	path += *path == '$';
	while (entered && take_step(&path, &step)) {
		entered = enter(&scan, &step, &line);
		json_decref(step.name);
	}
	return line;
}
