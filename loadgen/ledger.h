/* What became of every record that one phase sent: the producer writes down each fate, the reader each sighting, and at
 * the end they are compared.
 *
 * A byte per record, so that ten million records take ten megabytes. The producing thread, the thread of the
 * acknowledgements and the reading thread may call at the same time.
 */
#ifndef KASSAY_LOADGEN_LEDGER_H
#define KASSAY_LOADGEN_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/text/err.h"

/* X(symbol, name in results, may be in the log, must be in the log)
 *
 * "refused with batch" is a legal record that fell with an illegal one of its batch. */
#define LG_FATES(X)                                                    \
	X(LG_IN_FLIGHT, "in flight", true, false)                      \
	X(LG_ACKED, "acked", true, true)                               \
	X(LG_REFUSED, "refused", false, false)                         \
	X(LG_REFUSED_WITH_BATCH, "refused with batch", false, false)   \
	X(LG_FAILED, "failed", false, false)                           \
	X(LG_UNKNOWN, "unknown", true, false)                          \
	X(LG_NOT_SENT, "not sent", false, false)

enum lg_fate {
#define LG_X(symbol, name, may, must) symbol,
	LG_FATES(LG_X)
#undef LG_X
	LG_NFATES,
};

const char *lg_fate_name(enum lg_fate fate);

/* What the configuration of a producer promises; the verdict is about that and no more. */
struct lg_guarantee {
	bool kept;      /* acknowledged records are in the log: acks is not 0 */
	bool once;      /* no record is in the log twice: idempotent, or never sent again */
	bool ordered;   /* records of a partition are in the order they were sent */
};
/* In words. */
const char *lg_guarantee_text(const struct lg_guarantee *guarantee);

/* The comparison, per partition or summed up. All in records. */
struct lg_tally {
	int64_t fates[LG_NFATES];
	int64_t seen;               /* distinct records that were read */
	int64_t lost;               /* acknowledged, not read */
	int64_t duplicated;         /* readings beyond the first */
	int64_t reordered;          /* first readings behind a record that was sent later */
	int64_t refused_present;    /* refused or failed, and yet read */
	int64_t unacked_present;    /* fate unknown, and read */
	int64_t unsent_present;     /* a sequence number that was never given out */
	int64_t corrupt;            /* stamped by this producer, but changed or in the wrong place */
};

void lg_tally_add(struct lg_tally *sum, const struct lg_tally *part);
/* How many of the tally's oddities break the guarantee. */
int64_t lg_tally_violations(const struct lg_tally *tally, const struct lg_guarantee *guarantee);

struct lg_ledger;

int lg_ledger_new(int32_t npartitions, struct lg_ledger **out, struct kt_err *err);
void lg_ledger_free(struct lg_ledger *ledger);
int32_t lg_ledger_partitions(const struct lg_ledger *ledger);

/* Opens an entry "in flight" and returns its sequence number; -1 when memory is exhausted. */
int64_t lg_ledger_open(struct lg_ledger *ledger, int32_t partition);
/* Writes down the fate of an open entry, once. */
void lg_ledger_settle(struct lg_ledger *ledger, int32_t partition, int64_t sequence, enum lg_fate fate);
/* Writes down a reading; partition and sequence may be any number. */
void lg_ledger_see(struct lg_ledger *ledger, int32_t partition, int64_t sequence);
void lg_ledger_see_corrupt(struct lg_ledger *ledger, int32_t partition);

/* The comparison so far. Without readings (with_readings false) only the fates count. */
void lg_ledger_tally(struct lg_ledger *ledger, int32_t partition, bool with_readings, struct lg_tally *tally);

#endif
