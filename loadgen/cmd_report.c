#include <stdio.h>
#include <stdlib.h>

#include "lib/text/opt.h"
#include "loadgen/commands.h"
#include "loadgen/reconcile.h"

static struct {
	bool reconcile, json, all;
} given;

static const struct kt_opt options[] = {
	KT_FLAG(0, "reconcile", &given.reconcile,
		"compare A.jsonl and B.jsonl, files of the fakebroker's AuditObserver: is what cluster A was given, by "
		"topic and bucket of time, what cluster B got?"),
	KT_FLAG('j', "json", &given.json, "print JSON"),
	KT_FLAG(0, "all", &given.all, "also list the buckets that are equal"),
	KT_END
};

static const struct kt_cli cli = {
	.program = "loadgen report",
	.args = "--reconcile A.jsonl B.jsonl",
	.min_args = 2,
	.max_args = 2,
	.about = "Says whether the records that one cluster accepted are as many as those that another accepted, as "
		 "when one mirrors the other. A topic is the same if its records over all buckets are as many; a "
		 "bucket may be shifted, because a mirror lags.",
	.options = options,
	.examples = "loadgen report --reconcile primary.jsonl mirror.jsonl\n"
		    "loadgen report --reconcile primary.jsonl mirror.jsonl --json | jq .topics",
	.exits = {"every topic has as many records in either", "a topic has not",
		  "wrong usage, or a file that is damaged or none of AuditObserver's", "out of memory",
		  "inconclusive: neither file has a row, or records stand under (other)"},
};

static int report(const char *a, const char *b, struct kt_err *err)
{
	struct lg_reconciliation reconciliation;
	int status = KT_EXIT_USAGE;

	if (!given.reconcile)
		kt_fail(err, KT_EUSAGE, "what of these files? Give --reconcile");
	else if (lg_reconcile(a, b, &reconciliation, err) == 0)
		status = reconciliation.folded || !reconciliation.ntopics ? KT_EXIT_INCOMPLETE :
			 reconciliation.same ? KT_EXIT_OK : KT_EXIT_VERDICT;
	else if (err->code == KT_ENOMEM)
		status = KT_EXIT_ENGINE;
	if (err->code == 0 && given.json) {
		json_t *json = lg_reconciliation_json(&reconciliation);

		json_dumpf(json, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(json);
	} else if (err->code == 0) {
		lg_reconciliation_print(&reconciliation, given.all, stdout);
	}
	if (given.reconcile)
		lg_reconciliation_fini(&reconciliation);
	return status;
}

int lg_cmd_report(int argc, char **argv)
{
	struct kt_err err = {0};
	int status;

	if (!kt_cli_begin(&cli, &argc, argv, &status))
		return status;
	status = report(argv[1], argv[2], &err);
	if (err.code)
		kt_complain(cli.program, &err);
	return status;
}
