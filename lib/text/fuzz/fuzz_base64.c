/* Base64 and hex: any bytes come back from their text, and text that is taken is that of its bytes. */
#include "lib/text/base64.h"
#include "lib/text/fuzz/fuzz.h"

FUZZ_TARGET

static void from_bytes(const uint8_t *p, size_t n, bool url)
{
	size_t len = kt_base64_len(n, url);
	char *text = malloc(len + 1);
	uint8_t *back = malloc(len / 4 * 3 + 3);

	FUZZ_CHECK(text && back);
	kt_base64_encode(p, n, url, text);
	FUZZ_CHECK(strlen(text) == len);
	FUZZ_CHECK(kt_base64_decode(text, len, back) == (long)n && memcmp(p, back, n) == 0);
	free(text);
	free(back);
}

static void from_text(const char *text, size_t n)
{
	uint8_t *bytes = malloc(n / 4 * 3 + 3), *hex = malloc(n / 2 + 1);
	long len = kt_base64_decode(text, n, bytes);

	FUZZ_CHECK(len >= -1 && len <= (long)(n / 4 * 3 + 3));
	if (len >= 0)
		from_bytes(bytes, (size_t)len, false);
	len = kt_hex_decode(text, n, hex);
	FUZZ_CHECK(len >= -1 && len <= (long)n / 2);
	for (size_t i = 0; i < n && len >= 0; i++)
		FUZZ_CHECK(text[i] && strchr("0123456789abcdefABCDEF \t\r\n", text[i]));
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
