#include "lib/text/opt.h"
#include "loadgen/commands.h"

static struct {
	const char *bootstrap, *out;
} given;

static const struct kt_opt options[] = {
	KT_STR('b', "bootstrap-server", "HOST:PORT", &given.bootstrap, "brokers to ask first, in place of the file's"),
	KT_STR('o', "out", "DIR", &given.out, "write result.json and a histogram log per phase to this directory"),
	KT_END
};

static const struct kt_cli cli = {
	.program = "loadgen run",
	.args = "SCENARIO.json",
	.min_args = 1,
	.max_args = 1,
	.about = "Creates the topics of the scenario that are missing, runs its phases one after the other with its "
		 "steps beside them, reads everything back and judges it.",
	.options = options,
	.examples = "loadgen run upgrade.json --bootstrap-server 127.0.0.1:9092 --out out/upgrade",
	.exits = {"every expectation met, every record accounted for", "an expectation or the verification failed",
		  "wrong usage, scenario or directory", "the target cannot be reached",
		  "stopped, or the verification could not be completed"},
};

int lg_cmd_run(int argc, char **argv)
{
	struct kt_err err = {0};
	struct lg_plan plan;
	int status;

	if (!kt_cli_begin(&cli, &argc, argv, &status))
		return status;
	lg_plan_init(&plan);
	if (lg_plan_load(&plan, argv[1], &err) == 0) {
		if (given.bootstrap)
			plan.bootstrap = given.bootstrap;
		if (!plan.bootstrap)
			kt_fail(&err, KT_EUSAGE, "neither --bootstrap-server nor the scenario names a broker");
	}
	if (err.code) {
		kt_complain(cli.program, &err);
		status = KT_EXIT_USAGE;
	} else {
		status = lg_execute(cli.program, &plan, given.out, true);
	}
	lg_plan_fini(&plan);
	return status;
}
