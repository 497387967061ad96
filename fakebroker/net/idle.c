/* Connections on which nothing happens for too long. Source: Selector.IdleExpiryManager of Kafka 4.4.0, which closes
 * those that wait for an answer, too.
 *
 * Those with the same limit are in one list, in the order in which something last happened on them: it takes no search
 * to find those that are due, and one timer a loop. */
#include <stdlib.h>

#include "fakebroker/net/loop.h"

enum { NS_PER_MS = 1000000 };

static const int64_t MAX_MS = INT64_MAX / NS_PER_MS / 2;   /* more is never */

struct fb_idle {
	struct fb_idle *next;
	int64_t ns;                /* the limit */
	struct fb_conn *newest, *oldest;
};

static void unlink_conn(struct fb_conn *conn)
{
	struct fb_idle *idle = conn->idle;

	*(conn->newer ? &conn->newer->older : &idle->newest) = conn->older;
	*(conn->older ? &conn->older->newer : &idle->oldest) = conn->newer;
}

static void link_newest(struct fb_conn *conn)
{
	struct fb_idle *idle = conn->idle;

	conn->newer = NULL;
	conn->older = idle->newest;
	*(idle->newest ? &idle->newest->newer : &idle->oldest) = conn;
	idle->newest = conn;
}

void fb_idle_touch(struct fb_conn *conn, int64_t now)
{
	if (!conn->idle)
		return;
	if (now > conn->active_ns)
		conn->active_ns = now;
	if (conn->idle->newest == conn)
		return;
	unlink_conn(conn);
	link_newest(conn);
}

void fb_idle_leave(struct fb_conn *conn)
{
	if (conn->idle)
		unlink_conn(conn);
	conn->idle = NULL;
}

static struct fb_idle *list_of(struct fb_loop *loop, int64_t ns)
{
	struct fb_idle *idle = loop->idle;

	while (idle && idle->ns != ns)
		idle = idle->next;
	if (idle)
		return idle;
	idle = malloc(sizeof *idle);
	if (!idle)
		return NULL;
	*idle = (struct fb_idle){.next = loop->idle, .ns = ns};
	return loop->idle = idle;
}

static void wake_at(struct fb_loop *loop, int64_t due, int64_t now)
{
	int64_t us = due > now ? (due - now) / 1000 + 1 : 0;
	struct timeval tv = {(time_t)(us / 1000000), (suseconds_t)(us % 1000000)};

	loop->idle_due = due;
	event_add(loop->idle_timer, &tv);
}

void fb_conn_set_max_idle(struct fb_conn *conn, int64_t ms)
{
	struct fb_loop *loop = conn->loop;
	int64_t now = fb_now_ns();

	fb_idle_leave(conn);
	if (ms < 0 || ms > MAX_MS)
		return;
	conn->idle = list_of(loop, (ms ? ms : 1) * NS_PER_MS);
	if (!conn->idle)
		return;
	conn->active_ns = now;
	link_newest(conn);
	if (now + conn->idle->ns < loop->idle_due)
		wake_at(loop, now + conn->idle->ns, now);
}

/* A request that sleeps was told to, by one who knows for how long; unless its client has gone. */
static bool is_held(const struct fb_conn *conn)
{
	return conn->busy && conn->sleeping && fb_conn_may_send(conn);
}

int64_t fb_idle_expire(struct fb_loop *loop, int64_t now)
{
	int64_t next = INT64_MAX;

	for (struct fb_idle *idle = loop->idle; idle; idle = idle->next) {
		while (idle->oldest && idle->oldest->active_ns + idle->ns <= now) {
			if (is_held(idle->oldest))
				fb_idle_touch(idle->oldest, now);
			else
				fb_conn_close(idle->oldest);
		}
		if (idle->oldest && idle->oldest->active_ns + idle->ns < next)
			next = idle->oldest->active_ns + idle->ns;
	}
	return next;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct fb_loop *loop = arg;
	int64_t now = fb_now_ns(), next = fb_idle_expire(loop, now);

	(void)fd;
	(void)what;
	loop->idle_due = INT64_MAX;
	if (next < INT64_MAX)
		wake_at(loop, next, now);
}

int fb_idle_init(struct fb_loop *loop)
{
	loop->idle_due = INT64_MAX;
	loop->idle_timer = evtimer_new(loop->base, on_timer, loop);
	return loop->idle_timer ? 0 : KT_ENOMEM;
}

void fb_idle_fini(struct fb_loop *loop)
{
	while (loop->idle) {
		struct fb_idle *idle = loop->idle;

		loop->idle = idle->next;
		free(idle);
	}
	if (loop->idle_timer)
		event_free(loop->idle_timer);
}
