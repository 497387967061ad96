/* IncrementalAlterConfigs (44). */
#include "fakebroker/api/alter.h"

static struct fb_alter_config *configs_of(struct fb_request *req,
					  const struct kw_IncrementalAlterConfigsRequest_AlterConfigsResource *r)
{
	struct fb_alter_config *configs = kw_alloc(&req->arena, (size_t)r->configs.n * sizeof *configs);

	for (int32_t i = 0; configs && i < r->configs.n; i++)
		configs[i] = (struct fb_alter_config){r->configs.v[i].name, r->configs.v[i].configOperation,
						      r->configs.v[i].value};
	return configs;
}

enum fb_outcome fb_incremental_alter_configs(struct fb_request *req)
{
	const struct kw_IncrementalAlterConfigsRequest *body = req->body;
	struct kw_IncrementalAlterConfigsResponse *response = req->response;
	struct fb_alter_resource *resources = kw_alloc(&req->arena, (size_t)body->resources.n * sizeof *resources);
	struct fb_alter_request alter = {false, resources, body->resources.n};
	struct fb_alter_answer answer = {0};

	for (int32_t i = 0; resources && i < body->resources.n; i++) {
		const struct kw_IncrementalAlterConfigsRequest_AlterConfigsResource *r = &body->resources.v[i];

		resources[i] = (struct fb_alter_resource){r->resourceType, r->resourceName, configs_of(req, r),
							  r->configs.n};
		if (!resources[i].configs)
			return FB_CLOSE;
	}
	if (!resources || fb_alter(req, &alter, body->validateOnly, &answer) < 0 ||
	    !FB_RESPONSE_ARRAY(req, response->responses,
			       kw_IncrementalAlterConfigsResponse_AlterConfigsResourceResponse_struct,
			       (int32_t)answer.nresults))
		return FB_CLOSE;
	for (size_t i = 0; i < answer.nresults; i++) {
		const struct fb_alter_result *r = &answer.results[i];

		response->responses.v[i] = (struct kw_IncrementalAlterConfigsResponse_AlterConfigsResourceResponse){
			.errorCode = r->errorCode, .errorMessage = kw_str(r->errorMessage),
			.resourceType = r->resourceType, .resourceName = r->resourceName,
		};
	}
	return FB_REPLY;
}
