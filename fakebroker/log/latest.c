#include "fakebroker/log/latest.h"

#include <stdlib.h>

#include "lib/text/err.h"

enum { FIRST_CAP = 64 };

void fb_latest_init(struct fb_latest *latest)
{
	*latest = (struct fb_latest){0};
	kw_arena_init(&latest->copies, 0);
}

void fb_latest_fini(struct fb_latest *latest)
{
	free(latest->v);
	kw_arena_fini(&latest->copies);
	fb_latest_init(latest);
}

static int reserve(struct fb_latest *latest)
{
	size_t cap = latest->cap ? latest->cap * 2 : FIRST_CAP;
	struct fb_latest_key *v;

	if (latest->n < latest->cap)
		return 0;
	v = realloc(latest->v, cap * sizeof *v);
	if (!v)
		return KT_ENOMEM;
	latest->v = v;
	latest->cap = cap;
	return 0;
}

int fb_latest_add(struct fb_latest *latest, struct kw_bytes key, int64_t offset, bool copy)
{
	if (reserve(latest) < 0)
		return KT_ENOMEM;
	if (copy) {
		uint8_t *p = kw_alloc(&latest->copies, (size_t)key.n);

		if (!p)
			return KT_ENOMEM;
		if (key.n > 0)
			memcpy(p, key.p, (size_t)key.n);
		key.p = p;
	}
	latest->v[latest->n++] = (struct fb_latest_key){key, offset};
	return 0;
}

static int by_key(struct kw_bytes a, struct kw_bytes b)
{
	return kw_str_cmp((struct kw_str){(const char *)a.p, a.n}, (struct kw_str){(const char *)b.p, b.n});
}

static int by_key_and_offset(const void *a, const void *b)
{
	const struct fb_latest_key *x = a, *y = b;
	int c = by_key(x->key, y->key);

	return c ? c : (x->offset > y->offset) - (x->offset < y->offset);
}

void fb_latest_sort(struct fb_latest *latest)
{
	size_t kept = 0;

	if (latest->n == 0)
		return;
	qsort(latest->v, latest->n, sizeof *latest->v, by_key_and_offset);
	for (size_t i = 1; i < latest->n; i++) {
		if (by_key(latest->v[i].key, latest->v[kept].key) != 0)
			kept++;
		latest->v[kept] = latest->v[i];
	}
	latest->n = kept + 1;
}

int64_t fb_latest_find(const struct fb_latest *latest, struct kw_bytes key)
{
	size_t low = 0, high = latest->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int c = by_key(latest->v[mid].key, key);

		if (c == 0)
			return latest->v[mid].offset;
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return -1;
}
