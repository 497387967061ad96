/* What the tests of compressed streams share: a text, buffers to pack it into and to inflate it to. */
#ifndef KASSAY_WIRE_TESTS_STREAMS_H
#define KASSAY_WIRE_TESTS_STREAMS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "lib/wire/batch.h"

enum { SMALL = 300, BIG = 200000, MIB = 1 << 20 };

/* To be packed. */
static uint8_t text[BIG];
static struct kw_buf packed, out;
static struct kt_err err;

/* Compressible, but not trivially. */
static inline int fill_text(void **state)
{
	uint32_t v = 1;

	(void)state;
	for (size_t i = 0; i < sizeof text; i++) {
		v = v * 1664525 + 1013904223;
		text[i] = (uint8_t)("kassay  records\n"[v >> 28]);
	}
	kw_buf_init(&packed, 0);
	kw_buf_init(&out, 0);
	return 0;
}

static inline int free_bufs(void **state)
{
	(void)state;
	kw_buf_fini(&packed);
	kw_buf_fini(&out);
	return 0;
}

static inline void pack(int codec, const uint8_t *p, size_t n)
{
	kw_buf_clear(&packed);
	assert_int_equal(kw_compress(codec, p, n, &packed, NULL), 0);
}

/* Inflates a copy of exactly n bytes, so that AddressSanitizer sees a read beyond them. */
static inline int unpack(int codec, const void *p, size_t n, size_t max)
{
	uint8_t *copy = malloc(n ? n : 1);
	int code;

	assert_non_null(copy);
	if (n)
		memcpy(copy, p, n);
	err = (struct kt_err){0};
	kw_buf_clear(&out);
	code = kw_decompress(codec, copy, n, max, &out, &err);
	free(copy);
	return code;
}

static inline int unpack_packed(int codec)
{
	return unpack(codec, packed.p, packed.n, MIB);
}

static inline void assert_out(const uint8_t *p, size_t n)
{
	assert_int_equal(out.n, n);
	if (n)
		assert_memory_equal(out.p, p, n);
}

#endif
