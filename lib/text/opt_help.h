/* The help text of a command line, for opt.c. */
#ifndef KASSAY_TEXT_OPT_HELP_H
#define KASSAY_TEXT_OPT_HELP_H

#include "lib/text/opt.h"

/* The options that every program has. */
extern const struct kt_opt kt_opt_own[];

void kt_opt_print_help(const struct kt_cli *cli, FILE *out);

#endif
