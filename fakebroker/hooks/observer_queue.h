/* A bounded queue between the requests and one observer (`observer.mode=queued`): what is put is copied, and a thread
 * of the queue's own hands the copies over in their order. Putting never waits for the observer. */
#ifndef KASSAY_FAKEBROKER_HOOKS_OBSERVER_QUEUE_H
#define KASSAY_FAKEBROKER_HOOKS_OBSERVER_QUEUE_H

#include "fakebroker/hooks/observer.h"

struct fb_queue;

/* The copy lives until the call returns. produce: it is for observe_produce(). Only ever called from one thread. */
typedef void fb_queue_deliver(void *arg, const struct fb_exchange *exchange, bool produce);

/* At most `entries` copies of at most FB_QUEUE_BYTES in all wait. KT_ENOMEM, or KT_ESYS without a thread. */
int fb_queue_new(size_t entries, fb_queue_deliver *deliver, void *arg, struct fb_queue **out, struct kt_err *err);
/* Any thread. False: the queue is full and the exchange is dropped, which is counted. */
bool fb_queue_put(struct fb_queue *queue, const struct fb_exchange *exchange, bool produce);
/* From the deadline (fb_hook_now()) on nothing is handed over: what is still there is dropped and counted. */
void fb_queue_close_by(struct fb_queue *queue, int64_t deadline);
/* After fb_queue_close_by(). Waits until what was put is handed over or dropped, then ends the thread, which takes as
 * long as the observer's last call. Nothing may be put any more. */
void fb_queue_end(struct fb_queue *queue);
/* After fb_queue_end(). */
void fb_queue_free(struct fb_queue *queue);

/* Copies that wait now; exchanges that were dropped so far. */
size_t fb_queue_depth(struct fb_queue *queue);
uint64_t fb_queue_dropped(struct fb_queue *queue);

enum { FB_QUEUE_BYTES = 64 << 20 };

#endif
