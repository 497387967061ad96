#include "lib/wire/buf.h"

#include <stdlib.h>

enum { FIRST_CAP = 256, FIRST_REFS = 8 };

void kw_buf_init(struct kw_buf *buf, size_t max)
{
	*buf = (struct kw_buf){.max = max};
}

void kw_buf_fini(struct kw_buf *buf)
{
	free(buf->p);
	free(buf->refs);
	*buf = (struct kw_buf){.max = buf->max, .by_ref = buf->by_ref};
}

void kw_buf_clear(struct kw_buf *buf)
{
	buf->n = buf->nrefs = buf->refbytes = 0;
	buf->failed = 0;
}

/* Whether n more bytes, copied or referenced, stay within the maximum. */
static bool fits(const struct kw_buf *buf, size_t n)
{
	size_t max = buf->max ? buf->max : KW_BUF_MAX, len = kw_buf_len(buf);

	return len <= max && n <= max - len;
}

static bool grow(struct kw_buf *buf, size_t need)
{
	size_t cap = buf->cap ? buf->cap * 2 : FIRST_CAP;
	uint8_t *p;

	if (cap < need)
		cap = need;
	p = realloc(buf->p, cap);
	if (!p)
		return false;
	buf->p = p;
	buf->cap = cap;
	return true;
}

uint8_t *kw_buf_room(struct kw_buf *buf, size_t n)
{
	if (buf->failed)
		return NULL;
	if (!fits(buf, n))
		buf->failed = KT_ELIMIT;
	else if ((n > buf->cap - buf->n || !buf->p) && !grow(buf, buf->n + n))
		buf->failed = KT_ENOMEM;
	return buf->failed ? NULL : buf->p + buf->n;
}

int kw_buf_fail(const struct kw_buf *buf, struct kt_err *err, const char *fmt, ...)
{
	va_list ap;

	if (buf->failed == KT_ENOMEM)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	va_start(ap, fmt);
	kt_vfail(err, buf->failed, fmt, ap);
	va_end(ap);
	return buf->failed;
}

void kw_put(struct kw_buf *buf, const void *p, size_t n)
{
	uint8_t *to;

	if (n == 0)
		return;
	to = kw_buf_room(buf, n);
	if (!to)
		return;
	memcpy(to, p, n);
	buf->n += n;
}

static bool grow_refs(struct kw_buf *buf)
{
	size_t cap = buf->caprefs ? buf->caprefs * 2 : FIRST_REFS;
	struct kw_ref *refs = realloc(buf->refs, cap * sizeof *refs);

	if (!refs)
		return false;
	buf->refs = refs;
	buf->caprefs = cap;
	return true;
}

void kw_put_ref(struct kw_buf *buf, const void *p, size_t n)
{
	if (!buf->by_ref || n < KW_REF_MIN) {
		kw_put(buf, p, n);
		return;
	}
	if (buf->failed)
		return;
	if (!fits(buf, n))
		buf->failed = KT_ELIMIT;
	else if (buf->nrefs == buf->caprefs && !grow_refs(buf))
		buf->failed = KT_ENOMEM;
	if (buf->failed)
		return;
	buf->refs[buf->nrefs++] = (struct kw_ref){.at = buf->n, .data = {p, n}};
	buf->refbytes += n;
}

void kw_put_u8(struct kw_buf *buf, uint8_t v)
{
	uint8_t *to = kw_buf_room(buf, 1);

	if (!to)
		return;
	*to = v;
	buf->n++;
}

void kw_put_u16(struct kw_buf *buf, uint16_t v)
{
	uint8_t *to = kw_buf_room(buf, 2);

	if (!to)
		return;
	kw_wr16(to, v);
	buf->n += 2;
}

void kw_put_u32(struct kw_buf *buf, uint32_t v)
{
	uint8_t *to = kw_buf_room(buf, 4);

	if (!to)
		return;
	kw_wr32(to, v);
	buf->n += 4;
}

void kw_put_u64(struct kw_buf *buf, uint64_t v)
{
	uint8_t *to = kw_buf_room(buf, 8);

	if (!to)
		return;
	kw_wr64(to, v);
	buf->n += 8;
}

static void put_leb128(struct kw_buf *buf, uint64_t v)
{
	uint8_t bytes[10];
	size_t n = 0;

	while (v > 0x7f) {
		bytes[n++] = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	bytes[n++] = (uint8_t)v;
	kw_put(buf, bytes, n);
}

void kw_put_uvarint(struct kw_buf *buf, uint32_t v)
{
	put_leb128(buf, v);
}

void kw_put_varint(struct kw_buf *buf, int32_t v)
{
	put_leb128(buf, (uint32_t)v << 1 ^ (v < 0 ? UINT32_MAX : 0));
}

void kw_put_varlong(struct kw_buf *buf, int64_t v)
{
	put_leb128(buf, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

/* Adds a run to the list if it is not empty. */
static size_t add_iov(struct iovec *iov, size_t niov, size_t i, const uint8_t *p, size_t n)
{
	if (n == 0)
		return i;
	if (i < niov)
		iov[i] = (struct iovec){.iov_base = (void *)(uintptr_t)p, .iov_len = n};
	return i + 1;
}

size_t kw_buf_iov(const struct kw_buf *buf, struct iovec *iov, size_t niov)
{
	size_t i = 0, at = 0;

	for (size_t k = 0; k < buf->nrefs; k++) {
		const struct kw_ref *ref = &buf->refs[k];

		i = add_iov(iov, niov, i, buf->p + at, ref->at - at);
		i = add_iov(iov, niov, i, ref->data.p, ref->data.n);
		at = ref->at;
	}
	return add_iov(iov, niov, i, buf->p + at, buf->n - at);
}
