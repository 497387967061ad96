#include "conformance/mutants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/near.h"

#define SANITY "sanity"

/* ---- reading ---- */

static int read_list(struct cf_mutant_book *book, struct kt_obj *obj, const char *name)
{
	struct cf_mutant_list *v = realloc(book->v, (book->n + 1) * sizeof *v);
	struct kt_arr cases;
	const char *id;

	if (!v)
		return kt_obj_fail(obj, NULL, KT_ENOMEM, "out of memory");
	book->v = v;
	if (cf_mutant_find(book, name))
		return kt_obj_fail(obj, name, KT_EUSAGE, "the mutant has a list already");
	kt_obj_array(obj, name, &cases);
	while (kt_arr_str(&cases, &id))
		continue;
	book->v[book->n++] = (struct cf_mutant_list){name, json_object_get(obj->json, name), book->nfiles - 1};
	return obj->err->code;
}

static int read_file(struct cf_mutant_book *book, const char *file, struct kt_err *err)
{
	struct kt_json *doc = &book->files[book->nfiles++];
	struct kt_obj obj;
	const char *name;

	if (kt_json_load(doc, file, err))
		return err->code;
	kt_obj_root(&obj, doc, err);
	while (kt_obj_each(&obj, &name))
		if (read_list(book, &obj, name))
			break;
	return err->code;
}

int cf_mutant_book_load(struct cf_mutant_book *book, const char *dir, struct kt_err *err)
{
	struct cf_files files;

	memset(book, 0, sizeof *book);
	if (cf_files_find(&files, dir, err))
		goto out;
	book->files = calloc(files.n + 1, sizeof *book->files);
	if (!book->files)
		kt_fail(err, KT_ENOMEM, "out of memory");
	for (size_t i = 0; book->files && i < files.n; i++)
		if (read_file(book, files.v[i], err))
			break;
out:
	cf_files_fini(&files);
	return err->code;
}

void cf_mutant_book_fini(struct cf_mutant_book *book)
{
	for (size_t i = 0; i < book->nfiles; i++)
		kt_json_fini(&book->files[i]);
	free(book->files);
	free(book->v);
	memset(book, 0, sizeof *book);
}

const struct cf_mutant_list *cf_mutant_find(const struct cf_mutant_book *book, const char *mutant)
{
	for (size_t i = 0; i < book->n; i++)
		if (strcmp(book->v[i].mutant, mutant) == 0)
			return &book->v[i];
	return NULL;
}

static bool means(const char *id, const struct cf_instance *instance)
{
	return strcmp(id, instance->id) == 0 || strcmp(id, instance->cas->id) == 0;
}

bool cf_mutant_lists(const struct cf_mutant_list *list, const struct cf_instance *instance)
{
	json_t *id;
	size_t i;

	json_array_foreach(list ? list->cases : NULL, i, id)
		if (means(json_string_value(id), instance))
			return true;
	return false;
}

bool cf_mutant_by_chance(const struct cf_mutant_list *list, const struct cf_instance *instance)
{
	json_t *id;
	size_t i;

	json_array_foreach(list ? list->cases : NULL, i, id)
		if (*json_string_value(id) == CF_MUTANT_CHANCE && means(json_string_value(id) + 1, instance))
			return true;
	return false;
}

/* ---- checking ---- */

static bool is_known(const struct cf_suite *suite, const char *id)
{
	for (size_t i = 0; i < suite->ninstances; i++)
		if (means(id, &suite->instances[i]))
			return true;
	return false;
}

static size_t check_list(const struct cf_mutant_book *book, const struct cf_mutant_list *list,
			 const struct cf_suite *suite, cf_finding_fn *fn, void *arg)
{
	size_t found = 0, i;
	char text[400];
	json_t *id;

	if (json_array_size(list->cases) == 0 && strcmp(list->mutant, CF_MUTANT_NONE) != 0) {
		snprintf(text, sizeof text, "%s: no case notices this mutant", list->mutant);
		fn(arg, book->files[list->file].name, text);
		found++;
	}
	json_array_foreach(list->cases, i, id) {
		const char *name = json_string_value(id) + (*json_string_value(id) == CF_MUTANT_CHANCE);
		struct kt_near near;

		if (is_known(suite, name))
			continue;
		kt_near_init(&near, name);
		for (size_t k = 0; k < suite->ncases; k++)
			kt_near_offer(&near, suite->cases[k]->id);
		snprintf(text, sizeof text, "%s: unknown case \"%s\"%s%s%s", list->mutant, name,
			 near.best ? "; did you mean \"" : "", near.best ? near.best : "", near.best ? "\"?" : "");
		fn(arg, book->files[list->file].name, text);
		found++;
	}
	return found;
}

bool cf_mutant_wanted(const struct cf_instance *instance)
{
	return strcmp(instance->cas->family, SANITY) != 0;
}

bool cf_mutant_kills(const struct cf_mutant_book *book, const struct cf_instance *instance)
{
	for (size_t i = 0; i < book->n; i++)
		if (strcmp(book->v[i].mutant, CF_MUTANT_NONE) != 0 && cf_mutant_lists(&book->v[i], instance))
			return true;
	return false;
}

size_t cf_mutant_book_lint(const struct cf_mutant_book *book, const struct cf_suite *suite, cf_finding_fn *fn,
			   void *arg)
{
	const struct cf_mutant_list *none = cf_mutant_find(book, CF_MUTANT_NONE);
	size_t found = 0;

	for (size_t i = 0; i < book->n; i++)
		found += check_list(book, &book->v[i], suite, fn, arg);
	for (size_t i = 0; i < suite->ninstances; i++) {
		const struct cf_instance *instance = &suite->instances[i];
		char text[200];

		if (!cf_mutant_wanted(instance) || cf_mutant_kills(book, instance) != cf_mutant_lists(none, instance))
			continue;
		if (cf_mutant_lists(none, instance))
			snprintf(text, sizeof text,
				 "a mutant turns %s red: take it out of mutants/none.json", instance->id);
		else
			snprintf(text, sizeof text, "no mutant turns %s red", instance->id);
		fn(arg, instance->cas->file, text);
		found++;
	}
	return found;
}

/* ---- writing ---- */

json_t *cf_mutant_cases(const struct cf_suite *suite, const bool *red)
{
	json_t *list = json_array();

	for (size_t i = 0, end; i < suite->ninstances; i = end) {
		const struct cf_case *cas = suite->instances[i].cas;
		bool all = true;

		for (end = i; end < suite->ninstances && suite->instances[end].cas == cas; end++)
			all = all && red[end];
		for (size_t k = i; !all && k < end; k++)
			if (red[k])
				json_array_append_new(list, json_string(suite->instances[k].id));
		if (all)
			json_array_append_new(list, json_string(cas->id));
	}
	return list;
}

void cf_mutant_keep_chances(json_t *cases, const struct cf_mutant_list *list)
{
	json_t *id;
	size_t i;

	json_array_foreach(list ? list->cases : NULL, i, id)
		if (*json_string_value(id) == CF_MUTANT_CHANCE)
			json_array_append(cases, id);
}
