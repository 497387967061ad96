/* A map from names to values, both copied, ordered by name. */
#ifndef KASSAY_FAKEBROKER_CONFIG_KVS_H
#define KASSAY_FAKEBROKER_CONFIG_KVS_H

#include "lib/text/err.h"
#include "lib/wire/types.h"

struct fb_kv {
	struct kw_str name, value;   /* neither is null */
};

struct fb_kvs {
	struct fb_kv *v;
	size_t n, cap;
};

void fb_kvs_fini(struct fb_kvs *kvs);
/* Null if the name is not there. */
struct kw_str fb_kvs_get(const struct fb_kvs *kvs, struct kw_str name);
/* 0 or KT_ENOMEM. */
int fb_kvs_set(struct fb_kvs *kvs, struct kw_str name, struct kw_str value);
void fb_kvs_del(struct fb_kvs *kvs, struct kw_str name);

/* A copy from malloc, NUL-terminated; a null one when memory is exhausted. */
struct kw_str fb_str_dup(struct kw_str text);
void fb_str_free(struct kw_str text);

#endif
