#include "conformance/diff/known.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/data.h"
#include "conformance/match.h"

static int read_rows(struct cf_known *known, struct kt_err *err)
{
	struct kt_obj root, obj;
	struct kt_arr arr;

	kt_obj_root(&root, &known->doc, err);
	kt_obj_array(&root, "known", &arr);
	known->rows = calloc(arr.n ? arr.n : 1, sizeof *known->rows);
	if (!known->rows)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	while (kt_arr_object(&arr, &obj)) {
		struct cf_known_row *row = &known->rows[known->n++];

		kt_obj_need(&obj, "id", "reason", "when", NULL);
		kt_obj_str(&obj, "id", &row->id);
		kt_obj_str(&obj, "reason", &row->reason);
		row->when = kt_obj_any(&obj, "when");
		if (err->code == KT_OK && cf_pattern_check(row->when, true, err))
			kt_obj_place(&obj, "when");
		if (kt_obj_done(&obj))
			break;
	}
	return kt_obj_done(&root);
}

int cf_known_load(struct cf_known *known, const char *dir, struct kt_err *err)
{
	char path[PATH_MAX];

	memset(known, 0, sizeof *known);
	if (!cf_path(path, sizeof path, "%s/diff/produce.json", dir) || access(path, F_OK) != 0)
		return 0;
	return kt_json_load(&known->doc, path, err) ? err->code : read_rows(known, err);
}

void cf_known_free(struct cf_known *known)
{
	free(known->rows);
	kt_json_fini(&known->doc);
}

const struct cf_known_row *cf_known_find(struct cf_known *known, json_t *request, json_t *a, json_t *b)
{
	json_t *difference = json_pack("{s:O, s:O, s:O}", "request", request, "a", a, "b", b);
	const struct cf_known_row *found = NULL;

	for (size_t i = 0; i < known->n && !found; i++)
		if (cf_match(known->rows[i].when, difference, NULL)) {
			known->rows[i].met++;
			found = &known->rows[i];
		}
	json_decref(difference);
	return found;
}

void cf_known_print(const struct cf_known *known, FILE *out)
{
	for (size_t i = 0; i < known->n; i++)
		if (known->rows[i].met)
			fprintf(out, ", %d known (%s)", known->rows[i].met, known->rows[i].id);
}
