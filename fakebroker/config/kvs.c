#include "fakebroker/config/kvs.h"

#include <stdlib.h>

struct kw_str fb_str_dup(struct kw_str text)
{
	char *copy = malloc((size_t)text.n + 1);

	if (!copy)
		return KW_NULL_STR;
	if (text.n)
		memcpy(copy, text.s, (size_t)text.n);
	copy[text.n] = '\0';
	return (struct kw_str){copy, text.n};
}

void fb_str_free(struct kw_str text)
{
	free((char *)text.s);
}

void fb_kvs_fini(struct fb_kvs *kvs)
{
	for (size_t i = 0; i < kvs->n; i++) {
		fb_str_free(kvs->v[i].name);
		fb_str_free(kvs->v[i].value);
	}
	free(kvs->v);
	*kvs = (struct fb_kvs){0};
}

/* Index of the name, or of where it belongs. */
static size_t lower_bound(const struct fb_kvs *kvs, struct kw_str name, bool *found)
{
	size_t from = 0, to = kvs->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (kw_str_cmp(kvs->v[mid].name, name) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	*found = from < kvs->n && kw_str_eq(kvs->v[from].name, name);
	return from;
}

struct kw_str fb_kvs_get(const struct fb_kvs *kvs, struct kw_str name)
{
	bool found;
	size_t at = lower_bound(kvs, name, &found);

	return found ? kvs->v[at].value : KW_NULL_STR;
}

static int grow(struct fb_kvs *kvs)
{
	size_t cap = kvs->cap ? kvs->cap * 2 : 4;
	struct fb_kv *v;

	if (kvs->n < kvs->cap)
		return 0;
	v = realloc(kvs->v, cap * sizeof *v);
	if (!v)
		return KT_ENOMEM;
	kvs->v = v;
	kvs->cap = cap;
	return 0;
}

int fb_kvs_set(struct fb_kvs *kvs, struct kw_str name, struct kw_str value)
{
	struct fb_kv kv = {.value = fb_str_dup(value)};
	bool found;
	size_t at = lower_bound(kvs, name, &found);

	if (kv.value.n < 0)
		return KT_ENOMEM;
	if (found) {
		fb_str_free(kvs->v[at].value);
		kvs->v[at].value = kv.value;
		return 0;
	}
	kv.name = fb_str_dup(name);
	if (kv.name.n < 0 || grow(kvs)) {
		fb_str_free(kv.name);
		fb_str_free(kv.value);
		return KT_ENOMEM;
	}
	memmove(kvs->v + at + 1, kvs->v + at, (kvs->n - at) * sizeof *kvs->v);
	kvs->v[at] = kv;
	kvs->n++;
	return 0;
}

void fb_kvs_del(struct fb_kvs *kvs, struct kw_str name)
{
	bool found;
	size_t at = lower_bound(kvs, name, &found);

	if (!found)
		return;
	fb_str_free(kvs->v[at].name);
	fb_str_free(kvs->v[at].value);
	memmove(kvs->v + at, kvs->v + at + 1, (kvs->n - at - 1) * sizeof *kvs->v);
	kvs->n--;
}
