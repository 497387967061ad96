/* Which files lie beside a segment, and who reads them. */
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "conformance/data.h"
#include "conformance/inspect/indexes.h"
#include "lib/text/file.h"

enum { FILE_MAX = 256 << 20, OFFSET_DIGITS = 20 };

bool cf_has_suffix(const char *file, const char *suffix)
{
	size_t n = strlen(file), m = strlen(suffix);

	return n > m && strcmp(file + n - m, suffix) == 0;
}

const char *cf_beside_suffix(size_t i)
{
	if (i < KW_INDEX_KINDS)
		return kw_index_suffix((enum kw_index)i);
	return i == KW_INDEX_KINDS ? ".snapshot" : NULL;
}

void cf_beside_fault(struct cf_inspector *inspector, const struct cf_beside *beside, size_t at, size_t size,
		     const char *text)
{
	struct cf_place place = {at, size, false, false};

	cf_inspect_fault(inspector, &place, &beside->bytes, beside->name, text, 0);
}

static void show(struct cf_inspector *inspector, const struct cf_beside *beside, const struct cf_segment *segment)
{
	for (enum kw_index index = 0; index < KW_INDEX_KINDS; index++)
		if (cf_has_suffix(beside->name, kw_index_suffix(index))) {
			cf_inspect_index(inspector, index, beside, segment);
			return;
		}
	if (cf_has_suffix(beside->name, ".snapshot"))
		cf_inspect_producers(inspector, beside);
	else if (strcmp(beside->name, "leader-epoch-checkpoint") == 0)
		cf_inspect_epochs(inspector, beside, segment);
	else
		cf_inspect_partition(inspector, beside);
}

/* A file of that name in the folder, if there is one. */
static int show_file(struct cf_inspector *inspector, const char *folder, const char *name,
		     const struct cf_segment *segment, struct kt_err *err)
{
	struct cf_beside beside = {.name = name, .first_offset = segment->first_offset};
	char path[PATH_MAX], *text;
	size_t n;

	cf_path(path, sizeof path, "%s/%s", folder, name);
	if (access(path, F_OK))
		return 0;
	if (kt_file_read(path, FILE_MAX, &text, &n, err))
		return err->code;
	beside.bytes = (struct kw_slice){(const uint8_t *)text, n};
	show(inspector, &beside, segment);
	free(text);
	return 0;
}

int cf_inspect_beside(struct cf_inspector *inspector, const char *file, const struct kw_slice *bytes,
		      int64_t first_offset, struct kt_err *err)
{
	char copy[PATH_MAX], name[OFFSET_DIGITS + 20];
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file, *folder;
	struct cf_segment segment;
	const char *suffix;

	/* Of a file with another name nobody knows what belongs to it. */
	if (first_offset < 0)
		return 0;
	snprintf(copy, sizeof copy, "%s", file);
	folder = dirname(copy);
	if (cf_segment_read(&segment, bytes, first_offset, err))
		return err->code;
	for (size_t i = 0; (suffix = cf_beside_suffix(i)) && !err->code; i++) {
		snprintf(name, sizeof name, "%.*s%s", OFFSET_DIGITS, base, suffix);
		show_file(inspector, folder, name, &segment, err);
	}
	if (!err->code)
		show_file(inspector, folder, "leader-epoch-checkpoint", &segment, err);
	cf_segment_fini(&segment);
	return err->code;
}

void cf_inspect_alone(struct cf_inspector *inspector, const char *file, const struct kw_slice *bytes,
		      int64_t first_offset)
{
	const char *slash = strrchr(file, '/');
	struct cf_beside beside = {.name = slash ? slash + 1 : file,
				   .bytes = *bytes,
				   .entries = true,
				   .first_offset = first_offset < 0 ? 0 : first_offset};

	show(inspector, &beside, NULL);
}
