/* Steps that stop and start a broker of a fakebroker, by its control API. Where that is, the brokers' configuration
 * says. */
#include "loadgen/step_node.h"

#include <stdlib.h>
#include <string.h>

#include "kw_messages.h"
#include "lib/client/http.h"
#include "lib/wire/errors.h"

enum { API_DESCRIBE_CONFIGS = 32, HTTP_OK = 200, HTTP_CONFLICT = 409 };

#define CONTROL_URL "kit.control.url"

static struct kw_DescribeConfigsRequest *question(int32_t node, struct kw_arena *arena)
{
	struct kw_DescribeConfigsRequest *request = kw_new(kw_request(API_DESCRIBE_CONFIGS), arena);
	struct kw_DescribeConfigsRequest_DescribeConfigsResource *resource;
	struct kw_str *key = kw_alloc(arena, sizeof *key);
	const char *id = kw_sprintf(arena, "%d", node);

	resource = kw_new_array(&kw_DescribeConfigsRequest_DescribeConfigsResource_struct, 1, arena);
	if (!request || !key || !id || !resource)
		return NULL;
	*key = kw_str(CONTROL_URL);
	resource->resourceType = LG_RESOURCE_BROKER;
	resource->resourceName = kw_str(id);
	resource->configurationKeys.v = key;
	resource->configurationKeys.n = 1;
	request->resources.v = resource;
	request->resources.n = 1;
	return request;
}

static int no_api(struct kt_err *err)
{
	return kt_fail(err, KT_EVERSION, "the broker has no control API: DescribeConfigs does not tell " CONTROL_URL);
}

int lg_control_url(struct kc_conn *conn, int32_t node, int64_t deadline, struct kw_arena *arena, const char **url,
		   struct kt_err *err)
{
	struct kw_DescribeConfigsRequest *request = question(node, arena);
	int version = kc_version(conn, API_DESCRIBE_CONFIGS, -1);
	const struct kw_DescribeConfigsResponse *response;
	void *answer;

	if (!request)
		return kt_fail(err, KT_ENOMEM, "no memory");
	if (version < 0)
		return no_api(err);
	if (kc_call(conn, API_DESCRIBE_CONFIGS, version, request, deadline, arena, &answer, err))
		return err->code;
	response = answer;
	if (response->results.n != 1 || response->results.v[0].configs.n != 1 ||
	    response->results.v[0].configs.v[0].value.n <= 0)
		return no_api(err);
	*url = kw_strndup(arena, response->results.v[0].configs.v[0].value.s,
			  (size_t)response->results.v[0].configs.v[0].value.n);
	return *url ? 0 : kt_fail(err, KT_ENOMEM, "no memory");
}

/* {"config": {...}}; NULL without any. For free(). */
static char *body_of(const struct lg_step *step)
{
	json_t *config = json_object(), *body;
	char *text;

	if (step->changes.n == 0) {
		json_decref(config);
		return NULL;
	}
	for (int i = 0; i < step->changes.n; i++)
		json_object_set_new(config, step->changes.v[i].name,
				    step->changes.v[i].value ? json_string(step->changes.v[i].value) : json_null());
	body = json_pack("{s:o}", "config", config);
	text = json_dumps(body, 0);
	json_decref(body);
	return text;
}

/* A broker that the controller refuses is told like Kafka tells it, with the reason that Kafka logs. */
int lg_step_node_answer(int status, const char *answer, struct lg_step_result *result, struct kt_err *err)
{
	json_t *json = json_loads(answer, 0, NULL);
	const char *why = json_string_value(json_object_get(json, "error"));
	const char *code = json_string_value(json_object_get(json, "code"));
	bool refused = status == HTTP_CONFLICT && code && strcmp(code, "refused") == 0;

	result->done = status == HTTP_OK || refused;
	result->error = refused ? KW_ERR_INVALID_REGISTRATION : KW_ERR_NONE;
	snprintf(result->message, sizeof result->message, "%s", why ? why : "");
	kt_clean(result->message);
	json_decref(json);
	return result->done ? 0 : kt_fail(err, KT_EPEER, "the control API answers %d: %s", status, result->message);
}

int lg_step_node(const struct lg_step *step, const char *control, int timeout, struct lg_step_result *result,
		 struct kt_err *err)
{
	char url[400], *body = body_of(step), *answer = NULL;
	int status = 0;

	snprintf(url, sizeof url, "%s/v1/nodes/%d/%s", control, step->node,
		 step->action == LG_STEP_STOP ? "stop" : "start");
	if (kc_http("POST", url, body, timeout, &status, &answer, err) == 0)
		lg_step_node_answer(status, answer, result, err);
	free(body);
	free(answer);
	return err->code;
}
