#include "conformance/inspect/segment.h"

#include <stdlib.h>

#include "lib/wire/control.h"
#include "lib/wire/record_time.h"

static int see_marker(void *arg, int32_t index, const struct kw_item *item)
{
	bool *abort = arg;
	int type;

	(void)index;
	*abort = kw_control_read_key(item->key, NULL, &type, NULL) == 0 && type == KW_CONTROL_ABORT;
	return 1;
}

static void read_batch(const struct kw_entry *entry, struct cf_batch_place *place)
{
	struct kw_batch batch;
	struct kw_legacy message;
	enum kw_walk why;

	*place = (struct cf_batch_place){.at = entry->at,
					 .first = entry->offset,
					 .last = entry->offset,
					 .producerId = -1,
					 .leaderEpoch = -1,
					 .maxTimestamp = KW_NO_TIMESTAMP};
	if (entry->magic < 2) {
		if (kw_legacy_parse(entry->p, entry->size, &message, NULL) == 0)
			place->maxTimestamp = message.timestamp;
		return;
	}
	if (kw_batch_parse(entry->p, entry->size, &batch, NULL))
		return;
	place->last = kw_record_offset(&batch, batch.lastOffsetDelta);
	place->maxTimestamp = batch.maxTimestamp;
	place->producerId = batch.producerId;
	place->leaderEpoch = batch.partitionLeaderEpoch;
	if (batch.attributes & KW_A_CONTROL)
		kw_entry_walk(entry, NULL, see_marker, &place->abort, &why, NULL);
}

/* Behind the greatest offset comes none. */
static bool follows(int64_t offset, int64_t before)
{
	return before < INT64_MAX && offset == before + 1;
}

/* In a log a message of magic 0 or 1 that is compressed has the offset of its last record. */
static void add(struct cf_segment *segment, const struct kw_entry *entry)
{
	struct cf_batch_place *place = &segment->v[segment->n], *before = segment->n ? place - 1 : NULL;

	read_batch(entry, place);
	if (before && entry->magic < 2 && kw_entry_codec(entry) != KW_NONE && before->last < place->last)
		place->first = before->last + 1;
	place->maxSoFar = before && before->maxSoFar > place->maxTimestamp ? before->maxSoFar : place->maxTimestamp;
	if (before ? !follows(place->first, before->last) : place->first != segment->first_offset)
		segment->holes = true;
	segment->n++;
	segment->end = entry->at + entry->size;
}

int cf_segment_read(struct cf_segment *segment, const struct kw_slice *bytes, int64_t first_offset, struct kt_err *err)
{
	struct kw_set set = {.p = bytes->p, .n = bytes->n};
	struct kw_entry entry;
	size_t cap = 0;

	*segment = (struct cf_segment){.first_offset = first_offset};
	while (kw_set_next(&set, &entry, NULL) > 0) {
		struct cf_batch_place *grown = segment->v;

		if (segment->n == cap) {
			cap = cap ? 2 * cap : 64;
			grown = realloc(segment->v, cap * sizeof *grown);
			if (!grown) {
				cf_segment_fini(segment);
				return kt_fail(err, KT_ENOMEM, "out of memory at batch %zu", segment->n);
			}
		}
		segment->v = grown;
		if (segment->first_offset < 0)
			segment->first_offset = entry.offset;
		add(segment, &entry);
	}
	return 0;
}

void cf_segment_fini(struct cf_segment *segment)
{
	free(segment->v);
	*segment = (struct cf_segment){0};
}

const struct cf_batch_place *cf_segment_at(const struct cf_segment *segment, size_t at)
{
	size_t low = 0, high = segment->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (segment->v[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < segment->n && segment->v[low].at == at ? &segment->v[low] : NULL;
}

const struct cf_batch_place *cf_segment_holding(const struct cf_segment *segment, int64_t offset)
{
	size_t low = 0, high = segment->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (segment->v[middle].last < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < segment->n && segment->v[low].first <= offset ? &segment->v[low] : NULL;
}
