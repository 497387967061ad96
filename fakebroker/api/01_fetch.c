/* Fetch (1): batches by offset; waits for minBytes as long as maxWaitMs. Every request is a full one: the answer's
 * session id is always 0, which tells a client that it has no fetch session (KIP-227). */
#include "fakebroker/config/twins.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

enum { READ_UNCOMMITTED = 0, READ_COMMITTED = 1 };

/* One partition of the request. Kafka keeps them in a map: of two entries for one, the last counts, in the first's place. */
struct want {
	const struct kw_FetchRequest_FetchTopic *topic;
	const struct kw_FetchRequest_FetchPartition *data;
	bool repeated;             /* an earlier entry answers it */
};

struct fetch {
	struct fb_request *req;
	const struct kw_FetchRequest *body;
	struct want *wants;        /* in the order of the request */
	int32_t nwants;
	int64_t min_bytes;         /* minBytes, at most what may be sent */
	int64_t left;              /* of maxBytes and fetch.max.bytes */
	bool first;                /* nothing was put yet: the first batch comes whatever its size */
};

/* ---- what is wanted ---- */

static bool by_id(const struct fetch *f)
{
	return f->req->version >= 13;
}

static struct kw_str key_of(const struct fetch *f, const struct kw_FetchRequest_FetchTopic *topic)
{
	return by_id(f) ? (struct kw_str){(const char *)topic->topicId.b, sizeof topic->topicId.b} : topic->topic;
}

static int32_t partitions_of(const struct kw_FetchRequest *body)
{
	int32_t n = 0;

	for (int32_t t = 0; t < body->topics.n; t++)
		n += body->topics.v[t].partitions.n;
	return n;
}

/* Done once, however often a waiting request looks again. */
static bool collect(struct fetch *f)
{
	struct kw_arena *arena = &f->req->arena;
	size_t n = (size_t)partitions_of(f->body), i = 0;
	struct fb_named *names;
	struct fb_twins *twins;

	f->nwants = (int32_t)n;
	f->wants = f->req->kept;
	if (f->wants)
		return true;
	f->wants = kw_alloc(arena, n * sizeof *f->wants);
	names = kw_alloc(arena, n * sizeof *names);
	if (!f->wants || !names)
		return false;
	for (int32_t t = 0; t < f->body->topics.n; t++) {
		const struct kw_FetchRequest_FetchTopic *topic = &f->body->topics.v[t];

		for (int32_t p = 0; p < topic->partitions.n; p++) {
			names[i] = (struct fb_named){topic->partitions.v[p].partition, key_of(f, topic)};
			f->wants[i++] = (struct want){.topic = topic, .data = &topic->partitions.v[p]};
		}
	}
	twins = fb_find_twins(names, n, arena);
	for (i = 0; twins && i < n; i++) {
		f->wants[i].repeated = twins[i].first != i;
		if (twins[i].last != i)
			f->wants[i].data = f->wants[twins[i].last].data;
	}
	f->req->kept = f->wants;
	return twins;
}

static int32_t replica_id(const struct fetch *f)
{
	return f->req->version >= 15 ? f->body->replicaState.replicaId : f->body->replicaId;
}

static struct fb_partition *find(const struct fetch *f, const struct want *want, int16_t *error)
{
	struct fb_cluster *cluster = f->req->cluster;
	struct fb_topic *t = by_id(f) ? fb_topic_find_id(cluster, want->topic->topicId)
				      : fb_topic_find(cluster, want->topic->topic);
	struct fb_partition *partition = t ? fb_topic_partition(t, want->data->partition) : NULL;

	*error = f->req->forced;
	if (*error)
		return partition;
	if (!partition)
		*error = by_id(f) && !t ? KW_ERR_UNKNOWN_TOPIC_ID : KW_ERR_UNKNOWN_TOPIC_OR_PARTITION;
	else if (partition->leader != f->req->node->id || replica_id(f) >= 0)   /* no replica of ours fetches */
		*error = KW_ERR_NOT_LEADER_OR_FOLLOWER;
	return partition;
}

/* Any negative epoch is none here. */
static int16_t judge_epoch(const struct fb_partition *partition, int32_t epoch)
{
	return epoch < 0 ? 0 : fb_partition_judge_epoch(partition, epoch);
}

/* Under the partition's lock. An epoch that is newer than all of the log (KIP-595) is as wrong as an offset beyond it. */
static int16_t judge_offset(const struct fetch *f, const struct fb_partition *partition, const struct want *want)
{
	const struct fb_log *log = &partition->log;

	if (want->data->fetchOffset < log->logStartOffset || want->data->fetchOffset > log->logEndOffset ||
	    want->data->lastFetchedEpoch > partition->leaderEpoch)
		return KW_ERR_OFFSET_OUT_OF_RANGE;
	if ((f->body->maxBytes < 0 || want->data->partitionMaxBytes < 0) && want->data->fetchOffset < log->logEndOffset)
		return KW_ERR_UNKNOWN_SERVER_ERROR;
	return 0;
}

/* Under the partition's lock: what this reader may read. */
static int64_t readable_end(const struct fetch *f, const struct fb_partition *partition)
{
	if (f->body->isolationLevel == READ_COMMITTED)
		return fb_last_stable_offset(&partition->log, &partition->producers);
	return partition->log.logEndOffset;
}

/* ---- is there enough to answer? ---- */

/* Bytes from an offset on; -1: the partition's answer is an error, which is told at once. */
static int64_t available(const struct fetch *f, const struct want *want)
{
	int16_t error;
	struct fb_partition *partition = find(f, want, &error);
	const struct fb_log *log;
	int64_t bytes = 0, end;

	if (error || judge_epoch(partition, want->data->currentLeaderEpoch))
		return -1;
	log = &partition->log;
	pthread_mutex_lock(&partition->lock);
	end = readable_end(f, partition);
	if (judge_offset(f, partition, want))
		bytes = -1;
	for (size_t i = bytes < 0 ? log->n : fb_log_find(log, want->data->fetchOffset);
	     i < log->n && log->entries[i].baseOffset < end && bytes < f->min_bytes; i++)
		bytes += log->entries[i].size;
	pthread_mutex_unlock(&partition->lock);
	return bytes > want->data->partitionMaxBytes ? want->data->partitionMaxBytes : bytes;
}

static bool enough(const struct fetch *f)
{
	int64_t sum = 0;

	for (int32_t i = 0; i < f->nwants; i++) {
		int64_t bytes = f->wants[i].repeated ? 0 : available(f, &f->wants[i]);

		if (bytes < 0)
			return true;
		sum += bytes;
	}
	return sum >= f->min_bytes || f->nwants == 0;
}

/* ---- the answer ---- */

static int64_t count(const struct fb_read *read)
{
	int64_t n = 0;

	for (size_t i = 0; i < read->whole; i++)   /* header, body, header, body ... */
		n += (int32_t)kw_rd32(read->records.v[2 * i].p + KW_B_COUNT);
	return n;
}

/* FetchResponse's list for those who read committed records only: which producers' records are to be skipped from where on.
 * Under the partition's lock. */
static bool tell_aborted(struct fetch *f, const struct fb_txns *txns, int64_t from, int64_t end,
			 struct kw_FetchResponse_PartitionData *out)
{
	int32_t n = 0;

	for (size_t i = 0; i < txns->n; i++)
		n += fb_aborted_in(&txns->aborted[i], from, end);
	if (!FB_RESPONSE_ARRAY(f->req, out->abortedTransactions, kw_FetchResponse_AbortedTransaction_struct, n))
		return false;
	n = 0;
	for (size_t i = 0; i < txns->n; i++)
		if (fb_aborted_in(&txns->aborted[i], from, end))
			out->abortedTransactions.v[n++] = (struct kw_FetchResponse_AbortedTransaction){
				.producerId = txns->aborted[i].producerId, .firstOffset = txns->aborted[i].firstOffset,
			};
	return true;
}

static bool read_log(struct fetch *f, struct fb_partition *partition, const struct want *want,
		     struct kw_FetchResponse_PartitionData *out, struct fb_read *read)
{
	int64_t max = want->data->partitionMaxBytes < f->left ? want->data->partitionMaxBytes : f->left;
	int code = 0;

	pthread_mutex_lock(&partition->lock);
	out->errorCode = judge_offset(f, partition, want);
	if (!out->errorCode) {
		out->highWatermark = partition->log.logEndOffset;
		out->lastStableOffset = fb_last_stable_offset(&partition->log, &partition->producers);
		out->logStartOffset = partition->log.logStartOffset;
		code = fb_log_read(&partition->log, want->data->fetchOffset, readable_end(f, partition),
				   max > 0 ? (size_t)max : 0, f->first, &f->req->arena, read);
		if (!code && f->body->isolationLevel == READ_COMMITTED &&
		    !tell_aborted(f, &partition->txns, want->data->fetchOffset, read->end, out))
			code = KT_ENOMEM;
	}
	pthread_mutex_unlock(&partition->lock);
	if (out->errorCode || code)
		return !code;
	out->records = read->records;
	if (read->records.n > 0)
		f->first = false;
	f->left -= read->records.n;
	return fb_request_keep_take(f->req, read->frames, read->nframes) == 0;
}

static void show(const struct fetch *f, const struct want *want, const struct fb_partition *partition,
		 const struct fb_read *read, int16_t error, struct kassay_partition *shown)
{
	struct kw_str name = want->topic->topic;

	if (by_id(f))
		name = partition ? kw_str(kw_strndup(&f->req->arena, partition->topic->name, strlen(partition->topic->name)))
				 : KW_NULL_STR;
	shown->topic = fb_hook_str(name);
	shown->partition = want->data->partition;
	shown->direction = KASSAY_CONSUMED;
	shown->bytes = read->records.n;
	shown->records = count(read);
	shown->codec = read->whole ? kw_rd16(read->records.v[0].p + KW_B_ATTRIBUTES) & KW_A_CODEC : -1;
	shown->flags = read->nframes > read->whole ? KASSAY_PARTIAL : 0;
	shown->error = error;
}

static bool answer_partition(struct fetch *f, const struct want *want, struct kw_FetchResponse_PartitionData *out,
			     struct kassay_partition *shown)
{
	struct fb_partition *partition = find(f, want, &out->errorCode);
	struct fb_read read = {0};
	bool ok = true;

	out->partitionIndex = want->data->partition;
	out->highWatermark = out->lastStableOffset = out->logStartOffset = -1;
	out->records.n = 0;
	if (partition && f->body->isolationLevel == READ_UNCOMMITTED)
		out->abortedTransactions.n = -1;
	if (!out->errorCode)
		out->errorCode = judge_epoch(partition, want->data->currentLeaderEpoch);
	if (out->errorCode == KW_ERR_NOT_LEADER_OR_FOLLOWER && partition && partition->leader != f->req->node->id &&
	    f->req->version >= 12) {
		out->currentLeader.leaderId = partition->leader;
		out->currentLeader.leaderEpoch = partition->leaderEpoch;
	}
	if (!out->errorCode)
		ok = read_log(f, partition, want, out, &read);
	show(f, want, partition, &read, out->errorCode, shown);
	return ok;
}

/* The partitions of one entry of the request, from wants[*i] on. */
static bool answer_topic(struct fetch *f, int32_t *i, int32_t npartitions,
			 struct kw_FetchResponse_FetchableTopicResponse *out)
{
	int32_t n = 0;

	if (!FB_RESPONSE_ARRAY(f->req, out->partitions, kw_FetchResponse_PartitionData_struct, npartitions))
		return false;
	for (int32_t p = 0; p < npartitions; p++) {
		const struct want *want = &f->wants[(*i)++];

		if (want->repeated)
			continue;
		if (!answer_partition(f, want, &out->partitions.v[n++], &f->req->partitions[f->req->npartitions++]))
			return false;
	}
	out->partitions.n = n;
	return true;
}

static bool answer(struct fetch *f)
{
	struct kw_FetchResponse *response = f->req->response;
	int32_t i = 0;

	if (!fb_request_partitions(f->req, f->nwants) ||
	    !FB_RESPONSE_ARRAY(f->req, response->responses, kw_FetchResponse_FetchableTopicResponse_struct,
			       f->body->topics.n))
		return false;
	f->req->npartitions = 0;
	for (int32_t t = 0; t < response->responses.n; t++) {
		const struct kw_FetchRequest_FetchTopic *topic = &f->body->topics.v[t];

		response->responses.v[t].topic = topic->topic;
		response->responses.v[t].topicId = topic->topicId;
		if (!answer_topic(f, &i, topic->partitions.n, &response->responses.v[t]))
			return false;
	}
	return true;
}

/* Waits unless it did so long enough. What was appended while nobody knew yet that it waits would wake nobody, so that
 * it looks once more. Under the cluster's lock. */
static bool must_wait(struct fetch *f)
{
	struct fb_request *req = f->req;

	if (req->expired || req->forced || f->body->maxWaitMs <= 0 || enough(f))
		return false;
	if (req->waited)
		return true;
	fb_conn_wait(req->conn, f->body->maxWaitMs);
	req->waited = true;
	return !enough(f);
}

/* KafkaApis.handleFetchRequest: never more than fetch.max.bytes, and no waiting for more than may be sent. */
static void set_bounds(struct fetch *f)
{
	int64_t most = fb_configs_long(f->req->cluster->configs, FB_BROKER, KW_NULL_STR, f->req->node->id, "fetch.max.bytes",
				       57671680);

	f->left = f->body->maxBytes < most ? f->body->maxBytes : most;
	f->min_bytes = f->body->minBytes < f->left ? f->body->minBytes : f->left;
}

enum fb_outcome fb_fetch(struct fb_request *req)
{
	struct fetch f = {.req = req, .body = req->body, .first = true};
	struct kw_FetchResponse *response = req->response;
	bool ok;

	if (f.body->sessionEpoch > 0 && !req->forced) {
		response->errorCode = KW_ERR_FETCH_SESSION_ID_NOT_FOUND;   /* we never gave one */
		return FB_REPLY;
	}
	if (f.body->isolationLevel != READ_UNCOMMITTED && f.body->isolationLevel != READ_COMMITTED && !req->forced)
		response->errorCode = req->forced = KW_ERR_UNKNOWN_SERVER_ERROR;
	if (!collect(&f))
		return FB_CLOSE;
	pthread_rwlock_rdlock(&req->cluster->lock);
	set_bounds(&f);
	if (must_wait(&f)) {
		pthread_rwlock_unlock(&req->cluster->lock);
		return FB_WAIT;
	}
	ok = answer(&f);
	pthread_rwlock_unlock(&req->cluster->lock);
	return ok ? FB_REPLY : FB_CLOSE;
}
