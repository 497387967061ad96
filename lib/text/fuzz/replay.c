/* Runs a fuzz target on known inputs, without libFuzzer: all files of the folders and files that are named, or of the
 * target's own corpus and regressions. For `make check`, which any compiler can run, and to look into a finding. */
#include <dirent.h>
#include <libgen.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "lib/text/file.h"
#include "lib/text/fuzz/fuzz.h"

enum { LARGEST = 16 << 20 };

static size_t inputs;
static bool unreadable;

static void run_file(const char *path)
{
	struct kt_err err = {0};
	char *text;
	uint8_t *exact;
	size_t n;

	if (kt_file_read(path, LARGEST, &text, &n, &err) < 0) {
		fprintf(stderr, "%s: %s\n", path, err.text);
		unreadable = true;
		return;
	}
	exact = malloc(n ? n : 1);   /* without the NUL behind it, so that a sanitizer sees an over-read */
	if (exact) {
		memcpy(exact, text, n);
		LLVMFuzzerTestOneInput(exact, n);
		inputs++;
	}
	free(exact);
	free(text);
}

static void run(const char *path)
{
	struct dirent **entries;
	struct stat st;
	int n;

	if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode)) {
		run_file(path);
		return;
	}
	n = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		char inner[4096];

		snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			run_file(inner);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

/* "lib/wire/fuzz/fuzz_request.c" has "lib/wire/fuzz/corpus/request". */
static void run_own(const char *kind)
{
	char dir[512], base[512], path[1200];
	const char *name;

	snprintf(dir, sizeof dir, "%s", fuzz_source);
	snprintf(base, sizeof base, "%s", fuzz_source);
	name = strchr(basename(base), '_') + 1;
	snprintf(path, sizeof path, "%s/%s/%.*s", dirname(dir), kind, (int)strcspn(name, "."), name);
	run(path);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		run(argv[i]);
	if (argc == 1) {
		run_own("corpus");
		run_own("regressions");
	}
	printf("%zu passed\n", inputs);
	return unreadable || inputs == 0;
}
