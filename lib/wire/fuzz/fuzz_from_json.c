/* "NAME VERSION\n" and JSON text: a message that is taken can be encoded, and reads back the same; otherwise the error
 * says why. */
#include "lib/wire/fuzz/hand_written.h"
#include "lib/wire/fuzz/round_trip.h"

FUZZ_TARGET

static void check(const struct kw_msg *msg, int version, const void *in, struct kw_arena *arena)
{
	struct kt_err err = {0};
	struct kw_buf buf = {0};
	int code = kw_encode(msg, version, in, &buf, &err);
	json_t *json, *again;
	size_t used;
	void *out;

	FUZZ_CHECK(code == err.code && (code == 0 || code == KT_ERANGE));   /* a string of more than 32767 bytes */
	if (code == 0) {
		out = decode_checked(msg, version, buf.p, buf.n, arena, &used);
		FUZZ_CHECK(out && used == buf.n);
		json = kw_to_json(msg, version, in, &err);
		again = kw_to_json(msg, version, out, &err);
		FUZZ_CHECK(json && again && json_equal(json, again));
		json_decref(again);
		json_decref(json);
	}
	kw_buf_fini(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	int version = 0;
	const struct kw_msg *msg = message_line(&p, &n, &version);
	json_t *json = msg ? hand_written(p, n) : NULL;
	struct kt_err err = {0};
	struct kw_arena arena;
	void *in;

	kw_arena_init(&arena, 64 << 20);
	if (json && kw_from_json(msg, version, json, &arena, &in, &err) == 0)
		check(msg, version, in, &arena);
	else if (json)
		FUZZ_CHECK(err.code && err.text[0]);
	kw_arena_fini(&arena);
	json_decref(json);
	return 0;
}
