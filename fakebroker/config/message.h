/* Error messages must fit into a string of the protocol. */
#ifndef KASSAY_FAKEBROKER_CONFIG_MESSAGE_H
#define KASSAY_FAKEBROKER_CONFIG_MESSAGE_H

#include <stdarg.h>

#include "lib/wire/arena.h"

enum { FB_MESSAGE_MAX = 32767 };

/* vsprintf into the arena; NULL when memory is exhausted. */
char *fb_vmessage(struct kw_arena *arena, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

/* The message itself if it has at most `most` bytes; else a copy that ends with "..." and in no half of a UTF-8
 * character. NULL stays NULL, and comes back when memory is exhausted. */
const char *fb_message_cut(const char *message, size_t most, struct kw_arena *arena);

static inline const char *fb_message_cap(const char *message, struct kw_arena *arena)
{
	return fb_message_cut(message, FB_MESSAGE_MAX, arena);
}

#endif
