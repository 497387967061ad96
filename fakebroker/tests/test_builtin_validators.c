/* The built-in validators, one by one; those that know schemas: test_schema_validators.c. */
#include "fakebroker/tests/judged.h"

static void test_reject_every(void **state)
{
	static const struct setting settings[] = {{"record.validator.RejectEvery.n", "3"}, {0}};
	struct fb_chain *chain = make("RejectEvery", settings);
	struct fb_rejection rejection;
	struct kw_record record = {0};
	int i;

	(void)state;
	for (i = 1; i <= 9; i++)
		assert_int_equal(fb_chain_validate(chain, &orders, 0, &record, &rejection), i % 3 == 0);
	assert_string_equal(rejection.text, "RejectEvery: record 9 is one of every 3");
	fb_chain_unref(chain);
}

/* How many of n records are refused, and which: a bit each of the first 64. */
static int count_refused(const char *share, const char *seed, int n, uint64_t *which)
{
	const struct setting settings[] = {
		{"record.validator.RejectEvery.share", share}, {"record.validator.RejectEvery.seed", seed}, {0},
	};
	struct fb_chain *chain = make("RejectEvery", settings);
	struct fb_rejection rejection;
	struct kw_record record = {0};
	int refused = 0;

	*which = 0;
	for (int i = 0; i < n; i++) {
		int rc = fb_chain_validate(chain, &orders, i, &record, &rejection);

		refused += rc;
		*which |= i < 64 ? (uint64_t)rc << i : 0;
	}
	fb_chain_unref(chain);
	return refused;
}

static void test_reject_share(void **state)
{
	static const struct setting both[] = {
		{"record.validator.RejectEvery.n", "3"}, {"record.validator.RejectEvery.share", "0.5"}, {0},
	};
	static const struct setting odd[] = {{"record.validator.RejectEvery.share", "1.5"}, {0}};
	uint64_t first, again, other;

	(void)state;
	assert_in_range(count_refused("0.25", "7", 10000, &first), 2300, 2700);
	count_refused("0.25", "7", 64, &again);
	count_refused("0.25", "8", 64, &other);
	assert_int_equal(first, again);
	assert_int_not_equal(first, other);
	assert_int_equal(count_refused("0", "7", 1000, &first), 0);
	assert_int_equal(count_refused("1", "7", 1000, &first), 1000);
	assert_refused("RejectEvery", both, KT_EPLUGIN,
		       "validator RejectEvery: one of the options n and share must be set");
	assert_refused("RejectEvery", odd, KT_EPLUGIN,
		       "validator RejectEvery: option share is '1.5', but must be a number of 0 to 1");
}

static void test_slow(void **state)
{
	static const struct setting settings[] = {{"record.validator.Slow.ms", "2"}, {0}};
	struct fb_chain *chain = make("Slow", settings);
	struct fb_rejection rejection;
	struct fb_validator_stats stats;
	struct kw_record record = {0};

	(void)state;
	assert_int_equal(fb_chain_validate(chain, &orders, 0, &record, &rejection), 0);
	fb_chain_stats(chain, 0, &stats);
	assert_true(stats.nanoseconds >= 2000000);
	fb_chain_unref(chain);
}

static void test_non_empty_value(void **state)
{
	static const struct setting no_tombstones[] = {{"record.validator.NonEmptyValue.tombstones", "False"}, {0}};

	(void)state;
	assert_null(judge_value("NonEmptyValue", NULL, "x"));
	assert_null(judge_value("NonEmptyValue", NULL, NULL));
	assert_string_equal(judge_value("NonEmptyValue", NULL, ""), "NonEmptyValue: the value is empty");
	assert_string_equal(judge_value("NonEmptyValue", no_tombstones, NULL), "NonEmptyValue: the value is null");
}

static void test_max_record_size(void **state)
{
	static const struct setting settings[] = {{"record.validator.MaxRecordSize.bytes", "100"}, {0}};
	struct kw_record record = {.key = {NULL, -1}, .value = bytes_of("x"), .size = 100};

	(void)state;
	assert_null(judge("MaxRecordSize", settings, &record));
	record.size = 101;
	assert_string_equal(judge("MaxRecordSize", settings, &record),
			    "MaxRecordSize: the record has 101 bytes, at most 100 are allowed");
}

static void test_key_pattern(void **state)
{
	static const struct setting settings[] = {{"record.validator.KeyPattern.pattern", "^[a-z]+-[0-9]{2}$"}, {0}};
	static const struct setting bad[] = {{"record.validator.KeyPattern.pattern", "a[b"}, {0}};
	static const struct setting nulls[] = {
		{"record.validator.KeyPattern.pattern", "x"}, {"record.validator.KeyPattern.nulls", "true"}, {0},
	};
	static const struct setting four[] = {{"record.validator.KeyPattern.pattern", "^\\x00.\\xff(?s:.)$"}, {0}};
	static const struct setting costly[] = {{"record.validator.KeyPattern.pattern", ".*a.{100}$"}, {0}};
	static char letters[32000];
	struct kw_record record = {.key = {(const uint8_t *)"ab-12\0z", 7}, .value = {NULL, -1}};

	(void)state;
	assert_null(judge_key("KeyPattern", settings, "ab-12"));
	assert_string_equal(judge_key("KeyPattern", settings, "ab-123"),
			    "KeyPattern: the key does not match ^[a-z]+-[0-9]{2}$");
	assert_non_null(judge("KeyPattern", settings, &record));
	record.key.n = 5;
	assert_null(judge("KeyPattern", settings, &record));
	record.key = (struct kw_bytes){NULL, 0};
	assert_non_null(judge("KeyPattern", settings, &record));
	assert_string_equal(judge_key("KeyPattern", settings, NULL), "KeyPattern: the record has no key");
	assert_null(judge_key("KeyPattern", nulls, NULL));
	assert_null(judge_key("KeyPattern", nulls, "axb"));
	assert_null(judge("KeyPattern", four, &(struct kw_record){.key = {(const uint8_t *)"\0\0\xff\n", 4}}));
	assert_non_null(judge("KeyPattern", four, &(struct kw_record){.key = {(const uint8_t *)"\0\0\n\xff", 4}}));
	memset(letters, 'a', sizeof letters - 1);
	assert_string_equal(judge_key("KeyPattern", costly, letters), "KeyPattern: the key of 31999 bytes cannot be "
								      "matched with .*a.{100}$: a limit is exceeded");
	assert_refused("KeyPattern", bad, KT_EPLUGIN,
		       "validator KeyPattern: option pattern is 'a[b': missing terminating ] for character "
		       "class (at byte 3)");
}

static void test_utf8(void **state)
{
	static const char *const good[] = {
		"", "plain", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf",
		"eight by eight, \xc3\xa9, then eight again", NULL,
	};
	static const struct {
		const char *value;
		int at;
	} bad[] = {
		{"\x80", 0}, {"ab\xff", 2}, {"a\xc3", 1}, {"\xc0\xaf", 0}, {"\xed\xa0\x80", 0}, {"\xf4\x90\x80\x80", 0},
		{"\xe0\x9f\xbf", 0}, {"\xe2\x82\xac\xe2\x82", 3}, {"\xf0\x8f\xbf\xbf", 0}, {"\xf5\x80\x80\x80", 0},
		{"12345678\xff", 8}, {"1234567\xff", 7}, {"\xc3\xa9 12345678901\xc3", 14},
	};
	static const struct setting key[] = {{"record.validator.Utf8.part", "key"}, {0}};
	static const struct setting both[] = {{"record.validator.Utf8.part", "both"}, {0}};
	char text[64];
	size_t i;

	(void)state;
	for (i = 0; good[i]; i++)
		assert_null(judge_value("Utf8", NULL, good[i]));
	assert_null(judge_value("Utf8", NULL, NULL));
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		snprintf(text, sizeof text, "Utf8: the value is not UTF-8 (at byte %d)", bad[i].at);
		assert_string_equal(judge_value("Utf8", NULL, bad[i].value), text);
	}
	assert_null(judge_value("Utf8", key, "\xff"));
	assert_string_equal(judge_key("Utf8", key, "a\xff"), "Utf8: the key is not UTF-8 (at byte 1)");
	assert_non_null(judge_key("Utf8", both, "\xff"));
	assert_non_null(judge_value("Utf8", both, "\xff"));
}

static void test_json_syntax(void **state)
{
	static const char *const good[] = {
		"{}", "[1, 2.5e3, \"x\", null, true]", "\"text\"", "12", "null", "123456789012345678901234567890",
		"{\"a\": \"\\u0000\"}", " {\"a\":1,\"a\":2}\n", NULL,
	};
	static const char *const bad[] = {"{", "{a:1}", "[1,]", "nul", "{} {}", "'x'", "\"\xff\"", "01", NULL};
	static const struct setting unique[] = {{"record.validator.JsonSyntax.unique.keys", "true"}, {0}};
	size_t i;

	(void)state;
	for (i = 0; good[i]; i++)
		assert_null(judge_value("JsonSyntax", NULL, good[i]));
	assert_null(judge_value("JsonSyntax", NULL, NULL));
	for (i = 0; bad[i]; i++)
		assert_non_null(judge_value("JsonSyntax", NULL, bad[i]));
	assert_string_equal(judge_value("JsonSyntax", NULL, ""), "JsonSyntax: the value is empty");
	assert_string_equal(judge_value("JsonSyntax", NULL, "[1,]"),
			    "JsonSyntax: the value is not JSON: unexpected token near ']' (at byte 4)");
	assert_non_null(judge_value("JsonSyntax", unique, "{\"a\":1,\"a\":2}"));
	assert_null(judge_value("JsonSyntax", unique, "{\"a\":1,\"b\":2}"));
}

static void test_required_header(void **state)
{
	static const struct setting two[] = {{"record.validator.RequiredHeader.name", "trace-id, tenant"}, {0}};
	static const struct setting filled[] = {
		{"record.validator.RequiredHeader.name", "tenant"},
		{"record.validator.RequiredHeader.nulls", "false"},
		{0},
	};
	static const struct setting not_empty[] = {
		{"record.validator.RequiredHeader.name", "tenant"},
		{"record.validator.RequiredHeader.empty", "false"},
		{0},
	};
	static const struct setting blank[] = {{"record.validator.RequiredHeader.name", "a, ,b"}, {0}};
	struct kw_header headers[] = {
		{kw_str("tenant"), {(const uint8_t *)"t1", 2}},
		{kw_str("trace-id"), {NULL, 0}},
		{kw_str("tenant"), {NULL, -1}},
	};
	struct kw_record record = {.headers = headers, .nheaders = 3};

	(void)state;
	assert_null(judge("RequiredHeader", two, &record));
	record.nheaders = 1;
	assert_string_equal(judge("RequiredHeader", two, &record), "RequiredHeader: header 'trace-id' is missing");
	assert_null(judge("RequiredHeader", filled, &record));
	record.nheaders = 3;
	assert_string_equal(judge("RequiredHeader", filled, &record), "RequiredHeader: header 'tenant' is null");
	assert_null(judge("RequiredHeader", not_empty, &record));
	headers[2].value = (struct kw_bytes){NULL, 0};
	assert_string_equal(judge("RequiredHeader", not_empty, &record), "RequiredHeader: header 'tenant' is empty");
	assert_null(judge("RequiredHeader", filled, &record));
	assert_refused("RequiredHeader", blank, KT_EPLUGIN, "validator RequiredHeader: option name has an empty entry");
}

static void test_topic_tag(void **state)
{
	static const struct setting lenient[] = {
		{"record.validator.TopicTag.header", "sent-to"}, {"record.validator.TopicTag.required", "false"}, {0},
	};
	struct kw_header header = {kw_str("topic"), {(const uint8_t *)"orders", 6}};
	struct kw_record record = {.headers = &header, .nheaders = 1};

	(void)state;
	assert_null(judge("TopicTag", NULL, &record));
	header.value = (struct kw_bytes){(const uint8_t *)"audit", 5};
	assert_string_equal(judge("TopicTag", NULL, &record),
			    "TopicTag: header 'topic' names topic 'audit', the record was sent to 'orders'");
	assert_null(judge("TopicTag", lenient, &record));
	header.value = (struct kw_bytes){NULL, -1};
	assert_string_equal(judge("TopicTag", NULL, &record), "TopicTag: header 'topic' is null");
	record.nheaders = 0;
	assert_string_equal(judge("TopicTag", NULL, &record), "TopicTag: header 'topic' is missing");
}

/* What is null and what is empty, apart, in the key and in the value. */
static void test_null_and_empty(void **state)
{
	static const struct {
		const char *class;
		bool empty;          /* accepted unless told otherwise */
	} rows[] = {{"Utf8", true},
		    {"JsonSyntax", false}, {"SchemaId", false},
		    {"PayloadSchema", false}, {"AvroSchema", false}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (int asked = 0; asked < 16; asked++) {
			const char *part = asked & 1 ? "key" : "value";
			bool nulls = asked & 2, empty = asked & 4, set = asked & 8;
			char names[3][64], text[2][64];
			const struct setting settings[] = {
				{names[0], part},
				{names[1], nulls ? "true" : "false"},
				{set ? names[2] : "unset", empty ? "true" : "false"},
				{"record.validator.SchemaId.ids", "1"},
				{"record.validator.PayloadSchema.schemas", "fixtures/schemas/list.txt"},
				{"record.validator.AvroSchema.schemas", "fixtures/schemas/order.avsc"},
				{0},
			};
			struct kw_record record = {.key = bytes_of("\xff"), .value = bytes_of("\xff")};
			struct kw_bytes *bytes = asked & 1 ? &record.key : &record.value;

			snprintf(names[0], sizeof names[0], "record.validator.%s.part", rows[i].class);
			snprintf(names[1], sizeof names[1], "record.validator.%s.nulls", rows[i].class);
			snprintf(names[2], sizeof names[2], "record.validator.%s.empty", rows[i].class);
			snprintf(text[0], sizeof text[0], "%s: the %s is null", rows[i].class, part);
			snprintf(text[1], sizeof text[1], "%s: the %s is empty", rows[i].class, part);
			assert_non_null(judge(rows[i].class, settings, &record));
			*bytes = bytes_of(NULL);
			if (nulls)
				assert_null(judge(rows[i].class, settings, &record));
			else
				assert_string_equal(judge(rows[i].class, settings, &record), text[0]);
			*bytes = bytes_of("");
			if (set ? empty : rows[i].empty)
				assert_null(judge(rows[i].class, settings, &record));
			else
				assert_string_equal(judge(rows[i].class, settings, &record), text[1]);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reject_every),
		cmocka_unit_test(test_reject_share),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_non_empty_value),
		cmocka_unit_test(test_max_record_size),
		cmocka_unit_test(test_key_pattern),
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_json_syntax),
		cmocka_unit_test(test_required_header),
		cmocka_unit_test(test_topic_tag),
		cmocka_unit_test(test_null_and_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
