/* Memory that runs out while the engine wire produces or fetches is the program's own failure, whatever call it was: it
 * is neither counted as damage or a failure of the broker's nor taken for a broken connection. */
#include <arpa/inet.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "kw_messages.h"
#include "lib/wire/batch.h"
#include "lib/wire/tests/failing_malloc.h"
#include "loadgen/load.h"
#include "loadgen/wire_fetch.h"

enum { PRODUCE = 0, METADATA = 3, API_VERSIONS = 18, VERSION = 4, PRODUCE_VERSION = 9, RECORDS = 2 };

/* ApiVersions: Produce 9, Fetch and Metadata 4. */
static const char versions[] = "\0\0" "\4" "\0\0\0\11\0\11\0" "\0\1\0\4\0\4\0" "\0\3\0\4\0\4\0" "\0\0\0\0";

static struct {
	int fd, port;
	pthread_t thread;
	struct kw_buf produced, metadata, records, fetched;   /* records: those of fetched */
} broker;

/* ---- a broker with one partition ---- */

static bool take(int fd, void *to, size_t n)
{
	return recv(fd, to, n, MSG_WAITALL) == (ssize_t)n;
}

static void answer(int fd, const unsigned char correlation[4], const void *p, size_t n)
{
	size_t size = n + 4;
	unsigned char head[8] = {(unsigned char)(size >> 24), (unsigned char)(size >> 16), (unsigned char)(size >> 8),
				 (unsigned char)size};

	memcpy(head + 4, correlation, 4);
	send(fd, head, sizeof head, MSG_NOSIGNAL | MSG_MORE);
	send(fd, p, n, MSG_NOSIGNAL);
}

static void serve_connection(int fd)
{
	unsigned char size[4], frame[1024];

	while (take(fd, size, sizeof size)) {
		size_t n = (size_t)size[2] << 8 | size[3];

		if (n < 8 || n > sizeof frame || !take(fd, frame, n))
			break;
		if (frame[1] == API_VERSIONS)
			answer(fd, frame + 4, versions, sizeof versions);
		else if (frame[1] == METADATA)
			answer(fd, frame + 4, broker.metadata.p, broker.metadata.n);
		else if (frame[1] == PRODUCE)
			answer(fd, frame + 4, broker.produced.p, broker.produced.n);
		else
			answer(fd, frame + 4, broker.fetched.p, broker.fetched.n);
	}
	close(fd);
}

/* One connection after the other: the engine asks for the leaders on one that it closes. */
static void *serve(void *arg)
{
	int fd;

	while ((fd = accept(broker.fd, NULL, NULL)) >= 0)
		serve_connection(fd);
	return arg;
}

static void encode_metadata(void)
{
	struct kw_MetadataResponse_MetadataResponseBroker node = {
		.nodeId = 1, .host = kw_str("127.0.0.1"), .port = broker.port, .rack = KW_NULL_STR,
	};
	struct kw_MetadataResponse_MetadataResponsePartition partition = {.leaderId = 1, .leaderEpoch = -1};
	struct kw_MetadataResponse_MetadataResponseTopic topic = {
		.name = kw_str("t"), .partitions = {&partition, 1}, .topicAuthorizedOperations = INT32_MIN,
	};
	struct kw_MetadataResponse response = {
		.brokers = {&node, 1}, .clusterId = KW_NULL_STR, .topics = {&topic, 1},
		.clusterAuthorizedOperations = INT32_MIN,
	};

	assert_int_equal(kw_encode(&kw_msg_MetadataResponse, VERSION, &response, &broker.metadata, NULL), 0);
}

/* The header behind the correlation id is flexible: it ends with a count of tagged fields. */
static void encode_produced(void)
{
	struct kw_ProduceResponse_PartitionProduceResponse partition;
	struct kw_ProduceResponse_TopicProduceResponse topic = {
		.name = kw_str("t"), .partitionResponses = {&partition, 1},
	};
	struct kw_ProduceResponse response = {.responses = {&topic, 1}};

	kw_set_defaults(&kw_ProduceResponse_PartitionProduceResponse_struct, &partition);
	kw_put_u8(&broker.produced, 0);
	assert_int_equal(kw_encode(&kw_msg_ProduceResponse, PRODUCE_VERSION, &response, &broker.produced, NULL), 0);
}

/* A batch whose records have to be inflated, and have headers. */
static void encode_fetched(int codec)
{
	struct kw_header headers[40];
	struct kw_record records[RECORDS] = {
		{.key = {NULL, -1}, .value = {(const uint8_t *)"a", 1}, .nheaders = 40, .headers = headers},
		{.offsetDelta = 1, .key = {NULL, -1}, .value = {(const uint8_t *)"b", 1}},
	};
	struct kw_batch_spec spec = kw_batch_spec_default;
	struct kw_FetchResponse_PartitionData partition;
	struct kw_FetchResponse_FetchableTopicResponse topic = {.topic = kw_str("t"), .partitions = {&partition, 1}};
	struct kw_FetchResponse response = {.responses = {&topic, 1}};

	for (int i = 0; i < 40; i++)
		headers[i] = (struct kw_header){kw_str("h"), {(const uint8_t *)"v", 1}};
	spec.attributes = (int16_t)codec;
	assert_int_equal(kw_batch_build(&spec, records, RECORDS, &broker.records, NULL), 0);
	kw_set_defaults(&kw_FetchResponse_PartitionData_struct, &partition);
	partition.highWatermark = RECORDS;
	partition.records = (struct kw_records){.p = broker.records.p, .n = (int32_t)broker.records.n};
	assert_int_equal(kw_encode(&kw_msg_FetchResponse, VERSION, &response, &broker.fetched, NULL), 0);
}

/* A broker of its own for each codec: what it sends does not change while it runs. */
static void start(int codec)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;

	broker.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(broker.fd, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(getsockname(broker.fd, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(listen(broker.fd, 8), 0);
	broker.port = ntohs(address.sin_port);
	encode_metadata();
	encode_fetched(codec);
	encode_produced();
	assert_int_equal(pthread_create(&broker.thread, NULL, serve, NULL), 0);
}

static void end(void)
{
	shutdown(broker.fd, SHUT_RDWR);
	pthread_join(broker.thread, NULL);
	close(broker.fd);
	kw_buf_fini(&broker.produced);
	kw_buf_fini(&broker.metadata);
	kw_buf_fini(&broker.records);
	kw_buf_fini(&broker.fetched);
}

/* ---- fetching ---- */

/* One request, during which the call to allocate fails before which `calls` went well; *enough if there was none
 * such. */
static int fetch(long calls, struct lg_fetch_stats *stats, bool *enough, struct kt_err *err)
{
	static const int64_t begins[] = {0};
	char bootstrap[32];
	struct lg_fetch_opts opts = {
		.bootstrap = bootstrap, .topic = "t", .npartitions = 1, .begins = begins, .rate = {.count = 1},
		.in_flight = 1, .max_bytes = 1 << 20,
	};
	int rc;

	snprintf(bootstrap, sizeof bootstrap, "127.0.0.1:%d", broker.port);
	assert_int_equal(lg_fetch_stats_init(stats, err), 0);
	failing_malloc_left = calls;
	rc = lg_wire_fetch(&opts, stats, err);
	*enough = failing_malloc_left >= 0;
	failing_malloc_left = -1;
	return rc;
}

static void exhaust_fetching(int codec)
{
	bool enough = false;
	long calls;

	start(codec);
	for (calls = 0; !enough; calls++) {
		struct lg_fetch_stats stats;
		struct kt_err err = {0};
		int rc = fetch(calls, &stats, &enough, &err), wanted = enough ? 0 : KT_ENOMEM;

		if (rc != wanted || err.code != wanted || stats.corrupt || stats.outcomes.n)
			fail_msg("codec %d, call %ld: %d, %s: %s", codec, calls, rc, err.text, stats.damage);
		if (enough)
			assert_int_equal(stats.foreign, RECORDS);
		lg_fetch_stats_fini(&stats);
	}
	end();
	assert_true(calls > 15);
}

/* ---- producing ---- */

/* A batch for each record, and room for all on their way: none has a reason to be held back. Else as fetch(). */
static int produce(long calls, int codec, struct lg_load *load, bool *enough, struct kt_err *err)
{
	char bootstrap[32];
	struct lg_phase phase;
	struct lg_plan plan = {.bootstrap = bootstrap, .nphases = 1, .phases = &phase};
	int rc;

	snprintf(bootstrap, sizeof bootstrap, "127.0.0.1:%d", broker.port);
	lg_phase_init(&phase);
	phase.topic = "t";
	phase.rate.count = RECORDS;
	phase.codec = codec;
	phase.batch = 1;
	phase.in_flight = RECORDS;
	assert_int_equal(lg_load_init(load, &plan, 0, 1, 1, err), 0);
	failing_malloc_left = calls;
	rc = lg_wire_run(load, err);
	*enough = failing_malloc_left >= 0;
	failing_malloc_left = -1;
	load->plan = NULL;
	load->phase = NULL;
	return rc;
}

/* What was written and not answered is unknown, what was encoded is not sent, and nothing is left open. */
static void exhaust_producing(int codec)
{
	bool enough = false;
	long calls;

	start(codec);
	for (calls = 0; !enough; calls++) {
		struct lg_load load;
		struct lg_tally tally;
		struct kt_err err = {0};
		int rc = produce(calls, codec, &load, &enough, &err), wanted = enough ? 0 : KT_ENOMEM;
		struct lg_counters *counters = &load.counters;

		lg_ledger_tally(load.ledger, 0, false, &tally);
		if (rc != wanted || err.code != wanted || load.complete != enough || load.outcomes.unexpected)
			fail_msg("codec %d, call %ld: %d, %s", codec, calls, rc, err.text);
		if (counters->failed || tally.fates[LG_IN_FLIGHT] ||
		    counters->sent != counters->acked + counters->unknown)
			fail_msg("codec %d, call %ld: of %d sent %d acknowledged, %d failed, %d open", codec, calls,
				 (int)counters->sent, (int)counters->acked, (int)counters->failed,
				 (int)tally.fates[LG_IN_FLIGHT]);
		if (counters->held)
			fail_msg("codec %d, call %ld: held back", codec, calls);
		assert_int_equal(load.outcomes.n > 0 ? load.outcomes.v[0].count : 0, counters->unknown);
		if (enough)
			assert_int_equal(counters->acked, RECORDS);
		lg_load_fini(&load);
	}
	end();
	assert_true(calls > 15);
}

static void producing(void **state)
{
	(void)state;
	for (int codec = KW_NONE; codec <= KW_ZSTD; codec++)
		exhaust_producing(codec);
}

static void fetching(void **state)
{
	(void)state;
	for (int codec = KW_NONE; codec <= KW_ZSTD; codec++)
		exhaust_fetching(codec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(producing),
		cmocka_unit_test(fetching),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
