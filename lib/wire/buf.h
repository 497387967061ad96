/* A growing output buffer with a stated maximum, and big-endian writers.
 *
 * The first failure (memory or maximum) sticks: later writes are no-ops and `failed` says which. The caller looks once.
 * With by_ref set, runs of at least KW_REF_MIN bytes given to kw_put_ref() are remembered instead of copied, so that
 * record sets go to the socket by writev; see kw_buf_iov(). A zeroed struct is an empty buffer with the default
 * maximum. <endian.h> needs _DEFAULT_SOURCE or _GNU_SOURCE where the compiler is told a bare -std=c11.
 */
#ifndef KASSAY_WIRE_BUF_H
#define KASSAY_WIRE_BUF_H

#include <endian.h>
#include <sys/uio.h>

#include "lib/text/err.h"
#include "lib/wire/types.h"

struct kw_ref {
	size_t at;             /* offset in p before which the run belongs */
	struct kw_slice data;
};

struct kw_buf {
	uint8_t *p;
	size_t n, cap;         /* bytes written to p, bytes there */
	size_t max;            /* most bytes, references included; 0 = 1 GiB */
	int failed;            /* 0, or the code of the first failure: KT_ENOMEM or KT_ELIMIT */
	bool by_ref;           /* keep runs of >= KW_REF_MIN bytes as references */
	struct kw_ref *refs;
	size_t nrefs, caprefs;
	size_t refbytes;       /* sum of the lengths of refs */
};

enum { KW_REF_MIN = 512, KW_BUF_MAX = 1 << 30 /* bytes, unless a maximum is given */ };

/* max as in the struct. Nothing is allocated yet. */
void kw_buf_init(struct kw_buf *buf, size_t max);
/* Frees the content; the buffer can be used again. */
void kw_buf_fini(struct kw_buf *buf);
/* Empties the buffer and forgets a failure, but keeps the memory. */
void kw_buf_clear(struct kw_buf *buf);
/* Room for n more bytes at the end, or NULL (and failed). Does not change n. */
uint8_t *kw_buf_room(struct kw_buf *buf, size_t n);
/* Of a buffer that failed: sets err, with the text unless it was memory that lacked. Returns the code. */
int kw_buf_fail(const struct kw_buf *buf, struct kt_err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* p may be NULL when n is 0. */
void kw_put(struct kw_buf *buf, const void *p, size_t n);
/* Like kw_put, but with by_ref may keep a reference: p must then outlive the content. */
void kw_put_ref(struct kw_buf *buf, const void *p, size_t n);
void kw_put_u8(struct kw_buf *buf, uint8_t v);
void kw_put_u16(struct kw_buf *buf, uint16_t v);
void kw_put_u32(struct kw_buf *buf, uint32_t v);
void kw_put_u64(struct kw_buf *buf, uint64_t v);
void kw_put_uvarint(struct kw_buf *buf, uint32_t v);    /* unsigned LEB128 */
void kw_put_varint(struct kw_buf *buf, int32_t v);      /* zigzag */
void kw_put_varlong(struct kw_buf *buf, int64_t v);     /* zigzag */
/* Bytes in all, references included. */
static inline size_t kw_buf_len(const struct kw_buf *buf) { return buf->n + buf->refbytes; }
/* End of the room that is there already, for those who write from p + n on by themselves and then set n; it is valid
 * until the buffer is used otherwise. */
static inline uint8_t *kw_buf_limit(const struct kw_buf *buf)
{
	size_t most = (buf->max ? buf->max : KW_BUF_MAX) - buf->refbytes;

	return buf->p + (buf->cap < most ? buf->cap : most);
}
/* Number of iovecs the content takes; fills the first niov of them. They are valid until the next write. */
size_t kw_buf_iov(const struct kw_buf *buf, struct iovec *iov, size_t niov);

/* Big-endian loads and stores at any alignment. */
static inline uint16_t kw_rd16(const uint8_t *p) { return (uint16_t)(p[0] << 8 | p[1]); }
static inline uint32_t kw_rd32(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return be32toh(v); }
static inline uint64_t kw_rd64(const uint8_t *p) { uint64_t v; memcpy(&v, p, 8); return be64toh(v); }
static inline void kw_wr16(uint8_t *p, uint16_t v) { p[0] = (uint8_t)(v >> 8); p[1] = (uint8_t)v; }
static inline void kw_wr32(uint8_t *p, uint32_t v) { v = htobe32(v); memcpy(p, &v, 4); }
static inline void kw_wr64(uint8_t *p, uint64_t v) { v = htobe64(v); memcpy(p, &v, 8); }

#endif
