/* The verbs, one a file. */
#ifndef KASSAY_CONFORMANCE_VERBS_H
#define KASSAY_CONFORMANCE_VERBS_H

#include "conformance/run.h"

/* X(name, function, expectation needed, help) */
#define CF_VERBS(X)                                                                                              \
	X(produce, cf_verb_produce, true, "one partition's batches, right or wrong, in a Produce request")       \
	X(send, cf_verb_send, true, "any request, its body as JSON")                                             \
	X(raw, cf_verb_raw, true, "bytes as they are")                                                           \
	X(frame, cf_verb_frame, true, "a recorded request under another topic's name")                           \
	X(fetch, cf_verb_fetch, true, "one partition's records, decoded")                                        \
	X(compact, cf_verb_compact, true, "a round of log compaction: asked for, or waited for")                 \
	X(endOffset, cf_verb_end_offset, true, "the offset behind the last record: was anything appended?")      \
	X(probe, cf_verb_probe, false, "a harmless request that must be answered")                               \
	X(alter, cf_verb_alter, true, "IncrementalAlterConfigs for one resource")                                \
	X(describe, cf_verb_describe, true, "DescribeConfigs for one resource")                                  \
	X(register, cf_verb_register, true, "BrokerRegistration with sane defaults; taken back at the end")      \
	X(level, cf_verb_level, false, "moves metadata.version; moved back at the end")                          \
	X(walk, cf_verb_walk, true, "every question for a metadata.version, level by level")                     \
	X(race, cf_verb_race, true, "requests that are on their way at the same time")                           \
	X(control, cf_verb_control, true, "a request to the kit's control API")                                  \
	X(observing, cf_verb_observing, true, "puts the observer in force that writes to the observation channel") \
	X(observed, cf_verb_observed, true, "what the observer was called with since `observing`")

#define CF_X(name, fn, need, help) cf_verb_fn fn;
CF_VERBS(CF_X)
#undef CF_X

#define CF_X(name, fn, need, help) extern const struct cf_arg cf_args_##name[];
CF_VERBS(CF_X)
#undef CF_X

/* Reads one answer as {"api": NAME, "version": N} says, or not at all with NULL; what the peer does is an outcome. */
int cf_read_raw(struct cf_link *link, json_t *answer, struct cf_outcome *out, struct kt_err *err);

#endif
