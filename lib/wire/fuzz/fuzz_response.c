/* API key and version as in a request, then a response's frame behind its size, as a client gets it. */
#include "lib/wire/fuzz/round_trip.h"

FUZZ_TARGET

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	int key = n < 4 ? -1 : (int16_t)kw_rd16(p), version = n < 4 ? -1 : (int16_t)kw_rd16(p + 2);
	int header_version = kw_response_header_version(key, version);
	const struct kw_msg *msg = kw_response(key);
	struct kw_arena arena;
	size_t used = 0, body_used = 0;
	void *header, *body;

	if (!msg || version < msg->versions.min || version > msg->versions.max)
		return 0;
	p += 4;
	n -= 4;
	kw_arena_init(&arena, 0);
	header = decode_checked(&kw_msg_ResponseHeader, header_version, p, n, &arena, &used);
	if (header) {
		round_trip(&kw_msg_ResponseHeader, header_version, header, &arena);
		body = decode_checked(msg, version, p + used, n - used, &arena, &body_used);
		if (body)
			round_trip(msg, version, body, &arena);
	}
	kw_arena_fini(&arena);
	return 0;
}
