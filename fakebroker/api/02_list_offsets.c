/* ListOffsets (2): by the special timestamps, and by time; in version 0 by when segments were written. */
#include "fakebroker/api/grouping.h"
#include "fakebroker/log/write_times.h"
#include "fakebroker/mutants.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

enum { READ_UNCOMMITTED = 0, READ_COMMITTED = 1 };
/* Replica ids: of those who are none, and of those who ask any replica what it has. */
enum { CONSUMER = -1, DEBUGGING = -2 };
enum { FIRST_WITH_EPOCH = 4 };

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

/* `end`: where the reader's records end, which is before the log's end for one that reads committed records only. The
 * epoch told is that of the record, so that a client which goes on there can tell whether its log is still the broker's
 * (KIP-320). */
static void look_up(const struct fb_partition *partition, int64_t timestamp, int64_t end,
		    struct kw_ListOffsetsResponse_ListOffsetsPartitionResponse *out, int32_t *epoch)
{
	const struct fb_log *log = &partition->log;
	struct fb_found found;

	switch (timestamp) {
	case LATEST:
		out->offset = end;
		*epoch = partition->leaderEpoch;
		return;
	case EARLIEST:
	case EARLIEST_LOCAL:
		out->offset = log->logStartOffset;
		*epoch = fb_epochs_at(&partition->epochs, log->logStartOffset);
		return;
	case LATEST_TIERED:            /* nothing is tiered, and nothing waits for it */
	case EARLIEST_PENDING_UPLOAD:
		return;
	default:
		found = timestamp == MAX_TIMESTAMP ? fb_log_max_time(log) : fb_log_by_time(log, timestamp);
		if (found.offset >= end)
			return;
		out->offset = found.offset;
		out->timestamp = found.timestamp;
		*epoch = found.leaderEpoch;
	}
}

static bool may_answer(const struct fb_request *req, const struct fb_partition *partition)
{
	const struct kw_ListOffsetsRequest *body = req->body;

	if (body->replicaId == DEBUGGING && fb_partition_is_at(partition, req->node->id))
		return true;
	return partition->leader == req->node->id;
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
	if (!may_answer(req, partition))
		return KW_ERR_NOT_LEADER_OR_FOLLOWER;
	return fb_partition_judge_epoch(partition, want->currentLeaderEpoch);
}

/* ---- the answer ---- */

struct listing {
	struct fb_request *req;
	const struct kw_ListOffsetsRequest *body;
	/* Each entry is answered in its place: of version 0, and where the whole request is refused
	 * (ListOffsetsRequest.getErrorResponse). Else a partition that is named more than once is refused once. */
	bool as_asked, refuses_twins;
	struct fb_grouping grouping;
	struct fb_write_times *times;  /* version 0: at a partition's first entry */
};

/* Kafka cannot make an array of less than nothing. Under the partition's lock. */
static int16_t look_up_old(struct listing *l, const struct fb_partition *partition,
			   const struct kw_ListOffsetsRequest_ListOffsetsPartition *want, struct fb_write_times *times,
			   struct kw_ListOffsetsResponse_ListOffsetsPartitionResponse *out)
{
	struct fb_request *req = l->req;
	int64_t *offsets;
	int32_t n;

	if (want->maxNumOffsets < 0)
		return KW_ERR_UNKNOWN_SERVER_ERROR;
	if (!times->v &&
	    fb_write_times_list(&partition->log, fb_cluster_now(req->cluster), &req->arena, times) < 0)
		return KW_ERR_UNKNOWN_SERVER_ERROR;
	n = fb_write_times_before(times, want->timestamp, want->maxNumOffsets, &req->arena, &offsets);
	if (n < 0)
		return KW_ERR_UNKNOWN_SERVER_ERROR;
	out->oldStyleOffsets.v = offsets;
	out->oldStyleOffsets.n = n;
	return 0;
}

/* Under the partition's lock: where the reader's records end. */
static int64_t readable_end(const struct kw_ListOffsetsRequest *body, const struct fb_partition *partition)
{
	if (body->replicaId == CONSUMER && body->isolationLevel == READ_COMMITTED &&
	    !fb_mutant(FB_M_OFFSETS_UNCOMMITTED))
		return fb_last_stable_offset(&partition->log, &partition->producers);
	return partition->log.logEndOffset;
}

/* The i-th entry is its partition's first. */
static bool is_named_twice(const struct listing *l, size_t i)
{
	const struct fb_twins *twins = &l->grouping.twins[i];

	if (l->as_asked)
		return l->refuses_twins && twins->first != twins->last;
	return twins->last != i && !fb_mutant(FB_M_OFFSETS_TWICE);
}

/* The i-th entry of the request. */
static void answer(struct listing *l, size_t i, struct fb_topic *topic,
		   const struct kw_ListOffsetsRequest_ListOffsetsPartition *want,
		   struct kw_ListOffsetsResponse_ListOffsetsPartitionResponse *out)
{
	struct fb_partition *partition = topic ? fb_topic_partition(topic, want->partitionIndex) : NULL;
	const struct fb_request *req = l->req;
	int32_t epoch = -1;

	out->partitionIndex = want->partitionIndex;
	out->errorCode = is_named_twice(l, i) ? KW_ERR_INVALID_REQUEST : judge(req, partition, want);
	if (out->errorCode)
		return;
	pthread_mutex_lock(&partition->lock);
	if (req->version == 0)
		out->errorCode = look_up_old(l, partition, want, &l->times[l->grouping.twins[i].first], out);
	else
		look_up(partition, want->timestamp, readable_end(l->body, partition), out, &epoch);
	if (fb_mutant(FB_M_OFFSETS_OF_LEADER) && out->offset >= 0)
		epoch = partition->leaderEpoch;
	pthread_mutex_unlock(&partition->lock);
	if (req->version >= FIRST_WITH_EPOCH)
		out->leaderEpoch = epoch;
}

static bool has_answer(const struct listing *l, size_t i)
{
	return l->as_asked || l->grouping.twins[i].first == i;
}

/* The topics of the answer are those of the request. */
static bool keep_topics(struct listing *l)
{
	struct fb_grouping *grouping = &l->grouping;
	size_t i = 0;

	grouping->n = l->body->topics.n;
	grouping->rooms = kw_alloc(&l->req->arena, (size_t)grouping->n * sizeof *grouping->rooms);
	if (!grouping->rooms)
		return false;
	for (int32_t t = 0; t < l->body->topics.n; t++) {
		grouping->rooms[t] = l->body->topics.v[t].partitions.n;
		for (int32_t p = 0; p < grouping->rooms[t]; p++)
			grouping->rows[i++] = t;
	}
	return true;
}

static bool group(struct listing *l)
{
	const struct kw_ListOffsetsRequest *body = l->body;
	struct fb_named *names;
	size_t n = 0, i = 0;

	for (int32_t t = 0; t < body->topics.n; t++)
		n += (size_t)body->topics.v[t].partitions.n;
	names = kw_alloc(&l->req->arena, n * sizeof *names);
	l->times = kw_alloc(&l->req->arena, (l->req->version == 0 ? n : 0) * sizeof *l->times);
	if (!names || !l->times)
		return false;
	for (int32_t t = 0; t < body->topics.n; t++)
		for (int32_t p = 0; p < body->topics.v[t].partitions.n; p++)
			names[i++] = (struct fb_named){body->topics.v[t].partitions.v[p].partitionIndex,
						       body->topics.v[t].name};
	return fb_group(names, n, &l->req->arena, &l->grouping) && (!l->as_asked || keep_topics(l));
}

/* The topics of the answer, with room for their partitions, of which none is there yet. */
static bool make_rows(struct listing *l, struct kw_ListOffsetsResponse *response)
{
	if (!FB_RESPONSE_ARRAY(l->req, response->topics, kw_ListOffsetsResponse_ListOffsetsTopicResponse_struct,
			       l->grouping.n))
		return false;
	for (int32_t t = 0; t < l->grouping.n; t++) {
		struct kw_ListOffsetsResponse_ListOffsetsTopicResponse *out = &response->topics.v[t];

		if (!FB_RESPONSE_ARRAY(l->req, out->partitions,
				       kw_ListOffsetsResponse_ListOffsetsPartitionResponse_struct,
				       l->grouping.rooms[t]))
			return false;
		out->partitions.n = 0;
		if (l->as_asked)
			out->name = l->body->topics.v[t].name;
	}
	return true;
}

/* Under the cluster's lock. */
static bool answer_all(struct listing *l)
{
	struct kw_ListOffsetsResponse *response = l->req->response;
	size_t i = 0;

	if (!make_rows(l, response))
		return false;
	for (int32_t t = 0; t < l->body->topics.n; t++) {
		const struct kw_ListOffsetsRequest_ListOffsetsTopic *topic = &l->body->topics.v[t];
		struct fb_topic *found = fb_topic_find(l->req->cluster, topic->name);

		for (int32_t p = 0; p < topic->partitions.n; p++, i++) {
			struct kw_ListOffsetsResponse_ListOffsetsTopicResponse *out =
				&response->topics.v[l->grouping.rows[i]];

			out->name = topic->name;
			if (has_answer(l, i))
				answer(l, i, found, &topic->partitions.v[p], &out->partitions.v[out->partitions.n++]);
		}
	}
	return true;
}

static bool is_isolation_known(const struct kw_ListOffsetsRequest *body)
{
	return body->isolationLevel == READ_UNCOMMITTED || body->isolationLevel == READ_COMMITTED ||
	       fb_mutant(FB_M_OFFSETS_ISOLATION_UNCHECKED);
}

enum fb_outcome fb_list_offsets(struct fb_request *req)
{
	struct listing l = {.req = req, .body = req->body};
	bool ok;

	if (!req->forced && !is_isolation_known(l.body))
		req->forced = KW_ERR_UNKNOWN_SERVER_ERROR;
	l.refuses_twins = req->version > 0 && fb_release_before(req->cluster->release, "4.0");
	l.as_asked = req->version == 0 || req->forced || l.refuses_twins;
	ok = group(&l);
	pthread_rwlock_rdlock(&req->cluster->lock);
	ok = ok && answer_all(&l);
	pthread_rwlock_unlock(&req->cluster->lock);
	return ok ? FB_REPLY : FB_CLOSE;
}
