/* What holds of every decompressor. */
#ifndef KASSAY_WIRE_FUZZ_INFLATE_H
#define KASSAY_WIRE_FUZZ_INFLATE_H

#include "lib/text/fuzz/fuzz.h"
#include "lib/wire/batch.h"

enum { INFLATED_MAX = 1 << 20 };

static inline void deflate_again(int codec, const uint8_t *p, size_t n)
{
	struct kw_buf deflated = {0}, inflated = {0};
	struct kt_err err = {0};

	FUZZ_CHECK(kw_compress(codec, p, n, &deflated, &err) == 0);
	FUZZ_CHECK(kw_decompress(codec, deflated.p, deflated.n, n, &inflated, &err) == 0);
	FUZZ_CHECK(inflated.n == n && (n == 0 || memcmp(inflated.p, p, n) == 0));
	kw_buf_fini(&deflated);
	kw_buf_fini(&inflated);
}

/* Memory stays within a small multiple of the limit, what was there before stays, and what comes out can be deflated
 * and comes back. */
static inline int fuzz_inflate(int codec, const uint8_t *p, size_t n)
{
	struct kw_buf out = {0};
	struct kt_err err = {0};
	int code;

	kw_put(&out, "before", 6);
	code = kw_decompress(codec, p, n, INFLATED_MAX, &out, &err);
	FUZZ_CHECK(code == err.code && (code == 0 || err.text[0]));
	FUZZ_CHECK(out.n >= 6 && memcmp(out.p, "before", 6) == 0);
	FUZZ_CHECK(out.n - 6 <= INFLATED_MAX && out.cap <= 4 * INFLATED_MAX && !out.failed);
	if (code == 0)
		deflate_again(codec, out.p + 6, out.n - 6);
	kw_buf_fini(&out);
	return 0;
}

#endif
