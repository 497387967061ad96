/* --check: what is illegal at a level, from files as a running Kafka 4.4.0 has and prints them.
 * data/described_kafka_4.4.0 has the server.properties of a node and what kafka-configs.sh --describe printed of it
 * (paths shortened), after
 *
 *	kafka-topics.sh --create --topic plain --partitions 2; --create --topic tuned --config retention.ms=1000
 *		--config cleanup.policy=compact,delete
 *	kafka-configs.sh --alter --entity-type brokers --entity-default
 *		--add-config log.cleaner.threads=2,num.io.threads=6
 *		brokers --entity-name 1 num.io.threads=7;
 *		topics plain retention.ms=86400000,cleanup.policy=[compact,delete];
 *		groups g1 consumer.session.timeout.ms=50000;
 *		client-metrics m1 metrics=[],interval.ms=1000,match=[client_id=a.*]
 *
 * rules.json beside them has rules for these values.
 */
#include <unistd.h>

#include "fakebroker/check.h"
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/config/parse.h"
#include "fakebroker/describe_output.h"
#include "fakebroker/tests/running.h"
#include "lib/text/file.h"

#define FOLDER "fakebroker/tests/data/described_kafka_4.4.0"

enum { MAX_FILES = 5 };

struct check_case {
	const char *level;
	const char *scenario;
	const char *properties[MAX_FILES], *described[MAX_FILES];   /* NULL ends them */
	int nodes;
	const char *wanted;          /* a line for each offender: where it is set, what it is; then what
					is not judged */
};

static struct kt_list list(const char *const *names)
{
	struct kt_list list = {.v = (const char **)names};

	while (names[list.n])
		list.n++;
	return list;
}

static void append(char *text, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *fmt, ...)
{
	size_t n = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + n, size - n, fmt, ap);
	va_end(ap);
}

static void tell(const struct fb_check *check, char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; i < check->noffenders; i++) {
		const struct fb_offender *offender = &check->offenders[i];
		const struct fb_violation *v = &offender->violation;

		append(text, size, "%s:%d %s %.*s=%.*s\n", offender->file ? offender->file : "", offender->line,
		       v->where, FB_STR(v->name), FB_STR(v->value));
	}
	for (size_t i = 0; i < check->nunjudged; i++)
		append(text, size, "? %s %.*s\n", check->unjudged[i].where, FB_STR(check->unjudged[i].name));
}

static const struct check_case cases[] = {
	/* A real server.properties is taken with all that only a real node has. */
	{"33", NULL, {"server.properties"}, {NULL}, 0, ""},
	{"7", NULL, {"server.properties"}, {"brokers-all.txt", "topics-all.txt", "groups.txt", "client-metrics.txt"},
	 0, ""},
	{"33", "rules.json", {"server.properties"}, {NULL}, 0,
	 "server.properties:19 broker 1 static kassay.unknown=x\n"
	 "server.properties:18 broker 1 static log.retention.hours=24\n"},
	/* Without a node of its own it is of all. */
	{"33", "rules.json", {"server.properties"}, {NULL}, 2,
	 "server.properties:19 broker 1 static kassay.unknown=x\n"
	 "server.properties:18 broker 1 static log.retention.hours=24\n"
	 "server.properties:19 broker 2 static kassay.unknown=x\n"
	 "server.properties:18 broker 2 static log.retention.hours=24\n"},
	{"33", "rules.json", {"server.properties", "1001:server.properties"}, {NULL}, 0,
	 "server.properties:19 broker 1 static kassay.unknown=x\n"
	 "server.properties:18 broker 1 static log.retention.hours=24\n"
	 "server.properties:19 broker 1001 static kassay.unknown=x\n"
	 "server.properties:18 broker 1001 static log.retention.hours=24\n"},
	/* A description with --all knows everything but what Kafka does not show. */
	{"29", "rules.json", {NULL}, {"brokers-all.txt"}, 0,
	 "brokers-all.txt:356 cluster default num.io.threads=6\n"
	 "brokers-all.txt:185 broker 1 dynamic num.io.threads=7\n"
	 "? broker 1 static kassay.unknown\n"},
	{"33", "rules.json", {NULL}, {"broker-1-all.txt", "broker-default-all.txt"}, 0,
	 "broker-1-all.txt:154 broker 1 static log.retention.hours=24\n"
	 "broker-default-all.txt:4 cluster default num.io.threads=6\n"
	 "broker-1-all.txt:185 broker 1 dynamic num.io.threads=7\n"
	 "? broker 1 static kassay.unknown\n"},
	/* What the broker is to have goes before what it has. */
	{"33", "rules.json", {"server.properties"}, {"brokers-all.txt"}, 0,
	 "server.properties:19 broker 1 static kassay.unknown=x\n"
	 "server.properties:18 broker 1 static log.retention.hours=24\n"
	 "brokers-all.txt:356 cluster default num.io.threads=6\n"
	 "brokers-all.txt:185 broker 1 dynamic num.io.threads=7\n"},
	/* Without --all nothing is known of the static ones, not even that they have their defaults. */
	{"33", "rules.json", {NULL}, {"brokers.txt"}, 0,
	 "brokers.txt:6 cluster default num.io.threads=6\n"
	 "brokers.txt:2 broker 1 dynamic num.io.threads=7\n"
	 "? broker 1 static null\n"},
	{"33", "rules.json", {NULL}, {"topics.txt", "groups.txt", "client-metrics.txt"}, 1,
	 "topics.txt:6 topic plain retention.ms=86400000\n"
	 "topics.txt:3 topic tuned retention.ms=1000\n"
	 "client-metrics.txt:2 client metrics m1 interval.ms=1000\n"
	 "groups.txt:2 group g1 consumer.session.timeout.ms=50000\n"},
	{"33", "rules.json", {NULL}, {"topic-plain.txt", "group-g1-all.txt"}, 1,
	 "topic-plain.txt:3 topic plain retention.ms=86400000\n"
	 "group-g1-all.txt:4 group g1 consumer.session.timeout.ms=50000\n"},
	/* Kafka's own rules. */
	{"16", NULL, {"jbod.properties"}, {NULL}, 0,
	 "jbod.properties:4 broker 7 static cordoned.log.dirs=/b\n"
	 "jbod.properties:3 broker 7 static log.dirs=/a,/b\n"},
	{"29", NULL, {"jbod.properties"}, {NULL}, 0, "jbod.properties:4 broker 7 static cordoned.log.dirs=/b\n"},
	{"30", NULL, {"jbod.properties"}, {NULL}, 0, ""},
	/* Values that do not even parse are offenders like the others; a provider's values are not known. */
	{"33", "rules.json", {"wrong.properties"}, {NULL}, 0,
	 "wrong.properties:3 broker 4 static num.partitions=x\n"
	 "wrong.properties:5 broker 4 static num.io.threads=0\n"
	 "? broker 4 static log.retention.hours\n"},
	/* A controller is no broker. */
	{"33", "rules.json", {"server.properties", "controller.properties"}, {NULL}, 0,
	 "server.properties:19 broker 1 static kassay.unknown=x\n"
	 "server.properties:18 broker 1 static log.retention.hours=24\n"},
};

static void cases_are_judged(void **state)
{
	int wrong = 0;

	(void)state;
	assert_int_equal(chdir(FOLDER), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct check_case *c = &cases[i];
		struct fb_settings settings = {.scenario = c->scenario, .metadata_version = c->level,
					       .nodes = c->nodes, .properties = list(c->properties),
					       .described = list(c->described), .host = "127.0.0.1",
					       .advertise = "127.0.0.1", .threads = 1, .check = true};
		struct fb_check check;
		struct kt_err err = {0};
		char got[4096];

		if (fb_check(&check, &settings, &err) < 0)
			kt_err_line(&err, got, sizeof got);
		else
			tell(&check, got, sizeof got);
		fb_check_fini(&check);
		if (strcmp(got, c->wanted) == 0)
			continue;
		wrong++;
		print_error("case %zu\n--- got\n%s--- wanted\n%s", i, got, c->wanted);
	}
	assert_int_equal(wrong, 0);
}

/* ---- what cannot be read ---- */

static int ignore_value(void *arg, const struct fb_output_value *value, struct kt_err *err)
{
	(void)arg;
	(void)value;
	(void)err;
	return 0;
}

static int ignore_heading(void *arg, enum fb_scope scope, struct kw_str resource, bool all, struct kt_err *err)
{
	(void)arg;
	(void)scope;
	(void)resource;
	(void)all;
	(void)err;
	return 0;
}

static void outputs_are_read_or_refused(void **state)
{
	static const struct {
		const char *text, *wanted;
	} texts[] = {
		{"Dynamic configs for topic t are:\n", ""},
		{"Dynamic configs for topic t are:\r\n  a=b sensitive=false synonyms={}\r\n", ""},
		{"Dynamic configs for broker-logger 1 are:\n  root=INFO sensitive=false synonyms={}\n", ""},
		{"Quota configs for user-principal 'u' are producer_byte_rate=1.0\n", ""},
		{"", "f: this is not what kafka-configs.sh --describe prints"},
		{"hello\n", "f:1: neither a heading nor a configuration: hello"},
		{"  a=b sensitive=false synonyms={}\n",
		 "f:1: no heading says whose this is: a=b sensitive=false synonyms={}"},
		{"All configs for broker x are:\n",
		 "f:1: a broker's number is expected: All configs for broker x are:"},
		{"All configs for topic t are:\n  a=b\n", "f:2: neither a heading nor a configuration: a=b"},
		{"All configs for topic t are:\n  a=b synonyms={}\n",
		 "f:2: neither a heading nor a configuration: a=b synonyms={}"},
		{"All configs for broker 1 are:\n  a=b sensitive=false synonyms={STATIC_BROKER_CONFIG:a}\n",
		 "f:2: a synonym without value: a=b sensitive=false synonyms={STATIC_BROKER_CONFIG:a}"},
	};
	static const struct fb_output_ops ops = {ignore_value, ignore_heading, NULL};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct kt_err err = {0};
		char line[1200] = "";

		if (fb_output_read("f", texts[i].text, strlen(texts[i].text), &ops, &err) < 0)
			kt_err_line(&err, line, sizeof line);
		assert_string_equal(line, texts[i].wanted);
	}
}

/* A value with commas, among which one looks like a synonym's end. */
static int keep_value(void *arg, const struct fb_output_value *value, struct kt_err *err)
{
	(void)err;
	snprintf(arg, 200, "%.*s|%.*s|%.*s|%d", FB_STR(value->resource), FB_STR(value->name), FB_STR(value->value),
		 value->isStatic);
	return 0;
}

static void values_keep_their_commas(void **state)
{
	static const char text[] = "All configs for broker 2 are:\n"
		"  listeners=A://:1, B://:2 sensitive=false synonyms={STATIC_BROKER_CONFIG:listeners=A://:1, B://:2, "
		"DEFAULT_CONFIG:listeners=PLAINTEXT://:9092}\n";
	char got[200] = "";
	const struct fb_output_ops ops = {keep_value, ignore_heading, got};
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(fb_output_read("f", text, strlen(text), &ops, &err), 0);
	assert_string_equal(got, "2|listeners|A://:1, B://:2|1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cases_are_judged),
		cmocka_unit_test(outputs_are_read_or_refused),
		cmocka_unit_test(values_keep_their_commas),
	};

	fb_log_level(KASSAY_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
