/* What is wrong with a batch or message, and at which bytes: all of it, for people who look at bytes. What a broker
 * answers, which stops at the first fault and knows topic and release, is verdict.h. */
#ifndef KASSAY_WIRE_CHECK_H
#define KASSAY_WIRE_CHECK_H

#include "lib/wire/rules.h"
#include "lib/wire/set.h"

struct kw_fault {
	enum kw_rule rule;       /* KW_RULES: it is none of rules.def's */
	size_t at, size;         /* the wrong bytes: of the entry, or of its inflated records area or inner set */
	bool inflated;
	int code;                /* Kafka 4.4's answer to a producer of it; 0 = a leader lets it pass */
	char text[240];          /* "count says 2, lastOffsetDelta says 0" */
};

/* A non-zero return ends the check. */
typedef int kw_fault_fn(void *arg, const struct kw_fault *fault);

/* Shows every fault of an entry of kw_set_next, in the order in which Kafka's leader looks for them: the first code
 * that is not 0 is its answer to a producer, as far as bytes decide. Source: UnifiedLog, LogValidator,
 * DefaultRecordBatch (release 4.4.0). */
void kw_entry_faults(const struct kw_entry *entry, enum kw_role role, kw_fault_fn *fn, void *arg);

/* If flipping one bit of the n bytes turns their CRC-32C by `difference` (stored xor computed), its byte and bit; false
 * if no single bit does. */
bool kw_crc32c_flip(size_t n, uint32_t difference, size_t *at, int *bit);

#endif
