/* zstd frames: with and without their size, one behind the other, their windows. */
#include "lib/wire/tests/streams.h"

#include <sys/resource.h>
#include <zstd.h>

static void put_zstd(const uint8_t *p, size_t n, bool size)
{
	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	size_t bound = ZSTD_compressBound(n);
	uint8_t *room = kw_buf_room(&packed, bound);

	ZSTD_CCtx_setParameter(ctx, ZSTD_c_contentSizeFlag, size);
	packed.n += ZSTD_compress2(ctx, room, bound, p, n);
	ZSTD_freeCCtx(ctx);
}

static void zstd_with_and_without_size(void **state)
{
	(void)state;
	kw_buf_clear(&packed);
	put_zstd(text, SMALL, false);
	assert_memory_equal(packed.p, "\x28\xb5\x2f\xfd\x00", 5);
	put_zstd(text + SMALL, SMALL, true);
	assert_int_equal(unpack_packed(KW_ZSTD), 0);
	assert_out(text, 2 * SMALL);
}

static void zstd_skippable_frames(void **state)
{
	(void)state;
	kw_buf_clear(&packed);
	kw_put(&packed, "\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
	put_zstd(text, SMALL, true);
	kw_put(&packed, "\x5f\x2a\x4d\x18\0\0\0\0", 8);
	assert_int_equal(unpack_packed(KW_ZSTD), 0);
	assert_out(text, SMALL);
}

static void zstd_faults(void **state)
{
	(void)state;
	kw_buf_clear(&packed);
	put_zstd(text, SMALL, true);
	packed.p[5]++;                            /* content size: 2 bytes, less 256 */
	assert_int_equal(unpack_packed(KW_ZSTD), KT_ECORRUPT);
	pack(KW_ZSTD, text, SMALL);
	kw_put(&packed, "\1\2\3\4", 4);
	assert_int_equal(unpack_packed(KW_ZSTD), KT_ECORRUPT);
	assert_string_equal(err.text, "zstd: Unknown frame descriptor");
	assert_out(text, SMALL);
	assert_int_equal(unpack(KW_ZSTD, text, SMALL, MIB), KT_ECORRUPT);
}

/* One raw block of eight bytes behind a window of 2^n, without content size. */
static void put_window(int n)
{
	const uint8_t window = (uint8_t)((n - 10) << 3);

	kw_buf_clear(&packed);
	kw_put(&packed, "\x28\xb5\x2f\xfd\x00", 5);
	kw_put(&packed, &window, 1);
	kw_put(&packed, "\x41\0\0abcdefgh", 11);
}

/* The largest window that a decoder takes which was told no other is 2^27; Kafka tells its decoder none. */
static void zstd_windows(void **state)
{
	(void)state;
	for (int n = 10; n <= 27; n++) {
		put_window(n);
		assert_int_equal(unpack_packed(KW_ZSTD), 0);
		assert_out((const uint8_t *)"abcdefgh", 8);
	}
	for (int n = 28; n <= 41; n++) {
		put_window(n);
		assert_int_equal(unpack_packed(KW_ZSTD), KT_ECORRUPT);
		assert_string_equal(err.text, "zstd: Frame requires too much memory for decoding");
		assert_int_equal(out.n, 0);
	}
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

/* No memory for the window is no fault of the bytes. */
static void zstd_without_memory(void **state)
{
	struct rlimit limit, small;
	int code;

	(void)state;
	if (SANITIZED)
		skip();    /* its shadow takes more than any limit */
	assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
	small = limit;
	small.rlim_cur = 100 * MIB;
	put_window(27);
	assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
	code = unpack_packed(KW_ZSTD);
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	assert_int_equal(code, KT_ENOMEM);
	assert_string_equal(err.text, "zstd: Allocation error : not enough memory");
}

/* A frame that is cut behind a whole one is no fault to Kafka, it just ends there. */
static void zstd_cut_second_frame(void **state)
{
	size_t first;

	(void)state;
	pack(KW_ZSTD, text, SMALL);
	first = packed.n;
	put_zstd(text, SMALL, true);
	for (size_t cut = first; cut < packed.n; cut++) {
		assert_int_equal(unpack(KW_ZSTD, packed.p, cut, MIB), 0);
		assert_out(text, SMALL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zstd_with_and_without_size),
		cmocka_unit_test(zstd_skippable_frames),
		cmocka_unit_test(zstd_faults),
		cmocka_unit_test(zstd_windows),
		cmocka_unit_test(zstd_without_memory),
		cmocka_unit_test(zstd_cut_second_frame),
	};

	return cmocka_run_group_tests(tests, fill_text, free_bufs);
}
