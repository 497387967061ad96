/* How clients found offsets by time before records had timestamps: by when the segments were written. */
#include "fakebroker/log/log.h"

enum { LATEST = -1, EARLIEST = -2 };

struct place {
	int64_t offset, ms;
};

static size_t count_segments(const struct fb_log *log)
{
	size_t n = 0;

	for (size_t i = log->first; i < log->n; i++)
		n += fb_log_begins_segment(log, i);
	return n;
}

/* Beginnings of segments with the time of their last write, then the end of the log; of an empty log its beginning
 * alone. Returns how many. */
static int32_t list_places(const struct fb_log *log, int64_t now, struct place *places)
{
	int32_t n = 0;

	for (size_t i = log->first; i < log->n; i++) {
		const struct fb_entry *entry = &log->entries[i];
		int64_t base = fb_segment_base(entry);

		if (fb_log_begins_segment(log, i))
			places[n++].offset = base > log->logStartOffset ? base : log->logStartOffset;
		places[n - 1].ms = entry->appendedMs;
	}
	places[n] = (struct place){log->logEndOffset, n ? now : log->now};
	return n + 1;
}

int32_t fb_log_offsets_before(const struct fb_log *log, int64_t timestamp, int64_t now, int32_t max,
			      struct kw_arena *arena, int64_t **offsets)
{
	struct place *places = kw_alloc(arena, (count_segments(log) + 1) * sizeof *places);
	int32_t n;

	if (!places)
		return KT_ENOMEM;
	n = list_places(log, now, places);
	if (timestamp == EARLIEST)
		n = 1;
	while (timestamp != EARLIEST && timestamp != LATEST && n > 0 && places[n - 1].ms > timestamp)
		n--;
	max = max < n ? max : n;
	*offsets = kw_alloc(arena, (size_t)max * sizeof **offsets);
	if (!*offsets)
		return KT_ENOMEM;
	for (int32_t i = 0; i < max; i++)
		(*offsets)[i] = places[n - 1 - i].offset;
	return max;
}
