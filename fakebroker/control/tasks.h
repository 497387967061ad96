/* Requests to the control API, each from its arrival to its answer. Those that may take their time (a plugin's
 * create(), the closing of a broker's connections) are done one after the other in a thread of their own; the others go
 * on meanwhile. */
#ifndef KASSAY_FAKEBROKER_CONTROL_TASKS_H
#define KASSAY_FAKEBROKER_CONTROL_TASKS_H

#include <event2/keyvalq_struct.h>
#include <pthread.h>

#include "fakebroker/control/endpoints.h"

struct event;
struct event_base;
struct evhttp_request;
struct fb_tasks;

struct fb_task {
	struct fb_task *next;
	struct fb_tasks *owner;
	struct evhttp_request *http;   /* the control thread's; NULL: the client has gone */
	struct fb_ask ask;
	struct evkeyvalq params;       /* what ask.params points to */
	struct fb_answer answer;
};

struct fb_tasks {
	struct event *over_event;      /* activated when some are over */
	void (*finish)(struct fb_task *task);
	pthread_t thread;
	bool running;
	pthread_mutex_t lock;          /* guards what follows */
	pthread_cond_t changed;
	bool ending;
	struct fb_task *waiting, **last, *over;
};

/* NULL without memory. */
struct fb_task *fb_task_new(struct fb_tasks *tasks, struct evhttp_request *http, struct fb_cluster *cluster);
/* The answer's memory is whoever's who sends it. */
void fb_task_free(struct fb_task *task);

/* finish() is called in base's thread for each task that was put and is over; the task is its own then. 0 or KT_ENOMEM;
 * fb_tasks_fini() may be called whatever the outcome. */
int fb_tasks_init(struct fb_tasks *tasks, struct event_base *base, void (*finish)(struct fb_task *task));
/* Starts the thread. KT_ESYS. */
int fb_tasks_serve(struct fb_tasks *tasks, struct kt_err *err);
/* In base's thread. Does not wait. */
void fb_tasks_put(struct fb_tasks *tasks, struct fb_task *task);
/* Waits for the task at hand and drops the others; base's thread has ended. */
void fb_tasks_fini(struct fb_tasks *tasks);

#endif
