/* A request's frame behind its size, as a broker gets it. */
#include "lib/wire/fuzz/round_trip.h"

FUZZ_TARGET

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	int key = n < 4 ? -1 : (int16_t)kw_rd16(p), version = n < 4 ? -1 : (int16_t)kw_rd16(p + 2);
	int header_version = kw_request_header_version(key, version);
	const struct kw_msg *msg = kw_request(key);
	struct kw_arena arena;
	size_t used = 0, body_used = 0;
	void *header, *body;

	if (!msg || version < msg->versions.min || version > msg->versions.max)
		return 0;
	kw_arena_init(&arena, 0);
	header = decode_checked(&kw_msg_RequestHeader, header_version, p, n, &arena, &used);
	if (header) {
		round_trip(&kw_msg_RequestHeader, header_version, header, &arena);
		body = decode_checked(msg, version, p + used, n - used, &arena, &body_used);
		if (body)
			round_trip(msg, version, body, &arena);
	}
	kw_arena_fini(&arena);
	return 0;
}
