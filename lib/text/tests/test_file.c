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
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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

/* Nor is it left at that where none can be opened. */
static int not_held_in_child(void)
{
	const struct rlimit none = {0, 0};
	struct kt_err err = {0};

	close(1);
	if (setrlimit(RLIMIT_NOFILE, &none) != 0 || kt_file_hold_std(&err) != KT_ESYS)
		return 1;
	return strcmp(err.text, "/dev/null cannot be opened in place of descriptor 1, which is closed: "
				"Too many open files") ? 2 : 0;
}

static void what_cannot_be_held_is_told(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(not_held_in_child());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void is_not_appended_to(const char *file, const char *why)
{
	struct kt_err err = {0};
	char text[200];

	snprintf(text, sizeof text, "%s: %s", file, why);
	assert_int_equal(kt_file_append(file, &err), KT_EFILE);
	assert_string_equal(err.text, text);
}

/* A socket gives the same error as a pipe that nobody reads from. */
static void pipes_and_sockets(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char dir[] = "/tmp/test_append.XXXXXX", fifo[60];
	int sock = socket(AF_UNIX, SOCK_STREAM, 0), reader, fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(fifo, sizeof fifo, "%s/fifo", dir);
	snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", dir);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(bind(sock, (const struct sockaddr *)&address, sizeof address), 0);
	is_not_appended_to(fifo, "nobody reads from it");
	is_not_appended_to(address.sun_path, "No such device or address");
	reader = open(fifo, O_RDONLY | O_NONBLOCK);
	fd = kt_file_append(fifo, NULL);
	assert_true(reader >= 0 && fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	close(fd);
	close(reader);
	close(sock);
	unlink(fifo);
	unlink(address.sun_path);
	assert_int_equal(rmdir(dir), 0);
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
		cmocka_unit_test(what_cannot_be_held_is_told),
		cmocka_unit_test(pipes_and_sockets),
		cmocka_unit_test(directories_are_made),
	};

	return cmocka_run_group_tests(tests, make_name, remove_name);
}
