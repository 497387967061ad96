#include "lib/text/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST = 16384 };

static int too_large(size_t max, struct kt_err *err)
{
	return kt_fail(err, KT_ELIMIT, "larger than the limit of %zu bytes", max);
}

/* Reads f to its end into a buffer that grows with what arrives: to what a file has, else to what shows that it is too
 * much. */
static int read_all(FILE *f, size_t max, char **text, size_t *n, struct kt_err *err)
{
	size_t cap = 0, got, first = FIRST;
	struct stat st;
	char *grown;

	if (fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		if ((uintmax_t)st.st_size > max)
			return too_large(max, err);
		/* The NUL, and a byte by which the end shows. */
		first = (size_t)st.st_size + 2;
	}
	do {
		if (*n + 1 >= cap) {
			cap = cap ? cap * 2 : first;
			if (cap - 2 > max)
				cap = max + 2;
			grown = realloc(*text, cap);
			if (!grown)
				return kt_fail(err, KT_ENOMEM, "out of memory at %zu bytes", *n);
			*text = grown;
		}
		got = fread(*text + *n, 1, cap - 1 - *n, f);
		*n += got;
		if (*n > max)
			return too_large(max, err);
	} while (got > 0);
	if (ferror(f))
		return kt_fail(err, KT_EFILE, "cannot be read: %s", strerror(errno));
	(*text)[*n] = '\0';
	return 0;
}

int kt_file_read(const char *file, size_t max, char **text, size_t *n, struct kt_err *err)
{
	FILE *f = fopen(file, "rb");
	int rc;

	*text = NULL;
	*n = 0;
	if (f)
		rc = read_all(f, max, text, n, err);
	else
		rc = kt_fail(err, KT_EFILE, "cannot be opened: %s", strerror(errno));
	if (f)
		fclose(f);
	if (rc < 0) {
		free(*text);
		*text = NULL;
		if (err)
			snprintf(err->file, sizeof err->file, "%s", file);
	}
	return rc;
}

int kt_file_write(int fd, struct iovec *iov, int niov)
{
	while (niov > 0) {
		ssize_t n = writev(fd, iov, niov);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		for (; niov > 0 && (size_t)n >= iov->iov_len; iov++, niov--)
			n -= (ssize_t)iov->iov_len;
		if (niov > 0) {
			iov->iov_base = (char *)iov->iov_base + n;
			iov->iov_len -= (size_t)n;
		}
	}
	return 0;
}

/* ENXIO is also what a socket gives, or a device that has no driver. */
static const char *why_not_open(const char *file, int error)
{
	struct stat st;

	return error == ENXIO && stat(file, &st) == 0 && S_ISFIFO(st.st_mode) ? "nobody reads from it"
									     : strerror(error);
}

int kt_file_append_whole(int fd, const char *head, struct iovec *iov, int niov)
{
	bool locked = flock(fd, LOCK_EX) == 0;
	struct stat stat;
	bool known = fstat(fd, &stat) == 0;
	int code = 0, fault;

	if (head && known && stat.st_size == 0)
		code = kt_file_write(fd, &(struct iovec){(char *)(uintptr_t)head, strlen(head)}, 1);
	if (code == 0)
		code = kt_file_write(fd, iov, niov);
	fault = errno;
	if (code < 0 && locked && known && S_ISREG(stat.st_mode))
		(void)!ftruncate(fd, stat.st_size);   /* a part stays if that fails, too */
	if (locked)
		flock(fd, LOCK_UN);
	errno = fault;
	return code;
}

int kt_file_make_wait(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0 ? -1 : 0;
}

int kt_file_append(const char *file, struct kt_err *err)
{
	int fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);

	if (fd < 0)
		return kt_fail(err, KT_EFILE, "%s: %s", file, why_not_open(file, errno));
	if (kt_file_make_wait(fd) < 0) {
		kt_fail(err, KT_EFILE, "%s: %s", file, strerror(errno));
		close(fd);
		return KT_EFILE;
	}
	return fd;
}

static int make_one(const char *path, struct kt_err *err)
{
	struct stat st;

	if (mkdir(path, 0777) == 0)
		return 0;
	if (errno == EEXIST && stat(path, &st) == 0)
		return S_ISDIR(st.st_mode) ? 0 : kt_fail(err, KT_EFILE, "%s: is a file, not a directory", path);
	return kt_fail(err, KT_EFILE, "%s: %s", path, strerror(errno));
}

int kt_file_make_dir(const char *path, struct kt_err *err)
{
	char part[PATH_MAX];
	size_t n = strlen(path);

	if (n == 0 || n >= sizeof part)
		return kt_fail(err, KT_EFILE, "\"%s\" is not the name of a directory", path);
	memcpy(part, path, n + 1);
	for (size_t i = 1; i <= n; i++) {
		if (part[i] != '/' && part[i] != '\0')
			continue;
		part[i] = '\0';
		if (make_one(part, err))
			return KT_EFILE;
		part[i] = path[i];
	}
	return access(part, W_OK | X_OK) ? kt_fail(err, KT_EFILE, "%s: %s", path, strerror(errno)) : 0;
}

int kt_file_hold_std(struct kt_err *err)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int got;

		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		/* It gets the lowest number that is free, which is fd unless another thread was quicker; and is opened
		 * for what nobody wants of it. */
		got = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
		if (got == fd)
			continue;
		kt_fail(err, KT_ESYS, "/dev/null cannot be opened in place of descriptor %d, which is closed: %s", fd,
			got < 0 ? strerror(errno) : "something else was opened there meanwhile");
		if (got >= 0)
			close(got);
		return KT_ESYS;
	}
	return 0;
}
