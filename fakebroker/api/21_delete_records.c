/* DeleteRecords (21): moves the start of a log. */
#include "fakebroker/config/twins.h"
#include "fakebroker/mutants.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

enum { HIGH_WATERMARK = -1 };

static int16_t judge(const struct fb_request *req, const struct fb_topic *topic, const struct fb_partition *partition)
{
	if (req->forced)
		return req->forced;
	if (!partition && fb_mutant(FB_M_TRIM_UNKNOWN_CODE))
		return KW_ERR_OFFSET_OUT_OF_RANGE;
	if (!partition)
		return KW_ERR_UNKNOWN_TOPIC_OR_PARTITION;
	if (topic->internal)
		return KW_ERR_INVALID_TOPIC_EXCEPTION;
	if (partition->leader != req->node->id)
		return KW_ERR_NOT_LEADER_OR_FOLLOWER;
	return topic->retention.deletes || fb_mutant(FB_M_TRIM_COMPACTED) ? 0 : KW_ERR_POLICY_VIOLATION;
}

static void trim(struct fb_partition *partition, int64_t offset,
		 struct kw_DeleteRecordsResponse_DeleteRecordsPartitionResult *out)
{
	struct fb_log *log = &partition->log;

	pthread_mutex_lock(&partition->lock);
	if (offset == HIGH_WATERMARK && !fb_mutant(FB_M_TRIM_ALL_REFUSED))
		offset = log->logEndOffset;
	if (fb_mutant(FB_M_TRIM_RANGE_UNCHECKED) && offset > log->logEndOffset)
		offset = log->logEndOffset;
	if (fb_mutant(FB_M_TRIM_NOT_MADE))
		offset = log->logStartOffset;
	if (offset < 0 || offset > log->logEndOffset) {
		out->errorCode = KW_ERR_OFFSET_OUT_OF_RANGE;
	} else {
		fb_log_trim(log, offset);
		out->lowWatermark = log->logStartOffset;
	}
	pthread_mutex_unlock(&partition->lock);
}

/* Kafka keeps partitions in a map: of two entries for one the last counts, in the first's place. NULL without
 * memory. */
static struct fb_twins *find_repeated(struct fb_request *req,
				      const struct kw_DeleteRecordsRequest_DeleteRecordsTopic *topic)
{
	size_t n = (size_t)topic->partitions.n;
	struct fb_named *names = kw_alloc(&req->arena, n * sizeof *names);

	for (size_t i = 0; names && i < n; i++)
		names[i] = (struct fb_named){topic->partitions.v[i].partitionIndex, topic->name};
	return names ? fb_find_twins(names, n, &req->arena) : NULL;
}

static bool answer_topic(struct fb_request *req, const struct kw_DeleteRecordsRequest_DeleteRecordsTopic *topic,
			 struct kw_DeleteRecordsResponse_DeleteRecordsTopicResult *out)
{
	struct fb_topic *found = fb_topic_find(req->cluster, topic->name);
	struct fb_twins *twins = find_repeated(req, topic);
	int32_t n = 0;

	out->name = topic->name;
	if (!twins ||
	    !FB_RESPONSE_ARRAY(req, out->partitions, kw_DeleteRecordsResponse_DeleteRecordsPartitionResult_struct,
			       topic->partitions.n))
		return false;
	for (int32_t i = 0; i < topic->partitions.n; i++) {
		const struct kw_DeleteRecordsRequest_DeleteRecordsPartition *want = &topic->partitions.v[twins[i].last];
		struct fb_partition *partition = found ? fb_topic_partition(found, want->partitionIndex) : NULL;

		if (twins[i].first != (size_t)i)
			continue;
		out->partitions.v[n].partitionIndex = want->partitionIndex;
		out->partitions.v[n].lowWatermark = -1;
		out->partitions.v[n].errorCode = judge(req, found, partition);
		if (!out->partitions.v[n].errorCode)
			trim(partition, want->offset, &out->partitions.v[n]);
		n++;
	}
	out->partitions.n = n;
	return true;
}

enum fb_outcome fb_delete_records(struct fb_request *req)
{
	const struct kw_DeleteRecordsRequest *body = req->body;
	struct kw_DeleteRecordsResponse *response = req->response;
	bool ok = FB_RESPONSE_ARRAY(req, response->topics, kw_DeleteRecordsResponse_DeleteRecordsTopicResult_struct,
				    body->topics.n);

	pthread_rwlock_rdlock(&req->cluster->lock);
	for (int32_t t = 0; ok && t < body->topics.n; t++)
		ok = answer_topic(req, &body->topics.v[t], &response->topics.v[t]);
	pthread_rwlock_unlock(&req->cluster->lock);
	fb_server_poke(req->cluster->server);
	return ok ? FB_REPLY : FB_CLOSE;
}
