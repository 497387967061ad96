/* Is what one cluster was given what another got? Two files of AuditObserver (docs/observers.md) are compared by topic
 * and bucket of time. */
#ifndef KASSAY_LOADGEN_RECONCILE_H
#define KASSAY_LOADGEN_RECONCILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "lib/text/err.h"

/* X(symbol, name, meaning) */
#define LG_MATCHES(X)                                                                                          \
	X(LG_EQUAL, "equal", "the same number of records")                                                     \
	X(LG_SHIFTED, "shifted", "another number, but the same over all of the topic's buckets")               \
	X(LG_MISSING, "missing", "the second has less, also over all buckets")                                 \
	X(LG_SURPLUS, "surplus", "the second has more, also over all buckets")

enum lg_match {
#define LG_X(sym, name, meaning) sym,
	LG_MATCHES(LG_X)
#undef LG_X
};

const char *lg_match_name(enum lg_match match);

/* A topic in a bucket, or all of a topic: then start and end span its buckets. Records that were accepted from
 * producers, duplicates aside. */
struct lg_audit_row {
	char *topic;
	int64_t start, end;         /* ms since the epoch */
	int64_t a, b;               /* records */
	int64_t a_bytes, b_bytes; /* of record sets; as clusters compress differently nothing is concluded from them */
	enum lg_match match;
};

struct lg_reconciliation {
	struct lg_audit_row *buckets, *topics;   /* by topic, then by start */
	size_t nbuckets, ntopics;
	bool same;                               /* every topic has as many records in either, and there is one */
	bool folded;                             /* some records stand under "(other)": of which topics nobody knows */
};

/* Reads and compares. KT_EFILE, KT_ESYNTAX and the other codes of json.h for a line that is not AuditObserver's;
 * KT_ECORRUPT for a row that is there twice, and for buckets of different lengths; KT_ENOMEM. Errors name file and
 * line. lg_reconciliation_fini() may be called whatever the outcome. */
int lg_reconcile(const char *a, const char *b, struct lg_reconciliation *out, struct kt_err *err);
void lg_reconciliation_fini(struct lg_reconciliation *reconciliation);

/* {"same", "folded", "topics": [ROW], "buckets": [ROW]}, ROW being {"topic", "start", "end", "a": {"records", "bytes"},
 * "b": .., "match"}; a new reference. */
json_t *lg_reconciliation_json(const struct lg_reconciliation *reconciliation);
/* A table of the topics, and one of the buckets that are not equal, or of all. */
void lg_reconciliation_print(const struct lg_reconciliation *reconciliation, bool all, FILE *out);

#endif
