#include "fakebroker/hooks/observer_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fakebroker/thread.h"

enum { DOZE_NS = 2000000 };

#define NEVER INT64_MAX

struct entry {
	struct fb_exchange exchange;
	bool produce;
	size_t bytes;                          /* of the whole entry */
	struct kassay_partition partitions[];  /* and the strings behind them */
};

struct fb_queue {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	fb_queue_deliver *deliver;
	void *arg;
	pthread_t thread;
	/* What the thread does when there is nothing to hand over: for DOZE_NS it is woken only when the queue is half
	 * full, for waking it costs more than most observers do; then it sleeps until the next entry comes. */
	enum { BUSY, DOZES, SLEEPS } rest;
	bool ending;
	int64_t deadline;                      /* nothing is handed over any more; NEVER until closing begins */
	size_t bytes, dropped;
	size_t first, n, cap;                  /* the ring: n entries from first on */
	struct entry *ring[];
};

/* ---- copies ---- */

static size_t room(struct kassay_str str)
{
	return str.size > 0 ? (size_t)str.size : 0;
}

/* Partitions of one topic share the slice of the request that names it: so do their copies. */
static bool same_topic(const struct fb_exchange *exchange, int32_t i)
{
	return i > 0 && exchange->partitions[i].topic.data == exchange->partitions[i - 1].topic.data &&
	       exchange->partitions[i].topic.size == exchange->partitions[i - 1].topic.size;
}

static size_t size_of(const struct fb_exchange *exchange)
{
	const struct kassay_exchange *view = &exchange->view;
	size_t size = sizeof(struct entry) + (size_t)view->partition_count * sizeof *exchange->partitions +
		      room(view->listener) + room(view->principal) + room(view->address) + room(view->clientId);

	for (int32_t i = 0; i < view->partition_count; i++)
		if (!same_topic(exchange, i))
			size += room(exchange->partitions[i].topic);
	return size;
}

static void move(struct kassay_str *str, char **at)
{
	size_t n = room(*str);

	if (n == 0)
		return;
	memcpy(*at, str->data, n);
	str->data = *at;
	*at += n;
}

static struct entry *copy(const struct fb_exchange *exchange, bool produce)
{
	size_t bytes = size_of(exchange);
	int32_t n = exchange->view.partition_count;
	struct entry *entry = malloc(bytes);
	char *at;

	if (!entry)
		return NULL;
	entry->exchange = *exchange;
	entry->exchange.partitions = entry->partitions;
	entry->produce = produce;
	entry->bytes = bytes;
	at = (char *)&entry->partitions[n];
	move(&entry->exchange.view.listener, &at);
	move(&entry->exchange.view.principal, &at);
	move(&entry->exchange.view.address, &at);
	move(&entry->exchange.view.clientId, &at);
	for (int32_t i = 0; i < n; i++) {
		entry->partitions[i] = exchange->partitions[i];
		if (same_topic(exchange, i))
			entry->partitions[i].topic = entry->partitions[i - 1].topic;
		else
			move(&entry->partitions[i].topic, &at);
	}
	return entry;
}

/* ---- the ring ---- */

static struct entry *pop(struct fb_queue *queue)
{
	struct entry *entry = queue->ring[queue->first];

	queue->first = (queue->first + 1) % queue->cap;
	queue->n--;
	queue->bytes -= entry->bytes;
	return entry;
}

static void doze(struct fb_queue *queue)
{
	int64_t until = fb_hook_now() + DOZE_NS;
	const struct timespec end = {until / 1000000000, until % 1000000000};

	queue->rest = DOZES;
	while (queue->rest == DOZES && !queue->ending &&
	       pthread_cond_timedwait(&queue->filled, &queue->lock, &end) == 0)
		;
}

static void sleep_on(struct fb_queue *queue)
{
	queue->rest = SLEEPS;
	while (queue->n == 0 && !queue->ending)
		pthread_cond_wait(&queue->filled, &queue->lock);
}

static bool is_late(const struct fb_queue *queue)
{
	return queue->deadline != NEVER && fb_hook_now() >= queue->deadline;
}

/* The next one to hand over, NULL at the end. Under the lock. */
static struct entry *next(struct fb_queue *queue)
{
	if (queue->n == 0)
		doze(queue);
	if (queue->n == 0)
		sleep_on(queue);
	queue->rest = BUSY;
	while (queue->n > 0 && is_late(queue)) {
		free(pop(queue));
		queue->dropped++;
	}
	return queue->n > 0 ? pop(queue) : NULL;
}

static void *hand_over(void *arg)
{
	struct fb_queue *queue = arg;
	struct entry *entry;

	pthread_mutex_lock(&queue->lock);
	while ((entry = next(queue))) {
		pthread_mutex_unlock(&queue->lock);
		queue->deliver(queue->arg, &entry->exchange, entry->produce);
		free(entry);
		pthread_mutex_lock(&queue->lock);
	}
	pthread_mutex_unlock(&queue->lock);
	return NULL;
}

/* Must the thread be told now? Once. Under the lock. */
static bool wakes(struct fb_queue *queue)
{
	bool much = queue->n >= (queue->cap + 1) / 2 || queue->bytes >= FB_QUEUE_BYTES / 2;

	if (queue->rest == BUSY || (queue->rest == DOZES && !much))
		return false;
	queue->rest = BUSY;
	return true;
}

bool fb_queue_put(struct fb_queue *queue, const struct fb_exchange *exchange, bool produce)
{
	struct entry *entry = copy(exchange, produce);
	bool fits, wake = false;

	pthread_mutex_lock(&queue->lock);
	fits = entry && queue->n < queue->cap && queue->bytes + entry->bytes <= FB_QUEUE_BYTES;
	if (fits) {
		queue->ring[(queue->first + queue->n++) % queue->cap] = entry;
		queue->bytes += entry->bytes;
		wake = wakes(queue);
	} else {
		queue->dropped++;
	}
	pthread_mutex_unlock(&queue->lock);
	if (wake)
		pthread_cond_signal(&queue->filled);
	if (!fits)
		free(entry);
	return fits;
}

/* ---- life ---- */

/* Waits on it are by fb_hook_now(). */
static void init_filled(pthread_cond_t *filled)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(filled, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

int fb_queue_new(size_t entries, fb_queue_deliver *deliver, void *arg, struct fb_queue **out, struct kt_err *err)
{
	struct fb_queue *queue = calloc(1, sizeof *queue + entries * sizeof queue->ring[0]);

	*out = NULL;
	if (!queue)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	pthread_mutex_init(&queue->lock, NULL);
	init_filled(&queue->filled);
	queue->deliver = deliver;
	queue->arg = arg;
	queue->cap = entries;
	queue->deadline = NEVER;
	if (fb_thread_start(&queue->thread, NULL, hand_over, queue) != 0) {
		fb_queue_free(queue);
		return kt_fail(err, KT_ESYS, "no thread for the queue");
	}
	*out = queue;
	return 0;
}

void fb_queue_close_by(struct fb_queue *queue, int64_t deadline)
{
	pthread_mutex_lock(&queue->lock);
	queue->deadline = deadline;
	pthread_mutex_unlock(&queue->lock);
}

void fb_queue_end(struct fb_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->ending = true;
	pthread_cond_signal(&queue->filled);
	pthread_mutex_unlock(&queue->lock);
	pthread_join(queue->thread, NULL);
}

void fb_queue_free(struct fb_queue *queue)
{
	if (!queue)
		return;
	while (queue->n > 0)
		free(pop(queue));
	pthread_mutex_destroy(&queue->lock);
	pthread_cond_destroy(&queue->filled);
	free(queue);
}

size_t fb_queue_depth(struct fb_queue *queue)
{
	size_t n;

	pthread_mutex_lock(&queue->lock);
	n = queue->n;
	pthread_mutex_unlock(&queue->lock);
	return n;
}

uint64_t fb_queue_dropped(struct fb_queue *queue)
{
	uint64_t n;

	pthread_mutex_lock(&queue->lock);
	n = queue->dropped;
	pthread_mutex_unlock(&queue->lock);
	return n;
}
