#include "fakebroker/scenario.h"

#include <stdlib.h>

#include "fakebroker/config/user.h"
#include "fakebroker/control/rules.h"

/* Every member is asked for in each of the passes, so that each of them finds the unknown ones. */
struct top {
	struct kt_obj obj;
	struct kt_arr nodes, configs, topics, rules;
	struct kt_obj config;
	const char *metadataVersion;
};

static void open_top(struct top *top, const struct kt_json *doc, struct kt_err *err)
{
	memset(top, 0, sizeof *top);
	kt_obj_root(&top->obj, doc, err);
	kt_obj_array(&top->obj, "nodes", &top->nodes);
	kt_obj_array(&top->obj, "configs", &top->configs);
	kt_obj_array(&top->obj, "topics", &top->topics);
	kt_obj_array(&top->obj, "rules", &top->rules);
	kt_obj_object(&top->obj, "config", &top->config);
}

/* ---- first: how many nodes, which level ---- */

static int read_level(struct fb_scenario *scenario, struct top *top)
{
	json_t *v = kt_obj_any(&top->obj, "metadataVersion");
	static char number[24];

	if (json_is_integer(v)) {
		snprintf(number, sizeof number, "%lld", (long long)json_integer_value(v));
		scenario->metadataVersion = number;
	} else if (json_is_string(v)) {
		scenario->metadataVersion = json_string_value(v);
	} else if (v) {
		return kt_obj_fail(&top->obj, "metadataVersion", KT_ETYPE, "a level like 29 or \"4.2-IV1\" is expected");
	}
	if (v && fb_level_find(scenario->metadataVersion) < 0)
		return kt_obj_fail(&top->obj, "metadataVersion", KT_ERANGE, "there is no metadata.version %s",
				   scenario->metadataVersion);
	return 0;
}

/* Ids are 1..N, each once. */
static int read_ids(struct fb_scenario *scenario, struct top *top)
{
	bool seen[FB_MAX_NODES + 1] = {false};
	struct kt_obj node;

	scenario->nodes = (int)top->nodes.n;
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

static int read_static(struct kt_obj *config, struct fb_cluster *cluster, int32_t node)
{
	const char *name, *value;

	while (kt_obj_each(config, &name)) {
		struct kt_err why = {0};

		if (!kt_obj_str(config, name, &value))
			continue;
		if (fb_configs_set_static(cluster->configs, node, kw_str(name), kw_str(value), &why) < 0)
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

/* ---- last: topics and rules ---- */

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
			topic->configs[topic->nconfigs++] = (struct fb_alter_config){kw_str(name), FB_SET, kw_str(value)};
	kt_obj_done(config);
}

static int make_topic(struct kt_obj *obj, struct fb_cluster *cluster, const struct topic *topic, struct kw_arena *arena)
{
	struct fb_config_facts facts = fb_cluster_facts(cluster, fb_cluster_node(cluster, FB_CONTROLLER_ID));
	struct fb_alter_result result;
	struct fb_topic *made;
	struct kt_err why = {0};
	const char *text = fb_topic_name_error(kw_str(topic->name), arena);

	if (text)
		return kt_obj_fail(obj, "name", KT_ERANGE, "%s", text);
	if (fb_topic_find(cluster, kw_str(topic->name)))
		return kt_obj_fail(obj, "name", KT_ERANGE, "there are two topics named %s", topic->name);
	if (topic->rf > (int)cluster->nnodes - 1)
		return kt_obj_fail(obj, "replicationFactor", KT_ERANGE, "%d replicas need as many brokers; there are %d",
				   topic->rf, (int)cluster->nnodes - 1);
	if (fb_create_check(cluster->configs, &facts, kw_str(topic->name), topic->configs, topic->nconfigs, arena, &result) < 0)
		return kt_obj_fail(obj, NULL, KT_ENOMEM, "out of memory");
	if (result.errorCode)
		return kt_obj_fail(obj, "config", KT_ERANGE, "%s", result.errorMessage ? result.errorMessage : "not legal");
	if (fb_configs_apply(cluster->configs, result.changes, result.nchanges) < 0 ||
	    fb_topic_create(cluster, kw_str(topic->name), topic->partitions, topic->rf, NULL, &made, &why) < 0)
		return kt_obj_fail(obj, "config", why.code ? why.code : KT_ENOMEM, "%s", why.text);
	return 0;
}

static void read_topics(struct top *top, struct fb_cluster *cluster)
{
	struct kt_obj obj, config;
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
		if (kt_obj_done(&obj) == 0)
			make_topic(&obj, cluster, &topic, &arena);
	}
	kw_arena_fini(&arena);
}

static void read_rules(struct top *top, struct fb_cluster *cluster)
{
	json_t *rule;

	while ((rule = kt_arr_any(&top->rules))) {
		struct kt_err why = {0};
		const char *name = json_string_value(json_object_get(rule, "name"));

		if (fb_rules_put(cluster->rules, name, rule, &why) < 0)
			kt_arr_fail(&top->rules, why.code, "%s%s%s", why.path, why.path[0] ? ": " : "", why.text);
	}
}

int fb_scenario_populate(struct fb_scenario *scenario, struct fb_cluster *cluster, struct kt_err *err)
{
	struct top top;

	open_top(&top, &scenario->doc, err);
	read_topics(&top, cluster);
	read_rules(&top, cluster);
	return err->code;
}
