/* Sends the Produce requests of a table to a running Kafka and prints what it answers, a JSON object for each row: how
 * the differences between releases in lib/wire/tests/data/produce_releases.json were found.
 *
 *   measure_produce HOST:PORT TABLE.json > answers.json
 *
 * The table has the form of fakebroker/tests/data/produce_kafka_4.4.0.json. Timestamps near its `now` are moved to the
 * present; instants in texts are printed as #, because they differ from run to run. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kw_messages.h"
#include "lib/client/client.h"
#include "lib/text/json.h"
#include "lib/wire/batch.h"

enum { PRODUCE = 0, LIST_OFFSETS = 2, CREATE_TOPICS = 19, WAIT_MS = 10000, MAX_PARTITIONS = 4, INSTANT_DIGITS = 12 };

#define NEAR_MS (30 * INT64_C(86400000))

struct topic {
	const char *name;
	struct kw_uuid id;
	bool there;
};

static struct {
	char host[256];
	int port;
	struct kc_conn *conn;
	struct topic topics[64];
	size_t ntopics;
	json_t *table;
} run;

static void die(const char *what, const struct kt_err *err)
{
	fprintf(stderr, "measure_produce: %s: %s\n", what, err ? err->text : "");
	exit(3);
}

static int64_t deadline(void)
{
	return kc_now_ms() + WAIT_MS;
}

static void open_conn(void)
{
	struct kt_err err = {0};

	kc_free(run.conn);
	run.conn = NULL;
	if (kc_connect(run.host, run.port, "measure", deadline(), &run.conn, &err) ||
	    kc_negotiate(run.conn, deadline(), &err))
		die("connect", &err);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- topics ---- */

static void create(struct topic *topic, json_t *configs)
{
	struct kw_CreateTopicsRequest_CreatableTopicConfig values[8] = {0};
	struct kw_CreateTopicsRequest_CreatableTopic created = {
		.name = kw_str(topic->name),
		.numPartitions = 1,
		.replicationFactor = 1,
		.configs = {values, 0},
	};
	struct kw_CreateTopicsRequest request = {.topics = {&created, 1}, .timeoutMs = WAIT_MS};
	struct kw_CreateTopicsResponse *response;
	struct kw_arena arena;
	struct kt_err err = {0};
	const char *name;
	json_t *value;
	void *body;

	kw_arena_init(&arena, 0);
	json_object_foreach(configs, name,
			    value) values[created.configs.n++] = (struct kw_CreateTopicsRequest_CreatableTopicConfig){
		.name = kw_str(name),
		.value = kw_str(json_is_string(value)
					? json_string_value(value)
					: kw_sprintf(&arena, "%" JSON_INTEGER_FORMAT, json_integer_value(value))),
	};
	if (kc_call(run.conn, CREATE_TOPICS, 7, &request, deadline(), &arena, &body, &err))
		die("CreateTopics", &err);
	response = body;
	topic->there = response->topics.v[0].errorCode == 0;
	topic->id = response->topics.v[0].topicId;
	if (!topic->there)
		fprintf(stderr, "%s: %s\n", topic->name, kw_error_name(response->topics.v[0].errorCode));
	kw_arena_fini(&arena);
}

static struct topic *find(const char *name)
{
	for (size_t i = 0; i < run.ntopics; i++)
		if (strcmp(run.topics[i].name, name) == 0)
			return &run.topics[i];
	die(name, NULL);
	return NULL;
}

static int64_t end_offset(const char *topic)
{
	struct kw_ListOffsetsRequest_ListOffsetsPartition partition = {
		.currentLeaderEpoch = -1, .timestamp = -1, .maxNumOffsets = 1};
	struct kw_ListOffsetsRequest_ListOffsetsTopic of = {.name = kw_str(topic), .partitions = {&partition, 1}};
	struct kw_ListOffsetsRequest request = {.replicaId = -1, .topics = {&of, 1}};
	struct kw_ListOffsetsResponse *response;
	struct kw_arena arena;
	struct kt_err err = {0};
	int64_t offset;
	void *body;

	kw_arena_init(&arena, 0);
	do {
		if (kc_call(run.conn, LIST_OFFSETS, 7, &request, deadline(), &arena, &body, &err))
			die("ListOffsets", &err);
		response = body;
	} while (response->topics.v[0].partitions.v[0].errorCode);
	offset = response->topics.v[0].partitions.v[0].offset;
	kw_arena_fini(&arena);
	return offset;
}

/* ---- instants ---- */

static json_t *moved(json_t *json, int64_t from, int64_t by)
{
	json_t *copy = json_copy(json), *value;
	const char *name;
	size_t i;

	if (json_is_integer(json) && llabs(json_integer_value(json) - from) < NEAR_MS) {
		json_integer_set(copy, json_integer_value(json) + by);
		return copy;
	}
	json_object_foreach(json, name, value) json_object_set_new(copy, name, moved(value, from, by));
	json_array_foreach(json, i, value) json_array_set_new(copy, i, moved(value, from, by));
	return copy;
}

static json_t *blurred(struct kw_str text)
{
	char *copy = strndup(text.n < 0 ? "" : text.s, text.n < 0 ? 0 : (size_t)text.n), *out = copy;
	json_t *json;

	if (text.n < 0) {
		free(copy);
		return json_null();
	}
	for (const char *s = copy; *s;) {
		size_t digits = strspn(s, "0123456789");

		if (digits >= INSTANT_DIGITS) {
			*out++ = '#';
			s += digits;
		} else {
			memmove(out, s, digits ? digits : 1);
			out += digits ? digits : 1;
			s += digits ? digits : 1;
		}
	}
	*out = '\0';
	json = json_string(copy);
	free(copy);
	return json;
}

/* ---- rows ---- */

static json_t *answer_of(const struct kw_ProduceResponse *response, const struct topic *topic)
{
	for (int32_t t = 0; t < response->responses.n; t++) {
		const struct kw_ProduceResponse_TopicProduceResponse *of = &response->responses.v[t];
		const struct kw_ProduceResponse_PartitionProduceResponse *p = of->partitionResponses.v;
		json_t *errors = json_array();

		if (!kw_str_is(of->name, topic->name) && !(of->name.n <= 0 && kw_uuid_eq(of->topicId, topic->id)))
			continue;
		for (int32_t i = 0; i < p->recordErrors.n; i++)
			json_array_append_new(errors, json_pack("[io]", p->recordErrors.v[i].batchIndex,
								blurred(p->recordErrors.v[i].batchIndexErrorMessage)));
		return json_pack("{sisosIso}", "error", p->errorCode, "message", blurred(p->errorMessage),
				 "logStartOffset", (json_int_t)p->logStartOffset, "recordErrors", errors);
	}
	return json_null();
}

static json_t *send_row(json_t *row, json_t **parts, int32_t n, int version)
{
	struct kw_ProduceRequest_TopicProduceData topics[MAX_PARTITIONS] = {0};
	struct kw_ProduceRequest_PartitionProduceData data[MAX_PARTITIONS] = {0};
	struct kw_ProduceRequest request = {
		.transactionalId = kw_str(json_string_value(json_object_get(row, "transactionalId"))),
		.acks = 1,
		.timeoutMs = WAIT_MS,
		.topicData = {topics, n},
	};
	struct kw_buf bufs[MAX_PARTITIONS] = {0};
	int64_t ends[MAX_PARTITIONS];
	json_t *answers = json_array();
	struct kw_arena arena;
	struct kt_err err = {0};
	void *response = NULL;

	kw_arena_init(&arena, 0);
	for (int32_t i = 0; i < n; i++) {
		struct topic *topic = find(json_string_value(json_object_get(parts[i], "topic")));

		if (kw_batches_from_json(json_object_get(parts[i], "batches"), &bufs[i], &err))
			die(err.path, &err);
		topics[i] = (struct kw_ProduceRequest_TopicProduceData){.name = kw_str(topic->name),
									.topicId = topic->id};
		topics[i].partitionData.v = &data[i];
		topics[i].partitionData.n = 1;
		data[i].records = (struct kw_records){.p = bufs[i].p, .n = (int32_t)bufs[i].n};
		ends[i] = end_offset(topic->name);
	}
	if (kc_call(run.conn, PRODUCE, version, &request, deadline(), &arena, &response, &err)) {
		json_array_append_new(answers,
				      json_pack("{ss}", "connection", err.code == KT_ETIMEOUT ? "silent" : "closed"));
		open_conn();
	}
	for (int32_t i = 0; response && i < n; i++) {
		struct topic *topic = find(json_string_value(json_object_get(parts[i], "topic")));
		json_t *answer = answer_of(response, topic);

		json_object_set_new(answer, "appended", json_integer(end_offset(topic->name) - ends[i]));
		json_array_append_new(answers, answer);
	}
	for (int32_t i = 0; i < n; i++)
		kw_buf_fini(&bufs[i]);
	kw_arena_fini(&arena);
	return answers;
}

static json_t *run_row(json_t *given, int64_t file_now)
{
	json_t *now = json_object_get(given, "now"), *parts[MAX_PARTITIONS], *row, *partitions, *answers;
	int64_t from = now ? json_integer_value(now) : file_now;
	int version = (int)json_integer_value(json_object_get(given, "version")), min, max;
	int32_t n;

	if (!kc_advertised(run.conn, PRODUCE, &min, &max))
		die("no Produce", NULL);
	row = moved(given, from, now_ms() - from);
	partitions = json_object_get(row, "partitions");
	n = partitions ? (int32_t)json_array_size(partitions) : 1;
	for (int32_t i = 0; i < n; i++) {
		parts[i] = partitions ? json_array_get(partitions, (size_t)i) : row;
		if (!find(json_string_value(json_object_get(parts[i], "topic")))->there || version > 12 + (max > 12) ||
		    json_is_null(json_object_get(row, "records"))) {
			json_decref(row);
			return json_null();
		}
	}
	answers = send_row(row, parts, n, version < max ? version : max);
	json_decref(row);
	return answers;
}

int main(int argc, char **argv)
{
	json_t *out = json_array(), *value;
	json_error_t error;
	const char *name;
	size_t i;

	if (argc != 3 || kc_parse_address(argv[1], run.host, sizeof run.host, &run.port, NULL))
		die("HOST:PORT TABLE.json", NULL);
	run.table = json_load_file(argv[2], 0, &error);
	if (!run.table) {
		fprintf(stderr, "%s:%d: %s\n", argv[2], error.line, error.text);
		return 2;
	}
	open_conn();
	json_object_foreach(json_object_get(run.table, "topics"), name, value)
	{
		run.topics[run.ntopics].name = name;
		create(&run.topics[run.ntopics++], value);
	}
	json_array_foreach(json_object_get(run.table, "cases"), i, value)
		json_array_append_new(out, run_row(value, json_integer_value(json_object_get(run.table, "now"))));
	json_dumpf(out, stdout, JSON_INDENT(1));
	kc_free(run.conn);
	return 0;
}
