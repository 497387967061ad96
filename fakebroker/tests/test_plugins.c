/* Plugin files: good ones, built from the public headers alone, and what can be wrong with one. */
#include "fakebroker/tests/hook_fixtures.h"

#include <dlfcn.h>

#include "fakebroker/hooks/plugin.h"
#include "fakebroker/hooks/validators.h"
#include "fakebroker/tests/show_exchange.h"

static const struct setting ids[] = {
	{"record.validator.WireFormat.ids", "7,8"}, {"observer.SlowRequests.ms", "2"}, {0},
};

/* Path of the plugin with "#name" behind it. */
static const char *entry_of(const char *plugin, const char *name)
{
	static char entry[PATH_MAX + 64];
	char path[PATH_MAX];

	snprintf(entry, sizeof entry, "%s#%s", plugin_path(plugin, path), name);
	return entry;
}

/* ---- good ones ---- */

static void test_validator_plugin(void **state)
{
	static const uint8_t good[] = {0, 0, 0, 0, 7, 'x'}, other[] = {0, 0, 0, 0, 9}, json[] = "{\"a\":1}";
	struct fixture fixture = FIXTURE(ids);
	struct fb_hook_env env = fixture_env(&fixture);
	struct fb_batch_place place = {.topic = "orders"};
	struct kw_record record = {.value = {good, sizeof good}};
	struct fb_rejection rejection;
	struct fb_chain *chain;
	struct kt_err err = {0};

	(void)state;
	if (fb_chain_new(entry_of("wire_format", "WireFormat"), &env, &chain, &err) != 0)
		fail_msg("%s", err.text);
	assert_string_equal(fixture.last, "WireFormat: checks schema numbers");
	assert_int_equal(fb_chain_validate(chain, &place, 0, &record, &rejection), 0);
	record.value = (struct kw_bytes){other, sizeof other};
	assert_int_equal(fb_chain_validate(chain, &place, 0, &record, &rejection), 1);
	assert_string_equal(rejection.text, "WireFormat: schema 9 is not allowed for the value");
	assert_string_equal(rejection.validator, "WireFormat");
	record.value = (struct kw_bytes){json, sizeof json - 1};
	assert_int_equal(fb_chain_validate(chain, &place, 0, &record, &rejection), 1);
	assert_string_equal(rejection.text, "WireFormat: the value starts with byte 0x7b, not with 0x00");
	record.value.n = -1;
	assert_int_equal(fb_chain_validate(chain, &place, 0, &record, &rejection), 0);
	assert_int_equal(fb_chain_check_option(chain, NULL, "record.validator.WireFormat.ids", NULL), 0);
	assert_int_equal(fb_chain_check_option(chain, NULL, "record.validator.WireFormat.id", NULL), KT_EUNKNOWN);
	fb_chain_unref(chain);
}

static void test_observer_plugin(void **state)
{
	struct fixture fixture = FIXTURE(ids);
	struct fb_hook_env env = fixture_env(&fixture);
	struct fb_observer *observer;
	struct fb_exchange exchange;
	struct kt_err err = {0};
	const int32_t node = 1;
	char *text;

	(void)state;
	assert_int_equal(fb_observer_new(entry_of("slow_requests", "SlowRequests"), &env, &observer, &err), 0);
	if (err.code)
		fail_msg("%s", err.text);
	exchange_init(&exchange);
	exchange.view.api = "Fetch";
	exchange.view.apiKey = 1;
	exchange.view.apiVersion = 13;
	exchange.view.service_ns = 1000000;
	show_exchange(observer, &exchange, false);
	assert_int_equal(fixture.lines, 0);
	exchange.view.queue_ns = 1500000;
	show_exchange(observer, &exchange, false);
	assert_string_equal(fixture.last, "SlowRequests: Fetch v13 of client '' took 2500 us");
	text = fb_observer_prometheus(&observer, &node, 1);
	assert_non_null(strstr(text, "\nkassay_slow_requests_total{node=\"1\",observer=\"SlowRequests\","
				     "api=\"Fetch\"} 1\n"));
	free(text);
	fb_observer_unref(observer);
}

static void test_plain_names_of_listed_plugins(void **state)
{
	struct fixture fixture = FIXTURE(ids);
	struct fb_hook_env env = fixture_env(&fixture);
	char observers[PATH_MAX], validators[PATH_MAX];
	const char *const plugins[] = {
		plugin_path("slow_requests", observers), plugin_path("wire_format", validators), NULL,
	};
	struct fb_chain *chain;
	struct kt_err err = {0};

	(void)state;
	env.plugins = plugins;
	if (fb_chain_new("NonEmptyValue,WireFormat", &env, &chain, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(fb_chain_size(chain), 2);
	fb_chain_unref(chain);
	assert_int_equal(fb_chain_new("WireFormats", &env, &chain, &err), KT_EUNKNOWN);
	assert_string_equal(err.text, "no validator 'WireFormats'");
}

/* ---- bad ones ---- */

static void assert_validator_fails(const char *entry, int code, const char *text)
{
	struct fixture fixture = FIXTURE(NULL);
	struct fb_hook_env env = fixture_env(&fixture);
	struct fb_chain *chain;
	struct kt_err err = {0};

	assert_int_equal(fb_chain_new(entry, &env, &chain, &err), code);
	if (!strstr(err.text, text))
		fail_msg("'%s' is not in '%s'", text, err.text);
}

static void assert_observer_falls_back(const char *entry, int code, const char *text)
{
	struct fixture fixture = FIXTURE(NULL);
	struct fb_hook_env env = fixture_env(&fixture);
	struct fb_observer *observer;
	struct kt_err err = {0};

	assert_int_equal(fb_observer_new(entry, &env, &observer, &err), 0);
	assert_int_equal(err.code, code);
	if (!strstr(err.text, text))
		fail_msg("'%s' is not in '%s'", text, err.text);
	assert_int_equal(fixture.last_level, KASSAY_ERROR);
	fb_observer_unref(observer);
}

static void test_bad_validator_plugins(void **state)
{
	(void)state;
	assert_validator_fails("/nonexistent/v.so#X", KT_EPLUGIN, "plugin /nonexistent/v.so cannot be loaded: ");
	assert_validator_fails("no-such.so#X", KT_EPLUGIN, "./no-such.so");
	assert_validator_fails("#X", KT_EPLUGIN, "cannot be loaded");
	assert_validator_fails(entry_of("wire_format", "WireFormat2"), KT_EUNKNOWN, "did you mean 'WireFormat'");
	assert_validator_fails(entry_of("wire_format", ""), KT_EUNKNOWN, "no validator ''");
	assert_validator_fails(entry_of("slow_requests", "SlowRequests"), KT_EUNKNOWN,
			       "has no symbol kassay_validator");
	assert_validator_fails(entry_of("broken_tables", "X"), KT_EPLUGIN, "has validator ABI 99, this broker has 1");
	assert_validator_fails(entry_of("broken_classes", "Hollow"), KT_EPLUGIN,
			       "class Hollow has no function validate");
	assert_validator_fails(entry_of("wire_format", "WireFormat"), KT_EPLUGIN,
			       "validator WireFormat: option ids is not set");
}

static void test_bad_observer_plugins(void **state)
{
	(void)state;
	assert_observer_falls_back("/nonexistent/o.so#X", KT_EPLUGIN, "plugin /nonexistent/o.so cannot be loaded: ");
	assert_observer_falls_back(entry_of("slow_requests", "SlowRequest"), KT_EUNKNOWN,
				   "did you mean 'SlowRequests'");
	assert_observer_falls_back(entry_of("wire_format", "WireFormat"), KT_EUNKNOWN, "has no symbol kassay_observer");
	assert_observer_falls_back(entry_of("broken_tables", "X"), KT_EPLUGIN, "kassay_observer has 8 bytes");
	assert_observer_falls_back(entry_of("broken_classes", "Stunted"), KT_EPLUGIN, "a class of 16 bytes, at least ");
}

static void test_check_of_a_file(void **state)
{
	char path[PATH_MAX];
	struct kt_err err = {0};
	Dl_info cmocka;

	(void)state;
	assert_int_equal(fb_plugin_check(plugin_path("wire_format", path), NULL), 0);
	assert_int_equal(fb_plugin_check(plugin_path("slow_requests", path), NULL), 0);
	assert_int_equal(fb_plugin_check(plugin_path("broken_classes", path), NULL), KT_EPLUGIN);
	assert_int_equal(fb_plugin_check("no-such.so", NULL), KT_EPLUGIN);
	assert_int_not_equal(dladdr((const void *)(uintptr_t)_assert_true, &cmocka), 0);
	assert_int_equal(fb_plugin_check(cmocka.dli_fname, &err), KT_EPLUGIN);
	assert_non_null(strstr(err.text, "neither symbol kassay_validator nor kassay_observer"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_validator_plugin),
		cmocka_unit_test(test_observer_plugin),
		cmocka_unit_test(test_plain_names_of_listed_plugins),
		cmocka_unit_test(test_bad_validator_plugins),
		cmocka_unit_test(test_bad_observer_plugins),
		cmocka_unit_test(test_check_of_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
