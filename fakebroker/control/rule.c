/* The JSON of a rule. */
#include "fakebroker/control/rule.h"

#include <stdlib.h>

#include "lib/text/near.h"

enum { API_VERSIONS = 18, MAX_DELAY_MS = 86400000, MAX_ERROR_CODE = 200 };

void fb_rule_free(struct fb_rule *rule)
{
	free(rule->name);
	free(rule->client_id);
	free(rule->principal);
	free(rule->topic);
	json_decref(rule->json);
	free(rule);
}

static char *copy(struct kt_obj *obj, const char *name)
{
	const char *s;
	char *text;

	if (!kt_obj_str(obj, name, &s))
		return NULL;
	text = strdup(s);
	if (!text)
		kt_obj_fail(obj, name, KT_ENOMEM, "out of memory");
	return text;
}

/* ---- match ---- */

static void read_api(struct kt_obj *match, struct fb_rule *rule)
{
	const struct fb_api *api;
	const char *name = NULL;
	struct kt_near near;

	if (!kt_obj_str(match, "api", &name))
		return;
	rule->api = kw_api_key(name);
	if (fb_api_find(rule->api))
		return;
	kt_near_init(&near, name);
	for (size_t i = 0; (api = fb_api_at(i)); i++)
		kt_near_offer(&near, kw_api_name(api->key));
	kt_obj_fail(match, "api", KT_EUNKNOWN, "API \"%.60s\" is not served%s%s%s", name,
		    near.best ? "; did you mean \"" : "", near.best ? near.best : "", near.best ? "\"?" : "");
}

/* ApiVersions is answered in versions that it does not have, too. */
static void check_version(struct kt_obj *match, const struct fb_rule *rule, const struct fb_cluster *cluster)
{
	const struct fb_api *api = fb_api_find(rule->api);
	struct fb_api_versions versions;

	if (rule->version == FB_ANY || !api || api->key == API_VERSIONS)
		return;
	versions = fb_api_versions_in(cluster->release, api);
	if (rule->version < versions.min || rule->version > versions.max)
		kt_obj_fail(match, "version", KT_ERANGE,
			    "%s is served in versions %d to %d, not in %d", kw_api_name(api->key),
			    versions.min, versions.max, rule->version);
}

static void check_node(struct kt_obj *match, const struct fb_rule *rule, const struct fb_cluster *cluster)
{
	if (rule->node != FB_ANY && !fb_cluster_node(cluster, rule->node))
		kt_obj_fail(match, "node", KT_ERANGE, "there is no node %d; brokers are 1 to %d, the controller is %d",
			    rule->node, (int)cluster->nnodes - 1, FB_CONTROLLER_ID);
}

static void read_match(struct kt_obj *match, struct fb_rule *rule, const struct fb_cluster *cluster)
{
	read_api(match, rule);
	kt_obj_int(match, "version", 0, INT16_MAX, &rule->version);
	check_version(match, rule, cluster);
	kt_obj_int(match, "node", 1, INT32_MAX, &rule->node);
	check_node(match, rule, cluster);
	rule->client_id = copy(match, "clientId");
	rule->principal = copy(match, "principal");
	rule->topic = copy(match, "topic");
	kt_obj_int64(match, "nth", 1, INT64_MAX, &rule->nth);
	kt_obj_int64(match, "every", 1, INT64_MAX, &rule->every);
	kt_obj_real(match, "probability", 0, 1, &rule->probability);
	kt_obj_int64(match, "times", 1, INT64_MAX, &rule->times);
	kt_obj_done(match);
}

/* ---- action ---- */

static bool read_error(struct kt_obj *action, struct fb_rule *rule)
{
	const char *name = NULL;
	struct kt_near near;
	int code = 0;

	if (!kt_obj_str(action, "error", &name))
		return false;
	if (strcmp(name, kw_error_name(0)) == 0) {
		kt_obj_fail(action, "error", KT_ERANGE, "NONE is no error: a rule cannot ask for success");
	} else if (kw_error_code(name, &code) < 0) {
		kt_near_init(&near, name);
		for (int i = -1; i < MAX_ERROR_CODE; i++)
			if (i != 0 && kw_error_code(kw_error_name(i), &code) == 0)
				kt_near_offer(&near, kw_error_name(i));
		kt_obj_fail(action, "error", KT_EUNKNOWN, "Kafka has no error \"%.60s\"%s%s%s", name,
			    near.best ? "; did you mean \"" : "", near.best ? near.best : "", near.best ? "\"?" : "");
	}
	rule->action.kind = FB_ACT_ERROR;
	rule->action.error = (int16_t)code;
	return true;
}

static bool read_delay(struct kt_obj *action, struct fb_rule *rule)
{
	if (!kt_obj_int64(action, "delay", 0, MAX_DELAY_MS, &rule->action.delay_ms))
		return false;
	rule->action.kind = FB_ACT_DELAY;
	return true;
}

static bool read_close(struct kt_obj *action, struct fb_rule *rule)
{
	bool close;

	if (!kt_obj_bool(action, "close", &close))
		return false;
	if (!close)
		kt_obj_fail(action, "close", KT_ERANGE, "only true makes sense");
	rule->action.kind = FB_ACT_CLOSE;
	return true;
}

/* A misspelt action is told as such, not as a missing one. */
static void read_action(struct kt_obj *action, struct fb_rule *rule)
{
	int given = read_error(action, rule) + read_delay(action, rule) + read_close(action, rule);

	if (kt_obj_done(action) == 0 && given != 1)
		kt_obj_fail(action, NULL, KT_ERANGE, "exactly one of \"error\", \"delay\" and \"close\" is expected");
}

/* ---- expectation ---- */

static int64_t most_hits(const struct fb_rule *rule)
{
	if (rule->probability == 0 || (rule->nth && rule->every && rule->nth % rule->every != 0))
		return 0;
	if (rule->nth)
		return 1;
	return rule->times ? rule->times : INT64_MAX;
}

/* What can never be met is a mistake, and not a test. */
static void read_expect(struct kt_obj *expect, struct fb_rule *rule)
{
	int64_t most = most_hits(rule);
	bool hits = kt_obj_int64(expect, "hits", 0, INT64_MAX, &rule->expect_hits);
	bool at_least = kt_obj_int64(expect, "atLeast", 0, INT64_MAX, &rule->expect_at_least);

	if (kt_obj_done(expect) < 0)
		return;
	if (hits && at_least && rule->expect_at_least > rule->expect_hits)
		kt_obj_fail(expect, "atLeast", KT_ERANGE, "%lld hits, but at least %lld of them, are never met",
			    (long long)rule->expect_hits, (long long)rule->expect_at_least);
	else if (rule->expect_hits > most || rule->expect_at_least > most)
		kt_obj_fail(expect, rule->expect_hits > most ? "hits" : "atLeast", KT_ERANGE,
			    "by its match the rule has at most %lld hit%s", (long long)most, most == 1 ? "" : "s");
}

/* ---- the whole ---- */

static void read_rule(struct kt_obj *json, struct fb_rule *rule, const struct fb_cluster *cluster)
{
	struct kt_obj match, action, expect;

	kt_obj_need(json, "action", NULL);
	rule->name = copy(json, "name");
	if (rule->name && !*rule->name)
		kt_obj_fail(json, "name", KT_ERANGE, "a name is expected");
	kt_obj_object(json, "match", &match);
	kt_obj_object(json, "action", &action);
	kt_obj_object(json, "expect", &expect);
	if (kt_obj_done(json) < 0)
		return;
	read_match(&match, rule, cluster);
	read_action(&action, rule);
	read_expect(&expect, rule);
}

struct fb_rule *fb_rule_read(struct kt_obj *json, const struct fb_cluster *cluster)
{
	struct fb_rule *rule = calloc(1, sizeof *rule);

	if (!rule) {
		kt_obj_fail(json, NULL, KT_ENOMEM, "out of memory");
		return NULL;
	}
	rule->api = rule->version = rule->node = FB_ANY;
	rule->probability = 1;
	rule->expect_hits = rule->expect_at_least = -1;
	rule->action.kind = FB_ACT_NONE;
	rule->json = json_deep_copy(json->json);
	read_rule(json, rule, cluster);
	if (json->err->code) {
		fb_rule_free(rule);
		return NULL;
	}
	return rule;
}
