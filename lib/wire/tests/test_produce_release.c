/* What six releases of Kafka answered to the same requests: the verdict for each must be the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/wire/produce_release.h"
#include "lib/wire/verdict.h"

#define TABLE "lib/wire/tests/data/produce_releases.json"

static json_t *table;

static struct kw_topic_conf conf_of(const struct kw_release *release, const char *topic)
{
	struct kw_topic_conf conf = kw_release_conf(release);
	const char *name;
	char number[32];
	json_t *value;

	json_object_foreach(json_object_get(json_object_get(table, "topics"), topic), name, value)
	{
		snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		assert_int_equal(
			kw_topic_conf_set(&conf, name, json_is_string(value) ? json_string_value(value) : number, NULL),
			0);
	}
	return conf;
}

/* [error code, records appended, record errors], or "closed". */
static json_t *verdict(json_t *row, const struct kw_release *release, struct kw_arena *arena)
{
	const char *topic = json_string_value(json_object_get(row, "topic"));
	json_t *now = json_object_get(row, "now");
	struct kw_topic_conf conf = conf_of(release, topic);
	struct kw_meters meters = {0};
	struct kw_leader leader = {
		.topic = topic,
		.conf = &conf,
		.meters = &meters,
		.now = json_integer_value(now ? now : json_object_get(table, "now")),
	};
	int version = (int)json_integer_value(json_object_get(row, "version"));
	struct kw_append_plan *plan = NULL;
	struct kw_buf bytes = {0};
	struct kw_records records;
	struct kw_verdict v;
	bool whole, ok;

	if (version < release->minVersion)
		return json_string("closed");
	assert_int_equal(kw_batches_from_json(json_object_get(row, "batches"), &bytes, NULL), 0);
	records = (struct kw_records){.p = bytes.p, .n = (int32_t)bytes.n};
	kw_verdict_init(&v);
	if (version < 3)
		ok = kw_verdict_shape(version, &records, arena, &v, &whole) &&
		     kw_verdict_old(&leader, &records, arena, &plan, &v);
	else
		ok = kw_verdict_shape(version, &records, arena, &v, &whole) &&
		     kw_verdict_check(&leader, &records, arena, &plan, &v);
	assert_int_equal(ok, v.errorCode == 0);
	assert_int_equal(ok, v.rule < 0);
	kw_buf_fini(&bytes);
	return json_pack("[iii]", v.errorCode, ok && plan ? plan->batch.count : 0, v.nrecordErrors);
}

static void each_release_answers_as_it_did(void **state)
{
	struct kw_arena arena;
	size_t i, asked = 0;
	json_t *row;
	int bad = 0;

	(void)state;
	kw_arena_init(&arena, 0);
	json_array_foreach(json_object_get(table, "cases"), i, row)
	{
		for (size_t r = 0; r < kw_nreleases; r++) {
			json_t *wanted = json_object_get(json_object_get(row, "answers"), kw_releases[r].name);
			json_t *is = verdict(row, &kw_releases[r], &arena);

			assert_non_null(wanted);
			if (!json_equal(is, wanted)) {
				printf("%s: Kafka %s: ", json_string_value(json_object_get(row, "case")),
				       kw_releases[r].name);
				json_dumpf(is, stdout, JSON_ENCODE_ANY);
				printf(", not ");
				json_dumpf(wanted, stdout, JSON_ENCODE_ANY);
				printf("\n");
				bad++;
			}
			json_decref(is);
			asked++;
		}
		kw_arena_reset(&arena);
	}
	kw_arena_fini(&arena);
	assert_int_equal(bad, 0);
	assert_int_equal(asked, 6 * 71);
}

static void a_release_has_names(void **state)
{
	(void)state;
	assert_string_equal(kw_release_find("4.1")->measured, "4.1.1");
	assert_ptr_equal(kw_release_find("4.1.7"), kw_release_find("4.1"));
	assert_null(kw_release_find("4.10"));
	assert_null(kw_release_find("4"));
	assert_null(kw_release_find("2.8"));
	assert_string_equal(kw_releases[kw_nreleases - 1].name, "4.4");
}

static void a_topic_is_configured_by_name(void **state)
{
	struct kw_topic_conf conf = kw_release_conf(kw_release_find("3.9"));
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(conf.afterMaxMs, INT64_MAX);
	assert_int_equal(kw_topic_conf_set(&conf, "cleanup.policy", "compact,delete", NULL), 0);
	assert_true(conf.compact);
	assert_int_equal(kw_topic_conf_set(&conf, "compression.type", "uncompressed", NULL), 0);
	assert_int_equal(conf.compression, KW_NONE);
	assert_int_equal(kw_topic_conf_set(&conf, "compression.type", "zstd", NULL), 0);
	assert_int_equal(conf.compression, KW_ZSTD);
	assert_int_equal(kw_topic_conf_set(&conf, "max.message.bytes", "-1", NULL), KT_ERANGE);
	assert_int_equal(kw_topic_conf_set(&conf, "max.decompressed.message.bytes", "9", NULL), KT_EVERSION);
	assert_int_equal(kw_topic_conf_set(&conf, "max.mesage.bytes", "9", &err), KT_EUNKNOWN);
	assert_string_equal(err.text,
			    "unknown topic configuration \"max.mesage.bytes\"; did you mean \"max.message.bytes\"?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_release_answers_as_it_did),
		cmocka_unit_test(a_release_has_names),
		cmocka_unit_test(a_topic_is_configured_by_name),
	};
	int failed;

	table = json_load_file(TABLE, JSON_REJECT_DUPLICATES, NULL);
	if (!table)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	json_decref(table);
	return failed;
}
