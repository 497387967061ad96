/* Once a second while a phase runs: a line in the histogram log, and one on the terminal. */
#ifndef KASSAY_LOADGEN_TICKER_H
#define KASSAY_LOADGEN_TICKER_H

#include "loadgen/load.h"

struct lg_ticker;

/* Can out/PHASE.hlog be written? It is empty afterwards. KT_EFILE. */
int lg_ticker_try(const struct lg_phase *phase, const char *out, struct kt_err *err);
/* Logs to out/PHASE.hlog unless out is NULL; shows progress on stderr if asked. KT_EFILE, KT_ENOMEM, KT_ESYS. */
int lg_ticker_start(struct lg_load *load, const char *out, bool progress, struct lg_ticker **ticker,
		    struct kt_err *err);
/* Logs what is left, clears the line, and frees the ticker, which may be NULL. Returns an error of writing. */
int lg_ticker_stop(struct lg_ticker *ticker, struct kt_err *err);

#endif
