#include "fakebroker/hooks/workers.h"
#include "fakebroker/tests/judged.h"

/* ---- the chain ---- */

static void test_empty_list_is_stock_kafka(void **state)
{
	struct fb_rejection rejection;
	struct kw_record record = {0};
	struct fb_chain *chain = make("  ", NULL);
	json_t *json;

	(void)state;
	assert_null(chain);
	assert_int_equal(fb_chain_validate(chain, &orders, 0, &record, &rejection), 0);
	assert_int_equal(fb_chain_size(chain), 0);
	assert_string_equal(fb_chain_classes(chain), "");
	json = fb_chain_json(chain);
	assert_int_equal(json_array_size(json), 0);
	json_decref(json);
	assert_null(fb_chain_ref(chain));
	fb_chain_unref(chain);
}

static void test_bad_lists(void **state)
{
	(void)state;
	assert_refused("AlowAll", NULL, KT_EUNKNOWN, "no validator 'AlowAll', did you mean 'AllowAll'");
	assert_refused("Whatever1234", NULL, KT_EUNKNOWN, "no validator 'Whatever1234'");
	assert_refused("AllowAll,,RejectAll", NULL, KT_EUSAGE, "the list of validators has an entry that is empty");
	assert_refused("AllowAll,", NULL, KT_EUSAGE, "the list of validators has an entry that is empty");
	assert_refused("AllowAll, AllowAll", NULL, KT_EUSAGE, "validator AllowAll is in the list twice");
	assert_refused("Slow", NULL, KT_EPLUGIN,
		       "validator Slow: option ms is not set: it must be a whole number of 0 to 2147483647");
	assert_refused("RejectEvery", NULL, KT_EPLUGIN,
		       "validator RejectEvery: one of the options n and share must be set");
	assert_refused("RejectEvery", (struct setting[]){{"record.validator.RejectEvery.n", "0"}, {0}}, KT_EPLUGIN,
		       "validator RejectEvery: option n is '0', but must be a whole number of 1 to 2147483647");
	assert_refused("Utf8", (struct setting[]){{"record.validator.Utf8.part", "body"}, {0}}, KT_EPLUGIN,
		       "validator Utf8: option part is 'body', but must be one of value key both");
	assert_refused("AllowAll", (struct setting[]){{"record.validator.AllowAll.topics", "a,,b"}, {0}}, KT_EUSAGE,
		       "record.validator.AllowAll.topics has an empty entry");
	assert_refused("Failing", (struct setting[]){{"record.validator.Failing.create", "true"}, {0}}, KT_EPLUGIN,
		       "validator Failing: fails as it was told to");
}

static void test_first_error_wins_in_list_order(void **state)
{
	static const struct setting settings[] = {
		{"record.validator.RejectAll.text", "second"},
		{"record.validator.RequiredHeader.name", "trace-id"},
		{0},
	};
	struct fb_chain *chain = make(" AllowAll , RequiredHeader,RejectAll", settings);
	struct kw_header header = {kw_str("trace-id"), {NULL, -1}};
	struct kw_record bare = {0}, traced = {.nheaders = 1, .headers = &header};
	struct fb_rejection rejection;
	struct fb_validator_stats stats;

	(void)state;
	assert_int_equal(fb_chain_size(chain), 3);
	assert_string_equal(fb_chain_classes(chain), " AllowAll , RequiredHeader,RejectAll");
	assert_int_equal(fb_chain_validate(chain, &orders, 0, &bare, &rejection), 1);
	assert_string_equal(rejection.validator, "RequiredHeader");
	assert_string_equal(rejection.text, "RequiredHeader: header 'trace-id' is missing");
	assert_int_equal(fb_chain_validate(chain, &orders, 1, &traced, &rejection), 1);
	assert_string_equal(rejection.validator, "RejectAll");
	assert_string_equal(rejection.text, "second");

	fb_chain_stats(chain, 0, &stats);
	assert_string_equal(stats.name, "AllowAll");
	assert_int_equal(stats.seen, 2);
	assert_int_equal(stats.refused, 0);
	fb_chain_stats(chain, 1, &stats);
	assert_int_equal(stats.seen, 2);
	assert_int_equal(stats.refused, 1);
	fb_chain_stats(chain, 2, &stats);
	assert_int_equal(stats.seen, 1);
	assert_int_equal(stats.refused, 1);
	assert_int_equal(stats.failed, 0);
	fb_chain_unref(chain);
}

static void test_own_error_code(void **state)
{
	static const struct {
		const char *own;
		int16_t answered;
	} rows[] = {{"32", 32}, {"87", 87}, {"44", 87}, {"0", 87}, {"-1", 87}};
	struct kw_record record = {0};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct setting settings[] = {{"record.validator.RejectAll.error", rows[i].own}, {0}};
		struct fb_chain *chain = make("RejectAll", settings);
		struct fb_rejection rejection;

		assert_int_equal(fb_chain_validate(chain, &orders, 0, &record, &rejection), 1);
		assert_int_equal(rejection.error, rows[i].answered);
		assert_string_equal(rejection.text, "RejectAll: refused");
		fb_chain_unref(chain);
	}
}

static void test_failing_validator_refuses_and_is_logged_once(void **state)
{
	struct fixture fixture = FIXTURE(NULL);
	struct fb_hook_env env = fixture_env(&fixture);
	struct fb_rejection rejection;
	struct fb_validator_stats stats;
	struct kw_record record = {0};
	struct fb_chain *chain;
	int i;

	(void)state;
	assert_int_equal(fb_chain_new("Failing,RejectAll", &env, &chain, NULL), 0);
	for (i = 0; i < 100; i++) {
		assert_int_equal(fb_chain_validate(chain, &orders, i, &record, &rejection), 1);
		assert_int_equal(rejection.error, KW_ERR_INVALID_RECORD);
		assert_string_equal(rejection.text, "validator Failing failed");
		assert_string_equal(rejection.validator, "Failing");
		if (i == 0) {
			assert_int_equal(fixture.lines, 1);
			assert_int_equal(fixture.last_level, KASSAY_ERROR);
			assert_string_equal(fixture.last, "Failing failed (failure 1): fails as it was told to");
		}
	}
	fb_chain_stats(chain, 0, &stats);
	assert_int_equal(stats.seen, 100);
	assert_int_equal(stats.failed, 100);
	assert_int_equal(stats.refused, 0);
	fb_chain_stats(chain, 1, &stats);
	assert_int_equal(stats.seen, 0);
	fb_chain_unref(chain);
}

static void test_text_is_mended_and_cut(void **state)
{
	char text[3000];
	struct setting settings[] = {{"record.validator.RejectAll.text", text}, {0}};

	(void)state;
	snprintf(text, sizeof text, "na\xc3\xafve \xff\xfe");
	assert_string_equal(judge_value("RejectAll", settings, "x"), "na\xc3\xafve ??");
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	assert_int_equal(strlen(judge_value("RejectAll", settings, "x")), 511);
}

static void test_topics_option(void **state)
{
	static const struct setting settings[] = {{"record.validator.RejectAll.topics", "pay*, orders"}, {0}};
	static const struct {
		const char *topic;
		int refused;
	} rows[] = {{"orders", 1}, {"payments", 1}, {"order", 0}, {"prepay", 0}};
	struct fb_chain *chain = make("RejectAll", settings);
	struct fb_validator_stats stats;
	struct fb_rejection rejection;
	struct kw_record record = {0};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct fb_batch_place place = {.topic = rows[i].topic};

		assert_int_equal(fb_chain_validate(chain, &place, 0, &record, &rejection), rows[i].refused);
	}
	fb_chain_stats(chain, 0, &stats);
	assert_int_equal(stats.seen, 2);
	fb_chain_unref(chain);
}

static void test_json(void **state)
{
	struct fb_chain *chain = make("RejectAll", NULL);
	struct fb_rejection rejection;
	struct kw_record record = {0};
	json_t *json;
	const char *name;
	json_int_t seen, refused, failed, ns;
	int retired;

	(void)state;
	fb_chain_validate(chain, &orders, 0, &record, &rejection);
	json = fb_chain_json(chain);
	assert_int_equal(json_unpack(json, "[{s:s, s:I, s:I, s:I, s:I, s:i !}!]", "name", &name, "seen", &seen,
				     "refused", &refused, "failed", &failed, "nanoseconds", &ns, "retiredWorkers",
				     &retired), 0);
	assert_string_equal(name, "RejectAll");
	assert_int_equal(seen, 1);
	assert_int_equal(refused, 1);
	assert_int_equal(failed, 0);
	json_decref(json);
	fb_chain_unref(chain);
}

static void test_check_option(void **state)
{
	static const struct {
		const char *config, *text;
	} rows[] = {
		{"record.validator.RequiredHeader.name", NULL},
		{"record.validator.RequiredHeader.topics", NULL},
		{"record.validator.AllowAll.topics", NULL},
		{"record.validator.JsonSyntax.unique.keys", NULL},
		{"record.validator.RequiredHeader.nmae", "'RequiredHeader.nmae' is no option, did you mean 'name'"},
		{"record.validator.RequiredHeaders.name", NULL},
		{"record.validator.AllowAll.anything", "'AllowAll.anything' is no option"},
		{"record.validator.zzzzzz", NULL},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct kt_err err = {0};

		assert_int_equal(fb_chain_check_option(NULL, NULL, rows[i].config, &err),
				 rows[i].text ? KT_EUNKNOWN : 0);
		if (rows[i].text)
			assert_string_equal(err.text, rows[i].text);
	}
}

/* ---- exchanged while in use ---- */

struct swapped {
	pthread_mutex_t lock;
	struct fb_chain *chain;
	int rounds;
};

static void *produce(void *arg)
{
	struct swapped *swapped = arg;
	struct fb_rejection rejection;
	struct kw_record record = {.value = {(const uint8_t *)"{}", 2}, .key = {(const uint8_t *)"k", 1}};
	int i;

	for (i = 0; i < swapped->rounds; i++) {
		struct fb_chain *chain;

		pthread_mutex_lock(&swapped->lock);
		chain = fb_chain_ref(swapped->chain);
		pthread_mutex_unlock(&swapped->lock);
		fb_chain_validate(chain, &orders, i, &record, &rejection);
		fb_chain_unref(chain);
	}
	return NULL;
}

static void test_swap_under_load(void **state)
{
	static const char *const lists[] = {"RejectEvery,JsonSyntax", "KeyPattern,Failing", "", "RequiredHeader"};
	static const struct setting settings[] = {
		{"record.validator.RejectEvery.n", "2"}, {"record.validator.KeyPattern.pattern", "k"},
		{"record.validator.RequiredHeader.name", "h"}, {0},
	};
	struct swapped swapped = {PTHREAD_MUTEX_INITIALIZER, make(lists[0], settings), 2000};
	pthread_t threads[3];
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, produce, &swapped), 0);
	for (i = 1; i < 50; i++) {
		struct fb_chain *fresh = make(lists[i % 4], settings), *old;

		pthread_mutex_lock(&swapped.lock);
		old = swapped.chain;
		swapped.chain = fresh;
		pthread_mutex_unlock(&swapped.lock);
		fb_chain_unref(old);
	}
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	fb_chain_unref(swapped.chain);
}

/* A validator that never comes back costs its record, its worker, and after four of them every record. */
static void test_time_limit(void **state)
{
	static const struct setting settings[] = {
		{"record.validator.timeout.ms", "20"}, {"record.validator.Slow.ms", "600000"}, {NULL, NULL},
	};
	struct fb_chain *chain = make("AllowAll,Slow", settings);
	const struct kw_record record = {.key = {NULL, -1}, .value = {(const uint8_t *)"v", 1}};
	struct fb_validator_stats stats;
	struct fb_rejection rejection;

	(void)state;
	for (int batch = 0; batch < FB_MOST_RETIRED; batch++) {
		struct fb_batch_place place = {.topic = "orders"};

		assert_int_equal(fb_chain_validate(chain, &place, 0, &record, &rejection), 1);
		assert_int_equal(rejection.error, KW_ERR_INVALID_RECORD);
		assert_string_equal(rejection.validator, "Slow");
		assert_string_equal(rejection.text, "validator Slow failed");
		/* The rest of the batch is not looked at. */
		assert_int_equal(fb_chain_validate(chain, &place, 1, &record, &rejection), 0);
		fb_chain_stats(chain, 1, &stats);
		assert_int_equal(stats.retired, batch + 1);
		assert_int_equal(stats.failed, batch + 1);
	}
	/* Now it is not called any more. */
	for (int32_t i = 0; i < 100; i++) {
		struct fb_batch_place place = {.topic = "orders"};

		assert_int_equal(fb_chain_validate(chain, &place, i, &record, &rejection), 1);
		assert_string_equal(rejection.text, "validator Slow failed");
	}
	fb_chain_stats(chain, 1, &stats);
	assert_int_equal(stats.retired, FB_MOST_RETIRED);
	assert_int_equal(stats.failed, FB_MOST_RETIRED + 100);
	fb_chain_stats(chain, 0, &stats);
	assert_int_equal(stats.failed, 0);
	fb_chain_unref(chain);
	fb_workers_stop();
}

/* In time, a chain with a limit says what one without says. */
static void test_within_the_limit(void **state)
{
	static const struct setting limited[] = {
		{"record.validator.timeout.ms", "60000"},
		{"record.validator.RequiredHeader.name", "trace-id"}, {NULL, NULL},
	};
	struct kw_header header = {{"trace-id", 8}, {(const uint8_t *)"7", 1}};
	struct kw_record good = {.key = {NULL, -1}, .value = {(const uint8_t *)"v", 1}, .nheaders = 1,
				 .headers = &header};
	struct kw_record bare = {.key = {(const uint8_t *)"", 0}, .value = {NULL, -1}};

	(void)state;
	assert_null(judge("NonEmptyValue,RequiredHeader", limited, &good));
	assert_string_equal(judge("NonEmptyValue,RequiredHeader", limited, &bare),
			    judge("NonEmptyValue,RequiredHeader", limited + 1, &bare));
	assert_refused("AllowAll", (const struct setting[]){{"record.validator.timeout.ms", "soon"}, {NULL, NULL}},
		       KT_ETYPE, "record.validator.timeout.ms must be a whole number, not \"soon\"");
	fb_workers_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_list_is_stock_kafka),
		cmocka_unit_test(test_bad_lists),
		cmocka_unit_test(test_first_error_wins_in_list_order),
		cmocka_unit_test(test_own_error_code),
		cmocka_unit_test(test_failing_validator_refuses_and_is_logged_once),
		cmocka_unit_test(test_text_is_mended_and_cut),
		cmocka_unit_test(test_topics_option),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_check_option),
		cmocka_unit_test(test_time_limit),
		cmocka_unit_test(test_within_the_limit),
		cmocka_unit_test(test_swap_under_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
