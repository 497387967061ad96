#include "conformance/data.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool cf_path(char *out, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(out, size, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < size)
		return true;
	out[0] = '\0';
	return false;
}

/* fixtures/ is beside conformance/ in a source tree, and part of the same directory once installed. */
static bool settle(struct cf_data *data, const char *dir)
{
	char cases[PATH_MAX];

	if (!cf_path(cases, sizeof cases, "%s/cases", dir) || !is_dir(cases) ||
	    !cf_path(data->dir, sizeof data->dir, "%s", dir))
		return false;
	if (!cf_path(data->fixtures, sizeof data->fixtures, "%s/../fixtures", dir) || !is_dir(data->fixtures))
		cf_path(data->fixtures, sizeof data->fixtures, "%s", dir);
	return true;
}

static bool settle_beside(struct cf_data *data, const char *program)
{
	static const char *const places[] = {"../conformance", "../share/kassay"};
	char dir[PATH_MAX];

	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (cf_path(dir, sizeof dir, "%s/%s", program, places[i]) && settle(data, dir))
			return true;
	return false;
}

int cf_data_find(struct cf_data *data, const char *option, struct kt_err *err)
{
	const char *env = getenv("KASSAY_DATA");
	char self[PATH_MAX];
	ssize_t n;

	if (!option && env && *env)
		option = env;
	if (option)
		return settle(data, option) ? 0 : kt_fail(err, KT_EFILE, "%s holds no directory \"cases\"", option);
	n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n > 0) {
		self[n] = '\0';
		if (settle_beside(data, dirname(self)))
			return 0;
	}
	return kt_fail(err, KT_EFILE,
		       "the cases are not beside this program; name their directory with --data or $KASSAY_DATA");
}

static int add(struct cf_files *files, const char *path)
{
	if (files->n == files->cap) {
		size_t cap = files->cap ? files->cap * 2 : 64;
		char **v = realloc(files->v, cap * sizeof *v);

		if (!v)
			return -1;
		files->v = v;
		files->cap = cap;
	}
	files->v[files->n] = strdup(path);
	return files->v[files->n] ? (files->n++, 0) : -1;
}

static int walk(struct cf_files *files, const char *dir, struct kt_err *err)
{
	DIR *d = opendir(dir);
	char path[PATH_MAX];
	struct dirent *e;
	int rc = 0;

	if (!d)
		return kt_fail(err, KT_EFILE, "%s: %s", dir, strerror(errno));
	while (rc == 0 && (e = readdir(d))) {
		const char *dot = strrchr(e->d_name, '.');

		if (e->d_name[0] == '.')
			continue;
		if (!cf_path(path, sizeof path, "%s/%s", dir, e->d_name))
			rc = kt_fail(err, KT_EFILE, "%s: a path is too long", dir);
		else if (is_dir(path))
			rc = walk(files, path, err);
		else if (dot && strcmp(dot, ".json") == 0 && add(files, path))
			rc = kt_fail(err, KT_ENOMEM, "out of memory");
	}
	closedir(d);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int cf_files_find(struct cf_files *files, const char *dir, struct kt_err *err)
{
	int rc;

	memset(files, 0, sizeof *files);
	rc = walk(files, dir, err);
	if (files->n)
		qsort(files->v, files->n, sizeof *files->v, by_name);
	return rc;
}

void cf_files_fini(struct cf_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		free(files->v[i]);
	free(files->v);
	memset(files, 0, sizeof *files);
}
