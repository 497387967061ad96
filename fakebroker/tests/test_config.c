/* Definitions of configurations: Kafka's, the kit's, those of a scenario file; values and the rules by
 * metadata.version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fakebroker/config/levels.h"
#include "fakebroker/config/mvrules.h"
#include "fakebroker/config/parse.h"
#include "fakebroker/config/user.h"

struct fixture {
	struct fb_configdefs *defs;
	struct kw_arena arena;
};

static int setup(void **state)
{
	static struct fixture f;

	f.defs = fb_configdefs_new();
	kw_arena_init(&f.arena, 0);
	*state = &f;
	return f.defs ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	fb_configdefs_free(f->defs);
	kw_arena_fini(&f->arena);
	return 0;
}

static const struct fb_configdef *find(struct fixture *f, enum fb_scope scope, const char *name)
{
	return fb_configdef_find(f->defs, scope, kw_str(name));
}

/* ---- definitions ---- */

/* The numbers that DescribeConfigs v4 of Kafka 4.4.0 lists. */
static void counts_as_kafka(void **state)
{
	static const struct {
		enum fb_scope scope;
		size_t listed, kit;
	} want[] = {{FB_TOPIC, 37, 2}, {FB_BROKER, 350, 12}, {FB_GROUP, 21, 0}, {FB_CLIENT_METRICS, 3, 0}};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		const struct fb_configdef *def = NULL;
		size_t listed = 0, kit = 0;

		while ((def = fb_configdef_next(f->defs, want[i].scope, def))) {
			listed += def->origin == FB_FROM_KAFKA && !def->internal;
			kit += def->origin == FB_FROM_KIT;
		}
		assert_int_equal(listed, want[i].listed);
		assert_int_equal(kit, want[i].kit);
	}
}

/* Each text has its configuration, and every one of the kit's has a text. */
static void texts_are_of_what_is_acted_on(void **state)
{
	static const struct {
		enum fb_scope scope;
		const char *name;
	} texts[] = {
#define FB_TEXT(scope, name, text) {FB_##scope, name},
#include "fakebroker/config/texts.def"
#undef FB_TEXT
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		const struct fb_configdef *def = find(f, texts[i].scope, texts[i].name);

		if (!def)
			fail_msg("no configuration %s", texts[i].name);
		assert_non_null(def->text);
		assert_false(def->internal && def->origin == FB_FROM_KAFKA);
	}
	for (const struct fb_configdef *def = NULL; (def = fb_configdef_next(f->defs, FB_BROKER, def));)
		assert_true(def->origin != FB_FROM_KIT || def->text);
	assert_null(find(f, FB_BROKER, "num.io.threads")->text);
}

static void iterates_by_name(void **state)
{
	struct fixture *f = *state;
	const struct fb_configdef *prev = NULL, *def = fb_configdef_next(f->defs, FB_TOPIC, NULL);

	assert_string_equal(def->name, "cleanup.policy");
	for (; def; prev = def, def = fb_configdef_next(f->defs, FB_TOPIC, def))
		assert_true(!prev || strcmp(prev->name, def->name) < 0);
	assert_string_equal(prev->name, "unclean.leader.election.enable");
}

static void finds(void **state)
{
	struct fixture *f = *state;
	const struct fb_configdef *def = find(f, FB_TOPIC, "retention.ms");

	assert_int_equal(def->type, FB_LONG);
	assert_string_equal(def->def, "604800000");
	assert_string_equal(def->synonym, "log.retention.ms");
	assert_int_equal(def->dynamic, FB_CLUSTER_WIDE);
	assert_int_equal(find(f, FB_BROKER, "num.partitions")->dynamic, FB_READ_ONLY);
	assert_int_equal(find(f, FB_BROKER, "listeners")->dynamic, FB_PER_BROKER);
	assert_true(find(f, FB_BROKER, "ssl.keystore.password")->sensitive);
	assert_null(find(f, FB_BROKER, "retention.ms"));
	assert_null(find(f, FB_TOPIC, "retention.m"));
	assert_null(find(f, FB_TOPIC, "retention.msx"));
	assert_null(find(f, FB_TOPIC, ""));
	assert_null(fb_configdef_find(f->defs, FB_TOPIC, KW_NULL_STR));
}

static void finds_listener_overrides(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(find(f, FB_BROKER, "listener.name.internal.ssl.keystore.type")->name, "ssl.keystore.type");
	assert_string_equal(find(f, FB_BROKER, "listener.name.internal.plain.sasl.jaas.config")->name,
			    "sasl.jaas.config");
	assert_null(find(f, FB_BROKER, "listener.name.internal"));
	assert_null(find(f, FB_BROKER, "listener.name.internal.no.such"));
	assert_null(find(f, FB_TOPIC, "listener.name.internal.retention.ms"));
}

static void names_the_nearest(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(fb_configdef_near(f->defs, FB_TOPIC, kw_str("retension.ms")), "retention.ms");
	assert_string_equal(fb_configdef_near(f->defs, FB_BROKER, kw_str("observer.class.nam")), "observer.class.name");
	assert_null(fb_configdef_near(f->defs, FB_TOPIC, kw_str("")));
}

static void numbers(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(fb_config_long(find(f, FB_TOPIC, "retention.ms"), kw_str(" -1 "), 5), -1);
	assert_int_equal(fb_config_long(find(f, FB_TOPIC, "retention.ms"), kw_str("x"), 5), 5);
	assert_int_equal(fb_config_long(find(f, FB_TOPIC, "preallocate"), kw_str("TRUE"), 0), 1);
	assert_int_equal(fb_config_long(find(f, FB_TOPIC, "cleanup.policy"), kw_str("1"), 5), 5);
	assert_int_equal(fb_config_long(NULL, kw_str("1"), 5), 5);
}

/* ---- values ---- */

static const struct {
	enum fb_scope scope;
	const char *name, *value, *result;
	bool good;
} values[] = {
#define GOOD(scope, name, value, text) {FB_##scope, name, value, text, true},
#define BAD(scope, name, value, message) {FB_##scope, name, value, message, false},
#include "fakebroker/tests/config_values.def"
#undef GOOD
#undef BAD
};

static void values_as_kafka(void **state)
{
	struct fixture *f = *state;
	int faults = 0;

	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		const struct fb_configdef *def = find(f, values[i].scope, values[i].name);
		const char *message = NULL;
		bool good = fb_config_parse_check(def, kw_str(values[i].value), &f->arena, &message), same;

		if (good)
			same = kw_str_eq(fb_canonical(def, kw_str(values[i].value), &f->arena),
					 kw_str(values[i].result));
		else
			same = strcmp(message, values[i].result) == 0;
		if (good == values[i].good && same)
			continue;
		print_error("%s=%s: got %s\n", values[i].name, values[i].value, good ? "good" : message);
		faults++;
	}
	assert_int_equal(faults, 0);
}

static void doubles_as_java(void **state)
{
	static const struct {
		double d;
		const char *text;
	} rows[] = {{0.0, "0.0"}, {-0.0, "-0.0"}, {1, "1.0"}, {100, "100.0"}, {0.001, "0.001"}, {0.0015, "0.0015"},
		    {12345.678, "12345.678"}, {9999999, "9999999.0"}, {1e7, "1.0E7"}, {0.00099, "9.9E-4"},
		    {-2.5e-10, "-2.5E-10"}, {1e21, "1.0E21"}, {1.7976931348623157e308, "1.7976931348623157E308"}};
	char text[FB_DOUBLE_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_string_equal(fb_double_text(rows[i].d, text), rows[i].text);
}

static void hides_secrets(void **state)
{
	struct fixture *f = *state;
	struct fb_configdef def = *find(f, FB_TOPIC, "retention.ms");
	const char *message;

	def.sensitive = true;
	assert_false(fb_config_parse_check(&def, kw_str("hunter2"), &f->arena, &message));
	assert_string_equal(message,
			    "Invalid value [hidden] for configuration retention.ms: Not a number of type LONG");
}

/* ---- levels ---- */

static void levels(void **state)
{
	(void)state;
	assert_string_equal(fb_level_name(21), "3.9-IV0");
	assert_null(fb_level_name(0));
	assert_int_equal(fb_level_find("21"), 21);
	assert_int_equal(fb_level_find("4.4-IV1"), 32);
	assert_int_equal(fb_level_find("4.4"), 33);
	assert_int_equal(fb_level_find("3.7"), 19);
	assert_int_equal(fb_level_find(""), -1);
	assert_int_equal(fb_level_find("99"), -1);
	assert_int_equal(fb_level_find("4.4-IV9"), -1);
	assert_int_equal(fb_level_find("21x"), -1);
}

/* ---- definitions of a scenario ---- */

static int load(struct fixture *f, const char *json, struct kt_err *err)
{
	struct kt_json doc;
	struct kt_obj top;
	struct kt_arr configs;
	int rc = kt_json_parse(&doc, "s.json", json, strlen(json), err);

	if (rc == 0) {
		kt_obj_root(&top, &doc, err);
		kt_obj_array(&top, "configs", &configs);
		rc = fb_configdefs_add_json(f->defs, &configs);
	}
	kt_json_fini(&doc);
	return rc;
}

static const char scenario[] =
	"{\"configs\": ["
	"{\"name\": \"kit.int.min\", \"scope\": \"broker\", \"type\": \"INT\", \"default\": \"4096\","
	" \"dynamic\": \"cluster-wide\", \"validator\": {\"atLeast\": 0},"
	" \"mvValidators\": {\"30\": {\"atLeast\": 1048576}, \"4.0-IV3\": {\"atLeast\": 1}, \"28\": {\"atLeast\": "
	"1024}}},{\"name\": \"kit.window\", \"scope\": \"topic\", \"type\": \"DOUBLE\", \"default\": \"0.5\", "
	"\"mvValidators\": {\"27\": {\"between\": [0, 0.75]}, \"30\": {}}},"
	"{\"name\": \"kit.mode\", \"scope\": \"topic\", \"type\": \"STRING\", \"default\": \"old\","
	" \"mvValidators\": {\"28\": {\"oneOf\": [\"new\", \"newer\"]}}},"
	"{\"name\": \"kit.list\", \"scope\": \"topic\", \"type\": \"LIST\", \"default\": \"\","
	" \"mvValidators\": {\"7\": {\"maxEntries\": 2}}},"
	"{\"name\": \"kit.secret\", \"scope\": \"broker\", \"type\": \"STRING\", \"default\": \"\", \"sensitive\": "
	"true, \"mvValidators\": {\"28\": {\"nonEmpty\": true}}},"
	"{\"name\": \"log.segment.bytes\", \"scope\": \"broker\", \"mvValidators\": {\"30\": {\"atLeast\": 2097152}}}"
	"]}";

static void defines(void **state)
{
	struct fixture *f = *state;
	struct kt_err err = {0};
	const struct fb_configdef *def;

	assert_int_equal(load(f, scenario, &err), 0);
	def = find(f, FB_BROKER, "kit.int.min");
	assert_int_equal(def->origin, FB_FROM_USER);
	assert_int_equal(def->dynamic, FB_CLUSTER_WIDE);
	assert_int_equal(def->nmv, 3);
	assert_int_equal(def->mv[0].level, 25);
	assert_int_equal(def->mv[2].level, 30);
	assert_int_equal(find(f, FB_BROKER, "kit.secret")->dynamic, FB_READ_ONLY);
	assert_int_equal(find(f, FB_BROKER, "log.segment.bytes")->nmv, 1);
	assert_int_equal(find(f, FB_BROKER, "log.segment.bytes")->origin, FB_FROM_KAFKA);
	assert_null(find(f, FB_TOPIC, "kit.int.min"));
}

/* Every row: what is wrong, and what the error says. */
static const struct {
	const char *config, *path, *text;
} wrong[] = {
	{"{}", "$.configs[0]", "missing member \"name\""},
	{"{\"name\": \"a\", \"scope\": \"node\"}", "$.configs[0].scope", NULL},
	{"{\"name\": \"a\", \"scope\": \"broker\"}", "$.configs[0]", "missing member \"type\""},
	{"{\"name\": \"\", \"scope\": \"broker\", \"type\": \"INT\"}", "$.configs[0].name", "a name is expected"},
	{"{\"name\": \"a\", \"scope\": \"broker\", \"type\": \"int\"}", "$.configs[0].type", NULL},
	{"{\"name\": \"a\", \"scope\": \"broker\", \"type\": \"INT\", \"default\": \"x\"}", "$.configs[0].default",
	 "Invalid value x for configuration a: Not a number of type INT"},
	{"{\"name\": \"a\", \"scope\": \"broker\", \"type\": \"INT\", \"default\": \"1\", \"validator\": "
	 "{\"atLeast\": 2}}",
	 "$.configs[0].default", "Invalid value 1 for configuration a: Value must be at least 2"},
	{"{\"name\": \"a\", \"scope\": \"broker\", \"type\": \"INT\", \"validator\": {\"atLast\": 2}}",
	 "$.configs[0].validator.atLast", "unknown member \"atLast\"; did you mean \"atLeast\"?"},
	{"{\"name\": \"a\", \"scope\": \"broker\", \"type\": \"INT\", \"validator\": {\"oneOf\": [\"1\"]}}",
	 "$.configs[0].validator.oneOf", "\"oneOf\" is not for a configuration of type INT"},
	{"{\"name\": \"a\", \"scope\": \"broker\", \"type\": \"INT\", \"validator\": {\"atLeast\": 1, \"atMost\": 2}}",
	 "$.configs[0].validator.atMost", "there can be only one of \"atLeast\" and \"atMost\""},
	{"{\"name\": \"a\", \"scope\": \"broker\", \"type\": \"INT\", \"validator\": {\"between\": [2, 1]}}",
	 "$.configs[0].validator.between", "the first number is above the second"},
	{"{\"name\": \"a\", \"scope\": \"broker\", \"type\": \"INT\", \"validator\": {\"between\": [2]}}",
	 "$.configs[0].validator.between", "an array of two numbers is expected"},
	{"{\"name\": \"a\", \"scope\": \"broker\", \"type\": \"INT\", \"validator\": {\"atMost\": 10.5}}",
	 "$.configs[0].validator.atMost", "a configuration of type INT has whole numbers for bounds"},
	{"{\"name\": \"a\", \"scope\": \"broker\", \"type\": \"LONG\", \"validator\": {\"atLeast\": 1e300}}",
	 "$.configs[0].validator.atLeast", "a configuration of type LONG has whole numbers for bounds"},
	{"{\"name\": \"a\", \"scope\": \"broker\", \"type\": \"SHORT\", \"validator\": {\"between\": [1, 2.5]}}",
	 "$.configs[0].validator.between", "a configuration of type SHORT has whole numbers for bounds"},
	{"{\"name\": \"a\", \"scope\": \"topic\", \"type\": \"INT\", \"mvValidators\": {\"28\": {\"atMost\": 0.5}}}",
	 "$.configs[0].mvValidators[\"28\"].atMost", "a configuration of type INT has whole numbers for bounds"},
	{"{\"name\": \"a\", \"scope\": \"broker\", \"type\": \"DOUBLE\", \"default\": \"1\", \"validator\": "
	 "{\"atLeast\": 1e300}}",
	 "$.configs[0].default", "Invalid value 1.0 for configuration a: Value must be at least 1.0E300"},
	{"{\"name\": \"a\", \"scope\": \"topic\", \"type\": \"STRING\", \"validator\": {\"oneOf\": []}}",
	 "$.configs[0].validator.oneOf", "an array of words is expected"},
	{"{\"name\": \"a\", \"scope\": \"topic\", \"type\": \"INT\", \"mvValidators\": {\"99\": {}}}",
	 "$.configs[0].mvValidators[\"99\"]", "there is no metadata.version 99"},
	{"{\"name\": \"a\", \"scope\": \"topic\", \"type\": \"INT\", \"mvValidators\": {\"28\": {}, \"4.2-IV0\": {}}}",
	 "$.configs[0].mvValidators", "metadata.version 28 has two validators"},
	{"{\"name\": \"a\", \"scope\": \"topic\", \"type\": \"INT\", \"dynamic\": \"read-only\"}",
	 "$.configs[0].dynamic", "only a broker configuration can be anything but dynamic"},
	{"{\"name\": \"a\", \"scope\": \"topic\", \"type\": \"INT\", \"synonym\": \"nope\"}", "$.configs[0].synonym",
	 "there is no broker configuration nope"},
	{"{\"name\": \"retention.ms\", \"scope\": \"topic\", \"type\": \"INT\", \"mvValidators\": {}}",
	 "$.configs[0].type", "retention.ms is defined: it takes \"mvValidators\" only"},
	{"{\"name\": \"retention.ms\", \"scope\": \"topic\"}", "$.configs[0]", "missing member \"mvValidators\""},
	{"{\"name\": \"log.dirs\", \"scope\": \"broker\", \"mvValidators\": {}}", "$.configs[0].mvValidators",
	 "log.dirs has validators by metadata.version already"},
};

static void refuses_wrong_definitions(void **state)
{
	struct fixture *f = *state;
	char json[512];

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct kt_err err = {0};

		snprintf(json, sizeof json, "{\"configs\": [%s]}", wrong[i].config);
		assert_int_not_equal(load(f, json, &err), 0);
		assert_string_equal(err.path, wrong[i].path);
		if (wrong[i].text)
			assert_string_equal(err.text, wrong[i].text);
	}
}

/* ---- rules by metadata.version ---- */

static const struct {
	enum fb_scope scope;
	const char *name, *value;
	int16_t level;
	const char *message;         /* NULL: legal */
} rules[] = {
	/* no rule yet: only the plain validator */
	{FB_BROKER, "kit.int.min", "0", 24, NULL},
	{FB_BROKER, "kit.int.min", "-1", 24,
	 "Invalid value -1 for configuration kit.int.min: Value must be at least 0"},
	{FB_BROKER, "kit.int.min", "x", 24, "Invalid value x for configuration kit.int.min: Not a number of type INT"},
	/* the greatest level that is not above */
	{FB_BROKER, "kit.int.min", "0", 25,
	 "Invalid value 0 for configuration kit.int.min: Value must be at least 1 (rule of level 25)"},
	{FB_BROKER, "kit.int.min", "1", 27, NULL},
	{FB_BROKER, "kit.int.min", "16", 28,
	 "Invalid value 16 for configuration kit.int.min: Value must be at least 1024 (rule of level 28)"},
	{FB_BROKER, "kit.int.min", "1024", 29, NULL},
	{FB_BROKER, "kit.int.min", "1024", 30,
	 "Invalid value 1024 for configuration kit.int.min: Value must be at least 1048576 (rule of level 30)"},
	{FB_BROKER, "kit.int.min", "1048576", 33, NULL},
	/* the plain validator stays */
	{FB_BROKER, "kit.int.min", "-1", 25,
	 "Invalid value -1 for configuration kit.int.min: Value must be at least 0"},
	/* null is the default */
	{FB_BROKER, "kit.int.min", NULL, 28, NULL},
	{FB_BROKER, "kit.int.min", NULL, 30,
	 "Invalid value 4096 for configuration kit.int.min: Value must be at least 1048576 (rule of level 30)"},
	{FB_TOPIC, "kit.mode", NULL, 27, NULL},
	{FB_TOPIC, "kit.mode", NULL, 28,
	 "Invalid value old for configuration kit.mode: String must be one of: new, newer (rule of level 28)"},
	/* a rule that ends */
	{FB_TOPIC, "kit.window", "0.8", 26, NULL},
	{FB_TOPIC, "kit.window", "0.8", 27,
	 "Invalid value 0.8 for configuration kit.window: Value must be no more than 0.75 (rule of level 27)"},
	{FB_TOPIC, "kit.window", "-1", 29,
	 "Invalid value -1.0 for configuration kit.window: Value must be at least 0 (rule of level 27)"},
	{FB_TOPIC, "kit.window", "0.8", 30, NULL},
	{FB_TOPIC, "kit.list", "a,b", 7, NULL},
	{FB_TOPIC, "kit.list", "a,b,c", 7,
	 "Invalid value a,b,c for configuration kit.list: List must have no more than 2 entries (rule of level 7)"},
	/* a secret that is not told is not checked; one that is told is not repeated */
	{FB_BROKER, "kit.secret", NULL, 28, NULL},
	{FB_BROKER, "kit.secret", "", 28,
	 "Invalid value [hidden] for configuration kit.secret: String must be non-empty (rule of level 28)"},
	/* Kafka's own */
	{FB_BROKER, "log.dirs", "/a", 7, NULL},
	{FB_BROKER, "log.dirs", "/a,/b", 16, "Multiple log directories (aka JBOD) are not supported in the current "
	 "MetadataVersion 3.7-IV1. Need 3.7-IV2 or higher"},
	{FB_BROKER, "log.dirs", "/a,/b", 17, NULL},
	{FB_BROKER, "cordoned.log.dirs", "/a", 29, "The cordoned.log.dirs configuration value cannot be set because it "
	 "requires metadata.version >= 4.3-IV0"},
	{FB_BROKER, "cordoned.log.dirs", NULL, 29, NULL},
	{FB_BROKER, "cordoned.log.dirs", "/a", 30, NULL},
	{FB_BROKER, "log.segment.bytes", "1048576", 29, NULL},
	{FB_BROKER, "log.segment.bytes", "1048576", 30,
	 "Invalid value 1048576 for configuration log.segment.bytes: Value must be at least 2097152 "
	 "(rule of level 30)"},
};

static void rules_by_level(void **state)
{
	struct fixture *f = *state;
	struct kt_err err = {0};

	assert_int_equal(load(f, scenario, &err), 0);
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		const char *message = NULL;
		bool legal = fb_mv_check(find(f, rules[i].scope, rules[i].name), rules[i].level, kw_str(rules[i].value),
					 &f->arena, &message);

		assert_int_equal(legal, !rules[i].message);
		if (!legal)
			assert_string_equal(message, rules[i].message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(counts_as_kafka, setup, teardown),
		cmocka_unit_test_setup_teardown(texts_are_of_what_is_acted_on, setup, teardown),
		cmocka_unit_test_setup_teardown(iterates_by_name, setup, teardown),
		cmocka_unit_test_setup_teardown(finds, setup, teardown),
		cmocka_unit_test_setup_teardown(finds_listener_overrides, setup, teardown),
		cmocka_unit_test_setup_teardown(names_the_nearest, setup, teardown),
		cmocka_unit_test_setup_teardown(numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(values_as_kafka, setup, teardown),
		cmocka_unit_test(doubles_as_java),
		cmocka_unit_test_setup_teardown(hides_secrets, setup, teardown),
		cmocka_unit_test(levels),
		cmocka_unit_test_setup_teardown(defines, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_wrong_definitions, setup, teardown),
		cmocka_unit_test_setup_teardown(rules_by_level, setup, teardown),
	};

	return cmocka_run_group_tests_name("config definitions", tests, NULL, NULL);
}
