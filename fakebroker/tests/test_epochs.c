/* Where epochs of leaders end, as LeaderEpochFileCache answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fakebroker/log/epochs.h"

static void check(const struct fb_epochs *epochs, int32_t epoch, int64_t logStartOffset, int32_t found, int64_t end)
{
	struct fb_epoch got = fb_epochs_end(epochs, epoch, logStartOffset, 20);

	assert_int_equal(got.epoch, found);
	assert_int_equal(got.start, end);
}

static void an_epoch_ends_where_the_next_begins(void **state)
{
	struct fb_epochs epochs = {0};

	(void)state;
	check(&epochs, 0, 0, -1, -1);
	fb_epochs_begin(&epochs, 0, 0);
	check(&epochs, 0, 0, 0, 20);
	fb_epochs_begin(&epochs, 2, 5);      /* none led in epoch 1 */
	fb_epochs_begin(&epochs, 3, 12);
	fb_epochs_begin(&epochs, 4, 12);     /* nothing was written in epoch 3 */
	check(&epochs, -1, 0, -1, -1);
	check(&epochs, 0, 0, 0, 5);
	check(&epochs, 1, 0, 0, 5);
	check(&epochs, 2, 0, 2, 12);
	check(&epochs, 3, 0, 2, 12);
	check(&epochs, 4, 0, 4, 20);
	check(&epochs, 5, 0, -1, -1);
	check(&epochs, 1, 8, 1, 8);          /* what was before the log's start is forgotten */
	check(&epochs, 2, 8, 2, 12);
	check(&epochs, 0, 20, 0, 20);
	check(&epochs, -2, 0, -2, 0);
	check(&epochs, INT32_MIN, 8, INT32_MIN, 8);
	fb_epochs_fini(&epochs);
}

static void an_offset_is_of_an_epoch(void **state)
{
	struct fb_epochs epochs = {0};

	(void)state;
	assert_int_equal(fb_epochs_at(&epochs, 0), -1);
	fb_epochs_begin(&epochs, 0, 0);
	fb_epochs_begin(&epochs, 2, 5);
	fb_epochs_begin(&epochs, 4, 12);
	assert_int_equal(fb_epochs_at(&epochs, 0), 0);
	assert_int_equal(fb_epochs_at(&epochs, 4), 0);
	assert_int_equal(fb_epochs_at(&epochs, 5), 2);
	assert_int_equal(fb_epochs_at(&epochs, 12), 4);
	assert_int_equal(fb_epochs_at(&epochs, 13), 4);
	fb_epochs_fini(&epochs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_epoch_ends_where_the_next_begins),
		cmocka_unit_test(an_offset_is_of_an_epoch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
