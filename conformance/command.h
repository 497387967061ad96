/* The commands of the program; each gets its own name and what follows it, and returns the exit code. */
#ifndef KASSAY_CONFORMANCE_COMMAND_H
#define KASSAY_CONFORMANCE_COMMAND_H

#include "conformance/case.h"
#include "lib/text/opt.h"

/* X(name, function, help) */
#define CF_COMMANDS(X)                                                                                        \
	X(run, cf_command_run, "run the suite against a broker")                                              \
	X(list, cf_command_list, "the cases, one a line")                                                     \
	X(show, cf_command_show, "a case: what it sends, what may come back, which requirement it proves")    \
	X(requirements, cf_command_requirements, "the register, with the cases that prove each requirement")  \
	X(probe, cf_command_probe, "what a broker can do, as far as cases ask for it")                        \
	X(replay, cf_command_replay, "send an incident, a case or a capture again")                             \
	X(inspect, cf_command_inspect, "what lies in a segment, a batch or a frame, and which byte is wrong") \
	X(capture, cf_command_capture, "batches of a live broker into a file, as they are")                   \
	X(report, cf_command_report, "one page from several results: the matrix of targets and cases")        \
	X(mutants, cf_command_mutants, "test the suite: which cases notice which mutant of the fakebroker")   \
	X(diff, cf_command_diff, "two brokers, and requests made by chance: where do they differ?")             \
	X(lint, cf_command_lint, "check the cases and the register")

#define CF_X(name, fn, help) int fn(int argc, char **argv);
CF_COMMANDS(CF_X)
#undef CF_X

/* The option --data, for a table of options. */
#define CF_DATA_OPTION(to) KT_STR(0, "data", "DIR", (to), "directory with requirements/, cases/ and profiles/")

/* Loads the suite and tells on stderr, as `program`, of every file that is not right. Returns 0 or the exit code. */
int cf_load_or_complain(struct cf_suite *suite, const char *data, const char *program);

#endif
