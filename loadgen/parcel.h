/* One Produce request of the engine wire: a batch that is encoded before it is due, and what must be known of it until
 * its answer is judged. */
#ifndef KASSAY_LOADGEN_PARCEL_H
#define KASSAY_LOADGEN_PARCEL_H

#include "kw_messages.h"
#include "loadgen/load.h"

enum { LG_BAD_MAX = 3 };

struct lg_parcel {
	int32_t partition;
	int64_t first;                        /* sequence number of record 0 */
	int32_t n;                            /* records */
	const struct lg_illegal *illegal;     /* NULL: all legal */
	int nbad;                             /* illegal records, 0 if the batch itself is spoilt */
	int32_t bad[LG_BAD_MAX];              /* their indices, ascending */
	int64_t value_bytes;
	int64_t intended, sent;               /* ns of lg_now() */
	int32_t correlation;
	struct kw_buf batch;                  /* encoded; empty after it was sent */
};

/* What a writer of parcels needs; one thread. */
struct lg_packer {
	struct lg_load *load;
	uint64_t random;
	struct lg_draft *drafts;              /* `batch` of them */
	struct kw_record *records;
	uint8_t *values;
};

int lg_packer_init(struct lg_packer *packer, struct lg_load *load, struct kt_err *err);
void lg_packer_fini(struct lg_packer *packer);

/* Opens ledger entries for n records and encodes them; parcel->batch must be initialised and empty. illegal may be
 * NULL. On failure parcel->n is the number of entries that were opened, which the caller settles. */
int lg_pack(struct lg_packer *packer, int32_t partition, int32_t n, const struct lg_illegal *illegal, int64_t intended,
	    struct lg_parcel *parcel, struct kt_err *err);

/* What the answer to a parcel says. */
struct lg_answer {
	bool expected;
	int code;
	char text[LG_OUTCOME_TEXT];           /* the broker's words, and if not expected what was expected */
};

/* Judges the answer without settling anything; now is the time of its arrival. */
void lg_parcel_judge(const struct lg_parcel *parcel,
		     const struct kw_ProduceResponse_PartitionProduceResponse *partition, struct lg_answer *answer);
/* Settles all records of an answered parcel in ledger, counters, meter and outcomes. */
void lg_parcel_settle(const struct lg_parcel *parcel, struct lg_load *load, const struct lg_answer *answer,
		      int64_t now);
/* The same for a parcel that will never be answered: whether it is in the log is unknown if it was sent. */
void lg_parcel_give_up(const struct lg_parcel *parcel, struct lg_load *load, bool expected, const char *why);

#endif
