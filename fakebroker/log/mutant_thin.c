#include "fakebroker/log/mutant_thin.h"

#include "fakebroker/mutants.h"

/* ---- which records stay ---- */

static enum fb_mutant_choice tombstone_stays(const struct fb_thinning *how, const struct kw_batch *batch,
					     int64_t offset, struct kw_bytes key)
{
	bool latest = offset >= fb_latest_find(how->latest, key);
	bool due = batch->attributes & KW_A_DELETE_HORIZON && how->now >= batch->baseTimestamp;

	if (fb_mutant(FB_M_TOMBSTONES_AT_ONCE))
		return FB_MUTANT_GOES;
	if (fb_mutant(FB_M_TOMBSTONES_FOR_EVER) && latest)
		return FB_MUTANT_STAYS;
	if (fb_mutant(FB_M_OLD_TOMBSTONES_STAY) && !due)
		return FB_MUTANT_STAYS;
	return FB_MUTANT_HAS_NO_SAY;
}

enum fb_mutant_choice fb_mutant_keeps(const struct fb_thinning *how, const struct kw_batch *batch,
				      const struct kw_record *record)
{
	if (fb_mutant(FB_M_KEYLESS_STAY) && record->key.n < 0)
		return FB_MUTANT_STAYS;
	if (fb_mutant(FB_M_EMPTY_KEYS_GO) && record->key.n == 0)
		return FB_MUTANT_GOES;
	if (record->value.n < 0 && record->key.n >= 0)
		return tombstone_stays(how, batch, batch->baseOffset + record->offsetDelta, record->key);
	return FB_MUTANT_HAS_NO_SAY;
}

/* ---- how they are written ---- */

void fb_mutant_record(struct kw_record *record, struct kw_batch_spec *spec, int64_t offset, int32_t written)
{
	if (fb_mutant(FB_M_RECORD_HEADERS_LOST))
		record->nheaders = 0;
	if (fb_mutant(FB_M_OFFSETS_RENUMBERED))
		record->offsetDelta = written;
	if (fb_mutant(FB_M_BASE_OFFSET_MOVES)) {
		if (written == 0)
			spec->baseOffset = offset;
		record->offsetDelta = (int32_t)(offset - spec->baseOffset);
	}
}

void fb_mutant_header(struct kw_batch_spec *spec, const struct kw_batch *batch, int64_t last, int32_t *lastOffsetDelta)
{
	if (fb_mutant(FB_M_BASE_OFFSET_MOVES))
		*lastOffsetDelta -= (int32_t)(spec->baseOffset - batch->baseOffset);
	if (fb_mutant(FB_M_LAST_OFFSET_SHRINKS) && last >= 0)
		*lastOffsetDelta = (int32_t)(last - spec->baseOffset);
	if (fb_mutant(FB_M_CODEC_LOST))
		spec->attributes &= ~KW_A_CODEC;
	if (fb_mutant(FB_M_CLEANED_EPOCH_LOST))
		spec->partitionLeaderEpoch = -1;
	if (fb_mutant(FB_M_MAX_TIMESTAMP_STAYS))
		spec->maxTimestamp = batch->maxTimestamp;
	if (fb_mutant(FB_M_PRODUCER_LOST)) {
		spec->producerId = -1;
		spec->producerEpoch = -1;
	}
	if (fb_mutant(FB_M_SEQUENCE_LOST))
		spec->baseSequence = -1;
}
