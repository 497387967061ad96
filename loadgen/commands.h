/* The sub-commands: each gets its name and what follows it, and returns the program's exit code. */
#ifndef KASSAY_LOADGEN_COMMANDS_H
#define KASSAY_LOADGEN_COMMANDS_H

#include "loadgen/run.h"

int lg_cmd_produce(int argc, char **argv);
int lg_cmd_fetch(int argc, char **argv);
int lg_cmd_run(int argc, char **argv);
int lg_cmd_cost(int argc, char **argv);
int lg_cmd_report(int argc, char **argv);

/* Runs a plan, prints the report, writes result.json to out if not NULL. */
int lg_execute(const char *program, struct lg_plan *plan, const char *out, bool tell_steps);
/* Exit code of an error that kept a run from starting. */
int lg_exit_of(const struct kt_err *err);

#endif
