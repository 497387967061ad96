#include "lib/wire/bench/straight_cursor.h"

int straight_decode_ProduceRequest_9(const uint8_t *p, size_t n, struct kw_arena *arena, void **out, size_t *used)
{
	struct kw_ProduceRequest *request = kw_alloc(arena, sizeof *request);
	struct reader r = {p, p + n, 0};
	void *v;

	*out = request;
	if (!request)
		return KT_ENOMEM;
	request->transactionalId = get_string(&r, true);
	request->acks = (int16_t)get16(&r);
	request->timeoutMs = (int32_t)get32(&r);
	request->topicData.n = get_array(&r, false, 3, arena, sizeof *request->topicData.v, &v);
	request->topicData.v = v;
	for (int32_t i = 0; i < request->topicData.n && !r.code; i++) {
		struct kw_ProduceRequest_TopicProduceData *topic = &request->topicData.v[i];

		topic->name = get_string(&r, false);
		topic->partitionData.n = get_array(&r, false, 6, arena, sizeof *topic->partitionData.v, &v);
		topic->partitionData.v = v;
		for (int32_t j = 0; j < topic->partitionData.n && !r.code; j++) {
			struct kw_ProduceRequest_PartitionProduceData *partition = &topic->partitionData.v[j];

			partition->index = (int32_t)get32(&r);
			partition->records = get_records(&r);
			get_tags(&r, 0, arena, &partition->unknownTags);
		}
		get_tags(&r, 0, arena, &topic->unknownTags);
	}
	get_tags(&r, 0, arena, &request->unknownTags);
	return end_reading(&r, p, used);
}

int straight_decode_ProduceResponse_9(const uint8_t *p, size_t n, struct kw_arena *arena, void **out, size_t *used)
{
	struct kw_ProduceResponse *response = kw_alloc(arena, sizeof *response);
	struct reader r = {p, p + n, 0};
	void *v;

	*out = response;
	if (!response)
		return KT_ENOMEM;
	response->responses.n = get_array(&r, false, 3, arena, sizeof *response->responses.v, &v);
	response->responses.v = v;
	for (int32_t i = 0; i < response->responses.n && !r.code; i++) {
		struct kw_ProduceResponse_TopicProduceResponse *topic = &response->responses.v[i];

		topic->name = get_string(&r, false);
		topic->partitionResponses.n = get_array(&r, false, 33, arena, sizeof *topic->partitionResponses.v, &v);
		topic->partitionResponses.v = v;
		for (int32_t j = 0; j < topic->partitionResponses.n && !r.code; j++) {
			struct kw_ProduceResponse_PartitionProduceResponse *partition = &topic->partitionResponses.v[j];

			partition->index = (int32_t)get32(&r);
			partition->errorCode = (int16_t)get16(&r);
			partition->baseOffset = (int64_t)get64(&r);
			partition->logAppendTimeMs = (int64_t)get64(&r);
			partition->logStartOffset = (int64_t)get64(&r);
			partition->recordErrors.n = get_array(&r, false, 6, arena, sizeof *partition->recordErrors.v, &v);
			partition->recordErrors.v = v;
			for (int32_t k = 0; k < partition->recordErrors.n && !r.code; k++) {
				struct kw_ProduceResponse_BatchIndexAndErrorMessage *error = &partition->recordErrors.v[k];

				error->batchIndex = (int32_t)get32(&r);
				error->batchIndexErrorMessage = get_string(&r, true);
				get_tags(&r, 0, arena, &error->unknownTags);
			}
			partition->errorMessage = get_string(&r, true);
			partition->currentLeader.leaderId = partition->currentLeader.leaderEpoch = -1;
			get_tags(&r, 1, arena, &partition->unknownTags);
		}
		get_tags(&r, 0, arena, &topic->unknownTags);
	}
	response->throttleTimeMs = (int32_t)get32(&r);
	get_tags(&r, 1, arena, &response->unknownTags);
	return end_reading(&r, p, used);
}

int straight_encode_ProduceRequest_9(const void *in, struct kw_buf *buf)
{
	const struct kw_ProduceRequest *request = in;
	struct writer w;

	if (!start_writing(&w, buf) || !put_string(&w, request->transactionalId, true))
		return w.code;
	put16(&w, (uint16_t)request->acks);
	put32(&w, (uint32_t)request->timeoutMs);
	put_length(&w, request->topicData.n, false);
	for (int32_t i = 0; i < request->topicData.n; i++) {
		const struct kw_ProduceRequest_TopicProduceData *topic = &request->topicData.v[i];

		if (!put_string(&w, topic->name, false))
			return w.code;
		put_length(&w, topic->partitionData.n, false);
		for (int32_t j = 0; j < topic->partitionData.n; j++) {
			const struct kw_ProduceRequest_PartitionProduceData *partition = &topic->partitionData.v[j];

			put32(&w, (uint32_t)partition->index);
			if (!put_records(&w, &partition->records) || !put_tags(&w, &partition->unknownTags))
				return w.code;
		}
		if (!put_tags(&w, &topic->unknownTags))
			return w.code;
	}
	put_tags(&w, &request->unknownTags);
	return end_writing(&w);
}

static bool put_errors(struct writer *w, const struct kw_ProduceResponse_BatchIndexAndErrorMessage *v, int32_t n)
{
	for (int32_t i = 0; i < n; i++) {
		put32(w, (uint32_t)v[i].batchIndex);
		if (!put_string(w, v[i].batchIndexErrorMessage, true) || !put_tags(w, &v[i].unknownTags))
			return false;
	}
	return true;
}

static bool put_produced(struct writer *w, const struct kw_ProduceResponse_PartitionProduceResponse *partition)
{
	if (partition->currentLeader.leaderId != -1 || partition->currentLeader.leaderEpoch != -1 ||
	    partition->currentLeader.unknownTags.n)
		w->code = KT_EVERSION;
	put32(w, (uint32_t)partition->index);
	put16(w, (uint16_t)partition->errorCode);
	put64(w, (uint64_t)partition->baseOffset);
	put64(w, (uint64_t)partition->logAppendTimeMs);
	put64(w, (uint64_t)partition->logStartOffset);
	put_length(w, partition->recordErrors.n, false);
	return put_errors(w, partition->recordErrors.v, partition->recordErrors.n) &&
	       put_string(w, partition->errorMessage, true) && put_tags(w, &partition->unknownTags);
}

int straight_encode_ProduceResponse_9(const void *in, struct kw_buf *buf)
{
	const struct kw_ProduceResponse *response = in;
	struct writer w;

	if (!start_writing(&w, buf))
		return w.code;
	if (response->nodeEndpoints.n != 0)
		return KT_EVERSION;
	put_length(&w, response->responses.n, false);
	for (int32_t i = 0; i < response->responses.n; i++) {
		const struct kw_ProduceResponse_TopicProduceResponse *topic = &response->responses.v[i];

		if (!put_string(&w, topic->name, false))
			return w.code;
		put_length(&w, topic->partitionResponses.n, false);
		for (int32_t j = 0; j < topic->partitionResponses.n; j++)
			if (!put_produced(&w, &topic->partitionResponses.v[j]))
				return w.code;
		if (!put_tags(&w, &topic->unknownTags))
			return w.code;
	}
	put32(&w, (uint32_t)response->throttleTimeMs);
	put_tags(&w, &response->unknownTags);
	return end_writing(&w);
}
