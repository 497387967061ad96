/* AlterConfigs (33): the legacy call, which replaces all of a resource's values. */
#include "fakebroker/api/alter.h"

static struct fb_alter_config *configs_of(struct fb_request *req,
					  const struct kw_AlterConfigsRequest_AlterConfigsResource *r)
{
	struct fb_alter_config *configs = kw_alloc(&req->arena, (size_t)r->configs.n * sizeof *configs);

	for (int32_t i = 0; configs && i < r->configs.n; i++)
		configs[i] = (struct fb_alter_config){r->configs.v[i].name, FB_SET, r->configs.v[i].value};
	return configs;
}

enum fb_outcome fb_alter_configs(struct fb_request *req)
{
	const struct kw_AlterConfigsRequest *body = req->body;
	struct kw_AlterConfigsResponse *response = req->response;
	struct fb_alter_resource *resources = kw_alloc(&req->arena, (size_t)body->resources.n * sizeof *resources);
	struct fb_alter_request alter = {true, resources, body->resources.n};
	struct fb_alter_answer answer = {0};

	for (int32_t i = 0; resources && i < body->resources.n; i++) {
		const struct kw_AlterConfigsRequest_AlterConfigsResource *r = &body->resources.v[i];

		resources[i] = (struct fb_alter_resource){r->resourceType, r->resourceName, configs_of(req, r),
							  r->configs.n};
		if (!resources[i].configs)
			return FB_CLOSE;
	}
	if (!resources || fb_alter(req, &alter, body->validateOnly, &answer) < 0)
		return FB_CLOSE;
	if (answer.fault && fb_faults[answer.fault].fate == FB_MUTE)
		return fb_request_mute(req, answer.fault);
	if (!FB_RESPONSE_ARRAY(req, response->responses, kw_AlterConfigsResponse_AlterConfigsResourceResponse_struct,
			       (int32_t)answer.nresults))
		return FB_CLOSE;
	for (size_t i = 0; i < answer.nresults; i++) {
		const struct fb_alter_result *r = &answer.results[i];

		response->responses.v[i] = (struct kw_AlterConfigsResponse_AlterConfigsResourceResponse){
			.errorCode = r->errorCode, .errorMessage = kw_str(r->errorMessage),
			.resourceType = r->resourceType, .resourceName = r->resourceName,
		};
	}
	return FB_REPLY;
}
