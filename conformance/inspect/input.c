#include "conformance/inspect/input.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "conformance/data.h"
#include "conformance/inspect/hex.h"
#include "conformance/inspect/indexes.h"
#include "conformance/pcap/pcap.h"
#include "lib/text/file.h"

/* A segment has at most FILE_MAX bytes. */
enum { FILE_MAX = INT32_MAX, OFFSET_DIGITS = 20 };

static const char *const words[] = {
#define CF_X(sym, word) [sym] = (word),
	CF_INPUTS(CF_X)
#undef CF_X
};

const char *cf_input_word(enum cf_input_kind kind)
{
	return words[kind];
}

/* ---- hex ---- */

/* Puts the bytes that a text stands for in its place, unless it is no such text. */
static int read_hex(struct cf_input *input, struct kt_err *err)
{
	struct kw_buf buf;

	kw_buf_init(&buf, FILE_MAX);
	if (cf_hex_read(&input->bytes, &buf, &input->hex, err) || !input->hex) {
		kw_buf_fini(&buf);
		return err->code;
	}
	free(input->own);
	input->own = buf.p;
	input->bytes = (struct kw_slice){buf.p, buf.n};
	return 0;
}

/* Only texts get that far: a batch begins with an offset of eight bytes. */
static bool looks_like_hex(const struct kw_slice *bytes)
{
	size_t n = bytes->n < 64 ? bytes->n : 64;

	if (bytes->n < 2)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isprint(bytes->p[i]) && !isspace(bytes->p[i]))
			return false;
	return isxdigit(bytes->p[0]) || isspace(bytes->p[0]);
}

/* ---- kinds ---- */

static const char *base_name(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

/* 00000000000000000042.log begins at offset 42. */
static int64_t offset_of_name(const char *file)
{
	const char *name = base_name(file);
	size_t digits = strspn(name, "0123456789");

	return digits == OFFSET_DIGITS ? (int64_t)strtoll(name, NULL, 10) : -1;
}

/* The metadata log's snapshot, 00000000000000000042-0000000003.checkpoint, has batches like a segment. Its name says
 * where it ends. */
static bool is_snapshot(const char *file)
{
	return cf_has_suffix(file, ".checkpoint") && offset_of_name(file) >= 0;
}

static bool is_kept(const char *file)
{
	return cf_has_suffix(file, ".log") || is_snapshot(file);
}

static bool is_beside(const char *file)
{
	const char *suffix;

	for (size_t i = 0; (suffix = cf_beside_suffix(i)) != NULL; i++)
		if (cf_has_suffix(file, suffix) && offset_of_name(file) >= 0)
			return true;
	return strcmp(base_name(file), "leader-epoch-checkpoint") == 0 ||
	       strcmp(base_name(file), "partition.metadata") == 0;
}

static bool is_set(const struct kw_slice *bytes, bool whole)
{
	struct kw_entry entry;
	int code = kw_entry_parse(bytes->p, bytes->n, &entry, NULL);

	return (code == 0 || (code == KT_ETRUNC && !whole)) && entry.magic >= 0 && entry.magic <= 2 &&
	       entry.offset >= 0;
}

static enum cf_input_kind kind_of(const char *file, const struct kw_slice *bytes)
{
	if (is_kept(file))
		return CF_IN_SEGMENT;
	if (cf_is_pcap(bytes))
		return CF_IN_PCAP;
	if (is_set(bytes, true))
		return CF_IN_SET;
	if (cf_is_request(bytes))
		return CF_IN_REQUEST;
	return is_set(bytes, false) ? CF_IN_SET : CF_IN_UNKNOWN;
}

/* ---- opening ---- */

/* Whole, since a file that is mapped can be cut off meanwhile. */
static int read_file(struct cf_input *input, const char *file, struct kt_err *err)
{
	char *text;
	size_t n;

	if (kt_file_read(strcmp(file, "-") == 0 ? "/dev/stdin" : file, FILE_MAX, &text, &n, err))
		return err->code;
	input->own = text;
	input->bytes = (struct kw_slice){(const uint8_t *)text, n};
	return 0;
}

int cf_input_open(struct cf_input *input, const char *file, struct kt_err *err)
{
	char path[PATH_MAX];
	struct stat st;

	*input = (struct cf_input){.first_offset = is_snapshot(file) ? -1 : offset_of_name(file)};
	if (stat(file, &st) == 0 && S_ISDIR(st.st_mode)) {
		if (!cf_path(path, sizeof path, "%s/result.json", file) || stat(path, &st) != 0)
			return kt_fail(err, KT_ETYPE, "is a folder without result.json: that of a failure is expected");
		file = path;
	}
	if (cf_has_suffix(file, ".json")) {
		input->kind = CF_IN_DOCUMENT;
		return kt_json_load(&input->document, file, err);
	}
	if (read_file(input, file, err))
		return err->code;
	if (is_beside(file)) {
		input->kind = CF_IN_BESIDE;
		return 0;
	}
	if (!is_kept(file) && looks_like_hex(&input->bytes) && read_hex(input, err))
		return err->code;
	input->kind = kind_of(file, &input->bytes);
	return 0;
}

void cf_input_fini(struct cf_input *input)
{
	kt_json_fini(&input->document);
	free(input->own);
	*input = (struct cf_input){0};
}
