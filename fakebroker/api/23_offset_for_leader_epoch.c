/* OffsetForLeaderEpoch (23): where the log of an epoch ends. */
#include "fakebroker/mutants.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

static int16_t judge(const struct fb_request *req, const struct fb_partition *partition, int32_t currentLeaderEpoch)
{
	if (req->forced)
		return req->forced;
	if (!partition)
		return KW_ERR_UNKNOWN_TOPIC_OR_PARTITION;
	if (partition->leader != req->node->id)
		return KW_ERR_NOT_LEADER_OR_FOLLOWER;
	return fb_mutant(FB_M_EPOCH_END_UNFENCED) ? 0 : fb_partition_judge_epoch(partition, currentLeaderEpoch);
}

static void look_up(struct fb_partition *partition, int32_t epoch,
		    struct kw_OffsetForLeaderEpochResponse_EpochEndOffset *out)
{
	struct fb_epoch end;

	pthread_mutex_lock(&partition->lock);
	end = fb_epochs_end(&partition->epochs, epoch, partition->log.logStartOffset, partition->log.logEndOffset);
	pthread_mutex_unlock(&partition->lock);
	if (end.epoch < 0 && fb_mutant(FB_M_EPOCH_END_ANY))
		end = (struct fb_epoch){epoch, 0};
	out->leaderEpoch = end.epoch;
	out->endOffset = end.start;
}

static bool answer_topic(struct fb_request *req,
			 const struct kw_OffsetForLeaderEpochRequest_OffsetForLeaderTopic *topic,
			 struct kw_OffsetForLeaderEpochResponse_OffsetForLeaderTopicResult *out)
{
	struct fb_topic *found = fb_topic_find(req->cluster, topic->topic);

	out->topic = topic->topic;
	if (!FB_RESPONSE_ARRAY(req, out->partitions, kw_OffsetForLeaderEpochResponse_EpochEndOffset_struct,
			       topic->partitions.n))
		return false;
	for (int32_t i = 0; i < topic->partitions.n; i++) {
		const struct kw_OffsetForLeaderEpochRequest_OffsetForLeaderPartition *want = &topic->partitions.v[i];
		struct fb_partition *partition = found ? fb_topic_partition(found, want->partition) : NULL;

		out->partitions.v[i].partition = want->partition;
		out->partitions.v[i].errorCode = judge(req, partition, want->currentLeaderEpoch);
		if (!out->partitions.v[i].errorCode)
			look_up(partition, want->leaderEpoch, &out->partitions.v[i]);
	}
	return true;
}

enum fb_outcome fb_offset_for_leader_epoch(struct fb_request *req)
{
	const struct kw_OffsetForLeaderEpochRequest *body = req->body;
	struct kw_OffsetForLeaderEpochResponse *response = req->response;
	bool ok = FB_RESPONSE_ARRAY(req, response->topics,
				    kw_OffsetForLeaderEpochResponse_OffsetForLeaderTopicResult_struct, body->topics.n);

	pthread_rwlock_rdlock(&req->cluster->lock);
	for (int32_t t = 0; ok && t < body->topics.n; t++)
		ok = answer_topic(req, &body->topics.v[t], &response->topics.v[t]);
	pthread_rwlock_unlock(&req->cluster->lock);
	return ok ? FB_REPLY : FB_CLOSE;
}
