#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/wire/errors.h"
#include "loadgen/step_node.h"

static struct lg_property changes[] = {{"retention.ms", "1000"}, {"segment.ms", NULL}};

static void test_words_of_steps(void **state)
{
	struct lg_step step = {
		.action = LG_STEP_FEATURE, .feature = "metadata.version", .level = 28, .type = LG_UPGRADE,
	};
	char text[512];

	(void)state;
	assert_string_equal(lg_step_text(&step, text, sizeof text), "upgrade metadata.version to 28");
	step.type = LG_SAFE_DOWNGRADE;
	step.validate_only = true;
	assert_string_equal(lg_step_text(&step, text, sizeof text), "downgrade metadata.version to 28 (validate only)");
	step.type = LG_UNSAFE_DOWNGRADE;
	step.validate_only = false;
	assert_string_equal(lg_step_text(&step, text, sizeof text), "unsafely downgrade metadata.version to 28");
	step = (struct lg_step){.action = LG_STEP_CONFIG, .resource_type = LG_RESOURCE_TOPIC, .resource = "orders",
				.changes = {2, changes}};
	assert_string_equal(lg_step_text(&step, text, sizeof text),
			    "set retention.ms=1000, delete segment.ms on topic orders");
	step.resource_type = LG_RESOURCE_BROKER;
	step.resource = "";
	step.changes.n = 1;
	assert_string_equal(lg_step_text(&step, text, sizeof text),
			    "set retention.ms=1000 on broker (cluster default)");
	assert_string_equal(lg_step_text(&step, text, 10), "set reten");
}

static struct lg_step_result judged(const struct lg_step *step, int error, const char *message)
{
	struct lg_step_result result = {.done = true, .error = error};

	snprintf(result.message, sizeof result.message, "%s", message);
	lg_step_judge(step, &result);
	return result;
}

static void test_judging(void **state)
{
	struct lg_step step = {.error = 40, .nmessages = 2, .messages = {"kit.int.min", "1024"}};
	struct lg_step_result result;

	(void)state;
	assert_true(judged(&step, 40, "broker 2: kit.int.min must be at least 1024").ok);
	result = judged(&step, 40, "broker 2: kit.int.min is bad");
	assert_false(result.ok);
	assert_string_equal(result.why, "the message lacks \"1024\"");
	result = judged(&step, 0, "");
	assert_false(result.ok);
	assert_string_equal(result.why, "expected INVALID_CONFIG (40)");
	step = (struct lg_step){.error = 0};
	assert_true(judged(&step, 0, "").ok);
	assert_false(judged(&step, 95, "no").ok);
}

/* Nobody listens on port 1 of the loopback: each step ends at once without an answer. */
static void test_a_step_that_gets_no_answer(void **state)
{
	struct lg_step all[] = {
		{.action = LG_STEP_FEATURE, .feature = "metadata.version", .type = LG_UPGRADE},
		{.action = LG_STEP_CONFIG, .resource_type = LG_RESOURCE_BROKER, .resource = "1",
		 .changes = {2, changes}},
	};
	struct lg_plan plan = {.bootstrap = "127.0.0.1:1", .nsteps = 2, .steps = all};
	struct lg_steps *steps;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	assert_int_equal(lg_steps_start(&plan, 0, out, &steps, NULL), 0);
	lg_steps_join(steps);
	for (int i = 0; i < 2; i++) {
		assert_false(lg_steps_result(steps, i)->done);
		assert_false(lg_steps_result(steps, i)->ok);
		assert_non_null(strstr(lg_steps_result(steps, i)->why, "127.0.0.1:1"));
	}
	fclose(out);
	assert_non_null(strstr(text, "upgrade metadata.version to 0: no answer: cannot connect to 127.0.0.1:1"));
	assert_non_null(strstr(text, "\nstep 2 at "));
	free(text);
	lg_steps_free(steps);
}

static void test_words_of_node_steps(void **state)
{
	struct lg_step step = {.action = LG_STEP_STOP, .node = 2};
	char buf[200];

	(void)state;
	assert_string_equal(lg_step_text(&step, buf, sizeof buf), "stop broker 2");
	step.action = LG_STEP_START;
	assert_string_equal(lg_step_text(&step, buf, sizeof buf), "start broker 2");
	step.changes = (struct lg_properties){2, changes};
	assert_string_equal(lg_step_text(&step, buf, sizeof buf),
			    "start broker 2 with set retention.ms=1000, delete segment.ms");
}

static void test_answers_to_node_steps(void **state)
{
	static const struct {
		int status;
		const char *answer;
		bool done;
		int error;
		const char *message;
	} rows[] = {
		{200, "{\"id\": 2, \"running\": true}", true, KW_ERR_NONE, ""},
		{409, "{\"error\": \"broker 2 cannot join\", \"code\": \"refused\"}", true, KW_ERR_INVALID_REGISTRATION,
		 "broker 2 cannot join"},
		{409, "{\"error\": \"broker 2 runs\", \"code\": \"state\"}", false, KW_ERR_NONE, "broker 2 runs"},
		{409, "{\"error\": \"a request\\nholds up\", \"code\": \"held\"}", false, KW_ERR_NONE,
		 "a request?holds up"},
		{409, "{\"error\": \"?\"}", false, KW_ERR_NONE, "?"},
		{409, "{\"error\": 1, \"code\": 2}", false, KW_ERR_NONE, ""},
		{404, "{\"error\": \"there is no node 9\", \"code\": \"refused\"}", false, KW_ERR_NONE,
		 "there is no node 9"},
		{500, "not JSON", false, KW_ERR_NONE, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct lg_step_result result = {.done = !rows[i].done, .error = 1};
		struct kt_err err = {0};

		assert_int_equal(lg_step_node_answer(rows[i].status, rows[i].answer, &result, &err),
				 rows[i].done ? 0 : KT_EPEER);
		assert_int_equal(err.code, rows[i].done ? 0 : KT_EPEER);
		assert_int_equal(result.done, rows[i].done);
		assert_int_equal(result.error, rows[i].error);
		assert_string_equal(result.message, rows[i].message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_of_steps),
		cmocka_unit_test(test_words_of_node_steps),
		cmocka_unit_test(test_answers_to_node_steps),
		cmocka_unit_test(test_judging),
		cmocka_unit_test(test_a_step_that_gets_no_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
