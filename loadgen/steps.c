#include "loadgen/steps.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/text/number.h"
#include "loadgen/clock.h"
#include "loadgen/dial.h"
#include "loadgen/step_node.h"

enum { API_INCREMENTAL_ALTER_CONFIGS = 44, API_UPDATE_FEATURES = 57 };
enum { OP_SET = 0, OP_DELETE = 1 };

#define STEP_MS 30000

struct lg_steps {
	const struct lg_plan *plan;
	int64_t start;
	FILE *out;
	pthread_t thread;
	bool running;
	struct lg_step_result *results;
};

/* ---- words ---- */

/* From buf + n on; returns where it ends. */
static size_t put_changes(const struct lg_step *step, char *buf, size_t n, size_t size)
{
	if (n < size)
		buf[n] = '\0';
	for (int i = 0; i < step->changes.n && n < size; i++) {
		const struct lg_property *change = &step->changes.v[i];

		n += (size_t)snprintf(buf + n, size - n, "%s%s %s%s%s", i > 0 ? ", " : "",
				      change->value ? "set" : "delete", change->name, change->value ? "=" : "",
				      change->value ? change->value : "");
	}
	return n;
}

const char *lg_step_text(const struct lg_step *step, char *buf, size_t size)
{
	size_t n;

	if (step->action == LG_STEP_FEATURE) {
		snprintf(buf, size, "%s%s to %d%s", step->type == LG_UPGRADE ? "upgrade " :
			 step->type == LG_SAFE_DOWNGRADE ? "downgrade " : "unsafely downgrade ", step->feature,
			 step->level, step->validate_only ? " (validate only)" : "");
		return buf;
	}
	if (step->action == LG_STEP_STOP || step->action == LG_STEP_START) {
		n = (size_t)snprintf(buf, size, "%s broker %d%s", step->action == LG_STEP_STOP ? "stop" : "start",
				     step->node, step->changes.n ? " with " : "");
		put_changes(step, buf, n, size);
		return buf;
	}
	n = put_changes(step, buf, 0, size);
	if (n < size)
		snprintf(buf + n, size - n, " on %s %s%s",
			 step->resource_type == LG_RESOURCE_TOPIC ? "topic" : "broker",
			 step->resource[0] ? step->resource : "(cluster default)",
			 step->validate_only ? " (validate only)" : "");
	return buf;
}

void lg_step_judge(const struct lg_step *step, struct lg_step_result *result)
{
	result->ok = result->error == step->error;
	if (!result->ok) {
		snprintf(result->why, sizeof result->why, "expected %s (%d)", kw_error_name(step->error), step->error);
		return;
	}
	for (int i = 0; i < step->nmessages && result->ok; i++) {
		result->ok = strstr(result->message, step->messages[i]) != NULL;
		if (!result->ok)
			snprintf(result->why, sizeof result->why, "the message lacks \"%s\"", step->messages[i]);
	}
}

static void tell(const struct lg_steps *steps, int i)
{
	const struct lg_step *step = &steps->plan->steps[i];
	const struct lg_step_result *result = &steps->results[i];
	char text[512];

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");      /* where the progress line stands */
	fprintf(steps->out, "step %d at %.2f s  %s: ", i + 1, result->at,
		step->name ? step->name : lg_step_text(step, text, sizeof text));
	if (!result->done) {
		fprintf(steps->out, "no answer: %s\n", result->why);
	} else {
		fprintf(steps->out, "%s (%d) in %.1f ms, %s", kw_error_name(result->error), result->error,
			result->took * 1e3, result->ok ? "as expected" : "NOT as expected: ");
		fprintf(steps->out, "%s%s%s%s\n", result->why, result->message[0] ? "\n    \"" : "", result->message,
			result->message[0] ? "\"" : "");
	}
	fflush(steps->out);
}

/* ---- requests ---- */

static void take_answer(struct lg_step_result *result, int16_t error, struct kw_str message)
{
	result->done = true;
	result->error = error;
	if (message.n > 0)
		snprintf(result->message, sizeof result->message, "%.*s", message.n, message.s);
	kt_clean(result->message);
}

static int no_memory(struct kt_err *err)
{
	return kt_fail(err, KT_ENOMEM, "no memory");
}

static int update_features(const struct lg_step *step, struct kc_conn *conn, int64_t deadline, struct kw_arena *arena,
			   struct lg_step_result *result, struct kt_err *err)
{
	struct kw_UpdateFeaturesRequest *request = kw_new(kw_request(API_UPDATE_FEATURES), arena);
	struct kw_UpdateFeaturesRequest_FeatureUpdateKey *update;
	struct kw_UpdateFeaturesResponse *response;
	int version = kc_version(conn, API_UPDATE_FEATURES, -1), rc;
	void *answer;

	update = kw_new_array(&kw_UpdateFeaturesRequest_FeatureUpdateKey_struct, 1, arena);
	if (!request || !update)
		return no_memory(err);
	if (version < 0)
		return kt_fail(err, KT_EVERSION, "the broker does not offer UpdateFeatures");
	update->feature = kw_str(step->feature);
	update->maxVersionLevel = (int16_t)step->level;
	if (version == 0)
		update->allowDowngrade = step->type != LG_UPGRADE;
	else
		update->upgradeType = (int8_t)step->type;
	request->featureUpdates.v = update;
	request->featureUpdates.n = 1;
	request->timeoutMs = STEP_MS;
	request->validateOnly = step->validate_only;
	rc = kc_call(conn, API_UPDATE_FEATURES, version, request, deadline, arena, &answer, err);
	if (rc)
		return rc;
	response = answer;
	take_answer(result, response->errorCode, response->errorMessage);
	/* versions 0 and 1 tell per feature */
	for (int32_t i = 0; i < response->results.n && result->error == 0; i++)
		take_answer(result, response->results.v[i].errorCode, response->results.v[i].errorMessage);
	return 0;
}

static struct kw_IncrementalAlterConfigsRequest *config_request(const struct lg_step *step, struct kw_arena *arena)
{
	struct kw_IncrementalAlterConfigsRequest *request = kw_new(kw_request(API_INCREMENTAL_ALTER_CONFIGS), arena);
	struct kw_IncrementalAlterConfigsRequest_AlterConfigsResource *resource;
	struct kw_IncrementalAlterConfigsRequest_AlterableConfig *configs;

	resource = kw_new_array(&kw_IncrementalAlterConfigsRequest_AlterConfigsResource_struct, 1, arena);
	configs = kw_new_array(&kw_IncrementalAlterConfigsRequest_AlterableConfig_struct, step->changes.n, arena);
	if (!request || !resource || !configs)
		return NULL;
	for (int i = 0; i < step->changes.n; i++) {
		configs[i].name = kw_str(step->changes.v[i].name);
		configs[i].configOperation = step->changes.v[i].value ? OP_SET : OP_DELETE;
		configs[i].value = kw_str(step->changes.v[i].value);
	}
	resource->resourceType = (int8_t)step->resource_type;
	resource->resourceName = kw_str(step->resource);
	resource->configs.v = configs;
	resource->configs.n = step->changes.n;
	request->resources.v = resource;
	request->resources.n = 1;
	request->validateOnly = step->validate_only;
	return request;
}

static int alter_configs(const struct lg_step *step, struct kc_conn *conn, int64_t deadline, struct kw_arena *arena,
			 struct lg_step_result *result, struct kt_err *err)
{
	struct kw_IncrementalAlterConfigsRequest *request = config_request(step, arena);
	struct kw_IncrementalAlterConfigsResponse *response;
	int version = kc_version(conn, API_INCREMENTAL_ALTER_CONFIGS, -1), rc;
	void *answer;

	if (!request)
		return no_memory(err);
	if (version < 0)
		return kt_fail(err, KT_EVERSION, "the broker does not offer IncrementalAlterConfigs");
	rc = kc_call(conn, API_INCREMENTAL_ALTER_CONFIGS, version, request, deadline, arena, &answer, err);
	if (rc)
		return rc;
	response = answer;
	if (response->responses.n != 1)
		return kt_fail(err, KT_ECORRUPT, "the answer is about %d resources in place of one",
			       response->responses.n);
	take_answer(result, response->responses.v[0].errorCode, response->responses.v[0].errorMessage);
	return 0;
}

/* Kafka wants the configuration of one broker to be sent to that broker (ConfigAdminManager). */
static int connect_for(const struct lg_plan *plan, const struct lg_step *step, int64_t deadline,
		       struct kc_conn **conn, struct kt_err *err)
{
	int64_t node;

	if (step->action == LG_STEP_CONFIG && step->resource_type == LG_RESOURCE_BROKER &&
	    kt_parse_int(step->resource, 0, INT32_MAX, &node, NULL) == 0)
		return lg_dial_node(plan->bootstrap, (int32_t)node, &plan->login, deadline, conn, err);
	return lg_dial(plan->bootstrap, &plan->login, deadline, conn, err);
}

/* The control API of the fakebroker that any of its brokers, which need not be the one in question, names. */
static int change_node(const struct lg_plan *plan, const struct lg_step *step, struct kc_conn *conn, int64_t deadline,
		       struct kw_arena *arena, struct lg_step_result *result, struct kt_err *err)
{
	struct kw_MetadataResponse *metadata;
	struct kc_conn *broker = NULL;
	const char *url;

	if (lg_metadata(conn, NULL, deadline, arena, &metadata, err))
		return err->code;
	if (metadata->brokers.n < 1)
		return kt_fail(err, KT_ENET, "Metadata lists no broker");
	if (lg_dial_node(plan->bootstrap, metadata->brokers.v[0].nodeId, &plan->login, deadline, &broker, err) == 0 &&
	    lg_control_url(broker, metadata->brokers.v[0].nodeId, deadline, arena, &url, err) == 0)
		lg_step_node(step, url, STEP_MS, result, err);
	kc_free(broker);
	return err->code;
}

static void execute(const struct lg_steps *steps, const struct lg_step *step, struct lg_step_result *result)
{
	int64_t deadline = kc_now_ms() + STEP_MS, begin;
	struct kc_conn *conn = NULL;
	struct kt_err err = {0};
	struct kw_arena arena;

	kw_arena_init(&arena, 16 << 20);
	connect_for(steps->plan, step, deadline, &conn, &err);
	begin = lg_now();
	result->at = (double)(begin - steps->start) / 1e9;
	if (conn && step->action == LG_STEP_FEATURE)
		update_features(step, conn, deadline, &arena, result, &err);
	else if (conn && step->action != LG_STEP_CONFIG)
		change_node(steps->plan, step, conn, deadline, &arena, result, &err);
	else if (conn)
		alter_configs(step, conn, deadline, &arena, result, &err);
	result->took = (double)(lg_now() - begin) / 1e9;
	if (err.code)
		kt_err_line(&err, result->why, sizeof result->why);
	else
		lg_step_judge(step, result);
	kc_free(conn);
	kw_arena_fini(&arena);
}

/* ---- the thread ---- */

static void *follow(void *arg)
{
	struct lg_steps *steps = arg;

	for (int i = 0; i < steps->plan->nsteps; i++) {
		lg_sleep_until(steps->start + (int64_t)(steps->plan->steps[i].at * 1e9));
		if (lg_stopped()) {
			snprintf(steps->results[i].why, sizeof steps->results[i].why, "the run ended before");
			continue;
		}
		execute(steps, &steps->plan->steps[i], &steps->results[i]);
		if (steps->out)
			tell(steps, i);
	}
	return NULL;
}

int lg_steps_start(const struct lg_plan *plan, int64_t start, FILE *out, struct lg_steps **steps, struct kt_err *err)
{
	struct lg_steps *made = calloc(1, sizeof *made);

	*steps = made;
	if (made)
		made->results = calloc((size_t)plan->nsteps + 1, sizeof *made->results);
	if (!made || !made->results)
		return no_memory(err);
	made->plan = plan;
	made->start = start;
	made->out = out;
	if (plan->nsteps > 0 && pthread_create(&made->thread, NULL, follow, made))
		return kt_fail(err, KT_ESYS, "cannot start a thread");
	made->running = plan->nsteps > 0;
	return 0;
}

void lg_steps_join(struct lg_steps *steps)
{
	if (steps->running)
		pthread_join(steps->thread, NULL);
	steps->running = false;
}

void lg_steps_free(struct lg_steps *steps)
{
	if (!steps)
		return;
	lg_steps_join(steps);
	free(steps->results);
	free(steps);
}

const struct lg_step_result *lg_steps_result(const struct lg_steps *steps, int i)
{
	return &steps->results[i];
}
