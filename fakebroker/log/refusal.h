/* The ways in which a batch is refused from stage I on, and what each answers and counts.
 *
 * Source: the exceptions of UnifiedLog, LogValidator and ProducerAppendInfo, and how ReplicaManager.appendToLocalLog
 * answers to each (Kafka 4.4.0). Private to the verdict.
 */
#ifndef KASSAY_FAKEBROKER_LOG_REFUSAL_H
#define KASSAY_FAKEBROKER_LOG_REFUSAL_H

#include "fakebroker/log/verdict.h"

/* foreseen: one of the exceptions that ReplicaManager lists; the answer's log_start_offset is then -1 and
 * FailedProduceRequestsPerSec does not move. All others answer with the real one and move it.
 * meter: what moves besides, by one; but bytesRejected by the size of the record set.
 * X(symbol, error code, foreseen, meter) */
#define FB_REFUSALS(X)                                                              \
	X(FB_R_BASE_OFFSET, 87, false, NO_METER)                                    \
	X(FB_R_BATCH_TOO_LARGE, 10, true, METER(bytesRejected))                     \
	X(FB_R_CORRUPT, 2, true, METER(invalidMessageCrcRecords))                   \
	X(FB_R_UNKNOWN_CODEC, -1, false, NO_METER)                                  \
	X(FB_R_NO_BATCH, 87, false, NO_METER)                                       \
	X(FB_R_OFFSETS, 87, false, METER(invalidOffsetOrSequenceRecords))           \
	X(FB_R_CONTROL, 87, false, METER(invalidOffsetOrSequenceRecords))           \
	X(FB_R_NEGATIVE_SEQUENCE, 87, false, METER(invalidOffsetOrSequenceRecords)) \
	X(FB_R_BAD_RECORD, 87, false, NO_METER)                                     \
	X(FB_R_UNREADABLE, -1, false, NO_METER)                                     \
	X(FB_R_RECORDS, 87, false, NO_METER)                                        \
	X(FB_R_TIMESTAMPS, 32, false, NO_METER)                                     \
	X(FB_R_NOT_REBUILT, -1, false, NO_METER)                                    \
	X(FB_R_SEGMENT_TOO_SMALL, 18, true, NO_METER)                               \
	X(FB_R_SEQUENCE, 45, false, NO_METER)                                       \
	X(FB_R_EPOCH, 47, false, NO_METER)                                          \
	X(FB_R_TXN_STATE, 48, false, NO_METER)                                      \
	X(FB_R_NO_MEMORY, -1, false, NO_METER)

enum fb_refusal {
#define KT_X(sym, code, foreseen, meter) sym,
	FB_REFUSALS(KT_X)
#undef KT_X
};

/* What a batch is judged with. */
struct fb_judge {
	const struct fb_append *a;
	struct kw_arena *arena;
	struct fb_verdict *v;
	size_t set_size;          /* bytes of the whole record set */
};

/* Sets the verdict and moves meters. reason is in the arena or static; NULL when the arena is full. Returns false. */
bool fb_refuse_with(const struct fb_judge *judge, enum fb_refusal refusal, const char *reason);
/* The same with a reason in printf's way. */
bool fb_refuse_batch(const struct fb_judge *judge, enum fb_refusal refusal, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool fb_refuse_no_memory(const struct fb_judge *judge);

#endif
