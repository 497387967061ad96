/* Produce (0): every partition's record set gets its verdict; what is good is appended. */
#include <stdlib.h>

#include "fakebroker/api/hash_order.h"
#include "fakebroker/api/produce.h"
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/config/twins.h"
#include "fakebroker/log/lax.h"
#include "fakebroker/log/mutant_verdict.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

/* ---- the request's partitions ---- */

static int by_partition(const void *a, const void *b)
{
	const struct fb_produce_item *x = *(struct fb_produce_item *const *)a, *y = *(struct fb_produce_item *const *)b;
	int c = memcmp(&x->topic->topicId, &y->topic->topicId, sizeof x->topic->topicId);

	if (!c && x->topic->name.n != y->topic->name.n)
		c = x->topic->name.n < y->topic->name.n ? -1 : 1;
	if (!c && x->topic->name.n > 0)
		c = memcmp(x->topic->name.s, y->topic->name.s, (size_t)x->topic->name.n);
	if (!c && x->data->index != y->data->index)
		c = x->data->index < y->data->index ? -1 : 1;
	return c ? c : x < y ? -1 : 1;
}

static bool same(const struct fb_produce_item *a, const struct fb_produce_item *b)
{
	return a->data->index == b->data->index && kw_str_eq(a->topic->name, b->topic->name) &&
	       kw_uuid_eq(a->topic->topicId, b->topic->topicId);
}

/* The last entry of a partition counts, unless settle_repeated() finds otherwise. */
static bool find_repeated(struct fb_produce_items *all)
{
	struct fb_produce_item **sorted;

	if (all->n < 2)
		return true;
	sorted = kw_alloc(&all->req->arena, (size_t)all->n * sizeof *sorted);
	if (!sorted)
		return false;
	for (int32_t i = 0; i < all->n; i++)
		sorted[i] = &all->v[i];
	qsort(sorted, (size_t)all->n, sizeof *sorted, by_partition);
	for (int32_t i = 0; i + 1 < all->n; i++)
		if (same(sorted[i], sorted[i + 1])) {
			sorted[i]->superseded = sorted[i]->untold = true;
			all->repeated = sorted;
		}
	return true;
}

static bool collect(struct fb_produce_items *all)
{
	int32_t n = 0;

	for (int32_t t = 0; t < all->body->topicData.n; t++)
		n += all->body->topicData.v[t].partitionData.n;
	all->v = kw_alloc(&all->req->arena, (size_t)n * sizeof *all->v);
	if (!all->v)
		return false;
	for (int32_t t = 0; t < all->body->topicData.n; t++) {
		const struct kw_ProduceRequest_TopicProduceData *topic = &all->body->topicData.v[t];

		for (int32_t p = 0; p < topic->partitionData.n; p++) {
			struct fb_produce_item *item = &all->v[all->n++];

			item->topic = topic;
			item->data = &topic->partitionData.v[p];
			kw_verdict_init(&item->verdict);
		}
	}
	return find_repeated(all);
}

/* ---- stages ---- */

static void fail_all(struct fb_produce_items *all, const struct kw_verdict *v)
{
	for (int32_t i = 0; i < all->n; i++)
		all->v[i].verdict = *v;
}

static void resolve(struct fb_request *req, struct fb_produce_item *item)
{
	struct fb_topic *topic = req->version >= 13 ? fb_topic_find_id(req->cluster, item->topic->topicId)
						    : fb_topic_find(req->cluster, item->topic->name);

	item->partition = topic ? fb_topic_partition(topic, item->data->index) : NULL;
	if (topic && !item->partition && fb_mutant(FB_M_PARTITION_ANY))
		item->partition = fb_topic_partition(topic, 0);
	if (!item->partition) {
		if (fb_mutant(FB_M_UNKNOWN_TOPIC_CODE) && !topic)
			fb_item_refuse(item, KW_ERR_INVALID_TOPIC_EXCEPTION, NULL);
		else
			fb_item_refuse(item, req->version >= 13 && !topic && !fb_mutant(FB_M_TOPIC_ID_CODE) ? 100 : 3,
				       NULL);
		return;
	}
	item->ref = fb_topic_ref(topic);
	item->leader = item->partition->leader;
	item->leaderEpoch = item->partition->leaderEpoch;
	item->conf = topic->conf;
	item->chain = topic->chain ? fb_chain_ref(topic->chain) : NULL;
}

static void judge_place(struct fb_produce_items *all, struct fb_produce_item *item)
{
	const struct fb_request *req = all->req;

	if ((all->body->acks < -1 || all->body->acks > 1) && !fb_mutant(FB_M_ACKS_UNCHECKED))
		fb_item_refuse(item, 21, NULL);
	else if (item->ref->internal && !kw_str_is(req->header->clientId, "__admin_client"))
		fb_item_refuse(item, 17, NULL);
	else if (item->leader != req->node->id)
		fb_item_refuse(item, 6, NULL);
}

static struct fb_append append_of(const struct fb_produce_items *all, struct fb_produce_item *item,
				  struct kw_meters *meters)
{
	struct fb_request *req = all->req;
	struct fb_partition *partition = item->partition;

	return (struct fb_append){
		.log = &partition->log, .producers = &partition->producers, .topic = item->ref->name,
		.partition = partition->index, .leaderEpoch = item->leaderEpoch, .conf = &item->conf,
		.chain = item->chain, .refused = req->cluster->refused, .clientId = req->header->clientId,
		.meters = meters, .now = fb_cluster_now(req->cluster), .guarded = all->guarded,
		.guard = item->guard, .inflated = fb_conn_scratch(req->conn),
		.old = req->version <= KW_OLD_PRODUCE,
	};
}

static void add_meters(struct fb_cluster *cluster, const struct kw_meters *m)
{
	static const struct kw_meters none;

	if (memcmp(m, &none, sizeof none) == 0)
		return;
	pthread_mutex_lock(&cluster->meters_lock);
	cluster->meters.invalidMagicNumberRecords += m->invalidMagicNumberRecords;
	cluster->meters.invalidMessageCrcRecords += m->invalidMessageCrcRecords;
	cluster->meters.invalidOffsetOrSequenceRecords += m->invalidOffsetOrSequenceRecords;
	cluster->meters.noKeyCompactedTopicRecords += m->noKeyCompactedTopicRecords;
	cluster->meters.bytesRejected += m->bytesRejected;
	cluster->meters.failedProduceRequests += m->failedProduceRequests;
	pthread_mutex_unlock(&cluster->meters_lock);
}

/* Another broker was elected while the records were read. */
static void lose_leader(struct fb_produce_item *item)
{
	item->leader = item->partition->leader;
	item->leaderEpoch = item->partition->leaderEpoch;
	fb_item_refuse(item, 6, NULL);
}

/* --lax: what came is stored, whatever it is. */
static void store(const struct fb_request *req, struct fb_produce_item *item)
{
	const struct kw_records *records = &item->data->records;
	struct fb_partition *partition = item->partition;
	struct fb_log *log = &partition->log;

	pthread_mutex_lock(&partition->lock);
	item->verdict.baseOffset = log->logEndOffset;
	log->now = fb_cluster_now(req->cluster);
	if (partition->leaderEpoch != item->leaderEpoch)
		lose_leader(item);
	else if (records->n > 0 && fb_log_append_lax(log, records->p, (size_t)records->n, item->leaderEpoch) < 0)
		fb_item_refuse(item, KW_ERR_UNKNOWN_SERVER_ERROR, NULL);
	item->verdict.logStartOffset = log->logStartOffset;
	pthread_mutex_unlock(&partition->lock);
	if (item->verdict.errorCode)
		item->verdict.baseOffset = -1;
}

/* Records are read without the partition's lock, so that a slow validator holds up nobody else's partition. */
static void append(const struct fb_produce_items *all, struct fb_produce_item *item)
{
	struct fb_request *req = all->req;
	struct kw_meters meters = {0};
	struct fb_append a = append_of(all, item, &meters);
	struct kw_append_plan *plan;

	if (req->cluster->lax) {
		store(req, item);
		return;
	}
	if (fb_mutant(FB_M_ACKS_ZERO_DROPPED) && all->body->acks == 0)
		return;
	if (fb_verdict_check(&a, &item->data->records, &req->arena, &plan, &item->verdict) && plan) {
		pthread_mutex_lock(&item->partition->lock);
		if (item->partition->leaderEpoch == item->leaderEpoch)
			fb_verdict_append(&a, plan, req->frame, &req->arena, &item->verdict);
		else
			lose_leader(item);
		pthread_mutex_unlock(&item->partition->lock);
	}
	add_meters(req->cluster, &meters);
}

/* ---- what observers are shown ---- */

/* What a record set says of itself that nobody looked into. */
static void take_its_word(const struct kw_records *records, struct kassay_partition *p)
{
	struct kw_batch batch;

	if (records->n <= KW_E_MAGIC)
		return;
	if (records->p[KW_E_MAGIC] < 2 && !fb_mutant(FB_M_LEGACY_UNCOUNTED))
		fb_partition_count_messages(records, p);
	else if (kw_batch_parse(records->p, (size_t)records->n, &batch, NULL) == 0 && batch.magic == 2 &&
		 batch.count > 0)
		p->records = batch.count;
}

/* By id the topic's name is not in the request, and its reference may be dropped before observers are called. */
static struct kw_str topic_to_show(struct fb_request *req, const struct fb_produce_item *item)
{
	if (req->version < 13)
		return item->topic->name;
	return item->ref ? kw_str(kw_strndup(&req->arena, item->ref->name, strlen(item->ref->name))) : KW_NULL_STR;
}

static __attribute__((cold)) void show_mutated(const struct fb_request *req, struct kassay_partition *p)
{
	if (fb_mutant(FB_M_DUPLICATE_UNFLAGGED))
		p->flags &= ~(uint32_t)KASSAY_DUPLICATE;
	if (fb_mutant(FB_M_COMPRESSED_COUNTS_ONE) && p->codec > 0)
		p->records = 1;
	if (fb_mutant(FB_M_BYTES_WITH_FRAME))
		p->bytes = (int64_t)req->frame->n;
}

static FB_OBSERVING void show_produced(struct fb_produce_items *all)
{
	struct fb_request *req = all->req;
	struct kassay_partition *p = fb_request_partitions(req, all->n);

	for (int32_t i = 0; p && i < all->n; i++) {
		const struct fb_produce_item *item = &all->v[i];
		const struct kw_records *records = &item->data->records;
		struct kw_str topic;

		if (item->superseded && item->untold)
			continue;
		topic = topic_to_show(req, item);
		fb_partition_init(p);
		p->topic = fb_hook_str(topic);
		p->partition = item->data->index;
		p->direction = KASSAY_PRODUCED;
		p->bytes = records->n > 0 ? records->n : 0;
		p->records = item->verdict.records > 0 ? item->verdict.records : 0;
		p->codec = item->verdict.codec;
		p->flags = item->verdict.duplicate ? KASSAY_DUPLICATE : 0;
		p->error = item->verdict.errorCode;
		if (p->records == 0)
			take_its_word(records, p);
		if (fb_mutated())
			show_mutated(req, p);
		p++;
		req->npartitions++;
	}
}

/* Shape comes for all partitions before any is appended: one of its failures is the whole request's. */
static bool fail_whole(struct fb_produce_items *all, const struct fb_produce_item *item)
{
	struct kw_verdict v = item->verdict;

	fail_all(all, &v);
	return false;
}

static void judge_shape(struct fb_request *req, struct fb_produce_item *item, bool *whole)
{
	if (fb_mutated())
		fb_mutant_shape(req->version, &item->data->records, &req->arena, &item->verdict, whole);
	else
		kw_verdict_shape(req->version, &item->data->records, &req->arena, &item->verdict, whole);
}

/* Of those that fail the whole request the one that does: up to version 2, which Kafka 3.9 was the last to serve, not
 * the first in the request. NULL: none. */
static const struct fb_produce_item *find_broken(struct fb_produce_items *all)
{
	bool old = all->req->version <= KW_OLD_PRODUCE;
	const struct fb_produce_item *broken = NULL;
	uint64_t least = UINT64_MAX;
	int32_t n = 0;

	for (int32_t i = 0; i < all->n; i++)
		n += fb_item_is_judged(&all->v[i]);
	for (int32_t i = 0; i < all->n && (old || !broken); i++) {
		struct fb_produce_item *item = &all->v[i];
		bool whole = false;
		uint64_t rank;

		if (item->verdict.errorCode || (old && item->superseded))
			continue;
		judge_shape(all->req, item, &whole);
		rank = whole && old ? fb_hash_rank(item->topic->name, item->data->index, n) : 0;
		if (whole && rank < least) {
			broken = item;
			least = rank;
		}
	}
	return broken;
}

/* For Kafka null records have no wrong shape. */
static bool has_wrong_shape(const struct fb_produce_item *item)
{
	return item->verdict.errorCode && item->data->records.n >= 0;
}

/* Kafka keeps partitions in maps, those of the right shape in one, those of a wrong one in another: in each the last
 * entry stays. What is in both is appended, and answered with what was wrong. Up to version 2 it asks for no shape. */
static void settle_repeated(struct fb_produce_items *all)
{
	for (int32_t i = 0, to; i < all->n; i = to) {
		struct fb_produce_item *good = NULL, *bad = NULL;

		for (to = i; to < all->n && same(all->repeated[i], all->repeated[to]); to++) {
			struct fb_produce_item *item = all->repeated[to];

			item->superseded = item->untold = true;
			if (has_wrong_shape(item))
				bad = item;
			else if (!good || !fb_mutant(FB_M_FIRST_TWIN_APPENDED))
				good = item;
		}
		if (good)
			good->superseded = false;
		(bad && (!good || !fb_mutant(FB_M_WRONG_TWIN_UNTOLD)) ? bad : good)->untold = false;
	}
}

static bool judge_shapes(struct fb_produce_items *all)
{
	struct kw_first_producer first = {0};
	const struct fb_produce_item *broken = find_broken(all);

	if (broken)
		return fail_whole(all, broken);
	if (all->repeated && all->req->version > KW_OLD_PRODUCE)
		settle_repeated(all);
	for (int32_t i = 0; i < all->n; i++) {
		struct fb_produce_item *item = &all->v[i];

		if (fb_item_is_judged(item) && !fb_mutant(FB_M_TWO_PRODUCERS_TAKEN) &&
		    !kw_verdict_one_producer(&item->data->records, &first, &item->verdict))
			return fail_whole(all, item);
	}
	return true;
}

/* Mutants that have one partition's refusal befall the others. */
static void spread(struct fb_produce_items *all)
{
	int16_t error = 0;

	for (int32_t i = 0; fb_mutant(FB_M_REFUSAL_SPREADS) && i < all->n; i++)
		error = all->v[i].verdict.errorCode ? all->v[i].verdict.errorCode : error;
	for (int32_t i = 0; i < all->n; i++)
		if (error && !all->v[i].verdict.errorCode)
			fb_item_refuse(&all->v[i], error, NULL);
}

/* Kafka fails when it comes to null records, and when it makes the answer to a request that failed as a whole: that has
 * an entry for each partition, for which it asks the size of the records. */
static bool trips_over_null(const struct fb_produce_items *all, bool whole)
{
	for (int32_t i = 0; i < all->n; i++)
		if (all->v[i].data->records.n < 0 && (whole || (!all->v[i].superseded && all->v[i].partition)))
			return true;
	return false;
}

/* Stages B to F; false: the whole request failed. */
static bool judge_request(struct fb_produce_items *all)
{
	struct fb_request *req = all->req;
	struct kw_verdict v;

	if (!req->cluster->lax && !kw_verdict_request(all->body, &req->arena, &v) &&
	    !(fb_mutated() && fb_mutant_goes_on(&v))) {
		fail_all(all, &v);
		return false;
	}
	pthread_rwlock_rdlock(&req->cluster->lock);
	for (int32_t i = 0; i < all->n; i++)
		resolve(req, &all->v[i]);
	pthread_rwlock_unlock(&req->cluster->lock);
	return req->cluster->lax || judge_shapes(all);
}

static void judge(struct fb_produce_items *all)
{
	struct fb_request *req = all->req;
	struct kw_verdict v;
	bool whole;

	if (req->forced) {
		kw_verdict_init(&v);
		v.errorCode = req->forced;
		fail_all(all, &v);
		return;
	}
	whole = !judge_request(all);
	all->muted = fb_request_imitates(req) && trips_over_null(all, whole);
	if (whole || all->muted)
		return;
	if (!req->cluster->lax && all->body->transactionalId.n >= 0)
		fb_produce_check_transactions(all);
	for (int32_t i = 0; i < all->n; i++)
		if (fb_item_is_judged(&all->v[i]))
			judge_place(all, &all->v[i]);
	if (fb_request_wants_produce(req)) {
		show_produced(all);
		fb_request_observe_produce(req);
	}
	for (int32_t i = 0; i < all->n; i++)
		if (fb_item_is_judged(&all->v[i]))
			append(all, &all->v[i]);
	spread(all);
}

/* ---- the answer ---- */

static void fill(const struct fb_request *req, const struct fb_produce_item *item)
{
	struct kw_ProduceResponse_PartitionProduceResponse *answer = item->answer;
	const struct kw_verdict *v = &item->verdict;

	answer->index = item->data->index;
	answer->errorCode = v->errorCode;
	if (req->version < 8 && v->errorCode == KW_ERR_INVALID_RECORD && fb_mutant(FB_M_OLD_VERSION_CODE))
		answer->errorCode = KW_ERR_CORRUPT_MESSAGE;
	answer->baseOffset = v->baseOffset;
	answer->logAppendTimeMs = v->logAppendTimeMs;
	answer->logStartOffset = v->logStartOffset;
	answer->errorMessage = kw_str(v->errorMessage);
	answer->recordErrors.v = v->recordErrors;
	answer->recordErrors.n = fb_mutant(FB_M_RECORD_ERRORS_UNTOLD) ? 0 : v->nrecordErrors;
	if (v->errorCode == 6 && item->partition && req->version >= 10) {
		answer->currentLeader.leaderId = item->leader;
		answer->currentLeader.leaderEpoch = item->leaderEpoch;
	}
}

/* For each topic of the request the first one that is the same; NULL without memory. */
static const struct fb_twins *find_same_topics(struct fb_produce_items *all)
{
	int32_t n = all->body->topicData.n;
	struct fb_named *names = kw_alloc(&all->req->arena, (size_t)n * sizeof *names);

	for (int32_t t = 0; names && t < n; t++) {
		const struct kw_ProduceRequest_TopicProduceData *topic = &all->body->topicData.v[t];

		names[t].name = all->req->version < 13 ? topic->name
			      : (struct kw_str){(const char *)&topic->topicId, sizeof topic->topicId};
	}
	return names ? fb_find_twins(names, (size_t)n, &all->req->arena) : NULL;
}

/* Room for the answers to as many partitions as are told of each topic; 0: the topic is not answered. */
static bool make_topics(struct fb_produce_items *all, const struct fb_twins *twins)
{
	struct kw_ProduceResponse *response = all->req->response;
	int32_t i = 0;

	if (!FB_RESPONSE_ARRAY(all->req, response->responses, kw_ProduceResponse_TopicProduceResponse_struct,
			       all->body->topicData.n))
		return false;
	for (int32_t t = 0; t < response->responses.n; t++) {
		struct kw_ProduceResponse_TopicProduceResponse *out =
			&response->responses.v[twins ? twins[t].first : (size_t)t];

		out->name = all->body->topicData.v[t].name;
		out->topicId = all->body->topicData.v[t].topicId;
		for (int32_t p = 0; p < all->body->topicData.v[t].partitionData.n; p++)
			out->partitionResponses.n += !all->v[i++].untold;
	}
	for (int32_t t = 0; t < response->responses.n; t++) {
		struct kw_ProduceResponse_TopicProduceResponse *out = &response->responses.v[t];

		if (!FB_RESPONSE_ARRAY(all->req, out->partitionResponses,
				       kw_ProduceResponse_PartitionProduceResponse_struct, out->partitionResponses.n))
			return false;
		out->partitionResponses.n = 0;
	}
	return true;
}

/* Each topic is answered once, and none of which nothing is told. */
static bool answer(struct fb_produce_items *all)
{
	struct kw_ProduceResponse *response = all->req->response;
	const struct fb_twins *twins = NULL;
	int32_t i = 0, n = 0;

	if (all->body->topicData.n > 1 && !fb_mutant(FB_M_TOPIC_ANSWERED_TWICE) && !(twins = find_same_topics(all)))
		return false;
	if (!make_topics(all, twins))
		return false;
	for (int32_t t = 0; t < response->responses.n; t++) {
		struct kw_ProduceResponse_TopicProduceResponse *out =
			&response->responses.v[twins ? twins[t].first : (size_t)t];

		for (int32_t p = 0; p < all->body->topicData.v[t].partitionData.n; p++, i++) {
			if (all->v[i].untold)
				continue;
			all->v[i].answer = &out->partitionResponses.v[out->partitionResponses.n++];
			fill(all->req, &all->v[i]);
		}
	}
	for (int32_t t = 0; t < response->responses.n; t++)
		if (response->responses.v[t].partitionResponses.n > 0 || fb_mutant(FB_M_EMPTY_TOPIC_ANSWERED))
			response->responses.v[n++] = response->responses.v[t];
	response->responses.n = n;
	return true;
}

/* The reason of a refusal is for the broker's log only, as in Kafka. */
static void tell_reasons(const struct fb_produce_items *all)
{
	for (int32_t i = 0; i < all->n; i++) {
		const struct fb_produce_item *item = &all->v[i];

		if (!(item->superseded && item->untold) && item->verdict.reason)
			fb_log_line(KASSAY_INFO, "node %d: %s-%d: %s: %s", all->req->node->id,
				    item->ref ? item->ref->name : "unknown topic", item->data->index,
				    kw_error_name(item->verdict.errorCode), item->verdict.reason);
	}
}

static enum fb_outcome silent(const struct fb_produce_items *all)
{
	for (int32_t i = 0; i < all->n; i++)
		if (!all->v[i].untold && all->v[i].verdict.errorCode && !fb_mutant(FB_M_ACKS_ZERO_STAYS_OPEN))
			return FB_CLOSE;   /* the only way to tell a client that wants no answer */
	return FB_SILENT;
}

static enum fb_outcome conclude(struct fb_produce_items *all)
{
	int16_t acks = all->body->acks;

	if (all->muted)
		return fb_request_mute(all->req, FB_F_NULL_RECORDS);
	if (all->req->watched)
		show_produced(all);
	tell_reasons(all);
	if (!answer(all))
		return FB_CLOSE;
	if (acks == 0 && !fb_mutant(FB_M_ACKS_ZERO_ANSWERED))
		return silent(all);
	all->req->twice = acks == 1 && fb_mutant(FB_M_ACKS_ONE_ANSWERED_TWICE);
	return acks == 1 && fb_mutant(FB_M_ACKS_ONE_SILENT) ? FB_SILENT : FB_REPLY;
}

enum fb_outcome fb_produce(struct fb_request *req)
{
	struct fb_produce_items all = {.req = req, .body = req->body};
	enum fb_outcome outcome = FB_CLOSE;

	if (fb_mutated())
		fb_mutant_sets(req->body, &req->arena);
	if (collect(&all)) {
		judge(&all);
		outcome = conclude(&all);
	}
	for (int32_t i = 0; i < all.n; i++) {
		fb_chain_unref(all.v[i].chain);
		fb_topic_unref(all.v[i].ref);
	}
	fb_server_poke(req->cluster->server);
	return outcome;
}
