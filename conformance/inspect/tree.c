#include "conformance/inspect/tree.h"

#include <ctype.h>
#include <stdlib.h>
#include <time.h>

#include "lib/text/base64.h"
#include "lib/text/err.h"
#include "lib/wire/java_utf8.h"
#include "lib/wire/message.h"

enum { ROW = 16, ROWS_MAX = 4, TEXT_MAX = 72, NAME = 20 };

void cf_time_text(int64_t time, int per_second, char *out, size_t size)
{
	time_t seconds = (time_t)(time / per_second);
	struct tm tm;
	char date[40];

	if (time < 0 || !gmtime_r(&seconds, &tm) || !strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm))
		snprintf(out, size, "no date");
	else
		snprintf(out, size, "%s.%0*dZ", date, per_second == 1000 ? 3 : 6, (int)(time % per_second));
}

/* ---- JSON ---- */

/* Text that may be no UTF-8, as the name of a file: what is none of it is replaced. */
static json_t *text_json(const char *s)
{
	struct kw_buf buf = {0};
	json_t *json = json_string(s);

	if (json)
		return json;
	kw_java_utf8_put(&buf, (const uint8_t *)s, strlen(s));
	json = json_stringn((const char *)buf.p, buf.failed ? 0 : buf.n);
	kw_buf_fini(&buf);
	return json;
}

/* Begins an element of the open node's list. */
static void comma(struct cf_tree *tree)
{
	if (tree->depth > 0 && tree->filled[tree->depth - 1])
		fputc(',', tree->out);
	if (tree->depth > 0)
		tree->filled[tree->depth - 1] = true;
	fprintf(tree->out, "\n%*s", tree->depth, "");
}

static json_t *place_json(const struct cf_place *place, const char *name)
{
	json_t *node = json_object();

	if (name)
		json_object_set_new(node, "name", text_json(name));
	if (!place->none) {
		json_object_set_new(node, "at", json_integer((json_int_t)place->at));
		json_object_set_new(node, "size", json_integer((json_int_t)place->size));
	}
	if (place->inflated)
		json_object_set_new(node, "inflated", json_true());
	return node;
}

static void put_node(struct cf_tree *tree, json_t *node)
{
	char *text = json_dumps(node, JSON_COMPACT);

	comma(tree);
	if (text)
		kt_put_escaped(tree->out, text);
	free(text);
	json_decref(node);
}

/* ---- lines ---- */

static void print_line(struct cf_tree *tree, const struct cf_place *place, const char *name, const char *text,
		       bool wrong)
{
	char at[24] = "", size[24] = "";

	if (!place->none) {
		snprintf(at, sizeof at, "%s%zu", place->inflated ? "~" : "", place->at);
		snprintf(size, sizeof size, "%zu", place->size);
	}
	fprintf(tree->out, "%9s %7s  %*s", at, size, 2 * tree->depth, "");
	kt_put_clean(tree->out, name);
	if (text) {
		fprintf(tree->out, "%*s  ", (int)(strlen(name) < NAME ? NAME - strlen(name) : 0), "");
		kt_put_escaped(tree->out, text);
	}
	fprintf(tree->out, "%s\n", wrong ? "   <-- wrong" : "");
}

void cf_tree_open(struct cf_tree *tree, const struct cf_place *place, const char *name, const char *text)
{
	if (tree->depth >= CF_TREE_DEPTH) {
		tree->depth++;
		return;
	}
	if (tree->json) {
		json_t *node = place_json(place, name);
		char *head;

		if (text)
			json_object_set_new(node, "text", text_json(text));
		head = json_dumps(node, JSON_COMPACT);
		comma(tree);
		/* The closing brace comes when the node is closed. */
		if (head) {
			head[strlen(head) - 1] = '\0';
			kt_put_escaped(tree->out, head);
			fputs(",\"fields\":[", tree->out);
		}
		free(head);
		json_decref(node);
	} else {
		print_line(tree, place, name, text, false);
	}
	tree->filled[tree->depth] = false;
	tree->depth++;
}

void cf_tree_close(struct cf_tree *tree)
{
	tree->depth--;
	if (tree->json && tree->depth < CF_TREE_DEPTH)
		fputs("]}", tree->out);
}

void cf_tree_leaf(struct cf_tree *tree, const struct cf_place *place, const char *name, json_t *value, const char *text,
		  bool wrong)
{
	char *own = NULL;

	if (tree->depth > CF_TREE_DEPTH) {
		json_decref(value);
		return;
	}
	if (tree->json) {
		json_t *node = place_json(place, name);

		json_object_set_new(node, "value", value ? value : json_null());
		if (text)
			json_object_set_new(node, "text", text_json(text));
		put_node(tree, node);
		return;
	}
	if (!text)
		text = own = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
	print_line(tree, place, name, text, wrong);
	free(own);
	json_decref(value);
}

/* ---- bytes ---- */

static bool is_text(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] < 0x20 && p[i] != '\n' && p[i] != '\t' && p[i] != '\r')
			return false;
	return true;
}

/* A JSON string, or {"hex"} of what is none. */
static json_t *bytes_json(const uint8_t *p, size_t n)
{
	json_t *value = is_text(p, n) ? json_stringn((const char *)p, n) : NULL;

	return value ? value : json_pack("{s:o}", "hex", kt_hex_json(p, n));
}

/* Of a text that is cut, no part of a character stays. */
static size_t cut_length(const uint8_t *p, size_t n)
{
	size_t cut = n > TEXT_MAX ? TEXT_MAX : n;

	for (int i = 0; cut < n && i < 3 && (p[cut] & 0xc0) == 0x80; i++)
		cut--;
	return cut;
}

void cf_tree_bytes(struct cf_tree *tree, const struct cf_place *place, const char *name, struct kw_bytes bytes,
		   bool wrong)
{
	size_t n = bytes.n < 0 ? 0 : (size_t)bytes.n, cut = tree->full ? n : cut_length(bytes.p, n);
	json_t *value = bytes.n < 0 ? json_null() : bytes_json(bytes.p, cut);
	char *text = NULL, more[48] = "", *line = NULL;

	if (cut < n)
		snprintf(more, sizeof more, "... (%zu bytes)", n);
	if (cut < n || !tree->json)
		text = json_is_object(value) ? strdup(json_string_value(json_object_get(value, "hex")))
					     : json_dumps(value, JSON_ENCODE_ANY);
	if (text && asprintf(&line, "%s%s", text, more) < 0)
		line = NULL;
	free(text);
	cf_tree_leaf(tree, place, name, value, line, wrong);
	free(line);
}

/* ---- faults ---- */

/* One row of bytes, and below those that are meant a row of marks. */
static void print_row(struct cf_tree *tree, const struct cf_place *place, const struct kw_slice *bytes, size_t row)
{
	size_t end = row + ROW < bytes->n ? row + ROW : bytes->n, size = place->size ? place->size : 1;

	fprintf(tree->out, "%*s%s%08zx ", 2 * tree->depth, "", place->inflated ? "~" : " ", row);
	for (size_t i = row; i < end; i++)
		fprintf(tree->out, " %02x", bytes->p[i]);
	fprintf(tree->out, "%*s", (int)(3 * (row + ROW - end) + 2), "");
	for (size_t i = row; i < end; i++)
		fputc(isprint(bytes->p[i]) ? bytes->p[i] : '.', tree->out);
	fprintf(tree->out, "\n%*s          ", 2 * tree->depth, "");
	for (size_t i = row; i < row + ROW && i < place->at + size; i++)
		fputs(i < place->at ? "   " : i == place->at || i == row ? " ^^" : "^^^", tree->out);
	fputc('\n', tree->out);
}

static void print_bytes(struct cf_tree *tree, const struct cf_place *place, const struct kw_slice *bytes)
{
	size_t first = place->at / ROW * ROW, end = place->at + (place->size ? place->size : 1);

	if (first >= bytes->n && first >= ROW)
		first -= ROW;
	for (int rows = 0; first < end && first < bytes->n; first += ROW) {
		if (rows++ == ROWS_MAX) {
			fprintf(tree->out, "%*s ...\n", 2 * tree->depth, "");
			return;
		}
		print_row(tree, place, bytes, first);
	}
}

void cf_tree_fault(struct cf_tree *tree, const struct cf_place *place, const struct kw_slice *bytes,
		   const char *sentence, int code)
{
	if (tree->json) {
		json_t *node = place_json(place, NULL);

		json_object_set_new(node, "fault", text_json(sentence));
		if (code)
			json_object_update_new(node, json_pack("{s:i, s:s}", "errorCode", code, "error",
							       kw_error_name(code)));
		put_node(tree, node);
		return;
	}
	fprintf(tree->out, "%*swrong: ", 2 * tree->depth, "");
	kt_put_clean(tree->out, sentence);
	fputc('\n', tree->out);
	if (bytes && !place->none)
		print_bytes(tree, place, bytes);
}
