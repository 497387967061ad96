/* Switching a fakebroker's observer, by its control API, or a topic's validators, by IncrementalAlterConfigs; and back
 * to what was in force before. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "kw_messages.h"
#include "lib/client/cluster.h"
#include "lib/client/http.h"
#include "lib/wire/errors.h"
#include "loadgen/cost.h"

enum { API_DESCRIBE_CONFIGS = 32, API_INCREMENTAL_ALTER_CONFIGS = 44 };
enum { RESOURCE_TOPIC = 2, SOURCE_TOPIC = 1, OP_SET = 0, OP_DELETE = 1 };
enum { HTTP_OK = 200, SWITCH_MS = 30000 };

#define VALIDATORS "record.validator.classes"

static int ask(const char *method, const char *control, const char *path, const char *body, json_t **json,
	       struct kt_err *err)
{
	char url[400], *answer = NULL;
	int status = 0;

	*json = NULL;
	snprintf(url, sizeof url, "%s%s", control, path);
	if (kc_http(method, url, body, SWITCH_MS, &status, &answer, err) == 0) {
		const char *why;

		*json = json_loads(answer, 0, NULL);
		why = json_string_value(json_object_get(*json, "error"));
		if (status != HTTP_OK)
			kt_fail(err, KT_EPEER, "the control API answers %d to %s %s: %s", status, method, path,
				why ? why : "no reason given");
	}
	free(answer);
	return err->code;
}

/* ---- the process ---- */

/* A pid means something only where it was given. */
void lg_cost_take_process(json_t *status, struct lg_process *process)
{
	const char *text = json_string_value(json_object_get(status, "process"));
	pid_t pid = (pid_t)json_integer_value(json_object_get(status, "pid"));
	char here[KT_PROCESS_TEXT];

	*process = (struct lg_process){0};
	snprintf(process->text, sizeof process->text, "%s", text ? text : "");
	if (text && kt_process_text(pid, here, NULL) == 0 && strcmp(text, here) == 0)
		process->pid = pid;
}

int lg_cost_process(const char *control, struct lg_process *process, struct kt_err *err)
{
	json_t *json;
	int rc = ask("GET", control, "/v1/status", NULL, &json, err);

	lg_cost_take_process(json, process);
	json_decref(json);
	return rc;
}

/* A name in the kernel, which goes with whoever holds it. */
int lg_cost_claim(const char *control, const struct lg_process *process, int *fd, struct kt_err *err)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	const size_t room = sizeof name.sun_path - 1;
	int n = snprintf(name.sun_path + 1, room, "kassay-cost %s", *process->text ? process->text : control);
	size_t used = (size_t)n < room ? (size_t)n : room - 1;

	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return kt_fail(err, KT_ESYS, "socket: %s", strerror(errno));
	if (bind(*fd, (struct sockaddr *)&name, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + used)) == 0)
		return 0;
	if (errno == EADDRINUSE)
		kt_fail(err, KT_EPEER, "another `loadgen cost` measures the fakebroker at %s", control);
	else
		kt_fail(err, KT_ESYS, "bind: %s", strerror(errno));
	close(*fd);
	*fd = -1;
	return err->code;
}

/* ---- observers ---- */

static const char *text_of(json_t *object, const char *member)
{
	const char *text = json_string_value(json_object_get(object, member));

	return text ? text : "";
}

static json_t *observer_at(json_t *broker, size_t at)
{
	return json_array_get(json_object_get(broker, "observers"), at);
}

/* All of a broker's observers have one mode. */
static const char *mode_of(json_t *broker)
{
	return text_of(observer_at(broker, 0), "mode");
}

/* Over all brokers, of the observer that has this place in their lists. */
static int64_t sum(json_t *brokers, size_t at, const char *member)
{
	json_t *broker;
	int64_t n = 0;
	size_t i;

	json_array_foreach(brokers, i, broker)
		n += json_integer_value(json_object_get(observer_at(broker, at), member));
	return n;
}

/* PUT /v1/observer gives all brokers the same: what differs between them it could not bring back. */
static int check_same(json_t *brokers, struct kt_err *err)
{
	json_t *first = json_array_get(brokers, 0), *broker;
	size_t i;

	if (!first)
		return kt_fail(err, KT_EPEER, "the control API tells no broker's observers");
	json_array_foreach(brokers, i, broker)
		if (strcmp(text_of(broker, "classes"), text_of(first, "classes")) != 0 ||
		    strcmp(mode_of(broker), mode_of(first)) != 0)
			return kt_fail(err, KT_EPEER,
				       "the brokers' observers differ: they could not be put back in the end");
	return 0;
}

/* The answer to GET and PUT /v1/observer. */
static int take_observers(json_t *brokers, struct lg_in_force *state, struct kt_err *err)
{
	json_t *first = json_array_get(brokers, 0);

	if (check_same(brokers, err))
		return err->code;
	state->classes = strdup(text_of(first, "classes"));
	if (!state->classes)
		return kt_fail(err, KT_ENOMEM, "no memory");
	state->queued = strcmp(mode_of(first), "queued") == 0;
	state->seen = INT64_MAX;
	for (size_t at = 0; observer_at(first, at); at++) {
		int64_t seen = sum(brokers, at, "seen");

		state->seen = seen < state->seen ? seen : state->seen;
		state->waiting += sum(brokers, at, "queued");
		state->dropped += sum(brokers, at, "dropped");
	}
	return 0;
}

/* Options are always given, none as {}: else observers of the same class would stay, with the options and the counts
 * that they have. */
static int put_observer(const char *control, const char *classes, const char *mode, json_t *options,
			struct lg_in_force *now, struct kt_err *err)
{
	json_t *json = json_pack("{s:s, s:s*}", "classes", classes, "mode", mode);
	char *body;

	json_object_set_new(json, "options", options ? json_incref(options) : json_object());
	body = json_dumps(json, 0);
	json_decref(json);
	if (!body)
		return kt_fail(err, KT_ENOMEM, "no memory");
	if (ask("PUT", control, "/v1/observer", body, &json, err) == 0)
		take_observers(json, now, err);
	json_decref(json);
	free(body);
	return err->code;
}

static int read_observer(const char *control, struct lg_in_force *state, struct kt_err *err)
{
	json_t *brokers;

	if (ask("GET", control, "/v1/observer", NULL, &brokers, err) == 0)
		take_observers(brokers, state, err);
	json_decref(brokers);
	return err->code;
}

/* ---- validators ---- */

/* classes NULL: the topic's own value is deleted. */
static int alter_validators(const char *topic, const char *classes, struct kc_conn *conn, struct kt_err *err)
{
	struct kw_IncrementalAlterConfigsRequest_AlterableConfig config = {
		.name = kw_str(VALIDATORS), .configOperation = classes ? OP_SET : OP_DELETE,
		.value = classes ? kw_str(classes) : KW_NULL_STR,
	};
	struct kw_IncrementalAlterConfigsRequest_AlterConfigsResource resource = {
		.resourceType = RESOURCE_TOPIC, .resourceName = kw_str(topic), .configs = {&config, 1},
	};
	struct kw_IncrementalAlterConfigsRequest request = {.resources = {&resource, 1}};
	const struct kw_IncrementalAlterConfigsResponse *response;
	struct kw_arena arena;
	char why[400];
	void *answer;

	kw_arena_init(&arena, 1 << 20);
	if (kc_call(conn, API_INCREMENTAL_ALTER_CONFIGS, kc_version(conn, API_INCREMENTAL_ALTER_CONFIGS, -1), &request,
		    kc_now_ms() + SWITCH_MS, &arena, &answer, err) == 0) {
		response = answer;
		if (response->responses.n != 1)
			kt_fail(err, KT_ECORRUPT, "IncrementalAlterConfigs answers for %d resources",
				(int)response->responses.n);
		else if (response->responses.v[0].errorCode)
			kt_fail(err, KT_EPEER, VALIDATORS "=%s: %s", classes ? classes : "",
				kw_error_text(response->responses.v[0].errorCode, response->responses.v[0].errorMessage,
					      why, sizeof why));
	}
	kw_arena_fini(&arena);
	return err->code;
}

static int take_validators(const struct kw_DescribeConfigsResponse *response, struct lg_in_force *state,
			   struct kt_err *err)
{
	const struct kw_DescribeConfigsResponse_DescribeConfigsResult *result = response->results.v;
	char why[400];

	if (response->results.n != 1)
		return kt_fail(err, KT_ECORRUPT, "DescribeConfigs answers for %d resources", (int)response->results.n);
	if (result->errorCode)
		return kt_fail(err, KT_EPEER, "DescribeConfigs: %s",
			       kw_error_text(result->errorCode, result->errorMessage, why, sizeof why));
	for (int32_t i = 0; i < result->configs.n; i++) {
		const struct kw_DescribeConfigsResponse_DescribeConfigsResourceResult *config = &result->configs.v[i];

		if (config->configSource != SOURCE_TOPIC || config->value.n < 0 || state->classes)
			continue;
		state->classes = strndup(config->value.n ? config->value.s : "", (size_t)config->value.n);
		if (!state->classes)
			return kt_fail(err, KT_ENOMEM, "no memory");
	}
	return 0;
}

static int read_validators(const char *topic, struct kc_conn *conn, struct lg_in_force *state, struct kt_err *err)
{
	struct kw_str key = kw_str(VALIDATORS);
	struct kw_DescribeConfigsRequest_DescribeConfigsResource resource = {
		.resourceType = RESOURCE_TOPIC, .resourceName = kw_str(topic), .configurationKeys = {&key, 1},
	};
	struct kw_DescribeConfigsRequest request = {.resources = {&resource, 1}};
	struct kw_arena arena;
	void *answer;

	kw_arena_init(&arena, 1 << 20);
	if (kc_call(conn, API_DESCRIBE_CONFIGS, kc_version(conn, API_DESCRIBE_CONFIGS, -1), &request,
		    kc_now_ms() + SWITCH_MS, &arena, &answer, err) == 0)
		take_validators(answer, state, err);
	state->seen = INT64_MAX;
	kw_arena_fini(&arena);
	return err->code;
}

/* On a connection of its own: that of the blocks may have answers in it that nobody read. */
static int put_back_validators(const struct lg_cost_spec *spec, const struct lg_in_force *before, struct kt_err *err)
{
	struct kc_cluster *cluster;
	struct kc_conn *conn;

	if (kc_cluster_open(spec->bootstrap, "kassay-loadgen", NULL, kc_now_ms() + SWITCH_MS, &cluster, err) == 0 &&
	    kc_cluster_any(cluster, kc_now_ms() + SWITCH_MS, &conn, err) == 0)
		alter_validators(spec->requests.topic, before->classes, conn, err);
	kc_cluster_free(cluster);
	return err->code;
}

/* ---- either ---- */

static int switch_validators(const char *topic, const char *classes, struct kc_conn *conn, struct lg_in_force *now,
			     struct kt_err *err)
{
	if (alter_validators(topic, classes, conn, err))
		return err->code;
	now->seen = INT64_MAX;
	now->classes = strdup(classes);
	return now->classes ? 0 : kt_fail(err, KT_ENOMEM, "no memory");
}

int lg_cost_switch(const struct lg_cost_spec *spec, const struct lg_cost_target *target,
		   const struct lg_variant *variant, struct kc_conn *conn, struct lg_in_force *now, struct kt_err *err)
{
	switch (target->what) {
	case LG_SWITCH_OBSERVER:
		return put_observer(target->control, variant->classes, variant->mode, variant->options, now, err);
	case LG_SWITCH_VALIDATOR:
		return switch_validators(spec->requests.topic, variant->classes, conn, now, err);
	case LG_SWITCH_NONE:
		break;
	}
	return 0;
}

int lg_cost_in_force(const struct lg_cost_spec *spec, const struct lg_cost_target *target, struct kc_conn *conn,
		     struct lg_in_force *state, struct kt_err *err)
{
	switch (target->what) {
	case LG_SWITCH_OBSERVER:
		return read_observer(target->control, state, err);
	case LG_SWITCH_VALIDATOR:
		return read_validators(spec->requests.topic, conn, state, err);
	case LG_SWITCH_NONE:
		break;
	}
	return 0;
}

void lg_cost_put_back(const struct lg_cost_spec *spec, const struct lg_cost_target *target,
		      const struct lg_in_force *before, struct kt_err *err)
{
	struct lg_in_force now = {0};
	struct kt_err why = {0};
	char first[sizeof err->text];

	if (target->what == LG_SWITCH_OBSERVER)
		put_observer(target->control, before->classes, before->queued ? "queued" : "inline", NULL, &now,
			     &why);
	else if (target->what == LG_SWITCH_VALIDATOR)
		put_back_validators(spec, before, &why);
	lg_in_force_fini(&now);
	if (!why.code)
		return;
	snprintf(first, sizeof first, "%s", err->text);
	err->code = KT_EPEER;
	snprintf(err->text, sizeof err->text, "%.200s%swhat was in force before is not put back: %.250s", first,
		 *first ? "; " : "", why.text);
	kt_clean(err->text);
}

void lg_in_force_fini(struct lg_in_force *before)
{
	free(before->classes);
	*before = (struct lg_in_force){0};
}
