/* UTF-8 as Kafka's strings must be: shortest form, no surrogates, nothing above U+10FFFF (RFC 3629). */
#ifndef KASSAY_FAKEBROKER_HOOKS_UTF8_H
#define KASSAY_FAKEBROKER_HOOKS_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* How many of the n bytes at p are whole, well-formed characters before the first that is not; n if all are. */
size_t fb_utf8_valid(const uint8_t *p, size_t n);

/* Replaces every byte of the string that is not part of a well-formed character by '?'. */
void fb_utf8_mend(char *s);

#endif
