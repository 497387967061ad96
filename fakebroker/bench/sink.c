/* sink PARTITIONS: a broker that does with records what no broker can leave out: it reads frames, checks each batch's
 * CRC-32C, decompresses what is compressed, and answers. It keeps nothing. One node, one topic "bench", one thread. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fakebroker/bench/program.h"
#include "kw_messages.h"
#include "lib/wire/batch.h"
#include "lib/wire/compress.h"

enum { CONNS = 16, FIRST_CAP = 1 << 16, FRAME_MAX = 64 << 20 };

struct conn {
	uint8_t *p;
	size_t n, cap;             /* bytes read, bytes there */
};

static struct {
	int partitions, port;
	struct kw_arena arena;
	struct kw_buf out, inflated;
	struct kt_err err;
} sink;

static void *need(void *p)
{
	if (!p)
		bench_give_up("memory");
	return p;
}

static void check_records(const struct kw_records *records)
{
	struct kw_batch batch;

	for (int32_t at = 0; at < records->n; at += (int32_t)batch.size) {
		int codec;

		if (kw_batch_parse(records->p + at, (size_t)(records->n - at), &batch, &sink.err) ||
		    kw_batch_crc(batch.p, batch.size) != batch.crc)
			bench_give_up("a batch");
		codec = batch.attributes & KW_A_CODEC;
		kw_buf_clear(&sink.inflated);
		if (codec != KW_NONE && kw_decompress(codec, batch.p + KW_B_RECORDS, batch.size - KW_B_RECORDS,
						      KW_INFLATE_MAX, &sink.inflated, &sink.err))
			bench_give_up("a compressed batch");
	}
}

static void *answer_produce(const void *in)
{
	const struct kw_ProduceRequest *request = in;
	struct kw_ProduceResponse *response = need(kw_new(&kw_msg_ProduceResponse, &sink.arena));
	int32_t n = request->topicData.n;

	response->responses.n = n;
	response->responses.v = need(kw_new_array(&kw_ProduceResponse_TopicProduceResponse_struct, n, &sink.arena));
	for (int32_t i = 0; i < n; i++) {
		const struct kw_ProduceRequest_TopicProduceData *topic = &request->topicData.v[i];
		struct kw_ProduceResponse_TopicProduceResponse *to = &response->responses.v[i];

		to->name = topic->name;
		to->partitionResponses.n = topic->partitionData.n;
		to->partitionResponses.v = need(kw_new_array(&kw_ProduceResponse_PartitionProduceResponse_struct,
							     topic->partitionData.n, &sink.arena));
		for (int32_t j = 0; j < topic->partitionData.n; j++) {
			check_records(&topic->partitionData.v[j].records);
			to->partitionResponses.v[j].index = topic->partitionData.v[j].index;
		}
	}
	return response;
}

static void *answer_metadata(const void *in)
{
	static int32_t node[] = {1};
	struct kw_MetadataResponse *response = need(kw_new(&kw_msg_MetadataResponse, &sink.arena));
	struct kw_MetadataResponse_MetadataResponseTopic *topic;

	(void)in;
	response->controllerId = 1;
	response->brokers.n = response->topics.n = 1;
	response->brokers.v = need(kw_new_array(&kw_MetadataResponse_MetadataResponseBroker_struct, 1, &sink.arena));
	response->brokers.v->nodeId = 1;
	response->brokers.v->host = kw_str("127.0.0.1");
	response->brokers.v->port = sink.port;
	response->topics.v = topic =
		need(kw_new_array(&kw_MetadataResponse_MetadataResponseTopic_struct, 1, &sink.arena));
	topic->name = kw_str("bench");
	topic->partitions.n = sink.partitions;
	topic->partitions.v = need(kw_new_array(&kw_MetadataResponse_MetadataResponsePartition_struct, sink.partitions,
						&sink.arena));
	for (int32_t i = 0; i < sink.partitions; i++) {
		topic->partitions.v[i].partitionIndex = i;
		topic->partitions.v[i].leaderId = 1;
		topic->partitions.v[i].replicaNodes.v = topic->partitions.v[i].isrNodes.v = node;
		topic->partitions.v[i].replicaNodes.n = topic->partitions.v[i].isrNodes.n = 1;
	}
	return response;
}

/* librdkafka asks for these before it compresses, or sends magic 2. */
static const struct {
	int16_t key, max;
	void *(*answer)(const void *in);
} apis[] = {{0, 7, answer_produce}, {1, 11, NULL}, {3, 4, answer_metadata}, {10, 2, NULL}, {18, 3, NULL}};

enum { NAPIS = sizeof apis / sizeof *apis };

static void *answer_versions(void)
{
	struct kw_ApiVersionsResponse *response = need(kw_new(&kw_msg_ApiVersionsResponse, &sink.arena));

	response->apiKeys.n = NAPIS;
	response->apiKeys.v = need(kw_new_array(&kw_ApiVersionsResponse_ApiVersion_struct, NAPIS, &sink.arena));
	for (int i = 0; i < NAPIS; i++) {
		response->apiKeys.v[i].apiKey = apis[i].key;
		response->apiKeys.v[i].maxVersion = apis[i].max;
	}
	return response;
}

static void *answer(int key, const void *request)
{
	for (int i = 0; i < NAPIS; i++)
		if (apis[i].key == key && apis[i].answer)
			return apis[i].answer(request);
	return answer_versions();
}

/* A frame without its size. */
static void handle(int fd, const uint8_t *p, size_t n)
{
	int key = kw_rd16(p), version = kw_rd16(p + 2);
	struct kw_ResponseHeader header = {0};
	void *in, *request;
	size_t used;

	kw_arena_reset(&sink.arena);
	kw_buf_clear(&sink.out);
	kw_put_u32(&sink.out, 0);
	if (kw_decode(&kw_msg_RequestHeader, kw_request_header_version(key, version), p, n, &sink.arena, &in, &used,
		      &sink.err) ||
	    kw_decode(kw_request(key), version, p + used, n - used, &sink.arena, &request, NULL, &sink.err))
		bench_give_up("a request");
	header.correlationId = ((struct kw_RequestHeader *)in)->correlationId;
	if (kw_encode(&kw_msg_ResponseHeader, kw_response_header_version(key, version), &header, &sink.out,
		      &sink.err) ||
	    kw_encode(kw_response(key), version, answer(key, request), &sink.out, &sink.err))
		bench_give_up("an answer");
	kw_wr32(sink.out.p, (uint32_t)sink.out.n - 4);
	if (write(fd, sink.out.p, sink.out.n) != (ssize_t)sink.out.n)
		bench_give_up("write");
}

/* Returns false at the end of the connection. */
static bool serve(struct conn *conn, int fd)
{
	ssize_t got;
	size_t at = 0;

	if (!conn->p)
		conn->p = need(malloc(conn->cap = FIRST_CAP));
	got = read(fd, conn->p + conn->n, conn->cap - conn->n);
	if (got <= 0)
		return false;
	conn->n += (size_t)got;
	while (conn->n - at >= 4) {
		size_t size = kw_rd32(conn->p + at);

		if (size > FRAME_MAX)
			return false;
		if (conn->n - at - 4 < size) {
			if (size + 4 > conn->cap)
				conn->p = need(realloc(conn->p, conn->cap = size + 4));
			break;
		}
		handle(fd, conn->p + at + 4, size);
		at += 4 + size;
	}
	conn->n -= at;
	memmove(conn->p, conn->p + at, conn->n);
	return true;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct pollfd fds[CONNS + 1] = {{.fd = socket(AF_INET, SOCK_STREAM, 0), .events = POLLIN}};
	static struct conn conns[CONNS + 1];
	socklen_t size = sizeof at;
	nfds_t n = 1;

	sink.partitions = argc == 2 ? (int)strtol(argv[1], NULL, 10) : 1;
	if (bind(fds->fd, (struct sockaddr *)&at, size) || listen(fds->fd, CONNS) ||
	    getsockname(fds->fd, (struct sockaddr *)&at, &size))
		bench_give_up("listen");
	sink.port = ntohs(at.sin_port);
	printf("ready bootstrap=127.0.0.1:%d\n", sink.port);
	fflush(stdout);
	while (poll(fds, n, -1) > 0) {
		if (fds->revents && n <= CONNS) {
			conns[n] = (struct conn){0};
			fds[n++] = (struct pollfd){.fd = accept(fds->fd, NULL, NULL), .events = POLLIN};
		}
		for (nfds_t i = 1; i < n; i++) {
			if (!fds[i].revents || serve(&conns[i], fds[i].fd))
				continue;
			close(fds[i].fd);
			free(conns[i].p);
			conns[i] = conns[--n];
			fds[i] = fds[n];
		}
	}
	return 0;
}
