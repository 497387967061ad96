#include "fakebroker/control/endpoints.h"

#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdarg.h>
#include <stdlib.h>

#include "fakebroker/control/rules.h"
#include "fakebroker/control/validators.h"
#include "lib/text/near.h"
#include "lib/text/number.h"

enum { DEFAULT_LIMIT = 100, MAX_WAIT_MS = 30000, MAX_RECORDS = 100000 };
/* The year 5138: sums of two stay far from overflowing. */
static const int64_t MOST_MS = 100000000000000;

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

void fb_answer_drop(struct fb_answer *answer)
{
	json_decref(answer->json);
	free(answer->text);
	kw_buf_fini(&answer->bytes);
}

void fb_answer_err(struct fb_answer *answer, const struct kt_err *err)
{
	char line[1024];

	fb_answer_error(answer, err->code == KT_ENOMEM ? 500 : 400, "%s", kt_err_line(err, line, sizeof line));
}

/* Takes what is the answer, or NULL for want of memory. */
static void give_take(struct fb_answer *answer, json_t *json)
{
	if (json)
		answer->json = json;
	else
		fb_answer_error(answer, 500, "out of memory");
}

/* The body is an object, or the answer says what is wrong with it. */
static bool open_body(const struct fb_ask *ask, struct kt_obj *obj, struct kt_err *err, struct fb_answer *answer)
{
	if (!ask->body.root) {
		fb_answer_error(answer, 400, "%s %s needs a body: a JSON object", ask->method, ask->path);
		return false;
	}
	kt_obj_root(obj, &ask->body, err);
	if (err->code)
		fb_answer_err(answer, err);
	return !err->code;
}

int fb_parse_digits(const char *s, int64_t min, int64_t max, int64_t *v, struct kt_err *err)
{
	int code = kt_parse_int(s, min, max, v, err);

	return !code && (*s == '+' || *s == '-') ? kt_fail(err, KT_ETYPE, "must be digits only, not \"%s\"", s) : code;
}

/* A number in the query; false and an answer when it is not one. */
static bool number(const struct fb_ask *ask, const char *name, int64_t min, int64_t max, int64_t *v,
		   struct fb_answer *answer)
{
	const char *s = evhttp_find_header(ask->params, name);
	struct kt_err err = {0};

	if (!s || fb_parse_digits(s, min, max, v, &err) == 0)
		return true;
	fb_answer_error(answer, 400, "%s: %s", name, err.text);
	return false;
}

/* ---- clock ---- */

static void get_clock(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	struct fb_clock *clock = ask->cluster->clock;

	(void)rest;
	answer->json = json_pack("{s:I, s:b}", "now", (json_int_t)fb_clock_now(clock), "frozen",
				 fb_clock_frozen(clock));
}

/* Retention and time-outs are judged by the new time before the answer, as if their intervals were over. */
static void post_clock(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	struct fb_clock *clock = ask->cluster->clock;
	int64_t now = fb_clock_now(clock), by = 0;
	bool frozen = fb_clock_frozen(clock);
	struct kt_err err = {0};
	struct kt_obj obj;

	if (!open_body(ask, &obj, &err, answer))
		return;
	kt_obj_int64(&obj, "now", 0, MOST_MS, &now);
	kt_obj_int64(&obj, "advance", -MOST_MS, MOST_MS, &by);
	kt_obj_bool(&obj, "frozen", &frozen);
	if (kt_obj_done(&obj) == 0 && (now + by < 0 || now + by > MOST_MS))
		kt_obj_fail(&obj, "advance", KT_ERANGE, "leads out of the years that there are timestamps for");
	if (err.code) {
		fb_answer_err(answer, &err);
		return;
	}
	fb_clock_set(clock, now + by, frozen);
	fb_cluster_tick(ask->cluster, true);
	get_clock(ask, rest, answer);
}

/* ---- requests ---- */

static bool set_api(struct fb_record_filter *filter, const char *name, struct fb_answer *answer)
{
	if (!name)
		return true;
	filter->api = kw_api_key(name);
	if (filter->api < 0)
		fb_answer_error(answer, 400, "api: Kafka has no API \"%s\"", name);
	return filter->api >= 0;
}

static void get_requests(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	struct fb_record_filter filter = {.api = -1, .node = -1};
	int64_t after = 0, limit = DEFAULT_LIMIT, node = -1, bytes = 0;
	const char *topic = evhttp_find_header(ask->params, "topic");
	struct fb_wanted_topic want;

	(void)rest;
	if (!number(ask, "after", 0, INT64_MAX, &after, answer) ||
	    !number(ask, "limit", 1, FB_RECORDED_REQUESTS, &limit, answer) ||
	    !number(ask, "node", 1, INT32_MAX, &node, answer) || !number(ask, "bytes", 0, 1, &bytes, answer) ||
	    !set_api(&filter, evhttp_find_header(ask->params, "api"), answer))
		return;
	filter.after = (uint64_t)after;
	filter.newest = !evhttp_find_header(ask->params, "after");
	filter.limit = (size_t)limit;
	filter.node = (int)node;
	filter.bytes = bytes != 0;
	if (topic) {
		want = fb_want_topic(ask->cluster, topic);
		filter.topic = &want;
	}
	give_take(answer, fb_recorder_json(ask->cluster->recorder, &filter));
}

static void delete_requests(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	(void)rest;
	fb_recorder_clear(ask->cluster->recorder);
	answer->json = json_object();
}

static void post_wait(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	struct fb_record_filter filter = {.api = -1, .node = -1};
	int64_t after = 0, count = 1, timeout = 10000;
	const char *api = NULL;
	struct kt_err err = {0};
	struct kt_obj obj;

	(void)rest;
	if (!open_body(ask, &obj, &err, answer))
		return;
	kt_obj_str(&obj, "api", &api);
	kt_obj_int(&obj, "node", 1, INT32_MAX, &filter.node);
	kt_obj_int64(&obj, "after", 0, INT64_MAX, &after);
	kt_obj_int64(&obj, "count", 1, INT64_MAX, &count);
	kt_obj_int64(&obj, "timeoutMs", 0, MAX_WAIT_MS, &timeout);
	if (kt_obj_done(&obj) < 0) {
		fb_answer_err(answer, &err);
		return;
	}
	if (!set_api(&filter, api, answer))
		return;
	filter.after = (uint64_t)after;
	answer->wait = true;
	answer->filter = filter;
	answer->count = count;
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
	struct kt_obj obj;
	json_t *name = json_string(rest);

	if (!*rest || !name)
		fb_answer_error(answer, 400, "PUT /v1/rules/NAME is expected, with a name in UTF-8");
	else if (!open_body(ask, &obj, &err, answer))
		;
	else if (fb_rules_put(ask->cluster->rules, rest, &obj) < 0)
		fb_answer_err(answer, &err);
	else
		answer->json = fb_rules_get(ask->cluster->rules, rest);
	json_decref(name);
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

bool fb_partition_path(const char *rest, size_t n, struct fb_partition_path *path)
{
	const char *slash = memrchr(rest, '/', n);
	char digits[24];
	int64_t index;

	if (!slash || (size_t)(slash - rest) >= sizeof path->topic || memchr(rest, '/', (size_t)(slash - rest)))
		return false;
	snprintf(path->topic, sizeof path->topic, "%.*s", (int)(slash - rest), rest);
	snprintf(digits, sizeof digits, "%.*s", (int)(rest + n - slash - 1), slash + 1);
	if (fb_parse_digits(digits, 0, INT32_MAX, &index, NULL) < 0)
		return false;
	path->index = (int32_t)index;
	return true;
}

void fb_answer_no_partition(const char *rest, size_t n, struct fb_answer *answer)
{
	fb_answer_error(answer, 404, "there is no partition %.*s; /v1/partitions/TOPIC/N is expected", (int)n, rest);
}

static void get_partition(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	struct fb_partition_path path;
	size_t n = strlen(rest);

	if (fb_partition_path(rest, n, &path))
		answer->json = fb_partition_json(ask->cluster, path.topic, path.index);
	if (!answer->json)
		fb_answer_no_partition(rest, n, answer);
}

static void post_append(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	size_t n = strlen(rest) - strlen("/append");
	bool keep_offsets = false;
	struct fb_partition_path path;
	struct kt_err err = {0};
	struct kw_buf set = {0};
	struct kt_obj obj;

	if (!fb_partition_path(rest, n, &path)) {
		fb_answer_no_partition(rest, n, answer);
		return;
	}
	if (!open_body(ask, &obj, &err, answer))
		return;
	if (fb_append_read(&obj, &set, &keep_offsets) == 0)
		answer->json = fb_append_json(ask->cluster, path.topic, path.index, &set, keep_offsets, &err);
	kw_buf_fini(&set);
	if (err.code)
		fb_answer_err(answer, &err);
	else if (!answer->json)
		fb_answer_no_partition(rest, n, answer);
}

static void get_observer(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	struct fb_cluster *cluster = ask->cluster;

	(void)rest;
	answer->json = json_array();
	for (size_t i = 0; i + 1 < cluster->nnodes; i++) {
		struct fb_observer *observer = fb_node_observer(cluster, &cluster->nodes[i]);
		json_t *one;

		if (!observer)   /* the broker is still starting */
			continue;
		one = fb_observer_json(observer);
		json_object_set_new(one, "node", json_integer(cluster->nodes[i].id));
		json_array_append_new(answer->json, one);
		fb_observer_unref(observer);
	}
}

/* {"NAME.OPTION": text, ...}: NULL without any. What none of the classes would read is refused. */
static const json_t *observer_options(const struct fb_cluster *cluster, const char *classes, struct kt_obj *parent)
{
	struct kt_obj obj;
	const char *name, *text;

	if (!kt_obj_object(parent, "options", &obj))
		return NULL;
	while (kt_obj_each(&obj, &name)) {
		struct kt_err why = {0};

		if (!kt_obj_str(&obj, name, &text))
			break;
		if (classes && fb_observer_has_option(classes, cluster->plugins, name, &why) < 0)
			kt_obj_fail(&obj, name, why.code, "%s", why.text);
	}
	return obj.json;
}

static void put_observer(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	static const char *const modes[] = {"inline", "queued", NULL};
	const char *classes = NULL;
	const json_t *options;
	struct kt_err err = {0};
	struct kt_obj obj;
	int mode = -1;

	if (!open_body(ask, &obj, &err, answer))
		return;
	kt_obj_need(&obj, "classes", NULL);
	kt_obj_str(&obj, "classes", &classes);
	kt_obj_enum(&obj, "mode", modes, &mode);
	options = observer_options(ask->cluster, classes, &obj);
	if (kt_obj_done(&obj) == 0)
		fb_cluster_observe(ask->cluster, classes, mode < 0 ? NULL : modes[mode], options, true, &err);
	if (err.code)
		fb_answer_err(answer, &err);
	else
		get_observer(ask, rest, answer);
}

static void get_validators(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	(void)rest;
	answer->json = fb_validators_json(ask->cluster);
}

static void put_validators(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	struct kt_err err = {0};
	struct kt_obj obj;

	if (!open_body(ask, &obj, &err, answer))
		return;
	if (fb_validators_put(ask->cluster, &obj) < 0)
		fb_answer_err(answer, &err);
	else
		get_validators(ask, rest, answer);
}

static void get_refused(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	struct fb_refused_filter filter = {.topic = evhttp_find_header(ask->params, "topic")};
	int64_t after = 0, limit = DEFAULT_LIMIT;

	(void)rest;
	if (!number(ask, "after", 0, INT64_MAX, &after, answer) ||
	    !number(ask, "limit", 1, FB_REFUSED_RECORDS, &limit, answer))
		return;
	filter.after = (uint64_t)after;
	filter.newest = !evhttp_find_header(ask->params, "after");
	filter.limit = (size_t)limit;
	give_take(answer, fb_refused_json(ask->cluster->refused, &filter));
}

/* Named as Kafka names the file, by its first offset. */
static void get_segment(struct fb_cluster *cluster, struct fb_answer *answer)
{
	kw_buf_init(&answer->bytes, 0);
	pthread_rwlock_rdlock(&cluster->lock);
	fb_metadata_segment(&cluster->metadata, &answer->bytes);
	snprintf(answer->file, sizeof answer->file, "%020lld.log", (long long)cluster->metadata.start);
	pthread_rwlock_unlock(&cluster->lock);
	if (answer->bytes.failed)
		fb_answer_error(answer, 500, "%s", kt_strerror(answer->bytes.failed));
}

static void get_metadata_log(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	const char *format = evhttp_find_header(ask->params, "format");
	int64_t from = 0, limit = MAX_RECORDS;

	(void)rest;
	if (!number(ask, "from", 0, INT64_MAX, &from, answer) || !number(ask, "limit", 1, MAX_RECORDS, &limit, answer))
		return;
	if (format && strcmp(format, "segment") == 0) {
		get_segment(ask->cluster, answer);
	} else if (format && strcmp(format, "json") != 0) {
		fb_answer_error(answer, 400, "format: json or segment is expected");
	} else {
		give_take(answer, fb_metadata_json(ask->cluster, from, limit));
	}
}

static void get_metrics(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	(void)rest;
	answer->text = fb_metrics_text(ask->cluster);
	if (!answer->text)
		fb_answer_error(answer, 500, "out of memory");
}

static bool is_partition(const char *rest)
{
	struct fb_partition_path path;

	return fb_partition_path(rest, strlen(rest), &path);
}

/* A path is a whole one, or with a slash at its end a prefix of what the function gets. With a star it is what begins
 * and ends so, and the function gets what is behind the beginning; it stands in front of that prefix and hides it. */
static const struct endpoint {
	const char *method, *path;
	void (*run)(const struct fb_ask *ask, const char *rest, struct fb_answer *answer);
	const char *params[6];     /* what the query may have */
	bool slow;                 /* it creates or closes what is a plugin's, or waits for other threads */
	bool (*known)(const char *rest);   /* of a prefix, for other methods: is there such a path? NULL: any is */
} endpoints[] = {
	{"GET",    "/v1/status",      get_status,     {NULL}, false, NULL},
	{"GET",    "/v1/rules",       get_rules,      {NULL}, false, NULL},
	{"GET",    "/v1/rules/",      get_rules,      {NULL}, false, NULL},
	{"PUT",    "/v1/rules/",      put_rule,       {NULL}, false, NULL},
	{"DELETE", "/v1/rules/",      delete_rule,    {NULL}, false, NULL},
	{"GET",    "/v1/requests",    get_requests,   {"api", "node", "topic", "after", "limit", "bytes"}, false, NULL},
	{"DELETE", "/v1/requests",    delete_requests, {NULL}, false, NULL},
	{"POST",   "/v1/wait",        post_wait,      {NULL}, false, NULL},
	{"POST",   "/v1/nodes/",      fb_post_node,   {NULL}, true, fb_is_node_path},
	{"GET",    "/v1/clock",       get_clock,      {NULL}, false, NULL},
	{"POST",   "/v1/clock",       post_clock,     {NULL}, false, NULL},
	{"POST",   "/v1/partitions/*/append", post_append, {NULL}, false, NULL},
	{"POST",   "/v1/partitions/*/compact", fb_post_compact, {NULL}, true, NULL},
	{"GET",    "/v1/partitions/", get_partition,  {NULL}, false, is_partition},
	{"GET",    "/v1/observer",    get_observer,   {NULL}, false, NULL},
	{"PUT",    "/v1/observer",    put_observer,   {NULL}, true, NULL},
	{"GET",    "/v1/validators",  get_validators, {NULL}, false, NULL},
	{"PUT",    "/v1/validators",  put_validators, {NULL}, true, NULL},
	{"GET",    "/v1/validators/refused", get_refused, {"topic", "after", "limit"}, false, NULL},
	{"GET",    "/v1/metadata-log", get_metadata_log, {"from", "limit", "format"}, false, NULL},
	{"GET",    "/metrics",        get_metrics,    {NULL}, false, NULL},
};

enum { NPARAMS = sizeof endpoints[0].params / sizeof endpoints[0].params[0] };

/* Where the rest begins; NULL if it is another path. */
static const char *rest_of(const struct endpoint *e, const char *path)
{
	const char *star = strchr(e->path, '*');
	size_t n = star ? (size_t)(star - e->path) : strlen(e->path), tail = star ? strlen(star + 1) : 0,
	       all = strlen(path);

	if (strncmp(path, e->path, n) != 0 || all < n + tail)
		return NULL;
	if (star)
		return strcmp(path + all - tail, star + 1) == 0 ? path + n : NULL;
	return e->path[n - 1] == '/' || all == n ? path + n : NULL;
}

static bool know_params(const struct endpoint *e, const struct fb_ask *ask, struct fb_answer *answer)
{
	const struct evkeyval *param;
	struct kt_near near;
	bool known;

	for (param = ask->params->tqh_first; param; param = param->next.tqe_next) {
		known = false;
		kt_near_init(&near, param->key);
		for (int i = 0; i < NPARAMS && e->params[i]; i++) {
			known |= strcmp(param->key, e->params[i]) == 0;
			kt_near_offer(&near, e->params[i]);
		}
		if (known)
			continue;
		fb_answer_error(answer, 400, "%s %s has no parameter \"%s\"%s%s%s", e->method, e->path, param->key,
				near.best ? "; did you mean \"" : "", near.best ? near.best : "",
				near.best ? "\"?" : "");
		return false;
	}
	return true;
}

/* The endpoint of method and path. NULL: methods gets those that the path has, "" = there is no such path. */
static const struct endpoint *find(const struct fb_ask *ask, const char **rest, char *methods, size_t size)
{
	bool hides = false;
	size_t n = 0;

	*methods = '\0';
	for (size_t i = 0; i < sizeof endpoints / sizeof endpoints[0]; i++) {
		const struct endpoint *e = &endpoints[i];

		*rest = rest_of(e, ask->path);
		if (!*rest || (hides && !strchr(e->path, '*')))
			continue;
		if (strcmp(ask->method, e->method) == 0)
			return e;
		if (e->known && !e->known(*rest))
			continue;
		hides = strchr(e->path, '*');
		n += (size_t)snprintf(methods + n, size - n, "%s%s", n ? ", " : "", e->method);
	}
	return NULL;
}

bool fb_endpoint_is_slow(const struct fb_ask *ask)
{
	char methods[sizeof((struct fb_answer *)NULL)->allow];
	const struct endpoint *e;
	const char *rest;

	e = find(ask, &rest, methods, sizeof methods);
	return e && e->slow;
}

/* Paths are near that differ in their last part only. */
static void answer_no_path(const struct fb_ask *ask, struct fb_answer *answer)
{
	const char *slash = strrchr(ask->path, '/');
	size_t parent = slash ? (size_t)(slash + 1 - ask->path) : 0;
	struct kt_near near;

	kt_near_init(&near, ask->path + parent);
	for (size_t i = 0; i < sizeof endpoints / sizeof endpoints[0]; i++) {
		const char *path = endpoints[i].path, *star = strchr(path, '*'), *name = strrchr(path, '/') + 1;
		size_t n = (size_t)((star ? star : name) - path);

		if (*name && (star ? parent > n : parent == n) && strncmp(ask->path, path, n) == 0)
			kt_near_offer(&near, name);
	}
	if (near.best)
		fb_answer_error(answer, 404, "there is no path %s; did you mean %.*s%s?", ask->path, (int)parent,
				ask->path, near.best);
	else
		fb_answer_error(answer, 404, "there is no path %s", ask->path);
}

void fb_endpoint(const struct fb_ask *ask, struct fb_answer *answer)
{
	const char *rest;
	const struct endpoint *e = find(ask, &rest, answer->allow, sizeof answer->allow);

	if (e) {
		answer->allow[0] = '\0';
		if (know_params(e, ask, answer))
			e->run(ask, rest, answer);
	} else if (answer->allow[0]) {
		fb_answer_error(answer, 405, "%s has no %s; it has %s", ask->path, ask->method, answer->allow);
	} else {
		answer_no_path(ask, answer);
	}
}
