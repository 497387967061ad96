/* The reader and the writer of the straight-line code. Both are meant to live in registers: all is inlined but what
 * seldom happens. */
#ifndef KASSAY_WIRE_BENCH_STRAIGHT_CURSOR_H
#define KASSAY_WIRE_BENCH_STRAIGHT_CURSOR_H

#include <stdarg.h>
#include <stdio.h>

#include "lib/text/err.h"
#include "lib/wire/bench/straight.h"
#include "lib/wire/varint.h"

#define INLINE static inline __attribute__((always_inline))
#define RARE static __attribute__((noinline, unused))

/* ---- reading ---- */

/* An array that is being read and where in it, for the path in an error; they lie on the C stack. */
struct place {
	const struct place *up;
	const char *name;
	int32_t index;
};

/* Of a decode. Apart from the reader, since its address is taken. */
struct context {
	const uint8_t *from;
	const struct place *at;
	struct kt_err *err;
	int code;
};

struct reader {
	const uint8_t *p, *end;
	struct context *context;
};

/* All that reads says whether it could; what failed is then in the context. */
#define READ(call)                                    \
	do {                                          \
		if (__builtin_expect(!(call), 0))     \
			return context.code;          \
	} while (0)

INLINE void enter(struct reader *r, struct place *place, const char *name)
{
	*place = (struct place){r->context->at, name, 0};
	r->context->at = place;
}

INLINE void leave(struct reader *r)
{
	r->context->at = r->context->at->up;
}

INLINE size_t left(const struct reader *r)
{
	return (size_t)(r->end - r->p);
}

/* "topicData[0].", or "topicData[0]" where nothing follows. */
RARE void write_path(const struct place *at, bool more, char *path, size_t size)
{
	size_t n;

	if (!at)
		return;
	write_path(at->up, true, path, size);
	n = strlen(path);
	snprintf(path + n, size - n, "%s[%d]%s", at->name, (int)at->index, more ? "." : "");
}

/* What failed of which field, or, where name is NULL, of the struct. */
RARE __attribute__((cold, format(printf, 5, 6))) void keep_failure(struct context *context, const uint8_t *p, int code,
								    const char *name, const char *fmt, ...)
{
	struct kt_err *err = context->err;
	va_list ap;

	context->code = code;
	if (!err)
		return;
	err->offset = (size_t)(p - context->from);
	err->has_offset = 1;
	write_path(context->at, name, err->path, sizeof err->path);
	if (name)
		strncat(err->path, name, sizeof err->path - strlen(err->path) - 1);
	va_start(ap, fmt);
	kt_vfail(err, code, fmt, ap);
	va_end(ap);
}

RARE __attribute__((cold)) void keep_truncated(struct context *context, const uint8_t *p, const uint8_t *end,
						const char *name, size_t want)
{
	keep_failure(context, p, KT_ETRUNC, name, "%zu bytes are needed, %zu are left", want, (size_t)(end - p));
}

/* False, where the compiler sees it. */
#define broke(...) (keep_failure(__VA_ARGS__), false)
#define truncated(...) (keep_truncated(__VA_ARGS__), false)

INLINE bool has(struct reader *r, const char *name, size_t n)
{
	if (__builtin_expect(left(r) >= n, 1))
		return true;
	return truncated(r->context, r->p, r->end, name, n);
}

INLINE bool get8(struct reader *r, const char *name, int8_t *v)
{
	if (!has(r, name, 1))
		return false;
	*v = (int8_t)*r->p++;
	return true;
}

INLINE bool get_bool(struct reader *r, const char *name, bool *v)
{
	if (!has(r, name, 1))
		return false;
	*v = *r->p++ != 0;
	return true;
}

INLINE bool get16(struct reader *r, const char *name, int16_t *v)
{
	if (!has(r, name, 2))
		return false;
	*v = (int16_t)kw_rd16(r->p);
	r->p += 2;
	return true;
}

INLINE bool get32(struct reader *r, const char *name, int32_t *v)
{
	if (!has(r, name, 4))
		return false;
	*v = (int32_t)kw_rd32(r->p);
	r->p += 4;
	return true;
}

INLINE bool get64(struct reader *r, const char *name, int64_t *v)
{
	if (!has(r, name, 8))
		return false;
	*v = (int64_t)kw_rd64(r->p);
	r->p += 8;
	return true;
}

INLINE bool get_uuid(struct reader *r, const char *name, struct kw_uuid *v)
{
	if (!has(r, name, sizeof v->b))
		return false;
	memcpy(v->b, r->p, sizeof v->b);
	r->p += sizeof v->b;
	return true;
}

INLINE bool get_uvarint(struct reader *r, const char *name, uint32_t *v)
{
	int used = kw_get_uvarint(r->p, r->end, v);

	if (__builtin_expect(used < 0, 0))
		return broke(r->context, r->p, KT_ECORRUPT, name, "varint is too long");
	if (__builtin_expect(used == 0, 0))
		return truncated(r->context, r->p, r->end, name, left(r) + 1);
	r->p += used;
	return true;
}

/* A compact length, of which there are as many bytes: -1 is null. */
INLINE bool get_length(struct reader *r, const char *name, bool nullable, int32_t *n)
{
	uint32_t v;

	if (!get_uvarint(r, name, &v))
		return false;
	*n = (int32_t)(v - 1);
	if (*n >= 0)
		return has(r, name, (size_t)*n);
	*n = -1;
	return nullable || broke(r->context, r->p, KT_ECORRUPT, name, "a value that cannot be null is null");
}

INLINE bool get_string(struct reader *r, const char *name, bool nullable, struct kw_str *v)
{
	int32_t n;

	if (!get_length(r, name, nullable, &n))
		return false;
	if (__builtin_expect(n > 0x7fff, 0))
		return broke(r->context, r->p, KT_ECORRUPT, name, "string is longer than 32767 bytes");
	*v = (struct kw_str){(const char *)r->p, n};
	r->p += n > 0 ? n : 0;
	return true;
}

INLINE bool get_records(struct reader *r, const char *name, struct kw_records *v)
{
	int32_t n;

	if (!get_length(r, name, true, &n))
		return false;
	*v = (struct kw_records){.p = r->p, .n = n};
	r->p += n > 0 ? n : 0;
	return true;
}

/* The count of an array and its memory; `least` is the fewest bytes that an element takes. */
INLINE bool get_array(struct reader *r, const char *name, bool nullable, size_t least, struct kw_arena *arena,
		      size_t size, void **v, int32_t *n)
{
	uint32_t count;

	*v = NULL;
	if (!get_uvarint(r, name, &count))
		return false;
	*n = (int32_t)(count - 1);
	if (*n < 0) {
		*n = -1;
		return nullable || broke(r->context, r->p, KT_ECORRUPT, name, "an array that cannot be null is null");
	}
	if (__builtin_expect((size_t)*n * least > left(r), 0))
		return broke(r->context, r->p, KT_ECORRUPT, name,
			     "%d elements cannot lie in the %zu bytes left", (int)*n,
			     left(r));
	if (*n == 0)
		return true;
	*v = kw_alloc(arena, (size_t)*n * size);
	return *v || broke(r->context, r->p, KT_ENOMEM, name, "out of memory");
}

INLINE bool get_ints(struct reader *r, const char *name, struct kw_arena *arena, int32_t **v, int32_t *n)
{
	void *at;

	if (!get_array(r, name, false, 4, arena, 4, &at, n))
		return false;
	*v = at;
	for (int32_t i = 0; i < *n; i++) {
		(*v)[i] = (int32_t)kw_rd32(r->p);
		r->p += 4;
	}
	return true;
}

/* The count of tagged fields. */
INLINE bool get_tag_count(struct reader *r, const char *name, uint32_t *n)
{
	if (!get_uvarint(r, name, n))
		return false;
	return *n <= left(r) / 2 ||
	       broke(r->context, r->p, KT_ECORRUPT, name, "more tagged fields than the bytes left can hold");
}

/* A tagged field that the version does not know; below `others` lie the tags of other versions. `more` can still come,
 * with this one. */
static bool keep_tag(struct reader *r, const char *name, uint32_t tag, uint32_t others, uint32_t size, uint32_t more,
		     struct kw_arena *arena, struct kw_tags *unknown)
{
	if (tag < others)
		return broke(r->context, r->p, KT_ECORRUPT, name, "a tagged field of another version");
	if (!has(r, name, size))
		return false;
	if (!unknown->v)
		unknown->v = kw_alloc(arena, more * sizeof *unknown->v);
	if (!unknown->v)
		return broke(r->context, r->p, KT_ENOMEM, name, "out of memory");
	unknown->v[unknown->n++] = (struct kw_tag){tag, {r->p, (int32_t)size}};
	r->p += size;
	return true;
}

/* Returns the place behind, or NULL. */
RARE const uint8_t *keep_tags(struct reader r, const char *name, uint32_t n, uint32_t others, struct kw_arena *arena,
			      struct kw_tags *unknown)
{
	uint32_t tag, size;

	for (uint32_t i = 0; i < n; i++)
		if (!get_uvarint(&r, name, &tag) || !get_uvarint(&r, name, &size) ||
		    !keep_tag(&r, name, tag, others, size, n - i, arena, unknown))
			return NULL;
	return r.p;
}

/* The tagged fields of a struct that has none of its own. */
INLINE bool get_tags(struct reader *r, const char *name, uint32_t others, struct kw_arena *arena,
		     struct kw_tags *unknown)
{
	uint32_t n;

	if (!get_tag_count(r, name, &n))
		return false;
	if (__builtin_expect(n > 0, 0))
		r->p = keep_tags(*r, name, n, others, arena, unknown);
	return r->p;
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
