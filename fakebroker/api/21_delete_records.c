/* DeleteRecords (21): moves the start of a log. */
#include "fakebroker/api/grouping.h"
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

/* The partitions of the request, over all of its topics. Of two entries for one the last counts. */
struct trimming {
	struct fb_request *req;
	const struct kw_DeleteRecordsRequest *body;
	const struct kw_DeleteRecordsRequest_DeleteRecordsPartition **wants;
	struct fb_grouping grouping;
};

static bool group(struct trimming *trimming)
{
	const struct kw_DeleteRecordsRequest *body = trimming->body;
	struct kw_arena *arena = &trimming->req->arena;
	struct fb_named *names;
	size_t n = 0, i = 0;

	for (int32_t t = 0; t < body->topics.n; t++)
		n += (size_t)body->topics.v[t].partitions.n;
	names = kw_alloc(arena, n * sizeof *names);
	trimming->wants = kw_alloc(arena, n * sizeof *trimming->wants);
	if (!names || !trimming->wants)
		return false;
	for (int32_t t = 0; t < body->topics.n; t++) {
		const struct kw_DeleteRecordsRequest_DeleteRecordsTopic *topic = &body->topics.v[t];

		for (int32_t p = 0; p < topic->partitions.n; p++, i++) {
			trimming->wants[i] = &topic->partitions.v[p];
			names[i] = (struct fb_named){topic->partitions.v[p].partitionIndex, topic->name};
		}
	}
	return fb_group(names, n, arena, &trimming->grouping);
}

/* The topics of the answer, with room for their partitions, of which none is there yet. */
static bool make_rows(struct trimming *trimming, struct kw_DeleteRecordsResponse *response)
{
	if (!FB_RESPONSE_ARRAY(trimming->req, response->topics,
			       kw_DeleteRecordsResponse_DeleteRecordsTopicResult_struct, trimming->grouping.n))
		return false;
	for (int32_t t = 0; t < trimming->grouping.n; t++) {
		struct kw_DeleteRecordsResponse_DeleteRecordsTopicResult *out = &response->topics.v[t];

		if (!FB_RESPONSE_ARRAY(trimming->req, out->partitions,
				       kw_DeleteRecordsResponse_DeleteRecordsPartitionResult_struct,
				       trimming->grouping.rooms[t]))
			return false;
		out->partitions.n = 0;
	}
	return true;
}

static void answer(const struct fb_request *req, struct fb_topic *topic,
		   const struct kw_DeleteRecordsRequest_DeleteRecordsPartition *want,
		   struct kw_DeleteRecordsResponse_DeleteRecordsPartitionResult *out)
{
	struct fb_partition *partition = topic ? fb_topic_partition(topic, want->partitionIndex) : NULL;

	out->partitionIndex = want->partitionIndex;
	out->lowWatermark = -1;
	out->errorCode = judge(req, topic, partition);
	if (!out->errorCode)
		trim(partition, want->offset, out);
}

/* Under the cluster's lock. */
static bool answer_all(struct trimming *trimming)
{
	struct kw_DeleteRecordsResponse *response = trimming->req->response;
	const struct fb_grouping *grouping = &trimming->grouping;
	size_t i = 0;

	if (!make_rows(trimming, response))
		return false;
	for (int32_t t = 0; t < trimming->body->topics.n; t++) {
		const struct kw_DeleteRecordsRequest_DeleteRecordsTopic *topic = &trimming->body->topics.v[t];
		struct fb_topic *found = fb_topic_find(trimming->req->cluster, topic->name);

		for (int32_t p = 0; p < topic->partitions.n; p++, i++) {
			struct kw_DeleteRecordsResponse_DeleteRecordsTopicResult *out =
				&response->topics.v[grouping->rows[i]];

			out->name = topic->name;
			if (grouping->twins[i].first == i)
				answer(trimming->req, found, trimming->wants[grouping->twins[i].last],
				       &out->partitions.v[out->partitions.n++]);
		}
	}
	return true;
}

enum fb_outcome fb_delete_records(struct fb_request *req)
{
	struct trimming trimming = {.req = req, .body = req->body};
	bool ok = group(&trimming);

	pthread_rwlock_rdlock(&req->cluster->lock);
	ok = ok && answer_all(&trimming);
	pthread_rwlock_unlock(&req->cluster->lock);
	fb_server_poke(req->cluster->server);
	return ok ? FB_REPLY : FB_CLOSE;
}
