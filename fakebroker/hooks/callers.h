/* Which threads are inside which observer. Whoever calls one says so in a place of its thread's own, so that a call
 * takes neither a lock nor an atomic read-modify-write; whoever closes one looks through the places, and pays for both.
 *
 * A caller stores where it is and then looks whether it may be there (is the observer still in its place, is it
 * closing); who closes stores the latter and then looks at the former. Both need a barrier between the two, or each may
 * miss what the other stored. The caller's is left to the closing side, which has Linux put one into every thread that
 * runs (membarrier(2)). Where that call is refused, as by an old kernel or a seccomp filter, the caller's store is a
 * barrier itself.
 *
 * A thread is inside one thing at a time. It is known from its first call to its end. In a child of fork() the
 * threads of the parent would count as inside for ever: it may not close an observer.
 */
#ifndef KASSAY_FAKEBROKER_HOOKS_CALLERS_H
#define KASSAY_FAKEBROKER_HOOKS_CALLERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct fb_caller {
	_Atomic(const void *) inside;      /* what it calls, or NULL */
	atomic_size_t at;                  /* part of it that it has come to, from 0 */
	bool known;                        /* it is in the list */
	struct fb_caller *next;
};

/* How many wait in fb_callers_wait(); membarrier() is refused. */
extern atomic_int fb_callers_awaited;
extern atomic_bool fb_callers_fenced;

/* What the first of the other calls would do. Where threads run already, Linux takes some 20 ms to make membarrier()
 * ready: too long for a request, so whoever makes something to call calls this. */
void fb_callers_prepare(void);

/* The place of this thread, and what puts it into the list. */
extern _Thread_local struct fb_caller fb_caller_own;
__attribute__((cold)) void fb_caller_enlist(void);

static inline struct fb_caller *fb_caller_here(void)
{
	if (!fb_caller_own.known)
		fb_caller_enlist();
	return &fb_caller_own;
}

/* NULL: inside nothing. Stored twice where it is fenced: so the usual way has no branch before its store. */
static inline void fb_caller_is_inside(struct fb_caller *caller, const void *what)
{
	atomic_store_explicit(&caller->inside, what, memory_order_release);
	if (__builtin_expect(atomic_load_explicit(&fb_callers_fenced, memory_order_relaxed), false))
		atomic_store_explicit(&caller->inside, what, memory_order_seq_cst);
	atomic_signal_fence(memory_order_seq_cst);
}

static inline void fb_caller_enter(struct fb_caller *caller, const void *what, size_t at)
{
	atomic_store_explicit(&caller->at, at, memory_order_relaxed);
	fb_caller_is_inside(caller, what);
}

/* Tells those who wait. */
__attribute__((cold)) void fb_callers_tell(void);

static inline void fb_caller_goes_on(struct fb_caller *caller, size_t at)
{
	atomic_store_explicit(&caller->at, at, memory_order_release);
	if (__builtin_expect(atomic_load_explicit(&fb_callers_fenced, memory_order_relaxed), false))
		atomic_store_explicit(&caller->at, at, memory_order_seq_cst);
	atomic_signal_fence(memory_order_seq_cst);
	if (atomic_load(&fb_callers_awaited))
		fb_callers_tell();
}

static inline void fb_caller_leave(struct fb_caller *caller)
{
	fb_caller_is_inside(caller, NULL);
	if (atomic_load(&fb_callers_awaited))
		fb_callers_tell();
}

/* Waits until no thread is inside `what`, at this part of it or an earlier one. What callers look at to stay away
 * must have been stored before. */
void fb_callers_wait(const void *what, size_t at);

#endif
