#include "fakebroker/log/next_batch.h"

#include "fakebroker/mutants.h"
#include "lib/wire/batch.h"

enum { UP_TO_MAGIC = KW_B_MAGIC + 1, MAX_MAGIC = 2 };

enum fb_next fb_next_batch(struct kw_slice *rest, struct kw_arena *arena, struct kw_slice *batch, const char **message)
{
	int32_t length;
	int8_t magic;

	if (rest->n < KW_B_LOG_OVERHEAD)
		return FB_NEXT_NONE;
	length = (int32_t)kw_rd32(rest->p + KW_B_LENGTH);
	if (fb_mutant(FB_M_SHORT_LENGTH_ENDS) && length < KW_B_MIN_LEGACY)
		return FB_NEXT_NONE;
	if (length < KW_B_MIN_LEGACY) {
		*message = kw_sprintf(arena, "Record size %d is less than the minimum record overhead (%d)", length,
				      KW_B_MIN_LEGACY);
		return FB_NEXT_CORRUPT;
	}
	if (rest->n < UP_TO_MAGIC)
		return FB_NEXT_NONE;
	magic = (int8_t)rest->p[KW_B_MAGIC];
	if (fb_mutant(FB_M_MAGIC_ENDS) && magic > MAX_MAGIC)
		return FB_NEXT_NONE;
	if (fb_mutant(FB_M_MAGIC_SIGN_UNCHECKED) && magic < 0)
		magic = MAX_MAGIC;
	if (magic < 0 || magic > MAX_MAGIC) {
		*message = kw_sprintf(arena, "Invalid magic found in record: %d", magic);
		return FB_NEXT_CORRUPT;
	}
	if (length > INT32_MAX - KW_B_LOG_OVERHEAD && !fb_mutant(FB_M_LENGTH_OVERFLOW_ENDS)) {
		int32_t wrapped = (int32_t)((uint32_t)length + KW_B_LOG_OVERHEAD);

		*message = kw_sprintf(arena, "newLimit < 0: (%d < 0)", wrapped);
		return FB_NEXT_OVERFLOW;
	}
	if (rest->n < (size_t)length + KW_B_LOG_OVERHEAD)
		return FB_NEXT_NONE;
	*batch = (struct kw_slice){rest->p, (size_t)length + KW_B_LOG_OVERHEAD};
	rest->p += batch->n;
	rest->n -= batch->n;
	return FB_NEXT_BATCH;
}
