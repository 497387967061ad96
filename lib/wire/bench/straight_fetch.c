#include "lib/wire/bench/straight_cursor.h"

int straight_decode_FetchRequest_13(const uint8_t *p, size_t n, struct kw_arena *arena, void **out, size_t *used,
					struct kt_err *err)
{
	struct kw_FetchRequest *request = kw_alloc(arena, sizeof *request);
	struct context context = {.from = p, .err = err};
	struct reader r = {p, p + n, &context};
	struct place at_i, at_j;
	uint32_t ntags, tag, size;
	void *v;

	*out = request;
	if (!request)
		return KT_ENOMEM;
	request->clusterId = KW_NULL_STR;
	request->replicaState.replicaId = -1;
	request->replicaState.replicaEpoch = -1;
	READ(get32(&r, "replicaId", &request->replicaId));
	READ(get32(&r, "maxWaitMs", &request->maxWaitMs));
	READ(get32(&r, "minBytes", &request->minBytes));
	READ(get32(&r, "maxBytes", &request->maxBytes));
	READ(get8(&r, "isolationLevel", &request->isolationLevel));
	READ(get32(&r, "sessionId", &request->sessionId));
	READ(get32(&r, "sessionEpoch", &request->sessionEpoch));
	READ(get_array(&r, "topics", false, 18, arena, sizeof *request->topics.v, &v, &request->topics.n));
	request->topics.v = v;
	enter(&r, &at_i, "topics");
	for (int32_t i = 0; i < request->topics.n; at_i.index = ++i) {
		struct kw_FetchRequest_FetchTopic *topic = &request->topics.v[i];

		READ(get_uuid(&r, "topicId", &topic->topicId));
		READ(get_array(&r, "partitions", false, 33,
			      arena, sizeof *topic->partitions.v, &v, &topic->partitions.n));
		topic->partitions.v = v;
		enter(&r, &at_j, "partitions");
		for (int32_t j = 0; j < topic->partitions.n; at_j.index = ++j) {
			struct kw_FetchRequest_FetchPartition *partition = &topic->partitions.v[j];

			READ(get32(&r, "partition", &partition->partition));
			READ(get32(&r, "currentLeaderEpoch", &partition->currentLeaderEpoch));
			READ(get64(&r, "fetchOffset", &partition->fetchOffset));
			READ(get32(&r, "lastFetchedEpoch", &partition->lastFetchedEpoch));
			READ(get64(&r, "logStartOffset", &partition->logStartOffset));
			READ(get32(&r, "partitionMaxBytes", &partition->partitionMaxBytes));
			partition->highWatermark = INT64_MAX;
			READ(get_tags(&r, NULL, 2, arena, &partition->unknownTags));
		}
		leave(&r);
		READ(get_tags(&r, NULL, 0, arena, &topic->unknownTags));
	}
	leave(&r);
	READ(get_array(&r, "forgottenTopicsData", false, 18,
		      arena, sizeof *request->forgottenTopicsData.v, &v, &request->forgottenTopicsData.n));
	request->forgottenTopicsData.v = v;
	enter(&r, &at_i, "forgottenTopicsData");
	for (int32_t i = 0; i < request->forgottenTopicsData.n; at_i.index = ++i) {
		struct kw_FetchRequest_ForgottenTopic *topic = &request->forgottenTopicsData.v[i];

		READ(get_uuid(&r, "topicId", &topic->topicId));
		READ(get_ints(&r, "partitions", arena, &topic->partitions.v, &topic->partitions.n));
		READ(get_tags(&r, NULL, 0, arena, &topic->unknownTags));
	}
	leave(&r);
	READ(get_string(&r, "rackId", false, &request->rackId));
	READ(get_tag_count(&r, NULL, &ntags));
	for (uint32_t i = 0; i < ntags; i++) {
		READ(get_uvarint(&r, NULL, &tag));
		READ(get_uvarint(&r, NULL, &size));
		if (tag == 0) {
			READ(get_string(&r, "clusterId", true, &request->clusterId));
			continue;
		}
		READ(keep_tag(&r, NULL, tag, 2, size, ntags - i, arena, &request->unknownTags));
	}
	*used = (size_t)(r.p - p);
	return 0;
}

static bool get_fetched_tag(struct reader *r, uint32_t tag, struct kw_arena *arena,
			    struct kw_FetchResponse_PartitionData *partition)
{
	switch (tag) {
	case 0:
		return get32(r, "divergingEpoch.epoch", &partition->divergingEpoch.epoch) &&
		       get64(r, "divergingEpoch.endOffset", &partition->divergingEpoch.endOffset) &&
		       get_tags(r, "divergingEpoch", 0, arena, &partition->divergingEpoch.unknownTags);
	case 1:
		return get32(r, "currentLeader.leaderId", &partition->currentLeader.leaderId) &&
		       get32(r, "currentLeader.leaderEpoch", &partition->currentLeader.leaderEpoch) &&
		       get_tags(r, "currentLeader", 0, arena, &partition->currentLeader.unknownTags);
	default:
		return get64(r, "snapshotId.endOffset", &partition->snapshotId.endOffset) &&
		       get32(r, "snapshotId.epoch", &partition->snapshotId.epoch) &&
		       get_tags(r, "snapshotId", 0, arena, &partition->snapshotId.unknownTags);
	}
}

/* Returns the place behind, or NULL. */
RARE const uint8_t *get_fetched_tags(struct reader r, uint32_t n, struct kw_arena *arena,
				    struct kw_FetchResponse_PartitionData *partition)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t tag, size;

		if (!get_uvarint(&r, NULL, &tag) || !get_uvarint(&r, NULL, &size))
			return NULL;
		if (tag > 2 ? !keep_tag(&r, NULL, tag, 0, size, n - i, arena, &partition->unknownTags) :
			      !get_fetched_tag(&r, tag, arena, partition))
			return NULL;
	}
	return r.p;
}

int straight_decode_FetchResponse_13(const uint8_t *p, size_t n, struct kw_arena *arena, void **out, size_t *used,
					struct kt_err *err)
{
	struct kw_FetchResponse *response = kw_alloc(arena, sizeof *response);
	struct context context = {.from = p, .err = err};
	struct reader r = {p, p + n, &context};
	struct place at_i, at_j, at_k;
	uint32_t ntags;
	void *v;

	*out = response;
	if (!response)
		return KT_ENOMEM;
	READ(get32(&r, "throttleTimeMs", &response->throttleTimeMs));
	READ(get16(&r, "errorCode", &response->errorCode));
	READ(get32(&r, "sessionId", &response->sessionId));
	READ(get_array(&r, "responses", false, 18, arena, sizeof *response->responses.v, &v, &response->responses.n));
	response->responses.v = v;
	enter(&r, &at_i, "responses");
	for (int32_t i = 0; i < response->responses.n; at_i.index = ++i) {
		struct kw_FetchResponse_FetchableTopicResponse *topic = &response->responses.v[i];

		READ(get_uuid(&r, "topicId", &topic->topicId));
		READ(get_array(&r, "partitions", false, 37,
			      arena, sizeof *topic->partitions.v, &v, &topic->partitions.n));
		topic->partitions.v = v;
		enter(&r, &at_j, "partitions");
		for (int32_t j = 0; j < topic->partitions.n; at_j.index = ++j) {
			struct kw_FetchResponse_PartitionData *partition = &topic->partitions.v[j];

			READ(get32(&r, "partitionIndex", &partition->partitionIndex));
			READ(get16(&r, "errorCode", &partition->errorCode));
			READ(get64(&r, "highWatermark", &partition->highWatermark));
			READ(get64(&r, "lastStableOffset", &partition->lastStableOffset));
			READ(get64(&r, "logStartOffset", &partition->logStartOffset));
			partition->divergingEpoch.epoch = -1;
			partition->divergingEpoch.endOffset = -1;
			partition->currentLeader.leaderId = -1;
			partition->currentLeader.leaderEpoch = -1;
			partition->snapshotId.endOffset = -1;
			partition->snapshotId.epoch = -1;
			READ(get_array(&r, "abortedTransactions", true, 17, arena,
				       sizeof *partition->abortedTransactions.v, &v,
				       &partition->abortedTransactions.n));
			partition->abortedTransactions.v = v;
			enter(&r, &at_k, "abortedTransactions");
			for (int32_t k = 0; k < partition->abortedTransactions.n; at_k.index = ++k) {
				struct kw_FetchResponse_AbortedTransaction *aborted =
					&partition->abortedTransactions.v[k];

				READ(get64(&r, "producerId", &aborted->producerId));
				READ(get64(&r, "firstOffset", &aborted->firstOffset));
				READ(get_tags(&r, NULL, 0, arena, &aborted->unknownTags));
			}
			leave(&r);
			READ(get32(&r, "preferredReadReplica", &partition->preferredReadReplica));
			READ(get_records(&r, "records", &partition->records));
			READ(get_tag_count(&r, NULL, &ntags));
			if (ntags > 0)
				r.p = get_fetched_tags(r, ntags, arena, partition);
			if (!r.p)
				return context.code;
		}
		leave(&r);
		READ(get_tags(&r, NULL, 0, arena, &topic->unknownTags));
	}
	leave(&r);
	READ(get_tags(&r, NULL, 1, arena, &response->unknownTags));
	*used = (size_t)(r.p - p);
	return 0;
}

static bool put_fetch_partition(struct writer *w, const struct kw_FetchRequest_FetchPartition *partition)
{
	put32(w, (uint32_t)partition->partition);
	put32(w, (uint32_t)partition->currentLeaderEpoch);
	put64(w, (uint64_t)partition->fetchOffset);
	put32(w, (uint32_t)partition->lastFetchedEpoch);
	put64(w, (uint64_t)partition->logStartOffset);
	put32(w, (uint32_t)partition->partitionMaxBytes);
	return put_tags(w, &partition->unknownTags);
}

static bool put_forgotten(struct writer *w, const struct kw_FetchRequest_ForgottenTopic *topic)
{
	put_uuid(w, topic->topicId);
	return put_ints(w, topic->partitions.v, topic->partitions.n) && put_tags(w, &topic->unknownTags);
}

/* The cluster id, the only tagged field of this version. */
static bool put_cluster_id(struct writer *w, const struct kw_FetchRequest *request)
{
	size_t n = (size_t)request->clusterId.n;

	if (!put_tag_count(w, request->clusterId.n >= 0, &request->unknownTags))
		return false;
	if (request->clusterId.n >= 0) {
		put_uvarint(w, 0);
		put_uvarint(w, (uint32_t)(n + (n + 1 > 0x3fff ? 3 : n + 1 > 0x7f ? 2 : 1)));
		if (!put_string(w, request->clusterId, true))
			return false;
	}
	if (request->unknownTags.n > 0)
		*w = put_unknown(*w, &request->unknownTags);
	return w->code == 0;
}

int straight_encode_FetchRequest_13(const void *in, struct kw_buf *buf)
{
	const struct kw_FetchRequest *request = in;
	struct writer w;

	if (request->replicaState.replicaId != -1 || request->replicaState.replicaEpoch != -1 ||
	    request->replicaState.unknownTags.n)
		return KT_EVERSION;
	if (!start_writing(&w, buf))
		return w.code;
	put32(&w, (uint32_t)request->replicaId);
	put32(&w, (uint32_t)request->maxWaitMs);
	put32(&w, (uint32_t)request->minBytes);
	put32(&w, (uint32_t)request->maxBytes);
	put8(&w, (uint8_t)request->isolationLevel);
	put32(&w, (uint32_t)request->sessionId);
	put32(&w, (uint32_t)request->sessionEpoch);
	put_length(&w, request->topics.n, false);
	for (int32_t i = 0; i < request->topics.n; i++) {
		const struct kw_FetchRequest_FetchTopic *topic = &request->topics.v[i];

		put_uuid(&w, topic->topicId);
		put_length(&w, topic->partitions.n, false);
		for (int32_t j = 0; j < topic->partitions.n; j++)
			if (!put_fetch_partition(&w, &topic->partitions.v[j]))
				return w.code;
		if (!put_tags(&w, &topic->unknownTags))
			return w.code;
	}
	put_length(&w, request->forgottenTopicsData.n, false);
	for (int32_t i = 0; i < request->forgottenTopicsData.n; i++)
		if (!put_forgotten(&w, &request->forgottenTopicsData.v[i]))
			return w.code;
	if (!put_string(&w, request->rackId, false) || !put_cluster_id(&w, request))
		return w.code;
	return end_writing(&w);
}

static bool put_aborted(struct writer *w, const struct kw_FetchResponse_AbortedTransaction *v, int32_t n)
{
	for (int32_t i = 0; i < n; i++) {
		put64(w, (uint64_t)v[i].producerId);
		put64(w, (uint64_t)v[i].firstOffset);
		if (!put_tags(w, &v[i].unknownTags))
			return false;
	}
	return true;
}

/* One of the tagged structs of a partition: two numbers, of 4 and 8 bytes, and its own tagged fields. */
struct pair {
	bool set;
	uint32_t tag;
	uint64_t first, second;
	unsigned wide_first, wide_second;
	const struct kw_tags *unknown;
};

static bool put_pair(struct writer *w, const struct pair *pair)
{
	size_t size, at;

	put_uvarint(w, pair->tag);
	at = (size_t)(w->q - w->buf->p);
	put8(w, (uint8_t)(pair->wide_first + pair->wide_second + 1));
	if (pair->wide_first == 4)
		put32(w, (uint32_t)pair->first);
	else
		put64(w, pair->first);
	if (pair->wide_second == 4)
		put32(w, (uint32_t)pair->second);
	else
		put64(w, pair->second);
	if (!put_tags(w, pair->unknown))
		return false;
	if (pair->unknown->n == 0)
		return true;
	/* Tags of the tagged struct: its size can take more than the byte left for it. */
	size = (size_t)(w->q - w->buf->p) - at - 1;
	{
		uint8_t *to = w->buf->p + at, prefix[LENGTH_MAX], *q = prefix;
		uint32_t v = (uint32_t)size;

		for (; v > 0x7f; v >>= 7)
			*q++ = (uint8_t)(v | 0x80);
		*q++ = (uint8_t)v;
		memmove(to + (q - prefix), to + 1, size);
		memcpy(to, prefix, (size_t)(q - prefix));
		w->q = to + (q - prefix) + size;
	}
	return true;
}

static bool put_fetched_tags(struct writer *w, const struct kw_FetchResponse_PartitionData *partition)
{
	const struct pair pairs[] = {
		{partition->divergingEpoch.epoch != -1 || partition->divergingEpoch.endOffset != -1 ||
		 partition->divergingEpoch.unknownTags.n, 0, (uint64_t)partition->divergingEpoch.epoch,
		 (uint64_t)partition->divergingEpoch.endOffset, 4, 8, &partition->divergingEpoch.unknownTags},
		{partition->currentLeader.leaderId != -1 || partition->currentLeader.leaderEpoch != -1 ||
		 partition->currentLeader.unknownTags.n, 1, (uint64_t)partition->currentLeader.leaderId,
		 (uint64_t)partition->currentLeader.leaderEpoch, 4, 4, &partition->currentLeader.unknownTags},
		{partition->snapshotId.endOffset != -1 || partition->snapshotId.epoch != -1 ||
		 partition->snapshotId.unknownTags.n, 2, (uint64_t)partition->snapshotId.endOffset,
		 (uint64_t)partition->snapshotId.epoch, 8, 4, &partition->snapshotId.unknownTags},
	};
	uint32_t n = (uint32_t)pairs[0].set + pairs[1].set + pairs[2].set;

	if (!put_tag_count(w, n, &partition->unknownTags))
		return false;
	for (size_t i = 0; n > 0 && i < 3; i++)
		if (pairs[i].set && !put_pair(w, &pairs[i]))
			return false;
	if (partition->unknownTags.n > 0)
		*w = put_unknown(*w, &partition->unknownTags);
	return w->code == 0;
}

static bool put_fetched(struct writer *w, const struct kw_FetchResponse_PartitionData *partition)
{
	put32(w, (uint32_t)partition->partitionIndex);
	put16(w, (uint16_t)partition->errorCode);
	put64(w, (uint64_t)partition->highWatermark);
	put64(w, (uint64_t)partition->lastStableOffset);
	put64(w, (uint64_t)partition->logStartOffset);
	put_length(w, partition->abortedTransactions.n, true);
	if (!put_aborted(w, partition->abortedTransactions.v, partition->abortedTransactions.n))
		return false;
	put32(w, (uint32_t)partition->preferredReadReplica);
	return put_records(w, &partition->records) && put_fetched_tags(w, partition);
}

int straight_encode_FetchResponse_13(const void *in, struct kw_buf *buf)
{
	const struct kw_FetchResponse *response = in;
	struct writer w;

	if (response->nodeEndpoints.n != 0)
		return KT_EVERSION;
	if (!start_writing(&w, buf))
		return w.code;
	put32(&w, (uint32_t)response->throttleTimeMs);
	put16(&w, (uint16_t)response->errorCode);
	put32(&w, (uint32_t)response->sessionId);
	put_length(&w, response->responses.n, false);
	for (int32_t i = 0; i < response->responses.n; i++) {
		const struct kw_FetchResponse_FetchableTopicResponse *topic = &response->responses.v[i];

		put_uuid(&w, topic->topicId);
		put_length(&w, topic->partitions.n, false);
		for (int32_t j = 0; j < topic->partitions.n; j++)
			if (!put_fetched(&w, &topic->partitions.v[j]))
				return w.code;
		if (!put_tags(&w, &topic->unknownTags))
			return w.code;
	}
	put_tags(&w, &response->unknownTags);
	return end_writing(&w);
}
