/* Whole files, and whole writes. */
#ifndef KASSAY_TEXT_FILE_H
#define KASSAY_TEXT_FILE_H

#include <sys/uio.h>

#include "lib/text/err.h"

/* Reads all of a file or pipe of at most max bytes. *text, which the caller frees, gets a NUL after its n bytes.
 * Errors: KT_EFILE, KT_ELIMIT, KT_ENOMEM, with err->file set; *text is NULL then. */
int kt_file_read(const char *file, size_t max, char **text, size_t *n, struct kt_err *err);

/* Writes all of the runs, which it changes, however many writes that takes. 0, or -1 with errno; part of them may be
 * written then. Not for sockets, whose writers do not want SIGPIPE. */
int kt_file_write(int fd, struct iovec *iov, int niov);

/* Appends all of the runs, which it changes, or, on a disk that is full, nothing: what comes next would go on where
 * this breaks off. Before them comes `head`, unless it is NULL, where the file is empty. A lock keeps others who use
 * this function from writing in between; where a file cannot be locked the worst is a second head, or a part that
 * stays. 0, or -1 with errno. */
int kt_file_append_whole(int fd, const char *head, struct iovec *iov, int niov);

/* After open() with O_NONBLOCK, which was not to wait for a pipe's reader: writes wait again, since one that did not
 * would lose what it has to write. 0, or -1 with errno. */
int kt_file_make_wait(int fd);

/* Opens a file to append to it, which is made if need be. A named pipe must have a reader already: none is waited for.
 * Returns the descriptor, or KT_EFILE. */
int kt_file_append(const char *file, struct kt_err *err);

/* Makes a directory, and those above it, as far as they are not there, and sees to it that files can be made in it.
 * KT_EFILE, also when a file has its name. */
int kt_file_make_dir(const char *path, struct kt_err *err);

/* Occupies those of the descriptors 0, 1 and 2 that the process was started without, so that no file or socket gets one
 * of them and with it what is printed. Reading and writing them fails as before, with EBADF. Returns 0 or
 * KT_ESYS. */
int kt_file_hold_std(struct kt_err *err);

#endif
