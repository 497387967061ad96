/* The verifying reader: follows the partitions of some topics from given offsets, in its own thread, and writes every
 * record that it sees into the ledger of the phase that sent it.
 *
 * It uses librdkafka's simple consumer, so there is no group, no coordinator and no commit.
 */
#ifndef KASSAY_LOADGEN_READER_H
#define KASSAY_LOADGEN_READER_H

#include "lib/hist/hist.h"
#include "loadgen/ledger.h"
#include "loadgen/plan.h"

struct lg_reader;

/* What the reader saw of one partition, apart from what went to ledgers. */
struct lg_reader_partition {
	const char *topic;
	int32_t partition;
	int64_t begin, position, target;  /* first offset, next offset, where to stop (-1: not known yet) */
	int64_t records, bytes;           /* bytes of keys and values */
	int64_t foreign;                  /* records that are not of this run */
	int64_t corrupt, stray;           /* stray: corrupt ones that no ledger has been told of */
	bool finished;
	bool out_of_range;                /* its trouble: the broker has nothing at the offset */
	char damage[160];                 /* the first corrupt record, "" if none */
	char trouble[160];                /* why the partition cannot be read on, "" if it can */
};

/* How the reader knows what it reads. */
struct lg_reader_opts {
	const struct lg_plan *plan;       /* bootstrap and properties */
	uint64_t run;                     /* records of other runs are foreign; 0: of any run are welcome */
	double rate;                      /* records per second at most; 0: no bound */
	int64_t most;                     /* records; 0: no bound */
};

/* Ledger of a producer (phase) number and topic id, or NULL; from the reading thread. */
typedef struct lg_ledger *lg_ledger_of(void *arg, uint32_t producer, uint32_t topic);

int lg_reader_new(const struct lg_reader_opts *opts, lg_ledger_of *ledger_of, void *arg, struct lg_reader **out,
		  struct kt_err *err);
/* Before start: adds all partitions of a topic, from offset 0. topic must outlive the reader. */
int lg_reader_add(struct lg_reader *reader, const char *topic, int32_t npartitions, struct kt_err *err);
/* Before start: says where to begin in a partition that was added. */
void lg_reader_set_begin(struct lg_reader *reader, const char *topic, int32_t partition, int64_t begin);
int lg_reader_start(struct lg_reader *reader, struct kt_err *err);
/* Says where a partition ends, that is, the offset after the last record to read. One that begins behind its end is not
 * finished, but asked of the broker. */
void lg_reader_set_target(struct lg_reader *reader, const char *topic, int32_t partition, int64_t target);
/* Waits until all targets are reached, or as many records are read as may be. False when nothing was read for idle_ms,
 * when a partition has trouble, or, if stoppable, when the user stops the program. */
bool lg_reader_wait(struct lg_reader *reader, int idle_ms, bool stoppable);
/* Ends the thread. After that the results below may be read. */
void lg_reader_stop(struct lg_reader *reader);
void lg_reader_free(struct lg_reader *reader);

size_t lg_reader_count(const struct lg_reader *reader);
const struct lg_reader_partition *lg_reader_at(const struct lg_reader *reader, size_t i);
/* Records read so far; from any thread. */
int64_t lg_reader_records(const struct lg_reader *reader);
/* From the intended time in the stamp to the moment of reading, in ns: both clocks must be of one machine. */
const struct kh_hist *lg_reader_latency(const struct lg_reader *reader);

#endif
