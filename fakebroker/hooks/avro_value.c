#include "fakebroker/hooks/avro_value.h"

#include <avro.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakebroker/hooks/utf8.h"
#include "lib/text/file.h"
#include "lib/wire/varint.h"

struct fb_avro_schema {
	avro_schema_t root;
	char name[256];
};

/* ---- schemas ---- */

static void name_schema(struct fb_avro_schema *schema)
{
	const char *space = NULL, *name = avro_schema_type_name(schema->root);

	if (is_avro_record(schema->root) || is_avro_enum(schema->root) || is_avro_fixed(schema->root)) {
		name = avro_schema_name(schema->root);
		space = avro_schema_namespace(schema->root);
	}
	snprintf(schema->name, sizeof schema->name, "%s%s%s", space ? space : "", space ? "." : "", name);
}

int fb_avro_parse(const char *json, size_t n, struct fb_avro_schema **out, struct kassay_text *why)
{
	struct fb_avro_schema *schema = calloc(1, sizeof *schema);

	*out = NULL;
	if (!schema) {
		snprintf(why->text, why->size, "out of memory");
		return -1;
	}
	if (avro_schema_from_json_length(json, n, &schema->root) != 0) {
		snprintf(why->text, why->size, "no Avro schema: %s", avro_strerror());
		free(schema);
		return -1;
	}
	name_schema(schema);
	*out = schema;
	return 0;
}

int fb_avro_read(const char *file, struct fb_avro_schema **out, struct kassay_text *why)
{
	char line[512], *text;
	struct kt_err err = {0};
	struct kassay_text reason = {line, sizeof line};
	size_t n;
	int rc;

	*out = NULL;
	if (kt_file_read(file, FB_AVRO_SCHEMA_MAX, &text, &n, &err) < 0) {
		snprintf(why->text, why->size, "%s", kt_err_line(&err, line, sizeof line));
		return -1;
	}
	rc = fb_avro_parse(text, n, out, &reason);
	if (rc < 0)
		snprintf(why->text, why->size, "%s: %s", file, line);
	free(text);
	return rc;
}

void fb_avro_free(struct fb_avro_schema *schema)
{
	if (!schema)
		return;
	avro_schema_decref(schema->root);
	free(schema);
}

const char *fb_avro_name(const struct fb_avro_schema *schema)
{
	return schema->name;
}

/* ---- where in a value ---- */

/* One step from the whole value down to a part of it. */
struct place {
	const struct place *up;   /* NULL: the whole value */
	const char *field;        /* of a record; NULL: an item */
	int64_t item;             /* of an array or a map; -1: a union's branch, which has no name of its own */
	int depth;
};

struct walk {
	const uint8_t *p, *end;
	const uint8_t *start;
	int64_t items;            /* how many more arrays and maps may have */
	struct kassay_text *why;
};

typedef int check_fn(struct walk *walk, avro_schema_t schema, const struct place *place);

static check_fn check_value;

static size_t put_path(const struct place *place, char *text, size_t size)
{
	size_t n;
	int more = 0;

	if (!place->up)
		return 0;
	n = put_path(place->up, text, size);
	if (place->field)
		more = snprintf(text + n, size - n, "%s%s", n ? "." : "", place->field);
	else if (place->item >= 0)
		more = snprintf(text + n, size - n, "[%" PRId64 "]", place->item);
	return (size_t)more < size - n ? n + (size_t)more : size - 1;
}

/* Returns -1. */
__attribute__((format(printf, 3, 4)))
static int fault(struct walk *walk, const struct place *place, const char *fmt, ...)
{
	char path[256] = "", what[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	put_path(place, path, sizeof path);
	snprintf(walk->why->text, walk->why->size, "%s%s%s (at byte %td)", path, *path ? ": " : "", what,
		 walk->p - walk->start);
	return -1;
}

/* ---- numbers and bytes ---- */

static int read_long(struct walk *walk, const struct place *place, int64_t *v)
{
	int used = kw_get_varlong(walk->p, walk->end, v);

	if (used == 0)
		return fault(walk, place, "the value ends inside a number");
	if (used < 0)
		return fault(walk, place, "a number has more than %d bytes", KW_VARLONG_MAX);
	walk->p += used;
	return 0;
}

/* A number of 0..n-1. */
static int read_choice(struct walk *walk, const struct place *place, const char *what, int64_t n, int64_t *v)
{
	const uint8_t *at = walk->p;

	if (read_long(walk, place, v) < 0)
		return -1;
	if (*v >= 0 && *v < n)
		return 0;
	walk->p = at;
	return fault(walk, place, "there is no %s %" PRId64, what, *v);
}

static int skip(struct walk *walk, const struct place *place, int64_t n)
{
	if (n > walk->end - walk->p)
		return fault(walk, place, "%" PRId64 " bytes are needed, %td are left", n, walk->end - walk->p);
	walk->p += n;
	return 0;
}

static int skip_bytes(struct walk *walk, const struct place *place, int64_t *n)
{
	const uint8_t *at = walk->p;
	ptrdiff_t left;

	if (read_long(walk, place, n) < 0)
		return -1;
	left = walk->end - walk->p;
	if (*n >= 0 && *n <= left)
		return skip(walk, place, *n);
	walk->p = at;
	return fault(walk, place, "%" PRId64 " bytes are announced, %td are left", *n, left);
}

static int check_null(struct walk *walk, avro_schema_t schema, const struct place *place)
{
	(void)walk, (void)schema, (void)place;
	return 0;
}

static int check_boolean(struct walk *walk, avro_schema_t schema, const struct place *place)
{
	(void)schema;
	if (walk->p < walk->end && *walk->p > 1)
		return fault(walk, place, "a boolean is 0x%02x", *walk->p);
	return skip(walk, place, 1);
}

static int check_int(struct walk *walk, avro_schema_t schema, const struct place *place)
{
	const uint8_t *at = walk->p;
	int64_t v;

	(void)schema;
	if (read_long(walk, place, &v) < 0)
		return -1;
	if (v >= INT32_MIN && v <= INT32_MAX)
		return 0;
	walk->p = at;
	return fault(walk, place, "%" PRId64 " is no int", v);
}

static int check_long(struct walk *walk, avro_schema_t schema, const struct place *place)
{
	int64_t v;

	(void)schema;
	return read_long(walk, place, &v);
}

static int check_float(struct walk *walk, avro_schema_t schema, const struct place *place)
{
	(void)schema;
	return skip(walk, place, 4);
}

static int check_double(struct walk *walk, avro_schema_t schema, const struct place *place)
{
	(void)schema;
	return skip(walk, place, 8);
}

static int check_fixed(struct walk *walk, avro_schema_t schema, const struct place *place)
{
	return skip(walk, place, avro_schema_fixed_size(schema));
}

static int check_bytes(struct walk *walk, avro_schema_t schema, const struct place *place)
{
	int64_t n;

	(void)schema;
	return skip_bytes(walk, place, &n);
}

static int check_string(struct walk *walk, avro_schema_t schema, const struct place *place)
{
	size_t good;
	int64_t n;

	(void)schema;
	if (skip_bytes(walk, place, &n) < 0)
		return -1;
	good = fb_utf8_valid(walk->p - n, (size_t)n);
	if (good == (size_t)n)
		return 0;
	walk->p += (int64_t)good - n;
	return fault(walk, place, "the string is not UTF-8");
}

static int check_enum(struct walk *walk, avro_schema_t schema, const struct place *place)
{
	int64_t v;

	return read_choice(walk, place, "symbol", avro_schema_enum_number_of_symbols(schema), &v);
}

/* ---- values made of values ---- */

static int check_record(struct walk *walk, avro_schema_t schema, const struct place *place)
{
	int n = (int)avro_schema_record_size(schema);

	for (int i = 0; i < n; i++) {
		struct place field = {place, avro_schema_record_field_name(schema, i), 0, place->depth + 1};

		if (check_value(walk, avro_schema_record_field_get_by_index(schema, i), &field) < 0)
			return -1;
	}
	return 0;
}

static int check_union(struct walk *walk, avro_schema_t schema, const struct place *place)
{
	struct place branch = {place, NULL, -1, place->depth + 1};
	int64_t v;

	if (read_choice(walk, place, "branch", (int64_t)avro_schema_union_size(schema), &v) < 0)
		return -1;
	return check_value(walk, avro_schema_union_branch(schema, (int)v), &branch);
}

static int check_target(struct walk *walk, avro_schema_t schema, const struct place *place)
{
	return check_value(walk, avro_schema_link_target(schema), place);
}

/* The count of a block; with its size in bytes, or -1 when the block does not say it. */
static int read_block(struct walk *walk, const struct place *place, int64_t *count, int64_t *size)
{
	const uint8_t *at = walk->p;

	*size = -1;
	if (read_long(walk, place, count) < 0)
		return -1;
	if (*count >= 0)
		return 0;
	if (*count > INT64_MIN && read_long(walk, place, size) == 0 && *size >= 0 && *size <= walk->end - walk->p) {
		*count = -*count;
		return 0;
	}
	walk->p = at;
	return fault(walk, place, "a block of items has a size that cannot be");
}

static int check_entry(struct walk *walk, bool keyed, avro_schema_t schema, const struct place *place)
{
	if (walk->items-- == 0)
		return fault(walk, place, "there are too many items for so few bytes");
	if (keyed && check_string(walk, NULL, place) < 0)
		return -1;
	return check_value(walk, schema, place);
}

/* An array, or with keys a map: blocks of items, the last of which is empty. */
static int check_blocks(struct walk *walk, bool keyed, avro_schema_t schema, const struct place *place)
{
	struct place item = {place, NULL, 0, place->depth + 1};
	int64_t count, size;

	for (;;) {
		const uint8_t *start;

		if (read_block(walk, place, &count, &size) < 0)
			return -1;
		if (count == 0)
			return 0;
		for (start = walk->p; count > 0; count--, item.item++)
			if (check_entry(walk, keyed, schema, &item) < 0)
				return -1;
		if (size >= 0 && walk->p - start != size)
			return fault(walk, place, "a block of %" PRId64 " bytes has %td", size, walk->p - start);
	}
}

static int check_array(struct walk *walk, avro_schema_t schema, const struct place *place)
{
	return check_blocks(walk, false, avro_schema_array_items(schema), place);
}

static int check_map(struct walk *walk, avro_schema_t schema, const struct place *place)
{
	return check_blocks(walk, true, avro_schema_map_values(schema), place);
}

static int check_value(struct walk *walk, avro_schema_t schema, const struct place *place)
{
	static check_fn *const checks[] = {
		[AVRO_NULL] = check_null, [AVRO_BOOLEAN] = check_boolean, [AVRO_INT32] = check_int,
		[AVRO_INT64] = check_long, [AVRO_FLOAT] = check_float, [AVRO_DOUBLE] = check_double,
		[AVRO_BYTES] = check_bytes, [AVRO_STRING] = check_string, [AVRO_FIXED] = check_fixed,
		[AVRO_ENUM] = check_enum, [AVRO_RECORD] = check_record, [AVRO_UNION] = check_union,
		[AVRO_ARRAY] = check_array, [AVRO_MAP] = check_map, [AVRO_LINK] = check_target,
	};

	if (place->depth > FB_AVRO_DEPTH)
		return fault(walk, place, "it is more than %d values deep", FB_AVRO_DEPTH);
	return checks[avro_typeof(schema)](walk, schema, place);
}

bool fb_avro_check(const struct fb_avro_schema *schema, const uint8_t *p, size_t n, struct kassay_text *why)
{
	struct walk walk = {p, p + n, p, (int64_t)n + FB_AVRO_ITEMS, why};
	const struct place whole = {NULL, NULL, -1, 0};

	if (check_value(&walk, schema->root, &whole) < 0)
		return false;
	if (walk.p < walk.end)
		fault(&walk, &whole, "%td bytes are left over", walk.end - walk.p);
	return walk.p == walk.end;
}
