#include "conformance/requirement.h"

#include <stdlib.h>
#include <string.h>

#include "conformance/data.h"

const char *const cf_level_words[] = {"must", "should", "may", "observe", NULL};
const char *const cf_origin_words[] = {"proposal", "kafka", "kit", NULL};

static struct cf_requirement *add(struct cf_register *reg)
{
	if (reg->n == reg->cap) {
		size_t cap = reg->cap ? reg->cap * 2 : 128;
		struct cf_requirement *v = realloc(reg->v, cap * sizeof *v);

		if (!v)
			return NULL;
		reg->v = v;
		reg->cap = cap;
	}
	memset(&reg->v[reg->n], 0, sizeof *reg->v);
	return &reg->v[reg->n++];
}

static bool in_family(const char *id, const char *family)
{
	size_t n = strlen(family);

	return strncmp(id, family, n) == 0 && id[n] == '.';
}

static int read_row(struct cf_register *reg, struct kt_obj *obj, size_t family)
{
	struct cf_requirement row = {.family = family}, *place;

	kt_obj_need(obj, "id", "level", "origin", "source", "text", NULL);
	kt_obj_str(obj, "id", &row.id);
	kt_obj_enum(obj, "level", cf_level_words, &row.level);
	kt_obj_enum(obj, "origin", cf_origin_words, &row.origin);
	kt_obj_str(obj, "source", &row.source);
	kt_obj_str(obj, "text", &row.text);
	if (kt_obj_done(obj))
		return obj->err->code;
	if (!in_family(row.id, reg->families[family].name))
		return kt_obj_fail(obj, "id", KT_EUSAGE, "must begin with \"%s.\"", reg->families[family].name);
	if (cf_requirement_find(reg, row.id))
		return kt_obj_fail(obj, "id", KT_EUSAGE, "there are two requirements \"%s\"", row.id);
	place = add(reg);
	if (!place)
		return kt_obj_fail(obj, NULL, KT_ENOMEM, "out of memory");
	*place = row;
	return 0;
}

static int read_family(struct cf_register *reg, const char *file, struct kt_err *err)
{
	struct cf_family *family = &reg->families[reg->nfamilies++];
	struct kt_obj obj, row;
	struct kt_arr rows;

	if (kt_json_load(&family->doc, file, err))
		return err->code;
	kt_obj_root(&obj, &family->doc, err);
	kt_obj_need(&obj, "family", "title", "about", "requirements", NULL);
	kt_obj_str(&obj, "family", &family->name);
	kt_obj_str(&obj, "title", &family->title);
	kt_obj_str(&obj, "about", &family->about);
	kt_obj_array(&obj, "requirements", &rows);
	if (kt_obj_done(&obj))
		return err->code;
	while (kt_arr_object(&rows, &row))
		if (read_row(reg, &row, (size_t)(family - reg->families)))
			break;
	return err->code;
}

int cf_register_load(struct cf_register *reg, const char *dir, struct kt_err *err)
{
	struct cf_files files;

	memset(reg, 0, sizeof *reg);
	if (cf_files_find(&files, dir, err))
		goto out;
	reg->families = calloc(files.n + 1, sizeof *reg->families);
	if (!reg->families) {
		kt_fail(err, KT_ENOMEM, "out of memory");
		goto out;
	}
	for (size_t i = 0; i < files.n; i++)
		if (read_family(reg, files.v[i], err))
			break;
out:
	cf_files_fini(&files);
	return err->code;
}

void cf_register_fini(struct cf_register *reg)
{
	for (size_t i = 0; i < reg->nfamilies; i++)
		kt_json_fini(&reg->families[i].doc);
	free(reg->families);
	free(reg->v);
	memset(reg, 0, sizeof *reg);
}

const struct cf_requirement *cf_requirement_find(const struct cf_register *reg, const char *id)
{
	for (size_t i = 0; i < reg->n; i++)
		if (strcmp(reg->v[i].id, id) == 0)
			return &reg->v[i];
	return NULL;
}

const struct cf_family *cf_family_find(const struct cf_register *reg, const char *name)
{
	for (size_t i = 0; i < reg->nfamilies; i++)
		if (strcmp(reg->families[i].name, name) == 0)
			return &reg->families[i];
	return NULL;
}
