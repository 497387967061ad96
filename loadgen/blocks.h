/* Requests in counted blocks: encoded once, patched in place and written together, then all answers read. What is
 * measured is the broker; a block needs no memory beyond what its connection has. */
#ifndef KASSAY_LOADGEN_BLOCKS_H
#define KASSAY_LOADGEN_BLOCKS_H

#include "lib/client/cluster.h"

enum { LG_BLOCK_MAX = 10000 };

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
};

/* Connects to a broker, makes the topic if it is not there, and with LG_BLOCK_FETCH writes what is fetched.
 * lg_blocks_fini() may be called whatever the outcome. requests outlives it. */
int lg_blocks_open(struct lg_blocks *blocks, const struct lg_requests *requests, const char *bootstrap,
		   struct kt_err *err);
void lg_blocks_fini(struct lg_blocks *blocks);
/* Sends n requests, at most requests->block, and reads their answers. KT_EPEER when one is not as it must be: an error
 * code, or not all records. */
int lg_blocks_run(struct lg_blocks *blocks, int n, struct kt_err *err);
/* Deletes what was produced (DeleteRecords), so that the broker does not fill up. */
int lg_blocks_trim(struct lg_blocks *blocks, struct kt_err *err);

#endif
