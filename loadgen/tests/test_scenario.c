#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "loadgen/plan.h"

static struct lg_plan plan;

static int setup(void **state)
{
	(void)state;
	lg_plan_init(&plan);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	lg_plan_fini(&plan);
	return 0;
}

/* JSON with single quotes, which reads better in C. */
static int parse(const char *quoted, struct kt_err *err)
{
	char text[2048];

	assert_true(strlen(quoted) < sizeof text);
	memcpy(text, quoted, strlen(quoted) + 1);
	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	return lg_plan_parse(&plan, "s.json", text, strlen(text), err);
}

/* ---- what is right ---- */

static const char full[] =
	"{\n"
	"  'name': 'all members', 'bootstrapServer': 'h:1,h:2', 'seed': 9, 'verify': false,\n"
	"  'properties': {'socket.timeout.ms': '5000'},\n"
	"  'topics': [{'name': 't', 'partitions': 3, 'replicationFactor': 2, 'config': {'a': 'b'}}],\n"
	"  'phases': [\n"
	"    {'name': 'one', 'topic': 't', 'engine': 'wire', 'rate': {'from': 10, 'to': 20}, 'duration': 1.5,\n"
	"     'records': 100, 'arrival': 'poisson', 'size': {'min': 64, 'max': 128}, 'key': 5,\n"
	"     'headers': {'trace-id': 'x'}, 'codec': 'zstd', 'acks': 1, 'batch': 7, 'inFlight': 3,\n"
	"     'illegal': [{'name': 'crc', 'share': 0.1}], 'showRdkafkaView': true},\n"
	"    {'name': 'two', 'topic': 't', 'duration': 2, 'key': 'sequence', 'acks': 'all', 'size': 70,\n"
	"     'properties': {'linger.ms': '0'}}\n"
	"  ],\n"
	"  'steps': [\n"
	"    {'at': 1, 'upgrade': {'level': 28}, 'expect': {'error': 'INVALID_CONFIG', 'message': ['a', 'b']}},\n"
	"    {'at': 1, 'name': 'down', 'downgrade': {'feature': 'f', 'level': 7, 'type': 'unsafe',\n"
	"     'validateOnly': true}},\n"
	"    {'at': 2, 'alterConfigs': {'resource': {'type': 'broker', 'name': ''}, 'set': {'x': '1'},\n"
	"     'delete': ['y']}, 'expect': {'error': 'NONE'}},\n"
	"    {'at': 3, 'stopNode': {'node': 2}},\n"
	"    {'at': 4, 'startNode': {'node': 2, 'config': {'a': '1', 'b': null}}}\n"
	"  ]\n"
	"}\n";

static void test_every_member(void **state)
{
	const struct lg_phase *one, *two;
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(parse(full, &err), 0);
	assert_string_equal(plan.name, "all members");
	assert_string_equal(plan.bootstrap, "h:1,h:2");
	assert_int_equal(plan.seed, 9);
	assert_false(plan.verify);
	assert_string_equal(plan.properties.v[0].value, "5000");
	assert_int_equal(plan.ntopics, 1);
	assert_int_equal(plan.topics[0].partitions, 3);
	assert_int_equal(plan.topics[0].replication_factor, 2);
	assert_string_equal(plan.topics[0].configs.v[0].name, "a");
	assert_int_equal(plan.nphases, 2);
	one = &plan.phases[0];
	two = &plan.phases[1];
	assert_int_equal(one->engine, LG_WIRE);
	assert_true(one->rate.from == 10 && one->rate.to == 20 && one->rate.seconds == 1.5 && one->rate.poisson);
	assert_int_equal(one->rate.count, 100);
	assert_int_equal(one->shape.size_min, 64);
	assert_int_equal(one->shape.size_max, 128);
	assert_int_equal(one->shape.key_mode, LG_KEY_COUNT);
	assert_int_equal(one->shape.keys, 5);
	assert_string_equal(one->shape.headers[0].value, "x");
	assert_int_equal(one->codec, KW_ZSTD);
	assert_int_equal(one->acks, 1);
	assert_int_equal(one->batch, 7);
	assert_int_equal(one->in_flight, 3);
	assert_string_equal(one->illegal.v[0].illegal->name, "crc");
	assert_true(one->show_rdkafka_view);
	assert_int_equal(two->engine, LG_RDKAFKA);
	assert_int_equal(two->acks, -1);
	assert_int_equal(two->shape.key_mode, LG_KEY_SEQUENCE);
	assert_int_equal(two->shape.size_max, 70);
	assert_true(two->rate.from == 0);
	assert_string_equal(two->properties.v[0].name, "linger.ms");
}

static void test_every_member_of_steps(void **state)
{
	const struct lg_step *step;

	(void)state;
	assert_int_equal(parse(full, &(struct kt_err){0}), 0);
	assert_int_equal(plan.nsteps, 5);
	step = &plan.steps[0];
	assert_string_equal(step->feature, "metadata.version");
	assert_int_equal(step->type, LG_UPGRADE);
	assert_int_equal(step->level, 28);
	assert_int_equal(step->error, 40);
	assert_int_equal(step->nmessages, 2);
	assert_string_equal(step->messages[1], "b");
	step = &plan.steps[1];
	assert_string_equal(step->name, "down");
	assert_int_equal(step->type, LG_UNSAFE_DOWNGRADE);
	assert_true(step->validate_only);
	assert_int_equal(step->error, 0);
	step = &plan.steps[2];
	assert_int_equal(step->action, LG_STEP_CONFIG);
	assert_int_equal(step->resource_type, LG_RESOURCE_BROKER);
	assert_string_equal(step->resource, "");
	assert_int_equal(step->changes.n, 2);
	assert_string_equal(step->changes.v[0].value, "1");
	assert_string_equal(step->changes.v[1].name, "y");
	assert_null(step->changes.v[1].value);
	step = &plan.steps[3];
	assert_int_equal(step->action, LG_STEP_STOP);
	assert_int_equal(step->node, 2);
	step = &plan.steps[4];
	assert_int_equal(step->action, LG_STEP_START);
	assert_int_equal(step->node, 2);
	assert_int_equal(step->changes.n, 2);
	assert_string_equal(step->changes.v[0].value, "1");
	assert_string_equal(step->changes.v[1].name, "b");
	assert_null(step->changes.v[1].value);
}

static void test_the_least_scenario(void **state)
{
	(void)state;
	assert_int_equal(parse("{'phases': [{'name': 'p', 'topic': 't', 'records': 1}]}", &(struct kt_err){0}), 0);
	assert_true(plan.verify);
	assert_null(plan.bootstrap);
	assert_int_equal(plan.seed, 1);
	assert_int_equal(plan.phases[0].shape.size_min, 256);
	assert_int_equal(plan.phases[0].batch, 10);
}

/* ---- what is wrong, and how it is told ---- */

#define PHASE(members) "{\n'phases': [\n{'name': 'p', 'topic': 't', 'duration': 1" members "}\n]}"
#define STEP(members) "{\n'phases': [{'name': 'p', 'topic': 't', 'duration': 1}],\n'steps': [{" members "}]}"

static void test_errors_name_file_line_member_and_the_nearest(void **state)
{
	static const struct { const char *text, *line; } wrong[] = {
		{"{'phase': []}", "s.json:1: $: missing member \"phases\"; did you mean it by \"phase\"?"},
		{"{'phases': []}", "s.json:1: $.phases: there must be a phase"},
		{PHASE(", 'ratee': 1"),
		 "s.json:3: $.phases[0].ratee: unknown member \"ratee\"; did you mean \"rate\"?"},
		{PHASE(", 'rate': '1'"), "s.json:3: $.phases[0].rate: must be a number, not a string"},
		{PHASE(", 'rate': {'from': 1}"), "s.json:3: $.phases[0].rate: missing member \"to\""},
		{PHASE(", 'rate': -1"), "s.json:3: $.phases[0].rate: must be 0 to 1e+08, not -1"},
		{PHASE(", 'engine': 'wired'"),
		 "s.json:3: $.phases[0].engine: unknown choice \"wired\"; did you mean \"wire\"?"},
		{PHASE(", 'size': 63"), "s.json:3: $.phases[0].size: must be 64 to 67108864, not 63"},
		{PHASE(", 'size': {'min': 100, 'max': 99}"),
		 "s.json:3: $.phases[0].size.max: must be at least \"min\""},
		{PHASE(", 'illegal': [{'name': 'cr', 'share': 0.1}]"),
		 "s.json:3: $.phases[0].illegal[0].name: no illegal record is called \"cr\"; did you mean \"crc\"?"},
		{PHASE(", 'engine': 'rdkafka', 'illegal': [{'name': 'crc', 'share': 0.1}]"),
		 "s.json:3: $.phases[0].illegal: crc spoils a whole batch, which only the engine wire can do"},
		{PHASE(", 'illegal': [{'name': 'missing-header', 'share': 0.1}]"),
		 "s.json:3: $.phases[0].illegal: missing-header needs headers that legal records have"},
		{PHASE(", 'illegal': [{'name': 'null-key', 'share': 0.1}]"),
		 "s.json:3: $.phases[0].illegal: null-key needs keys that legal records have"},
		{PHASE(", 'acks': 0, 'illegal': [{'name': 'empty-value', 'share': 0.1}]"),
		 "s.json:3: $.phases[0].illegal: with acks=0 no answer tells whether an illegal record was refused"},
		{PHASE(", 'acks': 2"), "s.json:3: $.phases[0].acks: must be -1 to 1, not 2"},
		{PHASE(", 'headers': {'kassay': ''}"),
		 "s.json:3: $.phases[0].headers.kassay: this header is the load generator's own"},
		{PHASE(", 'properties': {'acks': '1'}"),
		 "s.json:3: $.phases[0].properties: acks is set by the member \"acks\""},
		{PHASE(", 'engine': 'wire', 'properties': {'linger.ms': '1'}"),
		 "s.json:3: $.phases[0].properties: the engine wire does not use librdkafka: it has no properties"},
		{PHASE(", 'showRdkafkaView': true"),
		 "s.json:3: $.phases[0].showRdkafkaView: "
		 "librdkafka's view is shown of illegal records, and the phase has none"},
		{"{'phases': [{'name': 'p', 'topic': 't', 'rate': 5}]}",
		 "s.json:1: $.phases[0]: neither a duration nor a number of records ends the load"},
		{"{'phases': [{'name': 'a/b', 'topic': 't', 'records': 5}]}",
		 "s.json:1: $.phases[0].name: must be letters, digits, dots, dashes and underscores"},
		{"{'phases': [{'name': 'a', 'topic': 't', 'records': 5},\n{'name': 'a', 'topic': 't', "
		 "'records': 5}]}",
		 "s.json:2: $.phases[1].name: a phase before has the same name"},
		{STEP("'at': 1"),
		 "s.json:3: $.steps[0]: a step is exactly one of \"upgrade\", \"downgrade\", \"alterConfigs\", "
		 "\"stopNode\" and \"startNode\""},
		{STEP("'at': 1, 'upgrade': {'level': 1}, 'downgrade': {'level': 1}"),
		 "s.json:3: $.steps[0]: a step is exactly one of \"upgrade\", \"downgrade\", \"alterConfigs\", "
		 "\"stopNode\" and \"startNode\""},
		{STEP("'at': 1, 'upgrade': {}"), "s.json:3: $.steps[0].upgrade: missing member \"level\""},
		{STEP("'at': 1, 'upgrade': {'level': 40000}"),
		 "s.json:3: $.steps[0].upgrade.level: must be -32768 to 32767, not 40000"},
		{STEP("'at': 1, 'upgrade': {'level': 1}, 'expect': {'error': 'INVALID_CONFG'}"),
		 "s.json:3: $.steps[0].expect.error: "
		 "Kafka has no error \"INVALID_CONFG\"; did you mean \"INVALID_CONFIG\"?"},
		{STEP("'at': 1, 'alterConfigs': {'resource': {'type': 'topic', 'name': 't'}}"),
		 "s.json:3: $.steps[0].alterConfigs: neither \"set\" nor \"delete\" names a config"},
		{STEP("'at': 1, 'stopNode': {'node': 0}"),
		 "s.json:3: $.steps[0].stopNode.node: must be at least 1, not 0"},
		{STEP("'at': 1, 'stopNode': {'node': 1, 'config': {}}"),
		 "s.json:3: $.steps[0].stopNode.config: unknown member "
		 "\"config\""},
		{STEP("'at': 1, 'startNode': {'node': 1, 'config': {'x': 1}}"),
		 "s.json:3: $.steps[0].startNode.config.x: must be a string, not a whole number"},
		{STEP("'at': 2, 'upgrade': {'level': 1}}, {'at': 1, 'upgrade': {'level': 1}"),
		 "s.json:3: $.steps[1].at: the steps must be in the order of time"},
	};
	char line[1024];

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct kt_err err = {0};

		assert_int_not_equal(parse(wrong[i].text, &err), 0);
		assert_string_equal(kt_err_line(&err, line, sizeof line), wrong[i].line);
		lg_plan_fini(&plan);
		lg_plan_init(&plan);
	}
}

static void test_a_missing_file(void **state)
{
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(lg_plan_load(&plan, "/nonexistent/s.json", &err), KT_EFILE);
}

/* ---- properties on the command line ---- */

static void test_properties_are_cut_at_the_first_equals(void **state)
{
	static const char *const texts[] = {"a=b=c", "empty="};
	struct lg_properties properties = {0};
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(lg_properties_cut(&plan.arena, texts, 2, &properties, &err), 0);
	assert_string_equal(properties.v[0].name, "a");
	assert_string_equal(properties.v[0].value, "b=c");
	assert_string_equal(properties.v[1].value, "");
	assert_int_equal(lg_properties_cut(&plan.arena, &(const char *){"=x"}, 1, &(struct lg_properties){0}, &err),
			 KT_ESYNTAX);
	assert_string_equal(err.text, "must be NAME=VALUE, not \"=x\"");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_every_member),
		CASE(test_every_member_of_steps),
		CASE(test_the_least_scenario),
		CASE(test_errors_name_file_line_member_and_the_nearest),
		CASE(test_a_missing_file),
		CASE(test_properties_are_cut_at_the_first_equals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
