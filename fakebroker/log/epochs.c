#include "fakebroker/log/epochs.h"

#include <stdlib.h>

#include "lib/text/err.h"

void fb_epochs_fini(struct fb_epochs *epochs)
{
	free(epochs->v);
}

int fb_epochs_begin(struct fb_epochs *epochs, int32_t epoch, int64_t logEndOffset)
{
	struct fb_epoch *v = realloc(epochs->v, (epochs->n + 1) * sizeof *v);

	if (!v)
		return KT_ENOMEM;
	epochs->v = v;
	while (epochs->n && v[epochs->n - 1].start >= logEndOffset)
		epochs->n--;
	v[epochs->n++] = (struct fb_epoch){epoch, logEndOffset};
	return 0;
}

int32_t fb_epochs_at(const struct fb_epochs *epochs, int64_t offset)
{
	size_t above = epochs->n;

	while (above > 0 && epochs->v[above - 1].start > offset)
		above--;
	return above > 0 ? epochs->v[above - 1].epoch : -1;
}

struct fb_epoch fb_epochs_end(const struct fb_epochs *epochs, int32_t epoch, int64_t logStartOffset,
			      int64_t logEndOffset)
{
	struct fb_epoch found = {epoch, logEndOffset};
	size_t above = epochs->n;

	if (epoch == -1 || epochs->n == 0 || epoch > epochs->v[epochs->n - 1].epoch)
		return (struct fb_epoch){-1, -1};
	while (above > 0 && epochs->v[above - 1].epoch > epoch)
		above--;
	if (above < epochs->n) {
		found.start = epochs->v[above].start;
		if (above > 0 && found.start > logStartOffset)
			found.epoch = epochs->v[above - 1].epoch;
		if (found.start < logStartOffset)
			found.start = logStartOffset;
	}
	return found;
}
