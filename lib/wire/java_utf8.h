/* Bytes that went through a Java String: what is not UTF-8 becomes U+FFFD.
 *
 * Source: java.lang.String's decoder (JDK 17), which Kafka's RecordHeader uses for keys. A malformed sequence is
 * replaced as a whole up to the first byte that does not fit; an encoded surrogate is replaced by one character.
 */
#ifndef KASSAY_WIRE_JAVA_UTF8_H
#define KASSAY_WIRE_JAVA_UTF8_H

#include "lib/wire/arena.h"
#include "lib/wire/buf.h"

struct kw_record;

/* The character that the n bytes, at least one, begin with: U+FFFD for what is malformed, as one of these stands for
 * it. Returns how many bytes that are. */
size_t kw_java_utf8_next(const uint8_t *p, size_t n, uint32_t *character);
/* Would the bytes stay as they are? */
bool kw_java_utf8_good(const uint8_t *p, size_t n);
/* Appends the bytes as they come out. */
void kw_java_utf8_put(struct kw_buf *out, const uint8_t *p, size_t n);
/* Gives a record the header keys that it has after it went through a Kafka broker that encodes it anew; where they stay
 * as they are, nothing changes. 0 or KT_ENOMEM. */
int kw_record_recode_keys(struct kw_record *record, struct kw_arena *arena);

#endif
