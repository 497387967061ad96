/* ApiVersions (18): what is served, from the table that serves it; features supported and finalized. */
#include "fakebroker/mutants.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

static uint8_t side(const struct fb_request *req)
{
	return req->node->controller ? FB_ON_CONTROLLER : FB_ON_BROKER;
}

static bool keys(struct fb_request *req, struct kw_ApiVersionsResponse *response)
{
	const struct fb_api *api;
	int32_t n = 0;

	for (size_t i = 0; (api = fb_api_at(i)); i++)
		n += (api->listeners & side(req)) != 0;
	if (!FB_RESPONSE_ARRAY(req, response->apiKeys, kw_ApiVersionsResponse_ApiVersion_struct, n))
		return false;
	n = 0;
	for (size_t i = 0; (api = fb_api_at(i)); i++) {
		struct kw_ApiVersionsResponse_ApiVersion *out = &response->apiKeys.v[n];
		struct fb_api_versions versions = fb_api_versions_of(req->cluster, api);

		if (!(api->listeners & side(req)))
			continue;
		n++;
		out->apiKey = api->key;
		out->minVersion = versions.advertised_min;
		out->maxVersion = versions.max;
	}
	return true;
}

/* Version 3 cannot say a minimum of 0, so such features are left out of it (KAFKA-17011). */
static bool features(struct fb_request *req, struct kw_ApiVersionsResponse *response)
{
	const struct fb_cluster *cluster = req->cluster;
	int32_t supported = 0, finalized = 0;

	if (!FB_RESPONSE_ARRAY(req, response->supportedFeatures, kw_ApiVersionsResponse_SupportedFeatureKey_struct,
			       FB_NFEATURES) ||
	    !FB_RESPONSE_ARRAY(req, response->finalizedFeatures, kw_ApiVersionsResponse_FinalizedFeatureKey_struct,
			       FB_NFEATURES))
		return false;
	for (int i = 0; i < FB_NFEATURES; i++) {
		struct fb_range range = cluster->release->supported[i];
		struct kw_str name = kw_str(fb_feature_name((enum fb_feature)i));

		if (range.max > 0 && (range.min > 0 || req->version >= 4)) {
			struct kw_ApiVersionsResponse_SupportedFeatureKey *s =
				&response->supportedFeatures.v[supported++];
			s->name = name;
			s->minVersion = range.min;
			s->maxVersion = range.max;
		}
		if (cluster->levels.v[i] > 0) {
			struct kw_ApiVersionsResponse_FinalizedFeatureKey *f =
				&response->finalizedFeatures.v[finalized++];
			f->name = name;
			f->minVersionLevel = f->maxVersionLevel = cluster->levels.v[i];
		}
	}
	response->supportedFeatures.n = fb_mutant(FB_M_SUPPORTED_UNTOLD) ? 0 : supported;
	response->finalizedFeatures.n = finalized;
	response->finalizedFeaturesEpoch = cluster->features_epoch;
	return true;
}

static bool alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* KIP-511: [a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])? */
static bool good_software(struct kw_str s)
{
	if (fb_mutant(FB_M_SOFTWARE_UNCHECKED) || (fb_mutant(FB_M_SOFTWARE_EMPTY_TAKEN) && s.n == 0))
		return true;
	if (s.n <= 0 || !alnum(s.s[0]) || !alnum(s.s[s.n - 1]))
		return false;
	for (int32_t i = 0; i < s.n; i++)
		if (!alnum(s.s[i]) && s.s[i] != '-' && s.s[i] != '.')
			return false;
	return true;
}

static int16_t judge(const struct fb_request *req)
{
	const struct kw_ApiVersionsRequest *body = req->body;

	if (req->forced)
		return req->forced;
	if (req->version >= 3 &&
	    (!good_software(body->clientSoftwareName) || !good_software(body->clientSoftwareVersion)))
		return KW_ERR_INVALID_REQUEST;
	if (body->clusterId.n >= 0 && !kw_str_is(body->clusterId, req->cluster->id))
		return KW_ERR_REBOOTSTRAP_REQUIRED;
	if (body->nodeId >= 0 && body->nodeId != req->node->id)
		return KW_ERR_REBOOTSTRAP_REQUIRED;
	return 0;
}

/* A version that we do not have is answered in version 0, with our own range of ApiVersions alone. */
static enum fb_outcome wrong_version(struct fb_request *req)
{
	struct fb_api_versions versions = fb_api_versions_of(req->cluster, req->api);
	struct kw_ApiVersionsResponse *response = req->response;

	response->errorCode = KW_ERR_UNSUPPORTED_VERSION;
	if (!FB_RESPONSE_ARRAY(req, response->apiKeys, kw_ApiVersionsResponse_ApiVersion_struct, 1))
		return FB_CLOSE;
	response->apiKeys.n -= fb_mutant(FB_M_API_VERSIONS_BARE);
	response->apiKeys.v[0].apiKey = req->api->key;
	response->apiKeys.v[0].minVersion = versions.min;
	response->apiKeys.v[0].maxVersion = versions.max;
	return FB_REPLY;
}

enum fb_outcome fb_api_versions(struct fb_request *req)
{
	struct kw_ApiVersionsResponse *response = req->response;
	struct fb_session *session = req->session;
	bool ok;

	if (!req->body)
		return wrong_version(req);
	response->errorCode = judge(req);
	if (response->errorCode)
		return FB_REPLY;
	if (session->state == FB_AUTH_FIRST)
		session->state = FB_AUTH_HANDSHAKE;
	pthread_rwlock_rdlock(&req->cluster->lock);
	ok = keys(req, response) && features(req, response);
	pthread_rwlock_unlock(&req->cluster->lock);
	return ok ? FB_REPLY : FB_CLOSE;
}
