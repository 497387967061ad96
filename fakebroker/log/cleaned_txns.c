#include "fakebroker/log/cleaned_txns.h"

#include <stdlib.h>

#include "lib/wire/control.h"

enum { FIRST_CAP = 16 };

struct fb_cleaned_txn {
	int64_t producerId;
	bool committed;             /* a batch was met that is of no aborted transaction */
	bool aborted;               /* a row is in force: */
	bool seen;                  /* a batch of it was met */
	struct fb_aborted row;
};

static int by_first_offset(const void *a, const void *b)
{
	const struct fb_aborted *x = a, *y = b;

	return (x->firstOffset > y->firstOffset) - (x->firstOffset < y->firstOffset);
}

int fb_cleaned_txns_init(struct fb_cleaned_txns *cleaned, const struct fb_txns *txns, int64_t from)
{
	*cleaned = (struct fb_cleaned_txns){0};
	cleaned->rows = calloc(txns->n + 1, sizeof *cleaned->rows);
	cleaned->kept = calloc(txns->n + 1, sizeof *cleaned->kept);
	if (!cleaned->rows || !cleaned->kept) {
		fb_cleaned_txns_fini(cleaned);
		return KT_ENOMEM;
	}
	for (size_t i = 0; i < txns->n; i++)
		if (txns->aborted[i].lastOffset >= from)
			cleaned->rows[cleaned->nrows++] = txns->aborted[i];
	qsort(cleaned->rows, cleaned->nrows, sizeof *cleaned->rows, by_first_offset);
	return 0;
}

void fb_cleaned_txns_fini(struct fb_cleaned_txns *cleaned)
{
	free(cleaned->rows);
	free(cleaned->kept);
	free(cleaned->v);
	*cleaned = (struct fb_cleaned_txns){0};
}

static int reserve(struct fb_cleaned_txns *cleaned)
{
	size_t cap = cleaned->cap ? cleaned->cap * 2 : FIRST_CAP;
	struct fb_cleaned_txn *v;

	if (cleaned->n < cleaned->cap)
		return 0;
	v = realloc(cleaned->v, cap * sizeof *v);
	if (!v)
		return KT_ENOMEM;
	cleaned->v = v;
	cleaned->cap = cap;
	return 0;
}

/* The producer's place, made if need be; NULL without memory. Lives until the next one is made. */
static struct fb_cleaned_txn *find_or_add(struct fb_cleaned_txns *cleaned, int64_t producerId)
{
	size_t low = 0, high = cleaned->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (cleaned->v[mid].producerId < producerId)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < cleaned->n && cleaned->v[low].producerId == producerId)
		return &cleaned->v[low];
	if (reserve(cleaned) < 0)
		return NULL;
	memmove(&cleaned->v[low + 1], &cleaned->v[low], (cleaned->n - low) * sizeof *cleaned->v);
	cleaned->n++;
	cleaned->v[low] = (struct fb_cleaned_txn){.producerId = producerId};
	return &cleaned->v[low];
}

/* Aborted transactions that begin up to this offset come into force. */
static int advance(struct fb_cleaned_txns *cleaned, int64_t offset)
{
	for (; cleaned->next < cleaned->nrows && cleaned->rows[cleaned->next].firstOffset <= offset; cleaned->next++) {
		const struct fb_aborted *row = &cleaned->rows[cleaned->next];
		struct fb_cleaned_txn *txn = find_or_add(cleaned, row->producerId);

		if (!txn)
			return KT_ENOMEM;
		if (txn->aborted)
			continue;
		txn->aborted = true;
		txn->seen = false;
		txn->row = *row;
	}
	return 0;
}

static int64_t last_offset(const struct kw_batch *batch)
{
	return batch->baseOffset + batch->lastOffsetDelta;
}

int fb_cleaned_txns_data(struct fb_cleaned_txns *cleaned, const struct kw_batch *batch)
{
	struct fb_cleaned_txn *txn;

	if (advance(cleaned, last_offset(batch)) < 0)
		return KT_ENOMEM;
	if (!(batch->attributes & KW_A_TRANSACTIONAL))
		return 0;
	txn = find_or_add(cleaned, batch->producerId);
	if (!txn)
		return KT_ENOMEM;
	if (txn->aborted)
		txn->seen = true;
	else
		txn->committed = true;
	return txn->aborted;
}

static int abort_marker(struct fb_cleaned_txns *cleaned, struct fb_cleaned_txn *txn)
{
	bool stays = txn->aborted && txn->seen;

	if (stays)
		cleaned->kept[cleaned->nkept++] = txn->row;
	txn->aborted = false;
	return !stays;
}

static int commit_marker(struct fb_cleaned_txn *txn)
{
	bool stays = txn->committed;

	txn->committed = false;
	return !stays;
}

int fb_cleaned_txns_marker(struct fb_cleaned_txns *cleaned, const struct kw_batch *batch, int type)
{
	struct fb_cleaned_txn *txn;

	if (advance(cleaned, last_offset(batch)) < 0)
		return KT_ENOMEM;
	if (type < 0)
		return 1;
	if (type != KW_CONTROL_ABORT && type != KW_CONTROL_COMMIT)
		return 0;
	txn = find_or_add(cleaned, batch->producerId);
	if (!txn)
		return KT_ENOMEM;
	return type == KW_CONTROL_ABORT ? abort_marker(cleaned, txn) : commit_marker(txn);
}

static bool is_kept(const struct fb_cleaned_txns *cleaned, const struct fb_aborted *row)
{
	size_t low = 0, high = cleaned->nkept;

	/* Markers are met in order. */
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (cleaned->kept[mid].lastOffset < row->lastOffset)
			low = mid + 1;
		else
			high = mid;
	}
	return low < cleaned->nkept && cleaned->kept[low].lastOffset == row->lastOffset;
}

void fb_cleaned_txns_apply(const struct fb_cleaned_txns *cleaned, struct fb_txns *txns, int64_t end)
{
	size_t n = 0;

	for (size_t i = 0; i < txns->n; i++)
		if (txns->aborted[i].lastOffset >= end || is_kept(cleaned, &txns->aborted[i]))
			txns->aborted[n++] = txns->aborted[i];
	txns->n = n;
}
