/* A table of counters under names that clients choose, so it is bounded: what comes when it is full is counted together
 * under the name "(other)".
 *
 * Names are made presentable once, when they first come: cut at 249 bytes (Kafka's longest topic name), bytes that are
 * not UTF-8 and NULs become '?', null becomes "(none)". Names that then are the same share their counters, and are one
 * name of the limit.
 */
#ifndef KASSAY_FAKEBROKER_HOOKS_TRAFFIC_TABLE_H
#define KASSAY_FAKEBROKER_HOOKS_TRAFFIC_TABLE_H

#include <stdbool.h>

#include "fakebroker/hooks/kassay_observer.h"
#include "fakebroker/hooks/name_bytes.h"

#define FB_TRAFFIC_PARTS 3        /* most names in a key */

struct fb_traffic_key {
	struct kassay_str part[FB_TRAFFIC_PARTS];
	int n;
	uint32_t hash;
};

/* Ways that records go. X(symbol, direction, outcome or NULL) */
#define FB_TRAFFIC_FLOWS(X)                                                        \
	X(FB_FLOW_ACCEPTED, "produced", "accepted")                                \
	X(FB_FLOW_REFUSED, "produced", "refused")       /* the partition's error */ \
	X(FB_FLOW_DUPLICATE, "produced", "duplicate")   /* answered as a success */ \
	X(FB_FLOW_CONSUMED, "consumed", NULL)

enum fb_traffic_flow {
#define FB_X(sym, direction, outcome) sym,
	FB_TRAFFIC_FLOWS(FB_X)
#undef FB_X
	FB_FLOWS,
};

/* The way that the records of a partition went, or would have gone if it carries none. */
static inline enum fb_traffic_flow fb_traffic_flow_of(const struct kassay_partition *partition)
{
	if (partition->direction == KASSAY_CONSUMED)
		return FB_FLOW_CONSUMED;
	if (partition->error != 0)
		return FB_FLOW_REFUSED;
	return partition->flags & KASSAY_DUPLICATE ? FB_FLOW_DUPLICATE : FB_FLOW_ACCEPTED;
}

struct fb_traffic_totals {
	int64_t requests, errors, records[FB_FLOWS], bytes[FB_FLOWS];
	int64_t request_bytes, response_bytes, queue_ns, service_ns, throttle_ms;
};

struct fb_traffic_row {
	struct fb_traffic_row *same_as;    /* row that has the counters if the key is not presentable; else NULL */
	uint64_t exchange;                 /* the last one that was counted in `requests` */
	struct fb_traffic_totals totals;
	/* The key: its names one after the other, each with a NUL behind it. */
	uint32_t hash;
	int32_t sizes[FB_TRAFFIC_PARTS];
	char *names;
};

struct fb_traffic_table {
	uint32_t n, aliases;      /* rows in use; of them those that lead to another */
	uint32_t limit;           /* most rows besides aliases and "(other)" */
	struct fb_traffic_row *rows;       /* row 0 is "(other)" */
	uint32_t *slots, mask;    /* hash table: row number + 1, or 0 when free */
};

/* Option "limit" of those who have such a table. */
#define FB_TRAFFIC_LIMIT 1000
#define FB_TRAFFIC_LIMIT_MAX 100000

/* For keys of so many parts. limit is at least 1. Returns 0, or -1 without memory. */
int fb_traffic_table_init(struct fb_traffic_table *table, int parts, uint32_t limit);
void fb_traffic_table_fini(struct fb_traffic_table *table);
/* What a table of this limit takes, names aside. */
size_t fb_traffic_table_bytes(uint32_t limit);

static inline uint32_t fb_traffic_hash(const struct kassay_str *name)
{
	uint64_t hash = fb_name_hash(0, name->data, name->size);

	return (uint32_t)(hash ^ hash >> 32);
}

/* A key of names; computes the hash, which needs no lock. The names must live as long as the key is used. */
struct fb_traffic_key fb_traffic_key(const struct kassay_str *parts, int n);
/* The row of a key, made if need be. Never NULL; lives as long as the table. */
struct fb_traffic_row *fb_traffic_row(struct fb_traffic_table *table, const struct fb_traffic_key *key);
/* The row that has the key's very names, which fb_traffic_row() may replace by that of the presentable ones. NULL if
 * there is none. */
const struct fb_traffic_row *fb_traffic_row_of(const struct fb_traffic_table *table, const struct fb_traffic_key *key);

#endif
