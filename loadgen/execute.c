#include <stdio.h>
#include <unistd.h>

#include "lib/text/file.h"
#include "lib/text/opt.h"
#include "loadgen/commands.h"
#include "loadgen/report.h"
#include "loadgen/ticker.h"

int lg_exit_of(const struct kt_err *err)
{
	switch (err->code) {
	case KT_EUSAGE:
	case KT_EFILE:
	case KT_ESYNTAX:
	case KT_ERANGE:
		return KT_EXIT_USAGE;
	default:
		return KT_EXIT_ENGINE;
	}
}

static int write_result(const char *program, const struct lg_run *run, const char *out)
{
	struct kt_err err = {0};
	json_t *result;

	if (!out)
		return 0;
	result = lg_result_json(run);
	if (lg_result_write(result, out, &err))
		kt_complain(program, &err);
	json_decref(result);
	return err.code;
}

/* What cannot be written is told before anything is sent. */
static int make_place(const struct lg_plan *plan, const char *out, struct kt_err *err)
{
	int rc = kt_file_make_dir(out, err);

	for (int i = 0; i < plan->nphases && rc == 0; i++)
		rc = lg_ticker_try(&plan->phases[i], out, err);
	return rc;
}

int lg_execute(const char *program, struct lg_plan *plan, const char *out, bool tell_steps)
{
	const struct lg_run_opts opts = {.out = out, .progress = isatty(STDERR_FILENO), .tell_phases = true,
					 .tell_steps = tell_steps};
	struct kt_err err = {0};
	struct lg_run run = {0};
	int status;

	if ((out && make_place(plan, out, &err)) || lg_run(&run, plan, &opts, &err)) {
		kt_complain(program, &err);
		status = lg_exit_of(&err);
	} else {
		lg_report(&run, stdout);
		status = lg_run_exit(&run);
		if (write_result(program, &run, out) && status == KT_EXIT_OK)
			status = KT_EXIT_USAGE;
	}
	lg_run_fini(&run);
	return status;
}
