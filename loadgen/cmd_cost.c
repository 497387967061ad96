#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/client/http.h"
#include "lib/text/number.h"
#include "lib/text/opt.h"
#include "loadgen/commands.h"
#include "loadgen/cost.h"

static struct {
	const char *scenario, *bootstrap, *control, *a, *b, *out;
	int what, quads, pid_a, pid_b;
	int64_t seed;
	double margin;
	bool json;
} given = {.what = -1, .quads = 0, .seed = -1, .margin = -1};

static const char *const switches[] = {"observer", "validator", NULL};

/* "2%". A bare number would be a share to some and percent to others. */
static int read_margin(void *arg, const char *value, struct kt_err *err)
{
	char digits[32];
	size_t n = strlen(value);

	(void)arg;
	if (n == 0 || value[n - 1] != '%')
		return kt_fail(err, KT_ETYPE,
			       "must be a percentage such as \"2%%\" (a share of 0.02), not \"%s\"", value);
	snprintf(digits, sizeof digits, "%.*s", (int)(n - 1), value);
	if (kt_parse_real(digits, 0, 1000, &given.margin, err))
		return err->code;
	given.margin /= 100;
	return 0;
}

static const struct kt_opt options[] = {
	KT_GROUP("What is measured"),
	KT_STR(0, "scenario", "FILE", &given.scenario, "the requests, and what is compared (docs/loadgen.md)"),
	KT_CALL(0, "margin", "P%", read_margin, NULL,
		"how much more CPU per request is acceptable, decided beforehand"),
	KT_INT(0, "quads", "N", &given.quads, 20, 1000000, "quads of blocks, in place of the scenario's"),
	KT_INT64(0, "seed", "N", &given.seed, 0, INT64_MAX, "of the order of blocks, in place of the scenario's"),
	KT_GROUP("One fakebroker, switched between blocks"),
	KT_STR(0, "control", "URL", &given.control, "its control API, as http://127.0.0.1:8080"),
	KT_CHOICE(0, "switch", "WHAT", &given.what, switches,
		  "observer: observer.class.name, by the control API; validator: record.validator.classes of the "
		  "topic"),
	KT_STR('b', "bootstrap-server", "HOST:PORT", &given.bootstrap, "its brokers, in place of the scenario's"),
	KT_GROUP("Two brokers that differ in one setting"),
	KT_STR(0, "a", "HOST:PORT", &given.a, "one of them"),
	KT_STR(0, "b", "HOST:PORT", &given.b, "the other"),
	KT_INT(0, "pid-a", "PID", &given.pid_a, 1, INT32_MAX, "process of A on this machine, for its CPU time"),
	KT_INT(0, "pid-b", "PID", &given.pid_b, 1, INT32_MAX,
	       "process of B; without both only service time is measured"),
	KT_GROUP("Output"),
	KT_FLAG('j', "json", &given.json, "print JSON"),
	KT_END
};

static const struct kt_cli cli = {
	.program = "loadgen cost",
	.about = "Says what an observer, a validator or a setting costs a broker per request. Short blocks of requests "
		 "with it and without it take turns in random order, within one process if it is a fakebroker's "
		 "observer or validator; what was in force before is put back. A against A is measured beside it, to "
		 "show what would be seen if there were no difference. The topic is made, or has to be empty: what is "
		 "written to it is deleted.",
	.options = options,
	.examples = "loadgen cost --scenario fixtures/scenarios/cost-produce.json --control http://127.0.0.1:8080 "
		    "-b 127.0.0.1:9092 --switch observer --margin 2%\n"
		    "loadgen cost --scenario fixtures/scenarios/cost-brokers.json --a 127.0.0.1:9092 --b "
		    "127.0.0.1:9192 --pid-a 4711 --pid-b 4712 --margin 5%",
	.exits = {"the cost is within the margin, with 95 % confidence", "it is not",
		  "wrong usage or scenario, or a topic that has records",
		  "a target cannot be reached, does not answer, or refuses requests or the switch",
		  "inconclusive: the measurement cannot tell, or was stopped"},
};

static void take_options(struct lg_cost_spec *spec)
{
	if (given.bootstrap)
		spec->bootstrap = given.bootstrap;
	if (given.quads)
		spec->quads = given.quads;
	if (given.seed >= 0)
		spec->seed = given.seed;
	if (given.margin >= 0)
		spec->margin = given.margin;
}

static int check_two(const struct lg_cost_spec *spec, struct kt_err *err)
{
	if (!given.a || !given.b)
		return kt_fail(err, KT_EUSAGE, "--a and --b belong together");
	if (given.what >= 0 || given.bootstrap || spec->b.classes || spec->ndoses > 0)
		return kt_fail(err, KT_EUSAGE, "two brokers are compared as they are: no --switch, no "
			       "--bootstrap-server, and no \"b\" or \"doses\" in the scenario");
	if (!given.pid_a != !given.pid_b)
		return kt_fail(err, KT_EUSAGE, "--pid-a and --pid-b belong together");
	return 0;
}

static int check_one(const struct lg_cost_spec *spec, struct kt_err *err)
{
	static char control[300];

	if (!given.control || given.what < 0)
		return kt_fail(err, KT_EUSAGE, "either --control and --switch, or --a and --b");
	if (kc_http_server(given.control, control, sizeof control, err)) {
		snprintf(err->path, sizeof err->path, "--control");
		return err->code;
	}
	given.control = control;
	if (!spec->bootstrap)
		return kt_fail(err, KT_EUSAGE, "neither --bootstrap-server nor the scenario names a broker");
	if (given.pid_a || given.pid_b)
		return kt_fail(err, KT_EUSAGE, "--pid-a and --pid-b are of --a and --b; a fakebroker tells its own");
	if (!spec->b.classes && spec->ndoses == 0)
		return kt_fail(err, KT_EUSAGE,
			       "the scenario has neither \"b\", what is compared with A, nor \"doses\"");
	if (spec->ndoses > 0 && strcmp(switches[given.what], "observer") != 0)
		return kt_fail(err, KT_EUSAGE, "\"doses\" are of an observer");
	if (strcmp(switches[given.what], "observer") != 0 &&
	    (spec->a.mode || spec->a.options || spec->b.mode || spec->b.options))
		return kt_fail(err, KT_EUSAGE, "\"mode\" and \"options\" are of an observer; a validator's are in the "
			       "configuration, as record.validator.NAME.OPTION");
	return 0;
}

static int check(const struct lg_cost_spec *spec, struct kt_err *err)
{
	if (spec->margin < 0 && spec->ndoses == 0)
		return kt_fail(err, KT_EUSAGE, "neither --margin nor the scenario says how much it may cost");
	return given.a || given.b ? check_two(spec, err) : check_one(spec, err);
}

static int measure(struct lg_cost_spec *spec, const struct lg_cost_target *target, struct kt_err *err)
{
	struct lg_cost cost;

	if (!spec->a.classes)
		spec->a.classes = target->what == LG_SWITCH_VALIDATOR ? "" : "NoOpObserver";
	if (lg_cost_run(spec, target, &cost, err))
		return lg_cost_exit(&cost, err);
	if (given.json) {
		json_t *json = lg_cost_json(spec, target, &cost);

		json_dumpf(json, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(json);
	} else {
		lg_cost_print(spec, target, &cost, stdout);
	}
	return lg_cost_exit(&cost, err);
}

static int run(struct lg_cost_spec *spec, struct kt_err *err)
{
	struct lg_cost_target target = {.control = given.control, .a = given.a, .b = given.b, .pid_a = given.pid_a,
					.pid_b = given.pid_b};
	struct lg_process process;
	int claim, status;

	if (!given.control)
		return measure(spec, &target, err);
	target.what = given.what == 0 ? LG_SWITCH_OBSERVER : LG_SWITCH_VALIDATOR;
	if (lg_cost_process(given.control, &process, err) || lg_cost_claim(given.control, &process, &claim, err))
		return lg_exit_of(err);
	target.pid_a = process.pid;
	status = measure(spec, &target, err);
	close(claim);
	return status;
}

int lg_cmd_cost(int argc, char **argv)
{
	struct lg_cost_spec spec;
	struct kt_err err = {0};
	int status;

	if (!kt_cli_begin(&cli, &argc, argv, &status))
		return status;
	lg_cost_spec_init(&spec);
	status = KT_EXIT_USAGE;
	if (!given.scenario)
		kt_fail(&err, KT_EUSAGE, "--scenario is missing");
	else if (lg_cost_spec_load(&spec, given.scenario, &err) == 0) {
		take_options(&spec);
		if (check(&spec, &err) == 0)
			status = run(&spec, &err);
	}
	if (err.code)
		kt_complain(cli.program, &err);
	lg_cost_spec_fini(&spec);
	return status;
}
