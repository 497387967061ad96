/* One of the two brokers that are compared. */
#ifndef KASSAY_CONFORMANCE_DIFF_SIDE_H
#define KASSAY_CONFORMANCE_DIFF_SIDE_H

#include "conformance/diff/mutation.h"
#include "conformance/link.h"

struct cf_side {
	const char *label;         /* "a", "b" */
	struct cf_link link;
	int broker_id;
	char prefix[64];           /* of topics' names: the same on both sides, so that messages can be compared */
	int generation;            /* of the topics; a new one has empty logs */
	json_t *topics;            /* kind -> {"name", "id", "ends": [offset of each partition]} */
};

/* Finds the broker behind "host:port". 0, or an error with what could not be had. */
int cf_side_open(struct cf_side *side, const char *label, const char *address, const char *prefix, struct kt_err *err);
/* Does it answer Produce 0, as Kafka up to 3.9 does? Later ones list it, and close the connection. */
bool cf_side_serves_old(struct cf_side *side);
/* The newest version of Produce that it lists and the kit knows; KT_EABSENT. */
int cf_side_newest(struct cf_side *side, struct kt_err *err);
/* Deletes its topics. */
void cf_side_close(struct cf_side *side);

/* Empty logs and unknown producers: the topics of `kinds`, an array of names, or of all kinds with NULL, are made anew
 * under other names. */
int cf_side_renew(struct cf_side *side, json_t *kinds, struct kt_err *err);

/* Sends a mutation and finds out what came of it, as a new object:
 *   {"connection": a word of judge.h, "answered": bool or "unreadable: why", "partitions": [{"index", "errorCode",
 *     "errorMessage", "recordErrors", "baseOffset", "logAppendTime": "none" or "set", "logStartOffset", "endOffset",
 *     "appended": [batch]}]}
 * where a batch is its header's fields and its records' bytes, inflated; what no two brokers share (times of their
 * clocks, compressed bytes, CRCs) is left out or masked. KT_EUSAGE: the mutation cannot be encoded. Any other error:
 * the broker cannot be reached any more. */
int cf_side_ask(struct cf_side *side, json_t *mutation, json_t **outcome, struct kt_err *err);

#endif
