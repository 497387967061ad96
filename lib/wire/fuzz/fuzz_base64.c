/* Base64, hex and uuids: any bytes come back from their text, and text that is taken is that of its bytes. */
#include "lib/text/fuzz/fuzz.h"
#include "lib/wire/base64.h"
#include "lib/wire/message.h"

FUZZ_TARGET

static void from_bytes(const uint8_t *p, size_t n, bool url)
{
	size_t len = kw_base64_len(n, url);
	char *text = malloc(len + 1);
	uint8_t *back = malloc(len / 4 * 3 + 3);

	FUZZ_CHECK(text && back);
	kw_base64_encode(p, n, url, text);
	FUZZ_CHECK(strlen(text) == len);
	FUZZ_CHECK(kw_base64_decode(text, len, back) == (long)n && memcmp(p, back, n) == 0);
	free(text);
	free(back);
}

static void from_text(const char *text, size_t n)
{
	uint8_t *bytes = malloc(n / 4 * 3 + 3), *hex = malloc(n / 2 + 1);
	char id[23];
	struct kw_uuid uuid;
	long len = kw_base64_decode(text, n, bytes);

	FUZZ_CHECK(len >= -1 && len <= (long)(n / 4 * 3 + 3));
	if (len >= 0)
		from_bytes(bytes, (size_t)len, false);
	len = kw_hex_decode(text, n, hex);
	FUZZ_CHECK(len >= -1 && len <= (long)n / 2);
	for (size_t i = 0; i < n && len >= 0; i++)
		FUZZ_CHECK(text[i] && strchr("0123456789abcdefABCDEF \t\r\n", text[i]));
	if (kw_uuid_parse(text, n, &uuid) == 0) {
		kw_uuid_text(uuid, id);
		FUZZ_CHECK(kw_uuid_parse(id, 22, &uuid) == 0);
	}
	free(bytes);
	free(hex);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	from_bytes(p, n, false);
	from_bytes(p, n, true);
	from_text((const char *)p, n);
	return 0;
}
