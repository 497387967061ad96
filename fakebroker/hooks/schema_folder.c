#include "fakebroker/hooks/schema_folder.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakebroker/hooks/options.h"
#include "lib/text/file.h"
#include "lib/text/number.h"

enum { MAX_LIST = 1 << 20 };   /* bytes of a file that lists numbers or schemas */

__attribute__((format(printf, 2, 3)))
static int tell(struct kassay_text *why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why->text, why->size, fmt, ap);
	va_end(ap);
	return -1;
}

static int tell_err(struct kassay_text *why, const struct kt_err *err)
{
	char line[1024];

	return tell(why, "%s", kt_err_line(err, line, sizeof line));
}

/* v, of n elements, with room for one more: it grows by doubling. NULL, and v stays, without memory. */
static void *grown(void *v, size_t n, size_t size)
{
	return n & (n - 1) ? v : realloc(v, (n ? 2 * n : 1) * size);
}

static bool read_id(const char *text, uint32_t *id)
{
	int64_t v;

	if (kt_parse_int(text, 0, UINT32_MAX, &v, NULL) < 0)
		return false;
	*id = (uint32_t)v;
	return true;
}

/* The next line of a file, without comment and the blanks around it; empty ones are skipped. NULL at the end. */
static char *next_line(char **text)
{
	char *line, *end;

	while ((line = strsep(text, "\n"))) {
		line[strcspn(line, "#")] = '\0';
		line += strspn(line, " \t\r");
		end = line + strlen(line);
		while (end > line && strchr(" \t\r", end[-1]))
			*--end = '\0';
		if (*line)
			return line;
	}
	return NULL;
}

/* ---- numbers ---- */

static int add_id(struct fb_schema_ids *ids, const char *text, struct kassay_text *why)
{
	uint32_t id, *v;

	if (!read_id(text, &id))
		return tell(why, "'%s' is no number of a schema", text);
	v = grown(ids->v, ids->n, sizeof *v);
	if (!v)
		return tell(why, "out of memory");
	ids->v = v;
	v[ids->n++] = id;
	return 0;
}

int fb_schema_ids_list(struct fb_schema_ids *ids, const char *list, struct kassay_text *why)
{
	char entry[32];
	int rc;

	while ((rc = fb_list_next(&list, entry, sizeof entry)) > 0)
		if (add_id(ids, entry, why) < 0)
			return -1;
	return rc == 0 ? 0 : tell(why, "a number is too long");
}

int fb_schema_ids_file(struct fb_schema_ids *ids, const char *file, struct kassay_text *why)
{
	char *text, *at, *line;
	struct kt_err err = {0};
	int rc = 0;
	size_t n;

	if (kt_file_read(file, MAX_LIST, &text, &n, &err) < 0)
		return tell_err(why, &err);
	for (at = text; rc == 0 && (line = next_line(&at));)
		rc = add_id(ids, line, why);
	free(text);
	return rc;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

void fb_schema_ids_sort(struct fb_schema_ids *ids)
{
	if (ids->n)
		qsort(ids->v, ids->n, sizeof *ids->v, by_number);
}

bool fb_schema_ids_have(const struct fb_schema_ids *ids, uint32_t id)
{
	return ids->n && bsearch(&id, ids->v, ids->n, sizeof *ids->v, by_number);
}

/* ---- schemas ---- */

static int add_schema(struct fb_schema_folder *folder, uint32_t id, const char *file, struct kassay_text *why)
{
	struct fb_numbered_schema schema = {.id = id}, *v;
	const char *dot = strrchr(file, '.');
	bool avro = dot && strcmp(dot, ".avsc") == 0;

	if (!avro && (!dot || strcmp(dot, ".json") != 0))
		return tell(why, "schema %u: %s is neither .avsc (Avro) nor .json (JSON)", (unsigned)id, file);
	if (avro && fb_avro_read(file, &schema.avro, why) < 0)
		return -1;
	v = grown(folder->v, folder->n, sizeof *v);
	if (!v) {
		fb_avro_free(schema.avro);
		return tell(why, "out of memory");
	}
	folder->v = v;
	v[folder->n++] = schema;
	return 0;
}

/* A file of a folder; one that is not named ID.avsc or ID.json is none of ours. */
static int add_file(struct fb_schema_folder *folder, const char *dir, const char *name, struct kassay_text *why)
{
	const char *dot = strrchr(name, '.');
	char path[PATH_MAX], digits[16];
	uint32_t id;

	if (!dot || (strcmp(dot, ".avsc") != 0 && strcmp(dot, ".json") != 0) || dot - name >= (ptrdiff_t)sizeof digits)
		return 0;
	snprintf(digits, sizeof digits, "%.*s", (int)(dot - name), name);
	if (!read_id(digits, &id))
		return 0;
	if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
		return tell(why, "%s: the path is too long", dir);
	return add_schema(folder, id, path, why);
}

static int read_dir(struct fb_schema_folder *folder, const char *path, DIR *dir, struct kassay_text *why)
{
	struct dirent *entry;
	int rc = 0;

	while (rc == 0 && (entry = readdir(dir)))
		rc = add_file(folder, path, entry->d_name, why);
	return rc;
}

/* A line "ID = FILE" of the file `list`. */
static int add_line(struct fb_schema_folder *folder, const char *list, char *line, struct kassay_text *why)
{
	const char *slash = strrchr(list, '/');
	int dir = slash ? (int)(slash - list) + 1 : 0;
	char path[PATH_MAX], *file = line;
	uint32_t id;

	strsep(&file, "=");
	line[strcspn(line, " \t")] = '\0';
	if (!file || !read_id(line, &id))
		return tell(why, "%s: a line 'ID = FILE' is expected, not '%s'", list, line);
	file += strspn(file, " \t");
	if (snprintf(path, sizeof path, "%.*s%s", *file == '/' ? 0 : dir, list, file) >= (int)sizeof path)
		return tell(why, "%s: a path is too long", list);
	return add_schema(folder, id, path, why);
}

static int read_list(struct fb_schema_folder *folder, const char *list, struct kassay_text *why)
{
	char *text, *at, *line;
	struct kt_err err = {0};
	int rc = 0;
	size_t n;

	if (kt_file_read(list, MAX_LIST, &text, &n, &err) < 0)
		return tell_err(why, &err);
	for (at = text; rc == 0 && (line = next_line(&at));)
		rc = add_line(folder, list, line, why);
	free(text);
	return rc;
}

static int by_id(const void *a, const void *b)
{
	const struct fb_numbered_schema *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

int fb_schema_folder_read(struct fb_schema_folder *folder, const char *path, struct kassay_text *why)
{
	DIR *dir = opendir(path);
	int rc = dir ? read_dir(folder, path, dir, why) : read_list(folder, path, why);

	if (dir)
		closedir(dir);
	if (rc < 0)
		return -1;
	if (folder->n == 0)
		return tell(why, "%s has no schema", path);
	qsort(folder->v, folder->n, sizeof *folder->v, by_id);
	for (size_t i = 1; i < folder->n; i++)
		if (folder->v[i].id == folder->v[i - 1].id)
			return tell(why, "%s has schema %u twice", path, (unsigned)folder->v[i].id);
	return 0;
}

void fb_schema_folder_fini(struct fb_schema_folder *folder)
{
	while (folder->n > 0)
		fb_avro_free(folder->v[--folder->n].avro);
	free(folder->v);
	folder->v = NULL;
}

const struct fb_numbered_schema *fb_schema_folder_find(const struct fb_schema_folder *folder, uint32_t id)
{
	struct fb_numbered_schema key = {.id = id};

	return bsearch(&key, folder->v, folder->n, sizeof *folder->v, by_id);
}
