#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "conformance/pairs.h"

/* A row for each left one, with a bit for each right one that fits. */
static bool fits(void *arg, size_t left, size_t right)
{
	const unsigned *rows = arg;

	return rows[left] >> right & 1;
}

static size_t without(size_t nleft, size_t nright, unsigned *rows)
{
	size_t found = 99;

	assert_int_equal(cf_pairs(nleft, nright, fits, rows, &found), 0);
	return found;
}

static void some_pairs(void **state)
{
	(void)state;
	assert_int_equal(without(0, 0, NULL), 0);
	assert_int_equal(without(0, 3, NULL), 0);
	assert_int_equal(without(1, 0, (unsigned[]){1}), 0);
	assert_int_equal(without(2, 2, (unsigned[]){3, 1}), 2);
	assert_int_equal(without(2, 2, (unsigned[]){1, 1}), 1);
	/* A chain, in which each has to make room for the next. */
	assert_int_equal(without(4, 4, (unsigned[]){3, 6, 12, 1}), 4);
	assert_int_equal(without(3, 2, (unsigned[]){3, 3, 3}), 2);
}

/* The size of the greatest matching of the first n rows, tried out. */
static size_t most(const unsigned *rows, size_t n, unsigned taken)
{
	size_t best, with;

	if (n == 0)
		return 0;
	best = most(rows + 1, n - 1, taken);
	for (unsigned right = 0; right < 3; right++)
		if (rows[0] & ~taken & 1U << right) {
			with = 1 + most(rows + 1, n - 1, taken | 1U << right);
			best = with > best ? with : best;
		}
	return best;
}

/* All that can be with three of each. */
static void as_many_as_there_can_be(void **state)
{
	(void)state;
	for (unsigned all = 0; all < 1 << 9; all++) {
		unsigned rows[] = {all & 7, all >> 3 & 7, all >> 6};
		size_t n = 0;

		while (n < 3 && most(rows, n + 1, 0) == n + 1)
			n++;
		assert_int_equal(without(3, 3, rows), n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(some_pairs),
		cmocka_unit_test(as_many_as_there_can_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
