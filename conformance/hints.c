#include "conformance/hints.h"

#include <stdlib.h>
#include <string.h>

#include "conformance/result.h"
#include "conformance/runner.h"

/* Fewer may well be the broker's fault. */
enum { CLOCK_FAILURES = 5 };

static bool expects(const struct cf_profile *profile, json_t *row)
{
	const struct cf_expected_failure *failure = cf_policy_failure(row, profile);

	return failure && cf_policy_is_failure(row, failure);
}

static size_t count_failures(json_t *rows, const struct cf_profile *profile, const char *with)
{
	json_t *row;
	size_t i, n = 0;

	json_array_foreach(rows, i, row)
		if (cf_row_verdict(row) == CF_FAIL && (!profile || expects(profile, row)) &&
		    (!with || strstr(cf_text(row, "reason"), with)))
			n++;
	return n;
}

/* How many of the failures that profile expects. */
static size_t known_to(const char *defaults, const char *file, json_t *rows)
{
	struct cf_profile profile;
	struct kt_err err = {0};
	size_t n = 0;

	if (cf_profile_load(&profile, defaults, strcmp(defaults, file) ? file : NULL, &err) == 0)
		n = count_failures(rows, &profile, NULL);
	cf_profile_fini(&profile);
	return n;
}

static void tell_profile(FILE *out, size_t known, size_t failures, const char *profile)
{
	fprintf(out, "%zu of the %zu failures %s as --profile ", known, failures, known == 1 ? "is" : "are");
	kt_put_clean(out, profile);
	fputs(" expects\n", out);
}

static void hint_profile(FILE *out, json_t *rows, const char *data, size_t failures)
{
	char dir[PATH_MAX], defaults[PATH_MAX], real[PATH_MAX];
	const char *best = NULL;
	struct cf_files files;
	struct kt_err err = {0};
	size_t most = 0;

	cf_path(dir, sizeof dir, "%s/profiles", data);
	cf_path(defaults, sizeof defaults, "%s/profiles/default.json", data);
	if (cf_files_find(&files, dir, &err) == 0)
		for (size_t i = 0; i < files.n; i++) {
			size_t n = known_to(defaults, files.v[i], rows);

			if (n > most)
				best = files.v[i];
			most = n > most ? n : most;
		}
	if (best)
		tell_profile(out, most, failures, realpath(best, real) ? real : best);
	cf_files_fini(&files);
}

void cf_hints_print(FILE *out, json_t *rows, const char *data)
{
	size_t failures = count_failures(rows, NULL, NULL);
	size_t timestamps = count_failures(rows, NULL, "got INVALID_TIMESTAMP (32)");

	if (timestamps >= CLOCK_FAILURES)
		fprintf(out, "%zu cases failed with INVALID_TIMESTAMP: do the clocks of this machine and of the "
			"broker agree?\n", timestamps);
	if (failures)
		hint_profile(out, rows, data, failures);
}
