/* What a record set is made of, whatever its magic: entries that begin with an offset, a length and, four bytes later,
 * a magic. An entry of magic 2 is a record batch (batch.h), one of magic 0 or 1 a message (legacy.h).
 *
 * Source: Kafka's Records and ByteBufferLogInputStream.
 */
#ifndef KASSAY_WIRE_ENTRY_H
#define KASSAY_WIRE_ENTRY_H

#include "lib/text/err.h"
#include "lib/wire/buf.h"

enum {
	KW_E_OFFSET = 0,        /* int64: of the first record of a batch, of the last record of a message */
	KW_E_LENGTH = 8,        /* int32: bytes after this field */
	KW_E_BODY = 12,         /* what the length counts */
	KW_E_MAGIC = 16,        /* int8 */
	KW_E_MIN_LENGTH = 14,   /* smallest legal value of the length field: a message of magic 0 with null
				   key and value */
};

struct kw_entry {
	const uint8_t *p;
	size_t at;              /* its place in the record set; 0 after kw_entry_parse */
	size_t size;            /* whole entry, offset and length included; 0 as long as its length is not known */
	int64_t offset;
	int32_t length;
	int8_t magic;           /* -1 as long as it is not known */
};

/* Reads the entry at p, whatever its magic. KT_ETRUNC when the n bytes end before the entry does; KT_ECORRUPT on a
 * length below KW_E_MIN_LENGTH. On failure entry has what could be read. */
int kw_entry_parse(const uint8_t *p, size_t n, struct kw_entry *entry, struct kt_err *err);

/* Like kt_fail and kt_vfail, but they also say at which byte the fault is. */
int kw_fail_at(struct kt_err *err, int code, size_t at, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
int kw_vfail_at(struct kt_err *err, int code, size_t at, const char *fmt, va_list ap)
	__attribute__((format(printf, 4, 0)));

#endif
