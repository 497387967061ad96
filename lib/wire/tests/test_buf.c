#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/wire/buf.h"
#include "lib/wire/varint.h"

static void numbers_are_big_endian(void **state)
{
	static const char want[15] = "\x01\x23\x45\x67\x89\xab\xcd\xef\xfe\xdc\xba\x98\x76\x54\x32";
	struct kw_buf buf;

	(void)state;
	kw_buf_init(&buf, 0);
	kw_put_u8(&buf, 0x01);
	kw_put_u16(&buf, 0x2345);
	kw_put_u32(&buf, 0x6789abcd);
	kw_put_u64(&buf, 0xeffedcba98765432);
	assert_false(buf.failed);
	assert_int_equal(buf.n, sizeof want);
	assert_memory_equal(buf.p, want, sizeof want);
	assert_int_equal(kw_rd16(buf.p + 1), 0x2345);
	assert_int_equal(kw_rd32(buf.p + 3), 0x6789abcd);
	assert_int_equal(kw_rd64(buf.p + 7), 0xeffedcba98765432);
	kw_buf_fini(&buf);
}

static void failure_sticks_until_cleared(void **state)
{
	struct kw_buf buf;

	(void)state;
	kw_buf_init(&buf, 10);
	kw_put(&buf, "0123456", 7);
	kw_put_u32(&buf, 1);
	assert_int_equal(buf.failed, KT_ELIMIT);
	assert_int_equal(buf.n, 7);
	kw_put_u8(&buf, 1);
	kw_put_varint(&buf, 1);
	assert_null(kw_buf_room(&buf, 0));
	assert_int_equal(buf.n, 7);
	kw_buf_clear(&buf);
	assert_false(buf.failed);
	kw_put(&buf, "0123456789", 10);
	assert_false(buf.failed);
	assert_int_equal(kw_buf_len(&buf), 10);
	kw_put(&buf, NULL, 0);
	assert_false(buf.failed);
	kw_buf_fini(&buf);
	assert_int_equal(buf.n, 0);
	kw_put_u64(&buf, 1);
	assert_int_equal(buf.n, 8);
	kw_buf_fini(&buf);
}

static void room_is_never_null_without_failure(void **state)
{
	struct kw_buf buf = {0};
	uint8_t *room = kw_buf_room(&buf, 0);

	(void)state;
	assert_non_null(room);
	assert_int_equal(buf.n, 0);
	assert_null(kw_buf_room(&buf, SIZE_MAX));
	assert_true(buf.failed);
	kw_buf_fini(&buf);
}

static void references_keep_their_place(void **state)
{
	static uint8_t big[KW_REF_MIN], small[KW_REF_MIN - 1];
	struct kw_buf buf;
	struct iovec iov[8];

	(void)state;
	kw_buf_init(&buf, 0);
	buf.by_ref = true;
	kw_put_ref(&buf, big, sizeof big);
	kw_put_u16(&buf, 0x0102);
	kw_put_ref(&buf, small, sizeof small);
	kw_put_ref(&buf, big, sizeof big);
	kw_put_ref(&buf, big, sizeof big);
	kw_put_u8(&buf, 3);
	assert_int_equal(buf.n, 2 + sizeof small + 1);
	assert_int_equal(kw_buf_len(&buf), buf.n + 3 * sizeof big);
	assert_int_equal(kw_buf_iov(&buf, iov, 8), 5);
	assert_ptr_equal(iov[0].iov_base, big);
	assert_ptr_equal(iov[1].iov_base, buf.p);
	assert_int_equal(iov[1].iov_len, 2 + sizeof small);
	assert_ptr_equal(iov[2].iov_base, big);
	assert_ptr_equal(iov[3].iov_base, big);
	assert_int_equal(iov[4].iov_len, 1);
	assert_int_equal(*(uint8_t *)iov[4].iov_base, 3);
	assert_int_equal(kw_buf_iov(&buf, NULL, 0), 5);
	kw_buf_clear(&buf);
	assert_int_equal(kw_buf_iov(&buf, iov, 8), 0);
	kw_buf_fini(&buf);
}

static void references_count_for_the_maximum(void **state)
{
	static uint8_t big[KW_REF_MIN];
	struct kw_buf buf;

	(void)state;
	kw_buf_init(&buf, sizeof big + 1);
	buf.by_ref = true;
	kw_put_ref(&buf, big, sizeof big);
	kw_put_u8(&buf, 1);
	assert_false(buf.failed);
	kw_put_u8(&buf, 1);
	assert_int_equal(buf.failed, KT_ELIMIT);
	kw_buf_fini(&buf);
}

static void without_by_ref_all_is_copied(void **state)
{
	static uint8_t big[KW_REF_MIN];
	struct kw_buf buf;

	(void)state;
	kw_buf_init(&buf, 0);
	kw_put_ref(&buf, big, sizeof big);
	assert_int_equal(buf.n, sizeof big);
	assert_int_equal(buf.nrefs, 0);
	kw_buf_fini(&buf);
}

/* ---- varints ---- */

static void varints_read_back(void **state)
{
	static const int64_t values[] = {0, -1, 1, 63, -64, 64, -65, 8191, -8192, 8192, 1 << 20, INT32_MAX, INT32_MIN};
	static const int64_t wide[] = {INT64_MAX, INT64_MIN, (int64_t)1 << 31, (int64_t)1 << 40, 1787086231121};
	struct kw_buf buf;
	int64_t v;
	int32_t narrow;

	(void)state;
	kw_buf_init(&buf, 0);
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		kw_buf_clear(&buf);
		kw_put_varint(&buf, (int32_t)values[i]);
		assert_int_equal(kw_get_varint(buf.p, buf.p + buf.n, &narrow), buf.n);
		assert_int_equal(narrow, values[i]);
		assert_int_equal(kw_get_varlong(buf.p, buf.p + buf.n, &v), buf.n);
		assert_int_equal(v, values[i]);
		for (size_t cut = 0; cut < buf.n; cut++)
			assert_int_equal(kw_get_varint(buf.p, buf.p + cut, &narrow), 0);
	}
	for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
		kw_buf_clear(&buf);
		kw_put_varlong(&buf, wide[i]);
		assert_int_equal(kw_get_varlong(buf.p, buf.p + buf.n, &v), buf.n);
		assert_int_equal(v, wide[i]);
	}
	kw_buf_fini(&buf);
}

static void varint_golden_bytes(void **state)
{
	struct kw_buf buf;

	(void)state;
	kw_buf_init(&buf, 0);
	kw_put_varint(&buf, 32768);               /* zigzag 65536 */
	kw_put_varint(&buf, 98304);
	kw_put_varlong(&buf, 1787086231121);
	kw_put_uvarint(&buf, UINT32_MAX);
	kw_put_uvarint(&buf, 300);
	assert_int_equal(buf.n, 3 + 3 + 6 + 5 + 2);
	assert_memory_equal(buf.p, "\x80\x80\x04\x80\x80\x0c\xa2\xd9\x9e\xea\x82\x68\xff\xff\xff\xff\x0f\xac\x02",
			    buf.n);
	kw_buf_fini(&buf);
}

static void overlong_varints(void **state)
{
	static const uint8_t ff[11] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	static const uint8_t padded[] = {0x8e, 0x80, 0x80, 0x80, 0x00}, six[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x00};
	static const uint8_t high[] = {0x80, 0x80, 0x80, 0x80, 0x7f};
	uint32_t raw;
	int32_t v;
	int64_t wide;

	(void)state;
	assert_int_equal(kw_get_varint(padded, padded + sizeof padded, &v), 5);
	assert_int_equal(v, 7);
	assert_int_equal(kw_get_varint(six, six + sizeof six, &v), -1);
	assert_int_equal(v, 0);
	assert_int_equal(kw_get_varint(ff, ff + 5, &v), -1);
	assert_int_equal((uint32_t)v, 0xffffffff);
	assert_int_equal(kw_get_uvarint(high, high + 5, &raw), 5);   /* bits beyond 32 are dropped */
	assert_int_equal(raw, 0xf0000000);
	assert_int_equal(kw_get_varlong(ff, ff + 9, &wide), 0);
	assert_int_equal(kw_get_varlong(ff, ff + 11, &wide), -1);
	assert_int_equal(kw_get_varint(ff, ff, &v), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_big_endian),
		cmocka_unit_test(failure_sticks_until_cleared),
		cmocka_unit_test(room_is_never_null_without_failure),
		cmocka_unit_test(references_keep_their_place),
		cmocka_unit_test(references_count_for_the_maximum),
		cmocka_unit_test(without_by_ref_all_is_copied),
		cmocka_unit_test(varints_read_back),
		cmocka_unit_test(varint_golden_bytes),
		cmocka_unit_test(overlong_varints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
