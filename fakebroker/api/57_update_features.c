/* UpdateFeatures (57): all or nothing; after Kafka's own checks every configuration must be legal at the new
 * metadata.version (KIP-1294). */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/cluster/metadata_records.h"
#include "fakebroker/mutants.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

static struct fb_feature_update *updates_of(struct fb_request *req)
{
	const struct kw_UpdateFeaturesRequest *body = req->body;
	struct fb_feature_update *updates = kw_alloc(&req->arena, (size_t)body->featureUpdates.n * sizeof *updates);

	for (int32_t i = 0; updates && i < body->featureUpdates.n; i++) {
		const struct kw_UpdateFeaturesRequest_FeatureUpdateKey *u = &body->featureUpdates.v[i];

		updates[i] = (struct fb_feature_update){u->feature, u->maxVersionLevel, u->upgradeType};
		if (req->version == 0)   /* Kafka's controllers do not look at allowDowngrade */
			updates[i].upgradeType = FB_UPGRADE;
	}
	return updates;
}

/* Until version 1 a success is told once more for each feature. */
static bool results(struct fb_request *req, const struct fb_upgrade_answer *answer,
		    struct kw_UpdateFeaturesResponse *response)
{
	if (req->version > 1 || answer->nresults == 0)
		return true;
	if (!FB_RESPONSE_ARRAY(req, response->results, kw_UpdateFeaturesResponse_UpdatableFeatureResult_struct,
			       (int32_t)answer->nresults))
		return false;
	for (size_t i = 0; i < answer->nresults; i++) {
		response->results.v[i].feature = answer->results[i].feature;
		response->results.v[i].errorCode = answer->results[i].errorCode;
		response->results.v[i].errorMessage = kw_str(answer->results[i].errorMessage);
	}
	return true;
}

/* Kafka writes a level also where it stays the same; that of kraft.version is no metadata record. */
static void write_levels(struct fb_cluster *cluster, const struct fb_upgrade_answer *answer)
{
	for (size_t i = 0; i < answer->nresults; i++) {
		int feature = fb_feature_find(answer->results[i].feature);

		if (feature >= 0 && feature != FB_KRAFT_VERSION && !answer->results[i].errorCode)
			fb_write_feature(cluster, (enum fb_feature)feature, answer->levels.v[feature]);
	}
	fb_wrote(cluster);
}

static bool rises_to(int16_t from, int16_t to, int16_t level)
{
	return from < level && to >= level;
}

/* Brokers register again when the level comes to know more of them: static configurations, directories. */
static int apply(struct fb_cluster *cluster, const struct fb_cluster_view *view, const struct fb_upgrade_answer *answer,
		 struct kt_err *err)
{
	struct fb_levels from = cluster->levels;
	int16_t was = from.v[FB_METADATA_VERSION], is = answer->levels.v[FB_METADATA_VERSION];
	bool more = (fb_level_keeps_statics(view, is) && !fb_level_keeps_statics(view, was)) ||
		    rises_to(was, is, FB_LEVEL_DIRECTORIES);
	int code = fb_cluster_configure(cluster, answer->changes, answer->nchanges, err);

	if (code)
		return code;
	cluster->levels = answer->levels;
	if (from.v[FB_KRAFT_VERSION] != cluster->levels.v[FB_KRAFT_VERSION])
		fb_write_voters(cluster);
	write_levels(cluster, answer);
	if (memcmp(&from, &cluster->levels, sizeof from) != 0)
		cluster->features_epoch = cluster->metadata.end - 1;
	code = more ? fb_cluster_join(cluster, err) : 0;
	fb_write_level_follows(cluster, was);
	return code;
}

enum fb_outcome fb_update_features(struct fb_request *req)
{
	const struct kw_UpdateFeaturesRequest *body = req->body;
	struct kw_UpdateFeaturesResponse *response = req->response;
	struct fb_feature_update *updates = updates_of(req);
	struct fb_upgrade_answer answer = {.errorCode = req->forced, .errorMessage = req->why};
	struct fb_cluster_view *view;
	struct kt_err err = {0};

	if (!updates)
		return FB_CLOSE;
	pthread_rwlock_wrlock(&req->cluster->lock);
	view = fb_cluster_view(req->cluster, &req->arena);
	if (!req->forced &&
	    (!view || fb_upgrade_check(view, updates, (size_t)body->featureUpdates.n, &req->arena, &answer) < 0))
		answer.errorCode = -1;
	if (fb_mutant(FB_M_EMPTY_UPDATE_REFUSED) && body->featureUpdates.n == 0)
		answer.errorCode = KW_ERR_INVALID_REQUEST;
	if (fb_mutant(FB_M_UPGRADE_VALIDATE_UNCHECKED) && body->validateOnly)
		answer = (struct fb_upgrade_answer){.errorCode = 0};
	if (!answer.errorCode && (!body->validateOnly || fb_mutant(FB_M_UPGRADE_VALIDATE_APPLIES)) &&
	    apply(req->cluster, view, &answer, &err) < 0)
		answer.errorCode = -1;
	pthread_rwlock_unlock(&req->cluster->lock);
	response->errorCode = answer.errorCode;
	response->errorMessage = kw_str(answer.errorMessage || !req->cluster->release->oneByOne
					? answer.errorMessage : "");
	if (answer.errorCode)
		fb_log_line(KASSAY_INFO, "UpdateFeatures refused (%s): %s", kw_error_name(answer.errorCode),
			    answer.errorMessage ? answer.errorMessage : "");
	return results(req, &answer, response) ? FB_REPLY : FB_CLOSE;
}
