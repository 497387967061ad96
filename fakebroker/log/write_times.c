#include "fakebroker/log/write_times.h"

enum { LATEST = -1, EARLIEST = -2 };

static size_t count_segments(const struct fb_log *log)
{
	size_t n = 0;

	for (size_t i = log->first; i < log->n; i++)
		n += fb_log_begins_segment(log, i);
	return n;
}

/* Beginnings of segments with the time of their last write, then the end of the log; of an empty log its beginning
 * alone. Returns how many. */
static int32_t list_places(const struct fb_log *log, int64_t now, struct fb_write_time *places)
{
	int32_t n = 0;

	for (size_t i = log->first; i < log->n; i++) {
		const struct fb_entry *entry = &log->entries[i];
		int64_t base = fb_segment_base(entry);

		if (fb_log_begins_segment(log, i))
			places[n++].offset = base > log->logStartOffset ? base : log->logStartOffset;
		places[n - 1].ms = entry->appendedMs;
	}
	places[n] = (struct fb_write_time){log->logEndOffset, n ? now : log->now};
	return n + 1;
}

int fb_write_times_list(const struct fb_log *log, int64_t now, struct kw_arena *arena, struct fb_write_times *out)
{
	out->v = kw_alloc(arena, (count_segments(log) + 1) * sizeof *out->v);
	if (!out->v)
		return KT_ENOMEM;
	out->n = list_places(log, now, out->v);
	/* The newest that was written by then is wanted, and a clock may go back: now the times rise. */
	for (int32_t i = out->n - 1; i-- > 0;)
		if (out->v[i].ms > out->v[i + 1].ms)
			out->v[i].ms = out->v[i + 1].ms;
	return 0;
}

/* How many were written by then. */
static int32_t count_before(const struct fb_write_times *times, int64_t timestamp)
{
	int32_t low = 0, high = times->n;

	while (low < high) {
		int32_t mid = low + (high - low) / 2;

		if (times->v[mid].ms <= timestamp)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int32_t fb_write_times_before(const struct fb_write_times *times, int64_t timestamp, int32_t max,
			      struct kw_arena *arena, int64_t **offsets)
{
	int32_t n = timestamp == EARLIEST ? 1 : timestamp == LATEST ? times->n : count_before(times, timestamp);

	max = max < n ? max : n;
	*offsets = kw_alloc(arena, (size_t)max * sizeof **offsets);
	if (!*offsets)
		return KT_ENOMEM;
	for (int32_t i = 0; i < max; i++)
		(*offsets)[i] = times->v[n - 1 - i].offset;
	return max;
}
