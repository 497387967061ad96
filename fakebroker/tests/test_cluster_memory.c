/* A registration or an alteration for which there is not memory enough says so, whatever call it was that failed, and
 * leaves everything as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fakebroker/cluster/cluster.h"
#include "fakebroker/cluster/log_line.h"
#include "lib/wire/tests/failing_malloc.h"

enum { LONG = 32000 };   /* larger than the first chunks of an arena */

static struct fb_cluster *cluster;
static char texts[3][LONG + 1];

static int setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++)
		memset(texts[i], "xyz"[i], LONG);
	return fb_cluster_new(fb_release_find("4.4"), 33, 1, &cluster, NULL);
}

static int teardown(void **state)
{
	(void)state;
	fb_cluster_free(cluster);
	return 0;
}

static void expect_copy(const char *copy, const char *text)
{
	assert_string_equal(copy, text);
	assert_ptr_not_equal(copy, text);
}

static void expect_broker(const struct fb_broker *broker)
{
	expect_copy(broker->rack, texts[0]);
	expect_copy(broker->listeners[0].name, texts[1]);
	expect_copy(broker->listeners[0].host, texts[2]);
	expect_copy(broker->view.features[0].name.s, texts[0]);
	expect_copy(broker->view.statics[0].name.s, texts[1]);
	expect_copy(broker->view.statics[0].value.s, texts[2]);
}

static void registers_or_not(void **state)
{
	const struct fb_listener_view listener = {kw_str(texts[1]), kw_str(texts[2]), 9, 0};
	const struct fb_feature_range feature = {kw_str(texts[0]), 0, 1};
	const struct fb_static_config statics = {.name = kw_str(texts[1]), .value = kw_str(texts[2])};
	const struct fb_register_view view = {
		.version = 5, .brokerId = 50, .rack = kw_str(texts[0]), .listeners = &listener, .nlisteners = 1,
		.features = &feature, .nfeatures = 1, .statics = &statics, .nstatics = 1,
	};
	bool failed = true;
	int64_t epoch;
	long calls;

	(void)state;
	for (calls = 0; failed; calls++) {
		int64_t start = cluster->metadata.start, end = cluster->metadata.end;
		int code;

		failing_malloc_left = calls;
		code = fb_cluster_register(cluster, &view, true, false, &epoch);
		failed = failing_malloc_left < 0;
		failing_malloc_left = -1;
		assert_true(code == 0 || code == KT_ENOMEM);
		assert_true(code || epoch == end);
		assert_int_equal(fb_metadata_next(&cluster->metadata), code ? end : end + 1);
		assert_int_equal(cluster->nbrokers, code ? 0 : 1);
		if (code) {
			assert_int_equal(cluster->metadata.start, start);
			continue;
		}
		expect_broker(fb_cluster_broker(cluster, 50));
		fb_cluster_unregister(cluster, 50);
	}
	assert_true(calls > 10);
}

static struct kw_str value_of(const char *name)
{
	return fb_configs_dynamic(cluster->configs, FB_BROKER, kw_str(""), kw_str(name));
}

static void set(const char *value, int *code)
{
	const struct fb_change change = {FB_BROKER, kw_str(""), kw_str("nobody.knows"), kw_str(value)};
	struct kt_err err = {0};

	*code = fb_cluster_configure(cluster, &change, 1, &err);
}

static void configures_or_not(void **state)
{
	int code;
	long calls;

	(void)state;
	set(texts[0], &code);
	assert_int_equal(code, 0);
	code = KT_ENOMEM;
	for (calls = 0; code; calls++) {
		int32_t written = cluster->metadata.nrecords;

		failing_malloc_left = calls;
		set(texts[1], &code);
		failing_malloc_left = -1;
		assert_true(code == 0 || code == KT_ENOMEM);
		assert_true(kw_str_is(value_of("nobody.knows"), texts[code ? 0 : 1]));
		assert_int_equal(cluster->metadata.nrecords, written + !code);
		assert_int_equal(fb_metadata_fits(&cluster->metadata), 0);
	}
	assert_true(calls > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_or_not),
		cmocka_unit_test(configures_or_not),
	};

	fb_log_level(KASSAY_ERROR + 1);
	return cmocka_run_group_tests(tests, setup, teardown);
}
