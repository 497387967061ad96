/* Alterations of configurations: what Apache Kafka 4.4.0 answered to 313 requests, and the kit's rules after it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fakebroker/tests/user_configs.h"

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
};

#define NOTHING {{NULL, 0, NULL}}
#define RESOURCES(...) {__VA_ARGS__}
#define ANSWER(...) {__VA_ARGS__}
#define MUTE {{0, NULL, MUTED, NULL}}
#define BOTH(resources, answer) {__LINE__, resources, answer, answer},
#define SPLIT(resources, broker, controller) {__LINE__, resources, broker, controller},

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
			     .facts = {.self = 1, .level = 33, .elr = true, .imitates = true,
				       .controllerImitates = true, .topicExists = topic_exists,
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
		return got->fault != FB_F_RESOURCE_TWICE;
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

/* ---- one resource after the other ---- */

/* Checks one operation through the broker, or straight at the controller; applies what follows. */
static struct fb_alter_result alter(struct cluster *c, int8_t type, const char *name, const char *key, int8_t operation,
				    const char *value)
{
	const struct fb_alter_config config = {kw_str(key), operation, kw_str(value)};
	const struct fb_alter_resource resource = {type, kw_str(name), &config, 1};
	const struct fb_alter_request request = {.resources = &resource, .nresources = 1};
	struct fb_alter_answer answer;

	assert_int_equal(fb_alter_check(c->configs, &c->facts, &request, &c->arena, &answer), 0);
	assert_int_equal(answer.nresults, 1);
	if (!answer.results[0].errorCode)
		assert_int_equal(fb_configs_apply(c->configs, answer.results[0].changes, answer.results[0].nchanges),
				 0);
	return answer.results[0];
}

static void expect(struct cluster *c, int8_t type, const char *name, const char *key, int8_t operation,
		   const char *value, int16_t code, const char *message)
{
	struct fb_alter_result result = alter(c, type, name, key, operation, value);

	assert_int_equal(result.errorCode, code);
	if (message)
		assert_string_equal(result.errorMessage, message);
	else
		assert_null(result.errorMessage);
}

static void stored(struct cluster *c, const char *key, const char *value)
{
	struct kw_str got = fb_configs_dynamic(c->configs, FB_TOPIC, kw_str("t"), kw_str(key));

	assert_true(kw_str_eq(got, kw_str(value)));
}

/* The stored texts, as Kafka's metadata log has them. */
static void lists_change(void **state)
{
	struct cluster *c = *state;

	expect(c, FB_TOPIC, "t", "cleanup.policy", FB_APPEND, "compact", 0, NULL);
	stored(c, "cleanup.policy", "delete,compact");
	assert_int_equal(alter(c, FB_TOPIC, "t", "cleanup.policy", FB_APPEND, "compact").nchanges, 0);
	expect(c, FB_TOPIC, "t", "cleanup.policy", FB_SUBTRACT, "foo", 0, NULL);
	stored(c, "cleanup.policy", "delete,compact");
	expect(c, FB_TOPIC, "t", "cleanup.policy", FB_SUBTRACT, "delete,compact", 0, NULL);
	stored(c, "cleanup.policy", "");
	expect(c, FB_TOPIC, "t", "cleanup.policy", FB_APPEND, "compact,compact", 0, NULL);
	stored(c, "cleanup.policy", "compact");
	/* What was set by hand stays as it was written. */
	expect(c, FB_TOPIC, "t", "cleanup.policy", FB_SET, " compact , delete ", 0, NULL);
	stored(c, "cleanup.policy", " compact , delete ");
	expect(c, FB_TOPIC, "t", "cleanup.policy", FB_SUBTRACT, "compact", 0, NULL);
	stored(c, "cleanup.policy", " compact , delete ");
	expect(c, FB_TOPIC, "t", "cleanup.policy", FB_DELETE, NULL, 0, NULL);
	stored(c, "cleanup.policy", NULL);
	expect(c, FB_TOPIC, "t", "cleanup.policy", FB_SUBTRACT, "delete", 0, NULL);
	stored(c, "cleanup.policy", "");
}

static void only_changes_are_written(void **state)
{
	struct cluster *c = *state;

	assert_int_equal(alter(c, FB_TOPIC, "t", "segment.ms", FB_SET, "5000").nchanges, 1);
	assert_int_equal(alter(c, FB_TOPIC, "t", "segment.ms", FB_SET, "5000").nchanges, 0);
	assert_int_equal(alter(c, FB_TOPIC, "t", "flush.ms", FB_DELETE, NULL).nchanges, 0);
	assert_int_equal(alter(c, FB_BROKER, "1", "log.cleaner.threads", FB_SET, "2").nchanges, 1);
	assert_int_equal(alter(c, FB_BROKER, "1", "log.cleaner.threads", FB_SET, "2").nchanges, 1);
}

static void legacy_deletes_the_rest(void **state)
{
	struct cluster *c = *state;
	const struct fb_alter_config config = {.name = kw_str("segment.ms"), .value = kw_str("6000")};
	const struct fb_alter_resource resource = {FB_TOPIC, kw_str("t"), &config, 1};
	const struct fb_alter_request request = {.legacy = true, .resources = &resource, .nresources = 1};
	struct fb_alter_answer answer;

	set(c, FB_TOPIC, "t", "segment.ms", "5000");
	set(c, FB_TOPIC, "t", "flush.ms", "7");
	assert_int_equal(fb_alter_check(c->configs, &c->facts, &request, &c->arena, &answer), 0);
	assert_int_equal(answer.results[0].nchanges, 3);
	fb_configs_apply(c->configs, answer.results[0].changes, 3);
	stored(c, "segment.ms", "6000");
	stored(c, "flush.ms", NULL);
	stored(c, "retention.ms", NULL);
}

/* Kafka answered the same at 3.3-IV3 (7), with ELR off. */
static void at_an_old_level(void **state)
{
	static const char cordoned[] = "The cordoned.log.dirs configuration value cannot be set because it requires "
				       "metadata.version >= 4.3-IV0";
	struct cluster *c = *state;

	c->facts.level = 7;
	c->facts.elr = false;
	for (int i = 0; i < 2; i++) {
		c->facts.controller = i;
		expect(c, FB_BROKER, "1", "cordoned.log.dirs", FB_SET, "*", 40, cordoned);
		expect(c, FB_BROKER, "1", "cordoned.log.dirs", FB_DELETE, NULL, 40, cordoned);
		expect(c, FB_BROKER, "1", "min.insync.replicas", FB_SET, "2", 0, NULL);
		expect(c, FB_BROKER, "1", "min.insync.replicas", FB_DELETE, NULL, 0, NULL);
		expect(c, FB_BROKER, "", "min.insync.replicas", FB_SET, "1", 0, NULL);
		expect(c, FB_BROKER, "", "min.insync.replicas", FB_DELETE, NULL, 0, NULL);
		expect(c, FB_CLIENT_METRICS, "m1", "interval.ms", FB_SET, "60000", 0, NULL);
		expect(c, FB_GROUP, "g1", "share.session.timeout.ms", FB_SET, "50000", 0, NULL);
		expect(c, FB_GROUP, "g1", "streams.session.timeout.ms", FB_SET, "50000", 0, NULL);
	}
}

static void cordoned_directories(void **state)
{
	struct cluster *c = *state;

	expect(c, FB_BROKER, "1", "cordoned.log.dirs", FB_SET, "/var/kafka", 0, NULL);
	/* The controller takes nothing of its own accord that is not there already. */
	c->facts.controller = true;
	expect(c, FB_BROKER, "1", "cordoned.log.dirs", FB_SET, "/var/kafka", 0, NULL);
	expect(c, FB_BROKER, "1", "cordoned.log.dirs", FB_SET, "", 0, NULL);
	expect(c, FB_BROKER, "1", "cordoned.log.dirs", FB_SET, "/var/kafka", 40, "When updating cordoned.log.dirs via "
	       "controllers,  the new value must be a subset of the current configuration value.");
}

/* "from:BROKER,...": n distinct entries of seven bytes. */
static const char *replicas(struct cluster *c, int n, char broker)
{
	char *text = kw_alloc(&c->arena, (size_t)n * 7 + 1);

	for (int i = 0; i < n; i++)
		snprintf(text + i * 7, 8, "%04d:%c,", i, broker);
	text[n * 7 - 1] = '\0';
	return text;
}

static void values_have_a_limit(void **state)
{
	static const char name[] = "leader.replication.throttled.replicas";
	struct cluster *c = *state;

	expect(c, FB_TOPIC, "t", name, FB_SET, replicas(c, 4000, '1'), 0, NULL);
	expect(c, FB_TOPIC, "t", name, FB_APPEND, replicas(c, 4000, '1'), 0, NULL);
	expect(c, FB_TOPIC, "t", name, FB_APPEND, replicas(c, 700, '2'), 40,
	       "The configuration value cannot be added because "
	       "it exceeds the maximum value size of 32767 bytes.");
	expect(c, FB_TOPIC, "t", name, FB_APPEND, replicas(c, 600, '2'), 0, NULL);
	expect(c, FB_TOPIC, "t", name, FB_SUBTRACT, replicas(c, 3999, '1'), 0, NULL);
	assert_int_equal(fb_configs_dynamic(c->configs, FB_TOPIC, kw_str("t"), kw_str(name)).n, 601 * 7 - 1);
}

/* A message quotes the value, but a string of the protocol has at most 32767 bytes. */
static void messages_have_a_limit(void **state)
{
	struct cluster *c = *state;
	struct fb_alter_result result = alter(c, FB_TOPIC, "t", "retention.ms", FB_SET, replicas(c, 4681, '1'));

	assert_int_equal(result.errorCode, 40);
	assert_int_equal(strlen(result.errorMessage), 32767);
	assert_string_equal(result.errorMessage + 32764, "...");
}

/* ---- CreateTopics ---- */

static const struct {
	struct fb_alter_config configs[2];
	int32_t n;
	int16_t code;
	const char *message;
} created[] = {
	{{{{"retention.ms", 12}, 0, {"1000", 4}}}, 1, 0, NULL},
	{{{{"no.such.config", 14}, 0, {"1", 1}}}, 1, 40, "Unknown topic config name: no.such.config"},
	{{{{"retention.ms", 12}, 0, {"abc", 3}}}, 1, 40,
	 "Invalid value abc for configuration retention.ms: Not a number of type LONG"},
	{{{{"retention.ms", 12}, 0, {"", 0}}}, 1, 40,
	 "Invalid value  for configuration retention.ms: Not a number of type LONG"},
	{{{{"retention.ms", 12}, 0, {NULL, -1}}}, 1, 40, "Null value not supported for topic configs: retention.ms"},
	{{{{"retention.ms", 12}, 0, {NULL, -1}}, {{"segment.bytes", 13}, 0, {NULL, -1}}}, 2, 40,
	 "Null value not supported for topic configs: retention.ms,segment.bytes"},
	{{{{"retention.ms", 12}, 0, {NULL, -1}}, {{"foo", 3}, 0, {"1", 1}}}, 2, 40,
	 "Null value not supported for topic configs: retention.ms"},
	{{{{"local.retention.ms", 18}, 0, {"2000", 4}}, {{"retention.ms", 12}, 0, {"1000", 4}}}, 2, 0, NULL},
	{{{{"min.compaction.lag.ms", 21}, 0, {"10", 2}}, {{"max.compaction.lag.ms", 21}, 0, {"5", 1}}}, 2, 40,
	 "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)"},
	{{{{"remote.storage.enable", 21}, 0, {"true", 4}}}, 1, 40, "Tiered Storage functionality is disabled in the "
	 "broker. Topic cannot be configured with remote log storage."},
	/* The last of a repeated name wins. */
	{{{{"retention.ms", 12}, 0, {"x", 1}}, {{"retention.ms", 12}, 0, {"1", 1}}}, 2, 0, NULL},
	{{{{"retention.ms", 12}, 0, {"1", 1}}, {{"retention.ms", 12}, 0, {"x", 1}}}, 2, 40,
	 "Invalid value x for configuration retention.ms: Not a number of type LONG"},
	{{{{"", 0}, 0, {"1", 1}}}, 1, 40, "Unknown topic config name: "},
};

static void creates_as_kafka(void **state)
{
	struct cluster *c = *state;

	for (size_t i = 0; i < sizeof created / sizeof *created; i++) {
		struct fb_alter_result result;

		assert_int_equal(fb_create_check(c->configs, &c->facts, kw_str("new"), created[i].configs, created[i].n,
						 &c->arena, &result), 0);
		assert_int_equal(result.errorCode, created[i].code);
		if (created[i].message)
			assert_string_equal(result.errorMessage, created[i].message);
		else
			assert_true(result.nchanges > 0 && kw_str_is(result.changes[0].resourceName, "new"));
	}
}

/* ---- the rules by metadata.version ---- */

#define AT(level, name) "metadata.version " level " (" name ") makes this configuration of "

static void illegal_at_this_level(void **state)
{
	struct cluster *c = *state;

	assert_int_equal(add_user_configs(c->defs), 0);
	c->facts.level = 27;
	expect(c, FB_BROKER, "1", "kit.rises", FB_SET, "16", 0, NULL);
	expect(c, FB_BROKER, "1", "kit.rises", FB_SET, "0", 40,
	       AT("27", "4.1-IV1") "broker 1 illegal: Invalid value 0 for configuration kit.rises: Value must be at "
	       "least 1 (rule of level 25)");
	c->facts.level = 28;
	expect(c, FB_BROKER, "", "kit.rises", FB_SET, "16", 40,
	       AT("28", "4.2-IV0") "the cluster default illegal: Invalid value 16 for configuration kit.rises: Value "
	       "must be at least 1024 (rule of level 28)");
	expect(c, FB_TOPIC, "t", "kit.falls", FB_SET, "16", 0, NULL);
	c->facts.level = 27;
	expect(c, FB_TOPIC, "t", "kit.falls", FB_SET, "16", 40,
	       AT("27", "4.1-IV1") "topic t illegal: Invalid value 16 for configuration kit.falls: Value must be at "
	       "least 1024 (rule of level 25)");
	/* It is the controller's rule: straight there, it holds as well. Kafka's own checks come first. */
	c->facts.controller = true;
	expect(c, FB_BROKER, "1", "kit.rises", FB_SET, "0", 40,
	       AT("27", "4.1-IV1") "broker 1 illegal: Invalid value 0 for configuration kit.rises: Value must be at "
	       "least 1 (rule of level 25)");
	expect(c, FB_BROKER, "99", "kit.rises", FB_SET, "0", 102, "No node with id 99 found.");
	c->facts.controller = false;
	expect(c, FB_BROKER, "1", "kit.rises", FB_SET, "x", 42, "Invalid value x for configuration kit.rises: Not a "
	       "number of type INT");
}

static void only_touched_keys_count(void **state)
{
	struct cluster *c = *state;

	assert_int_equal(add_user_configs(c->defs), 0);
	c->facts.level = 28;
	set(c, FB_BROKER, "1", "kit.rises", "16");
	set(c, FB_TOPIC, "t", "kit.inherits", "1");
	expect(c, FB_BROKER, "1", "log.cleaner.threads", FB_SET, "2", 0, NULL);
	c->facts.level = 29;
	expect(c, FB_TOPIC, "t", "segment.ms", FB_SET, "5000", 0, NULL);
	/* A deletion is judged by what is behind it: the cluster's value, the static one, the default. */
	set(c, FB_BROKER, "", "kit.rises", "17");
	expect(c, FB_BROKER, "1", "kit.rises", FB_DELETE, NULL, 40,
	       AT("29", "4.2-IV1") "broker 1 illegal: Invalid value 17 for configuration kit.rises: Value must be at "
	       "least 1024 (rule of level 28)");
	expect(c, FB_TOPIC, "t", "kit.inherits", FB_DELETE, NULL, 40,
	       AT("29", "4.2-IV1") "topic t illegal: Invalid value 16 for configuration kit.inherits: Value must be at "
	       "least 2048 (rule of level 29)");
	assert_int_equal(fb_configs_set_static(c->configs, 1, kw_str("kit.rises"), kw_str("18"), NULL), 0);
	expect(c, FB_BROKER, "", "kit.rises", FB_DELETE, NULL, 40,
	       AT("29", "4.2-IV1") "the cluster default illegal: Invalid value 18 for configuration kit.rises: Value "
	       "must be at least 1024 (rule of level 28)");
	assert_int_equal(fb_configs_set_static(c->configs, 1, kw_str("kit.rises"), kw_str("4096"), NULL), 0);
	expect(c, FB_BROKER, "", "kit.rises", FB_DELETE, NULL, 0, NULL);
	expect(c, FB_BROKER, "1", "kit.rises", FB_DELETE, NULL, 0, NULL);
}

static void defaults_and_secrets(void **state)
{
	struct cluster *c = *state;

	assert_int_equal(add_user_configs(c->defs), 0);
	c->facts.level = 31;
	expect(c, FB_BROKER, "1", "kit.default", FB_SET, "6", 0, NULL);
	expect(c, FB_BROKER, "1", "kit.default", FB_DELETE, NULL, 40,
	       AT("31", "4.4-IV0") "broker 1 illegal: Invalid value 5 for configuration kit.default: Value must be at "
	       "least 6 (rule of level 31)");
	expect(c, FB_BROKER, "1", "kit.secret", FB_SET, "", 42,
	       "Cannot update these configs dynamically: [kit.secret]");
	c->facts.controller = true;
	expect(c, FB_BROKER, "1", "kit.secret", FB_SET, "", 0, NULL);
}

static void other_resources_still_apply(void **state)
{
	struct cluster *c = *state;
	const struct fb_alter_config bad = {kw_str("kit.falls"), FB_SET, kw_str("1")},
				     fine = {kw_str("kit.rises"), FB_SET, kw_str("1")};
	const struct fb_alter_resource resources[] = {{FB_TOPIC, kw_str("t"), &bad, 1},
						      {FB_BROKER, kw_str("1"), &fine, 1}};
	const struct fb_alter_request request = {.resources = resources, .nresources = 2};
	struct fb_alter_answer answer;
	struct fb_alter_result result;

	assert_int_equal(add_user_configs(c->defs), 0);
	c->facts.level = 27;
	assert_int_equal(fb_alter_check(c->configs, &c->facts, &request, &c->arena, &answer), 0);
	assert_int_equal(answer.results[0].errorCode, 40);
	assert_int_equal(answer.results[0].nchanges, 0);
	assert_int_equal(answer.results[1].errorCode, 0);
	assert_int_equal(answer.results[1].nchanges, 1);
	assert_int_equal(fb_create_check(c->configs, &c->facts, kw_str("new"), &bad, 1, &c->arena, &result), 0);
	assert_int_equal(result.errorCode, 40);
	assert_non_null(strstr(result.errorMessage, "topic new illegal: Invalid value 1 for configuration kit.falls"));
}

/* A name that an earlier release knew is in the log: it neither blocks a change nor comes back. */
static void removed_names_do_not_block(void **state)
{
	struct cluster *c = *state;

	set(c, FB_TOPIC, "t", "message.format.version", "2.0");
	expect(c, FB_TOPIC, "t", "segment.ms", FB_SET, "5000", 0, NULL);
	expect(c, FB_TOPIC, "t", "message.format.version", FB_SET, "3.0", 40, "Unknown topic config name: "
	       "message.format.version");
	expect(c, FB_TOPIC, "t", "message.format.version", FB_DELETE, NULL, 0, NULL);
}

/* ---- input that means harm ---- */

static void many_keys_and_resources(void **state)
{
	enum { N = 20000 };
	struct cluster *c = *state;
	struct fb_alter_config *configs = kw_alloc(&c->arena, N * sizeof *configs);
	struct fb_alter_resource *resources = kw_alloc(&c->arena, N * sizeof *resources);
	struct fb_alter_request request = {.resources = resources, .nresources = 1};
	struct fb_alter_answer answer;

	for (int i = 0; i < N; i++) {
		configs[i] = (struct fb_alter_config){kw_str(kw_sprintf(&c->arena, "k%d", i)), FB_SET, kw_str("v")};
		resources[i] = (struct fb_alter_resource){FB_TOPIC, configs[i].name, configs, 0};
	}
	resources[0] = (struct fb_alter_resource){FB_BROKER, kw_str("1"), configs, N};
	assert_int_equal(fb_alter_check(c->configs, &c->facts, &request, &c->arena, &answer), 0);
	assert_int_equal(answer.results[0].nchanges, N);
	request.nresources = N;
	assert_int_equal(fb_alter_check(c->configs, &c->facts, &request, &c->arena, &answer), 0);
	assert_int_equal(answer.nresults, N);
	assert_int_equal(answer.results[N - 1].errorCode, 3);
}

static void too_little_memory(void **state)
{
	struct cluster *c = *state;
	const struct fb_alter_config config = {kw_str("retention.ms"), FB_SET, kw_str("1")};
	const struct fb_alter_resource resource = {FB_TOPIC, kw_str("t"), &config, 1};
	const struct fb_alter_request request = {.resources = &resource, .nresources = 1};
	struct fb_alter_answer answer;
	struct kw_arena arena;
	bool refused = false, taken = false;

	for (size_t limit = 16; limit < 4096 && !taken; limit += 16) {
		kw_arena_init(&arena, limit);
		if (fb_alter_check(c->configs, &c->facts, &request, &arena, &answer) == 0) {
			taken = answer.results[0].errorCode == 0;
			refused |= answer.results[0].errorCode == -1;
		}
		kw_arena_fini(&arena);
	}
	assert_true(refused);
	assert_true(taken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(incremental_as_kafka, setup, teardown),
		cmocka_unit_test_setup_teardown(legacy_as_kafka, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_change, setup, teardown),
		cmocka_unit_test_setup_teardown(only_changes_are_written, setup, teardown),
		cmocka_unit_test_setup_teardown(legacy_deletes_the_rest, setup, teardown),
		cmocka_unit_test_setup_teardown(at_an_old_level, setup, teardown),
		cmocka_unit_test_setup_teardown(cordoned_directories, setup, teardown),
		cmocka_unit_test_setup_teardown(values_have_a_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(messages_have_a_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(creates_as_kafka, setup, teardown),
		cmocka_unit_test_setup_teardown(illegal_at_this_level, setup, teardown),
		cmocka_unit_test_setup_teardown(only_touched_keys_count, setup, teardown),
		cmocka_unit_test_setup_teardown(defaults_and_secrets, setup, teardown),
		cmocka_unit_test_setup_teardown(other_resources_still_apply, setup, teardown),
		cmocka_unit_test_setup_teardown(removed_names_do_not_block, setup, teardown),
		cmocka_unit_test_setup_teardown(many_keys_and_resources, setup, teardown),
		cmocka_unit_test_setup_teardown(too_little_memory, setup, teardown),
	};

	return cmocka_run_group_tests_name("config alter", tests, NULL, NULL);
}
