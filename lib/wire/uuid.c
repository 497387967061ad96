#include "lib/wire/base64.h"
#include "lib/wire/message.h"

void kw_uuid_text(struct kw_uuid id, char out[23])
{
	kw_base64_encode(id.b, sizeof id.b, true, out);
}

int kw_uuid_parse(const char *s, size_t n, struct kw_uuid *id)
{
	uint8_t b[24];

	if (n != 22 || kw_base64_decode(s, n, b) != 16)
		return KT_ESYNTAX;
	memcpy(id->b, b, sizeof id->b);
	return 0;
}
