/* Hostile bytes on every port: whatever comes, the process lives and answers the next client. */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fakebroker/request.h"
#include "fakebroker/tests/running.h"

static struct running run;
static uint64_t seed = 0x9e3779b97f4a7c15u;

static uint32_t rnd(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % n;
}

static int set_up(void **state)
{
	struct fb_settings settings = {.nodes = 1, .threads = 2, .log_level = 3};

	(void)state;
	running_start(&run, &settings);
	make_topic(&run, "t");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	running_stop(&run);
	return 0;
}

static int port_of(int32_t node)
{
	return node ? fb_cluster_node(run.process.cluster, node)->port : run.process.control_port;
}

/* Sends all, half-closes, reads until the peer has closed: by then it has handled every byte. */
static void throw(int port, const uint8_t *p, size_t n)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	struct timeval tv = {20, 0};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	uint8_t sink[4096];

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
	assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof in), 0);
	send(fd, p, n, MSG_NOSIGNAL);   /* the peer may close in the middle */
	shutdown(fd, SHUT_WR);
	while (recv(fd, sink, sizeof sink, 0) > 0)
		;
	close(fd);
}

static void assert_alive(void)
{
	struct kc_conn *broker = dial(&run, 1), *controller = dial(&run, FB_CONTROLLER_ID);

	kc_free(broker);
	kc_free(controller);
	throw(port_of(0), (const uint8_t *)"GET /v1/status HTTP/1.0\r\n\r\n", 27);
}

static void noise(void **state)
{
	static const int32_t nodes[] = {0, 1, FB_CONTROLLER_ID};
	uint8_t bytes[600];

	(void)state;
	for (int i = 0; i < 600; i++) {
		size_t n = rnd(sizeof bytes);

		for (size_t k = 0; k < n; k++)
			bytes[k] = (uint8_t)rnd(256);
		if (n >= 4 && i % 2)
			kw_wr32(bytes, (uint32_t)n - 4);   /* a frame as whole as it says */
		throw(port_of(nodes[i % 3]), bytes, n);
	}
	assert_alive();
}

/* A request that is good but for some bytes: those that get far. */
static size_t good_frame(const struct fb_api *api, int version, uint8_t *out, size_t size)
{
	struct kw_RequestHeader header = {.requestApiKey = api->key, .requestApiVersion = (int16_t)version,
					  .correlationId = 1, .clientId = kw_str("hostile")};
	const char *text = api->key == 0 ? "{\"acks\": 1, \"topicData\": [{\"name\": \"t\", \"partitionData\": "
					   "[{\"index\": 0, \"records\": {\"batches\": [{\"codec\": \"gzip\", "
					   "\"records\": [{\"key\": \"a\", \"value\": \"b\", \"headers\": [{\"key\": "
					   "\"h\", \"value\": \"x\"}]}]}]}}]}]}"
					 : "{}";
	json_t *json = json_loads(version >= 13 ? "{}" : text, 0, NULL);
	struct kw_buf buf;
	size_t n;
	void *body;

	kw_buf_init(&buf, 0);
	kw_put_u32(&buf, 0);
	assert_int_equal(kw_from_json(kw_request(api->key), version, json, &run.arena, &body, NULL), 0);
	assert_int_equal(kw_encode(&kw_msg_RequestHeader, kw_request_header_version(api->key, version), &header, &buf,
				   NULL), 0);
	assert_int_equal(kw_encode(kw_request(api->key), version, body, &buf, NULL), 0);
	kw_wr32(buf.p, (uint32_t)buf.n - 4);
	n = buf.n < size ? buf.n : size;
	memcpy(out, buf.p, n);
	kw_buf_fini(&buf);
	json_decref(json);
	return n;
}

static void mutate(uint8_t *p, size_t *n)
{
	static const uint8_t odd[] = {0, 1, 0x7f, 0x80, 0xff, 0xfe};

	for (uint32_t k = rnd(4); k < 4; k++) {
		size_t at = 4 + rnd((uint32_t)*n - 4);

		if (rnd(2))
			p[at] = odd[rnd(sizeof odd)];
		else
			p[at] ^= (uint8_t)(1u << rnd(8));
	}
	if (rnd(5) == 0) {   /* shorter, and saying so */
		*n = 4 + rnd((uint32_t)*n - 4);
		kw_wr32(p, (uint32_t)*n - 4);
	}
}

static void mutated_requests(void **state)
{
	const struct fb_api *api;
	uint8_t frame[2048];

	(void)state;
	for (int round = 0; round < 8; round++) {
		for (size_t i = 0; (api = fb_api_at(i)); i++) {
			for (int v = api->min; v <= api->max; v++) {
				size_t n = good_frame(api, v, frame, sizeof frame);

				mutate(frame, &n);
				throw(port_of(api->listeners & FB_ON_BROKER ? 1 : FB_CONTROLLER_ID), frame, n);
			}
		}
		kw_arena_reset(&run.arena);
	}
	assert_alive();
}

/* A frame that announces much and sends little takes little memory and harms nobody else. */
static void announced_but_not_sent(void **state)
{
	enum { N = 50 };
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port_of(1))};
	static const uint8_t size[] = {0x06, 0x40, 0, 0, 0, 0, 0, 0};   /* 100 MiB */
	int fds[N];

	(void)state;
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (int i = 0; i < N; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM, 0);
		assert_int_equal(connect(fds[i], (struct sockaddr *)&in, sizeof in), 0);
		assert_int_equal(send(fds[i], size, sizeof size, MSG_NOSIGNAL), (ssize_t)sizeof size);
	}
	assert_alive();
	for (int i = 0; i < N; i++)
		close(fds[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise),
		cmocka_unit_test(mutated_requests),
		cmocka_unit_test(announced_but_not_sent),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
