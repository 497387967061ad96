#include "fakebroker/scenario.h"

#include <stdlib.h>

#include "fakebroker/cluster/create_topics.h"
#include "fakebroker/cluster/metadata_records.h"
#include "fakebroker/cluster/transactions.h"
#include "fakebroker/config/user.h"
#include "fakebroker/control/rules.h"

/* Every member is asked for in each of the passes, so that each of them finds the unknown ones. */
struct top {
	struct kt_obj obj;
	struct kt_arr nodes, configs, topics, transactions, rules;
	struct kt_obj config;
};

static void open_top(struct top *top, const struct kt_json *doc, struct kt_err *err)
{
	memset(top, 0, sizeof *top);
	kt_obj_root(&top->obj, doc, err);
	kt_obj_array(&top->obj, "nodes", &top->nodes);
	kt_obj_array(&top->obj, "configs", &top->configs);
	kt_obj_array(&top->obj, "topics", &top->topics);
	kt_obj_array(&top->obj, "transactions", &top->transactions);
	kt_obj_array(&top->obj, "rules", &top->rules);
	kt_obj_object(&top->obj, "config", &top->config);
}

/* ---- first: how many nodes, which level ---- */

static int read_level(struct fb_scenario *scenario, struct top *top)
{
	json_t *v = kt_obj_any(&top->obj, "metadataVersion");

	if (json_is_integer(v)) {
		snprintf(scenario->number, sizeof scenario->number, "%lld", (long long)json_integer_value(v));
		scenario->metadataVersion = scenario->number;
	} else if (json_is_string(v)) {
		scenario->metadataVersion = json_string_value(v);
	} else if (v) {
		return kt_obj_fail(&top->obj, "metadataVersion", KT_ETYPE,
				   "a level like 29 or \"4.2-IV1\" is expected");
	}
	return 0;
}

/* Ids are 1..N, each once. */
static int read_ids(struct fb_scenario *scenario, struct top *top)
{
	bool seen[FB_MAX_NODES + 1] = {false};
	struct kt_obj node;

	scenario->nodes = (int)top->nodes.n;
	scenario->namesNodes = scenario->nodes > 0;
	while (kt_arr_object(&top->nodes, &node)) {
		int id = 0;

		kt_obj_need(&node, "id", NULL);
		kt_obj_int(&node, "id", 1, scenario->nodes < FB_MAX_NODES ? scenario->nodes : FB_MAX_NODES, &id);
		if (seen[id] && id)
			kt_obj_fail(&node, "id", KT_ERANGE, "there are two nodes with id %d", id);
		seen[id] = true;
	}
	return top->obj.err->code;
}

int fb_scenario_load(struct fb_scenario *scenario, const char *file, struct kt_err *err)
{
	struct top top;
	int code;

	memset(scenario, 0, sizeof *scenario);
	code = kt_json_load(&scenario->doc, file, err);
	if (code)
		return code;
	open_top(&top, &scenario->doc, err);
	read_level(scenario, &top);
	read_ids(scenario, &top);
	code = kt_obj_done(&top.obj);
	if (scenario->nodes == 0)
		scenario->nodes = 1;
	return code;
}

void fb_scenario_fini(struct fb_scenario *scenario)
{
	kt_json_fini(&scenario->doc);
}

/* ---- then: configuration ---- */

/* "demo.json:12", of a member. */
static const char *line_of(const struct kt_obj *config, const char *name, char *text, size_t size)
{
	struct kt_err at = {0};
	struct kt_obj obj = *config;

	obj.err = &at;
	kt_obj_fail(&obj, name, KT_EUNKNOWN, "%s", name);
	snprintf(text, size, "%s:%d", at.file, at.line);
	return text;
}

static int read_static(struct kt_obj *config, struct fb_cluster *cluster, int32_t node)
{
	const char *name, *value;

	while (kt_obj_each(config, &name)) {
		struct kt_err why = {0};
		char where[300];

		if (!kt_obj_str(config, name, &value))
			continue;
		if (fb_cluster_set_static(cluster, node, kw_str(name), kw_str(value),
					  line_of(config, name, where, sizeof where), &why) < 0)
			kt_obj_fail(config, name, why.code, "%s", why.text);
	}
	return kt_obj_done(config);
}

static void read_nodes(struct top *top, struct fb_cluster *cluster)
{
	struct kt_obj obj, config;

	while (kt_arr_object(&top->nodes, &obj)) {
		struct fb_node *node;
		const char *rack = NULL;
		int id = 0;

		kt_obj_int(&obj, "id", 1, FB_MAX_NODES, &id);
		kt_obj_str(&obj, "rack", &rack);
		kt_obj_object(&obj, "config", &config);
		node = fb_cluster_node(cluster, id);
		if (!node)
			continue;
		if (rack) {
			free(node->rack);
			node->rack = strdup(rack);
		}
		read_static(&config, cluster, id);
		kt_obj_done(&obj);
	}
}

int fb_scenario_configure(struct fb_scenario *scenario, struct fb_cluster *cluster, struct kt_err *err)
{
	struct top top;

	open_top(&top, &scenario->doc, err);
	fb_configdefs_add_json(cluster->defs, &top.configs);
	read_static(&top.config, cluster, FB_ALL_NODES);
	read_nodes(&top, cluster);
	return err->code;
}

/* ---- what turns out wrong only when the brokers join ---- */

/* Does the object say so? Then the error is put at its member. */
static bool blame(struct kt_obj *config, struct kw_str name, struct kw_str value, const struct kt_err *err)
{
	const char *member;

	while (kt_obj_each(config, &member)) {
		if (!kw_str_is(name, member) ||
		    !kw_str_is(value, json_string_value(json_object_get(config->json, member))))
			continue;
		kt_obj_fail(config, member, err->code, "%s", err->text);
		return true;
	}
	return false;
}

/* A node's own configuration goes before that of all. */
static void blame_static(struct top *top, int32_t id, struct kw_str name, struct kw_str value, const struct kt_err *err)
{
	struct kt_obj node, config;
	bool found = false;

	while (!found && kt_arr_object(&top->nodes, &node)) {
		kt_obj_object(&node, "config", &config);
		found = json_integer_value(json_object_get(node.json, "id")) == id && blame(&config, name, value, err);
	}
	if (!found)
		blame(&top->config, name, value, err);
}

static void blame_definition(struct top *top, struct kw_str name, const struct kt_err *err)
{
	struct kt_obj obj;

	while (kt_arr_object(&top->configs, &obj))
		if (kw_str_is(name, json_string_value(json_object_get(obj.json, "name"))))
			kt_obj_fail(&obj, "mvValidators", err->code, "%s", err->text);
}

void fb_scenario_blame(const struct fb_scenario *scenario, int32_t node, struct kw_str name, struct kw_str value,
		       struct kt_err *err)
{
	struct kt_err placed = {0};
	struct top top;

	if (!scenario->doc.root)
		return;
	open_top(&top, &scenario->doc, &placed);
	if (value.n < 0)
		blame_definition(&top, name, err);
	else
		blame_static(&top, node, name, value, err);
	if (placed.code)
		*err = placed;
}

void fb_scenario_blame_topic(const struct fb_scenario *scenario, struct kw_str topic, struct kw_str name,
			     struct kw_str value, struct kt_err *err)
{
	struct kt_err placed = {0};
	struct kt_obj obj, config;
	struct top top;

	if (!scenario->doc.root)
		return;
	open_top(&top, &scenario->doc, &placed);
	while (kt_arr_object(&top.topics, &obj)) {
		kt_obj_object(&obj, "config", &config);
		if (kw_str_is(topic, json_string_value(json_object_get(obj.json, "name"))))
			blame(&config, name, value, err);
	}
	if (placed.code)
		*err = placed;
}

/* ---- last: topics, producers, rules ---- */

/* A producer id that a scenario names is not given out again. */
static void read_producer(struct kt_obj *obj, struct fb_cluster *cluster, struct fb_txn_producer *producer)
{
	int epoch = 0;

	kt_obj_need(obj, "producerId", NULL);
	kt_obj_int64(obj, "producerId", 0, INT64_MAX - 1, &producer->producerId);
	kt_obj_int(obj, "producerEpoch", 0, INT16_MAX - 1, &epoch);
	producer->producerEpoch = (int16_t)epoch;
	if (producer->producerId >= cluster->next_producer_id)
		cluster->next_producer_id = producer->producerId + 1;
}

/* What a partition knows of producers before anything was appended. */
static void read_producers(struct kt_arr *arr, struct fb_cluster *cluster, struct fb_topic *topic)
{
	struct kt_obj obj;

	while (kt_arr_object(arr, &obj)) {
		struct fb_txn_producer producer = {0};
		int partition = 0, sequence = -1;
		struct fb_partition *at;

		read_producer(&obj, cluster, &producer);
		kt_obj_int(&obj, "partition", 0, topic->npartitions - 1, &partition);
		kt_obj_need(&obj, "lastSequence", NULL);
		kt_obj_int(&obj, "lastSequence", 0, INT32_MAX, &sequence);
		if (kt_obj_done(&obj))
			break;
		at = fb_topic_partition(topic, partition);
		if (fb_producers_find(&at->producers, producer.producerId))
			kt_obj_fail(&obj, "producerId", KT_ERANGE, "partition %d has two producers %lld", partition,
				    (long long)producer.producerId);
		else if (fb_producers_set(&at->producers, producer.producerId, producer.producerEpoch, sequence,
					  at->log.logEndOffset, fb_cluster_now(cluster)) < 0)
			kt_obj_fail(&obj, NULL, KT_ENOMEM, "out of memory");
	}
}

/* Their topic is made by the first broker, if there is one: not while a scenario is only checked. */
static void read_transactions(struct top *top, struct fb_cluster *cluster)
{
	struct kt_obj obj;

	if (top->transactions.n > 0 && cluster->nbrokers > 0)
		fb_txn_topic(cluster, &cluster->nodes[0]);
	if (top->transactions.n > 0 && cluster->nbrokers > 0 && !fb_txn_coordinator(cluster, kw_str("")))
		kt_fail(top->obj.err, KT_ERANGE, "there can be no __transaction_state, as the log says why");
	while (kt_arr_object(&top->transactions, &obj)) {
		struct fb_txn_producer producer = {0};
		const char *id = NULL;
		int timeout = 60000;

		kt_obj_need(&obj, "transactionalId", NULL);
		if (kt_obj_str(&obj, "transactionalId", &id) && !*id)
			kt_obj_fail(&obj, "transactionalId", KT_ERANGE, "is empty");
		producer.transactionalId = kw_str(id);
		read_producer(&obj, cluster, &producer);
		kt_obj_int(&obj, "transactionTimeoutMs", 1, INT32_MAX, &timeout);
		if (kt_obj_done(&obj))
			break;
		if (fb_txn_find(cluster->transactions, producer.transactionalId))
			kt_obj_fail(&obj, "transactionalId", KT_ERANGE, "there are two transactional ids %s", id);
		else if (fb_txn_set(cluster, &producer, timeout) < 0)
			kt_obj_fail(&obj, NULL, KT_ENOMEM, "out of memory");
	}
}

struct topic {
	const char *name;
	int partitions, rf;
	struct fb_alter_config *configs;
	int32_t nconfigs;
};

static void read_topic_configs(struct kt_obj *config, struct topic *topic, struct kw_arena *arena)
{
	const char *name, *value;
	size_t n = config->json ? json_object_size(config->json) : 0;

	topic->configs = kw_alloc(arena, n * sizeof *topic->configs);
	while (topic->configs && kt_obj_each(config, &name))
		if (kt_obj_str(config, name, &value))
			topic->configs[topic->nconfigs++] = (struct fb_alter_config){kw_str(name), FB_SET,
										     kw_str(value)};
	kt_obj_done(config);
}

/* The reason behind Kafka's message, and which name was meant if there is none of that name. */
static void refuse_config(struct kt_obj *config, const struct fb_cluster *cluster, const char *name,
			  const char *message)
{
	const char *near = NULL;

	if (name && !fb_configdef_find(cluster->defs, FB_TOPIC, kw_str(name)))
		near = fb_configdef_near(cluster->defs, FB_TOPIC, kw_str(name));
	kt_obj_fail(config, name, KT_ERANGE, "%s%s%s%s", message ? message : "not legal",
		    near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* All together, and when that fails each by itself, so that the error is put where it belongs. */
static int check_configs(struct kt_obj *config, struct fb_cluster *cluster, const struct topic *topic, int16_t level,
			 struct kw_arena *arena, struct fb_alter_result *result)
{
	struct fb_config_facts facts = fb_cluster_facts(cluster, fb_cluster_node(cluster, FB_CONTROLLER_ID));
	struct kw_str name = kw_str(topic->name);
	struct fb_alter_result one = {0};
	int32_t i = 0;

	facts.level = level;
	if (fb_create_check(cluster->configs, &facts, name, topic->configs, topic->nconfigs, arena, result) < 0)
		return kt_obj_fail(config, NULL, KT_ENOMEM, "out of memory");
	if (!result->errorCode)
		return 0;
	while (i < topic->nconfigs && !one.errorCode)
		if (fb_create_check(cluster->configs, &facts, name, &topic->configs[i++], 1, arena, &one) < 0)
			return kt_obj_fail(config, NULL, KT_ENOMEM, "out of memory");
	if (one.errorCode)
		refuse_config(config, cluster, topic->configs[i - 1].name.s, one.errorMessage);
	else
		refuse_config(config, cluster, NULL, result->errorMessage);
	return KT_ERANGE;
}

static struct fb_topic *make_topic(struct kt_obj *obj, struct kt_obj *config, struct fb_cluster *cluster,
				   const struct topic *topic, int16_t level, struct kw_arena *arena)
{
	static const char classes[] = "record.validator.classes";
	const char *text = NULL;
	int brokers = (int)cluster->nnodes - 1;
	struct fb_alter_result result;
	struct fb_topic *made = NULL;
	struct kt_err why = {0};

	if (fb_topic_find(cluster, kw_str(topic->name)))
		kt_obj_fail(obj, "name", KT_ERANGE, "there are two topics named %s", topic->name);
	else if (fb_topic_judge_name(cluster, kw_str(topic->name), arena, &text))
		kt_obj_fail(obj, "name", KT_ERANGE, "%s", text ? text : "out of memory");
	else if (topic->rf > brokers)
		kt_obj_fail(obj, "replicationFactor", KT_ERANGE, "%d replicas need %d brokers, there %s %d", topic->rf,
			    topic->rf, brokers == 1 ? "is" : "are", brokers);
	else if (check_configs(config, cluster, topic, level, arena, &result))
		return NULL;
	else if (fb_configs_apply(cluster->configs, result.changes, result.nchanges) < 0)
		kt_obj_fail(obj, NULL, KT_ENOMEM, "out of memory");
	else if (fb_topic_create(cluster, kw_str(topic->name), topic->partitions, topic->rf, NULL, &made, &why) < 0)
		kt_obj_fail(json_object_get(config->json, classes) ? config : obj,
			    json_object_get(config->json, classes) ? classes : NULL, why.code, "%s", why.text);
	if (!made)
		return NULL;
	fb_write_topic(cluster, made, result.changes, result.nchanges);
	fb_wrote(cluster);
	return made;
}

static void read_topics(struct top *top, struct fb_cluster *cluster, int16_t level)
{
	struct kt_obj obj, config;
	struct kt_arr producers;
	struct fb_topic *made;
	struct kw_arena arena;

	kw_arena_init(&arena, 0);
	while (kt_arr_object(&top->topics, &obj)) {
		struct topic topic = {.partitions = 1, .rf = 1};

		kt_obj_need(&obj, "name", NULL);
		kt_obj_str(&obj, "name", &topic.name);
		kt_obj_int(&obj, "partitions", 1, FB_MAX_PARTITIONS, &topic.partitions);
		kt_obj_int(&obj, "replicationFactor", 1, FB_MAX_NODES, &topic.rf);
		kt_obj_object(&obj, "config", &config);
		read_topic_configs(&config, &topic, &arena);
		kt_obj_array(&obj, "producers", &producers);
		if (kt_obj_done(&obj))
			break;
		made = make_topic(&obj, &config, cluster, &topic, level, &arena);
		if (!made)
			break;
		read_producers(&producers, cluster, made);
	}
	kw_arena_fini(&arena);
}

static void read_rules(struct top *top, struct fb_cluster *cluster)
{
	struct kt_obj rule;

	while (kt_arr_object(&top->rules, &rule)) {
		const char *name = json_string_value(json_object_get(rule.json, "name"));
		json_t *present = name ? fb_rules_get(cluster->rules, name) : NULL;

		if (present)
			kt_obj_fail(&rule, "name", KT_ERANGE, "there are two rules named %s", name);
		else
			fb_rules_put(cluster->rules, NULL, &rule);
		json_decref(present);
	}
}

int fb_scenario_populate(struct fb_scenario *scenario, struct fb_cluster *cluster, int16_t level, struct kt_err *err)
{
	struct top top;

	open_top(&top, &scenario->doc, err);
	read_topics(&top, cluster, level);
	read_transactions(&top, cluster);
	read_rules(&top, cluster);
	return err->code;
}
