/* The reader and the writer of the straight-line code. Both are meant to live in registers: all is inlined but what
 * seldom happens. After a failure a reader has nothing left, so that later reads fail as well, and `code` is set. */
#ifndef KASSAY_WIRE_BENCH_STRAIGHT_CURSOR_H
#define KASSAY_WIRE_BENCH_STRAIGHT_CURSOR_H

#include "lib/text/err.h"
#include "lib/wire/bench/straight.h"
#include "lib/wire/varint.h"

#define INLINE static inline
#define RARE static __attribute__((noinline, unused))

/* ---- reading ---- */

struct reader {
	const uint8_t *p, *end;
	int code;
};

INLINE size_t left(const struct reader *r)
{
	return (size_t)(r->end - r->p);
}

INLINE void broke(struct reader *r, int code)
{
	if (!r->code)
		r->code = code;
	r->end = r->p;
}

INLINE bool has(struct reader *r, size_t n)
{
	if (__builtin_expect(left(r) >= n, 1))
		return true;
	broke(r, KT_ETRUNC);
	return false;
}

INLINE uint8_t get8(struct reader *r)
{
	return has(r, 1) ? *r->p++ : 0;
}

INLINE uint16_t get16(struct reader *r)
{
	if (!has(r, 2))
		return 0;
	r->p += 2;
	return kw_rd16(r->p - 2);
}

INLINE uint32_t get32(struct reader *r)
{
	if (!has(r, 4))
		return 0;
	r->p += 4;
	return kw_rd32(r->p - 4);
}

INLINE uint64_t get64(struct reader *r)
{
	if (!has(r, 8))
		return 0;
	r->p += 8;
	return kw_rd64(r->p - 8);
}

INLINE struct kw_uuid get_uuid(struct reader *r)
{
	struct kw_uuid id = {{0}};

	if (has(r, 16)) {
		memcpy(id.b, r->p, 16);
		r->p += 16;
	}
	return id;
}

INLINE uint32_t get_uvarint(struct reader *r)
{
	uint32_t v = 0;
	int used = kw_get_uvarint(r->p, r->end, &v);

	if (__builtin_expect(used <= 0, 0)) {
		broke(r, used ? KT_ECORRUPT : KT_ETRUNC);
		return 0;
	}
	r->p += used;
	return v;
}

/* A compact length, at most `most`: -1 is null. */
INLINE int32_t get_length(struct reader *r, bool nullable, int32_t most)
{
	int32_t n = (int32_t)(get_uvarint(r) - 1);

	if (n < 0) {
		if (!nullable)
			broke(r, KT_ECORRUPT);
		return -1;
	}
	if (n > most)
		broke(r, KT_ECORRUPT);
	return has(r, (size_t)n) ? n : 0;
}

INLINE struct kw_str get_string(struct reader *r, bool nullable)
{
	int32_t n = get_length(r, nullable, 0x7fff);
	struct kw_str str = {(const char *)r->p, n};

	r->p += n > 0 ? n : 0;
	return str;
}

INLINE struct kw_records get_records(struct reader *r)
{
	int32_t n = get_length(r, true, INT32_MAX);
	struct kw_records records = {.p = r->p, .n = n};

	r->p += n > 0 ? n : 0;
	return records;
}

/* The count of an array and its memory; `least` is the fewest bytes that an element takes. */
INLINE int32_t get_array(struct reader *r, bool nullable, size_t least, struct kw_arena *arena, size_t size, void **v)
{
	int32_t n = (int32_t)(get_uvarint(r) - 1);

	*v = NULL;
	if (n < 0) {
		if (!nullable)
			broke(r, KT_ECORRUPT);
		return -1;
	}
	if ((size_t)n * least > left(r)) {
		broke(r, KT_ECORRUPT);
		return 0;
	}
	if (n == 0)
		return 0;
	*v = kw_alloc(arena, (size_t)n * size);
	if (!*v) {
		broke(r, KT_ENOMEM);
		return 0;
	}
	return n;
}

INLINE int32_t get_ints(struct reader *r, struct kw_arena *arena, int32_t **v)
{
	void *at;
	int32_t n = get_array(r, false, 4, arena, 4, &at);

	*v = at;
	for (int32_t i = 0; i < n; i++) {
		(*v)[i] = (int32_t)kw_rd32(r->p);
		r->p += 4;
	}
	return n;
}

/* The count of tagged fields. */
INLINE uint32_t get_tag_count(struct reader *r)
{
	uint32_t n = get_uvarint(r);

	if (n > left(r) / 2)
		broke(r, KT_ECORRUPT);
	return r->code ? 0 : n;
}

/* A tagged field that the version does not know; below `others` lie the tags of other versions. `more` can still come,
 * with this one. */
RARE struct reader keep_tag(struct reader r, uint32_t tag, uint32_t others, uint32_t size, uint32_t more,
			    struct kw_arena *arena, struct kw_tags *unknown)
{
	if (tag < others)
		broke(&r, KT_ECORRUPT);
	if (!has(&r, size))
		return r;
	if (!unknown->v)
		unknown->v = kw_alloc(arena, more * sizeof *unknown->v);
	if (!unknown->v) {
		broke(&r, KT_ENOMEM);
		return r;
	}
	unknown->v[unknown->n++] = (struct kw_tag){tag, {r.p, (int32_t)size}};
	r.p += size;
	return r;
}

RARE struct reader keep_tags(struct reader r, uint32_t n, uint32_t others, struct kw_arena *arena,
			     struct kw_tags *unknown)
{
	for (uint32_t i = 0; i < n && !r.code; i++) {
		uint32_t tag = get_uvarint(&r), size = get_uvarint(&r);

		r = keep_tag(r, tag, others, size, n - i, arena, unknown);
	}
	return r;
}

/* The tagged fields of a struct that has none of its own. */
INLINE void get_tags(struct reader *r, uint32_t others, struct kw_arena *arena, struct kw_tags *unknown)
{
	uint32_t n = get_tag_count(r);

	if (__builtin_expect(n > 0, 0))
		*r = keep_tags(*r, n, others, arena, unknown);
}

INLINE int end_reading(const struct reader *r, const uint8_t *from, size_t *used)
{
	*used = (size_t)(r->p - from);
	return r->code;
}

/* ---- writing ---- */

struct writer {
	uint8_t *q, *limit;        /* next byte, end of the room */
	struct kw_buf *buf;
	int code;
};

/* Most bytes of a compact length. */
enum { LENGTH_MAX = 5 };

INLINE void sync_out(struct writer *w)
{
	w->buf->n = (size_t)(w->q - w->buf->p);
}

INLINE void set_limit(struct writer *w)
{
	w->q = w->buf->p + w->buf->n;
	w->limit = kw_buf_limit(w->buf);
}

RARE struct writer more_room(struct writer w, size_t n)
{
	sync_out(&w);
	if (kw_buf_room(w.buf, n))
		set_limit(&w);
	else
		w.code = KT_ELIMIT;
	return w;
}

INLINE bool start_writing(struct writer *w, struct kw_buf *buf)
{
	*w = (struct writer){.q = buf->p + buf->n, .buf = buf};
	*w = more_room(*w, 1);
	return w->code == 0;
}

/* Makes room for n bytes. */
INLINE bool room(struct writer *w, size_t n)
{
	if (__builtin_expect((size_t)(w->limit - w->q) < n, 0))
		*w = more_room(*w, n);
	return w->code == 0;
}

INLINE void put8(struct writer *w, uint8_t v)
{
	if (room(w, 1))
		*w->q++ = v;
}

INLINE void put16(struct writer *w, uint16_t v)
{
	if (!room(w, 2))
		return;
	kw_wr16(w->q, v);
	w->q += 2;
}

INLINE void put32(struct writer *w, uint32_t v)
{
	if (!room(w, 4))
		return;
	kw_wr32(w->q, v);
	w->q += 4;
}

INLINE void put64(struct writer *w, uint64_t v)
{
	if (!room(w, 8))
		return;
	kw_wr64(w->q, v);
	w->q += 8;
}

INLINE void put_uuid(struct writer *w, struct kw_uuid id)
{
	if (!room(w, 16))
		return;
	memcpy(w->q, id.b, 16);
	w->q += 16;
}

INLINE void put_uvarint(struct writer *w, uint32_t v)
{
	if (!room(w, LENGTH_MAX))
		return;
	for (; v > 0x7f; v >>= 7)
		*w->q++ = (uint8_t)(v | 0x80);
	*w->q++ = (uint8_t)v;
}

INLINE void put_length(struct writer *w, int32_t n, bool nullable)
{
	if (n < 0 && !nullable)
		w->code = KT_ETYPE;
	put_uvarint(w, (uint32_t)n + 1);
}

INLINE bool put_string(struct writer *w, struct kw_str str, bool nullable)
{
	if (str.n > 0x7fff)
		w->code = KT_ERANGE;
	put_length(w, str.n, nullable);
	if (str.n > 0 && room(w, (size_t)str.n)) {
		memcpy(w->q, str.s, (size_t)str.n);
		w->q += str.n;
	}
	return w->code == 0;
}

INLINE bool put_records(struct writer *w, const struct kw_records *records)
{
	put_length(w, records->n, true);
	if (w->code)
		return false;
	sync_out(w);
	if (records->n > 0 && records->v)
		for (int32_t i = 0; i < records->nv; i++)
			kw_put_ref(w->buf, records->v[i].p, records->v[i].n);
	else if (records->n > 0)
		kw_put_ref(w->buf, records->p, (size_t)records->n);
	if (w->buf->failed)
		return false;
	set_limit(w);
	return true;
}

INLINE bool put_ints(struct writer *w, const int32_t *v, int32_t n)
{
	put_length(w, n, false);
	for (int32_t i = 0; i < n; i++)
		put32(w, (uint32_t)v[i]);
	return w->code == 0;
}

/* `known` tagged fields that are written by the caller come before these. */
INLINE bool put_tag_count(struct writer *w, uint32_t known, const struct kw_tags *unknown)
{
	put_uvarint(w, known + (uint32_t)unknown->n);
	return w->code == 0;
}

RARE struct writer put_unknown(struct writer w, const struct kw_tags *unknown)
{
	for (int32_t i = 0; i < unknown->n; i++) {
		const struct kw_tag *tag = &unknown->v[i];

		put_uvarint(&w, tag->tag);
		put_uvarint(&w, (uint32_t)tag->data.n);
		if (!room(&w, (size_t)tag->data.n))
			break;
		memcpy(w.q, tag->data.p, (size_t)tag->data.n);
		w.q += tag->data.n;
	}
	return w;
}

/* The tagged fields of a struct that has none of its own. */
INLINE bool put_tags(struct writer *w, const struct kw_tags *unknown)
{
	if (!put_tag_count(w, 0, unknown))
		return false;
	if (__builtin_expect(unknown->n > 0, 0))
		*w = put_unknown(*w, unknown);
	return w->code == 0;
}

INLINE int end_writing(struct writer *w)
{
	if (w->code == 0)
		sync_out(w);
	return w->code;
}

#endif
