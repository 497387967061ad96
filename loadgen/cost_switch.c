/* Switching a fakebroker's observer, by its control API, or a topic's validators, by IncrementalAlterConfigs. */
#include <stdlib.h>

#include "kw_messages.h"
#include "lib/client/http.h"
#include "lib/wire/errors.h"
#include "loadgen/cost.h"

enum { API_INCREMENTAL_ALTER_CONFIGS = 44, RESOURCE_TOPIC = 2, OP_SET = 0, HTTP_OK = 200, SWITCH_MS = 30000 };

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

int lg_cost_pid(const char *control, pid_t *pid, struct kt_err *err)
{
	json_t *json;
	int rc = ask("GET", control, "/v1/status", NULL, &json, err);

	*pid = (pid_t)json_integer_value(json_object_get(json, "pid"));
	json_decref(json);
	return rc;
}

static int switch_observer(const char *control, const struct lg_variant *variant, struct kt_err *err)
{
	json_t *json = json_pack("{s:s, s:s*, s:O*}", "classes", variant->classes, "mode", variant->mode, "options",
				 variant->options);
	char *body = json_dumps(json, 0);

	json_decref(json);
	if (!body)
		return kt_fail(err, KT_ENOMEM, "no memory");
	ask("PUT", control, "/v1/observer", body, &json, err);
	json_decref(json);
	free(body);
	return err->code;
}

static int refused(int code, struct kw_str message, const char *classes, struct kt_err *err)
{
	return kt_fail(err, KT_EPEER, "record.validator.classes=%s: %s (%d)%s%.*s", classes, kw_error_name(code), code,
		       message.n > 0 ? ": " : "", message.n > 0 ? message.n : 0, message.n > 0 ? message.s : "");
}

static int switch_validators(const struct lg_cost_spec *spec, const struct lg_variant *variant, struct kc_conn *conn,
			     struct kt_err *err)
{
	struct kw_IncrementalAlterConfigsRequest_AlterableConfig config = {
		.name = kw_str("record.validator.classes"), .configOperation = OP_SET, .value = kw_str(variant->classes),
	};
	struct kw_IncrementalAlterConfigsRequest_AlterConfigsResource resource = {
		.resourceType = RESOURCE_TOPIC, .resourceName = kw_str(spec->requests.topic), .configs = {&config, 1},
	};
	struct kw_IncrementalAlterConfigsRequest request = {.resources = {&resource, 1}};
	const struct kw_IncrementalAlterConfigsResponse *response;
	struct kw_arena arena;
	void *answer;

	kw_arena_init(&arena, 1 << 20);
	if (kc_call(conn, API_INCREMENTAL_ALTER_CONFIGS, kc_version(conn, API_INCREMENTAL_ALTER_CONFIGS, -1), &request,
		    kc_now_ms() + SWITCH_MS, &arena, &answer, err) == 0) {
		response = answer;
		if (response->responses.n != 1)
			kt_fail(err, KT_ECORRUPT, "IncrementalAlterConfigs answers for %d resources",
				(int)response->responses.n);
		else if (response->responses.v[0].errorCode)
			refused(response->responses.v[0].errorCode, response->responses.v[0].errorMessage, variant->classes, err);
	}
	kw_arena_fini(&arena);
	return err->code;
}

int lg_cost_switch(const struct lg_cost_spec *spec, const struct lg_cost_target *target, const struct lg_variant *variant,
		   struct kc_conn *conn, struct kt_err *err)
{
	switch (target->what) {
	case LG_SWITCH_OBSERVER:
		return switch_observer(target->control, variant, err);
	case LG_SWITCH_VALIDATOR:
		return switch_validators(spec, variant, conn, err);
	case LG_SWITCH_NONE:
		break;
	}
	return 0;
}
