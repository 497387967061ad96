/* Topics with remote storage: what Kafka's LogConfig said of 46 sets of values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fakebroker/config/values.h"

enum { MAX_VALUES = 8 };

static const struct remote_case {
	int line;
	const char *has, *wants;
	bool enabled;
	const char *message;
} cases[] = {
#define REMOTE(has, wants, enabled, message) {__LINE__, has, wants, enabled, message},
#include "fakebroker/tests/remote_cases.def"
#undef REMOTE
};

static bool exists(void *arg, struct kw_str name)
{
	(void)arg;
	(void)name;
	return true;
}

/* "name=value name=value" */
static int32_t split(const char *text, struct fb_alter_config *values)
{
	int32_t n = 0;

	while (*text) {
		size_t len = strcspn(text, " "), name = strcspn(text, "=");

		assert_true(name < len && n < MAX_VALUES);
		values[n++] = (struct fb_alter_config){{text, (int32_t)name}, FB_SET,
						       {text + name + 1, (int32_t)(len - name - 1)}};
		text += len + (text[len] == ' ');
	}
	return n;
}

/* The legacy request: the topic has these values and no others. */
static void alter(struct fb_configs *configs, const char *values, struct kw_arena *arena,
		  struct fb_alter_result *result)
{
	const struct fb_config_facts facts = {.self = 1, .groups = true, .controller = true, .level = 33,
					      .topicExists = exists};
	struct fb_alter_config list[MAX_VALUES];
	const struct fb_alter_resource resource = {FB_TOPIC, kw_str("t"), list, split(values, list)};
	const struct fb_alter_request request = {true, &resource, 1};
	struct fb_alter_answer answer;

	assert_int_equal(fb_alter_check(configs, &facts, &request, arena, &answer), 0);
	assert_int_equal(answer.nresults, 1);
	*result = answer.results[0];
}

static void check(const struct remote_case *c, int *faults)
{
	struct fb_configdefs *defs = fb_configdefs_new();
	struct fb_configs *configs = fb_configs_new(defs);
	struct kw_str system = kw_str("remote.log.storage.system.enable");
	struct fb_alter_result result;
	struct kw_arena arena;

	kw_arena_init(&arena, 0);
	assert_int_equal(fb_configs_set_static(configs, 1, system, kw_str("true"), NULL), 0);
	alter(configs, c->has, &arena, &result);
	assert_int_equal(result.errorCode, 0);
	assert_int_equal(fb_configs_apply(configs, result.changes, result.nchanges), 0);
	assert_int_equal(fb_configs_set_static(configs, 1, system, kw_str(c->enabled ? "true" : "false"), NULL), 0);
	alter(configs, c->wants, &arena, &result);
	if (result.errorCode != (c->message ? 40 : 0) || !kw_str_eq(kw_str(result.errorMessage), kw_str(c->message))) {
		print_error("remote_cases.def:%d: want %s, got %d %s\n", c->line, c->message, result.errorCode,
			    result.errorMessage);
		(*faults)++;
	}
	kw_arena_fini(&arena);
	fb_configs_free(configs);
	fb_configdefs_free(defs);
}

static void as_kafka(void **state)
{
	int faults = 0;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check(&cases[i], &faults);
	assert_int_equal(faults, 0);
	assert_int_equal(sizeof cases / sizeof *cases, 46);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(as_kafka)};

	return cmocka_run_group_tests_name("config remote", tests, NULL, NULL);
}
