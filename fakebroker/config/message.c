#include "fakebroker/config/message.h"

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
