/* inspect: what lies in a file, and the first byte that is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/command.h"
#include "conformance/inspect/exchanges.h"
#include "conformance/inspect/indexes.h"
#include "conformance/inspect/input.h"
#include "conformance/inspect/inspect.h"
#include "lib/wire/message.h"

#define PROGRAM "conformance inspect"

static struct {
	bool json, full, brief, request, stored, produced;
	const char *response, *release, *api;
	struct kt_list configs;
	int64_t now;
	struct cf_asked asked;
	struct cf_pcap_filter pcap;
	int api_key, version;            /* of the response */
} given = {.now = -1};

static const struct kt_opt options[] = {
	KT_GROUP("What it is"),
	KT_FLAG(0, "request", &given.request, "a request frame; its header says which"),
	KT_STR(0, "response", "API:VERSION", &given.response, "the response to that request: Produce:9"),
	KT_FLAG(0, "stored", &given.stored,
		"batches as a broker keeps them; unless given, files named *.log or N-N.checkpoint"),
	KT_FLAG(0, "produced", &given.produced, "batches as a client sends them; unless given, all others"),
	KT_GROUP("What Kafka would answer to the producer of it"),
	KT_STR(0, "release", "R", &given.release, "a release from 3.9 to 4.4: all of its answer, of stored batches "
	       "too; unless given, the error code of the newest, for batches of a client"),
	KT_LIST(0, "topic-config", "NAME=VALUE", &given.configs, "of the topic, such as cleanup.policy=compact; may be "
		"repeated"),
	KT_INT64(0, "now", "MS", &given.now, 0, INT64_MAX, "the broker's clock, ms since 1970, by which timestamps are "
		 "judged (the present)"),
	KT_GROUP("Of a capture of a network"),
	KT_INT(0, "port", "N", &given.pcap.port, 1, 65535,
	       "the broker's; unless given, it is found by what clients send"),
	KT_INT(0, "connection", "N", &given.pcap.connection, 1, INT32_MAX, "only this connection"),
	KT_INT(0, "exchange", "N", &given.pcap.exchange, 1, INT32_MAX, "only this request with its answer"),
	KT_STR(0, "api", "API", &given.api, "only requests of this API, such as Produce"),
	KT_GROUP("Output"),
	KT_FLAG(0, "brief", &given.brief, "a line for each batch or exchange; all of it where something is wrong"),
	KT_FLAG(0, "full", &given.full, "long keys and values whole"),
	KT_FLAG(0, "json", &given.json,
		"the tree as JSON, one document for each FILE, also for one that cannot be read"),
	KT_END
};

static const struct kt_cli cli = {
	.program = PROGRAM, .args = "FILE...", .min_args = 1, .max_args = -1, .options = options,
	.about = "Shows the batches and records of a log segment, and holds its indexes against them; those of a file "
		 "of batches, of an incident, a case or a failure's folder; the fields of a request or response; and "
		 "the requests in a capture of a network (pcap, pcapng) with their answers, each with its place; says "
		 "which byte is wrong first, and what Kafka would answer to a producer. Other files are binary, hex "
		 "text (also of xxd and hexdump -C), or JSON of the kit's; - is standard input. Of compressed batches, "
		 "places with ~ count in the inflated records.",
	.examples = "  conformance inspect /var/lib/kafka/orders-0/00000000000000000000.log --brief\n"
		    "  conformance inspect fixtures/incidents/S03.json\n"
		    "  conformance inspect out/failures/records.crc.mismatch@v9\n"
		    "  conformance inspect orders.pcap --brief\n"
		    "  conformance inspect orders.pcap --exchange 17\n"
		    "  xxd -p answer.bin | conformance inspect - --response Fetch:12",
	.exits = {
		[KT_EXIT_OK] = "nothing is wrong",
		[KT_EXIT_VERDICT] = "something is wrong in a file",
		[KT_EXIT_USAGE] = "wrong usage, or a file that cannot be read",
		[KT_EXIT_INCOMPLETE] = "nothing is wrong in what a capture has, but bytes are missing",
	},
};

/* ---- progress ---- */

static void show_progress(void *arg, size_t done, size_t all)
{
	fputc('\r', stderr);
	kt_put_clean(stderr, arg);
	fprintf(stderr, "  %zu %%", done / (all / 100 + 1));
}

static void end_progress(const struct cf_inspector *inspector)
{
	if (inspector->progress)
		fprintf(stderr, "\r\033[K");
}

/* ---- one file ---- */

/* "Produce:9" */
static int read_response(struct kt_err *err)
{
	const char *colon = strchr(given.response, ':');
	const struct kw_range *versions;
	char name[64], *end;

	snprintf(name, sizeof name, "%.*s", (int)(colon ? colon - given.response : 0), given.response);
	given.api_key = kw_api_key(name);
	given.version = colon ? (int)strtol(colon + 1, &end, 10) : -1;
	if (!colon || end == colon + 1 || *end)
		return kt_fail(err, KT_EUSAGE, "--response: must be API:VERSION, such as Produce:9");
	if (given.api_key < 0)
		return kt_fail(err, KT_EUNKNOWN, "--response: there is no API \"%s\"", name);
	versions = &kw_response(given.api_key)->versions;
	if (given.version < versions->min || given.version > versions->max)
		return kt_fail(err, KT_EVERSION,
			       "--response: %s has versions %d to %d", name, versions->min, versions->max);
	return 0;
}

/* Options that only a capture gives a meaning. */
static bool asks_for_exchanges(void)
{
	return given.pcap.port || given.pcap.connection || given.pcap.exchange || given.api;
}

/* Options that a capture gives no meaning. */
static bool says_what_it_is(void)
{
	return given.stored || given.produced || given.request || given.response;
}

static int show_content(struct cf_inspector *inspector, struct cf_input *input, const char *file, struct kt_err *err)
{
	if (asks_for_exchanges() && input->kind != CF_IN_PCAP)
		return kt_fail(err, KT_EUSAGE,
			       "is no capture of a network: --port, --connection, --exchange and --api are for those");
	if (says_what_it_is() && input->kind == CF_IN_PCAP)
		return kt_fail(err, KT_EUSAGE,
			       "is a capture of a network: --request, --response, --stored and --produced "
			       "are for others");
	switch (input->kind) {
	case CF_IN_DOCUMENT:
		if (cf_inspect_document(inspector, input->document.root, err) == 0)
			kt_fail(err, KT_ETYPE, "holds neither batches nor frames");
		break;
	case CF_IN_RESPONSE:
		cf_inspect_frame(inspector, &input->bytes, given.api_key, given.version);
		break;
	case CF_IN_REQUEST:
		cf_inspect_frame(inspector, &input->bytes, -1, -1);
		break;
	case CF_IN_PCAP:
		given.pcap.brief = given.brief;
		cf_inspect_pcap(inspector, &input->bytes, &given.pcap, err);
		break;
	case CF_IN_SEGMENT:
		cf_inspect_set(inspector, &input->bytes, 0, input->bytes.n, input->first_offset);
		if (inspector->faults > 0 || given.asked.detailed)
			cf_inspect_recovery(inspector, &input->bytes, input->first_offset);
		cf_inspect_beside(inspector, file, &input->bytes, input->first_offset, err);
		break;
	case CF_IN_SET:
		cf_inspect_set(inspector, &input->bytes, 0, input->bytes.n, -1);
		break;
	case CF_IN_BESIDE:
		cf_inspect_alone(inspector, file, &input->bytes, input->first_offset);
		break;
	case CF_IN_UNKNOWN:
		kt_fail(err, KT_ETYPE, "holds neither batches nor a request; --request, --response, --stored or "
			"--produced says what it is");
	}
	return err->code;
}

static void choose_kind(struct cf_input *input)
{
	if (input->kind == CF_IN_DOCUMENT || input->kind == CF_IN_BESIDE || input->kind == CF_IN_PCAP)
		return;
	if (given.request)
		input->kind = CF_IN_REQUEST;
	else if (given.response)
		input->kind = CF_IN_RESPONSE;
	else if ((given.stored || given.produced) && input->kind != CF_IN_SEGMENT)
		input->kind = CF_IN_SET;
}

static void show_summary(const struct cf_inspector *inspector, const char *file)
{
	if (given.json)
		return;
	kt_put_clean(stdout, file);
	printf(": ");
	if (inspector->batches)
		printf("%zu %s, %zu %s, ", inspector->batches, inspector->batches == 1 ? "batch" : "batches",
		       inspector->nrecords, inspector->nrecords == 1 ? "record" : "records");
	if (inspector->faults == 0) {
		printf(inspector->incomplete ? "nothing wrong in what is there; bytes are missing" : "nothing wrong");
	} else {
		printf("%zu wrong; first ", inspector->faults);
		kt_put_clean(stdout, inspector->first);
	}
	if (inspector->note[0]) {
		printf("; ");
		kt_put_clean(stdout, inspector->note);
	}
	putchar('\n');
}

static int inspect(const char *file)
{
	struct cf_place nowhere = {.none = true};
	struct cf_inspector inspector = {
		.tree = {.out = stdout, .json = given.json, .full = given.full}, .records = !given.brief,
		.progress = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO) ? show_progress : NULL,
		.progress_arg = (void *)(uintptr_t)file, .asked = &given.asked,
	};
	int status = KT_EXIT_OK;
	struct kt_err err = {0};
	struct cf_input input;
	char text[120], line[1280];

	cf_asked_of_file(&given.asked, file);
	if (cf_input_open(&input, file, &err) == 0) {
		choose_kind(&input);
		inspector.role = given.stored || (input.kind == CF_IN_SEGMENT && !given.produced)
				 ? KW_STORED : KW_PRODUCED;
		snprintf(text, sizeof text, "%s%s", cf_input_word(input.kind), input.hex ? ", as hex" : "");
		cf_tree_open(&inspector.tree, &(struct cf_place){0, input.bytes.n, false, input.bytes.n == 0}, file,
			     text);
		/* Nobody shall take half a document for a whole one. */
		if (show_content(&inspector, &input, file, &err))
			cf_tree_leaf(&inspector.tree, &nowhere, "error", json_string(err.text), err.text, true);
		cf_tree_close(&inspector.tree);
	} else if (given.json) {
		cf_tree_open(&inspector.tree, &nowhere, file, NULL);
		kt_err_line(&err, line, sizeof line);
		cf_tree_leaf(&inspector.tree, &nowhere, "error", json_string(line), line, true);
		cf_tree_close(&inspector.tree);
	}
	if (given.json)
		putchar('\n');
	end_progress(&inspector);
	if (err.code) {
		if (!err.file[0])
			snprintf(err.file, sizeof err.file, "%s", file);
		kt_complain(PROGRAM, &err);
		status = KT_EXIT_USAGE;
	} else {
		show_summary(&inspector, file);
		status = inspector.faults ? KT_EXIT_VERDICT : inspector.incomplete ? KT_EXIT_INCOMPLETE : KT_EXIT_OK;
	}
	cf_input_fini(&input);
	return status;
}

/* Of several files: what is wrong tells more than what is missing, and a file that cannot be read most. */
static int badness(int status)
{
	return status == KT_EXIT_INCOMPLETE ? 1 : 2 * status;
}

int cf_command_inspect(int argc, char **argv)
{
	int status, worst = KT_EXIT_OK;
	struct kt_err err = {0};

	if (!kt_cli_begin(&cli, &argc, argv, &status))
		return status;
	if (given.stored + given.produced + given.request + (given.response != NULL) > 1) {
		fprintf(stderr, "%s: only one of --request, --response, --stored and --produced can be given\n",
			PROGRAM);
		return KT_EXIT_USAGE;
	}
	given.pcap.api = given.api ? kw_api_key(given.api) : -1;
	if (given.api && given.pcap.api < 0) {
		fprintf(stderr, "%s: --api: there is no API \"%s\"\n", PROGRAM, given.api);
		return KT_EXIT_USAGE;
	}
	if ((given.response && read_response(&err)) ||
	    cf_asked_init(&given.asked, given.release, &given.configs, given.now, &err)) {
		kt_complain(PROGRAM, &err);
		return KT_EXIT_USAGE;
	}
	for (int i = 1; i < argc; i++) {
		status = inspect(argv[i]);
		if (badness(status) > badness(worst))
			worst = status;
	}
	return worst;
}
