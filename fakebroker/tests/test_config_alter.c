/* Alterations of configurations: what Apache Kafka 4.4.0 answered to 302 requests, and the kit's rules after it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fakebroker/config/values.h"

enum { MUTED = 1000, MAX_OPS = 8, MAX_RESOURCES = 5 };

struct op {
	const char *name;
	int8_t operation;
	const char *value;
};

struct resource {
	int8_t type;
	const char *name;
	struct op ops[MAX_OPS];
};

struct answer {
	int8_t type;
	const char *name;
	int16_t code;
	const char *message;
};

struct row {
	int line;
	struct resource resources[MAX_RESOURCES + 1];
	struct answer broker[MAX_RESOURCES + 1], controller[MAX_RESOURCES + 1];
	bool broker_only;
};

#define NOTHING {{NULL, 0, NULL}}
#define RESOURCES(...) {__VA_ARGS__}
#define ANSWER(...) {__VA_ARGS__}
#define MUTE {{0, NULL, MUTED, NULL}}
#define BOTH(resources, answer) {__LINE__, resources, answer, answer, false},
#define SPLIT(resources, broker, controller) {__LINE__, resources, broker, controller, false},
#define BROKER_ONLY(resources, broker) {__LINE__, resources, broker, MUTE, true},

static const struct row incremental[] = {
#include "fakebroker/tests/alter_cases.def"
};

static const struct row legacy[] = {
#include "fakebroker/tests/alter_legacy_cases.def"
};

/* ---- a cluster ---- */

struct cluster {
	struct fb_configdefs *defs;
	struct fb_configs *configs;
	struct fb_config_facts facts;
	struct kw_arena arena;
};

static bool topic_exists(void *arg, struct kw_str name)
{
	(void)arg;
	return kw_str_is(name, "t");
}

static bool node_exists(void *arg, int32_t id)
{
	(void)arg;
	return id == 1;
}

static void set(struct cluster *c, enum fb_scope type, const char *resource, const char *name, const char *value)
{
	const struct fb_change change = {(int8_t)type, kw_str(resource), kw_str(name), kw_str(value)};

	assert_int_equal(fb_configs_apply(c->configs, &change, 1), 0);
}

static const char *const properties[][2] = {
	{"node.id", "1"}, {"process.roles", "broker,controller"}, {"log.dirs", "/var/kafka"},
	{"listeners", "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093"},
	{"controller.listener.names", "CONTROLLER"}, {"controller.quorum.voters", "1@localhost:9093"},
	{"listener.security.protocol.map", "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT"}};

static int setup(void **state)
{
	static struct cluster c;

	c = (struct cluster){.defs = fb_configdefs_new(),
			     .facts = {.self = 1, .level = 33, .elr = true, .topicExists = topic_exists,
				       .nodeExists = node_exists}};
	c.configs = fb_configs_new(c.defs);
	kw_arena_init(&c.arena, 0);
	for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
		assert_int_equal(fb_configs_set_static(c.configs, 1, kw_str(properties[i][0]), kw_str(properties[i][1]),
						       NULL), 0);
	set(&c, FB_TOPIC, "t", "retention.ms", "1000");
	set(&c, FB_BROKER, "", "min.insync.replicas", "1");
	*state = &c;
	return 0;
}

static int teardown(void **state)
{
	struct cluster *c = *state;

	fb_configs_free(c->configs);
	fb_configdefs_free(c->defs);
	kw_arena_fini(&c->arena);
	return 0;
}

/* ---- Kafka's answers ---- */

static int32_t fill(const struct resource *resource, struct fb_alter_config *configs)
{
	int32_t n = 0;

	for (; n < MAX_OPS && resource->ops[n].name; n++)
		configs[n] = (struct fb_alter_config){kw_str(resource->ops[n].name), resource->ops[n].operation,
						      kw_str(resource->ops[n].value)};
	return n;
}

static bool same(const struct answer *want, const struct fb_alter_result *got)
{
	if (want->type != got->resourceType || !kw_str_is(got->resourceName, want->name))
		return false;
	if (want->code != got->errorCode)
		return false;
	if (!want->message || !got->errorMessage)
		return want->message == got->errorMessage;
	return strcmp(want->message, got->errorMessage) == 0;
}

/* How many of the wanted answers are missing. The controller answers in an order of its own: that is not compared. */
static int missing(const char *file, int line, const struct answer *want, const struct fb_alter_answer *got)
{
	int faults = 0;
	size_t n = 0;

	if (!want->name && want->code == MUTED)
		return !got->mute;
	for (; want[n].name; n++) {
		size_t i = 0;

		while (i < got->nresults && !same(&want[n], &got->results[i]))
			i++;
		if (i < got->nresults)
			continue;
		i = n < got->nresults ? n : 0;
		print_error("%s:%d: want %d %s, got %d %s\n", file, line, want[n].code, want[n].message,
			    got->results[i].errorCode, got->results[i].errorMessage);
		faults++;
	}
	return faults + (got->nresults != n);
}

static int check_row(struct cluster *c, const char *file, const struct row *row, bool is_legacy)
{
	struct fb_alter_config configs[MAX_RESOURCES][MAX_OPS];
	struct fb_alter_resource resources[MAX_RESOURCES];
	struct fb_alter_request request = {.legacy = is_legacy, .resources = resources};
	struct fb_alter_answer answer;
	int faults;

	for (; row->resources[request.nresources].name; request.nresources++) {
		const struct resource *from = &row->resources[request.nresources];

		resources[request.nresources] = (struct fb_alter_resource){from->type, kw_str(from->name),
			configs[request.nresources], fill(from, configs[request.nresources])};
	}
	c->facts.controller = false;
	assert_int_equal(fb_alter_check(c->configs, &c->facts, &request, &c->arena, &answer), 0);
	faults = missing(file, row->line, row->broker, &answer);
	if (row->broker_only)
		return faults;
	c->facts.controller = true;
	assert_int_equal(fb_alter_check(c->configs, &c->facts, &request, &c->arena, &answer), 0);
	return faults + missing(file, row->line, row->controller, &answer);
}

static void incremental_as_kafka(void **state)
{
	int faults = 0;

	for (size_t i = 0; i < sizeof incremental / sizeof *incremental; i++)
		faults += check_row(*state, "alter_cases.def", &incremental[i], false);
	assert_int_equal(faults, 0);
}

static void legacy_as_kafka(void **state)
{
	int faults = 0;

	for (size_t i = 0; i < sizeof legacy / sizeof *legacy; i++)
		faults += check_row(*state, "alter_legacy_cases.def", &legacy[i], true);
	assert_int_equal(faults, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(incremental_as_kafka, setup, teardown),
		cmocka_unit_test_setup_teardown(legacy_as_kafka, setup, teardown),
	};

	return cmocka_run_group_tests_name("config alter", tests, NULL, NULL);
}
