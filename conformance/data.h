/* Where cases, requirements and profiles lie, and how their files are found. */
#ifndef KASSAY_CONFORMANCE_DATA_H
#define KASSAY_CONFORMANCE_DATA_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/text/err.h"

struct cf_data {
	char dir[PATH_MAX];        /* holds requirements/, cases/ and profiles/ */
	char fixtures[PATH_MAX];   /* holds incidents/ */
};

/* The directory that is used: `option` (--data) if not NULL, else $KASSAY_DATA, else the source tree that the program
 * was built in (../conformance beside it), else PREFIX/share/kassay of the PREFIX/bin it was installed in. KT_EFILE
 * when no such place has a directory `cases`. */
int cf_data_find(struct cf_data *data, const char *option, struct kt_err *err);

/* printf of a path; false, and "" in out, which no file has as its name, when it does not fit. */
bool cf_path(char *out, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

struct cf_files {
	char **v;                  /* paths, sorted */
	size_t n, cap;
};

/* All *.json below dir, at any depth. KT_EFILE when dir cannot be read. */
int cf_files_find(struct cf_files *files, const char *dir, struct kt_err *err);
void cf_files_fini(struct cf_files *files);

#endif
