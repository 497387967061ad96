#include "fakebroker/api/alter.h"
#include "fakebroker/cluster/metadata_records.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

static void refuse(struct fb_request *req, struct fb_alter_result *result, const struct kt_err *err)
{
	result->errorCode = fb_mutant(FB_M_HOOK_CODE) ? KW_ERR_UNKNOWN_SERVER_ERROR : KW_ERR_INVALID_CONFIG;
	result->errorMessage = kw_sprintf(&req->arena, "%s", err->text);
}

/* A value can be legal by itself and still not work: a validator's class that does not load. */
static void apply(struct fb_request *req, struct fb_alter_result *result, bool validateOnly)
{
	struct fb_cluster *cluster = req->cluster;
	struct kt_err err = {0};
	int code;

	if (result->errorCode && !fb_mutant(FB_M_GOOD_KEYS_APPLIED))
		return;
	validateOnly = (validateOnly && !fb_mutant(FB_M_VALIDATE_ONLY_APPLIES)) || fb_mutant(FB_M_ALTER_NOT_APPLIED);
	code = validateOnly ? fb_cluster_configure_check(cluster, result->changes, result->nchanges, &err)
			    : fb_cluster_configure(cluster, result->changes, result->nchanges, &err);
	if (code)
		refuse(req, result, &err);
}

/* ---- observers: made and closed under no lock, so after the rest, which is undone if they cannot be had ---- */

static struct fb_change *observer_change(const struct fb_alter_result *result)
{
	for (size_t i = 0; !result->errorCode && i < result->nchanges; i++)
		if (result->changes[i].resourceType == FB_BROKER &&
		    kw_str_is(result->changes[i].name, "observer.class.name"))
			return &result->changes[i];
	return NULL;
}

/* The change that would bring back what is set now; name NULL without one. Copies: strings of changes may lie in what
 * they change. */
static struct fb_change opposite(struct fb_request *req, const struct fb_change *change)
{
	struct kw_arena *arena = &req->arena;
	struct kw_str v;

	if (!change)
		return (struct fb_change){0};
	v = fb_configs_dynamic(req->cluster->configs, FB_BROKER, change->resourceName, change->name);
	return (struct fb_change){change->resourceType, kw_str_dup(arena, change->resourceName),
				  kw_str_dup(arena, change->name), kw_str_dup(arena, v)};
}

/* Of each result. NULL without memory. */
static struct fb_change *opposites(struct fb_request *req, const struct fb_alter_answer *answer)
{
	struct fb_change *back;

	req->arena.failed = false;   /* the check has answered what it had no memory for */
	back = kw_alloc(&req->arena, answer->nresults * sizeof *back);
	for (size_t i = 0; back && i < answer->nresults; i++)
		back[i] = opposite(req, observer_change(&answer->results[i]));
	return req->arena.failed ? NULL : back;
}

static void exchange(struct fb_request *req, struct fb_alter_answer *answer, const struct fb_change *back,
		     bool validateOnly)
{
	for (size_t i = 0; i < answer->nresults; i++) {
		struct fb_alter_result *result = &answer->results[i];
		const struct fb_change *change = observer_change(result);
		struct kt_err err = {0};
		int32_t node;

		if (!change || (validateOnly && change->value.n < 0))
			continue;
		if (validateOnly) {
			const char *classes = kw_strndup(&req->arena, change->value.s, (size_t)change->value.n);

			if (classes && fb_cluster_observe_check(req->cluster, classes, &node, &err) < 0)
				refuse(req, result, &err);
			continue;
		}
		if (fb_cluster_observe(req->cluster, NULL, NULL, NULL, true, &err) == 0)
			continue;
		pthread_rwlock_wrlock(&req->cluster->lock);
		fb_configs_apply(req->cluster->configs, &back[i], 1);
		fb_write_configs(req->cluster, &back[i], 1);
		fb_wrote(req->cluster);
		pthread_rwlock_unlock(&req->cluster->lock);
		refuse(req, result, &err);
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

/* What mutants make of the verdicts. */
static void mutate(struct fb_alter_answer *answer, bool validateOnly)
{
	int16_t worst = 0;

	for (size_t i = 0; i < answer->nresults; i++) {
		if (validateOnly && fb_mutant(FB_M_VALIDATE_ONLY_UNCHECKED))
			answer->results[i].errorCode = 0;
		worst = answer->results[i].errorCode ? answer->results[i].errorCode : worst;
	}
	for (size_t i = 0; fb_mutant(FB_M_RESOURCE_SPREADS) && i < answer->nresults; i++)
		answer->results[i].errorCode = worst;
}

/* The controller writes what it changes as one batch, or changes nothing. */
static void judge_batch(struct fb_request *req, struct fb_alter_answer *answer, bool validateOnly)
{
	struct fb_cluster *cluster = req->cluster;
	const char *message;
	int16_t error;

	for (size_t i = 0; i < answer->nresults; i++)
		if (answer->results[i].forwarded)
			fb_write_configs(cluster, answer->results[i].changes, answer->results[i].nchanges);
	error = fb_judge_batch(cluster, validateOnly, &message, &answer->fault);
	fb_metadata_rewind(&cluster->metadata, 0);
	if (error)
		fb_alter_fail_forwarded(answer, error, message);
}

int fb_alter(struct fb_request *req, const struct fb_alter_request *alter, bool validateOnly,
	     struct fb_alter_answer *answer)
{
	struct fb_config_facts facts;
	struct fb_change *back = NULL;
	int code;

	if (req->forced)
		return answer_all(req, alter, req->forced, req->why, answer);
	pthread_rwlock_wrlock(&req->cluster->lock);
	facts = fb_cluster_facts(req->cluster, req->node);
	code = fb_alter_check(req->cluster->configs, &facts, alter, &req->arena, answer);
	mutate(answer, validateOnly);
	if (!code) {
		judge_batch(req, answer, validateOnly);
		back = opposites(req, answer);
		code = back ? 0 : KT_ENOMEM;
	}
	for (size_t i = 0; !code && i < answer->nresults; i++)
		apply(req, &answer->results[i], validateOnly);
	fb_wrote(req->cluster);
	pthread_rwlock_unlock(&req->cluster->lock);
	if (code)
		return code;
	if (answer->fault && fb_faults[answer->fault].fate == FB_RESIGN)
		fb_request_topple(req, answer->fault);
	exchange(req, answer, back, validateOnly);
	return 0;
}
