#include "fakebroker/config/message.h"

#include <stdio.h>

char *fb_vmessage(struct kw_arena *arena, const char *fmt, va_list ap)
{
	va_list again;
	char *text;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	text = n < 0 ? NULL : kw_alloc(arena, (size_t)n + 1);
	if (text)
		vsnprintf(text, (size_t)n + 1, fmt, ap);
	return text;
}

const char *fb_message_cut(const char *message, size_t most, struct kw_arena *arena)
{
	static const char dots[] = "...";
	size_t n = most - strlen(dots);

	if (!message || strlen(message) <= most)
		return message;
	while (n && ((uint8_t)message[n] & 0xc0) == 0x80)
		n--;
	return kw_sprintf(arena, "%.*s%s", (int)n, message, dots);
}
