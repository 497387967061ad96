/* Inside api/: a Produce request at work. */
#ifndef KASSAY_FAKEBROKER_API_PRODUCE_H
#define KASSAY_FAKEBROKER_API_PRODUCE_H

#include "fakebroker/request.h"
#include "lib/wire/verdict.h"

/* One partition of the request. */
struct fb_produce_item {
	const struct kw_ProduceRequest_TopicProduceData *topic;
	const struct kw_ProduceRequest_PartitionProduceData *data;
	struct kw_ProduceResponse_PartitionProduceResponse *answer;
	struct fb_topic *ref;               /* NULL: there is no such topic */
	struct fb_partition *partition;     /* NULL: there is no such partition */
	int32_t leader, leaderEpoch;        /* of the partition when it was looked up */
	struct kw_topic_conf conf;
	struct fb_chain *chain;
	struct kw_verdict verdict;
	uint64_t guard;                     /* of its verification; FB_NO_GUARD */
	/* Several entries may name one partition. */
	bool superseded;                    /* another one is appended: the last that has the right shape */
	bool untold;                        /* another one is answered: the last that has not, else the last */
};

struct fb_produce_items {
	struct fb_request *req;
	const struct kw_ProduceRequest *body;
	struct fb_produce_item *v;
	int32_t n;
	struct fb_produce_item **repeated;  /* sorted by partition; NULL: none is there twice */
	bool guarded;                       /* transaction.partition.verification.enable */
	bool muted;                         /* Kafka never answers it */
};

/* As long as nothing was found against it. */
static inline bool fb_item_is_judged(const struct fb_produce_item *item)
{
	return !item->superseded && !item->verdict.errorCode;
}

static inline void fb_item_refuse(struct fb_produce_item *item, int16_t error, const char *message)
{
	item->verdict.errorCode = error;
	item->verdict.errorMessage = message;
}

/* produce_txn.c: refuses those that are to be part of a transaction and are not. Under no lock. */
void fb_produce_check_transactions(struct fb_produce_items *all);

#endif
