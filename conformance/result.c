#include "conformance/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1 };

const char *cf_text(json_t *object, const char *name)
{
	const char *s = json_string_value(json_object_get(object, name));

	return s ? s : "";
}

json_t *cf_clean_json(const char *s)
{
	char *text = strdup(s);
	json_t *json;

	if (!text)
		return NULL;
	kt_clean(text);
	json = json_string(text);
	free(text);
	return json;
}

enum cf_verdict cf_row_verdict(json_t *row)
{
	return cf_verdict_find(cf_text(row, "verdict"));
}

bool cf_row_red(json_t *row)
{
	enum cf_verdict verdict = cf_row_verdict(row);

	return verdict == CF_FAIL || verdict == CF_XPASS || verdict == CF_INCONCLUSIVE || verdict == CF_ERROR;
}

bool cf_result_red(json_t *result)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(result, "cases"), i, row)
		if (cf_row_red(row))
			return true;
	return false;
}

bool cf_result_again(json_t *result)
{
	return cf_result_red(result) || json_array_size(json_object_get(result, "notRun")) > 0;
}

/* ---- rows ---- */

void cf_row_describe(json_t *row, const struct cf_instance *instance)
{
	const struct cf_case *cas = instance->cas;
	const char *cases = strstr(cas->file, "/cases/");
	json_t *requirements = json_array();

	for (size_t i = 0; i < cas->nrequirements; i++)
		json_array_append_new(requirements, json_string(cas->requirements[i]->id));
	json_object_set_new(row, "case", json_string(cas->id));
	json_object_set_new(row, "family", json_string(cas->family));
	json_object_set_new(row, "title", json_string(cas->title));
	json_object_set_new(row, "file", cf_clean_json(cases ? cases + 1 : cas->file));
	json_object_set_new(row, "level", json_string(cf_level_words[cf_case_level(cas)]));
	json_object_set_new(row, "requirements", requirements);
	if (cas->note)
		json_object_set_new(row, "note", json_string(cas->note));
}

static void trim_list(json_t *step, const char *name, size_t max)
{
	json_t *list = json_object_get(step, name), *hex;
	size_t i;

	json_array_foreach(list, i, hex) {
		size_t n = json_string_length(hex);
		char more[64];

		if (n <= max * 2)
			continue;
		snprintf(more, sizeof more, "... %zu bytes in all", n / 2);
		json_array_set_new(list, i, json_sprintf("%.*s%s", (int)max * 2, json_string_value(hex), more));
	}
}

void cf_row_trim(json_t *row, size_t max)
{
	static const char *const lists[] = {"steps", "cleanup"};
	json_t *step;
	size_t i;

	for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
		json_array_foreach(json_object_get(row, lists[k]), i, step) {
			trim_list(step, "requestHex", max);
			trim_list(step, "responseHex", max);
		}
}

/* ---- the whole ---- */

void cf_result_count(json_t *result, int counts[CF_NVERDICTS])
{
	json_t *row;
	size_t i;

	memset(counts, 0, CF_NVERDICTS * sizeof *counts);
	json_array_foreach(json_object_get(result, "cases"), i, row)
		if (cf_row_verdict(row) < CF_NVERDICTS)
			counts[cf_row_verdict(row)]++;
}

static json_t *families_json(const struct cf_register *reg)
{
	json_t *out = json_array();

	for (size_t i = 0; i < reg->nfamilies; i++)
		json_array_append_new(out, json_pack("{s:s, s:s, s:s}", "family", reg->families[i].name, "title",
						     reg->families[i].title, "about", reg->families[i].about));
	return out;
}

static json_t *requirements_json(const struct cf_register *reg)
{
	json_t *out = json_object();

	for (size_t i = 0; i < reg->n; i++)
		json_object_set_new(out, reg->v[i].id,
				    json_pack("{s:s, s:s, s:s, s:s}", "level", cf_level_words[reg->v[i].level],
					      "origin", cf_origin_words[reg->v[i].origin], "source", reg->v[i].source,
					      "text", reg->v[i].text));
	return out;
}

void cf_result_finish(json_t *result, const struct cf_register *reg)
{
	int counts[CF_NVERDICTS], code;
	json_t *object = json_object();

	cf_result_count(result, counts);
	code = cf_exit_code(counts);
	if (code == KT_EXIT_OK && json_is_true(json_object_get(result, "interrupted")))
		code = KT_EXIT_INCOMPLETE;
	for (int v = 0; v < CF_NVERDICTS; v++)
		json_object_set_new(object, cf_verdict_word((enum cf_verdict)v), json_integer(counts[v]));
	json_object_set_new(result, "counts", object);
	json_object_set_new(result, "exit", json_integer(code));
	json_object_set_new(result, "families", families_json(reg));
	json_object_set_new(result, "requirements", requirements_json(reg));
	json_object_set_new(result, "kassay", json_string(KASSAY_VERSION));
	json_object_set_new(result, "format", json_integer(FORMAT));
}

/* ---- files ---- */

static int check_row(struct kt_obj *row)
{
	const char *text;

	kt_obj_need(row, "id", "family", "title", "verdict", "reason", "steps", NULL);
	if (kt_obj_str(row, "verdict", &text) && cf_verdict_find(text) == CF_NVERDICTS)
		return kt_obj_fail(row, "verdict", KT_EUNKNOWN, "unknown verdict \"%s\"", text);
	return row->err->code;
}

static int check(struct kt_json *doc, struct kt_err *err)
{
	struct kt_obj obj, row;
	struct kt_arr rows;
	int format = FORMAT;

	kt_obj_root(&obj, doc, err);
	kt_obj_need(&obj, "format", "target", "cases", "families", "requirements", NULL);
	kt_obj_int(&obj, "format", FORMAT, FORMAT, &format);
	kt_obj_array(&obj, "cases", &rows);
	while (kt_arr_object(&rows, &row))
		if (check_row(&row))
			break;
	return err->code;
}

/* Takes doc. */
static json_t *checked(struct kt_json *doc, struct kt_err *err)
{
	json_t *result = NULL;

	if (err->code == KT_OK && check(doc, err) == 0)
		result = json_incref(doc->root);
	kt_json_fini(doc);
	return result;
}

json_t *cf_result_load(const char *file, struct kt_err *err)
{
	struct kt_json doc;

	kt_json_load(&doc, file, err);
	return checked(&doc, err);
}

json_t *cf_result_parse(const char *text, size_t n, struct kt_err *err)
{
	struct kt_json doc;

	kt_json_parse(&doc, "result.json", text, n, err);
	return checked(&doc, err);
}
