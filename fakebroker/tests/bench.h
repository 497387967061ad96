/* Partitions without a broker around them, and one Produce request over them: what the tests of the verdict share. */
#ifndef KASSAY_FAKEBROKER_TESTS_BENCH_H
#define KASSAY_FAKEBROKER_TESTS_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fakebroker/log/verdict.h"

enum { MAX_PARTITIONS = 4 };

/* A partition 0 of a topic. */
struct bench {
	const char *topic;
	struct fb_log log;
	struct fb_producers producers;
	struct kw_topic_conf conf;
	struct kw_meters meters;
	struct fb_chain *chain;
	int64_t now;
};

static inline void bench_init(struct bench *bench, const char *topic)
{
	*bench = (struct bench){
		.topic = topic,
		.conf = {.maxMessageBytes = 1048588, .segmentBytes = 1073741824, .compression = -1,
			 .beforeMaxMs = INT64_MAX, .afterMaxMs = 3600000},
		.now = 1000000,
	};
	fb_log_init(&bench->log, 0);
	fb_producers_init(&bench->producers);
}

static inline void bench_fini(struct bench *bench)
{
	fb_log_fini(&bench->log);
	fb_producers_fini(&bench->producers);
	fb_chain_unref(bench->chain);
}

/* One partition of a request. */
struct sent {
	struct bench *bench;
	struct fb_frame *frame;       /* as it came from a connection: some other bytes, then the record set */
	struct kw_verdict v;
};

/* The record set that `batches` describes, behind 20 bytes of something else; NULL json is a null record set. */
static inline struct fb_frame *frame_of(json_t *batches)
{
	struct kt_err err = {0};
	struct kw_buf buf = {0};
	struct fb_frame *frame;

	kw_put(&buf, "twenty other bytes..", 20);
	if (batches && kw_batches_from_json(batches, &buf, &err) < 0)
		fail_msg("%s: %s", err.path, err.text);
	frame = fb_frame_new(buf.n);
	assert_non_null(frame);
	frame->n = buf.n;
	memcpy(frame->p, buf.p, buf.n);
	kw_buf_fini(&buf);
	return frame;
}

/* ' stands for ". */
static inline json_t *json_of(const char *text)
{
	char *copy = strdup(text);
	json_error_t error;
	json_t *json;

	assert_non_null(copy);
	for (char *p = copy; (p = strchr(p, '\'')) != NULL;)
		*p = '"';
	json = json_loads(copy, JSON_REJECT_DUPLICATES, &error);
	free(copy);
	if (!json)
		fail_msg("%s: %s", text, error.text);
	return json;
}

/* All stages over one request, in the broker's order. null: the record sets are null. */
static inline void produce(struct sent *sent, int32_t n, int version, const char *transactionalId, bool null,
			   struct kw_arena *arena)
{
	struct kw_ProduceRequest_TopicProduceData topics[MAX_PARTITIONS] = {0};
	struct kw_ProduceRequest_PartitionProduceData data[MAX_PARTITIONS] = {0};
	struct kw_ProduceRequest request = {.transactionalId = kw_str(transactionalId), .topicData = {topics, n}};
	struct kw_first_producer first = {0};
	struct kw_verdict all;
	bool whole = false;

	assert_in_range(n, 1, MAX_PARTITIONS);
	for (int32_t i = 0; i < n; i++) {
		topics[i].partitionData.v = &data[i];
		topics[i].partitionData.n = 1;
		data[i].records = (struct kw_records){.p = sent[i].frame->p + 20, .n = (int32_t)sent[i].frame->n - 20};
		if (null)
			data[i].records = (struct kw_records){.n = -1};
		kw_verdict_init(&sent[i].v);
	}
	if (!kw_verdict_request(&request, arena, &all))
		whole = true;
	for (int32_t i = 0; !whole && i < n; i++)
		if (!kw_verdict_shape(version, &data[i].records, arena, &sent[i].v, &whole) && whole)
			all = sent[i].v;
	for (int32_t i = 0; !whole && i < n; i++)
		if (!sent[i].v.errorCode && !kw_verdict_one_producer(&data[i].records, &first, &all))
			whole = true;
	for (int32_t i = 0; i < n; i++) {
		struct bench *bench = sent[i].bench;
		struct fb_append a = {
			.log = &bench->log, .producers = &bench->producers, .topic = bench->topic, .leaderEpoch = 7,
			.conf = &bench->conf, .chain = bench->chain, .meters = &bench->meters, .now = bench->now,
		};
		struct kw_append_plan *plan;

		if (whole)
			sent[i].v = all;
		else if (!sent[i].v.errorCode && fb_verdict_check(&a, &data[i].records, arena, &plan, &sent[i].v))
			fb_verdict_append(&a, plan, sent[i].frame, arena, &sent[i].v);
	}
}

#endif
