/* Counters by name and time: what AuditObserver and CostObserver write. Time is cut into buckets of equal length by the
 * wall clock; when one is over its rows are appended to a file, each row once.
 *
 * A thread of its own writes, so that no request waits for the disk. All rows of a bucket go out in one write() to a
 * file opened with O_APPEND: instances of several nodes, and of several processes, may share it.
 */
#ifndef KASSAY_FAKEBROKER_HOOKS_BUCKETS_H
#define KASSAY_FAKEBROKER_HOOKS_BUCKETS_H

#include <stdio.h>

#include "fakebroker/hooks/options.h"
#include "fakebroker/hooks/traffic_table.h"

struct fb_buckets;

/* A bucket that is over; times in ms since the epoch, end excluded. */
struct fb_bucket {
	int64_t start, end;
	int32_t node;
	const char *instance;      /* tells the rows of this instance from those of any other */
	struct fb_traffic_table table;
	struct fb_bucket *next;
};

/* How a row is written, with a newline. */
typedef void fb_bucket_row(FILE *out, const struct fb_bucket *bucket, const struct fb_traffic_row *row);

#define FB_BUCKET_MS 60000

/* The options that every class with buckets has, to be named in its list. */
#define FB_BUCKET_OPTIONS                                                                       \
	{"file", NULL, "file that rows are appended to"},                                       \
	{"bucket.ms", FB_OPTION_TEXT(FB_BUCKET_MS), "length of a bucket in milliseconds"},      \
	{"limit", FB_OPTION_TEXT(FB_TRAFFIC_LIMIT), "most different names in a bucket that are counted apart"}

/* For keys of so many names. head, which may be NULL, is written first if the file is empty. Reads the options; 0, or
 * -1 with the reason. */
int fb_buckets_new(const struct kassay_host *host, int parts, const char *head, fb_bucket_row *row,
		   struct fb_buckets **out, struct kassay_text *why);
/* Writes what was counted, the bucket at hand included, and frees. */
void fb_buckets_free(struct fb_buckets *buckets);

/* Locks and returns the table of now; NULL without memory, and then nothing is locked. */
struct fb_traffic_table *fb_buckets_enter(struct fb_buckets *buckets, int32_t node);
void fb_buckets_leave(struct fb_buckets *buckets);
/* Rows written, and rows lost because the file could not be written. */
void fb_buckets_written(struct fb_buckets *buckets, int64_t *rows, int64_t *lost);

/* A JSON string, quoted. */
void fb_put_json_string(FILE *out, const char *s);

#endif
