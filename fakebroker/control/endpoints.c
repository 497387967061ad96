#include "fakebroker/control/endpoints.h"

#include <errno.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdarg.h>
#include <stdlib.h>

#include "fakebroker/control/rules.h"
#include "lib/text/json.h"

enum { DEFAULT_LIMIT = 100, MAX_LIMIT = 10000, MAX_WAIT_MS = 30000 };

void fb_answer_error(struct fb_answer *answer, int status, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	json_decref(answer->json);
	answer->status = status;
	answer->json = json_pack("{s:s}", "error", text);
	if (!answer->json)
		answer->json = json_pack("{s:s}", "error", "not UTF-8");
}

/* A number in the query; false and an answer when it is not one. */
static bool number(const struct fb_ask *ask, const char *name, int64_t min, int64_t max, int64_t *v,
		   struct fb_answer *answer)
{
	const char *s = evhttp_find_header(ask->params, name);
	char *end;

	if (!s)
		return true;
	errno = 0;
	*v = strtoll(s, &end, 10);
	if (*end || end == s || errno || *v < min || *v > max) {
		fb_answer_error(answer, 400, "%s=%s: a number from %lld to %lld is expected", name, s, (long long)min,
				(long long)max);
		return false;
	}
	return true;
}

/* ---- requests ---- */

static bool set_api(struct fb_record_filter *filter, const char *name, struct fb_answer *answer)
{
	if (!name)
		return true;
	filter->api = kw_api_key(name);
	if (filter->api < 0)
		fb_answer_error(answer, 400, "api=%s: there is no such API", name);
	return filter->api >= 0;
}

static void get_requests(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	struct fb_record_filter filter = {.api = -1, .node = -1};
	int64_t after = 0, limit = DEFAULT_LIMIT, node = -1, bytes = 0;

	(void)rest;
	if (!number(ask, "after", 0, INT64_MAX, &after, answer) || !number(ask, "limit", 1, MAX_LIMIT, &limit, answer) ||
	    !number(ask, "node", 1, INT32_MAX, &node, answer) || !number(ask, "bytes", 0, 1, &bytes, answer) ||
	    !set_api(&filter, evhttp_find_header(ask->params, "api"), answer))
		return;
	filter.after = (uint64_t)after;
	filter.limit = (size_t)limit;
	filter.node = (int)node;
	filter.bytes = bytes != 0;
	answer->json = fb_recorder_json(ask->cluster->recorder, &filter);
}

static void post_wait(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	struct fb_record_filter filter = {.api = -1, .node = -1};
	int64_t after = 0, count = 1, timeout = 10000;
	const char *api = NULL;
	struct kt_err err = {0};
	struct kt_obj obj;

	(void)rest;
	kt_obj_open(&obj, NULL, ask->body, "$", &err);
	kt_obj_str(&obj, "api", &api);
	kt_obj_int(&obj, "node", 1, INT32_MAX, &filter.node);
	kt_obj_int64(&obj, "after", 0, INT64_MAX, &after);
	kt_obj_int64(&obj, "count", 1, INT64_MAX, &count);
	kt_obj_int64(&obj, "timeoutMs", 0, MAX_WAIT_MS, &timeout);
	if (kt_obj_done(&obj) < 0) {
		fb_answer_error(answer, 400, "%s: %s", err.path, err.text);
		return;
	}
	if (!set_api(&filter, api, answer))
		return;
	filter.after = (uint64_t)after;
	answer->wait = true;
	answer->filter = filter;
	answer->count = (size_t)count;
	answer->timeout_ms = timeout;
}

void fb_answer_waited(struct fb_answer *answer, bool met)
{
	answer->status = met ? 200 : 408;
	answer->json = json_pack("{s:b}", "met", met);
}

/* ---- rules ---- */

static void get_rules(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	answer->json = *rest ? fb_rules_get(ask->cluster->rules, rest) : fb_rules_json(ask->cluster->rules);
	if (!answer->json)
		fb_answer_error(answer, 404, "there is no rule \"%s\"", rest);
}

static void put_rule(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	struct kt_err err = {0};

	if (!*rest)
		fb_answer_error(answer, 400, "PUT /v1/rules/NAME is expected");
	else if (fb_rules_put(ask->cluster->rules, rest, ask->body, &err) < 0)
		fb_answer_error(answer, 400, "%s: %s", err.path, err.text);
	else
		answer->json = fb_rules_get(ask->cluster->rules, rest);
}

static void delete_rule(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	if (fb_rules_delete(ask->cluster->rules, rest))
		answer->json = json_object();
	else
		fb_answer_error(answer, 404, "there is no rule \"%s\"", rest);
}

/* ---- the rest ---- */

static void get_status(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	(void)rest;
	answer->json = fb_status_json(ask->cluster);
}

static void get_partition(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	const char *slash = strrchr(rest, '/');
	char topic[256];
	char *end = NULL;
	long index = slash ? strtol(slash + 1, &end, 10) : -1;

	if (slash && end != slash + 1 && !*end && index >= 0 && index <= INT32_MAX && slash - rest < (long)sizeof topic) {
		snprintf(topic, sizeof topic, "%.*s", (int)(slash - rest), rest);
		answer->json = fb_partition_json(ask->cluster, topic, (int32_t)index);
	}
	if (!answer->json)
		fb_answer_error(answer, 404, "there is no partition %s; /v1/partitions/TOPIC/N is expected", rest);
}

static void get_observer(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	struct fb_cluster *cluster = ask->cluster;

	(void)rest;
	answer->json = json_array();
	for (size_t i = 0; i + 1 < cluster->nnodes; i++) {
		struct fb_observer *observer = fb_node_observer(cluster, &cluster->nodes[i]);
		json_t *one = fb_observer_json(observer);

		json_object_set_new(one, "node", json_integer(cluster->nodes[i].id));
		json_array_append_new(answer->json, one);
		fb_observer_unref(observer);
	}
}

static void put_observer(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	const char *classes = NULL;
	struct kt_err err = {0};
	struct kt_obj obj;

	kt_obj_open(&obj, NULL, ask->body, "$", &err);
	kt_obj_need(&obj, "classes", NULL);
	kt_obj_str(&obj, "classes", &classes);
	if (kt_obj_done(&obj) == 0 && fb_cluster_observe_check(ask->cluster, classes, &err) == 0)
		fb_cluster_observe(ask->cluster, classes, &err);
	if (err.code)
		fb_answer_error(answer, 400, "%s%s%s", err.path, err.path[0] ? ": " : "", err.text);
	else
		get_observer(ask, rest, answer);
}

static void get_validators(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	struct fb_cluster *cluster = ask->cluster;

	(void)rest;
	answer->json = json_object();
	pthread_rwlock_rdlock(&cluster->lock);
	for (size_t i = 0; i < cluster->ntopics; i++) {
		struct fb_topic *topic = cluster->topics[i];

		if (topic->chain)
			json_object_set_new(answer->json, topic->name,
					    json_pack("{s:s, s:o}", "classes", fb_chain_classes(topic->chain), "validators",
						      fb_chain_json(topic->chain)));
	}
	pthread_rwlock_unlock(&cluster->lock);
}

static void get_metrics(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	(void)rest;
	answer->text = fb_metrics_text(ask->cluster);
	if (!answer->text)
		fb_answer_error(answer, 500, "out of memory");
}

/* A path is a whole one, or with a slash at its end a prefix of what the function gets. */
static const struct {
	const char *method, *path;
	void (*run)(const struct fb_ask *ask, const char *rest, struct fb_answer *answer);
} endpoints[] = {
	{"GET", "/v1/status", get_status},
	{"GET", "/v1/rules", get_rules},
	{"GET", "/v1/rules/", get_rules},
	{"PUT", "/v1/rules/", put_rule},
	{"DELETE", "/v1/rules/", delete_rule},
	{"GET", "/v1/requests", get_requests},
	{"POST", "/v1/wait", post_wait},
	{"GET", "/v1/partitions/", get_partition},
	{"GET", "/v1/observer", get_observer},
	{"PUT", "/v1/observer", put_observer},
	{"GET", "/v1/validators", get_validators},
	{"GET", "/metrics", get_metrics},
};

void fb_endpoint(const struct fb_ask *ask, struct fb_answer *answer)
{
	bool known = false;

	for (size_t i = 0; i < sizeof endpoints / sizeof endpoints[0]; i++) {
		size_t n = strlen(endpoints[i].path);
		bool prefix = endpoints[i].path[n - 1] == '/';

		if (prefix ? strncmp(ask->path, endpoints[i].path, n) != 0 : strcmp(ask->path, endpoints[i].path) != 0)
			continue;
		known = true;
		if (strcmp(ask->method, endpoints[i].method) != 0)
			continue;
		endpoints[i].run(ask, ask->path + n, answer);
		return;
	}
	fb_answer_error(answer, known ? 405 : 404, "%s %s: %s", ask->method, ask->path,
			known ? "this path has other methods" : "there is no such path");
}
