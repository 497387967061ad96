/* A table of requests, each with the answer to it, put to a broker: a real one, which gives the answers
 * (measure_old.c), or the fakebroker, whose answers must be the same (test_old_versions.c, test_reading.c).
 *
 * A step is {"api", "version", "body", "answer"}: body and answer in Kafka's JSON, the answer "closed" when the
 * connection was. Bytes in an answer that are longer than LONGEST are told by their number and CRC. A step with "until"
 * has no answer: it is put until errorCode is that, as some things take a broker a while. */
#ifndef KASSAY_FAKEBROKER_TESTS_CONVERSATION_H
#define KASSAY_FAKEBROKER_TESTS_CONVERSATION_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/client/client.h"
#include "lib/wire/batch.h"

enum { STEP_MS = 120000, LONGEST = 800 };

struct conversation {
	char host[256];
	int port;
	struct kc_conn *conn;
};

static inline void conversation_end(struct conversation *talk)
{
	kc_free(talk->conn);
	talk->conn = NULL;
}

/* Long strings made short, in place. */
static inline json_t *shortened(json_t *json)
{
	const char *name, *text = json_string_value(json);
	json_t *value;
	char said[64];
	size_t i;

	if (text && json_string_length(json) > LONGEST) {
		snprintf(said, sizeof said, "%zu characters, CRC-32C %08" PRIx32, json_string_length(json),
			 kw_crc32c(0, text, json_string_length(json)));
		return json_string(said);
	}
	json_object_foreach(json, name, value) json_object_set_new(json, name, shortened(value));
	json_array_foreach(json, i, value) json_array_set_new(json, i, shortened(value));
	return json_incref(json);
}

/* The answer to a request; a new reference. NULL with err when there is none. */
static inline json_t *conversation_once(struct conversation *talk, json_t *step, struct kt_err *err)
{
	int key = kw_api_key(json_string_value(json_object_get(step, "api")));
	int version = (int)json_integer_value(json_object_get(step, "version"));
	int64_t deadline = kc_now_ms() + STEP_MS;
	struct kw_arena arena;
	json_t *answer = NULL, *is;
	void *body, *response;
	int code = 0;

	*err = (struct kt_err){0};
	kw_arena_init(&arena, 0);
	if (!talk->conn && !(code = kc_connect(talk->host, talk->port, "old", deadline, &talk->conn, err)))
		code = kc_negotiate(talk->conn, deadline, err);
	if (!code &&
	    !(code = kw_from_json(kw_request(key), version, json_object_get(step, "body"), &arena, &body, err)))
		code = kc_call(talk->conn, key, version, body, deadline, &arena, &response, err);
	if (!code)
		answer = kw_to_json(kw_response(key), version, response, err);
	else
		conversation_end(talk);
	if (code == KT_ECLOSED || code == KT_ENET)
		answer = json_string("closed");
	kw_arena_fini(&arena);
	is = answer ? shortened(answer) : NULL;
	json_decref(answer);
	return is;
}

/* The answer to a step, the last one if it is put several times; a new reference. NULL with err when there is none. */
static inline json_t *conversation_put(struct conversation *talk, json_t *step, struct kt_err *err)
{
	const struct timespec a_while = {.tv_nsec = 50000000};
	int64_t deadline = kc_now_ms() + STEP_MS;
	json_t *until = json_object_get(step, "until"), *answer;

	while ((answer = conversation_once(talk, step, err)) && until &&
	       !json_equal(json_object_get(answer, "errorCode"), until)) {
		json_decref(answer);
		if (kc_now_ms() > deadline) {
			kt_fail(err, KT_ETIMEOUT, "not yet");
			return NULL;
		}
		nanosleep(&a_while, NULL);
	}
	return answer;
}

/* Is this the answer to step number i? If not, both are shown. */
static inline bool conversation_expect(size_t i, json_t *step, json_t *is)
{
	json_t *answer = json_object_get(step, "answer");

	if (json_equal(is, answer))
		return true;
	printf("step %zu, %s %" JSON_INTEGER_FORMAT ":\n", i, json_string_value(json_object_get(step, "api")),
	       json_integer_value(json_object_get(step, "version")));
	json_dumpf(is, stdout, JSON_ENCODE_ANY | JSON_COMPACT);
	printf("\nnot\n");
	json_dumpf(answer, stdout, JSON_ENCODE_ANY | JSON_COMPACT);
	printf("\n");
	return false;
}

#endif
