#include "lib/wire/next_batch.h"

#include "lib/wire/set.h"

enum kw_next kw_next_batch(struct kw_slice *rest, struct kw_batch *batch, enum kw_rule *rule)
{
	struct kw_set set = {.p = rest->p, .n = rest->n};
	struct kw_entry entry;
	int code = kw_set_next(&set, &entry, NULL);

	*batch = (struct kw_batch){.p = rest->p,
				   .size = entry.size,
				   .baseOffset = entry.offset,
				   .length = entry.length,
				   .magic = entry.magic};
	if (code == KT_ECORRUPT) {
		*rule = entry.length < KW_E_MIN_LENGTH ? KW_R_RECORD_SIZE : KW_R_MAGIC;
		return KW_NEXT_BROKEN;
	}
	/* Kafka adds before it looks how much there is. */
	if (rest->n > KW_E_MAGIC && entry.size > INT32_MAX) {
		*rule = KW_R_SIZE_OVERFLOW;
		return KW_NEXT_BROKEN;
	}
	if (code <= 0)
		return KW_NEXT_NONE;
	kw_batch_parse(rest->p, entry.size, batch, NULL);
	rest->p += entry.size;
	rest->n -= entry.size;
	return KW_NEXT_BATCH;
}
