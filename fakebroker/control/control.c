#include "fakebroker/control/control.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/thread.h>
#include <stdlib.h>

#include "fakebroker/control/endpoints.h"

enum { MAX_BODY = 16 * 1024 * 1024, TIMEOUT_S = 60 };

struct fb_control {
	struct fb_cluster *cluster;
	struct event_base *base;
	struct evhttp *http;
	struct event *stop;
	pthread_t thread;
	bool running;
};

/* ---- one request ---- */

static json_t *read_body(struct evhttp_request *http, struct kt_err *err)
{
	struct evbuffer *in = evhttp_request_get_input_buffer(http);
	size_t n = evbuffer_get_length(in);
	json_error_t why;
	json_t *json;

	if (n == 0)
		return NULL;
	json = json_loadb((const char *)evbuffer_pullup(in, -1), n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
	if (!json)
		kt_fail(err, KT_ESYNTAX, "line %d: %s", why.line, why.text);
	return json;
}

static const char *method_of(struct evhttp_request *http)
{
	switch (evhttp_request_get_command(http)) {
	case EVHTTP_REQ_GET: return "GET";
	case EVHTTP_REQ_PUT: return "PUT";
	case EVHTTP_REQ_POST: return "POST";
	case EVHTTP_REQ_DELETE: return "DELETE";
	default: return "";
	}
}

static void send_answer(struct evhttp_request *http, struct fb_answer *answer)
{
	struct evbuffer *out = evbuffer_new();
	char *text = answer->json ? json_dumps(answer->json, JSON_INDENT(2)) : answer->text;
	const char *type = answer->json ? "application/json" : "text/plain; version=0.0.4; charset=utf-8";

	if (out && text) {
		evbuffer_add_printf(out, "%s%s", text, answer->json ? "\n" : "");
		evhttp_add_header(evhttp_request_get_output_headers(http), "Content-Type", type);
	}
	evhttp_send_reply(http, answer->status, NULL, out);
	if (out)
		evbuffer_free(out);
	if (answer->json)
		free(text);
	json_decref(answer->json);
	free(answer->text);
}

static void on_request(struct evhttp_request *http, void *arg)
{
	struct fb_control *control = arg;
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(http);
	const char *path = evhttp_uri_get_path(uri), *query = evhttp_uri_get_query(uri);
	struct evkeyvalq params = {0};
	struct kt_err err = {0};
	struct fb_answer answer = {.status = 200};
	struct fb_ask ask = {
		.cluster = control->cluster, .method = method_of(http), .params = &params,
		.path = path ? evhttp_uridecode(path, 0, NULL) : NULL,
	};

	if (query)
		evhttp_parse_query_str(query, &params);
	ask.body = read_body(http, &err);
	if (err.code)
		fb_answer_error(&answer, 400, "%s", err.text);
	else if (!ask.path)
		fb_answer_error(&answer, 400, "the path cannot be read");
	else
		fb_endpoint(&ask, &answer);
	send_answer(http, &answer);
	json_decref(ask.body);
	free(ask.path);
	if (params.tqh_last)
		evhttp_clear_headers(&params);
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

int fb_control_start(struct fb_cluster *cluster, const char *host, int port, struct fb_control **out, int *bound,
		     struct kt_err *err)
{
	struct fb_control *control = calloc(1, sizeof *control);
	struct evhttp_bound_socket *socket = NULL;

	*out = control;
	if (!control)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	control->cluster = cluster;
	evthread_use_pthreads();
	control->base = event_base_new();
	control->http = control->base ? evhttp_new(control->base) : NULL;
	control->stop = control->base ? event_new(control->base, -1, 0, on_stop, control->base) : NULL;
	if (!control->http || !control->stop)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	evhttp_set_allowed_methods(control->http, EVHTTP_REQ_GET | EVHTTP_REQ_PUT | EVHTTP_REQ_POST | EVHTTP_REQ_DELETE);
	evhttp_set_max_body_size(control->http, MAX_BODY);
	evhttp_set_max_headers_size(control->http, 64 * 1024);
	evhttp_set_timeout(control->http, TIMEOUT_S);
	evhttp_set_gencb(control->http, on_request, control);
	socket = evhttp_bind_socket_with_handle(control->http, host, (uint16_t)port);
	if (!socket)
		return kt_fail(err, KT_ENET, "cannot listen on %s:%d for the control API: %s", host, port, strerror(errno));
	*bound = port_of(socket);
	if (pthread_create(&control->thread, NULL, run, control) != 0)
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
	if (control->stop)
		event_free(control->stop);
	if (control->http)
		evhttp_free(control->http);
	if (control->base)
		event_base_free(control->base);
	free(control);
}
