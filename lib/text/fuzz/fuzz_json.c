/* The strict JSON reader: a text is refused with one of its lines, or every member can be named, and found again. */
#include "lib/text/fuzz/fuzz.h"
#include "lib/text/json.h"

FUZZ_TARGET

static int lines;

static void check_place(struct kt_err *err)
{
	FUZZ_CHECK(err->line >= 1 && err->line <= lines);
	FUZZ_CHECK(err->path[0] == '$' && err->text[0]);
	*err = (struct kt_err){0};
}

static void visit_array(struct kt_arr *arr);

static void visit(struct kt_obj *obj)
{
	struct kt_obj sub;
	struct kt_arr arr;
	const char *name, *text;
	int64_t number;

	while (kt_obj_each(obj, &name)) {
		json_t *value = kt_obj_any(obj, name);

		FUZZ_CHECK(value);
		if (kt_obj_int64(obj, name, -5, 5, &number))
			FUZZ_CHECK(number >= -5 && number <= 5);
		else
			check_place(obj->err);
		if (kt_obj_str(obj, name, &text))
			FUZZ_CHECK(strlen(text) == json_string_length(value));
		else
			check_place(obj->err);
		kt_obj_fail(obj, name, KT_ERANGE, "member %s", name);
		check_place(obj->err);
		if (json_is_object(value) && kt_obj_object(obj, name, &sub))
			visit(&sub);
		else if (json_is_array(value) && kt_obj_array(obj, name, &arr))
			visit_array(&arr);
	}
	FUZZ_CHECK(kt_obj_done(obj) == 0);
	sub = (struct kt_obj){.doc = obj->doc, .json = obj->json, .err = obj->err, .path = "$"};
	if (json_object_size(obj->json) > 0) {   /* nobody asked for its members */
		FUZZ_CHECK(kt_obj_done(&sub) == KT_EUNKNOWN);
		check_place(obj->err);
	}
}

static void visit_array(struct kt_arr *arr)
{
	for (size_t i = 0; i < arr->n; i++) {
		json_t *value = json_array_get(arr->json, i);
		struct kt_obj obj;
		struct kt_arr sub;
		int number;

		if (json_is_object(value) && kt_arr_object(arr, &obj))
			visit(&obj);
		else if (json_is_array(value) && kt_arr_array(arr, &sub))
			visit_array(&sub);
		else if (!kt_arr_int(arr, 0, 9, &number))
			check_place(arr->err);
		kt_arr_fail(arr, KT_ERANGE, "element");
		check_place(arr->err);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct kt_err err = {0};
	struct kt_json doc;
	struct kt_obj top;
	struct kt_arr arr = {0};

	lines = 1;
	for (size_t i = 0; i < n; i++)
		lines += p[i] == '\n';
	if (kt_json_parse(&doc, "fuzz.json", (const char *)p, n, &err)) {
		FUZZ_CHECK(err.line >= 0 && err.line <= lines && err.text[0]);
	} else if (json_is_object(doc.root)) {
		kt_obj_root(&top, &doc, &err);
		visit(&top);
	} else {
		arr = (struct kt_arr){.doc = &doc, .json = doc.root, .err = &err, .n = json_array_size(doc.root),
				      .path = "$"};
		visit_array(&arr);
	}
	kt_json_fini(&doc);
	return 0;
}
