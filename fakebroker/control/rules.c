#include "fakebroker/control/rules.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "lib/text/json.h"
#include "lib/text/near.h"

enum { ANY = -1 };

struct rule {
	struct rule *next;
	char *name;
	json_t *json;              /* as it was given */
	/* match */
	int api, version, node;    /* ANY */
	char *client_id, *topic;   /* glob and name, NULL = any */
	int64_t nth, every;        /* 0 = any */
	double probability;
	int64_t times;             /* hits after which it rests, 0 = none */
	/* action, expectation */
	struct fb_action action;
	int64_t expect_hits, expect_at_least;   /* -1 = none */
	/* what happened */
	int64_t seen, hits;        /* requests that its other conditions match; those it acted on */
};

struct fb_rules {
	pthread_mutex_t lock;
	struct rule *first;
	uint64_t random;
	unsigned serial;           /* for rules without a name */
};

struct fb_rules *fb_rules_new(uint64_t seed)
{
	struct fb_rules *rules = calloc(1, sizeof *rules);

	if (!rules)
		return NULL;
	pthread_mutex_init(&rules->lock, NULL);
	rules->random = seed * 2 + 1;
	return rules;
}

static void rule_free(struct rule *rule)
{
	free(rule->name);
	free(rule->client_id);
	free(rule->topic);
	json_decref(rule->json);
	free(rule);
}

void fb_rules_free(struct fb_rules *rules)
{
	if (!rules)
		return;
	while (rules->first) {
		struct rule *rule = rules->first;

		rules->first = rule->next;
		rule_free(rule);
	}
	pthread_mutex_destroy(&rules->lock);
	free(rules);
}

/* ---- reading ---- */

static void read_api(struct kt_obj *match, struct rule *rule)
{
	const char *names[128], *name = NULL;
	size_t n = 0;
	const char *near;

	if (!kt_obj_str(match, "api", &name))
		return;
	rule->api = kw_api_key(name);
	if (fb_api_find(rule->api))
		return;
	for (const struct fb_api *api; n < 128 && (api = fb_api_at(n));)
		names[n++] = kw_api_name(api->key);
	near = kt_nearest(name, names, n);
	kt_obj_fail(match, "api", KT_EUNKNOWN, "API \"%.60s\" is not served%s%s%s", name, near ? "; did you mean \"" : "",
		    near ? near : "", near ? "\"?" : "");
}

static void read_match(struct kt_obj *match, struct rule *rule)
{
	const char *s;

	read_api(match, rule);
	kt_obj_int(match, "version", 0, INT16_MAX, &rule->version);
	kt_obj_int(match, "node", 1, INT32_MAX, &rule->node);
	if (kt_obj_str(match, "clientId", &s))
		rule->client_id = strdup(s);
	if (kt_obj_str(match, "topic", &s))
		rule->topic = strdup(s);
	kt_obj_int64(match, "nth", 1, INT64_MAX, &rule->nth);
	kt_obj_int64(match, "every", 1, INT64_MAX, &rule->every);
	kt_obj_real(match, "probability", 0, 1, &rule->probability);
	kt_obj_int64(match, "times", 1, INT64_MAX, &rule->times);
	kt_obj_done(match);
}

static void read_error(struct kt_obj *action, struct rule *rule)
{
	const char *name = NULL;
	int code = 0;

	if (!kt_obj_str(action, "error", &name))
		return;
	if (kw_error_code(name, &code) < 0 || code == 0)
		kt_obj_fail(action, "error", KT_EUNKNOWN, "Kafka has no error \"%.60s\"", name);
	rule->action.kind = FB_ACT_ERROR;
	rule->action.error = (int16_t)code;
}

static void read_action(struct kt_obj *action, struct rule *rule)
{
	bool close = false;
	int given = 0;

	read_error(action, rule);
	given += rule->action.kind == FB_ACT_ERROR;
	if (kt_obj_int64(action, "delay", 0, 86400000, &rule->action.delay_ms)) {
		rule->action.kind = FB_ACT_DELAY;
		given++;
	}
	if (kt_obj_bool(action, "close", &close) && close) {
		rule->action.kind = FB_ACT_CLOSE;
		given++;
	}
	if (given != 1)
		kt_obj_fail(action, NULL, KT_ERANGE, "exactly one of \"error\", \"delay\" and \"close\": true is expected");
	kt_obj_done(action);
}

static int read_rule(struct rule *rule, json_t *json, struct kt_err *err)
{
	struct kt_obj obj, match, action, expect;
	const char *name;

	kt_obj_open(&obj, NULL, json, "$", err);
	kt_obj_need(&obj, "action", NULL);
	kt_obj_str(&obj, "name", &name);
	kt_obj_object(&obj, "match", &match);
	kt_obj_object(&obj, "action", &action);
	kt_obj_object(&obj, "expect", &expect);
	read_match(&match, rule);
	if (!err->code)
		read_action(&action, rule);
	kt_obj_int64(&expect, "hits", 0, INT64_MAX, &rule->expect_hits);
	kt_obj_int64(&expect, "atLeast", 0, INT64_MAX, &rule->expect_at_least);
	kt_obj_done(&expect);
	return kt_obj_done(&obj);
}

/* ---- the list ---- */

static struct rule **place(struct fb_rules *rules, const char *name)
{
	struct rule **at = &rules->first;

	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	return at;
}

static void put(struct fb_rules *rules, struct rule *rule)
{
	struct rule **at, *old;

	pthread_mutex_lock(&rules->lock);
	if (!rule->name) {
		char made[32];

		snprintf(made, sizeof made, "rule-%u", ++rules->serial);
		rule->name = strdup(made);
	}
	at = place(rules, rule->name ? rule->name : "");
	old = *at;
	rule->next = old ? old->next : NULL;
	*at = rule;
	pthread_mutex_unlock(&rules->lock);
	if (old)
		rule_free(old);
}

int fb_rules_put(struct fb_rules *rules, const char *name, json_t *json, struct kt_err *err)
{
	struct rule *rule = calloc(1, sizeof *rule);
	struct kt_err own = {0};

	if (!rule)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	if (!err)
		err = &own;
	rule->api = rule->version = rule->node = ANY;
	rule->probability = 1;
	rule->expect_hits = rule->expect_at_least = -1;
	rule->json = json_deep_copy(json);
	rule->name = name ? strdup(name) : NULL;
	if (read_rule(rule, json, err) < 0) {
		rule_free(rule);
		return err->code;
	}
	put(rules, rule);
	return 0;
}

bool fb_rules_delete(struct fb_rules *rules, const char *name)
{
	struct rule **at, *rule;

	pthread_mutex_lock(&rules->lock);
	at = place(rules, name);
	rule = *at;
	if (rule)
		*at = rule->next;
	pthread_mutex_unlock(&rules->lock);
	if (rule)
		rule_free(rule);
	return rule != NULL;
}

static json_t *to_json(const struct rule *rule)
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
	for (struct rule *rule = rules->first; rule; rule = rule->next)
		json_array_append_new(json, to_json(rule));
	pthread_mutex_unlock(&rules->lock);
	return json;
}

json_t *fb_rules_get(struct fb_rules *rules, const char *name)
{
	struct rule *rule;
	json_t *json;

	pthread_mutex_lock(&rules->lock);
	rule = *place(rules, name);
	json = rule ? to_json(rule) : NULL;
	pthread_mutex_unlock(&rules->lock);
	return json;
}

/* ---- matching ---- */

static bool named(const char *field)
{
	return strcmp(field, "name") == 0 || strcmp(field, "topic") == 0 || strcmp(field, "topicName") == 0 ||
	       strcmp(field, "topicNames") == 0;
}

struct wanted {
	const char *name;
	struct kw_uuid id;         /* zero if there is no such topic */
};

static bool value_is(const struct kw_field *field, const char *at, const struct wanted *want)
{
	static const struct kw_uuid none;

	if (field->type == KW_STRING && named(field->name))
		return kw_str_is(*(const struct kw_str *)(const void *)at, want->name);
	return field->type == KW_UUID && strcmp(field->name, "topicId") == 0 && !kw_uuid_eq(want->id, none) &&
	       kw_uuid_eq(*(const struct kw_uuid *)(const void *)at, want->id);
}

/* Does the body name the topic, in whatever field the API has for it? */
static bool mentions(const struct kw_struct *st, const void *in, const struct wanted *want)
{
	for (uint32_t i = 0; i < st->nfields; i++) {
		const struct kw_field *field = &st->fields[i];
		const char *at = (const char *)in + field->offset;
		const struct kw_arr *arr = (const struct kw_arr *)(const void *)at;
		size_t size = field->type == KW_STRUCT ? field->sub->size : sizeof(struct kw_str);

		if (!(field->flags & KW_F_ARRAY)) {
			if (value_is(field, at, want))
				return true;
			continue;
		}
		if (field->type != KW_STRUCT && field->type != KW_STRING)
			continue;
		for (int32_t k = 0; k < arr->n; k++) {
			const char *v = (const char *)arr->v + (size_t)k * size;

			if (field->type == KW_STRUCT ? mentions(field->sub, v, want) : value_is(field, v, want))
				return true;
		}
	}
	return false;
}

static bool about_topic(const struct fb_request *req, const char *name)
{
	struct wanted want = {.name = name};
	struct fb_topic *topic;

	if (!req->body)
		return false;
	pthread_rwlock_rdlock(&req->cluster->lock);
	topic = fb_topic_find(req->cluster, kw_str(name));
	if (topic)
		want.id = topic->id;
	pthread_rwlock_unlock(&req->cluster->lock);
	return mentions(kw_request(req->api->key)->root, req->body, &want);
}

static bool client_matches(const struct rule *rule, struct kw_str id)
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

static bool matches(struct fb_rules *rules, struct rule *rule, const struct fb_request *req)
{
	if ((rule->api != ANY && rule->api != req->api->key) || (rule->version != ANY && rule->version != req->version) ||
	    (rule->node != ANY && rule->node != req->node->id) || !client_matches(rule, req->header->clientId) ||
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
	for (struct rule *rule = rules->first; rule; rule = rule->next) {
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
	for (struct rule *rule = rules->first; rule; rule = rule->next) {
		bool exact = rule->expect_hits >= 0 && rule->hits != rule->expect_hits;
		bool few = rule->expect_at_least >= 0 && rule->hits < rule->expect_at_least;

		if (!exact && !few)
			continue;
		n++;
		if (at < size)
			at += (size_t)snprintf(text + at, size - at, "%s%s: %lld hits, expected %s%lld", at ? "; " : "", rule->name,
					       (long long)rule->hits, exact ? "" : "at least ",
					       (long long)(exact ? rule->expect_hits : rule->expect_at_least));
	}
	pthread_mutex_unlock(&rules->lock);
	return n;
}
