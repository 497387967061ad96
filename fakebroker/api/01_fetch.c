/* Fetch (1): batches by offset; waits for minBytes as long as maxWaitMs. */
#include "fakebroker/api/fetch_old.h"
#include "fakebroker/mutants.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

enum { READ_UNCOMMITTED = 0, READ_COMMITTED = 1, NS_PER_MS = 1000000 };
enum { FIRST_BY_ID = 13, FIRST_WITH_REPLICA_STATE = 15, FIRST_WITH_LEADER = 12 };

struct fetch {
	struct fb_request *req;
	const struct kw_FetchRequest *body;
	struct fb_fetch_context *context;
	int64_t min_bytes;         /* minBytes, at most what may be sent */
	int64_t left;              /* of maxBytes and fetch.max.bytes; negative only until a partition is read */
	bool first;                /* nothing was put yet: the first batch comes whatever its size (KIP-74) */
	bool refused;              /* as a whole, for a reason of the request's own */
};

/* ---- what is wanted ---- */

static bool by_id(const struct fetch *f)
{
	return f->req->version >= FIRST_BY_ID;
}

static int32_t replica_id(const struct fetch *f)
{
	return f->req->version >= FIRST_WITH_REPLICA_STATE ? f->body->replicaState.replicaId : f->body->replicaId;
}

static struct fb_partition *find(const struct fetch *f, const struct fb_fetch_want *want, int16_t *error)
{
	struct fb_cluster *cluster = f->req->cluster;
	struct fb_topic *t = by_id(f) ? fb_topic_find_id(cluster, want->topicId)
				      : fb_topic_find(cluster, want->topic);
	struct fb_partition *partition = t ? fb_topic_partition(t, want->data.partition) : NULL;

	*error = f->req->forced;
	if (*error)
		return partition;
	if (!partition && fb_mutant(FB_M_FETCH_UNKNOWN_CODE))
		*error = KW_ERR_OFFSET_OUT_OF_RANGE;
	else if (!partition)
		*error = by_id(f) && !t ? KW_ERR_UNKNOWN_TOPIC_ID : KW_ERR_UNKNOWN_TOPIC_OR_PARTITION;
	else if (partition->leader != f->req->node->id || replica_id(f) >= 0)   /* no replica of ours fetches */
		*error = KW_ERR_NOT_LEADER_OR_FOLLOWER;
	return partition;
}

static bool exists(const struct fetch *f, const struct fb_fetch_want *want)
{
	int16_t error;

	return find(f, want, &error) != NULL;
}

/* Any negative epoch is none here. */
static int16_t judge_epoch(const struct fb_partition *partition, int32_t epoch)
{
	if (fb_mutant(FB_M_FETCH_EPOCH_REFUSED) && epoch >= 0)
		return KW_ERR_FENCED_LEADER_EPOCH;
	return epoch < 0 || fb_mutant(FB_M_FETCH_EPOCH_UNCHECKED) ? 0 : fb_partition_judge_epoch(partition, epoch);
}

/* Under the partition's lock. Partition.readRecords (KIP-595): is the epoch of the reader's last record one that is not
 * here, or ended earlier here? *end is where, and which one it then is. */
static bool diverges(const struct fb_partition *partition, const struct fb_fetch_want *want, struct fb_epoch *end)
{
	const struct fb_log *log = &partition->log;

	if (want->data.lastFetchedEpoch < 0 || want->data.fetchOffset < log->logStartOffset ||
	    fb_mutant(FB_M_FETCH_NEVER_DIVERGES))
		return false;
	*end = fb_epochs_end(&partition->epochs, want->data.lastFetchedEpoch, log->logStartOffset, log->logEndOffset);
	return end->epoch >= 0 && (end->epoch < want->data.lastFetchedEpoch || end->start < want->data.fetchOffset);
}

/* Under the partition's lock: what this reader may read. */
static int64_t readable_end(const struct fetch *f, const struct fb_partition *partition)
{
	if (f->body->isolationLevel == READ_COMMITTED)
		return fb_last_stable_offset(&partition->log, &partition->producers);
	return partition->log.logEndOffset;
}

/* Is there no batch with this offset, though there is one behind it? */
static bool is_hole(const struct fb_log *log, int64_t offset)
{
	size_t i = fb_log_find(log, offset);

	return i < log->n && log->entries[i].baseOffset > offset;
}

/* Under the partition's lock, of a reader that does not diverge. An epoch that is newer than all of the log is as wrong
 * as an offset beyond it. */
static int16_t judge_offset(const struct fetch *f, const struct fb_partition *partition,
			    const struct fb_fetch_want *want)
{
	const struct fb_log *log = &partition->log;

	if (fb_mutant(FB_M_FETCH_RANGE_UNCHECKED))
		return 0;
	if (fb_mutant(FB_M_FETCH_END_REFUSED) && want->data.fetchOffset == log->logEndOffset)
		return KW_ERR_OFFSET_OUT_OF_RANGE;
	if (fb_mutant(FB_M_HOLES_REFUSED) && is_hole(log, want->data.fetchOffset))
		return KW_ERR_OFFSET_OUT_OF_RANGE;
	if (want->data.fetchOffset < log->logStartOffset || want->data.fetchOffset > log->logEndOffset ||
	    want->data.lastFetchedEpoch > partition->leaderEpoch)
		return KW_ERR_OFFSET_OUT_OF_RANGE;
	if ((f->left < 0 || want->data.partitionMaxBytes < 0) && want->data.fetchOffset < readable_end(f, partition) &&
	    !fb_mutant(FB_M_LIMIT_BELOW_NOTHING))
		return KW_ERR_UNKNOWN_SERVER_ERROR;
	return 0;
}

/* ---- is there enough to answer? ---- */

/* Bytes between offsets, as far as they are asked for. False if `end` is in a later segment than what is there to be
 * read. */
static bool count_bytes(const struct fb_log *log, int64_t offset, int64_t end, int64_t most, int64_t *bytes)
{
	size_t first = fb_log_find(log, offset), i = first;

	for (; i < log->n && log->entries[i].baseOffset < end && *bytes < most; i++) {
		if (i > first && log->entries[i].rolled)
			return false;
		*bytes += log->entries[i].size;
	}
	return *bytes == 0 || *bytes >= most || !(i < log->n ? log->entries[i].rolled : log->activeBytes == 0);
}

/* Is the partition answered at once: with an error, because the reader is behind the end of what it may read, or
 * because that is in another segment (DelayedFetch.tryComplete)? Else *bytes are those that it has. */
static bool is_ready(const struct fetch *f, const struct fb_fetch_want *want, int64_t *bytes)
{
	int16_t error;
	struct fb_partition *partition = find(f, want, &error);
	struct fb_epoch diverging;
	bool ready;
	int64_t end;

	*bytes = 0;
	if (error || judge_epoch(partition, want->data.currentLeaderEpoch))
		return true;
	pthread_mutex_lock(&partition->lock);
	end = readable_end(f, partition);
	ready = diverges(partition, want, &diverging) || judge_offset(f, partition, want) ||
		want->data.fetchOffset > end ||
		!count_bytes(&partition->log, want->data.fetchOffset, end, f->min_bytes, bytes);
	pthread_mutex_unlock(&partition->lock);
	if (*bytes > 0 && *bytes > want->data.partitionMaxBytes)
		*bytes = want->data.partitionMaxBytes;
	return ready;
}

static bool enough(const struct fetch *f)
{
	int64_t sum = 0, bytes;

	for (size_t i = 0; i < f->context->n; i++) {
		if (is_ready(f, &f->context->wants[i], &bytes))
			return true;
		sum += bytes;
		if (sum >= f->min_bytes)
			return true;
	}
	return f->context->n == 0;
}

/* ---- the answer ---- */

/* FetchResponse's list for those who read committed records only: which producers' records are to be skipped from where
 * on. Under the partition's lock. */
static bool tell_aborted(struct fetch *f, const struct fb_txns *txns, int64_t from, int64_t end,
			 struct kw_FetchResponse_PartitionData *out)
{
	size_t first, last = fb_txns_aborted(txns, from, end, &first);
	int32_t n = 0;

	for (size_t i = first; i < last; i++)
		n += txns->aborted[i].firstOffset < end;
	if (!FB_RESPONSE_ARRAY(f->req, out->abortedTransactions, kw_FetchResponse_AbortedTransaction_struct, n))
		return false;
	n = 0;
	for (size_t i = first; i < last; i++)
		if (txns->aborted[i].firstOffset < end)
			out->abortedTransactions.v[n++] = (struct kw_FetchResponse_AbortedTransaction){
				.producerId = txns->aborted[i].producerId, .firstOffset = txns->aborted[i].firstOffset,
			};
	return true;
}

/* For a mutant: where the next batch begins, unless the offset begins one. */
static int64_t next_batch(const struct fb_log *log, int64_t offset)
{
	size_t i = fb_log_find(log, offset);

	if (i < log->n && log->entries[i].baseOffset < offset)
		return i + 1 < log->n ? log->entries[i + 1].baseOffset : log->logEndOffset;
	return offset;
}

/* Does the reader not get the first batch, because it is larger than what is left? Kafka then has no list of aborted
 * transactions either (ReplicaManager.readFromLog). */
static bool is_first_unfit(const struct fb_log *log, int64_t from, int64_t end, int64_t max, const struct fb_read *read)
{
	size_t i = fb_log_find(log, from);

	return max > 0 && read->nframes == 0 && i < log->n && log->entries[i].baseOffset < end;
}

static bool read_log(struct fetch *f, struct fb_partition *partition, const struct fb_fetch_want *want,
		     struct kw_FetchResponse_PartitionData *out, struct fb_read *read)
{
	int64_t max = want->data.partitionMaxBytes < f->left ? want->data.partitionMaxBytes : f->left;
	int64_t from = want->data.fetchOffset, end;
	struct fb_epoch diverging;
	bool apart;
	int code = 0;

	if (fb_mutant(FB_M_FETCH_PARTITION_LIMIT))
		max = f->left;
	if (fb_mutant(FB_M_FETCH_REQUEST_LIMIT))
		max = want->data.partitionMaxBytes;
	pthread_mutex_lock(&partition->lock);
	if (fb_mutant(FB_M_FETCH_FROM_NEXT_BATCH))
		from = next_batch(&partition->log, from);
	apart = diverges(partition, want, &diverging);
	out->errorCode = apart ? 0 : judge_offset(f, partition, want);
	if (apart) {
		out->divergingEpoch.epoch = diverging.epoch;
		out->divergingEpoch.endOffset = diverging.start;
	}
	if (!out->errorCode) {
		out->highWatermark = partition->log.logEndOffset;
		out->lastStableOffset = fb_last_stable_offset(&partition->log, &partition->producers);
		out->logStartOffset = partition->log.logStartOffset;
	}
	if (!out->errorCode && !apart) {
		end = readable_end(f, partition);
		code = fb_log_read(&partition->log, from, end, max > 0 ? (size_t)max : 0,
				   f->first && !fb_mutant(FB_M_FETCH_FIRST_BOUNDED), &f->req->arena, read);
		if (!code && f->body->isolationLevel == READ_COMMITTED &&
		    !is_first_unfit(&partition->log, from, end, max, read) &&
		    !tell_aborted(f, &partition->txns, want->data.fetchOffset, read->end, out))
			code = KT_ENOMEM;
	}
	pthread_mutex_unlock(&partition->lock);
	if (out->errorCode || code)
		return !code;
	out->records = read->records;
	if (read->records.n > 0)
		f->first = false;
	return fb_request_keep_take(f->req, read->frames, read->nframes) == 0;
}

static FB_OBSERVING bool make_room_to_show(struct fetch *f, size_t n)
{
	return fb_request_partitions(f->req, (int32_t)n) != NULL;
}

static FB_OBSERVING void show_consumed(const struct fetch *f, const struct fb_fetch_want *want,
				       const struct fb_partition *partition, const struct fb_read *read, int16_t error,
				       struct kassay_partition *shown)
{
	struct kw_str name = want->topic;

	if (by_id(f))
		name = partition ? kw_str(kw_strndup(&f->req->arena, partition->topic->name,
						     strlen(partition->topic->name)))
				 : KW_NULL_STR;
	fb_partition_init(shown);
	shown->topic = fb_hook_str(name);
	shown->partition = want->data.partition;
	shown->direction = fb_mutant(FB_M_CONSUMED_AS_PRODUCED) ? KASSAY_PRODUCED : KASSAY_CONSUMED;
	shown->bytes = read->records.n;
	shown->records = read->count;
	shown->codec = read->codec;
	shown->flags = read->nframes > read->whole ? KASSAY_PARTIAL : 0;
	shown->error = error;
}

static bool answer_partition(struct fetch *f, const struct fb_fetch_want *want,
			     struct kw_FetchResponse_PartitionData *out, struct kassay_partition *shown)
{
	struct fb_partition *partition = find(f, want, &out->errorCode);
	int16_t refused = partition && !f->req->forced ? fb_fetch_old_refuses(f->req, partition->topic) : 0;
	struct fb_read read = {.codec = -1};
	bool ok = true;

	out->partitionIndex = want->data.partition;
	out->highWatermark = out->lastStableOffset = out->logStartOffset = -1;
	out->records.n = 0;
	if (partition && !f->refused && !(f->req->forced && f->body->isolationLevel == READ_COMMITTED))
		out->abortedTransactions.n = -1;
	if (!out->errorCode)
		out->errorCode = judge_epoch(partition, want->data.currentLeaderEpoch);
	if (out->errorCode == KW_ERR_NOT_LEADER_OR_FOLLOWER && partition && partition->leader != f->req->node->id &&
	    f->req->version >= FIRST_WITH_LEADER) {
		out->currentLeader.leaderId = partition->leader;
		out->currentLeader.leaderEpoch = partition->leaderEpoch;
	}
	if (refused)
		fb_fetch_old_fail(out, refused);
	else if (!out->errorCode)
		ok = read_log(f, partition, want, out, &read);
	if (partition)
		f->left = f->left > read.records.n ? f->left - read.records.n : 0;
	if (shown)
		show_consumed(f, want, partition, &read, out->errorCode, shown);
	return ok;
}

/* Is the client told? In a session only of what changed; what is told is kept, and after an error all is told again. */
static bool is_news(const struct fetch *f, struct fb_fetch_want *want, const struct kw_FetchResponse_PartitionData *out)
{
	bool news = !f->context->incremental || fb_mutant(FB_M_SESSION_TELLS_ALL) || out->errorCode ||
		    out->records.n > 0 || out->divergingEpoch.epoch >= 0 ||
		    out->highWatermark != want->toldHighWatermark || out->logStartOffset != want->toldLogStartOffset;

	want->toldHighWatermark = out->errorCode ? -1 : out->highWatermark;
	want->toldLogStartOffset = out->logStartOffset;
	want->got = out->records.n > 0;
	return news;
}

static bool same_topic(const struct fetch *f, const struct fb_fetch_want *a, const struct fb_fetch_want *b)
{
	return by_id(f) ? kw_uuid_eq(a->topicId, b->topicId) : kw_str_eq(a->topic, b->topic);
}

/* KafkaApis.handleFetchRequest: partitions that do not exist come last; but a request that is refused as a whole is
 * answered in its own order. */
static bool put_in_order(struct fetch *f)
{
	size_t n = f->context->n, *order = kw_alloc(&f->req->arena, 2 * n * sizeof *order), *missing = order + n;
	size_t there = 0, gone = 0;

	if (!order)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (n == 1 || f->req->forced || exists(f, &f->context->wants[i]))
			order[there++] = i;
		else
			missing[gone++] = i;
	}
	memcpy(order + there, missing, gone * sizeof *order);
	f->context->order = order;
	return true;
}

/* A row of the answer for the want that comes as the from-th, and those of the same topic that follow it. Returns how
 * many those are; -1 without memory. */
static int32_t answer_topic(struct fetch *f, size_t from, struct kw_FetchResponse_FetchableTopicResponse *out)
{
	struct fb_fetch_want *wants = f->context->wants;
	const size_t *order = f->context->order + from;
	int32_t n = 1, told = 0;

	while (from + (size_t)n < f->context->n && same_topic(f, &wants[order[0]], &wants[order[n]]))
		n++;
	if (!by_id(f))
		out->topic = wants[order[0]].topic;
	out->topicId = wants[order[0]].topicId;
	if (!FB_RESPONSE_ARRAY(f->req, out->partitions, kw_FetchResponse_PartitionData_struct, n))
		return -1;
	for (int32_t i = 0; i < n; i++) {
		struct kw_FetchResponse_PartitionData *data = &out->partitions.v[told];
		struct kassay_partition *shown = f->req->watched ? &f->req->partitions[f->req->npartitions] : NULL;

		if (!answer_partition(f, &wants[order[i]], data, shown))
			return -1;
		if (is_news(f, &wants[order[i]], data)) {
			told++;
			f->req->npartitions += f->req->watched;
		} else {
			kw_set_defaults(&kw_FetchResponse_PartitionData_struct, data);
		}
	}
	out->partitions.n = told;
	return n;
}

/* Kafka cannot put anything behind a topic that has neither an id nor a name: FetchResponse.matchingTopic compares
 * names then. */
static bool is_stuck(const struct fetch *f)
{
	static const struct kw_uuid zero;

	for (size_t i = 0; by_id(f) && !f->req->forced && i + 1 < f->context->n; i++)
		if (kw_uuid_eq(f->context->wants[f->context->order[i]].topicId, zero))
			return true;
	return false;
}

static bool answer(struct fetch *f)
{
	struct kw_FetchResponse *response = f->req->response;
	size_t n = f->context->n;
	int32_t topics = 0, wants;

	if ((f->req->watched && !make_room_to_show(f, n)) ||
	    !FB_RESPONSE_ARRAY(f->req, response->responses, kw_FetchResponse_FetchableTopicResponse_struct, (int32_t)n))
		return false;
	for (size_t i = 0; i < n; i += (size_t)wants) {
		struct kw_FetchResponse_FetchableTopicResponse *topic = &response->responses.v[topics];

		wants = answer_topic(f, i, topic);
		if (wants < 0)
			return false;
		topics += topic->partitions.n > 0;
	}
	response->responses.n = topics;
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
	struct fb_node *node = f->req->node;
	int64_t most = fb_configs_kept_long(f->req->cluster->configs, node->id, "fetch.max.bytes", 57671680,
					    &node->fetch_max_bytes);

	f->left = f->body->maxBytes < most ? f->body->maxBytes : most;
	f->min_bytes = f->body->minBytes < f->left ? f->body->minBytes : f->left;
}

/* Done once, however often a waiting request looks again. */
static int16_t begin(struct fetch *f)
{
	struct fb_fetcher fetcher = {.by_id = by_id(f), .replica = replica_id(f) >= 0};
	struct fb_request *req = f->req;

	f->context = req->kept;
	if (f->context)
		return 0;
	f->context = req->kept = kw_alloc(&req->arena, sizeof *f->context);
	if (!f->context)
		return KW_ERR_UNKNOWN_SERVER_ERROR;
	return fb_fetch_begin(req->node->fetch_sessions, f->body, &fetcher, fb_now_ns() / NS_PER_MS, &req->arena,
			      f->context);
}

/* FetchRequest.getErrorResponse: all that the request itself names, whatever its session wants, which has moved on;
 * where topics are named by id, nothing. */
static bool refuse_whole(struct fetch *f)
{
	struct kw_FetchResponse *response = f->req->response;

	f->refused = true;
	response->errorCode = f->req->forced = KW_ERR_UNKNOWN_SERVER_ERROR;
	response->sessionId = f->body->sessionId;
	if (!by_id(f))
		return fb_fetch_list(f->body, &f->req->arena, f->context);
	*f->context = (struct fb_fetch_context){.by_id = true};
	return true;
}

/* Kafka looks at the isolation level once it has something to read. Under the cluster's lock. */
static bool is_isolation_wrong(const struct fetch *f)
{
	if (f->body->isolationLevel == READ_UNCOMMITTED || f->body->isolationLevel == READ_COMMITTED ||
	    f->req->forced || fb_mutant(FB_M_ISOLATION_UNCHECKED))
		return false;
	for (size_t i = 0; i < f->context->n; i++)
		if (exists(f, &f->context->wants[i]))
			return true;
	return false;
}

static int32_t end(struct fetch *f)
{
	struct fb_request *req = f->req;
	int64_t slots = fb_configs_kept_long(req->cluster->configs, req->node->id,
					     "max.incremental.fetch.session.cache.slots", 1000,
					     &req->node->fetch_session_slots);

	return fb_fetch_end(req->node->fetch_sessions, f->context, slots, fb_now_ns() / NS_PER_MS);
}

enum fb_outcome fb_fetch(struct fb_request *req)
{
	struct fetch f = {.req = req, .body = req->body, .first = req->version > FB_FETCH_HARD_LIMIT};
	struct kw_FetchResponse *response = req->response;
	bool ok;

	response->errorCode = begin(&f);
	if (!f.context)
		return FB_CLOSE;
	if (req->forced && response->errorCode)
		response->errorCode = req->forced;
	if (response->errorCode && (req->forced || response->errorCode != KW_ERR_UNKNOWN_SERVER_ERROR))
		return FB_REPLY;
	ok = !response->errorCode || refuse_whole(&f);
	pthread_rwlock_rdlock(&req->cluster->lock);
	if (ok && is_isolation_wrong(&f))
		ok = refuse_whole(&f);
	set_bounds(&f);
	if (ok && must_wait(&f)) {
		pthread_rwlock_unlock(&req->cluster->lock);
		return FB_WAIT;
	}
	req->twice = req->expired && fb_mutant(FB_M_FETCH_WAIT_ANSWERED_TWICE);
	ok = ok && put_in_order(&f) && (!is_stuck(&f) || refuse_whole(&f)) && answer(&f);
	if (ok && !response->errorCode)
		response->sessionId = fb_mutant(FB_M_SESSION_UNTOLD) ? 0 : end(&f);
	pthread_rwlock_unlock(&req->cluster->lock);
	if (ok && req->version <= FB_FETCH_LAST_OLD)
		return fb_fetch_old_convert(req, f.context);
	return ok ? FB_REPLY : FB_CLOSE;
}
