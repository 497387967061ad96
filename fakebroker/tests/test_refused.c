/* Validators over the control API: changing them, and what they refused. */
#include "fakebroker/control/listing.h"
#include "fakebroker/control/validators.h"
#include "fakebroker/hooks/refused.h"
#include "fakebroker/tests/http.h"
#include "fakebroker/tests/talk.h"
#include "lib/wire/errors.h"

/* ---- the store ---- */

static const struct fb_batch_place place = {.topic = "t", .partition = 3, .baseTimestamp = 100};
static const struct fb_rejection rejection = {.error = KW_ERR_INVALID_RECORD, .validator = "V", .text = "why"};

static void add(struct fb_refused *refused, const void *value, int32_t n)
{
	const struct kw_record record = {.key = {NULL, -1}, .value = {value, n}, .timestampDelta = 5};

	fb_refused_add(refused, &place, KW_NULL_STR, 7, 2, &record, &rejection);
}

static void unref_all(struct fb_refused_record **all, size_t n)
{
	while (n > 0)
		fb_refused_record_unref(all[--n]);
}

static void the_oldest_go_first(void **state)
{
	struct fb_refused *refused = fb_refused_new(FB_KEEP_FULL);
	static struct fb_refused_record *all[FB_REFUSED_RECORDS];
	uint64_t total;
	size_t n;

	(void)state;
	for (int i = 0; i < FB_REFUSED_RECORDS + 10; i++)
		add(refused, "x", 1);
	n = fb_refused_get(refused, all, &total);
	assert_int_equal(n, FB_REFUSED_RECORDS);
	assert_int_equal(total, FB_REFUSED_RECORDS + 10);
	assert_int_equal(all[0]->id, 11);
	assert_int_equal(all[n - 1]->id, total);
	/* Whoever looks at one may go on to. */
	fb_refused_free(refused);
	assert_string_equal(all[0]->topic, "t");
	assert_string_equal(all[0]->reason, "why");
	assert_int_equal(all[0]->timestamp, 105);
	assert_int_equal(all[0]->time, 7);
	assert_int_equal(all[0]->index, 2);
	unref_all(all, n);
}

static void bytes_are_bounded(void **state)
{
	struct fb_refused *refused = fb_refused_new(FB_KEEP_FULL);
	static struct fb_refused_record *all[FB_REFUSED_RECORDS];
	static uint8_t large[1 << 20];
	uint64_t total;
	size_t n;

	(void)state;
	memset(large, 'x', sizeof large);
	for (int i = 0; i < 500; i++)
		add(refused, large, sizeof large);
	n = fb_refused_get(refused, all, &total);
	assert_int_equal(total, 500);
	assert_in_range(n, FB_REFUSED_BYTES / (FB_REFUSED_PART + 1024), FB_REFUSED_BYTES / FB_REFUSED_PART);
	assert_int_equal(all[0]->value.size, sizeof large);
	assert_int_equal(all[0]->value.n, FB_REFUSED_PART);
	unref_all(all, n);
	fb_refused_free(refused);
}

static json_t *row_of(size_t size)
{
	char *s = memset(malloc(size), 'x', size);
	json_t *row = json_pack("{s:s#}", "s", s, (int)size);

	free(s);
	return row;
}

static void a_listing_has_one_row_at_least(void **state)
{
	struct fb_listing listing = {.rows = json_array(), .limit = 2};

	(void)state;
	assert_int_equal(fb_listing_add(&listing, row_of(FB_LISTING_BYTES + 1)), 1);
	assert_int_equal(fb_listing_add(&listing, row_of(1)), 0);
	json_array_clear(listing.rows);
	listing = (struct fb_listing){.rows = listing.rows, .limit = 2, .backwards = true};
	assert_int_equal(fb_listing_add(&listing, row_of(2)), 1);
	assert_int_equal(fb_listing_add(&listing, row_of(1)), 1);
	assert_int_equal(fb_listing_add(&listing, row_of(1)), 0);
	assert_string_equal(str_at(json_array_get(listing.rows, 0), "s"), "x");
	assert_int_equal(fb_listing_add(&listing, NULL), KT_ENOMEM);
	json_decref(listing.rows);
}

/* Ids of the first and the last, and how many there are. */
static size_t span(struct fb_refused *refused, struct fb_refused_filter filter, json_int_t *first, json_int_t *last)
{
	json_t *json = fb_refused_json(refused, &filter), *records = at(json, "records");
	size_t n = json_array_size(records), bytes = json_dumpb(records, NULL, 0, JSON_COMPACT);

	assert_true(n > 0);
	assert_true(n == 1 || bytes <= FB_LISTING_BYTES);
	*first = num_at(json_array_get(records, 0), "id");
	*last = num_at(json_array_get(records, n - 1), "id");
	assert_int_equal(*last - *first + 1, n);
	json_decref(json);
	return n;
}

/* A control character is six of JSON. */
static void answers_are_bounded(void **state)
{
	struct fb_refused *refused = fb_refused_new(FB_KEEP_FULL);
	static uint8_t control[FB_REFUSED_PART];
	json_int_t first, last;
	size_t n;

	(void)state;
	memset(control, 1, sizeof control);
	for (int i = 0; i < 240; i++)
		add(refused, control, sizeof control);
	n = span(refused, (struct fb_refused_filter){.limit = 1000, .newest = true}, &first, &last);
	assert_in_range(n, 160, 170);
	assert_int_equal(last, 240);
	assert_int_equal(span(refused, (struct fb_refused_filter){.limit = 1000}, &first, &last), n);
	assert_int_equal(first, 1);
	assert_int_equal(span(refused, (struct fb_refused_filter){.limit = 1000, .after = n}, &first, &last), 240 - n);
	assert_int_equal(first, n + 1);
	fb_refused_free(refused);
}

static long left;   /* allocations of jansson's that go well before one fails */

static void *runs_out(size_t n)
{
	return left-- == 0 ? NULL : malloc(n);
}

/* An answer is whole or it is none, wherever memory runs out. */
static void no_shorter_list_without_memory(void **state)
{
	struct fb_refused *refused = fb_refused_new(FB_KEEP_FULL);
	const struct fb_refused_filter filter = {.limit = 10};
	char *whole, *text;
	json_t *json;
	long at = 0;

	(void)state;
	add(refused, "text", 4);
	add(refused, "\xff", 1);
	json = fb_refused_json(refused, &filter);
	whole = json_dumps(json, JSON_SORT_KEYS);
	do {
		json_decref(json);
		left = at;
		json_set_alloc_funcs(runs_out, free);
		json = fb_refused_json(refused, &filter);
		json_set_alloc_funcs(malloc, free);
		at++;
	} while (left < 0 && !json);
	text = json_dumps(json, JSON_SORT_KEYS);
	assert_string_equal(text, whole);
	assert_true(left >= 0 && at > 50);
	free(text);
	free(whole);
	json_decref(json);
	fb_refused_free(refused);
}

static void nothing_is_kept_of(enum fb_refused_keep keep, size_t records)
{
	struct fb_refused *refused = fb_refused_new(keep);
	struct kw_header header = {kw_str("secret"), {(const uint8_t *)"header", 6}};
	const struct kw_record record = {.key = {(const uint8_t *)"k", 1}, .value = {(const uint8_t *)"value", 5},
					 .nheaders = 1, .headers = &header};
	static struct fb_refused_record *all[FB_REFUSED_RECORDS];
	uint64_t total;
	size_t n;

	fb_refused_add(refused, &place, kw_str("client"), 7, 0, &record, &rejection);
	n = fb_refused_get(refused, all, &total);
	assert_int_equal(n, records);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(all[i]->key.n + all[i]->value.n + all[i]->nkept, 0);
		assert_int_equal(all[i]->value.size, 5);
		assert_int_equal(all[i]->nheaders, 1);
		assert_memory_equal(all[i]->clientId.p, "client", 6);
	}
	unref_all(all, n);
	fb_refused_free(refused);
}

/* As a walk with skip_bodies shows it. */
static void headers_that_were_skimmed_are_only_counted(void **state)
{
	struct fb_refused *refused = fb_refused_new(FB_KEEP_FULL);
	const struct kw_record record = {.key = {NULL, -1}, .value = {(const uint8_t *)"value", 5}, .nheaders = 3};
	static struct fb_refused_record *all[FB_REFUSED_RECORDS];
	uint64_t total;
	size_t n;

	(void)state;
	fb_refused_add(refused, &place, kw_str("client"), 7, 0, &record, &rejection);
	n = fb_refused_get(refused, all, &total);
	assert_int_equal(n, 1);
	assert_int_equal(all[0]->nheaders, 3);
	assert_int_equal(all[0]->nkept, 0);
	unref_all(all, n);
	fb_refused_free(refused);
}

static void what_is_kept_can_be_chosen(void **state)
{
	(void)state;
	nothing_is_kept_of(FB_KEEP_METADATA, 1);
	nothing_is_kept_of(FB_KEEP_NONE, 0);
	fb_refused_add(NULL, &place, KW_NULL_STR, 0, 0, NULL, &rejection);   /* a broker without a store */
}

/* ---- the control API ---- */

static struct running run;

static int set_up(void **state)
{
	struct fb_settings settings = {.nodes = 1};

	(void)state;
	running_start(&run, &settings);
	make_topic(&run, "t");
	make_topic(&run, "u");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	running_stop(&run);
	return 0;
}

static int64_t send_records(struct kc_conn *conn, const char *topic, const char *records)
{
	return ask_num(&run, conn, "responses.0.partitionResponses.0.errorCode", "Produce", 9,
		       "{'acks': 1, 'topicData': [{'name': '%s', 'partitionData': [{'index': 0, 'records': {'batches': "
		       "[{'baseTimestamp': 1000, 'records': [%s]}]}}]}]}", topic, records);
}

static void put(const char *body)
{
	json_decref(http_json(&run, 200, "PUT", "/v1/validators", body));
}

static void refused_records_can_be_read(void **state)
{
	struct kc_conn *conn = dial(&run, 1);
	json_t *json;

	(void)state;
	put("{\"topic\": \"t\", \"configs\": {\"record.validator.classes\": \"RequiredHeader,NonEmptyValue\", "
	    "\"record.validator.RequiredHeader.name\": \"trace\"}}");
	put("{\"topic\": \"u\", \"configs\": {\"record.validator.classes\": \"RejectAll\"}}");
	assert_int_equal(send_records(conn, "t", "{'key': 'k', 'value': 'v', 'headers': [{'key': 'trace', 'value': "
				      "{'hex': 'ff'}}]},"
				 "{'value': {'hex': 'ff00'}, 'timestampDelta': 3},"
				 "{'value': '', 'headers': [{'key': 'trace', 'value': null}]}"), 87);
	assert_int_equal(send_records(conn, "u", "{'value': null}"), 87);

	json = http_json(&run, 200, "GET", "/v1/validators/refused?topic=t", NULL);
	assert_int_equal(num_at(json, "refused"), 3);
	assert_int_equal(json_array_size(at(json, "records")), 2);
	assert_int_equal(num_at(json, "records.0.id"), 1);
	assert_string_equal(str_at(json, "records.0.topic"), "t");
	assert_int_equal(num_at(json, "records.0.partition"), 0);
	assert_int_equal(num_at(json, "records.0.batchIndex"), 1);
	assert_string_equal(str_at(json, "records.0.validator"), "RequiredHeader");
	assert_string_equal(str_at(json, "records.0.reason"), "RequiredHeader: header 'trace' is missing");
	assert_int_equal(num_at(json, "records.0.errorCode"), 87);
	assert_string_equal(str_at(json, "records.0.clientId"), "test");
	assert_int_equal(num_at(json, "records.0.timestamp"), 1003);
	assert_int_equal(num_at(json, "records.0.offsetDelta"), 1);
	assert_true(json_is_null(at(json, "records.0.key")));
	assert_int_equal(num_at(json, "records.0.value.size"), 2);
	assert_string_equal(str_at(json, "records.0.value.hex"), "ff00");
	assert_int_equal(num_at(json, "records.0.headerCount"), 0);
	assert_string_equal(str_at(json, "records.1.validator"), "NonEmptyValue");
	assert_string_equal(str_at(json, "records.1.value.text"), "");
	assert_string_equal(str_at(json, "records.1.headers.0.key.text"), "trace");
	assert_true(json_is_null(at(json, "records.1.headers.0.value")));
	assert_true(num_at(json, "records.1.time") > 1600000000000);
	json_decref(json);

	json = http_json(&run, 200, "GET", "/v1/validators/refused?limit=1", NULL);
	assert_int_equal(json_array_size(at(json, "records")), 1);
	assert_int_equal(num_at(json, "records.0.id"), 3);
	json_decref(json);
	json = http_json(&run, 200, "GET", "/v1/validators/refused?after=1&limit=1", NULL);
	assert_int_equal(num_at(json, "records.0.id"), 2);
	json_decref(json);
	http_error(&run, 400, "GET", "/v1/validators/refused?limit=1001", NULL, "limit: must be 1 to 1000, not 1001");
	kc_free(conn);
}

static void metrics_have_every_validator(void **state)
{
	struct http http = http_ask(&run, "GET", "/metrics", NULL);

	(void)state;
	assert_non_null(strstr(http.body, "kassay_validator_records_total{topic=\"t\",validator=\"RequiredHeader\","
			       "result=\"accepted\"} 2\n"));
	assert_non_null(strstr(http.body, "kassay_validator_records_total{topic=\"t\",validator=\"RequiredHeader\","
			       "result=\"refused\"} 1\n"));
	assert_non_null(strstr(http.body, "kassay_validator_records_total{topic=\"t\",validator=\"NonEmptyValue\","
			       "result=\"failed\"} 0\n"));
	assert_non_null(strstr(http.body,
			       "kassay_validator_seconds_total{topic=\"t\",validator=\"NonEmptyValue\"} 0."));
	http_free(&http);
}

static void chains_are_exchanged(void **state)
{
	struct kc_conn *conn = dial(&run, 1);
	json_t *json;

	(void)state;
	json = http_json(&run, 200, "PUT", "/v1/validators",
			 "{\"configs\": {\"record.validator.classes\": \"RejectAll\", "
			 "\"record.validator.RejectAll.text\": \"all\"}}");
	/* A topic's own goes before. */
	assert_string_equal(str_at(json, "t.classes"), "RequiredHeader,NonEmptyValue");
	json_decref(json);
	make_topic(&run, "w");
	assert_int_equal(send_records(conn, "w", "{'value': 'v'}"), 87);
	put("{\"configs\": {\"record.validator.classes\": null, \"record.validator.RejectAll.text\": null}}");
	assert_int_equal(send_records(conn, "w", "{'value': 'v'}"), 0);
	put("{\"topic\": \"t\", \"configs\": {\"record.validator.classes\": \"\"}}");
	assert_int_equal(send_records(conn, "t", "{'value': ''}"), 0);
	json = http_json(&run, 200, "GET", "/v1/validators", NULL);
	assert_null(at(json, "t"));
	json_decref(json);
	kc_free(conn);
}

static void wrong_chains_are_refused(void **state)
{
	static const struct {
		const char *body, *error;
	} rows[] = {
		{"{}", "body:1: $: missing member \"configs\""},
		{"{\"configs\": {\"retention.ms\": \"1\"}}",
		 "body:1: $.configs[\"retention.ms\"]: is not a "
		 "configuration of validators: record.validator.classes or record.validator.NAME.OPTION is expected"},
		{"{\"configs\": {\"record.validator.clases\": \"x\"}}",
		 "body:1: "
		 "$.configs[\"record.validator.clases\"]: is not a configuration of validators: "
		 "record.validator.classes or record.validator.NAME.OPTION is expected"},
		{"{\"configs\": {\"record.validator.classes\": 1}}",
		 "body:1: $.configs[\"record.validator.classes\"]: must be a string, or null to delete it"},
		{"{\"topic\": \"none\", \"configs\": {\"record.validator.classes\": \"AllowAll\"}}",
		 "UNKNOWN_TOPIC_OR_PARTITION: The topic 'none' does not exist."},
		{"{\"topic\": \"t\", \"configs\": {\"record.validator.classes\": \"AlowAll\"}}",
		 "INVALID_CONFIG: no validator 'AlowAll', did you mean 'AllowAll'"},
		{"{\"configs\": {\"record.validator.classes\": \"RejectEvery,RequiredHeader\", "
		 "\"record.validator.RequiredHeadr.name\": \"h\"}}",
		 "body:1: $.configs[\"record.validator.RequiredHeadr.name\"]: 'RequiredHeadr.name' is no option of "
		 "'RejectEvery,RequiredHeader', did you mean 'RequiredHeader.name'"},
		{"{\"configs\": {\"record.validator.classes\": \"RequiredHeader\", "
		 "\"record.validator.RejectAll.text\": \"no\"}}",
		 "body:1: $.configs[\"record.validator.RejectAll.text\"]: 'RejectAll.text' is no option of "
		 "'RequiredHeader': NAME.OPTION is expected, with a NAME of that list"},
		{"{\"configs\": {\"record.validator.classes\": \"RequiredHeader\"}}",
		 "INVALID_CONFIG: validator RequiredHeader: option name is not set: it must be a text that is not "
		 "empty"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		http_error(&run, 400, "PUT", "/v1/validators", rows[i].body, rows[i].error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_oldest_go_first),
		cmocka_unit_test(bytes_are_bounded),
		cmocka_unit_test(a_listing_has_one_row_at_least),
		cmocka_unit_test(answers_are_bounded),
		cmocka_unit_test(no_shorter_list_without_memory),
		cmocka_unit_test(headers_that_were_skimmed_are_only_counted),
		cmocka_unit_test(what_is_kept_can_be_chosen),
		cmocka_unit_test(refused_records_can_be_read),
		cmocka_unit_test(metrics_have_every_validator),
		cmocka_unit_test(chains_are_exchanged),
		cmocka_unit_test(wrong_chains_are_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
