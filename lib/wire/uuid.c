#include <stdlib.h>
#include <sys/random.h>

#include "lib/text/base64.h"
#include "lib/wire/message.h"

void kw_uuid_text(struct kw_uuid id, char out[23])
{
	kt_base64_encode(id.b, sizeof id.b, true, out);
}

int kw_uuid_parse(const char *s, size_t n, struct kw_uuid *id)
{
	uint8_t b[24];

	if (n != 22 || kt_base64_decode(s, n, b) != 16)
		return KT_ESYNTAX;
	memcpy(id->b, b, sizeof id->b);
	return 0;
}

void kw_uuid_random(struct kw_uuid *id)
{
	do {
		if (getrandom(id->b, sizeof id->b, 0) != (ssize_t)sizeof id->b)
			abort();   /* cannot happen for so few bytes */
		id->b[6] = (uint8_t)((id->b[6] & 0x0f) | 0x40);
		id->b[8] = (uint8_t)((id->b[8] & 0x3f) | 0x80);
	} while (id->b[0] >> 2 == 62);
}
