/* "NAME VERSION\n" and bytes of that message: whatever decodes can be told in JSON, and comes back the same. */
#include "lib/wire/fuzz/round_trip.h"

FUZZ_TARGET

static void check(const struct kw_msg *msg, int version, const void *in, struct kw_arena *arena)
{
	struct kt_err err = {0};
	json_t *json = kw_to_json(msg, version, in, &err), *again;
	struct kw_buf buf = {0};
	void *out;

	FUZZ_CHECK(json && !err.code);
	FUZZ_CHECK(kw_from_json(msg, version, json, arena, &out, &err) == 0 && !err.code);
	again = kw_to_json(msg, version, out, &err);
	FUZZ_CHECK(again && json_equal(json, again));
	encode_checked(msg, version, out, &buf);
	kw_buf_fini(&buf);
	json_decref(again);
	json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	int version = 0;
	const struct kw_msg *msg = message_line(&p, &n, &version);
	struct kw_arena arena;
	size_t used = 0;
	void *in;

	if (!msg)
		return 0;
	kw_arena_init(&arena, 0);
	in = decode_checked(msg, version, p, n, &arena, &used);
	if (in) {
		round_trip(msg, version, in, &arena);
		check(msg, version, in, &arena);
	}
	kw_arena_fini(&arena);
	return 0;
}
