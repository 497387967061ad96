/* DescribeConfigs (32). */
#include "fakebroker/mutants.h"
#include "fakebroker/request.h"

/* Copies: what config/ returns may move with the next change, and the response is encoded after the lock is
 * released. */
static bool fill(struct fb_request *req, const struct fb_described *d,
		 struct kw_DescribeConfigsResponse_DescribeConfigsResourceResult *out)
{
	const struct kw_DescribeConfigsRequest *body = req->body;

	*out = (struct kw_DescribeConfigsResponse_DescribeConfigsResourceResult){
		.name = kw_str_dup(&req->arena, d->name), .value = kw_str_dup(&req->arena, d->value),
		.readOnly = d->readOnly, .configSource = (int8_t)d->source, .isSensitive = d->isSensitive,
		.configType = d->configType,
		.documentation = body->includeDocumentation ? kw_str(d->text) : KW_NULL_STR,
	};
	if (fb_mutant(FB_M_EMPTY_VALUE_NULL) && d->value.n == 0)
		out->value = KW_NULL_STR;
	if (fb_mutant(FB_M_DEFAULT_VALUE_NULL) && d->source == FB_SRC_DEFAULT)
		out->value = KW_NULL_STR;
	if (!body->includeSynonyms || fb_mutant(FB_M_SYNONYMS_UNTOLD))
		return !req->arena.failed;
	if (!FB_RESPONSE_ARRAY(req, out->synonyms, kw_DescribeConfigsResponse_DescribeConfigsSynonym_struct,
			       (int32_t)d->nsynonyms))
		return false;
	for (size_t i = 0; i < d->nsynonyms; i++)
		out->synonyms.v[i] = (struct kw_DescribeConfigsResponse_DescribeConfigsSynonym){
			.name = kw_str_dup(&req->arena, kw_str(d->synonyms[i].name)),
			.value = kw_str_dup(&req->arena, d->synonyms[i].value),
			.source = (int8_t)d->synonyms[i].source,
		};
	return !req->arena.failed;
}

enum { NO_TYPE = INT16_MIN };

/* Kafka throws at a type that it does not know, and so refuses the whole request. The type, or NO_TYPE. */
static int unknown_type(const struct fb_config_facts *facts, const struct kw_DescribeConfigsRequest *body)
{
	for (int32_t i = 0; i < body->resources.n; i++)
		if (!fb_describe_knows(facts, body->resources.v[i].resourceType))
			return body->resources.v[i].resourceType;
	return NO_TYPE;
}

static bool describe(struct fb_request *req, const struct fb_config_facts *facts, int unknown,
		     const struct kw_DescribeConfigsRequest_DescribeConfigsResource *want,
		     struct kw_DescribeConfigsResponse_DescribeConfigsResult *out)
{
	int8_t judged = unknown == NO_TYPE ? want->resourceType : (int8_t)unknown;
	struct fb_described *d;
	const char *message = "";
	int n;

	out->resourceType = want->resourceType;
	out->resourceName = want->resourceName;
	out->errorCode = req->forced ? req->forced
				     : fb_describe_check(facts, judged, want->resourceName, &req->arena, &message);
	out->errorMessage = kw_str(message);
	if (out->errorCode)
		return true;
	n = fb_configs_describe(req->cluster->configs, (enum fb_scope)want->resourceType, want->resourceName,
				req->node->id, want->configurationKeys.v, want->configurationKeys.n, &req->arena, &d);
	if (n < 0 ||
	    !FB_RESPONSE_ARRAY(req, out->configs, kw_DescribeConfigsResponse_DescribeConfigsResourceResult_struct, n))
		return false;
	for (int i = 0; i < n; i++)
		if (!fill(req, &d[i], &out->configs.v[i]))
			return false;
	return true;
}

enum fb_outcome fb_describe_configs(struct fb_request *req)
{
	const struct kw_DescribeConfigsRequest *body = req->body;
	struct kw_DescribeConfigsResponse *response = req->response;
	bool ok = FB_RESPONSE_ARRAY(req, response->results, kw_DescribeConfigsResponse_DescribeConfigsResult_struct,
				    body->resources.n);
	struct fb_config_facts facts;
	int unknown;

	pthread_rwlock_rdlock(&req->cluster->lock);
	facts = fb_cluster_facts(req->cluster, req->node);
	unknown = unknown_type(&facts, body);
	for (int32_t i = 0; ok && i < body->resources.n; i++)
		ok = describe(req, &facts, unknown, &body->resources.v[i], &response->results.v[i]);
	pthread_rwlock_unlock(&req->cluster->lock);
	return ok ? FB_REPLY : FB_CLOSE;
}
