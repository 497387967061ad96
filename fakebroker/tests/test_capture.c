/* --record: what clients on four loops send and get is in the file, byte for byte, in packets that go together. */
#include "fakebroker/tests/running.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/text/file.h"
#include "lib/wire/tcp.h"

enum { CLIENTS = 4, ROUNDS = 25, LARGE = 200000, RECORD = 16, METADATA = 3, SIZE_FIELD = 4 };

/* What a client sent and got, size fields included. */
struct client {
	pthread_t thread;
	int port;                /* of the broker */
	struct kw_buf said[2];
	bool ok;
};

static struct client clients[CLIENTS];

/* One request whose body is `n` bytes of what the codec does not know: a tag in a Metadata request of version 12. */
static void put_request(struct kw_buf *buf, int32_t correlation, size_t n)
{
	size_t at = buf->n;

	kw_put_u32(buf, 0);
	kw_put_u16(buf, METADATA);
	kw_put_u16(buf, 12);
	kw_put_u32(buf, (uint32_t)correlation);
	kw_put_u16(buf, 0);
	kw_put_uvarint(buf, 0);         /* tags of the header */
	kw_put_uvarint(buf, 1);         /* no topics */
	kw_put_u8(buf, 0);
	kw_put_u8(buf, 0);
	kw_put_uvarint(buf, 1);
	kw_put_uvarint(buf, 99);
	kw_put_uvarint(buf, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		kw_put_u8(buf, (uint8_t)(i + (size_t)correlation));
	kw_wr32(buf->p + at, (uint32_t)(buf->n - at - SIZE_FIELD));
}

/* The first byte of a frame, before the rest; an answer each. */
static bool talk(struct client *client, struct kc_conn *conn)
{
	const uint8_t *p;
	size_t n;

	for (int round = 0; round < ROUNDS; round++) {
		size_t from = client->said[0].n;

		put_request(&client->said[0], (int32_t)(client - clients) * 1000 + round,
			    round % 8 == 0 ? LARGE : (size_t)round);
		if (kc_write(conn, client->said[0].p + from, 1, soon(), NULL) ||
		    kc_write(conn, client->said[0].p + from + 1, client->said[0].n - from - 1, soon(), NULL) ||
		    kc_read_frame(conn, soon(), &p, &n, NULL))
			return false;
		kw_put_u32(&client->said[1], (uint32_t)n);
		kw_put(&client->said[1], p, n);
	}
	return true;
}

static void *run_client(void *arg)
{
	struct client *client = arg;
	struct kc_conn *conn;

	if (kc_connect("127.0.0.1", client->port, NULL, soon(), &conn, NULL))
		return NULL;
	client->ok = talk(client, conn);
	/* A frame that does not get to its end. */
	kw_put_u32(&client->said[0], 1000);
	client->ok = client->ok && kc_write(conn, "\0\0\x03\xe8", 4, soon(), NULL) == 0;
	kc_free(conn);
	return NULL;
}

/* ---- reading back ---- */

struct read_back {
	struct kw_buf said[CLIENTS][2];   /* by connection */
	size_t ended;
};

static void on_data(void *arg, struct kw_tcp_conn *conn, int side, const uint8_t *p, size_t n,
		    const struct kw_tcp_at *at)
{
	struct read_back *back = arg;

	(void)at;
	assert_in_range(conn->number, 1, CLIENTS);
	kw_put(&back->said[conn->number - 1][side], p, n);
}

static void on_gap(void *arg, struct kw_tcp_conn *conn, int side, uint64_t n, const struct kw_tcp_at *at)
{
	(void)arg;
	(void)at;
	fail_msg("%d bytes of side %d of connection %d are missing", (int)n, side, (int)conn->number);
}

static void on_finished(void *arg, struct kw_tcp_conn *conn, int side)
{
	(void)arg;
	(void)conn;
	(void)side;
}

static void on_ended(void *arg, struct kw_tcp_conn *conn)
{
	struct read_back *back = arg;

	assert_int_equal(conn->end, KW_TCP_CLOSED);
	assert_true(conn->opened);
	back->ended++;
}

static void read_packets(const uint8_t *p, size_t n, struct kw_tcp *tcp)
{
	int64_t last = 0;
	uint64_t number = 0;

	for (size_t at = KW_PCAP_HEAD; at < n;) {
		size_t size = kw_rd32(p + at + 8);
		struct kw_tcp_at place = {++number, (int64_t)kw_rd32(p + at) * 1000000 + kw_rd32(p + at + 4)};
		struct kw_segment segment;

		assert_true(at + RECORD + size <= n);
		assert_true(size <= 65535);
		assert_true(place.time_us >= last);
		last = place.time_us;
		assert_int_equal(kw_packet_read(KW_LINK_RAW, p + at + RECORD, size, size, &segment, NULL), 1);
		assert_int_equal(kw_tcp_add(tcp, &segment, &place), 0);
		at += RECORD + size;
	}
	kw_tcp_finish(tcp);
}

/* Connections are told apart by what their clients said first. */
static void is_recorded(const struct client *client, struct read_back *back)
{
	for (int i = 0; i < CLIENTS; i++) {
		const struct kw_buf *said = back->said[i];

		if (said[0].n == client->said[0].n && memcmp(said[0].p, client->said[0].p, said[0].n) == 0 &&
		    said[1].n == client->said[1].n && memcmp(said[1].p, client->said[1].p, said[1].n) == 0) {
			back->said[i][0].n = 0;   /* each stands for one */
			return;
		}
	}
	fail_msg("what a client said and heard is in no connection of the file");
}

static void all_bytes_are_recorded(void **state)
{
	char file[] = "/tmp/kassay-record-XXXXXX";
	int fd = mkstemp(file);
	struct read_back back = {.ended = 0};
	struct kw_tcp_ops ops = {on_data, on_gap, on_finished, on_ended, &back};
	struct kw_tcp *tcp = kw_tcp_new(&ops);
	struct running r;
	char *text;
	size_t n;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	running_start(&r, &(struct fb_settings){.threads = 4, .record = file});
	for (int i = 0; i < CLIENTS; i++) {
		clients[i].port = fb_cluster_node(r.process.cluster, 1)->port;
		assert_int_equal(pthread_create(&clients[i].thread, NULL, run_client, &clients[i]), 0);
	}
	for (int i = 0; i < CLIENTS; i++) {
		pthread_join(clients[i].thread, NULL);
		assert_true(clients[i].ok);
	}
	/* Until the broker has read to the end of what the clients sent. */
	for (int64_t end = soon(); fb_server_connections(r.process.server) > 0 && kc_now_ms() < end;)
		sched_yield();
	running_stop(&r);
	assert_int_equal(kt_file_read(file, 1 << 26, &text, &n, NULL), 0);
	unlink(file);
	read_packets((const uint8_t *)text, n, tcp);
	assert_int_equal(back.ended, CLIENTS);
	for (int i = 0; i < CLIENTS; i++) {
		is_recorded(&clients[i], &back);
		kw_buf_fini(&clients[i].said[0]);
		kw_buf_fini(&clients[i].said[1]);
	}
	for (int i = 0; i < CLIENTS; i++) {
		kw_buf_fini(&back.said[i][0]);
		kw_buf_fini(&back.said[i][1]);
	}
	kw_tcp_free(tcp);
	free(text);
}

/* ---- failures ---- */

static int complaints;

static void count_complaint(const char *text)
{
	complaints++;
	assert_non_null(strstr(text, "nothing more is recorded"));
}

/* A reader that has gone: the first packet fails, and nothing is tried again. */
static void a_failure_is_told_once(void **state)
{
	struct fb_captured captured = {.open = true, .client.family = 4, .broker.family = 4};
	struct iovec iov = {(void *)(uintptr_t)"abc", 3};
	char dir[] = "/tmp/kassay-record-XXXXXX", file[64];
	struct fb_capture *capture;
	struct kt_err err = {0};
	int reader;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof file, "%s/pipe", dir);
	assert_int_equal(mkfifo(file, 0600), 0);
	reader = open(file, O_RDONLY | O_NONBLOCK);
	assert_int_equal(fb_capture_new(file, count_complaint, count_complaint, &capture, &err), 0);
	fb_capture_bytes(capture, &captured, true, &iov, 3);
	assert_int_equal(complaints, 0);
	close(reader);
	for (int i = 0; i < 3; i++)
		fb_capture_bytes(capture, &captured, true, &iov, 3);
	fb_capture_closed(capture, &captured);
	assert_int_equal(complaints, 1);
	fb_capture_free(capture);
	unlink(file);
	rmdir(dir);
	assert_int_equal(fb_capture_new("/dev/null/file", count_complaint, count_complaint, &capture, &err), KT_EFILE);
	assert_string_equal(err.text, "/dev/null/file: Not a directory");
	assert_null(capture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_bytes_are_recorded),
		cmocka_unit_test(a_failure_is_told_once),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
