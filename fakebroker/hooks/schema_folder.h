/* Schemas by the numbers that a registry gave them: lists of numbers, and files of schemas. */
#ifndef KASSAY_FAKEBROKER_HOOKS_SCHEMA_FOLDER_H
#define KASSAY_FAKEBROKER_HOOKS_SCHEMA_FOLDER_H

#include "fakebroker/hooks/avro_value.h"

/* ---- numbers; zeroed at the start, v is the caller's to free ---- */

struct fb_schema_ids {
	uint32_t *v;
	size_t n;
};

/* Adds numbers of a comma-separated list, or of a file's lines. 0, or -1 with the reason in *why. */
int fb_schema_ids_list(struct fb_schema_ids *ids, const char *list, struct kassay_text *why);
int fb_schema_ids_file(struct fb_schema_ids *ids, const char *file, struct kassay_text *why);
/* Before fb_schema_ids_have(). */
void fb_schema_ids_sort(struct fb_schema_ids *ids);
bool fb_schema_ids_have(const struct fb_schema_ids *ids, uint32_t id);

/* ---- schemas ---- */

struct fb_numbered_schema {
	uint32_t id;
	struct fb_avro_schema *avro;    /* NULL: JSON */
};

struct fb_schema_folder {
	struct fb_numbered_schema *v;   /* by id */
	size_t n;
};

/* Reads the schemas of a folder, whose files are named ID.avsc (an Avro schema) or ID.json (the payload is JSON; what
 * the file says is not looked at), or those that the lines "ID = FILE" of a file name; FILE is relative to that file.
 * Other files of a folder are left alone. There must be a schema, and no number twice. folder is zeroed at the start.
 * 0, or -1 with the reason in *why; it is the caller's to fini either way. */
int fb_schema_folder_read(struct fb_schema_folder *folder, const char *path, struct kassay_text *why);
void fb_schema_folder_fini(struct fb_schema_folder *folder);
/* NULL: no schema has that number. */
const struct fb_numbered_schema *fb_schema_folder_find(const struct fb_schema_folder *folder, uint32_t id);

#endif
