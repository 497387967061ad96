/* Stopping and starting brokers: POST /v1/nodes/ID/stop, and /v1/nodes/ID/start with static values to change. */
#include <stdlib.h>

#include "fakebroker/control/endpoints.h"

enum { CONFLICT = 409 };

static void answer_node(struct fb_cluster *cluster, const struct fb_node *node, bool held, struct fb_answer *answer)
{
	answer->json = fb_node_json(cluster, node);
	if (held)
		json_object_set_new(answer->json, "held", json_true());
}

/* X(of fb_node_start() and fb_node_stop(), what a program reads): input that is right, but cannot be followed now */
#define CONFLICTS(X)                                                            \
	X(KT_EPEER, "refused")     /* the controller refuses the registration */ \
	X(KT_EUSAGE, "state")      /* it runs, or is stopped, already */        \
	X(KT_ETIMEOUT, "held")     /* a request holds up a thread */            \
	X(KT_EPLUGIN, "failed")    /* what it is configured with cannot be had */ \
	X(KT_ENET, "failed")                                                    \
	X(KT_ESYS, "failed")

static void refuse(struct fb_answer *answer, const struct kt_err *err)
{
	static const struct {
		int code;
		const char *text;
	} conflicts[] = {
#define X(code, text) {code, text},
		CONFLICTS(X)
#undef X
	};

	for (size_t i = 0; i < sizeof conflicts / sizeof conflicts[0]; i++) {
		if (conflicts[i].code != err->code)
			continue;
		fb_answer_error(answer, CONFLICT, "%s", err->text);
		json_object_set_new(answer->json, "code", json_string(conflicts[i].text));
		return;
	}
	fb_answer_err(answer, err);
}

static void stop(const struct fb_ask *ask, struct fb_node *node, struct fb_answer *answer)
{
	struct kt_err err = {0};
	bool held = false;

	if (ask->body.root)
		fb_answer_error(answer, 400, "%s takes no body", ask->path);
	else if (fb_node_stop(ask->cluster, node, &held, &err) < 0)
		refuse(answer, &err);
	else
		answer_node(ask->cluster, node, held, answer);
}

/* {"config": {NAME: text, or null for none of its own}}; strings belong to the body. *changes is for free(). */
static int read_config(const struct fb_ask *ask, struct fb_static_change **changes, size_t *n, struct kt_err *err)
{
	struct kt_obj obj, config;
	const char *name;

	*changes = NULL;
	*n = 0;
	if (!ask->body.root)
		return 0;
	kt_obj_root(&obj, &ask->body, err);
	if (kt_obj_object(&obj, "config", &config)) {
		*changes = calloc(json_object_size(config.json) + 1, sizeof **changes);
		if (!*changes)
			return kt_fail(err, KT_ENOMEM, "out of memory");
		while (kt_obj_each(&config, &name)) {
			struct fb_static_change *change = &(*changes)[(*n)++];
			const char *value = NULL;

			if (!*name)
				kt_obj_fail(&config, name, KT_ERANGE, "a configuration has a name");
			change->name = kw_str(name);
			if (!json_is_null(json_object_get(config.json, name)))
				kt_obj_str(&config, name, &value);
			change->value = kw_str(value);
		}
	}
	return kt_obj_done(&obj);
}

static void start(const struct fb_ask *ask, struct fb_node *node, struct fb_answer *answer)
{
	struct fb_static_change *changes;
	struct kt_err err = {0};
	size_t n;

	if (read_config(ask, &changes, &n, &err) == 0)
		fb_node_start(ask->cluster, node, changes, n, &err);
	if (err.code)
		refuse(answer, &err);
	else
		answer_node(ask->cluster, node, false, answer);
	free(changes);
}

/* Only a fault that it imitates ends the controller. */
static void post_controller(const struct fb_ask *ask, const struct fb_node *node, bool starts, struct fb_answer *answer)
{
	struct kt_err err = {0};

	if (ask->body.root)
		fb_answer_error(answer, 400, "%s takes no body", ask->path);
	else if (!starts)
		kt_fail(&err, KT_EUSAGE, "node %d is the controller, which %s", node->id,
			fb_controller_away(ask->cluster) == INT64_MAX ? "has ended" : "cannot be stopped");
	else if (fb_controller_start(ask->cluster, &err) == 0)
		answer_node(ask->cluster, node, false, answer);
	if (err.code)
		refuse(answer, &err);
}

bool fb_is_node_path(const char *rest)
{
	const char *slash = strchr(rest, '/');

	return slash && (strcmp(slash, "/stop") == 0 || strcmp(slash, "/start") == 0);
}

void fb_post_node(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	const char *slash = strchr(rest, '/');
	struct fb_node *node = NULL;
	char digits[12] = "";
	int64_t id;

	if (slash && slash - rest < (ptrdiff_t)sizeof digits)
		snprintf(digits, sizeof digits, "%.*s", (int)(slash - rest), rest);
	if (fb_parse_digits(digits, 0, INT32_MAX, &id, NULL) == 0)
		node = fb_cluster_node(ask->cluster, (int32_t)id);
	if (!fb_is_node_path(rest)) {
		fb_answer_error(answer, 404,
				"there is no path %s; /v1/nodes/ID/stop or /v1/nodes/ID/start is expected", ask->path);
	} else if (!node) {
		fb_answer_error(answer, 404, "there is no node \"%.*s\"", (int)(slash - rest), rest);
	} else if (node->controller) {
		post_controller(ask, node, strcmp(slash, "/start") == 0, answer);
	} else if (strcmp(slash, "/stop") == 0) {
		stop(ask, node, answer);
	} else {
		start(ask, node, answer);
	}
}
