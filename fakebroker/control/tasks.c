#include "fakebroker/control/tasks.h"

#include <event2/event.h>
#include <event2/http.h>
#include <stdlib.h>

#include "fakebroker/thread.h"

struct fb_task *fb_task_new(struct fb_tasks *tasks, struct evhttp_request *http, struct fb_cluster *cluster)
{
	struct fb_task *task = calloc(1, sizeof *task);

	if (!task)
		return NULL;
	task->owner = tasks;
	task->http = http;
	task->ask.cluster = cluster;
	task->ask.params = &task->params;
	task->answer.status = 200;
	return task;
}

void fb_task_free(struct fb_task *task)
{
	kt_json_fini(&task->ask.body);
	free(task->ask.path);
	if (task->params.tqh_last)
		evhttp_clear_headers(&task->params);
	free(task);
}

static void free_all(struct fb_task *task)
{
	while (task) {
		struct fb_task *next = task->next;

		if (task->http)
			evhttp_connection_set_closecb(evhttp_request_get_connection(task->http), NULL, NULL);
		fb_answer_drop(&task->answer);
		fb_task_free(task);
		task = next;
	}
}

/* ---- the thread ---- */

static struct fb_task *take_first(struct fb_tasks *tasks)
{
	struct fb_task *task = tasks->waiting;

	tasks->waiting = task->next;
	if (!tasks->waiting)
		tasks->last = &tasks->waiting;
	return task;
}

static void *run(void *arg)
{
	struct fb_tasks *tasks = arg;
	struct fb_task *task;

	pthread_mutex_lock(&tasks->lock);
	while (!tasks->ending) {
		if (!tasks->waiting) {
			pthread_cond_wait(&tasks->changed, &tasks->lock);
			continue;
		}
		task = take_first(tasks);
		pthread_mutex_unlock(&tasks->lock);
		fb_endpoint(&task->ask, &task->answer);
		pthread_mutex_lock(&tasks->lock);
		task->next = tasks->over;
		tasks->over = task;
		event_active(tasks->over_event, 0, 0);
	}
	pthread_mutex_unlock(&tasks->lock);
	return NULL;
}

/* ---- the control thread ---- */

static void on_over(evutil_socket_t fd, short what, void *arg)
{
	struct fb_tasks *tasks = arg;
	struct fb_task *task, *next;

	(void)fd;
	(void)what;
	pthread_mutex_lock(&tasks->lock);
	task = tasks->over;
	tasks->over = NULL;
	pthread_mutex_unlock(&tasks->lock);
	for (; task; task = next) {
		next = task->next;
		if (task->http)
			evhttp_connection_set_closecb(evhttp_request_get_connection(task->http), NULL, NULL);
		tasks->finish(task);
	}
}

/* evhttp frees the request itself; the task is done all the same. */
static void on_client_gone(struct evhttp_connection *evcon, void *arg)
{
	(void)evcon;
	((struct fb_task *)arg)->http = NULL;
}

void fb_tasks_put(struct fb_tasks *tasks, struct fb_task *task)
{
	evhttp_connection_set_closecb(evhttp_request_get_connection(task->http), on_client_gone, task);
	pthread_mutex_lock(&tasks->lock);
	*tasks->last = task;
	tasks->last = &task->next;
	pthread_cond_signal(&tasks->changed);
	pthread_mutex_unlock(&tasks->lock);
}

/* ---- life ---- */

int fb_tasks_init(struct fb_tasks *tasks, struct event_base *base, void (*finish)(struct fb_task *task))
{
	*tasks = (struct fb_tasks){.finish = finish};
	tasks->last = &tasks->waiting;
	pthread_mutex_init(&tasks->lock, NULL);
	pthread_cond_init(&tasks->changed, NULL);
	tasks->over_event = event_new(base, -1, EV_PERSIST, on_over, tasks);
	return tasks->over_event ? 0 : KT_ENOMEM;
}

int fb_tasks_serve(struct fb_tasks *tasks, struct kt_err *err)
{
	if (fb_thread_start(&tasks->thread, NULL, run, tasks) != 0)
		return kt_fail(err, KT_ESYS, "cannot start the control API's thread for what takes its time");
	tasks->running = true;
	return 0;
}

void fb_tasks_fini(struct fb_tasks *tasks)
{
	if (tasks->running) {
		pthread_mutex_lock(&tasks->lock);
		tasks->ending = true;
		pthread_cond_signal(&tasks->changed);
		pthread_mutex_unlock(&tasks->lock);
		pthread_join(tasks->thread, NULL);
	}
	free_all(tasks->waiting);
	free_all(tasks->over);
	if (tasks->over_event)
		event_free(tasks->over_event);
	if (tasks->finish) {
		pthread_mutex_destroy(&tasks->lock);
		pthread_cond_destroy(&tasks->changed);
	}
}
