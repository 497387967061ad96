#include <fnmatch.h>
#include <stdlib.h>

#include "fakebroker/control/mentions.h"
#include "fakebroker/control/rule.h"

struct fb_rules {
	const struct fb_cluster *cluster;
	pthread_mutex_t lock;
	struct fb_rule *first;
	uint64_t random;
	unsigned serial;           /* for rules without a name */
};

struct fb_rules *fb_rules_new(const struct fb_cluster *cluster, uint64_t seed)
{
	struct fb_rules *rules = calloc(1, sizeof *rules);

	if (!rules)
		return NULL;
	pthread_mutex_init(&rules->lock, NULL);
	rules->cluster = cluster;
	rules->random = seed * 2 + 1;
	return rules;
}

void fb_rules_free(struct fb_rules *rules)
{
	if (!rules)
		return;
	while (rules->first) {
		struct fb_rule *rule = rules->first;

		rules->first = rule->next;
		fb_rule_free(rule);
	}
	pthread_mutex_destroy(&rules->lock);
	free(rules);
}

/* ---- the list ---- */

static struct fb_rule **place(struct fb_rules *rules, const char *name)
{
	struct fb_rule **at = &rules->first;

	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	return at;
}

/* A rule without a name gets one that nobody has. False without memory. */
static bool give_name(struct fb_rules *rules, struct fb_rule *rule)
{
	char made[32];

	if (rule->name)
		return true;
	do
		snprintf(made, sizeof made, "rule-%u", ++rules->serial);
	while (*place(rules, made));
	rule->name = strdup(made);
	return rule->name != NULL;
}

int fb_rules_put(struct fb_rules *rules, const char *name, struct kt_obj *json)
{
	struct fb_rule *rule = fb_rule_read(json, rules->cluster), *old = NULL, **at;

	if (!rule)
		return json->err->code;
	if (name && rule->name && strcmp(rule->name, name) != 0) {
		kt_obj_fail(json, "name", KT_ERANGE, "the rule is put as \"%.100s\"", name);
		fb_rule_free(rule);
		return json->err->code;
	}
	if (name && !rule->name)
		rule->name = strdup(name);
	pthread_mutex_lock(&rules->lock);
	if (give_name(rules, rule)) {
		at = place(rules, rule->name);
		old = *at;
		rule->next = old ? old->next : NULL;
		*at = rule;
	} else {
		kt_obj_fail(json, NULL, KT_ENOMEM, "out of memory");
		old = rule;
	}
	pthread_mutex_unlock(&rules->lock);
	if (old)
		fb_rule_free(old);
	return json->err->code;
}

bool fb_rules_delete(struct fb_rules *rules, const char *name)
{
	struct fb_rule **at, *rule;

	pthread_mutex_lock(&rules->lock);
	at = place(rules, name);
	rule = *at;
	if (rule)
		*at = rule->next;
	pthread_mutex_unlock(&rules->lock);
	if (rule)
		fb_rule_free(rule);
	return rule != NULL;
}

static json_t *to_json(const struct fb_rule *rule)
{
	json_t *json = json_deep_copy(rule->json);

	json_object_set_new(json, "name", json_string(rule->name));
	json_object_set_new(json, "seen", json_integer(rule->seen));
	json_object_set_new(json, "hits", json_integer(rule->hits));
	return json;
}

json_t *fb_rules_json(struct fb_rules *rules)
{
	json_t *json = json_array();

	pthread_mutex_lock(&rules->lock);
	for (struct fb_rule *rule = rules->first; rule; rule = rule->next)
		json_array_append_new(json, to_json(rule));
	pthread_mutex_unlock(&rules->lock);
	return json;
}

json_t *fb_rules_get(struct fb_rules *rules, const char *name)
{
	struct fb_rule *rule;
	json_t *json;

	pthread_mutex_lock(&rules->lock);
	rule = *place(rules, name);
	json = rule ? to_json(rule) : NULL;
	pthread_mutex_unlock(&rules->lock);
	return json;
}

/* ---- matching ---- */

static bool about_topic(const struct fb_request *req, const char *name)
{
	struct fb_wanted_topic want;

	if (!req->body)
		return false;
	want = fb_want_topic(req->cluster, name);
	return fb_mentions(kw_request(req->api->key)->root, req->body, &want);
}

static bool client_matches(const struct fb_rule *rule, struct kw_str id)
{
	char text[256];

	if (!rule->client_id)
		return true;
	snprintf(text, sizeof text, "%.*s", id.n < 0 ? 0 : id.n, id.n < 0 ? "" : id.s);
	return fnmatch(rule->client_id, text, 0) == 0;
}

/* xorshift64*: the seed decides, not the C library. */
static double dice(struct fb_rules *rules)
{
	rules->random ^= rules->random >> 12;
	rules->random ^= rules->random << 25;
	rules->random ^= rules->random >> 27;
	return (double)((rules->random * 2685821657736338717u) >> 11) / 9007199254740992.0;
}

static bool matches(struct fb_rules *rules, struct fb_rule *rule, const struct fb_request *req)
{
	if ((rule->api != FB_ANY && rule->api != req->api->key) ||
	    (rule->version != FB_ANY && rule->version != req->version) ||
	    (rule->node != FB_ANY && rule->node != req->node->id) || !client_matches(rule, req->header->clientId) ||
	    (rule->principal && fnmatch(rule->principal, req->session->principal.data, 0) != 0) ||
	    (rule->topic && !about_topic(req, rule->topic)))
		return false;
	rule->seen++;
	if ((rule->nth && rule->seen != rule->nth) || (rule->every && rule->seen % rule->every != 0) ||
	    (rule->times && rule->hits >= rule->times))
		return false;
	return rule->probability >= 1 || dice(rules) < rule->probability;
}

struct fb_action fb_rules_match(struct fb_rules *rules, const struct fb_request *req)
{
	struct fb_action action = {.kind = FB_ACT_NONE};

	pthread_mutex_lock(&rules->lock);
	for (struct fb_rule *rule = rules->first; rule; rule = rule->next) {
		if (matches(rules, rule, req)) {
			rule->hits++;
			action = rule->action;
			break;
		}
	}
	pthread_mutex_unlock(&rules->lock);
	return action;
}

size_t fb_rules_unmet(struct fb_rules *rules, char *text, size_t size)
{
	size_t n = 0, at = 0;

	text[0] = '\0';
	pthread_mutex_lock(&rules->lock);
	for (struct fb_rule *rule = rules->first; rule; rule = rule->next) {
		bool exact = rule->expect_hits >= 0 && rule->hits != rule->expect_hits;
		bool few = rule->expect_at_least >= 0 && rule->hits < rule->expect_at_least;

		if (!exact && !few)
			continue;
		n++;
		if (at < size)
			at += (size_t)snprintf(text + at, size - at, "%s%s: %lld hits, expected %s%lld", at ? "; " : "",
					       rule->name, (long long)rule->hits, exact ? "" : "at least ",
					       (long long)(exact ? rule->expect_hits : rule->expect_at_least));
	}
	pthread_mutex_unlock(&rules->lock);
	return n;
}
