/* The built-in validators that know schemas. What is Avro and what is not is asked of libavro, too. */
#include "fakebroker/tests/judged.h"

#include <avro.h>

#include "fakebroker/hooks/avro_value.h"
#include "fakebroker/hooks/schema_folder.h"
#include "lib/text/base64.h"

#define SCHEMAS "fixtures/schemas/"

/* ---- bytes and schemas ---- */

struct row {
	const char *schema, *hex;
	const char *fault;       /* NULL: it is a value */
};

#define NODE "{'type': 'record', 'name': 'Node', 'fields': [{'name': 'next', 'type': ['null', 'Node']}]}"
#define PAIR "{'type': 'record', 'name': 'Pair', 'namespace': 'a.b', 'fields': [{'name': 'x', 'type': 'int'}, " \
	     "{'name': 'ys', 'type': {'type': 'array', 'items': {'type': 'map', 'values': 'string'}}}]}"

static const struct row rows[] = {
	{"'null'", "", NULL},
	{"'null'", "00", "1 bytes are left over (at byte 0)"},
	{"'boolean'", "01", NULL},
	{"'boolean'", "02", "a boolean is 0x02 (at byte 0)"},
	{"'boolean'", "", "1 bytes are needed, 0 are left (at byte 0)"},
	{"'int'", "feffffff0f", NULL},
	{"'int'", "8080808010", "2147483648 is no int (at byte 0)"},
	{"'int'", "80", "the value ends inside a number (at byte 0)"},
	{"'long'", "ffffffffffffffffff01", NULL},
	{"'long'", "ffffffffffffffffffff01", "a number has more than 10 bytes (at byte 0)"},
	{"'float'", "0000803f", NULL},
	{"'float'", "000080", "4 bytes are needed, 3 are left (at byte 0)"},
	{"'double'", "000000000000f03f", NULL},
	{"'bytes'", "0400ff", NULL},
	{"'bytes'", "0600ff", "3 bytes are announced, 2 are left (at byte 0)"},
	{"'bytes'", "01", "-1 bytes are announced, 0 are left (at byte 0)"},
	{"'bytes'", "feffffffffffffffff01", "9223372036854775807 bytes are announced, 0 are left (at byte 0)"},
	{"'string'", "06e282ac", NULL},
	{"'string'", "0461ff", "the string is not UTF-8 (at byte 2)"},
	{"'string'", "0261" "62", "1 bytes are left over (at byte 2)"},
	{"{'type': 'fixed', 'name': 'F', 'size': 3}", "010203", NULL},
	{"{'type': 'fixed', 'name': 'F', 'size': 3}", "0102", "3 bytes are needed, 2 are left (at byte 0)"},
	{"{'type': 'enum', 'name': 'E', 'symbols': ['A', 'B']}", "02", NULL},
	{"{'type': 'enum', 'name': 'E', 'symbols': ['A', 'B']}", "04", "there is no symbol 2 (at byte 0)"},
	{"{'type': 'enum', 'name': 'E', 'symbols': ['A', 'B']}", "01", "there is no symbol -1 (at byte 0)"},
	/* 2^32 is no other name for 0. */
	{"['null', 'int']", "8080808020", "there is no branch 4294967296 (at byte 0)"},
	{"['null', 'int']", "0206", NULL},
	{"['null', 'int']", "04", "there is no branch 2 (at byte 0)"},
	{"{'type': 'array', 'items': 'int'}", "00", NULL},
	{"{'type': 'array', 'items': 'int'}", "0402" "0400", NULL},
	{"{'type': 'array', 'items': 'int'}", "0402" "04" "020600", NULL},
	{"{'type': 'array', 'items': 'int'}", "0304" "0204" "00", NULL},
	{"{'type': 'array', 'items': 'int'}", "0306" "0204" "00", "a block of 3 bytes has 2 (at byte 4)"},
	{"{'type': 'array', 'items': 'int'}", "0364" "0204" "00",
	 "a block of items has a size that cannot be (at byte 0)"},
	{"{'type': 'array', 'items': 'int'}", "ffffffffffffffffff01" "00",
	 "a block of items has a size that cannot be (at byte 0)"},
	{"{'type': 'array', 'items': 'int'}", "0402", "[1]: the value ends inside a number (at byte 2)"},
	{"{'type': 'array', 'items': 'null'}", "d00f" "00", NULL},
	{"{'type': 'array', 'items': 'null'}", "feffffffffffffffff01" "00",
	 "[65547]: there are too many items for so few bytes (at byte 10)"},
	{"{'type': 'map', 'values': 'boolean'}", "02" "0261" "01" "00", NULL},
	{"{'type': 'map', 'values': 'boolean'}", "02" "02ff" "01" "00", "[0]: the string is not UTF-8 (at byte 2)"},
	{NODE, "0202" "00", NULL},
	{NODE, "0202" "04", "next.next.next: there is no branch 2 (at byte 2)"},
	{PAIR, "0202" "02" "026b" "0476" "7700" "00", NULL},
	{PAIR, "0202" "02" "026b" "0a76" "7700" "00", "ys[0][0]: 5 bytes are announced, 4 are left (at byte 5)"},
};

/* JSON with its quotes. */
static const char *quoted(const char *text, char json[1024])
{
	snprintf(json, 1024, "%s", text);
	for (char *p = json; *p; p++)
		if (*p == '\'')
			*p = '"';
	return json;
}

static struct fb_avro_schema *parse(const char *text)
{
	char json[1024], reason[256];
	struct kassay_text why = {reason, sizeof reason};
	struct fb_avro_schema *schema;

	quoted(text, json);
	if (fb_avro_parse(json, strlen(json), &schema, &why) < 0)
		fail_msg("%s: %s", text, reason);
	return schema;
}

/* ---- values ---- */

/* libavro's answer: the bytes left over, or -1. */
static long ask_libavro(const char *text, const uint8_t *p, size_t n)
{
	avro_reader_t reader = avro_reader_memory((const char *)p, (int64_t)n);
	avro_value_iface_t *iface;
	avro_schema_t schema;
	avro_value_t value;
	char json[1024];
	size_t left = 0;
	long rc = -1;

	quoted(text, json);
	assert_int_equal(avro_schema_from_json_length(json, strlen(json), &schema), 0);
	iface = avro_generic_class_from_schema(schema);
	assert_int_equal(avro_generic_value_new(iface, &value), 0);
	if (avro_value_read(reader, &value) == 0) {
		char byte;

		while (avro_read(reader, &byte, 1) == 0)
			left++;
		rc = (long)left;
	}
	avro_value_decref(&value);
	avro_value_iface_decref(iface);
	avro_schema_decref(schema);
	avro_reader_free(reader);
	return rc;
}

static void test_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct fb_avro_schema *schema = parse(rows[i].schema);
		char reason[512] = "";
		struct kassay_text why = {reason, sizeof reason};
		uint8_t bytes[64];
		long n = kt_hex_decode(rows[i].hex, strlen(rows[i].hex), bytes);
		bool good;

		assert_true(n >= 0);
		good = fb_avro_check(schema, bytes, (size_t)n, &why);
		if (!rows[i].fault)
			assert_int_equal(ask_libavro(rows[i].schema, bytes, (size_t)n), 0);
		if (good != !rows[i].fault || (!good && strcmp(reason, rows[i].fault) != 0))
			fail_msg("%s %s: '%s', not '%s'", rows[i].schema, rows[i].hex, reason,
				 rows[i].fault ? rows[i].fault : "");
		fb_avro_free(schema);
	}
}

/* Every beginning of a value is refused, whatever it announces. */
static void test_every_cut(void **state)
{
	struct fb_avro_schema *schema = parse(PAIR);
	char reason[512];
	struct kassay_text why = {reason, sizeof reason};
	uint8_t bytes[32];
	long n = kt_hex_decode("0202" "02" "026b" "0476" "7700" "00", 20, bytes);

	(void)state;
	assert_int_equal(n, 10);
	for (long i = 0; i < n; i++) {
		uint8_t *cut = malloc((size_t)i + 1);   /* for AddressSanitizer */

		memcpy(cut, bytes, (size_t)i);
		cut = realloc(cut, i ? (size_t)i : 1);
		assert_non_null(cut);
		assert_false(fb_avro_check(schema, cut, (size_t)i, &why));
		free(cut);
	}
	fb_avro_free(schema);
}

static void test_depth(void **state)
{
	static const char direct[] = "{'type': 'record', 'name': 'R', 'fields': [{'name': 'r', 'type': 'R'}]}";
	struct fb_avro_schema *schema = parse(NODE), *endless = parse(direct);
	static uint8_t bytes[1 << 20];
	char reason[512];
	struct kassay_text why = {reason, sizeof reason};

	(void)state;
	memset(bytes, 2, sizeof bytes);
	assert_false(fb_avro_check(schema, bytes, sizeof bytes, &why));
	assert_non_null(strstr(reason, "it is more than 64 values deep (at byte 32)"));
	bytes[31] = 0;
	assert_true(fb_avro_check(schema, bytes, 32, &why));
	/* A schema that has no value. */
	assert_false(fb_avro_check(endless, bytes, 1, &why));
	assert_non_null(strstr(reason, "it is more than 64 values deep (at byte 0)"));
	fb_avro_free(schema);
	fb_avro_free(endless);
}

static size_t allocations;

static void *count_allocation(void *arg, void *p, size_t old, size_t size)
{
	(void)arg, (void)old;
	allocations++;
	if (size == 0) {
		free(p);
		return NULL;
	}
	return realloc(p, size);
}

static void *usual_allocation(void *arg, void *p, size_t old, size_t size)
{
	(void)arg, (void)old;
	if (size == 0) {
		free(p);
		return NULL;
	}
	return realloc(p, size);
}

/* Whatever lengths a record has, libavro is not asked for memory. */
static void test_nothing_is_allocated(void **state)
{
	(void)state;
	avro_set_allocator(count_allocation, NULL);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct fb_avro_schema *schema = parse(rows[i].schema);
		char reason[512];
		struct kassay_text why = {reason, sizeof reason};
		uint8_t bytes[64];
		long n = kt_hex_decode(rows[i].hex, strlen(rows[i].hex), bytes);

		allocations = 0;
		fb_avro_check(schema, bytes, (size_t)n, &why);
		assert_int_equal(allocations, 0);
		fb_avro_free(schema);
		assert_true(allocations > 0 || strlen(rows[i].schema) < 12);   /* the hook works */
	}
	avro_set_allocator(usual_allocation, NULL);
}

static void test_names(void **state)
{
	static const struct {
		const char *schema, *name;
	} names[] = {{"'string'", "string"}, {PAIR, "a.b.Pair"}, {NODE, "Node"}, {"['null', 'int']", "union"},
		     {"{'type': 'array', 'items': 'int'}", "array"}};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct fb_avro_schema *schema = parse(names[i].schema);

		assert_string_equal(fb_avro_name(schema), names[i].name);
		fb_avro_free(schema);
	}
}

/* ---- AvroSchema ---- */

static struct kw_bytes hex(const char *text)
{
	static uint8_t bytes[256];

	return (struct kw_bytes){bytes, (int32_t)kt_hex_decode(text, strlen(text), bytes)};
}

#define PAYMENT "0e" "d00f" "00"                  /* order 7, 1000 cents, no note */
#define ORDER "02" "026b" "00" "01" "00" "00" "deadbeef"

static const char *judge_hex(const char *classes, const struct setting *settings, const char *text)
{
	struct kw_record record = {.key = {NULL, -1}, .value = hex(text)};

	return judge(classes, settings, &record);
}

static void test_avro_schema(void **state)
{
	static const struct setting one[] = {{"record.validator.AvroSchema.schemas", SCHEMAS "payment.avsc"}, {0}};
	static const struct setting two[] = {
		{"record.validator.AvroSchema.schemas", SCHEMAS "order.avsc, " SCHEMAS "payment.avsc"}, {0},
	};
	static const struct setting none[] = {{"record.validator.AvroSchema.schemas", SCHEMAS "none.avsc"}, {0}};
	static const struct setting text[] = {{"record.validator.AvroSchema.schemas", SCHEMAS "allowed.txt"}, {0}};
	static const struct setting hole[] = {{"record.validator.AvroSchema.schemas", SCHEMAS "order.avsc,"}, {0}};

	(void)state;
	assert_null(judge_hex("AvroSchema", one, PAYMENT));
	assert_string_equal(judge_hex("AvroSchema", one, ORDER),
			    "AvroSchema: the value is not of schema shop.Payment: note: there is no branch "
			    "-54 (at byte 2)");
	assert_null(judge_hex("AvroSchema", two, PAYMENT));
	assert_null(judge_hex("AvroSchema", two, ORDER));
	assert_string_equal(judge_hex("AvroSchema", two, "0e"),
			    "AvroSchema: the value is of none of the 2 schemas; not shop.Payment: cents: the value "
			    "ends inside a number (at byte 1)");
	assert_refused("AvroSchema", none, KT_EPLUGIN,
		       "validator AvroSchema: fixtures/schemas/none.avsc: cannot be opened: No such file or directory");
	assert_refused("AvroSchema", text, KT_EPLUGIN, "validator AvroSchema: fixtures/schemas/allowed.txt: no Avro "
		       "schema: Error parsing JSON: invalid token near '#'");
	assert_refused("AvroSchema", hole, KT_EPLUGIN,
		       "validator AvroSchema: option schemas has an entry that is empty");
	assert_refused("AvroSchema", NULL, KT_EPLUGIN,
		       "validator AvroSchema: option schemas is not set: it must be a text that is not empty");
}

/* ---- SchemaId ---- */

static void test_schema_id(void **state)
{
	static const struct setting list[] = {{"record.validator.SchemaId.ids", "7, 4294967295"}, {0}};
	static const struct setting file[] = {
		{"record.validator.SchemaId.ids.file", SCHEMAS "allowed.txt"},
		{"record.validator.SchemaId.ids", "9"}, {0},
	};
	static const struct setting odd[] = {{"record.validator.SchemaId.ids", "7,x"}, {0}};
	static const struct setting large[] = {{"record.validator.SchemaId.ids", "4294967296"}, {0}};
	static const struct {
		const char *hex, *text;
	} cases[] = {
		{"0000000007", NULL},
		{"00ffffffff" "61", NULL},
		{"0000000008", "SchemaId: schema 8 is not allowed for the value"},
		{"7b22613a7d", "SchemaId: the value begins with byte 0x7b, not with 0x00"},
		{"00000000", "SchemaId: the value has 4 bytes, too few for a schema's number"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *text = judge_hex("SchemaId", list, cases[i].hex);

		assert_int_equal(!text, !cases[i].text);
		if (text)
			assert_string_equal(text, cases[i].text);
	}
	assert_null(judge_hex("SchemaId", file, "0000000001"));
	assert_null(judge_hex("SchemaId", file, "0000000002"));
	assert_null(judge_hex("SchemaId", file, "0000000009"));
	assert_non_null(judge_hex("SchemaId", file, "0000000003"));
	assert_refused("SchemaId", NULL, KT_EPLUGIN,
		       "validator SchemaId: one of the options ids and ids.file must be set");
	assert_refused("SchemaId", odd, KT_EPLUGIN, "validator SchemaId: 'x' is no number of a schema");
	assert_refused("SchemaId", large, KT_EPLUGIN, "validator SchemaId: '4294967296' is no number of a schema");
}

/* ---- PayloadSchema ---- */

static void assert_payloads(const char *schemas)
{
	const struct setting settings[] = {{"record.validator.PayloadSchema.schemas", schemas}, {0}};
	static const struct {
		const char *hex, *text;
	} cases[] = {
		{"0000000001" ORDER, NULL},
		{"0000000002" PAYMENT, NULL},
		{"0000000003" "7b7d", NULL},
		{"0000000004" "7b7d", "PayloadSchema: there is no schema 4 for the value"},
		{"0000000002" PAYMENT "00", "PayloadSchema: the value is not of schema 2, shop.Payment: 1 bytes are "
					    "left over (at byte 4)"},
		{"0000000002", "PayloadSchema: the value is not of schema 2, shop.Payment: order: the value ends "
			       "inside a number (at byte 0)"},
		{"0000000003" "7b", "PayloadSchema: the value is not JSON, as schema 3 wants it: string or '}' "
				    "expected near end of file (at byte 1 of the payload)"},
		{"0000000003", "PayloadSchema: the value is not JSON, as schema 3 wants it: unexpected token near end "
			       "of file (at byte 0 of the payload)"},
		{"01000000", "PayloadSchema: the value has 4 bytes, too few for a schema's number"},
		{"0100000001", "PayloadSchema: the value begins with byte 0x01, not with 0x00"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *text = judge_hex("PayloadSchema", settings, cases[i].hex);

		if (cases[i].text && text)
			assert_string_equal(text, cases[i].text);
		assert_int_equal(!text, !cases[i].text);
	}
}

static void test_payload_schema(void **state)
{
	(void)state;
	assert_payloads(SCHEMAS "registry");
	assert_payloads(SCHEMAS "list.txt");
}

/* A file with this text, and what PayloadSchema says of it. */
static void assert_list(const char *text, const char *wanted)
{
	char path[] = "/tmp/kassay-schemas-XXXXXX", reason[512] = "", begin[64];
	struct kassay_text why = {reason, sizeof reason};
	struct fb_schema_folder folder = {0};
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(fb_schema_folder_read(&folder, path, &why), -1);
	fb_schema_folder_fini(&folder);
	unlink(path);
	snprintf(begin, sizeof begin, "%s", path);
	if (!strstr(reason, wanted))
		fail_msg("%s: '%s', not '%s'", begin, reason, wanted);
}

static void test_bad_lists_of_schemas(void **state)
{
	char cwd[2048], text[4400];

	(void)state;
	assert_non_null(getcwd(cwd, sizeof cwd));
	snprintf(text, sizeof text, "1 = %s/" SCHEMAS "order.avsc\n1=%s/" SCHEMAS "registry/3.json\n", cwd, cwd);
	assert_list(text, " has schema 1 twice");
	assert_list("# nothing\n\n", " has no schema");
	assert_list("1\n", "a line 'ID = FILE' is expected, not '1'");
	assert_list("one = x.avsc\n", "a line 'ID = FILE' is expected, not 'one'");
	assert_list("1 = x.proto\n", "x.proto is neither .avsc (Avro) nor .json (JSON)");
	assert_list("1 = none.avsc\n", "none.avsc: cannot be opened: No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_nothing_is_allocated),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_avro_schema),
		cmocka_unit_test(test_schema_id),
		cmocka_unit_test(test_payload_schema),
		cmocka_unit_test(test_bad_lists_of_schemas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
