/* diff: the mutations of a seed, how they shrink, and what is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conformance/diff/known.h"
#include "conformance/diff/mutation.h"
#include "conformance/diff/shrink.h"
#include "lib/wire/batch.h"

static const int64_t NOW_MS = 1700000000000;

static void a_seed_repeats(void **state)
{
	struct cf_dice one = {7}, same = {7}, other = {8};
	int different = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		json_t *a = cf_mutation(&one, NOW_MS, false), *b = cf_mutation(&same, NOW_MS, false);
		json_t *c = cf_mutation(&other, NOW_MS, false);

		assert_non_null(a);
		assert_true(json_equal(a, b));
		different += !json_equal(a, c);
		json_decref(a);
		json_decref(b);
		json_decref(c);
	}
	assert_true(different > 190);
}

/* CRC-32C of the texts of the first 500 mutations of a seed. */
static uint32_t crc_of(uint64_t seed, bool old)
{
	struct cf_dice dice = {seed};
	uint32_t crc = 0;

	for (int i = 0; i < 500; i++) {
		json_t *mutation = cf_mutation(&dice, NOW_MS, old);
		char *text = json_dumps(mutation, JSON_COMPACT);

		crc = kw_crc32c(crc, text, strlen(text));
		free(text);
		json_decref(mutation);
	}
	return crc;
}

/* Whoever is told a seed sees the same, whatever compiled it: dice are rolled in an order that C defines. Where a
 * change to the mutations is meant, these numbers change. */
static void a_seed_is_the_same_everywhere(void **state)
{
	(void)state;
	assert_int_equal(crc_of(1, false), 0x5878f963);
	assert_int_equal(crc_of(1, true), 0x4de383b0);
}

static bool can_be_encoded(json_t *mutation)
{
	json_t *partition;
	bool ok = true;
	size_t i;

	json_array_foreach(json_object_get(mutation, "partitions"), i, partition) {
		json_t *batches = json_object_get(partition, "batches");
		struct kw_buf buf = {0};

		ok = ok && (json_is_null(batches) || kw_batches_from_json(batches, &buf, NULL) == 0);
		kw_buf_fini(&buf);
	}
	return ok;
}

/* Nearly all can be sent, most of them are wrong in some way, and every kind of topic has its turn. */
static void mutations_are_of_use(void **state)
{
	struct cf_dice dice = {1};
	int sendable = 0, kinds[16] = {0};

	(void)state;
	for (int i = 0; i < 1000; i++) {
		json_t *mutation = cf_mutation(&dice, NOW_MS, false);

		sendable += can_be_encoded(mutation);
		for (int k = 0; cf_diff_topics[k].kind; k++)
			kinds[k] += strcmp(json_string_value(json_object_get(mutation, "topic")),
					   cf_diff_topics[k].kind) == 0;
		json_decref(mutation);
	}
	assert_in_range(sendable, 800, 1000);
	for (int k = 0; cf_diff_topics[k].kind; k++)
		assert_true(kinds[k] > 20);
}

static bool has_magic(json_t *mutation, int64_t magic)
{
	json_t *partition, *batch, *given;
	size_t i, k;

	json_array_foreach(json_object_get(mutation, "partitions"), i, partition)
		json_array_foreach(json_object_get(partition, "batches"), k, batch) {
			given = json_object_get(batch, "magic");
			if (given && json_integer_value(given) == magic)
				return true;
		}
	return false;
}

/* Half of them are of versions 0 to 2, in which messages of both magics are sent, most of which can be encoded. */
static void old_ones_are_of_use(void **state)
{
	struct cf_dice dice = {1}, same = {1};
	int old = 0, sendable = 0, magics[2] = {0};

	(void)state;
	for (int i = 0; i < 1000; i++) {
		json_t *mutation = cf_mutation(&dice, NOW_MS, true), *again = cf_mutation(&same, NOW_MS, true);

		assert_true(json_equal(mutation, again));
		if (json_integer_value(json_object_get(mutation, "version")) < 3) {
			old++;
			sendable += can_be_encoded(mutation);
			magics[0] += has_magic(mutation, 0);
			magics[1] += has_magic(mutation, 1);
		}
		json_decref(mutation);
		json_decref(again);
	}
	assert_in_range(old, 400, 600);
	assert_in_range(sendable, old * 7 / 10, old);
	assert_true(magics[0] > 150 && magics[1] > 150);
}

static void every_kind_has_a_configuration(void **state)
{
	(void)state;
	for (int k = 0; cf_diff_topics[k].kind; k++) {
		json_t *configs = cf_diff_configs(cf_diff_topics[k].kind);

		assert_true(json_is_object(configs));
		assert_int_equal(json_object_size(configs) == 0, k == 0);
		json_decref(configs);
	}
}

/* ' for ", which is easier on the eye. */
static json_t *quoted(const char *given)
{
	char text[1024];
	json_t *json;

	snprintf(text, sizeof text, "%s", given);
	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	json = json_loads(text, 0, NULL);
	assert_non_null(json);
	return json;
}

/* Differs wherever some record has a header. */
static bool has_header(json_t *json)
{
	const char *key;
	json_t *value;
	size_t i;

	json_array_foreach(json, i, value)
		if (has_header(value))
			return true;
	json_object_foreach(json, key, value)
		if ((strcmp(key, "headers") == 0 && json_array_size(value) > 0) || has_header(value))
			return true;
	return false;
}

static bool differs(void *arg, json_t *mutation)
{
	++*(int *)arg;
	return has_header(mutation);
}

static void what_makes_no_difference_is_left_out(void **state)
{
	json_t *large = quoted("{'topic': 'gzip', 'version': 9, 'acks': 1, 'partitions': [{'index': 0, 'batches': "
			       "[{'records': [{'key': 'k'}], 'codec': 'zstd'}]}, {'index': 1, 'batches': [{'records': "
			       "[{}, {'key': 'k', 'value': 'v', 'headers': [{'key': 'h', 'value': 'x'}]}, {}], "
			       "'count': 9, 'edits': [{'edit': 'flip-bit', 'at': 3, 'bit': 1}]}]}]}");
	json_t *least = quoted("{'topic': 'plain', 'version': 12, 'acks': -1, 'partitions': [{'index': 1, 'batches': "
			       "[{'records': [{'headers': [{'key': 'h', 'value': 'x'}]}]}]}]}"), *small;
	int asked = 0;

	(void)state;
	small = cf_shrink(large, differs, &asked, 200);
	assert_true(json_equal(small, least));
	assert_in_range(asked, 5, 201);
	json_decref(small);
	/* Not more questions than are allowed, and never less than what it was if nothing was found. */
	asked = 0;
	small = cf_shrink(large, differs, &asked, 3);
	assert_in_range(asked, 1, 4);
	assert_true(has_header(small));
	json_decref(small);
	small = cf_shrink(least, differs, &asked, 200);
	assert_true(json_equal(small, least));
	json_decref(small);
	json_decref(large);
	json_decref(least);
}

/* A message stays one, and what has a time keeps it: both sides must get the same. */
static void an_old_request_stays_old(void **state)
{
	json_t *large = quoted("{'topic': 'gzip', 'version': 1, 'acks': 1, 'partitions': [{'index': 0, 'batches': "
			       "[{'magic': 1, 'records': [{'key': 'k', 'timestamp': 5, 'offset': 3, 'headers': [{}]}], "
			       "'codec': 'lz4'}]}]}");
	json_t *least = quoted("{'topic': 'plain', 'version': 2, 'acks': -1, 'partitions': [{'index': 0, 'batches': "
			       "[{'magic': 1, 'records': [{'timestamp': 5, 'headers': [{}]}]}]}]}"), *small;
	int asked = 0;

	(void)state;
	small = cf_shrink(large, differs, &asked, 200);
	assert_true(json_equal(small, least));
	json_decref(small);
	json_decref(large);
	json_decref(least);
}

static void known_differences_have_a_reason(void **state)
{
	json_t *null = json_loads("{\"partitions\": [{\"index\": 0, \"batches\": null}]}", 0, NULL);
	json_t *right = json_loads("{\"partitions\": [{\"index\": 0, \"batches\": []}]}", 0, NULL);
	json_t *silent = json_loads("{\"answered\": false}", 0, NULL),
	       *answered = json_loads("{\"answered\": true}", 0, NULL);
	const struct cf_known_row *row;
	struct cf_known known;
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(cf_known_load(&known, "conformance", &err), 0);
	row = cf_known_find(&known, null, silent, answered);
	assert_non_null(row);
	assert_string_equal(row->id, "null-records");
	assert_int_equal(row->met, 1);
	assert_null(cf_known_find(&known, right, silent, answered));
	assert_null(cf_known_find(&known, null, answered, answered));
	cf_known_free(&known);
	assert_int_equal(cf_known_load(&known, "fixtures", &err), 0);
	assert_int_equal(known.n, 0);
	cf_known_free(&known);
	json_decref(null);
	json_decref(right);
	json_decref(silent);
	json_decref(answered);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_seed_repeats),
		cmocka_unit_test(a_seed_is_the_same_everywhere),
		cmocka_unit_test(mutations_are_of_use),
		cmocka_unit_test(old_ones_are_of_use),
		cmocka_unit_test(every_kind_has_a_configuration),
		cmocka_unit_test(what_makes_no_difference_is_left_out),
		cmocka_unit_test(an_old_request_stays_old),
		cmocka_unit_test(known_differences_have_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
