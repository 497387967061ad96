/* ListOffsets (2): by the special timestamps, and by time; in version 0 by when segments were written. */
#include "fakebroker/config/twins.h"
#include "fakebroker/mutants.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

enum { READ_COMMITTED = 1 };

enum {
	LATEST = -1, EARLIEST = -2, MAX_TIMESTAMP = -3, EARLIEST_LOCAL = -4, LATEST_TIERED = -5,
	EARLIEST_PENDING_UPLOAD = -6,
};

/* The version that a special timestamp came with, at its negated place. */
static const int8_t since[] = {
	[-LATEST] = 1, [-EARLIEST] = 1, [-MAX_TIMESTAMP] = 7, [-EARLIEST_LOCAL] = 8, [-LATEST_TIERED] = 9,
	[-EARLIEST_PENDING_UPLOAD] = 11,
};

static bool is_known(int64_t timestamp, int version)
{
	if (version == 0)
		return timestamp >= EARLIEST;
	return timestamp >= 0 || (timestamp >= EARLIEST_PENDING_UPLOAD && version >= since[-timestamp]);
}

/* `end`: where the reader's records end, which is before the log's end for one that reads committed records only. */
static void look_up(struct fb_partition *partition, int64_t timestamp, int64_t end,
		    struct kw_ListOffsetsResponse_ListOffsetsPartitionResponse *out)
{
	struct fb_log *log = &partition->log;

	switch (timestamp) {
	case LATEST:
		out->offset = end;
		break;
	case EARLIEST:
	case EARLIEST_LOCAL:
		out->offset = log->logStartOffset;
		break;
	case LATEST_TIERED:            /* nothing is tiered, and nothing waits for it */
	case EARLIEST_PENDING_UPLOAD:
		out->offset = -1;
		break;
	case MAX_TIMESTAMP:
		fb_log_max_time(log, &out->offset, &out->timestamp);
		break;
	default:
		if (!fb_log_by_time(log, timestamp, &out->offset, &out->timestamp))
			out->offset = out->timestamp = -1;
	}
	if (out->timestamp >= 0 && out->offset >= end)
		out->offset = out->timestamp = -1;
}

static int16_t judge(const struct fb_request *req, const struct fb_partition *partition,
		     const struct kw_ListOffsetsRequest_ListOffsetsPartition *want)
{
	if (req->forced)
		return req->forced;
	if (!is_known(want->timestamp, req->version))
		return KW_ERR_UNSUPPORTED_VERSION;
	if (!partition)
		return KW_ERR_UNKNOWN_TOPIC_OR_PARTITION;
	if (partition->leader != req->node->id)
		return KW_ERR_NOT_LEADER_OR_FOLLOWER;
	return fb_partition_judge_epoch(partition, want->currentLeaderEpoch);
}

/* Kafka cannot make an array of less than nothing. Under the partition's lock. */
static int16_t look_up_old(struct fb_request *req, const struct fb_partition *partition,
			   const struct kw_ListOffsetsRequest_ListOffsetsPartition *want,
			   struct kw_ListOffsetsResponse_ListOffsetsPartitionResponse *out)
{
	int64_t *offsets;
	int32_t n;

	if (want->maxNumOffsets < 0)
		return KW_ERR_UNKNOWN_SERVER_ERROR;
	n = fb_log_offsets_before(&partition->log, want->timestamp, fb_cluster_now(req->cluster), want->maxNumOffsets,
				  &req->arena, &offsets);
	if (n < 0)
		return KW_ERR_UNKNOWN_SERVER_ERROR;
	out->oldStyleOffsets.v = offsets;
	out->oldStyleOffsets.n = n;
	return 0;
}

static void answer(struct fb_request *req, struct fb_topic *topic,
		   const struct kw_ListOffsetsRequest_ListOffsetsPartition *want, bool repeated,
		   struct kw_ListOffsetsResponse_ListOffsetsPartitionResponse *out)
{
	struct fb_partition *partition = topic ? fb_topic_partition(topic, want->partitionIndex) : NULL;
	const struct kw_ListOffsetsRequest *body = req->body;
	int64_t end;

	out->partitionIndex = want->partitionIndex;
	out->errorCode = repeated && !req->forced && req->version > 0 ? KW_ERR_INVALID_REQUEST
								      : judge(req, partition, want);
	if (out->errorCode)
		return;
	pthread_mutex_lock(&partition->lock);
	end = body->isolationLevel == READ_COMMITTED && !fb_mutant(FB_M_OFFSETS_UNCOMMITTED)
			? fb_last_stable_offset(&partition->log, &partition->producers)
						     : partition->log.logEndOffset;
	if (req->version == 0)
		out->errorCode = look_up_old(req, partition, want, out);
	else
		look_up(partition, want->timestamp, end, out);
	if (req->version >= 4 && out->offset >= 0)
		out->leaderEpoch = partition->leaderEpoch;
	pthread_mutex_unlock(&partition->lock);
}

/* Partitions that are named more than once, over all entries. NULL without memory. */
static struct fb_twins *find_repeated(struct fb_request *req, const struct kw_ListOffsetsRequest *body)
{
	struct fb_named *names;
	size_t n = 0, i = 0;

	for (int32_t t = 0; t < body->topics.n; t++)
		n += (size_t)body->topics.v[t].partitions.n;
	names = kw_alloc(&req->arena, n * sizeof *names);
	if (!names)
		return NULL;
	for (int32_t t = 0; t < body->topics.n; t++)
		for (int32_t p = 0; p < body->topics.v[t].partitions.n; p++)
			names[i++] = (struct fb_named){body->topics.v[t].partitions.v[p].partitionIndex,
						       body->topics.v[t].name};
	return fb_find_twins(names, n, &req->arena);
}

/* *i counts the partitions of the request; one that is repeated is answered once, since version 1. */
static bool answer_topic(struct fb_request *req, const struct kw_ListOffsetsRequest_ListOffsetsTopic *topic,
			 const struct fb_twins *twins, size_t *i,
			 struct kw_ListOffsetsResponse_ListOffsetsTopicResponse *out)
{
	struct fb_topic *found = fb_topic_find(req->cluster, topic->name);
	int32_t n = 0;

	out->name = topic->name;
	if (!FB_RESPONSE_ARRAY(req, out->partitions, kw_ListOffsetsResponse_ListOffsetsPartitionResponse_struct,
			       topic->partitions.n))
		return false;
	for (int32_t p = 0; p < topic->partitions.n; p++, ++*i)
		if (req->version == 0 || twins[*i].first == *i)
			answer(req, found, &topic->partitions.v[p], twins[*i].last != *i, &out->partitions.v[n++]);
	out->partitions.n = n;
	return true;
}

enum fb_outcome fb_list_offsets(struct fb_request *req)
{
	const struct kw_ListOffsetsRequest *body = req->body;
	struct kw_ListOffsetsResponse *response = req->response;
	struct fb_twins *twins = find_repeated(req, body);
	bool ok = twins && FB_RESPONSE_ARRAY(req, response->topics,
					     kw_ListOffsetsResponse_ListOffsetsTopicResponse_struct, body->topics.n);
	size_t i = 0;

	pthread_rwlock_rdlock(&req->cluster->lock);
	for (int32_t t = 0; ok && t < body->topics.n; t++)
		ok = answer_topic(req, &body->topics.v[t], twins, &i, &response->topics.v[t]);
	pthread_rwlock_unlock(&req->cluster->lock);
	return ok ? FB_REPLY : FB_CLOSE;
}
