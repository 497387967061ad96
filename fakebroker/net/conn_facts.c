/* What a handler asks a connection, and tells it: whose it is, who is at the other end, when the frame at hand came. */
#include "fakebroker/net/loop.h"

void *fb_conn_tag(const struct fb_conn *conn)
{
	return conn->listener->tag;
}

void *fb_conn_session(const struct fb_conn *conn)
{
	return conn->session;
}

void fb_conn_set_session(struct fb_conn *conn, void *session)
{
	conn->session = session;
}

void fb_conn_set_max_frame(struct fb_conn *conn, int32_t max_frame)
{
	if (max_frame < conn->loop->server->opts.max_frame)
		conn->max_frame = max_frame;
	else
		conn->max_frame = conn->loop->server->opts.max_frame;
}

uint64_t fb_conn_id(const struct fb_conn *conn)
{
	return conn->id;
}

const char *fb_conn_address(const struct fb_conn *conn)
{
	return conn->address;
}

int fb_conn_port(const struct fb_conn *conn)
{
	return conn->port;
}

int64_t fb_conn_received_ns(const struct fb_conn *conn)
{
	return conn->received_ns;
}

int64_t fb_conn_turned_ns(struct fb_conn *conn)
{
	int64_t turned = conn->turned_ns;

	conn->turned_ns = 0;
	return turned ? turned : fb_now_ns();
}

void fb_conn_turn(struct fb_conn *conn, int64_t now)
{
	conn->turned_ns = now;
}
