/* Batches and frames in the kit's own documents: cases, incidents, results, folders of failures. */
#include <stdlib.h>
#include <string.h>

#include "conformance/inspect/inspect.h"
#include "conformance/vars.h"
#include "lib/text/base64.h"
#include "lib/wire/batch.h"
#include "lib/wire/message.h"

struct document {
	struct cf_inspector *inspector;
	struct kt_err *err;
	int shown;
	char path[400];
};

static void begin(struct document *document, const char *what)
{
	char text[460];

	snprintf(text, sizeof text, "%s%s%s", what, *what && *document->path ? ", " : "", document->path);
	cf_tree_open(&document->inspector->tree, &(struct cf_place){.none = true}, text, NULL);
	document->shown++;
}

static int found(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	return 1;
}

/* What an incident's log holds is judged as a log is. */
static bool is_log(const struct document *document)
{
	size_t n = strlen(document->path), tail = strlen("log.records");

	return n >= tail && strcmp(document->path + n - tail, "log.records") == 0;
}

static void show_batches(struct document *document, json_t *batches)
{
	enum kw_role role = document->inspector->role;
	struct kw_buf buf = {0};
	struct kw_slice bytes;

	if (cf_each_variable(batches, found, NULL)) {
		begin(document, "batches with variables, which only a run can build");
		cf_tree_close(&document->inspector->tree);
		return;
	}
	if (is_log(document))
		document->inspector->role = KW_STORED;
	if (kw_batches_from_json(batches, &buf, document->err) == 0) {
		bytes = (struct kw_slice){buf.p, buf.n};
		begin(document, "batches");
		cf_inspect_set(document->inspector, &bytes, 0, bytes.n, -1);
		cf_tree_close(&document->inspector->tree);
	}
	document->inspector->role = role;
	kw_buf_fini(&buf);
}

static void show_frame(struct document *document, const json_t *json, const char *what, int api, int version)
{
	const char *hex = json_string_value(json);
	size_t n = hex ? strlen(hex) : 0;
	uint8_t *p = malloc(n / 2 + 1);
	long size = p && hex ? kt_hex_decode(hex, n, p) : -1;
	struct kw_slice bytes = {p, size > 0 ? (size_t)size : 0};

	if (!p)
		kt_fail(document->err, KT_ENOMEM, "out of memory");
	/* Else it is a variable, no hex at all, or bytes that are meant to be no request. */
	if (size > 0) {
		begin(document, what);
		cf_inspect_frame(document->inspector, &bytes, api, version);
		cf_tree_close(&document->inspector->tree);
	}
	free(p);
}

/* The bytes of a step, as result.json has them. */
static void show_exchange(struct document *document, json_t *step)
{
	const char *api = json_string_value(json_object_get(step, "api"));
	int version = (int)json_integer_value(json_object_get(step, "version")), key = api ? kw_api_key(api) : -1;
	json_t *hex;
	size_t i;

	json_array_foreach(json_object_get(step, "requestHex"), i, hex)
		show_frame(document, hex, "request", -1, -1);
	json_array_foreach(json_object_get(step, "responseHex"), i, hex)
		if (key >= 0)
			show_frame(document, hex, "response", key, version);
}

static void walk(struct document *document, json_t *json)
{
	size_t length = strlen(document->path), i;
	json_t *value, *hex;
	const char *name;

	if (json_is_object(json)) {
		if (json_is_array(json_object_get(json, "requestHex"))) {
			show_exchange(document, json);
			return;
		}
		hex = json_object_get(json, "frame");
		if (json_is_object(hex))
			hex = json_object_get(hex, "hex");
		if (json_is_string(hex))
			show_frame(document, hex, "frame", -1, -1);
		if (json_is_array(json_object_get(json, "batches")))
			show_batches(document, json_object_get(json, "batches"));
	}
	json_object_foreach(json, name, value) {
		snprintf(document->path + length, sizeof document->path - length, "%s%.60s", length ? "." : "", name);
		if (strcmp(name, "batches") != 0 && !document->err->code)
			walk(document, value);
	}
	json_array_foreach(json, i, value) {
		snprintf(document->path + length, sizeof document->path - length, "[%zu]", i);
		if (!document->err->code)
			walk(document, value);
	}
	document->path[length] = '\0';
}

int cf_inspect_document(struct cf_inspector *inspector, json_t *json, struct kt_err *err)
{
	struct document document = {.inspector = inspector, .err = err};

	walk(&document, json);
	return err->code ? err->code : document.shown;
}
