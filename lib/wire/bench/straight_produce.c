#include "lib/wire/bench/straight_cursor.h"

int straight_decode_ProduceRequest_9(const uint8_t *p, size_t n, struct kw_arena *arena, void **out, size_t *used,
					struct kt_err *err)
{
	struct kw_ProduceRequest *request = kw_alloc(arena, sizeof *request);
	struct context context = {.from = p, .err = err};
	struct reader r = {p, p + n, &context};
	struct place at_i, at_j;
	void *v;

	*out = request;
	if (!request)
		return KT_ENOMEM;
	READ(get_string(&r, "transactionalId", true, &request->transactionalId));
	READ(get16(&r, "acks", &request->acks));
	READ(get32(&r, "timeoutMs", &request->timeoutMs));
	READ(get_array(&r, "topicData", false, 3, arena, sizeof *request->topicData.v, &v, &request->topicData.n));
	request->topicData.v = v;
	enter(&r, &at_i, "topicData");
	for (int32_t i = 0; i < request->topicData.n; at_i.index = ++i) {
		struct kw_ProduceRequest_TopicProduceData *topic = &request->topicData.v[i];

		READ(get_string(&r, "name", false, &topic->name));
		READ(get_array(&r, "partitionData", false, 6,
			      arena, sizeof *topic->partitionData.v, &v, &topic->partitionData.n));
		topic->partitionData.v = v;
		enter(&r, &at_j, "partitionData");
		for (int32_t j = 0; j < topic->partitionData.n; at_j.index = ++j) {
			struct kw_ProduceRequest_PartitionProduceData *partition = &topic->partitionData.v[j];

			READ(get32(&r, "index", &partition->index));
			READ(get_records(&r, "records", &partition->records));
			READ(get_tags(&r, NULL, 0, arena, &partition->unknownTags));
		}
		leave(&r);
		READ(get_tags(&r, NULL, 0, arena, &topic->unknownTags));
	}
	leave(&r);
	READ(get_tags(&r, NULL, 0, arena, &request->unknownTags));
	*used = (size_t)(r.p - p);
	return 0;
}

int straight_decode_ProduceResponse_9(const uint8_t *p, size_t n, struct kw_arena *arena, void **out, size_t *used,
					struct kt_err *err)
{
	struct kw_ProduceResponse *response = kw_alloc(arena, sizeof *response);
	struct context context = {.from = p, .err = err};
	struct reader r = {p, p + n, &context};
	struct place at_i, at_j, at_k;
	void *v;

	*out = response;
	if (!response)
		return KT_ENOMEM;
	READ(get_array(&r, "responses", false, 3, arena, sizeof *response->responses.v, &v, &response->responses.n));
	response->responses.v = v;
	enter(&r, &at_i, "responses");
	for (int32_t i = 0; i < response->responses.n; at_i.index = ++i) {
		struct kw_ProduceResponse_TopicProduceResponse *topic = &response->responses.v[i];

		READ(get_string(&r, "name", false, &topic->name));
		READ(get_array(&r, "partitionResponses", false, 33,
			      arena, sizeof *topic->partitionResponses.v, &v, &topic->partitionResponses.n));
		topic->partitionResponses.v = v;
		enter(&r, &at_j, "partitionResponses");
		for (int32_t j = 0; j < topic->partitionResponses.n; at_j.index = ++j) {
			struct kw_ProduceResponse_PartitionProduceResponse *partition = &topic->partitionResponses.v[j];

			READ(get32(&r, "index", &partition->index));
			READ(get16(&r, "errorCode", &partition->errorCode));
			READ(get64(&r, "baseOffset", &partition->baseOffset));
			READ(get64(&r, "logAppendTimeMs", &partition->logAppendTimeMs));
			READ(get64(&r, "logStartOffset", &partition->logStartOffset));
			READ(get_array(&r, "recordErrors", false, 6,
				      arena, sizeof *partition->recordErrors.v, &v, &partition->recordErrors.n));
			partition->recordErrors.v = v;
			enter(&r, &at_k, "recordErrors");
			for (int32_t k = 0; k < partition->recordErrors.n; at_k.index = ++k) {
				struct kw_ProduceResponse_BatchIndexAndErrorMessage *error =
					&partition->recordErrors.v[k];

				READ(get32(&r, "batchIndex", &error->batchIndex));
				READ(get_string(&r, "batchIndexErrorMessage", true, &error->batchIndexErrorMessage));
				READ(get_tags(&r, NULL, 0, arena, &error->unknownTags));
			}
			leave(&r);
			READ(get_string(&r, "errorMessage", true, &partition->errorMessage));
			partition->currentLeader.leaderId = partition->currentLeader.leaderEpoch = -1;
			READ(get_tags(&r, NULL, 1, arena, &partition->unknownTags));
		}
		leave(&r);
		READ(get_tags(&r, NULL, 0, arena, &topic->unknownTags));
	}
	leave(&r);
	READ(get32(&r, "throttleTimeMs", &response->throttleTimeMs));
	READ(get_tags(&r, NULL, 1, arena, &response->unknownTags));
	*used = (size_t)(r.p - p);
	return 0;
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
