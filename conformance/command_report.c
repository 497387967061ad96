/* report: the matrix of several results. */
#include <stdio.h>
#include <stdlib.h>

#include "conformance/command.h"
#include "conformance/evidence.h"
#include "conformance/report/report.h"
#include "lib/text/file.h"

#define PROGRAM "conformance report"

static const char *out_dir;

static const struct kt_opt options[] = {
	KT_STR(0, "out", "DIR", &out_dir, "where report.html goes"),
	KT_END
};

static const struct kt_cli cli = {
	.program = PROGRAM, .args = "result.json... --out DIR", .min_args = 1, .max_args = -1, .options = options,
	.about = "Draws one page with a column for each result and a row for each case: targets, or releases of one "
		 "target, side by side.",
	.examples = "  conformance report out/kafka/result.json out/mine/result.json --out out/matrix",
	.exits = {[KT_EXIT_USAGE] = "wrong usage, a file is no result, or the page cannot be written"},
};

static int write_page(json_t *const *results, size_t n, struct kt_err *err)
{
	char path[PATH_MAX];
	bool ok;
	FILE *f;

	if (kt_file_make_dir(out_dir, err))
		return err->code;
	cf_path(path, sizeof path, "%s/report.html", out_dir);
	f = fopen(path, "w");
	ok = f && cf_write_html_matrix(f, results, n);
	if (f && fclose(f))
		ok = false;
	if (!ok)
		return kt_fail(err, KT_EFILE, "%s cannot be written", path);
	kt_put_clean(stdout, path);
	putchar('\n');
	return 0;
}

int cf_command_report(int argc, char **argv)
{
	struct kt_err err = {0};
	json_t **results;
	size_t n = 0;
	int status;

	if (!kt_cli_begin(&cli, &argc, argv, &status))
		return status;
	results = calloc((size_t)argc, sizeof(json_t *));
	if (!results)
		return KT_EXIT_ENGINE;
	if (!out_dir)
		kt_fail(&err, KT_EUSAGE, "where to? Give --out DIR");
	for (int i = 1; i < argc && err.code == KT_OK; i++) {
		results[n] = cf_result_load(argv[i], &err);
		n += results[n] != NULL;
	}
	if (err.code == KT_OK)
		write_page(results, n, &err);
	for (size_t i = 0; i < n; i++)
		json_decref(results[i]);
	free(results);
	if (err.code)
		kt_complain(PROGRAM, &err);
	return err.code ? KT_EXIT_USAGE : KT_EXIT_OK;
}
