/* WriteTxnMarkers (27): what a transaction coordinator sends to the leaders of a transaction's partitions. Here only
 * others send it: our own coordinator writes its markers itself. */
#include "fakebroker/mutants.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

enum { BUMPED_EPOCH = 2 };

static int16_t mark(struct fb_request *req, struct fb_topic *topic, int32_t index, struct fb_marker *marker)
{
	struct fb_partition *partition = topic ? fb_topic_partition(topic, index) : NULL;
	int16_t error;

	if (req->forced)
		return req->forced;
	if (!partition && fb_mutant(FB_M_MARKER_LOST))
		return 0;
	if (!partition)
		return KW_ERR_UNKNOWN_TOPIC_OR_PARTITION;
	if (partition->leader != req->node->id)
		return KW_ERR_NOT_LEADER_OR_FOLLOWER;
	if (marker->producerId == -1 || marker->producerEpoch == -1)   /* Kafka's builder of markers throws */
		return KW_ERR_UNKNOWN_SERVER_ERROR;
	if (fb_mutant(FB_M_MARKER_NEGATIVE_CODE) && (marker->producerId < 0 || marker->producerEpoch < 0))
		return KW_ERR_UNKNOWN_SERVER_ERROR;
	if (topic->conf.maxMessageBytes < FB_MARKER_BYTES && !fb_mutant(FB_M_MARKER_ANY_SIZE))
		return KW_ERR_MESSAGE_TOO_LARGE;
	marker->logAppendTime = topic->conf.logAppendTime;
	pthread_mutex_lock(&partition->lock);
	error = fb_txns_mark(&partition->txns, &partition->log, &partition->producers, marker, partition->leaderEpoch);
	pthread_mutex_unlock(&partition->lock);
	return error;
}

static bool answer(struct fb_request *req, const struct kw_WriteTxnMarkersRequest_WritableTxnMarker *asked,
		   struct kw_WriteTxnMarkersResponse_WritableTxnMarkerResult *out)
{
	struct fb_marker marker = {
		.producerId = asked->producerId, .producerEpoch = asked->producerEpoch,
		.coordinatorEpoch = asked->coordinatorEpoch,
		.commit = asked->transactionResult != fb_mutant(FB_M_MARKER_INVERTED),
		.bumped = asked->transactionVersion >= BUMPED_EPOCH, .timestamp = fb_cluster_now(req->cluster),
	};

	out->producerId = asked->producerId;
	if (!FB_RESPONSE_ARRAY(req, out->topics, kw_WriteTxnMarkersResponse_WritableTxnMarkerTopicResult_struct,
			       asked->topics.n))
		return false;
	out->topics.n = 0;
	for (int32_t t = 0; t < asked->topics.n; t++) {
		const struct kw_WriteTxnMarkersRequest_WritableTxnMarkerTopic *topic = &asked->topics.v[t];
		struct kw_WriteTxnMarkersResponse_WritableTxnMarkerTopicResult *result = &out->topics.v[out->topics.n];
		struct fb_topic *found = fb_topic_find(req->cluster, topic->name);

		if (topic->partitionIndexes.n <= 0)
			continue;
		out->topics.n++;
		result->name = topic->name;
		if (!FB_RESPONSE_ARRAY(req, result->partitions,
				       kw_WriteTxnMarkersResponse_WritableTxnMarkerPartitionResult_struct,
				       topic->partitionIndexes.n))
			return false;
		for (int32_t p = 0; p < topic->partitionIndexes.n; p++) {
			result->partitions.v[p].partitionIndex = topic->partitionIndexes.v[p];
			result->partitions.v[p].errorCode = mark(req, found, topic->partitionIndexes.v[p], &marker);
		}
	}
	return true;
}

/* Kafka answers for partitions: what has none is left out. */
enum fb_outcome fb_write_txn_markers(struct fb_request *req)
{
	const struct kw_WriteTxnMarkersRequest *body = req->body;
	struct kw_WriteTxnMarkersResponse *response = req->response;
	bool ok = FB_RESPONSE_ARRAY(req, response->markers, kw_WriteTxnMarkersResponse_WritableTxnMarkerResult_struct,
				    body->markers.n);

	pthread_rwlock_rdlock(&req->cluster->lock);
	response->markers.n = 0;
	for (int32_t i = 0; ok && i < body->markers.n; i++) {
		ok = answer(req, &body->markers.v[i], &response->markers.v[response->markers.n]);
		response->markers.n += ok && response->markers.v[response->markers.n].topics.n > 0;
	}
	pthread_rwlock_unlock(&req->cluster->lock);
	fb_server_poke(req->cluster->server);
	return ok ? FB_REPLY : FB_CLOSE;
}
