/* Requests in counted blocks: encoded once, patched in place and written together, then all answers read. What is
 * measured is the broker; a block needs no memory beyond what its connection has. */
#ifndef KASSAY_LOADGEN_BLOCKS_H
#define KASSAY_LOADGEN_BLOCKS_H

#include "lib/client/cluster.h"

enum { LG_BLOCK_MAX = 10000, LG_BLOCK_MS = 30000 };   /* requests; how long an answer may take */

enum lg_block_api { LG_BLOCK_PRODUCE = 0, LG_BLOCK_FETCH = 1 };   /* Kafka's keys */

struct lg_requests {
	enum lg_block_api api;
	const char *topic;
	int partitions;              /* named by each request, with a batch for each */
	int records, size;           /* of a batch, and bytes of a value */
	int codec;                   /* enum kw_codec */
	int acks;                    /* 1 or -1 */
	int block;                   /* requests */
};

struct lg_blocks {
	const struct lg_requests *requests;
	struct kc_cluster *cluster;
	struct kc_conn *conn;        /* to the leader of partition 0, which must lead the others too */
	int version;
	struct kw_buf frames;        /* a block's, one behind the other */
	size_t frame;                /* bytes of each */
	int32_t correlation;         /* of the last request */
	struct kw_arena arena;       /* for answers */
	int64_t *next;               /* by partition: the offset that its next batch must get */
	bool written;                /* something that is to be deleted is there */
	bool unread;                 /* answers may come on the connection that nobody waits for */
};

/* Connects to a broker, makes the topic if it is not there, and with LG_BLOCK_FETCH writes what is fetched. KT_EUSAGE:
 * the topic is there and has records. lg_blocks_fini() may be called whatever the outcome. requests outlives it. */
int lg_blocks_open(struct lg_blocks *blocks, const struct lg_requests *requests, const char *bootstrap,
		   struct kt_err *err);
void lg_blocks_fini(struct lg_blocks *blocks);
/* Sends n requests, at most requests->block, and reads their answers. KT_EPEER when one is not as it must be: an error
 * code, not all records, or an offset that shows that somebody else writes to the topic as well. */
int lg_blocks_run(struct lg_blocks *blocks, int n, struct kt_err *err);

/* ---- the topic (blocks_topic.c) ---- */

/* Makes the topic, or finds it empty, and sets conn and next. */
int lg_blocks_take_topic(struct lg_blocks *blocks, struct kt_err *err);
/* Deletes what was written here (DeleteRecords), and nothing else, so that the broker does not fill up. */
int lg_blocks_trim(struct lg_blocks *blocks, struct kt_err *err);
/* The same at the end, also after an error. */
int lg_blocks_clear(struct lg_blocks *blocks, struct kt_err *err);
/* KT_EPEER: "WHAT: " and the code, with the message that came with it. */
int lg_blocks_refused(const char *what, int code, struct kw_str message, struct kt_err *err);

#endif
