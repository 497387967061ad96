/* Random messages for the tests of the codec: any message in any version, the same for the same seed. */
#ifndef KASSAY_WIRE_TESTS_RANDOM_MESSAGE_H
#define KASSAY_WIRE_TESTS_RANDOM_MESSAGE_H

#include "lib/wire/message.h"

struct random_source {
	uint64_t state;            /* the seed, not 0 */
	bool unknown_tags;         /* also tagged fields that the schema lacks; JSON cannot carry those */
};

/* A number below n. */
uint32_t random_below(struct random_source *src, uint32_t n);
/* A struct of the message in the arena; strings are UTF-8. Fields of the version are set, tagged ones not always. */
void *random_message(struct random_source *src, const struct kw_msg *msg, int version, struct kw_arena *arena);

#endif
