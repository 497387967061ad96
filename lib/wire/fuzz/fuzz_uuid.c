/* A uuid as Kafka writes it: what is taken is 22 characters, and comes back from its text. */
#include "lib/text/fuzz/fuzz.h"
#include "lib/wire/message.h"

FUZZ_TARGET

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct kw_uuid id, back;
	char text[23];

	if (kw_uuid_parse((const char *)p, n, &id))
		return 0;
	FUZZ_CHECK(n == 22);
	kw_uuid_text(id, text);
	FUZZ_CHECK(strlen(text) == 22 && kw_uuid_parse(text, 22, &back) == 0);
	FUZZ_CHECK(memcmp(id.b, back.b, sizeof id.b) == 0);
	return 0;
}
