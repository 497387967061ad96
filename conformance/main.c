/* conformance: does a Kafka broker answer as it must? */
#include "conformance/command.h"

static const struct kt_command commands[] = {
#define CF_X(name, fn, help) {#name, help, fn},
	CF_COMMANDS(CF_X)
#undef CF_X
	{0},
};

static const struct kt_cli cli = {
	.program = "conformance",
	.args = "COMMAND ...",
	.about = "Sends right and wrong requests to a Kafka broker and judges what comes back: record batches, "
		 "configuration, features, registration, malformed frames, and the proposals for record validators "
		 "(KIP-729), metadata version aware configuration (KIP-1294) and observers (KIP-388).",
	.commands = commands,
	.examples =
		"  conformance run --bootstrap-server localhost:9092\n"
		"  conformance run --bootstrap-server localhost:9092 --only 'records.*' --out out/records\n"
		"  conformance show records.crc.mismatch\n"
		"  conformance probe --bootstrap-server localhost:9092\n"
		"  conformance report out/kafka/result.json out/mine/result.json --out out/matrix",
	.exits = {
		[KT_EXIT_OK] = "every case as expected",
		[KT_EXIT_VERDICT] = "a case failed, or passed against expectation",
		[KT_EXIT_USAGE] = "wrong usage, or a file is not right",
		[KT_EXIT_ENGINE] = "the target cannot be reached, or the program itself failed",
		[KT_EXIT_INCOMPLETE] = "a case was inconclusive, none could be judged, or it was interrupted",
	},
};

int main(int argc, char **argv)
{
	return kt_cli_run(&cli, argc, argv);
}
