/* Random configurations with random rules, at random levels: registrations, alterations, topics, upgrades and
 * downgrades, each asked of a running fakebroker and predicted by a model that shares no code with it. Seeds are fixed;
 * KASSAY_SEED=N runs another one. A failure names its seed and step. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fakebroker/cluster/log_line.h"
#include "fakebroker/tests/mv_model.h"
#include "fakebroker/tests/talk.h"

enum { ROUNDS = 12, STEPS = 450 };
enum { OK = 0, INVALID_CONFIG = 40, INVALID_REQUEST = 42, INVALID_UPDATE = 95, INVALID_REGISTRATION = 119 };

static unsigned seed;
static int step;

/* ---- asking ---- */

static struct running run;
static struct kc_conn *conns[2];   /* to the broker, and to the controller */

__attribute__((format(printf, 3, 4))) static void expect(int64_t got, int expected, const char *fmt, ...)
{
	char what[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	if (got != expected)
		fail_msg("seed %u, step %d at level %d: %s: expected %d, got %d", seed, step, model.level, what,
			 expected, (int)got);
}

static void do_register(void)
{
	int b = 1 + (int)roll(BROKERS - 1), version = chance(75) ? 5 : 4;
	struct value wanted[DEFS];
	bool good = true;
	char text[600];
	size_t n = 0;

	memset(wanted, 0, sizeof wanted);
	text[0] = '\0';
	for (int d = 0; d < DEFS; d++) {
		const struct def *def = &model.defs[d];

		if (def->scope != BROKER || version < 5 || chance(50))
			continue;
		wanted[d].set = true;
		pick_value(def, wanted[d].text);
		n += (size_t)snprintf(text + n, sizeof text - n, "%s{'name': '%s', 'value': %s%s%s, 'isSensitive': %s}",
				      n ? ", " : "", def->name, def->sensitive ? "" : "'",
				      def->sensitive ? "null" : wanted[d].text, def->sensitive ? "" : "'",
				      def->sensitive ? "true" : "false");
	}
	for (int d = 0; d < DEFS && version == 5; d++)
		if (model.defs[d].scope == BROKER &&
		    !legal(&model.defs[d], wanted[d].set ? wanted[d].text : model.defs[d].value, model.level))
			good = false;
	expect(ask_num(&run, conns[1], "errorCode", "BrokerRegistration", version,
		       "{'brokerId': %d, 'clusterId': '%s', "
		       "'incarnationId': 'kassayIncarnation%dAAAA', 'listeners': [], 'logDirs': "
		       "['kassayDirectory%dAAAAAA'], 'features': [{'name': 'metadata.version', 'minSupportedVersion': "
		       "7, 'maxSupportedVersion': 33}, {'name': 'group.version', 'maxSupportedVersion': 1}, {'name': "
		       "'transaction.version', 'maxSupportedVersion': 2}, {'name': 'eligible.leader.replicas.version', "
		       "'maxSupportedVersion': 1}, {'name': 'share.version', 'maxSupportedVersion': 2}, {'name': "
		       "'streams.version', 'maxSupportedVersion': 1}]%s%s%s}",
		       100 + b, run.process.cluster->id, b, b, version == 5 ? ", 'staticConfigs': [" : "", text,
		       version == 5 ? "]" : ""),
	       good ? OK : INVALID_REGISTRATION, "registration v%d of %d with %s", version, 100 + b, text);
	if (!good)
		return;
	model.registered[b] = true;
	model.reported[b] = version == 5;
	memcpy(model.statics[b], wanted, sizeof wanted);
}

static void do_unregister(void)
{
	int b = 1 + (int)roll(BROKERS - 1);

	expect(ask_num(&run, conns[roll(2)], "errorCode", "UnregisterBroker", 0, "{'brokerId': %d}", 100 + b),
	       model.registered[b] ? OK : 102, "unregister %d", 100 + b);
	model.registered[b] = false;
}

/* ---- alterations ---- */

enum { SET = 0, DELETE = 1, APPEND = 2, SUBTRACT = 3 };

/* What a request wants of one resource, and what comes of it. */
struct wish {
	int resource;
	struct value result[DEFS];
	bool touched[DEFS];
	bool plain_bad, rule_bad, not_a_list;
	char text[500];            /* of the request */
	size_t n;
};

/* What is in force once the resource has no value of its own. */
static const char *behind(int resource, int d, bool by_controller)
{
	const struct value *node = &model.statics[NODE][d];

	if (resource == BROKER_1 && model.dynamic[CLUSTER_DEFAULT][d].set)
		return model.dynamic[CLUSTER_DEFAULT][d].text;
	if ((resource == BROKER_1 || (resource == CLUSTER_DEFAULT && !by_controller)) && node->set)
		return node->text;
	return model.defs[d].value;
}

static void touch(struct wish *wish, int d, const struct value *result, bool by_controller)
{
	const struct def *def = &model.defs[d];

	wish->touched[d] = true;
	wish->result[d] = *result;
	if (result->set && !plain_legal(def, result->text) && !(def->scope == BROKER && by_controller))
		wish->plain_bad = true;      /* Kafka's controller leaves brokers' values to brokers */
	else if (!legal(def, result->set ? result->text : behind(wish->resource, d, by_controller), model.level))
		wish->rule_bad = true;
}

static bool holds(const char *list, char entry)
{
	return strchr(list, entry) != NULL;
}

/* Entries are single letters. */
static void change_list(struct value *value, const char *entries_given, bool append)
{
	char text[VALUE] = "";
	size_t n = 0;

	for (const char *p = value->text; *p; p++)
		if (*p != ',' && (append || !holds(entries_given, *p)))
			n += (size_t)snprintf(text + n, sizeof text - n, "%s%c", n ? "," : "", *p);
	for (const char *p = entries_given; append && *p; p++)
		if (*p != ',' && !holds(text, *p))
			n += (size_t)snprintf(text + n, sizeof text - n, "%s%c", n ? "," : "", *p);
	memcpy(value->text, text, sizeof text);
}

static void wish_one(struct wish *wish, int d, bool legacy, bool by_controller)
{
	const struct def *def = &model.defs[d];
	struct value now = model.dynamic[wish->resource][d];
	int op = legacy ? SET : (int)roll(now.set ? 4 : 2);
	char given[VALUE];

	pick_value(def, given);
	if (op >= APPEND && !def->list && chance(80))
		op = SET;
	if (op >= APPEND && !given[0])
		op = SET;
	wish->n += (size_t)snprintf(wish->text + wish->n, sizeof wish->text - wish->n,
				    "%s{'name': '%s', 'value': %s%s%s", wish->n ? ", " : "", def->name,
				    op == DELETE ? "" : "'", op == DELETE ? "null" : given, op == DELETE ? "" : "'");
	wish->n += (size_t)snprintf(wish->text + wish->n, sizeof wish->text - wish->n,
				    legacy ? "}" : ", 'configOperation': %d}", op);
	if (op >= APPEND && !def->list) {
		wish->not_a_list = true;
		return;
	}
	now.set = op != DELETE;
	if (op == SET)
		memcpy(now.text, given, sizeof given);
	else if (op >= APPEND)
		change_list(&now, given, op == APPEND);
	touch(wish, d, &now, by_controller);
}

static void make_wish(struct wish *wish, int resource, bool legacy, bool by_controller)
{
	static const struct value none;

	memset(wish, 0, sizeof *wish);
	wish->resource = resource;
	for (int d = 0; d < DEFS; d++) {
		if (model.defs[d].scope != resources[resource].type)
			continue;
		if (chance(60))
			wish_one(wish, d, legacy, by_controller);
		else if (legacy && model.dynamic[resource][d].set)   /* what it does not name goes */
			touch(wish, d, &none, by_controller);
	}
}

static void judge_wish(const struct wish *wish, json_t *answer, bool by_controller, bool validate_only,
		       const char *what)
{
	bool by_broker = resources[wish->resource].type == BROKER && !by_controller;
	const char *message = NULL;
	int64_t got = -1;
	json_t *row;
	size_t i;

	json_array_foreach(at(answer, "responses"), i, row) {
		if (num_at(row, "resourceType") != resources[wish->resource].type ||
		    strcmp(str_at(row, "resourceName"), resources[wish->resource].name) != 0)
			continue;
		got = num_at(row, "errorCode");
		message = str_at(row, "errorMessage");
	}
	if (wish->plain_bad && by_broker && wish->not_a_list)   /* two faults with two codes */
		expect(got == INVALID_CONFIG || got == INVALID_REQUEST, 1, "%s %s (%s)", what, wish->text,
		       message ? message : "");
	else if (wish->plain_bad && by_broker)
		expect(got, INVALID_REQUEST, "%s %s (%s)", what, wish->text, message ? message : "");
	else if (wish->plain_bad || wish->not_a_list || wish->rule_bad)
		expect(got, INVALID_CONFIG, "%s %s (%s)", what, wish->text, message ? message : "");
	else
		expect(got, OK, "%s %s (%s)", what, wish->text, message ? message : "");
	if (got || validate_only)
		return;
	for (int d = 0; d < DEFS; d++)
		if (wish->touched[d])
			model.dynamic[wish->resource][d] = wish->result[d];
}

/* Resources of one request are judged by what was there before it: no two of them may concern each other. The default
 * for all brokers is not replaced as a whole, as Kafka wants min.insync.replicas to stay there. */
static void do_alter(void)
{
	bool by_controller = chance(40), validate_only = chance(25);
	int first = (int)roll(NRESOURCES), second = FIRST_TOPIC + (int)roll(NRESOURCES - FIRST_TOPIC), n = 0;
	bool legacy = first != CLUSTER_DEFAULT && chance(25);
	struct wish wishes[2];
	char text[1400];
	size_t len = 0;
	json_t *answer;

	for (int i = 0; i < 2; i++) {
		int resource = i ? second : first;

		if (!model.exists[resource] || (i && second == first))
			continue;
		make_wish(&wishes[n], resource, legacy, by_controller);
		len += (size_t)snprintf(text + len, sizeof text - len,
					"%s{'resourceType': %d, 'resourceName': '%s', 'configs': [%s]}", n ? ", " : "",
					resources[resource].type, resources[resource].name, wishes[n].text);
		n++;
	}
	if (n == 0)
		return;
	answer = talk(&run, conns[by_controller], legacy ? "AlterConfigs" : "IncrementalAlterConfigs", legacy ? 2 : 1,
		      "{'resources': [%s], 'validateOnly': %s}", text, validate_only ? "true" : "false");
	for (int i = 0; i < n; i++)
		judge_wish(&wishes[i], answer, by_controller, validate_only, by_controller ? "controller" : "broker");
	json_decref(answer);
}

/* ---- topics ---- */

static void do_topic(void)
{
	int resource = FIRST_TOPIC + (int)roll(TOPICS);
	bool validate_only = chance(20);
	char text[500] = "";
	struct wish wish = {.resource = resource};
	const char *name = resources[resource].name;
	size_t n = 0;

	if (model.exists[resource]) {
		expect(ask_num(&run, conns[0], "responses.0.errorCode", "DeleteTopics", 5, "{'topicNames': ['%s'], "
			       "'timeoutMs': 1000}", name), OK, "delete %s", name);
		model.exists[resource] = false;
		memset(model.dynamic[resource], 0, sizeof model.dynamic[resource]);
		return;
	}
	for (int d = 0; d < DEFS; d++) {
		struct value value = {.set = true};

		if (model.defs[d].scope != TOPIC || chance(40))
			continue;
		pick_value(&model.defs[d], value.text);
		touch(&wish, d, &value, false);
		n += (size_t)snprintf(text + n, sizeof text - n, "%s{'name': '%s', 'value': '%s'}", n ? ", " : "",
				      model.defs[d].name, value.text);
	}
	expect(ask_num(&run, conns[roll(2)], "topics.0.errorCode", "CreateTopics", 7, "{'topics': [{'name': '%s', "
		       "'numPartitions': 1, 'replicationFactor': 1, 'configs': [%s]}], 'timeoutMs': 1000, "
		       "'validateOnly': %s}",
		       name, text, validate_only ? "true" : "false"),
	       wish.plain_bad || wish.rule_bad ? INVALID_CONFIG : OK, "create %s with %s", name, text);
	if (wish.plain_bad || wish.rule_bad || validate_only)
		return;
	model.exists[resource] = true;
	memcpy(model.dynamic[resource], wish.result, sizeof wish.result);
}

/* ---- levels ---- */

static int predict_level(int to, int type)
{
	if (to == model.level)
		return OK;
	if ((to < model.level) != (type != FB_UPGRADE))
		return INVALID_UPDATE;
	if (to < model.level && !may_go_down(model.level, to))
		return INVALID_UPDATE;
	return cluster_legal(to) ? OK : INVALID_CONFIG;
}

/* Mostly near by, as there is little way back. */
static void do_level(void)
{
	int to = chance(30) ? MIN_LEVEL + (int)roll(MAX_LEVEL - MIN_LEVEL + 1) : model.level - 3 + (int)roll(6);
	int type = 1 + (int)roll(3), expected;
	bool validate_only = to > model.level + 1 || chance(30);

	to = to < MIN_LEVEL ? MIN_LEVEL : to > MAX_LEVEL ? MAX_LEVEL : to;
	expected = predict_level(to, type);
	expect(ask_num(&run, conns[roll(2)], "errorCode", "UpdateFeatures", 2,
		       "{'timeoutMs': 1000, 'featureUpdates': [{'feature': "
		       "'metadata.version', 'maxVersionLevel': %d, 'upgradeType': %d}], 'validateOnly': %s}",
		       to, type, validate_only ? "true" : "false"),
	       expected, "to %d with type %d", to, type);
	if (expected == OK && !validate_only)
		model.level = to;
}

/* ---- the whole ---- */

/* The fakebroker has what the model has. */
static void compare(void)
{
	struct fb_cluster *cluster = run.process.cluster;

	expect(cluster->levels.v[FB_METADATA_VERSION], model.level, "metadata.version");
	for (int r = 0; r < (int)NRESOURCES; r++) {
		for (int d = 0; d < DEFS; d++) {
			struct kw_str got = fb_configs_dynamic(cluster->configs, (enum fb_scope)resources[r].type,
							       kw_str(resources[r].name), kw_str(model.defs[d].name));
			const struct value *value = &model.dynamic[r][d];

			if (model.defs[d].scope == resources[r].type)
				expect(value->set ? kw_str_is(got, value->text) : got.n < 0, 1,
				       "%s of %d:%s is %.*s, not %s", model.defs[d].name, resources[r].type,
				       resources[r].name, got.n < 0 ? 4 : got.n, got.n < 0 ? "null" : got.s,
				       value->set ? value->text : "null");
		}
	}
	for (int b = 0; b < BROKERS; b++)
		expect(fb_cluster_broker(cluster, b ? 100 + b : 1) != NULL, model.registered[b],
		       "broker %d is registered", b);
}

static void play(void)
{
	unsigned what = roll(100);

	if (what < 20)
		do_register();
	else if (what < 25)
		do_unregister();
	else if (what < 65)
		do_alter();
	else if (what < 75)
		do_topic();
	else
		do_level();
}

static void play_round(void)
{
	char file[] = "/tmp/kassay-property-XXXXXX";
	struct fb_settings settings = {.scenario = file};
	int fd = mkstemp(file);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	assert_non_null(out);
	dice = 0x9e3779b97f4a7c15u * (seed + 1);
	pick_model();
	write_scenario(out);
	fclose(out);
	running_start(&run, &settings);
	unlink(file);
	conns[0] = dial(&run, 1);
	conns[1] = dial(&run, FB_CONTROLLER_ID);
	for (step = 0; step < STEPS; step++) {
		play();
		if (step % 10 == 0)
			compare();
	}
	compare();
	kc_free(conns[0]);
	kc_free(conns[1]);
	running_stop(&run);
}

static void the_model_predicts_every_answer(void **state)
{
	const char *given = getenv("KASSAY_SEED");

	(void)state;
	fb_log_level(KASSAY_ERROR);   /* refusals are what this is about */
	seed = given ? (unsigned)strtoul(given, NULL, 10) : 1;
	for (int i = 0; i < (given ? 1 : ROUNDS); i++, seed++)
		play_round();
	print_message("seeds %u to %u, %d steps each\n", seed - (given ? 1 : ROUNDS), seed - 1, STEPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_model_predicts_every_answer)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
