/* Base64 (RFC 4648): standard with padding for bytes, URL-safe without padding as Kafka writes uuids. And hex. */
#ifndef KASSAY_TEXT_BASE64_H
#define KASSAY_TEXT_BASE64_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Characters that n bytes take, without a NUL. */
size_t kt_base64_len(size_t n, bool url);
/* Writes them and a NUL; p may be NULL when n is 0. */
void kt_base64_encode(const uint8_t *p, size_t n, bool url, char *out);
/* Reads n characters into out (room for n / 4 * 3 + 3 bytes). Padding is optional; both alphabets are read. Returns the
 * number of bytes, or -1 if a character, the length or the left-over bits are wrong. */
long kt_base64_decode(const char *s, size_t n, uint8_t *out);
/* Writes 2n hex digits, in small letters, and a NUL. */
void kt_hex_encode(const uint8_t *p, size_t n, char *out);
/* Those digits as a JSON string; NULL without memory. p may be NULL when n is 0. */
json_t *kt_hex_json(const void *p, size_t n);
/* Reads n characters, pairs of hex digits with blanks and line ends between bytes, into out (room for n / 2 bytes).
 * Returns the number of bytes, or -1 at anything else. */
long kt_hex_decode(const char *s, size_t n, uint8_t *out);

#endif
