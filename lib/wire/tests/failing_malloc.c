#include "lib/wire/tests/failing_malloc.h"

#include <stddef.h>

_Thread_local long failing_malloc_left = -1;

bool failing_malloc_runs_out(void)
{
	return failing_malloc_left >= 0 && failing_malloc_left-- == 0;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

void *__wrap_malloc(size_t n)
{
	return failing_malloc_runs_out() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return failing_malloc_runs_out() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	return failing_malloc_runs_out() ? NULL : __real_realloc(p, n);
}
