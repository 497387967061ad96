/* Fetch (1): whole batches by offset; waits for minBytes as long as maxWaitMs. Every request is a full one: the answer's
 * session id is always 0, which tells a client that it has no fetch session (KIP-227). */
#include "fakebroker/request.h"

struct fetch {
	struct fb_request *req;
	const struct kw_FetchRequest *body;
	int64_t left;              /* of maxBytes */
	int64_t bytes;             /* put into the answer so far */
	bool first;                /* nothing was put yet: the first batch comes whatever its size */
};

static struct fb_partition *find(const struct fetch *f, const struct kw_FetchRequest_FetchTopic *topic, int32_t index,
				 int16_t *error)
{
	struct fb_cluster *cluster = f->req->cluster;
	bool by_id = f->req->version >= 13;
	struct fb_topic *t = by_id ? fb_topic_find_id(cluster, topic->topicId) : fb_topic_find(cluster, topic->topic);
	struct fb_partition *partition = t ? fb_topic_partition(t, index) : NULL;

	*error = f->req->forced;
	if (*error)
		return partition;
	if (!partition)
		*error = by_id && !t ? 100 : 3;
	else if (partition->leader != f->req->node->id)
		*error = 6;
	return partition;
}

static int16_t judge_epoch(const struct fb_partition *partition, int32_t epoch)
{
	if (epoch < 0 || epoch == partition->leaderEpoch)
		return 0;
	return epoch < partition->leaderEpoch ? 74 : 75;
}

/* ---- is there enough to answer? ---- */

/* Bytes from an offset on; -1: the partition's answer is an error, which is told at once. */
static int64_t available(const struct fetch *f, const struct kw_FetchRequest_FetchTopic *topic,
			 const struct kw_FetchRequest_FetchPartition *want)
{
	int16_t error;
	struct fb_partition *partition = find(f, topic, want->partition, &error);
	int64_t bytes = 0;

	if (error || judge_epoch(partition, want->currentLeaderEpoch))
		return -1;
	pthread_mutex_lock(&partition->lock);
	if (want->fetchOffset < partition->log.logStartOffset || want->fetchOffset > partition->log.logEndOffset)
		bytes = -1;
	for (size_t i = bytes < 0 ? partition->log.n : fb_log_find(&partition->log, want->fetchOffset);
	     i < partition->log.n && bytes < f->body->minBytes; i++)
		bytes += partition->log.entries[i].size;
	pthread_mutex_unlock(&partition->lock);
	return bytes;
}

static bool enough(const struct fetch *f)
{
	int64_t sum = 0;

	for (int32_t t = 0; t < f->body->topics.n; t++) {
		for (int32_t p = 0; p < f->body->topics.v[t].partitions.n; p++) {
			int64_t bytes = available(f, &f->body->topics.v[t], &f->body->topics.v[t].partitions.v[p]);

			if (bytes < 0)
				return true;
			sum += bytes;
		}
	}
	return sum >= f->body->minBytes || f->body->topics.n == 0;
}

/* ---- the answer ---- */

static int64_t count(const struct kw_records *records)
{
	int64_t n = 0;

	for (int32_t i = 0; i < records->nv; i++)   /* header, body, header, body ... */
		if (records->v[i].n == KW_B_RECORDS)
			n += (int32_t)kw_rd32(records->v[i].p + KW_B_COUNT);
	return n;
}

static bool read_log(struct fetch *f, struct fb_partition *partition, const struct kw_FetchRequest_FetchPartition *want,
		     struct kw_FetchResponse_PartitionData *out)
{
	int64_t max = want->partitionMaxBytes < f->left ? want->partitionMaxBytes : f->left;
	struct fb_read read = {0};

	pthread_mutex_lock(&partition->lock);
	if (want->fetchOffset < partition->log.logStartOffset || want->fetchOffset > partition->log.logEndOffset) {
		out->errorCode = 1;
		pthread_mutex_unlock(&partition->lock);
		return true;
	}
	out->highWatermark = out->lastStableOffset = partition->log.logEndOffset;
	out->logStartOffset = partition->log.logStartOffset;
	if (fb_log_read(&partition->log, want->fetchOffset, max > 0 ? (size_t)max : 0, f->first, &f->req->arena, &read) < 0) {
		pthread_mutex_unlock(&partition->lock);
		return false;
	}
	pthread_mutex_unlock(&partition->lock);
	out->records = read.records;
	if (read.records.n > 0)
		f->first = false;
	f->left -= read.records.n;
	f->bytes += read.records.n;
	return fb_request_keep_take(f->req, read.frames, read.nframes) == 0;
}

static bool answer_partition(struct fetch *f, const struct kw_FetchRequest_FetchTopic *topic,
			     const struct kw_FetchRequest_FetchPartition *want,
			     struct kw_FetchResponse_PartitionData *out, struct kassay_partition *shown)
{
	struct fb_partition *partition = find(f, topic, want->partition, &out->errorCode);
	bool ok = true;

	out->partitionIndex = want->partition;
	out->highWatermark = out->lastStableOffset = out->logStartOffset = -1;
	out->records.n = 0;
	if (f->body->isolationLevel == 0)
		out->abortedTransactions.n = -1;
	if (!out->errorCode)
		out->errorCode = judge_epoch(partition, want->currentLeaderEpoch);
	if (out->errorCode == 6 && partition && f->req->version >= 12) {
		out->currentLeader.leaderId = partition->leader;
		out->currentLeader.leaderEpoch = partition->leaderEpoch;
	}
	if (!out->errorCode)
		ok = read_log(f, partition, want, out);
	shown->topic = fb_hook_str(topic->topic);
	if (f->req->version >= 13 && partition)
		shown->topic = fb_hook_str(kw_str(kw_strndup(&f->req->arena, partition->topic->name,
							     strlen(partition->topic->name))));
	else if (f->req->version >= 13)
		shown->topic = fb_hook_str(KW_NULL_STR);
	shown->partition = want->partition;
	shown->direction = KASSAY_CONSUMED;
	shown->bytes = out->records.n;
	shown->records = count(&out->records);
	shown->codec = out->records.nv ? kw_rd16(out->records.v[0].p + KW_B_ATTRIBUTES) & KW_A_CODEC : -1;
	shown->error = out->errorCode;
	return ok;
}

static int32_t partitions_of(const struct kw_FetchRequest *body)
{
	int32_t n = 0;

	for (int32_t t = 0; t < body->topics.n; t++)
		n += body->topics.v[t].partitions.n;
	return n;
}

static bool answer(struct fetch *f)
{
	struct kw_FetchResponse *response = f->req->response;
	struct kassay_partition *shown = fb_request_partitions(f->req, partitions_of(f->body));

	if (!shown || !FB_RESPONSE_ARRAY(f->req, response->responses, kw_FetchResponse_FetchableTopicResponse_struct,
					 f->body->topics.n))
		return false;
	for (int32_t t = 0; t < response->responses.n; t++) {
		const struct kw_FetchRequest_FetchTopic *topic = &f->body->topics.v[t];
		struct kw_FetchResponse_FetchableTopicResponse *out = &response->responses.v[t];

		out->topic = topic->topic;
		out->topicId = topic->topicId;
		if (!FB_RESPONSE_ARRAY(f->req, out->partitions, kw_FetchResponse_PartitionData_struct,
				       topic->partitions.n))
			return false;
		for (int32_t p = 0; p < topic->partitions.n; p++)
			if (!answer_partition(f, topic, &topic->partitions.v[p], &out->partitions.v[p], shown++))
				return false;
	}
	return true;
}

enum fb_outcome fb_fetch(struct fb_request *req)
{
	struct fetch f = {.req = req, .body = req->body, .first = true};
	struct kw_FetchResponse *response = req->response;
	bool ok;

	f.left = f.body->maxBytes;
	if (f.body->sessionId != 0 && !req->forced) {
		response->errorCode = 70;   /* FETCH_SESSION_ID_NOT_FOUND: we never gave one */
		return FB_REPLY;
	}
	pthread_rwlock_rdlock(&req->cluster->lock);
	if (!req->expired && !req->forced && f.body->maxWaitMs > 0 && !enough(&f)) {
		pthread_rwlock_unlock(&req->cluster->lock);
		if (!req->waited)
			fb_conn_wait(req->conn, f.body->maxWaitMs);
		req->waited = true;
		return FB_WAIT;
	}
	ok = answer(&f);
	pthread_rwlock_unlock(&req->cluster->lock);
	return ok ? FB_REPLY : FB_CLOSE;
}
