#include "fakebroker/log/lax.h"

#include "lib/wire/set.h"

/* Bytes of the set up to the first that begin no batch. */
static size_t batches(const uint8_t *p, size_t n)
{
	struct kw_set set = {.p = p, .n = n};
	struct kw_entry entry;
	size_t at = 0;

	while (kw_set_next(&set, &entry, NULL) > 0 && entry.magic == 2 && entry.size >= KW_B_RECORDS)
		at = set.at;
	return at;
}

int fb_log_append_lax(struct fb_log *log, const uint8_t *p, size_t n, int32_t leaderEpoch)
{
	size_t whole = batches(p, n);
	struct kt_err err = {0};
	int code = fb_log_append_set(log, p, whole, false, leaderEpoch, &err);

	return code || whole == n ? code : fb_log_append_opaque(log, p + whole, n - whole);
}
