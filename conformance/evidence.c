#include "conformance/evidence.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/result.h"
#include "conformance/runner.h"
#include "lib/text/base64.h"
#include "lib/text/file.h"

enum { DUMP_WIDTH = 16 };

static int cannot(const char *path, struct kt_err *err)
{
	return kt_fail(err, KT_EFILE, "%s: %s", path, strerror(errno));
}

static FILE *create(const char *dir, const char *name, const char *suffix, struct kt_err *err)
{
	char path[PATH_MAX];
	FILE *f;

	cf_path(path, sizeof path, "%s/%s%s", dir, name, suffix);
	f = fopen(path, "wb");
	if (!f)
		cannot(path, err);
	return f;
}

static int finish(FILE *f, const char *dir, struct kt_err *err)
{
	bool failed = ferror(f);

	if (fclose(f) || failed)
		return cannot(dir, err);
	return 0;
}

/* ---- bytes ---- */

static void dump_line(FILE *f, const uint8_t *p, size_t at, size_t n)
{
	fprintf(f, "%06zx ", at);
	for (size_t i = 0; i < DUMP_WIDTH; i++)
		if (i < n)
			fprintf(f, " %02x", p[at + i]);
		else
			fputs("   ", f);
	fputs("  ", f);
	for (size_t i = 0; i < n; i++)
		fputc(isprint(p[at + i]) ? p[at + i] : '.', f);
	fputc('\n', f);
}

static int write_frame(const char *dir, const char *name, const char *hex, struct kt_err *err)
{
	size_t digits = strlen(hex);
	uint8_t *p = malloc(digits / 2 + 1);
	long n = p ? kt_hex_decode(hex, digits, p) : -1;
	FILE *f = n < 0 ? NULL : create(dir, name, "", err);

	if (n < 0)
		kt_fail(err, KT_ENOMEM, "out of memory");
	if (f) {
		fwrite(p, 1, (size_t)n, f);
		finish(f, dir, err);
		f = create(dir, name, ".hex", err);
	}
	if (f) {
		for (size_t at = 0; at < (size_t)n; at += DUMP_WIDTH)
			dump_line(f, p, at, (size_t)n - at < DUMP_WIDTH ? (size_t)n - at : DUMP_WIDTH);
		finish(f, dir, err);
	}
	free(p);
	return err->code;
}

/* Several frames of one step are numbered from the second on. */
static void write_frames(const char *dir, json_t *step, size_t number, const char *list, const char *way,
			 struct kt_err *err)
{
	json_t *hex;
	size_t i;

	json_array_foreach(json_object_get(step, list), i, hex) {
		char name[100];

		if (i == 0)
			snprintf(name, sizeof name, "%zu-%s.%s", number, cf_text(step, "verb"), way);
		else
			snprintf(name, sizeof name, "%zu-%s.%s%zu", number, cf_text(step, "verb"), way, i + 1);
		if (write_frame(dir, name, json_string_value(hex), err))
			return;
	}
}

/* ---- the folder ---- */

static int write_json(const char *dir, const char *name, json_t *json, struct kt_err *err)
{
	char path[PATH_MAX];

	cf_path(path, sizeof path, "%s/%s", dir, name);
	return kt_json_write(path, json, JSON_INDENT(1), err);
}

/* As a word for a shell: in single quotes unless there is nothing in it that means something. */
static void put_quoted(FILE *f, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.:@%+=,-";

	if (*text && !text[strspn(text, plain)]) {
		fputs(text, f);
		return;
	}
	fputc('\'', f);
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", f);
		else
			fputc(*text, f);
	fputc('\'', f);
}

static const char *own_path(void)
{
	static char path[PATH_MAX];

	if (!path[0] && readlink("/proc/self/exe", path, sizeof path - 1) < 0)
		snprintf(path, sizeof path, "conformance");
	return path;
}

/* Texts of cases and brokers stand where the shell takes them for words, or behind a "#". */
static int write_repeat(const char *dir, const struct cf_case *cas, const char *id, const struct kt_list *repeat,
			const char *bootstrap, struct kt_err *err)
{
	const char *end = strstr(id, CF_AT_END);
	FILE *f = create(dir, "repeat.sh", "", err);

	if (!f)
		return err->code;
	fputs("#!/bin/sh\n# ", f);
	kt_put_clean(f, cas->title);
	fputs("\n[ $# -gt 0 ] || set -- ", f);
	put_quoted(f, bootstrap);
	fputs("\nexec ", f);
	put_quoted(f, own_path());
	fputs(" run", f);
	for (size_t i = 0; i < repeat->n; i++) {
		fputc(' ', f);
		put_quoted(f, repeat->v[i]);
	}
	fprintf(f, " --bootstrap-server \"$1\" --only '%.*s'\n", end ? (int)(end - id) : (int)strlen(id), id);
	fchmod(fileno(f), 0755);
	return finish(f, dir, err);
}

int cf_evidence_write(const char *out, json_t *row, const struct cf_case *cas, const struct kt_list *repeat,
		      const char *bootstrap, struct kt_err *err)
{
	char dir[PATH_MAX];
	json_t *step;
	size_t i;

	cf_path(dir, sizeof dir, "%s/failures/%s", out, cf_text(row, "id"));
	if (kt_file_make_dir(dir, err) || write_json(dir, "case.json", cas->doc.root, err) ||
	    write_json(dir, "result.json", row, err) ||
	    write_repeat(dir, cas, cf_text(row, "id"), repeat, bootstrap, err))
		return err->code;
	json_array_foreach(json_object_get(row, "steps"), i, step) {
		write_frames(dir, step, i + 1, "requestHex", "request", err);
		write_frames(dir, step, i + 1, "responseHex", "response", err);
	}
	return err->code;
}
