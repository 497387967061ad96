/* A link type and then packets, each with two octets for its size and one for what the capture cut off: what is told of
 * their streams is in order and adds up. */
#include "lib/text/fuzz/fuzz.h"
#include "lib/wire/buf.h"
#include "lib/wire/tcp.h"

FUZZ_TARGET

static uint64_t open_connections;

static void on_data(void *arg, struct kw_tcp_conn *conn, int side, const uint8_t *p, size_t n,
		    const struct kw_tcp_at *at)
{
	static volatile uint8_t sink;

	(void)arg;
	FUZZ_CHECK(n > 0 && conn->end == KW_TCP_OPEN && at->packet > 0);
	for (size_t i = 0; i < n; i++)   /* all of it is there to be read, which the sanitizers watch */
		sink = p[i];
	(void)sink;
	FUZZ_CHECK(conn->bytes[side] >= n + conn->missing[side]);
	if (!conn->user)
		open_connections++;
	conn->user = &open_connections;
}

static void on_gap(void *arg, struct kw_tcp_conn *conn, int side, uint64_t n, const struct kw_tcp_at *at)
{
	(void)arg;
	FUZZ_CHECK(n > 0 && conn->end == KW_TCP_OPEN && at->packet > 0);
	FUZZ_CHECK(conn->missing[side] >= n && conn->bytes[side] >= conn->missing[side]);
}

static void on_finished(void *arg, struct kw_tcp_conn *conn, int side)
{
	(void)arg;
	FUZZ_CHECK(conn->end == KW_TCP_OPEN && (side == 0 || side == 1));
}

static void on_ended(void *arg, struct kw_tcp_conn *conn)
{
	(void)arg;
	FUZZ_CHECK(conn->end != KW_TCP_OPEN);
	if (conn->user)
		open_connections--;
}

static void add(struct kw_tcp *tcp, int link, const uint8_t *p, size_t n, size_t wire_n, uint64_t number)
{
	struct kw_tcp_at at = {number, (int64_t)number};
	struct kw_segment segment;
	struct kt_err err = {0};
	int got = kw_packet_read(link, p, n, wire_n, &segment, &err);

	FUZZ_CHECK(got > 0 || segment.data.n == 0);
	FUZZ_CHECK((got < 0) == (err.code != 0));
	FUZZ_CHECK(err.offset <= n);
	if (got <= 0)
		return;
	FUZZ_CHECK(segment.data.n + segment.lost <= wire_n);
	FUZZ_CHECK(segment.data.n == 0 || (segment.data.p >= p && segment.data.p + segment.data.n <= p + n));
	FUZZ_CHECK(kw_tcp_add(tcp, &segment, &at) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static const struct kw_tcp_ops ops = {on_data, on_gap, on_finished, on_ended, NULL};
	static const int links[] = {
#define KW_X(sym, number, reader, name) number,
		KW_LINKS(KW_X)
#undef KW_X
	};
	int link = links[fuzz_byte(&p, &n) % (sizeof links / sizeof *links)];
	struct kw_tcp *tcp = kw_tcp_new(&ops);

	open_connections = 0;
	if (!tcp)
		return 0;
	for (uint64_t number = 1; n >= 3; number++) {
		size_t size = kw_rd16(p), lost = p[2];

		p += 3;
		n -= 3;
		if (size > n)
			size = n;
		add(tcp, link, p, size, size + lost, number);
		p += size;
		n -= size;
	}
	kw_tcp_finish(tcp);
	FUZZ_CHECK(open_connections == 0);
	FUZZ_CHECK(kw_tcp_held(tcp) == 0);
	kw_tcp_free(tcp);
	return 0;
}
