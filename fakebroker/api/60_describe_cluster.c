/* DescribeCluster (60): the brokers on a broker's listener, the controller on its own. */
#include "fakebroker/mutants.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

enum { BROKERS = 1, CONTROLLERS = 2 };

static bool list_brokers(struct fb_request *req, struct kw_DescribeClusterResponse *response)
{
	const struct kw_DescribeClusterRequest *body = req->body;
	struct fb_cluster *cluster = req->cluster;
	int32_t n = 0;

	if (!FB_RESPONSE_ARRAY(req, response->brokers, kw_DescribeClusterResponse_DescribeClusterBroker_struct,
			       (int32_t)cluster->nbrokers))
		return false;
	for (size_t i = 0; i < cluster->nbrokers; i++) {
		const struct fb_broker *broker = cluster->brokers[i];
		struct kw_DescribeClusterResponse_DescribeClusterBroker *out = &response->brokers.v[n];

		bool fenced = broker->fenced && !fb_mutant(FB_M_FENCED_LISTED);

		if (broker->nlisteners == 0 || (fenced && !body->includeFencedBrokers))
			continue;
		n++;
		out->brokerId = broker->view.id;
		out->host = kw_str(
			kw_strndup(&req->arena, broker->listeners[0].host, strlen(broker->listeners[0].host)));
		out->port = broker->listeners[0].port;
		out->rack = broker->rack ? kw_str(kw_strndup(&req->arena, broker->rack, strlen(broker->rack)))
					 : KW_NULL_STR;
		out->isFenced = fenced;
	}
	response->brokers.n = n;
	response->controllerId = fb_cluster_any(cluster);
	return true;
}

static bool list_controllers(struct fb_request *req, struct kw_DescribeClusterResponse *response)
{
	const struct fb_node *controller = fb_cluster_node(req->cluster, FB_CONTROLLER_ID);

	if (!FB_RESPONSE_ARRAY(req, response->brokers, kw_DescribeClusterResponse_DescribeClusterBroker_struct, 1))
		return false;
	response->brokers.v[0].brokerId = controller->id;
	response->brokers.v[0].host = kw_str(controller->host);
	response->brokers.v[0].port = controller->port;
	response->brokers.v[0].rack = KW_NULL_STR;
	response->controllerId = controller->id;
	return true;
}

enum fb_outcome fb_describe_cluster(struct fb_request *req)
{
	const struct kw_DescribeClusterRequest *body = req->body;
	struct kw_DescribeClusterResponse *response = req->response;
	int8_t own = req->node->controller ? CONTROLLERS : BROKERS;
	bool ok;

	response->errorMessage = KW_NULL_STR;
	if (req->version >= 1)
		response->endpointType = own;
	response->errorCode = req->forced;
	if (!req->forced && body->endpointType != BROKERS && body->endpointType != CONTROLLERS) {
		response->errorCode = KW_ERR_UNSUPPORTED_ENDPOINT_TYPE;
		response->errorMessage = kw_str(kw_sprintf(&req->arena,
							   "Unsupported endpoint type %d", body->endpointType));
	} else if (!req->forced && body->endpointType != own) {
		response->errorCode = KW_ERR_MISMATCHED_ENDPOINT_TYPE;
		response->errorMessage = kw_str(own == BROKERS ? "The request was sent to an endpoint of type BROKER, "
								 "but we wanted an endpoint of type CONTROLLER"
							       : "The request was sent to an endpoint of type "
								 "CONTROLLER, but we wanted an endpoint of type "
								 "BROKER");
	}
	if (response->errorCode)
		return FB_REPLY;
	pthread_rwlock_rdlock(&req->cluster->lock);
	response->clusterId = kw_str(req->cluster->id);
	if (body->includeClusterAuthorizedOperations)
		response->clusterAuthorizedOperations = FB_CLUSTER_OPERATIONS;
	ok = own == CONTROLLERS ? list_controllers(req, response) : list_brokers(req, response);
	pthread_rwlock_unlock(&req->cluster->lock);
	return ok ? FB_REPLY : FB_CLOSE;
}
