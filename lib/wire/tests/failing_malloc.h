/* Memory that runs out when a test wants it: with --wrap, the linker puts these before malloc(), calloc() and realloc()
 * (see the Makefile). */
#ifndef KASSAY_WIRE_TESTS_FAILING_MALLOC_H
#define KASSAY_WIRE_TESTS_FAILING_MALLOC_H

#include <stdbool.h>

/* This thread's calls that go well before one fails, once; negative: all do. */
extern _Thread_local long failing_malloc_left;
/* Counts a call: is it the one that fails? */
bool failing_malloc_runs_out(void);

#endif
