/* inspect: what lies in a file, and the first byte that is wrong. */
#include <dirent.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/command.h"
#include "conformance/inspect/input.h"
#include "conformance/inspect/inspect.h"
#include "lib/wire/message.h"

#define PROGRAM "conformance inspect"

static struct {
	bool json, full, brief, request, stored, produced;
	const char *response;
} given;

static const struct kt_opt options[] = {
	KT_GROUP("What it is"),
	KT_FLAG(0, "request", &given.request, "a request frame; its header says which"),
	KT_STR(0, "response", "API:VERSION", &given.response, "the response to that request: Produce:9"),
	KT_FLAG(0, "stored", &given.stored, "batches as a broker keeps them; unless given, files named *.log or N-N.checkpoint"),
	KT_FLAG(0, "produced", &given.produced, "batches as a client sends them; unless given, all others"),
	KT_GROUP("Output"),
	KT_FLAG(0, "brief", &given.brief, "a line for each batch; all of it where something is wrong"),
	KT_FLAG(0, "full", &given.full, "long keys and values whole"),
	KT_FLAG(0, "json", &given.json, "the tree as JSON, one document for each file"),
	KT_END
};

static const struct kt_cli cli = {
	.program = PROGRAM, .args = "FILE...", .min_args = 1, .max_args = -1, .options = options,
	.about = "Shows the batches and records of a log segment, of a file of batches, of an incident, a case or a failure's "
		 "folder, and the fields of a request or response, each with its place; says which byte is wrong first, "
		 "and what Kafka 4.4 would answer to a producer. Files are binary, hex text (also of xxd and hexdump -C), or "
		 "JSON of the kit's; - is standard input. Of compressed batches, places with ~ count in the inflated records.",
	.examples = "  conformance inspect /var/lib/kafka/orders-0/00000000000000000000.log --brief\n"
		    "  conformance inspect fixtures/incidents/S03.json\n"
		    "  conformance inspect out/failures/records.crc.mismatch@v9\n"
		    "  xxd -p answer.bin | conformance inspect - --response Fetch:12",
	.exits = {
		[KT_EXIT_OK] = "nothing is wrong",
		[KT_EXIT_VERDICT] = "something is wrong in a file",
		[KT_EXIT_USAGE] = "wrong usage, or a file that cannot be read",
	},
};

/* ---- progress ---- */

static void show_progress(void *arg, size_t done, size_t all)
{
	fprintf(stderr, "\r%s  %zu %%", (const char *)arg, done / (all / 100 + 1));
}

static void end_progress(const struct cf_inspector *inspector)
{
	if (inspector->progress)
		fprintf(stderr, "\r\033[K");
}

/* ---- files beside a segment ---- */

/* The names of the other files of the segment: indexes, and the producer snapshot. */
static void show_beside(struct cf_inspector *inspector, const char *file)
{
	char copy[PATH_MAX], text[400] = "";
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
	struct dirent *e;
	DIR *dir;

	snprintf(copy, sizeof copy, "%s", file);
	dir = opendir(dirname(copy));
	while (dir && (e = readdir(dir)))
		if (strcmp(e->d_name, name) != 0 && strncmp(e->d_name, name, strcspn(name, ".")) == 0 &&
		    e->d_name[strcspn(name, ".")] == '.' && strlen(text) + strlen(e->d_name) + 3 < sizeof text)
			snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? ", " : "", e->d_name);
	if (dir)
		closedir(dir);
	if (*text)
		cf_tree_leaf(&inspector->tree, &(struct cf_place){.none = true}, "beside it", json_string(text), text, false);
}

/* ---- one file ---- */

/* "Produce:9" */
static int read_response(int *api, int *version, struct kt_err *err)
{
	const char *colon = strchr(given.response, ':');
	char name[64], *end;

	snprintf(name, sizeof name, "%.*s", (int)(colon ? colon - given.response : 0), given.response);
	*api = kw_api_key(name);
	*version = colon ? (int)strtol(colon + 1, &end, 10) : -1;
	if (!colon || end == colon + 1 || *end)
		return kt_fail(err, KT_EUSAGE, "--response: must be API:VERSION, such as Produce:9");
	if (*api < 0)
		return kt_fail(err, KT_EUNKNOWN, "--response: there is no API \"%s\"", name);
	if (*version < kw_response(*api)->versions.min || *version > kw_response(*api)->versions.max)
		return kt_fail(err, KT_EVERSION, "--response: %s has versions %d to %d", name, kw_response(*api)->versions.min,
			       kw_response(*api)->versions.max);
	return 0;
}

static int show_content(struct cf_inspector *inspector, struct cf_input *input, const char *file, struct kt_err *err)
{
	int api = -1, version = -1;

	switch (input->kind) {
	case CF_IN_DOCUMENT:
		if (cf_inspect_document(inspector, input->document.root, err) == 0)
			kt_fail(err, KT_ETYPE, "holds neither batches nor frames");
		break;
	case CF_IN_RESPONSE:
		if (read_response(&api, &version, err) == 0)
			cf_inspect_frame(inspector, &input->bytes, api, version);
		break;
	case CF_IN_REQUEST:
		cf_inspect_frame(inspector, &input->bytes, -1, -1);
		break;
	case CF_IN_SEGMENT:
		show_beside(inspector, file);
		cf_inspect_set(inspector, &input->bytes, 0, input->bytes.n, input->first_offset);
		break;
	case CF_IN_SET:
		cf_inspect_set(inspector, &input->bytes, 0, input->bytes.n, -1);
		break;
	case CF_IN_BESIDE:
		break;
	case CF_IN_UNKNOWN:
		kt_fail(err, KT_ETYPE, "holds neither batches nor a request; --request, --response, --stored or --produced "
			"says what it is");
	}
	return err->code;
}

static void choose_kind(struct cf_input *input)
{
	if (input->kind == CF_IN_DOCUMENT || input->kind == CF_IN_BESIDE)
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
	printf("%s: ", file);
	if (inspector->batches)
		printf("%zu %s, %zu %s, ", inspector->batches, inspector->batches == 1 ? "batch" : "batches", inspector->nrecords,
		       inspector->nrecords == 1 ? "record" : "records");
	if (inspector->faults == 0)
		printf("nothing wrong\n");
	else
		printf("%zu wrong; first %s\n", inspector->faults, inspector->first);
}

static int inspect(const char *file)
{
	struct cf_inspector inspector = {
		.tree = {.out = stdout, .json = given.json, .full = given.full}, .records = !given.brief,
		.progress = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO) ? show_progress : NULL,
		.progress_arg = (void *)(uintptr_t)file,
	};
	int status = KT_EXIT_OK;
	struct kt_err err = {0};
	struct cf_input input;
	char text[120];

	if (cf_input_open(&input, file, &err) == 0) {
		choose_kind(&input);
		inspector.role = given.stored || (input.kind == CF_IN_SEGMENT && !given.produced) ? KW_STORED : KW_PRODUCED;
		snprintf(text, sizeof text, "%s%s", cf_input_word(input.kind), input.hex ? ", as hex" : "");
		cf_tree_open(&inspector.tree, &(struct cf_place){0, input.bytes.n, false, input.bytes.n == 0}, file, text);
		show_content(&inspector, &input, file, &err);
		cf_tree_close(&inspector.tree);
		if (given.json)
			putchar('\n');
	}
	end_progress(&inspector);
	if (err.code) {
		if (!err.file[0])
			snprintf(err.file, sizeof err.file, "%s", file);
		kt_complain(PROGRAM, &err);
		status = KT_EXIT_USAGE;
	} else if (input.kind != CF_IN_BESIDE) {
		show_summary(&inspector, file);
		status = inspector.faults ? KT_EXIT_VERDICT : KT_EXIT_OK;
	}
	cf_input_fini(&input);
	return status;
}

int cf_command_inspect(int argc, char **argv)
{
	int status, worst = KT_EXIT_OK;

	if (!kt_cli_begin(&cli, &argc, argv, &status))
		return status;
	if (given.stored + given.produced + given.request + (given.response != NULL) > 1) {
		fprintf(stderr, "%s: only one of --request, --response, --stored and --produced can be given\n", PROGRAM);
		return KT_EXIT_USAGE;
	}
	for (int i = 1; i < argc; i++) {
		status = inspect(argv[i]);
		if (status > worst)
			worst = status;
	}
	return worst;
}
