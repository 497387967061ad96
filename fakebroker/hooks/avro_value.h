/* Is a string of bytes one value of an Avro schema? (Avro 1.11 specification, "Data Serialization and
 * Deserialization".)
 *
 * libavro reads the schemas. It does not read the values: its readers allocate what a length says, follow a schema that
 * contains itself as deep as the bytes want, count to 2^63 where an array's items have no bytes, and cut the numbers of
 * unions and enums to 32 bits. Here nothing is allocated, depth and items are bounded, and every bit counts.
 */
#ifndef KASSAY_FAKEBROKER_HOOKS_AVRO_VALUE_H
#define KASSAY_FAKEBROKER_HOOKS_AVRO_VALUE_H

#include <stdbool.h>

#include "fakebroker/hooks/kassay_validator.h"

/* Values inside of values; what is deeper is refused. */
enum { FB_AVRO_DEPTH = 64 };
/* An array of nulls may have as many items as the bytes that the whole value has, and these on top. */
enum { FB_AVRO_ITEMS = 65536 };
enum { FB_AVRO_SCHEMA_MAX = 1 << 20 };   /* bytes of a schema */

struct fb_avro_schema;

/* A schema in JSON, or in a file, of at most FB_AVRO_SCHEMA_MAX bytes. Every name must be defined in it. Returns 0, or
 * -1 with the reason in *why. */
int fb_avro_parse(const char *json, size_t n, struct fb_avro_schema **out, struct kassay_text *why);
int fb_avro_read(const char *file, struct fb_avro_schema **out, struct kassay_text *why);
void fb_avro_free(struct fb_avro_schema *schema);

/* What the schema calls itself: "shop.Order", "string". Lives as long as the schema. */
const char *fb_avro_name(const struct fb_avro_schema *schema);

/* Are the n bytes at p one value, whole, with nothing behind it? If not, *why names the place in the value, what is
 * wrong there, and the byte: "items[3].sku: 12 bytes are announced, 3 are left (at byte 17)". p is not NULL. From any
 * thread. */
bool fb_avro_check(const struct fb_avro_schema *schema, const uint8_t *p, size_t n, struct kassay_text *why);

#endif
