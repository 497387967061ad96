#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/wire/arena.h"

static void aligned_and_zeroed(void **state)
{
	struct kw_arena arena;

	(void)state;
	kw_arena_init(&arena, 0);
	for (size_t size = 0; size < 300; size++) {
		uint8_t *p = kw_alloc(&arena, size);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 16, 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xa5, size);
	}
	kw_arena_fini(&arena);
}

static void zero_size_is_not_shared(void **state)
{
	struct kw_arena arena;
	void *first, *second;

	(void)state;
	kw_arena_init(&arena, 0);
	first = kw_alloc(&arena, 0);
	second = kw_alloc(&arena, 0);
	assert_non_null(first);
	assert_ptr_not_equal(first, second);
	assert_int_equal(arena.used, 32);
	kw_arena_fini(&arena);
}

static void reset_reuses_and_zeroes_again(void **state)
{
	struct kw_arena arena;
	uint8_t *first, *again;

	(void)state;
	kw_arena_init(&arena, 0);
	first = kw_alloc(&arena, 100);
	memset(first, 0xff, 100);
	assert_non_null(kw_alloc(&arena, 1 << 20));
	assert_non_null(kw_alloc(&arena, 100));
	kw_arena_reset(&arena);
	assert_int_equal(arena.used, 0);
	again = kw_alloc(&arena, 100);
	assert_ptr_equal(again, first);
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(again[i], 0);
	kw_arena_fini(&arena);
	assert_non_null(kw_alloc(&arena, 1));
	kw_arena_fini(&arena);
}

static void limit_bounds_the_total(void **state)
{
	struct kw_arena arena;

	(void)state;
	kw_arena_init(&arena, 1000);
	assert_non_null(kw_alloc(&arena, 496));
	assert_false(arena.failed);
	assert_null(kw_alloc(&arena, 1001));
	assert_non_null(kw_alloc(&arena, 481));
	assert_true(arena.failed);   /* still */
	assert_int_equal(arena.used, 992);
	assert_null(kw_alloc(&arena, 1));
	assert_null(kw_alloc(&arena, SIZE_MAX));
	assert_null(kw_alloc(&arena, SIZE_MAX - 15));
	kw_arena_reset(&arena);
	assert_false(arena.failed);
	assert_non_null(kw_alloc(&arena, 900));
	assert_int_equal(kw_str_dup(&arena, (struct kw_str){"", INT32_MAX}).n, -1);
	assert_true(arena.failed);
	kw_arena_fini(&arena);
	assert_false(arena.failed);
}

static void strings(void **state)
{
	struct kw_arena arena;
	const char *text;

	(void)state;
	kw_arena_init(&arena, 0);
	text = kw_strndup(&arena, "a\0bcd", 3);
	assert_memory_equal(text, "a\0b\0", 4);
	assert_string_equal(kw_strndup(&arena, NULL, 0), "");
	assert_null(kw_strndup(&arena, "", SIZE_MAX));
	text = kw_sprintf(&arena, "%s-%05d", "topic", 42);
	assert_string_equal(text, "topic-00042");
	text = kw_sprintf(&arena, "%20000d", 7);
	assert_int_equal(strlen(text), 20000);
	kw_arena_fini(&arena);
	kw_arena_init(&arena, 16);
	assert_null(kw_sprintf(&arena, "%s", "more than sixteen"));
	kw_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aligned_and_zeroed),
		cmocka_unit_test(zero_size_is_not_shared),
		cmocka_unit_test(reset_reuses_and_zeroes_again),
		cmocka_unit_test(limit_bounds_the_total),
		cmocka_unit_test(strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
