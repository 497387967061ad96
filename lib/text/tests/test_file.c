/* Files of any kind, up to a limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/text/file.h"

enum { LIMIT = 1 << 20 };

static char name[] = "/tmp/test_file.XXXXXX";

static void make(const char *content, off_t size)
{
	FILE *f = fopen(name, "wb");

	assert_non_null(f);
	fputs(content, f);
	fclose(f);
	assert_int_equal(truncate(name, size), 0);
}

static void is_read(const char *file, size_t size)
{
	struct kt_err err = {0};
	char *text;
	size_t n;

	assert_int_equal(kt_file_read(file, LIMIT, &text, &n, &err), 0);
	assert_int_equal(n, size);
	assert_int_equal(text[n], '\0');
	free(text);
}

static void is_refused(const char *file)
{
	struct kt_err err = {0};
	char *text;
	size_t n;

	assert_int_equal(kt_file_read(file, LIMIT, &text, &n, &err), KT_ELIMIT);
	assert_null(text);
	assert_string_equal(err.text, "larger than the limit of 1048576 bytes");
	assert_string_equal(err.file, file);
}

static void as_large_as_may_be(void **state)
{
	(void)state;
	make("", 0);
	is_read(name, 0);
	make("abc", 3);
	is_read(name, 3);
	make("", 16383);
	is_read(name, 16383);
	make("", LIMIT);
	is_read(name, LIMIT);
	make("", LIMIT + 1);
	is_refused(name);
	is_read("/dev/null", 0);
}

/* A file that says that it is too large is not read, so that it does not matter how large it is. */
static void too_large(void **state)
{
	(void)state;
	make("", (off_t)1 << 40);
	is_refused(name);
	is_refused("/dev/zero");
}

/* What the kernel makes up says that it has no bytes. */
static void of_no_size(void **state)
{
	struct kt_err err = {0};
	char *text;
	size_t n;

	(void)state;
	assert_int_equal(kt_file_read("/proc/self/status", LIMIT, &text, &n, &err), 0);
	assert_int_equal(strncmp(text, "Name:", 5), 0);
	free(text);
}

/* In a child that was started without standard descriptors: the exit code says what is not so. */
static int hold_in_child(void)
{
	struct kt_err err = {0};
	char byte;

	for (int fd = 0; fd < 3; fd++)
		close(fd);
	if (kt_file_hold_std(&err) != 0 || open(name, O_RDONLY) != 3)
		return 1;
	if (read(0, &byte, 1) != -1 || errno != EBADF)
		return 2;
	for (int fd = 1; fd < 3; fd++)
		if (write(fd, "x", 1) != -1 || errno != EBADF)
			return 3;
	return 0;
}

static void closed_descriptors_are_held(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(kt_file_hold_std(NULL), 0);
	pid = fork();
	if (pid == 0)
		_exit(hold_in_child());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int make_name(void **state)
{
	int fd = mkstemp(name);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_name(void **state)
{
	(void)state;
	return unlink(name);
}

static void directories_are_made(void **state)
{
	char top[] = "/tmp/test_dir.XXXXXX", path[60], text[120];
	struct kt_err err = {0};

	(void)state;
	assert_non_null(mkdtemp(top));
	snprintf(path, sizeof path, "%s/a/b/", top);
	assert_int_equal(kt_file_make_dir(path, &err), 0);
	assert_int_equal(kt_file_make_dir(path, &err), 0);
	assert_int_equal(rmdir(path), 0);
	snprintf(path, sizeof path, "%s/a", top);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(top), 0);

	make("", 0);
	snprintf(text, sizeof text, "%s: is a file, not a directory", name);
	assert_int_equal(kt_file_make_dir(name, &err), KT_EFILE);
	assert_string_equal(err.text, text);
	snprintf(path, sizeof path, "%s/below", name);
	kt_err_init(&err);
	assert_int_equal(kt_file_make_dir(path, &err), KT_EFILE);
	assert_string_equal(err.text, text);
	kt_err_init(&err);
	assert_int_equal(kt_file_make_dir("", &err), KT_EFILE);
	assert_string_equal(err.text, "\"\" is not the name of a directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_large_as_may_be),
		cmocka_unit_test(too_large),
		cmocka_unit_test(of_no_size),
		cmocka_unit_test(closed_descriptors_are_held),
		cmocka_unit_test(directories_are_made),
	};

	return cmocka_run_group_tests(tests, make_name, remove_name);
}
