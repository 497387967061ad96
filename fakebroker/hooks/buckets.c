#include "fakebroker/hooks/buckets.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fakebroker/thread.h"
#include "lib/text/file.h"

/* What may wait to be written when the disk is slow or nobody reads the pipe: so much memory, but some buckets. */
enum { WAITING_BYTES = 64 << 20, WAITING_LEAST = 16 };

struct fb_buckets {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t writer;
	const struct kassay_host *host;
	int fd, parts;
	const char *head;
	fb_bucket_row *row;
	int64_t length;
	uint32_t limit;
	char instance[64];
	struct fb_bucket *open;               /* that of now, or NULL */
	struct fb_bucket *over, **over_tail;  /* to be written */
	size_t waiting, waiting_most;         /* how many these are, and may be */
	bool dropping;                        /* they were as many as may be, which has been said */
	int64_t last_end;                     /* of the buckets so far */
	bool ending;
	int64_t rows, lost;
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void fb_put_json_string(FILE *out, const char *s)
{
	fputc('"', out);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if ((unsigned char)*s < ' ')
			fprintf(out, "\\u%04x", (unsigned)*s);
		else
			fputc(*s, out);
	}
	fputc('"', out);
}

/* ---- writing ---- */

static void bucket_free(struct fb_bucket *bucket)
{
	fb_traffic_table_fini(&bucket->table);
	free(bucket);
}

/* Rows that nothing was counted in are left out, and those that stand for another. */
static bool is_told(const struct fb_traffic_row *row)
{
	static const struct fb_traffic_totals nothing;

	return !row->same_as && memcmp(&row->totals, &nothing, sizeof nothing) != 0;
}

static int64_t count_rows(const struct fb_bucket *bucket)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < bucket->table.n; i++)
		n += is_told(&bucket->table.rows[i]);
	return n;
}

/* The text of a bucket, for free(); NULL without memory. */
static char *text_of(const struct fb_buckets *buckets, const struct fb_bucket *bucket, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	if (!out)
		return NULL;
	for (uint32_t i = 0; i < bucket->table.n; i++)
		if (is_told(&bucket->table.rows[i]))
			buckets->row(out, bucket, &bucket->table.rows[i]);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static void write_bucket(struct fb_buckets *buckets, const struct fb_bucket *bucket)
{
	int64_t rows = count_rows(bucket);
	size_t size = 0;
	char *text = rows ? text_of(buckets, bucket, &size) : NULL;
	struct iovec iov = {text, size};
	bool good = text && kt_file_append_whole(buckets->fd, buckets->head, &iov, 1) == 0;
	char line[160];

	if (rows && !good) {
		snprintf(line, sizeof line, "%lld rows are lost: %s", (long long)rows,
			 text ? strerror(errno) : "out of memory");
		buckets->host->log(buckets->host, KASSAY_ERROR, line);
	}
	free(text);
	pthread_mutex_lock(&buckets->lock);
	*(good ? &buckets->rows : &buckets->lost) += rows;
	buckets->waiting--;
	buckets->dropping = false;
	pthread_mutex_unlock(&buckets->lock);
}

/* ---- buckets ---- */

/* Its rows are not written, for as many buckets wait as may. */
static void drop(struct fb_buckets *buckets, struct fb_bucket *bucket)
{
	char line[160];

	buckets->lost += count_rows(bucket);
	bucket_free(bucket);
	if (buckets->dropping)
		return;
	buckets->dropping = true;
	snprintf(line, sizeof line, "rows are lost: the file takes none, and %zu buckets wait for it",
		 buckets->waiting);
	buckets->host->log(buckets->host, KASSAY_ERROR, line);
}

static void shut(struct fb_buckets *buckets)
{
	struct fb_bucket *bucket = buckets->open;

	if (!bucket)
		return;
	buckets->open = NULL;
	if (buckets->waiting == buckets->waiting_most) {
		drop(buckets, bucket);
		return;
	}
	*buckets->over_tail = bucket;
	buckets->over_tail = &bucket->next;
	buckets->waiting++;
	pthread_cond_signal(&buckets->changed);
}

static struct fb_bucket *begin(struct fb_buckets *buckets, int64_t now, int32_t node)
{
	struct fb_bucket *bucket = calloc(1, sizeof *bucket);

	if (!bucket || fb_traffic_table_init(&bucket->table, buckets->parts, buckets->limit) < 0) {
		free(bucket);
		return NULL;
	}
	/* A clock that was set back does not begin a bucket twice. */
	if (now < buckets->last_end)
		now = buckets->last_end;
	bucket->start = now - now % buckets->length;
	bucket->end = buckets->last_end = bucket->start + buckets->length;
	bucket->node = node;
	bucket->instance = buckets->instance;
	pthread_cond_signal(&buckets->changed);
	return bucket;
}

struct fb_traffic_table *fb_buckets_enter(struct fb_buckets *buckets, int32_t node)
{
	int64_t now = now_ms();

	pthread_mutex_lock(&buckets->lock);
	if (buckets->open && now >= buckets->open->end)
		shut(buckets);
	if (!buckets->open)
		buckets->open = begin(buckets, now, node);
	if (buckets->open)
		return &buckets->open->table;
	pthread_mutex_unlock(&buckets->lock);
	return NULL;
}

void fb_buckets_leave(struct fb_buckets *buckets)
{
	pthread_mutex_unlock(&buckets->lock);
}

void fb_buckets_written(struct fb_buckets *buckets, int64_t *rows, int64_t *lost)
{
	pthread_mutex_lock(&buckets->lock);
	*rows = buckets->rows;
	*lost = buckets->lost;
	pthread_mutex_unlock(&buckets->lock);
}

/* Until the bucket at hand is over, or a first one may have begun meanwhile. Under the lock. */
static void wait_for_end(struct fb_buckets *buckets)
{
	int64_t end = buckets->open ? buckets->open->end : now_ms() + buckets->length;
	const struct timespec until = {end / 1000, end % 1000 * 1000000};

	if (!buckets->ending && !buckets->over)
		pthread_cond_timedwait(&buckets->changed, &buckets->lock, &until);
	if (buckets->ending || (buckets->open && now_ms() >= buckets->open->end))
		shut(buckets);
}

static void *write_buckets(void *arg)
{
	struct fb_buckets *buckets = arg;

	pthread_mutex_lock(&buckets->lock);
	while (buckets->over || !buckets->ending) {
		struct fb_bucket *bucket;

		wait_for_end(buckets);
		bucket = buckets->over;
		buckets->over = NULL;
		buckets->over_tail = &buckets->over;
		pthread_mutex_unlock(&buckets->lock);
		while (bucket) {
			struct fb_bucket *next = bucket->next;

			write_bucket(buckets, bucket);
			bucket_free(bucket);
			bucket = next;
		}
		pthread_mutex_lock(&buckets->lock);
	}
	pthread_mutex_unlock(&buckets->lock);
	return NULL;
}

/* ---- life ---- */

static int read_options(struct fb_buckets *buckets, const struct kassay_host *host, struct kassay_text *why)
{
	struct kt_err err = {0};
	const char *file;
	int64_t limit;

	if (fb_option_text(host, "file", &file, why) < 0 ||
	    fb_option_number(host, "bucket.ms", 1, 86400000, FB_BUCKET_MS, &buckets->length, why) < 0 ||
	    fb_option_number(host, "limit", 1, FB_TRAFFIC_LIMIT_MAX, FB_TRAFFIC_LIMIT, &limit, why) < 0)
		return -1;
	buckets->limit = (uint32_t)limit;
	buckets->waiting_most = WAITING_BYTES / fb_traffic_table_bytes(buckets->limit);
	if (buckets->waiting_most < WAITING_LEAST)
		buckets->waiting_most = WAITING_LEAST;
	buckets->fd = kt_file_append(file, &err);
	if (buckets->fd >= 0)
		return 0;
	snprintf(why->text, why->size, "%s", err.text);
	return -1;
}

static void destroy(struct fb_buckets *buckets)
{
	if (buckets->fd >= 0)
		close(buckets->fd);
	if (buckets->open)
		bucket_free(buckets->open);
	pthread_mutex_destroy(&buckets->lock);
	pthread_cond_destroy(&buckets->changed);
	free(buckets);
}

int fb_buckets_new(const struct kassay_host *host, int parts, const char *head, fb_bucket_row *row,
		   struct fb_buckets **out, struct kassay_text *why)
{
	static atomic_uint serial;
	struct fb_buckets *buckets = calloc(1, sizeof *buckets);

	if (!buckets) {
		snprintf(why->text, why->size, "out of memory");
		return -1;
	}
	*buckets = (struct fb_buckets){.host = host, .fd = -1, .parts = parts, .head = head, .row = row};
	buckets->over_tail = &buckets->over;
	pthread_mutex_init(&buckets->lock, NULL);
	pthread_cond_init(&buckets->changed, NULL);
	snprintf(buckets->instance, sizeof buckets->instance, "%lld-%ld-%u", (long long)now_ms(), (long)getpid(),
		 atomic_fetch_add(&serial, 1));
	if (read_options(buckets, host, why) < 0)
		goto fail;
	if (fb_thread_start(&buckets->writer, NULL, write_buckets, buckets) == 0) {
		*out = buckets;
		return 0;
	}
	snprintf(why->text, why->size, "no thread");
fail:
	destroy(buckets);
	return -1;
}

void fb_buckets_free(struct fb_buckets *buckets)
{
	pthread_mutex_lock(&buckets->lock);
	buckets->ending = true;
	shut(buckets);
	pthread_cond_signal(&buckets->changed);
	pthread_mutex_unlock(&buckets->lock);
	pthread_join(buckets->writer, NULL);
	destroy(buckets);
}
