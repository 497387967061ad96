#include "fakebroker/control/control.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/thread.h>
#include <stddef.h>
#include <stdlib.h>

#include "fakebroker/control/tasks.h"
#include "fakebroker/thread.h"
#include "lib/text/address.h"

/* libevent reads no further than MAX_READ, and answers in HTML then. */
enum { MAX_BODY = 16 * 1024 * 1024, MAX_READ = 2 * MAX_BODY, TIMEOUT_S = 60 };

/* A POST /v1/wait that is not answered yet. */
struct waiter {
	struct waiter *next, **prev;
	struct fb_control *control;
	struct evhttp_request *http;
	struct event *timer;
	struct fb_record_filter filter;   /* after: the last request that was looked at */
	int64_t count;             /* still missing */
};

struct fb_control {
	struct fb_cluster *cluster;
	struct event_base *base;
	struct evhttp *http;
	struct event *stop;
	struct event *recorded;    /* activated when a request was recorded, while somebody waits */
	struct waiter *waiters;
	struct fb_tasks tasks;     /* those that take their time */
	pthread_t thread;
	bool running;
};

/* ---- answers ---- */

static int read_body(struct evhttp_request *http, struct kt_json *doc, struct kt_err *err)
{
	struct evbuffer *in = evhttp_request_get_input_buffer(http);
	size_t n = evbuffer_get_length(in);

	if (n == 0)
		return 0;
	return kt_json_parse(doc, "body", (const char *)evbuffer_pullup(in, -1), n, err);
}

/* All that evhttp knows, so that a wrong one is answered by us. */
static const struct {
	enum evhttp_cmd_type type;
	const char *name;
} methods[] = {
	{EVHTTP_REQ_GET, "GET"}, {EVHTTP_REQ_POST, "POST"}, {EVHTTP_REQ_HEAD, "HEAD"}, {EVHTTP_REQ_PUT, "PUT"},
	{EVHTTP_REQ_DELETE, "DELETE"}, {EVHTTP_REQ_OPTIONS, "OPTIONS"}, {EVHTTP_REQ_TRACE, "TRACE"},
	{EVHTTP_REQ_CONNECT, "CONNECT"}, {EVHTTP_REQ_PATCH, "PATCH"},
};

enum { NMETHODS = sizeof methods / sizeof methods[0] };

static const char *method_of(struct evhttp_request *http)
{
	enum evhttp_cmd_type type = evhttp_request_get_command(http);
	size_t i = 0;

	while (i + 1 < NMETHODS && methods[i].type != type)
		i++;
	return methods[i].name;
}

static void allow_methods(struct evhttp *http)
{
	unsigned all = 0;

	for (size_t i = 0; i < NMETHODS; i++)
		all |= methods[i].type;
	evhttp_set_allowed_methods(http, (ev_uint16_t)all);
}

static void send_answer(struct evhttp_request *http, struct fb_answer *answer)
{
	struct evbuffer *out = evbuffer_new();
	char *text = answer->json ? json_dumps(answer->json, JSON_INDENT(2)) : answer->text;
	struct evkeyvalq *headers = evhttp_request_get_output_headers(http);
	const char *type = answer->json ? "application/json" : "text/plain; version=0.0.4; charset=utf-8";
	char disposition[80];
	bool whole;

	if (out && text) {
		evbuffer_add_printf(out, "%s%s", text, answer->json ? "\n" : "");
		evhttp_add_header(headers, "Content-Type", type);
	}
	if (out && answer->bytes.n) {
		evbuffer_add(out, answer->bytes.p, answer->bytes.n);
		evhttp_add_header(headers, "Content-Type", "application/octet-stream");
		snprintf(disposition, sizeof disposition, "attachment; filename=\"%s\"", answer->file);
		evhttp_add_header(headers, "Content-Disposition", disposition);
	}
	if (answer->allow[0])
		evhttp_add_header(headers, "Allow", answer->allow);
	/* A 200 that is neither text nor a file is one for which there was no memory. */
	whole = out && (text || answer->file[0] || answer->status != 200);
	evhttp_send_reply(http, whole ? answer->status : 500, NULL, out);
	if (out)
		evbuffer_free(out);
	if (answer->json)
		free(text);
	fb_answer_drop(answer);
}

/* ---- waiting ---- */

static void request_recorded(void *arg)
{
	event_active(((struct fb_control *)arg)->recorded, 0, 0);
}

static void waiter_free(struct waiter *waiter)
{
	struct fb_control *control = waiter->control;

	*waiter->prev = waiter->next;
	if (waiter->next)
		waiter->next->prev = waiter->prev;
	if (!control->waiters)
		fb_recorder_notify(control->cluster->recorder, NULL, NULL);
	event_free(waiter->timer);
	free(waiter);
}

static void end_wait(struct waiter *waiter, bool met)
{
	struct evhttp_request *http = waiter->http;
	struct fb_answer answer = {0};

	evhttp_connection_set_closecb(evhttp_request_get_connection(http), NULL, NULL);
	waiter_free(waiter);
	fb_answer_waited(&answer, met);
	send_answer(http, &answer);
}

static void on_recorded(evutil_socket_t fd, short what, void *arg)
{
	struct fb_control *control = arg;
	struct waiter *next;

	(void)fd;
	(void)what;
	for (struct waiter *waiter = control->waiters; waiter; waiter = next) {
		next = waiter->next;
		waiter->count -= (int64_t)fb_recorder_count(control->cluster->recorder, &waiter->filter);
		if (waiter->count <= 0)
			end_wait(waiter, true);
	}
}

static void on_wait_over(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	end_wait(arg, false);
}

/* The client went away: evhttp frees the request itself. */
static void on_waiter_closed(struct evhttp_connection *evcon, void *arg)
{
	(void)evcon;
	waiter_free(arg);
}

static void start_wait(struct fb_control *control, struct evhttp_request *http, struct fb_answer *answer)
{
	struct waiter *waiter = calloc(1, sizeof *waiter);
	struct timeval tv = {(time_t)(answer->timeout_ms / 1000), (suseconds_t)(answer->timeout_ms % 1000 * 1000)};

	if (waiter)
		waiter->timer = evtimer_new(control->base, on_wait_over, waiter);
	if (!waiter || !waiter->timer) {
		free(waiter);
		fb_answer_error(answer, 500, "out of memory");
		send_answer(http, answer);
		return;
	}
	waiter->control = control;
	waiter->http = http;
	waiter->filter = answer->filter;
	waiter->count = answer->count;
	waiter->next = control->waiters;
	waiter->prev = &control->waiters;
	if (waiter->next)
		waiter->next->prev = &waiter->next;
	control->waiters = waiter;
	evhttp_connection_set_closecb(evhttp_request_get_connection(http), on_waiter_closed, waiter);
	event_add(waiter->timer, &tv);
	fb_recorder_notify(control->cluster->recorder, request_recorded, control);
	event_active(control->recorded, 0, 0);
}

/* ---- every request ---- */

/* False: answered already. */
static bool read_ask(struct evhttp_request *http, struct fb_ask *ask, struct fb_answer *answer)
{
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(http);
	const char *path = evhttp_uri_get_path(uri), *query = evhttp_uri_get_query(uri);
	struct kt_err err = {0};
	size_t n = 0;
	char line[1024];

	ask->method = method_of(http);
	ask->path = path ? evhttp_uridecode(path, 0, &n) : NULL;
	if (evbuffer_get_length(evhttp_request_get_input_buffer(http)) > MAX_BODY)
		fb_answer_error(answer, 413, "a body has at most %d bytes", MAX_BODY);
	else if (!ask->path)
		fb_answer_error(answer, 400, "the path cannot be read");
	else if (strlen(ask->path) != n)
		fb_answer_error(answer, 400, "the path has a NUL");
	else if (query && evhttp_parse_query_str(query, ask->params) < 0)
		fb_answer_error(answer, 400, "the query cannot be read: NAME=VALUE&... is expected");
	else if (read_body(http, &ask->body, &err) < 0)
		fb_answer_error(answer, 400, "%s", kt_err_line(&err, line, sizeof line));
	return !answer->json;
}

static void finish(struct fb_task *task)
{
	struct fb_control *control = (struct fb_control *)((char *)task->owner - offsetof(struct fb_control, tasks));

	if (!task->http)
		fb_answer_drop(&task->answer);
	else if (task->answer.wait)
		start_wait(control, task->http, &task->answer);
	else
		send_answer(task->http, &task->answer);
	fb_task_free(task);
}

static void on_request(struct evhttp_request *http, void *arg)
{
	struct fb_control *control = arg;
	struct fb_task *task = fb_task_new(&control->tasks, http, control->cluster);

	if (!task) {
		evhttp_send_reply(http, 500, NULL, NULL);
		return;
	}
	if (read_ask(http, &task->ask, &task->answer)) {
		if (fb_endpoint_is_slow(&task->ask)) {
			fb_tasks_put(&control->tasks, task);
			return;
		}
		fb_endpoint(&task->ask, &task->answer);
	}
	finish(task);
}

/* ---- the thread ---- */

static void on_stop(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	event_base_loopbreak(arg);
}

static void *run(void *arg)
{
	struct fb_control *control = arg;

	event_base_loop(control->base, EVLOOP_NO_EXIT_ON_EMPTY);
	return NULL;
}

static int port_of(struct evhttp_bound_socket *bound)
{
	struct sockaddr_storage ss;
	socklen_t n = sizeof ss;

	if (getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&ss, &n) < 0)
		return 0;
	if (ss.ss_family == AF_INET6)
		return ntohs(((struct sockaddr_in6 *)(void *)&ss)->sin6_port);
	return ntohs(((struct sockaddr_in *)(void *)&ss)->sin_port);
}

int fb_control_new(struct fb_cluster *cluster, const char *host, int port, struct fb_control **out, int *bound,
		   struct kt_err *err)
{
	struct fb_control *control = calloc(1, sizeof *control);
	struct evhttp_bound_socket *socket = NULL;
	char address[KT_ADDRESS_MAX];

	*out = control;
	if (!control)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	control->cluster = cluster;
	evthread_use_pthreads();
	control->base = event_base_new();
	control->http = control->base ? evhttp_new(control->base) : NULL;
	control->stop = control->base ? event_new(control->base, -1, 0, on_stop, control->base) : NULL;
	control->recorded = control->base ? event_new(control->base, -1, EV_PERSIST, on_recorded, control) : NULL;
	if (!control->http || !control->stop || !control->recorded ||
	    fb_tasks_init(&control->tasks, control->base, finish))
		return kt_fail(err, KT_ENOMEM, "out of memory");
	allow_methods(control->http);
	evhttp_set_max_body_size(control->http, MAX_READ);
	evhttp_set_max_headers_size(control->http, 64 * 1024);
	evhttp_set_timeout(control->http, TIMEOUT_S);
	evhttp_set_gencb(control->http, on_request, control);
	socket = evhttp_bind_socket_with_handle(control->http, host, (uint16_t)port);
	if (!socket)
		return kt_fail(err, KT_ENET, "cannot listen on %s for the control API: %s",
			       kt_address(address, sizeof address, host, port), strerror(errno));
	*bound = port_of(socket);
	return 0;
}

int fb_control_serve(struct fb_control *control, struct kt_err *err)
{
	if (fb_tasks_serve(&control->tasks, err) < 0)
		return err->code;
	if (fb_thread_start(&control->thread, NULL, run, control) != 0)
		return kt_fail(err, KT_ESYS, "cannot start the thread of the control API");
	control->running = true;
	return 0;
}

void fb_control_stop(struct fb_control *control)
{
	if (!control)
		return;
	if (control->running) {
		event_active(control->stop, 0, 0);
		pthread_join(control->thread, NULL);
	}
	while (control->waiters) {
		evhttp_connection_set_closecb(evhttp_request_get_connection(control->waiters->http), NULL, NULL);
		waiter_free(control->waiters);
	}
	fb_tasks_fini(&control->tasks);
	if (control->recorded)
		event_free(control->recorded);
	if (control->stop)
		event_free(control->stop);
	if (control->http)
		evhttp_free(control->http);
	if (control->base)
		event_base_free(control->base);
	free(control);
}
