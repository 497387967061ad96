#include "lib/text/opt.h"
#include "loadgen/clock.h"
#include "loadgen/commands.h"

int main(int argc, char **argv)
{
	static const struct kt_command commands[] = {
		{"produce", "send records at a set rate, verify them", lg_cmd_produce},
		{"fetch", "read a topic and check what the load generator wrote there", lg_cmd_fetch},
		{"run", "run a scenario: phases of load, and changes of the cluster beside them", lg_cmd_run},
		{"cost", "say what an observer, a validator or a setting costs a broker per request", lg_cmd_cost},
		{"report", "compare what two clusters' audits say", lg_cmd_report},
		{0},
	};
	static const struct kt_cli cli = {
		.program = "loadgen",
		.args = "COMMAND ...",
		.about = "Loads a Kafka cluster at a set rate, counts latencies from the time that each record was "
			 "meant to be sent, and verifies every record: lost, duplicated, reordered, corrupt, refused.",
		.commands = commands,
		.examples = "loadgen produce --bootstrap-server 127.0.0.1:9092 --topic t --rate 1000 --duration 10\n"
			    "loadgen fetch --bootstrap-server 127.0.0.1:9092 --topic t\n"
			    "loadgen run scenario.json --out out/run",
		.exits = {"as expected, every record accounted for", "an expectation or the verification failed",
			  "wrong usage, scenario, file or directory",
			  "the target cannot be reached, or the program itself failed",
			  "stopped, incomplete or inconclusive"},
	};

	lg_stop_on_signals();
	return kt_cli_run(&cli, argc, argv);
}
