/* Configuration values: layers, what DescribeConfigs says of them, what a broker reports of itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fakebroker/config/values.h"

struct fixture {
	struct fb_configdefs *defs;
	struct fb_configs *configs;
	struct kw_arena arena;
};

static int setup(void **state)
{
	static struct fixture f;

	f.defs = fb_configdefs_new();
	f.configs = fb_configs_new(f.defs);
	kw_arena_init(&f.arena, 0);
	*state = &f;
	return f.configs ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	fb_configs_free(f->configs);
	fb_configdefs_free(f->defs);
	kw_arena_fini(&f->arena);
	return 0;
}

static void fix(struct fixture *f, int32_t node, const char *name, const char *value)
{
	assert_int_equal(fb_configs_set_static(f->configs, node, kw_str(name), kw_str(value), NULL), 0);
}

static void set(struct fixture *f, enum fb_scope type, const char *resource, const char *name, const char *value)
{
	const struct fb_change change = {(int8_t)type, kw_str(resource), kw_str(name), kw_str(value)};

	assert_int_equal(fb_configs_apply(f->configs, &change, 1), 0);
}

static void expect(struct fixture *f, enum fb_scope type, const char *resource, const char *name, const char *value,
		   enum fb_source source)
{
	enum fb_source got;
	struct kw_str text = fb_configs_get(f->configs, type, kw_str(resource), 1, name, &f->arena, &got);

	if (!kw_str_eq(text, kw_str(value)) || (value && got != source))
		fail_msg("%s: want %s from %d, got %.*s from %d", name, value, source, text.n, text.n < 0 ? "" : text.s,
			 got);
}

/* ---- layers ---- */

static void layers_of_a_broker(void **state)
{
	struct fixture *f = *state;

	expect(f, FB_BROKER, "1", "log.cleaner.threads", "1", FB_SRC_DEFAULT);
	fix(f, FB_ALL_NODES, "log.cleaner.threads", "2");
	expect(f, FB_BROKER, "1", "log.cleaner.threads", "2", FB_SRC_STATIC);
	fix(f, 1, "log.cleaner.threads", "3");
	fix(f, 2, "log.cleaner.threads", "7");
	expect(f, FB_BROKER, "1", "log.cleaner.threads", "3", FB_SRC_STATIC);
	set(f, FB_BROKER, "", "log.cleaner.threads", "4");
	expect(f, FB_BROKER, "1", "log.cleaner.threads", "4", FB_SRC_DYNAMIC_DEFAULT);
	set(f, FB_BROKER, "1", "log.cleaner.threads", "5");
	set(f, FB_BROKER, "2", "log.cleaner.threads", "6");
	expect(f, FB_BROKER, "1", "log.cleaner.threads", "5", FB_SRC_DYNAMIC_BROKER);
	set(f, FB_BROKER, "1", "log.cleaner.threads", NULL);
	set(f, FB_BROKER, "", "log.cleaner.threads", NULL);
	expect(f, FB_BROKER, "1", "log.cleaner.threads", "3", FB_SRC_STATIC);
	expect(f, FB_BROKER, "1", "no.such.config", NULL, FB_SRC_DEFAULT);
	expect(f, FB_BROKER, "1", "log.dirs", NULL, FB_SRC_DEFAULT);
}

/* What Kafka stores and does not use. */
static void dynamic_values_without_effect(void **state)
{
	struct fixture *f = *state;

	set(f, FB_BROKER, "1", "process.roles", "broker");
	set(f, FB_BROKER, "1", "log.cleaner.threads", "abc");
	set(f, FB_BROKER, "", "num.io.threads", "-5");
	set(f, FB_BROKER, "", "listeners", "x://h:1");
	set(f, FB_BROKER, "1", "ssl.keystore.type", "PKCS12");
	expect(f, FB_BROKER, "1", "process.roles", NULL, FB_SRC_DEFAULT);
	expect(f, FB_BROKER, "1", "log.cleaner.threads", "1", FB_SRC_DEFAULT);
	expect(f, FB_BROKER, "1", "num.io.threads", "8", FB_SRC_DEFAULT);
	expect(f, FB_BROKER, "1", "listeners", "PLAINTEXT://:9092", FB_SRC_DEFAULT);
	expect(f, FB_BROKER, "1", "ssl.keystore.type", "JKS", FB_SRC_DEFAULT);
}

static void topics_inherit(void **state)
{
	struct fixture *f = *state;

	expect(f, FB_TOPIC, "t", "max.message.bytes", "1048588", FB_SRC_DEFAULT);
	fix(f, FB_ALL_NODES, "message.max.bytes", "5000");
	expect(f, FB_TOPIC, "t", "max.message.bytes", "5000", FB_SRC_STATIC);
	expect(f, FB_TOPIC, NULL, "max.message.bytes", "5000", FB_SRC_STATIC);
	set(f, FB_BROKER, "", "message.max.bytes", "6000");
	expect(f, FB_TOPIC, "t", "max.message.bytes", "6000", FB_SRC_DYNAMIC_DEFAULT);
	set(f, FB_TOPIC, "t", "max.message.bytes", "7000");
	expect(f, FB_TOPIC, "t", "max.message.bytes", "7000", FB_SRC_TOPIC);
	expect(f, FB_TOPIC, "u", "max.message.bytes", "6000", FB_SRC_DYNAMIC_DEFAULT);
	assert_int_equal(fb_configs_long(f->configs, FB_TOPIC, kw_str("t"), 1, "max.message.bytes", 0), 7000);
	assert_int_equal(fb_configs_long(f->configs, FB_TOPIC, kw_str("t"), 1, "no.such", 9), 9);
	assert_false(fb_configs_bool(f->configs, FB_TOPIC, kw_str("t"), 1, "preallocate", true));
}

static void times_come_in_three_units(void **state)
{
	struct fixture *f = *state;

	fix(f, FB_ALL_NODES, "log.retention.hours", "1");
	expect(f, FB_TOPIC, "t", "retention.ms", "3600000", FB_SRC_STATIC);
	fix(f, FB_ALL_NODES, "log.retention.minutes", "2");
	expect(f, FB_TOPIC, "t", "retention.ms", "120000", FB_SRC_STATIC);
	set(f, FB_BROKER, "1", "log.retention.ms", "5000");
	expect(f, FB_TOPIC, "t", "retention.ms", "5000", FB_SRC_DYNAMIC_BROKER);
	fix(f, FB_ALL_NODES, "log.roll.hours", "2147483647");
	expect(f, FB_TOPIC, "t", "segment.ms", "7730941129200000", FB_SRC_STATIC);
	fix(f, FB_ALL_NODES, "log.flush.scheduler.interval.ms", "77");
	expect(f, FB_TOPIC, "t", "flush.ms", "77", FB_SRC_STATIC);
}

static void groups_inherit(void **state)
{
	struct fixture *f = *state;

	expect(f, FB_GROUP, "g", "consumer.session.timeout.ms", "45000", FB_SRC_DEFAULT);
	fix(f, 1, "group.consumer.session.timeout.ms", "46000");
	expect(f, FB_GROUP, "g", "consumer.session.timeout.ms", "46000", FB_SRC_STATIC);
	set(f, FB_GROUP, "g", "consumer.session.timeout.ms", "47000");
	expect(f, FB_GROUP, "g", "consumer.session.timeout.ms", "47000", FB_SRC_GROUP);
	expect(f, FB_GROUP, "g", "streams.assignor.name", "sticky", FB_SRC_DEFAULT);
	expect(f, FB_GROUP, "g", "share.isolation.level", "read_uncommitted", FB_SRC_DEFAULT);
	set(f, FB_CLIENT_METRICS, "m", "interval.ms", "1000");
	expect(f, FB_CLIENT_METRICS, "m", "interval.ms", "1000", FB_SRC_CLIENT_METRICS);
}

static void static_values_are_checked(void **state)
{
	struct fixture *f = *state;
	struct kt_err err = {0};

	assert_int_equal(fb_configs_set_static(f->configs, 1, kw_str("num.io.threads"), kw_str("0"), &err), KT_ERANGE);
	assert_string_equal(err.text, "Invalid value 0 for configuration num.io.threads: Value must be at least 1");
	fix(f, 1, "principal.builder.class", "com.example.Builder");
	fix(f, 1, "no.such.config", "x");
	assert_true(kw_str_is(fb_configs_static(f->configs, 1, kw_str("no.such.config")), "x"));
	assert_int_equal(fb_configs_static(f->configs, 1, kw_str("num.io.threads")).n, -1);
}

/* A topic configuration that this release does not know (any more) does not come back from the log. */
static void replays_removed_names(void **state)
{
	struct fixture *f = *state;

	set(f, FB_TOPIC, "t", "message.format.version", "2.0");
	set(f, FB_BROKER, "1", "no.such.config", "x");
	assert_int_equal(fb_configs_dynamic(f->configs, FB_TOPIC, kw_str("t"), kw_str("message.format.version")).n, -1);
	assert_true(kw_str_is(fb_configs_dynamic(f->configs, FB_BROKER, kw_str("1"), kw_str("no.such.config")), "x"));
}

struct walk {
	char text[256];
	size_t stop_after;
};

static bool append(void *arg, const struct fb_change *value)
{
	struct walk *walk = arg;
	size_t n = strlen(walk->text);

	snprintf(walk->text + n, sizeof walk->text - n, "%d:%.*s:%.*s=%.*s ", value->resourceType,
		 value->resourceName.n, value->resourceName.s, value->name.n, value->name.s, value->value.n,
		 value->value.s);
	return --walk->stop_after > 0;
}

static void walks_in_order_and_forgets(void **state)
{
	struct fixture *f = *state;
	struct walk walk = {.stop_after = 99};

	set(f, FB_TOPIC, "b", "segment.ms", "2");
	set(f, FB_TOPIC, "b", "retention.ms", "1");
	set(f, FB_BROKER, "", "num.io.threads", "4");
	set(f, FB_TOPIC, "a", "retention.ms", "3");
	fb_configs_each(f->configs, append, &walk);
	assert_string_equal(walk.text, "2:a:retention.ms=3 2:b:retention.ms=1 2:b:segment.ms=2 4::num.io.threads=4 ");
	fb_configs_forget(f->configs, FB_TOPIC, kw_str("b"));
	fb_configs_forget(f->configs, FB_TOPIC, kw_str("nope"));
	walk = (struct walk){.stop_after = 1};
	fb_configs_each(f->configs, append, &walk);
	assert_string_equal(walk.text, "2:a:retention.ms=3 ");
	set(f, FB_TOPIC, "a", "retention.ms", NULL);
	set(f, FB_TOPIC, "a", "retention.ms", NULL);
	walk = (struct walk){.stop_after = 1};
	fb_configs_each(f->configs, append, &walk);
	assert_string_equal(walk.text, "4::num.io.threads=4 ");
}

/* ---- what a broker reports of itself ---- */

static void reports_what_is_not_default(void **state)
{
	struct fixture *f = *state;
	struct fb_static_config *reported;

	fix(f, FB_ALL_NODES, "num.io.threads", "9");
	fix(f, FB_ALL_NODES, "num.network.threads", " 3 ");
	fix(f, FB_ALL_NODES, "no.such.config", "x");
	fix(f, 1, "ssl.keystore.password", "secret");
	fix(f, 2, "background.threads", "4");
	set(f, FB_BROKER, "1", "log.cleaner.threads", "2");
	assert_int_equal(fb_configs_report(f->configs, 1, &f->arena, &reported), 2);
	assert_true(kw_str_is(reported[0].name, "num.io.threads"));
	assert_true(kw_str_is(reported[0].value, "9"));
	assert_false(reported[0].sensitive);
	assert_true(kw_str_is(reported[1].name, "ssl.keystore.password"));
	assert_int_equal(reported[1].value.n, -1);
	assert_true(reported[1].sensitive);
	assert_int_equal(fb_configs_report(f->configs, 3, &f->arena, &reported), 1);
}

/* ---- DescribeConfigs ---- */

static const struct {
	enum fb_scope scope;
	const char *name, *value;
	bool readOnly;
	enum fb_source source;
	bool isSensitive;
	int8_t configType;
	size_t nsynonyms;
} entries[] = {
#define ENTRY(scope, ...) {FB_##scope, __VA_ARGS__},
#include "fakebroker/tests/describe_cases.def"
#undef ENTRY
};

enum { NENTRIES = sizeof entries / sizeof *entries };

static int describe(struct fixture *f, enum fb_scope type, const char *resource, const char *key,
		    struct fb_described **described)
{
	struct kw_str keys = kw_str(key);

	return fb_configs_describe(f->configs, type, kw_str(resource), 1, &keys, key ? 1 : -1, &f->arena, described);
}

static void describes_as_kafka(void **state)
{
	struct fixture *f = *state;
	struct fb_described *d;
	int faults = 0;

	for (size_t i = 0; i < NENTRIES; i++) {
		if (entries[i].source == FB_SRC_STATIC)
			fix(f, 1, entries[i].name, entries[i].value);
	}
	set(f, FB_BROKER, "", "min.insync.replicas", "1");
	set(f, FB_TOPIC, "t", "retention.ms", "1000");
	for (size_t i = 0; i < NENTRIES; i++) {
		const char *resource = entries[i].scope == FB_TOPIC ? "t" : "1";

		assert_int_equal(describe(f, entries[i].scope, resource, entries[i].name, &d), 1);
		if (kw_str_eq(d->value, kw_str(entries[i].value)) && d->readOnly == entries[i].readOnly &&
		    d->source == entries[i].source && d->isSensitive == entries[i].isSensitive &&
		    d->configType == entries[i].configType && d->nsynonyms == entries[i].nsynonyms)
			continue;
		print_error("%s: got %.*s %d %d %d %d %zu\n", entries[i].name, d->value.n, d->value.s, d->readOnly,
			    d->source, d->isSensitive, d->configType, d->nsynonyms);
		faults++;
	}
	assert_int_equal(faults, 0);
	assert_int_equal(describe(f, FB_TOPIC, "t", NULL, &d), 37 + 2);
	assert_int_equal(describe(f, FB_BROKER, "1", NULL, &d), 350 + 12);
}

/* One entry as text: value, source, and the synonyms as name=value/source. */
static const char *entry_text(struct fixture *f, enum fb_scope type, const char *resource, const char *key)
{
	struct fb_described *d;
	char *text;

	if (describe(f, type, resource, key, &d) != 1)
		return "";
	text = kw_sprintf(&f->arena, "%.*s/%d%s%s", d->value.n < 0 ? 4 : d->value.n,
			  d->value.n < 0 ? "null" : d->value.s, d->source, d->readOnly ? " read-only" : "",
			  d->isSensitive ? " sensitive" : "");
	for (size_t i = 0; i < d->nsynonyms; i++)
		text = kw_sprintf(&f->arena, "%s, %s=%.*s/%d", text, d->synonyms[i].name,
				  d->synonyms[i].value.n < 0 ? 4 : d->synonyms[i].value.n,
				  d->synonyms[i].value.n < 0 ? "null" : d->synonyms[i].value.s, d->synonyms[i].source);
	return text;
}

/* With a comma between. */
static void many_times(char *out, size_t size, int n, const char *word)
{
	size_t used = 0;

	for (int i = 0; i < n; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s", i ? "," : "", word);
	assert_true(used < size);
}

/* Asked from Apache Kafka 4.4.0. */
static void synonyms_as_kafka(void **state)
{
	struct fixture *f = *state;
	char text[1500 * sizeof "delete,"];

	fix(f, 1, "log.retention.hours", "1");
	fix(f, 1, "message.max.bytes", "5000");
	fix(f, 1, "log.flush.scheduler.interval.ms", "77");
	fix(f, 1, "log.cleanup.policy", "compact");
	/* A weaker name does not say where the value comes from. */
	assert_string_equal(entry_text(f, FB_TOPIC, "t", "retention.ms"), "3600000/5");
	assert_string_equal(entry_text(f, FB_BROKER, "1", "log.retention.ms"), "null/5");
	assert_string_equal(entry_text(f, FB_BROKER, "1", "log.retention.hours"),
			    "1/4 read-only, log.retention.hours=1/4, log.retention.hours=168/5");
	assert_string_equal(entry_text(f, FB_TOPIC, "t", "flush.ms"), "77/5");
	set(f, FB_BROKER, "1", "log.retention.ms", "5000");
	set(f, FB_BROKER, "", "log.retention.ms", "7000");
	set(f, FB_BROKER, "1", "message.max.bytes", "6000");
	assert_string_equal(entry_text(f, FB_TOPIC, "t", "retention.ms"),
			    "5000/2, log.retention.ms=5000/2, log.retention.ms=7000/3, log.retention.hours=1/4, "
			    "log.retention.hours=168/5");
	assert_string_equal(entry_text(f, FB_TOPIC, "t", "max.message.bytes"),
			    "6000/2, message.max.bytes=6000/2, message.max.bytes=5000/4, message.max.bytes=1048588/5");
	set(f, FB_TOPIC, "t", "cleanup.policy", " delete , compact,delete");
	assert_string_equal(entry_text(f, FB_TOPIC, "t", "cleanup.policy"),
			    "delete,compact/1, cleanup.policy=delete,compact/1, log.cleanup.policy=compact/4, "
			    "log.cleanup.policy=delete/5");
	many_times(text, sizeof text, 1500, "delete");
	set(f, FB_TOPIC, "t", "cleanup.policy", text);
	assert_string_equal(entry_text(f, FB_TOPIC, "t", "cleanup.policy"),
			    "delete/1, cleanup.policy=delete/1, log.cleanup.policy=compact/4, "
			    "log.cleanup.policy=delete/5");
	assert_string_equal(entry_text(f, FB_GROUP, "g", "share.auto.offset.reset"),
			    "latest/5, share.auto.offset.reset=latest/5");
	set(f, FB_GROUP, "g", "consumer.session.timeout.ms", "50000");
	assert_string_equal(entry_text(f, FB_GROUP, "g", "consumer.session.timeout.ms"),
			    "50000/8, consumer.session.timeout.ms=50000/8, group.consumer.session.timeout.ms=45000/5");
	set(f, FB_CLIENT_METRICS, "m", "interval.ms", " 1000 ");
	assert_string_equal(entry_text(f, FB_CLIENT_METRICS, "m", "interval.ms"), "1000/7, interval.ms=1000/7");
	assert_string_equal(entry_text(f, FB_CLIENT_METRICS, "m", "metrics"), "/5");
}

static void unknown_and_secret_values(void **state)
{
	struct fixture *f = *state;
	struct fb_described *d;

	fix(f, 1, "foo.bar", "baz");
	fix(f, 1, "ssl.keystore.password", "sec");
	fix(f, 1, "unstable.api.versions.enable", "true");
	fix(f, 1, "listener.name.plaintext.num.network.threads", "2");
	set(f, FB_BROKER, "", "unk.y", "2");
	set(f, FB_BROKER, "1", "listener.name.plaintext.ssl.keystore.password", "zz");
	assert_string_equal(entry_text(f, FB_BROKER, "1", "foo.bar"), "null/4 read-only sensitive, foo.bar=null/4");
	assert_string_equal(entry_text(f, FB_BROKER, "1", "unk.y"), "null/3 read-only sensitive, unk.y=null/3");
	assert_string_equal(entry_text(f, FB_BROKER, "1", "ssl.keystore.password"),
			    "null/4 sensitive, ssl.keystore.password=null/4");
	assert_string_equal(entry_text(f, FB_BROKER, "1", "listener.name.plaintext.ssl.keystore.password"),
			    "null/2 read-only sensitive, listener.name.plaintext.ssl.keystore.password=null/2, "
			    "ssl.keystore.password=null/4");
	assert_string_equal(entry_text(f, FB_BROKER, "1", "listener.name.plaintext.num.network.threads"),
			    "2/4 read-only, listener.name.plaintext.num.network.threads=2/4, num.network.threads=3/5");
	assert_string_equal(entry_text(f, FB_BROKER, "1", "no.such"), "");
	assert_int_equal(describe(f, FB_BROKER, "1", NULL, &d), 350 + 12 + 5);
	/* The cluster default lists only what is set. */
	set(f, FB_BROKER, "", "log.cleaner.threads", "2");
	set(f, FB_BROKER, "", "listeners", "x://h:1");
	assert_int_equal(describe(f, FB_BROKER, "", NULL, &d), 2);
	assert_string_equal(entry_text(f, FB_BROKER, "", "log.cleaner.threads"), "2/3, log.cleaner.threads=2/3");
	assert_string_equal(entry_text(f, FB_BROKER_LOGGER, "1", "root"), "INFO/6");
}

static bool is_t(void *arg, struct kw_str name)
{
	(void)arg;
	return kw_str_is(name, "t");
}

/* Asked from Apache Kafka 4.4.0. */
static void refuses_resources_as_kafka(void **state)
{
	static const struct {
		int8_t type;
		const char *name;
		int16_t code;
		const char *message;
	} rows[] = {
		{FB_TOPIC, "t", 0, ""},
		{FB_TOPIC, "nope", 3, ""},
		{FB_TOPIC, "", 17, "Topic name is invalid: the empty string is not allowed"},
		{FB_BROKER, "", 0, ""},
		{FB_BROKER, "+1", 0, ""},
		{FB_BROKER, "99", 42, "Unexpected broker id, expected 1 or empty string, but received 99"},
		{FB_BROKER, " 1", 42, "Broker id must be an integer, but it is:  1"},
		{FB_BROKER_LOGGER, "1", 0, ""},
		{FB_BROKER_LOGGER, "", 42, "Broker id must not be empty"},
		{FB_BROKER_LOGGER, "9", 42, "Unexpected broker id, expected 1 but received 9"},
		{FB_GROUP, "g", 0, ""},
		{FB_GROUP, "", 42, "Group name must not be empty"},
		{FB_CLIENT_METRICS, "", 42, "Client metrics subscription name must not be empty"},
		{99, "x", 42, "This most likely occurs because of a request being malformed by the client library or "
			      "the message was sent to an incompatible broker. See the broker logs for more details."},
	};
	struct fixture *f = *state;
	const struct fb_config_facts facts = {.self = 1, .groups = true, .topicExists = is_t};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *message;

		assert_int_equal(fb_describe_check(&facts, rows[i].type, kw_str(rows[i].name), &f->arena, &message),
				 rows[i].code);
		assert_string_equal(message, rows[i].message);
	}
}

/* A number that was kept follows each kind of change. */
static void kept_numbers_follow_changes(void **state)
{
	static const char name[] = "fetch.max.bytes";
	struct fixture *f = *state;
	struct fb_kept_long kept = {0}, threads = {0};

	assert_int_equal(fb_configs_kept_long(f->configs, 1, name, 5, &kept), 57671680);
	fix(f, 1, name, "2000");
	assert_int_equal(fb_configs_kept_long(f->configs, 1, name, 5, &kept), 2000);
	assert_int_equal(fb_configs_kept_long(f->configs, 1, name, 5, &kept), 2000);
	fb_configs_unset_static(f->configs, 1, kw_str(name));
	assert_int_equal(fb_configs_kept_long(f->configs, 1, name, 5, &kept), 57671680);
	assert_int_equal(fb_configs_kept_long(f->configs, 1, "background.threads", 5, &threads), 10);
	set(f, FB_BROKER, "1", "background.threads", "7");
	assert_int_equal(fb_configs_kept_long(f->configs, 1, "background.threads", 5, &threads), 7);
	fb_configs_forget(f->configs, FB_BROKER, kw_str("1"));
	assert_int_equal(fb_configs_kept_long(f->configs, 1, "background.threads", 5, &threads), 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(layers_of_a_broker, setup, teardown),
		cmocka_unit_test_setup_teardown(dynamic_values_without_effect, setup, teardown),
		cmocka_unit_test_setup_teardown(topics_inherit, setup, teardown),
		cmocka_unit_test_setup_teardown(times_come_in_three_units, setup, teardown),
		cmocka_unit_test_setup_teardown(groups_inherit, setup, teardown),
		cmocka_unit_test_setup_teardown(static_values_are_checked, setup, teardown),
		cmocka_unit_test_setup_teardown(replays_removed_names, setup, teardown),
		cmocka_unit_test_setup_teardown(walks_in_order_and_forgets, setup, teardown),
		cmocka_unit_test_setup_teardown(reports_what_is_not_default, setup, teardown),
		cmocka_unit_test_setup_teardown(describes_as_kafka, setup, teardown),
		cmocka_unit_test_setup_teardown(synonyms_as_kafka, setup, teardown),
		cmocka_unit_test_setup_teardown(unknown_and_secret_values, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_resources_as_kafka, setup, teardown),
		cmocka_unit_test_setup_teardown(kept_numbers_follow_changes, setup, teardown),
	};

	return cmocka_run_group_tests_name("config values", tests, NULL, NULL);
}
