#include "fakebroker/api/alter.h"

enum { INVALID_CONFIG = 40, INVALID_REQUEST = 42 };

static const struct fb_change *observer_change(const struct fb_alter_result *result)
{
	for (size_t i = 0; !result->errorCode && i < result->nchanges; i++)
		if (result->changes[i].resourceType == FB_BROKER && kw_str_is(result->changes[i].name, "observer.class.name"))
			return &result->changes[i];
	return NULL;
}

/* A value can be legal by itself and still not work: a class that does not load. */
static int judge_classes(struct fb_request *req, const struct fb_alter_result *result, struct kt_err *err)
{
	const struct fb_change *change = observer_change(result);
	int32_t node;

	if (!change || change->value.n < 0)
		return 0;
	return fb_cluster_observe_check(req->cluster, kw_strndup(&req->arena, change->value.s, (size_t)change->value.n), &node,
					err);
}

static void apply(struct fb_request *req, struct fb_alter_result *result, bool validateOnly)
{
	struct fb_cluster *cluster = req->cluster;
	struct kt_err err = {0};
	int code;

	if (result->errorCode)
		return;
	code = judge_classes(req, result, &err);
	if (!code)
		code = validateOnly ? fb_cluster_configure_check(cluster, result->changes, result->nchanges, &err)
				    : fb_cluster_configure(cluster, result->changes, result->nchanges, &err);
	if (code) {
		result->errorCode = INVALID_CONFIG;
		result->errorMessage = kw_sprintf(&req->arena, "%s", err.text);
	}
}

/* The same answer for every resource. */
static int answer_all(struct fb_request *req, const struct fb_alter_request *alter, int16_t error, const char *message,
		      struct fb_alter_answer *answer)
{
	answer->results = kw_alloc(&req->arena, (size_t)alter->nresources * sizeof *answer->results);
	if (!answer->results)
		return KT_ENOMEM;
	answer->nresults = (size_t)alter->nresources;
	for (int32_t i = 0; i < alter->nresources; i++)
		answer->results[i] = (struct fb_alter_result){.resourceType = alter->resources[i].resourceType,
							      .resourceName = alter->resources[i].resourceName,
							      .errorCode = error, .errorMessage = message};
	return 0;
}

int fb_alter(struct fb_request *req, const struct fb_alter_request *alter, bool validateOnly,
	     struct fb_alter_answer *answer)
{
	struct fb_config_facts facts;
	bool observers = false;
	int code;

	if (req->forced)
		return answer_all(req, alter, req->forced, NULL, answer);
	pthread_rwlock_wrlock(&req->cluster->lock);
	facts = fb_cluster_facts(req->cluster, req->node);
	code = fb_alter_check(req->cluster->configs, &facts, alter, &req->arena, answer);
	for (size_t i = 0; !code && i < answer->nresults; i++) {
		apply(req, &answer->results[i], validateOnly);
		observers |= !validateOnly && observer_change(&answer->results[i]);
	}
	pthread_rwlock_unlock(&req->cluster->lock);
	if (!code && answer->mute)   /* Kafka's controller fails to answer here; the incremental call says this */
		return answer_all(req, alter, INVALID_REQUEST, "Each resource must appear at most once.", answer);
	if (observers)
		code = fb_cluster_observe(req->cluster, NULL, NULL);
	return code;
}
