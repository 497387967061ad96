/* Answers of a peer (lib/client/tests/peer.h), written as JSON. */
#ifndef KASSAY_CONFORMANCE_TESTS_ANSWERS_H
#define KASSAY_CONFORMANCE_TESTS_ANSWERS_H

#include "conformance/run.h"
#include "lib/client/tests/peer.h"
#include "lib/wire/arena.h"
#include "lib/wire/buf.h"

/* The step that sends header and body of an answer; takes json. free_answers() frees the bytes. */
static void encode_answer(struct peer_step *step, const char *api, int version, json_t *json)
{
	int key = kw_api_key(api);
	struct kt_err err = {0};
	struct kw_arena arena;
	struct kw_buf buf;
	void *response;

	assert_non_null(json);
	kw_arena_init(&arena, 0);
	kw_buf_init(&buf, 0);
	for (int i = kw_response_header_version(key, version); i > 0; i--)
		kw_put_u8(&buf, 0);   /* no tags */
	if (kw_from_json(kw_response(key), version, json, &arena, &response, &err) ||
	    kw_encode(kw_response(key), version, response, &buf, &err))
		fail_msg("%s: %s", err.path, err.text);
	*step = (struct peer_step){PEER_ANSWER, memcpy(malloc(buf.n), buf.p, buf.n), buf.n};
	kw_buf_fini(&buf);
	kw_arena_fini(&arena);
	json_decref(json);
}

static void free_answers(const struct peer_step *steps)
{
	for (; steps->what != PEER_END; steps++)
		free((void *)(uintptr_t)steps->p);
}

#endif
