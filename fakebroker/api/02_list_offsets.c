/* ListOffsets (2): by the special timestamps, and by time. */
#include "fakebroker/request.h"

enum { LATEST = -1, EARLIEST = -2, MAX_TIMESTAMP = -3, EARLIEST_LOCAL = -4, LATEST_TIERED = -5 };

static void look_up(struct fb_partition *partition, int64_t timestamp,
		    struct kw_ListOffsetsResponse_ListOffsetsPartitionResponse *out)
{
	struct fb_log *log = &partition->log;

	switch (timestamp) {
	case LATEST:
		out->offset = log->logEndOffset;
		break;
	case EARLIEST:
	case EARLIEST_LOCAL:
		out->offset = log->logStartOffset;
		break;
	case LATEST_TIERED:
		out->offset = -1;
		break;
	case MAX_TIMESTAMP:
		fb_log_max_time(log, &out->offset, &out->timestamp);
		break;
	default:
		if (!fb_log_by_time(log, timestamp, &out->offset, &out->timestamp))
			out->offset = out->timestamp = -1;
	}
}

static void answer(struct fb_request *req, struct kw_str name,
		   const struct kw_ListOffsetsRequest_ListOffsetsPartition *want,
		   struct kw_ListOffsetsResponse_ListOffsetsPartitionResponse *out)
{
	struct fb_topic *topic = fb_topic_find(req->cluster, name);
	struct fb_partition *partition = topic ? fb_topic_partition(topic, want->partitionIndex) : NULL;
	int32_t epoch = want->currentLeaderEpoch;

	out->partitionIndex = want->partitionIndex;
	if (req->forced)
		out->errorCode = req->forced;
	else if (!partition)
		out->errorCode = 3;
	else if (partition->leader != req->node->id)
		out->errorCode = 6;
	else if (epoch >= 0 && epoch != partition->leaderEpoch)
		out->errorCode = epoch < partition->leaderEpoch ? 74 : 75;
	if (out->errorCode)
		return;
	pthread_mutex_lock(&partition->lock);
	look_up(partition, want->timestamp, out);
	if (req->version >= 4 && out->offset >= 0)
		out->leaderEpoch = partition->leaderEpoch;
	pthread_mutex_unlock(&partition->lock);
}

enum fb_outcome fb_list_offsets(struct fb_request *req)
{
	const struct kw_ListOffsetsRequest *body = req->body;
	struct kw_ListOffsetsResponse *response = req->response;
	bool ok = FB_RESPONSE_ARRAY(req, response->topics, kw_ListOffsetsResponse_ListOffsetsTopicResponse_struct,
				    body->topics.n);

	pthread_rwlock_rdlock(&req->cluster->lock);
	for (int32_t t = 0; ok && t < body->topics.n; t++) {
		const struct kw_ListOffsetsRequest_ListOffsetsTopic *topic = &body->topics.v[t];
		struct kw_ListOffsetsResponse_ListOffsetsTopicResponse *out = &response->topics.v[t];

		out->name = topic->name;
		ok = FB_RESPONSE_ARRAY(req, out->partitions, kw_ListOffsetsResponse_ListOffsetsPartitionResponse_struct,
				       topic->partitions.n);
		for (int32_t p = 0; ok && p < topic->partitions.n; p++)
			answer(req, topic->name, &topic->partitions.v[p], &out->partitions.v[p]);
	}
	pthread_rwlock_unlock(&req->cluster->lock);
	return ok ? FB_REPLY : FB_CLOSE;
}
