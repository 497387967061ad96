#include "lib/wire/next_batch.h"

#include "lib/wire/set.h"

enum kw_next kw_next_batch(struct kw_slice *rest, struct kw_batch *batch, enum kw_rule *rule)
{
	struct kw_set set = {.p = rest->p, .n = rest->n};
	struct kw_entry entry;
	struct kt_err err = {0};
	int code = kw_set_next(&set, &entry, &err);

	*batch = (struct kw_batch){.p = rest->p,
				   .size = entry.size,
				   .baseOffset = entry.offset,
				   .length = entry.length,
				   .magic = entry.magic};
	if (code == KT_ECORRUPT) {
		*rule = err.offset == KW_E_MAGIC ? KW_R_MAGIC : KW_R_RECORD_SIZE;
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
