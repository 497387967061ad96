/* Where each field of some bytes lies: what edits (edit.h) go by, and what a tree beside the bytes is drawn from.
 *
 * A map is made by reading, so it fits recorded bytes as well as encoded ones, and broken ones up to the fault. Paths
 * are those of error messages: "topicData[0].partitionData[1].index". Further ones are
 *   _taggedFields                    of a message or struct: its tagged fields, with their count as its length
 *   records[0]                       a batch of a records field, and its header fields: "records[0].count"
 *   records[0].records               the records area of that batch
 *   records[0].records[2].key        and, if it is not compressed, the fields of its records: length, attributes,
 *                                    timestampDelta, offsetDelta, key, value, headers, headers[1].key, headers[1].value
 * A message of magic 0 or 1 takes the place of a batch: offset, length, crc, magic, attributes, timestamp, key, value.
 */
#ifndef KASSAY_WIRE_MAP_H
#define KASSAY_WIRE_MAP_H

#include "lib/wire/message.h"

/* How a number or a length is written. */
enum kw_coding {
	KW_FIXED,         /* big-endian, as wide as it is */
	KW_COMPACT,       /* unsigned varint of length + 1 */
	KW_UVARINT,       /* unsigned varint */
	KW_ZIGZAG,        /* zigzag varint, or varlong of an int64 */
};

struct kw_span {
	const char *path;
	size_t start, end;           /* the whole field, its length prefix included */
	size_t len_at, len_end;      /* its length, which counts from len_end on; equal when it has none */
	uint8_t type;                /* enum kw_type */
	uint8_t coding;              /* enum kw_coding: of the length, or else of a number itself */
	bool array, tagged;
};

struct kw_map {
	struct kw_arena *arena;      /* owns paths and v */
	const uint8_t *base;         /* offsets count from here */
	const char *prefix;          /* of paths that are added; NULL = none */
	struct kw_span *v;           /* in wire order */
	size_t n, cap;
};

/* Adds a span that begins and, for now, ends at `at`; the caller sets the rest. It is valid until the next one is
 * added. NULL when memory is exhausted. path is copied. */
struct kw_span *kw_map_add(struct kw_map *map, const char *path, const uint8_t *at);
/* The first span of that path, or NULL. */
struct kw_span *kw_map_find(const struct kw_map *map, const char *path);

/* Like kw_decode, and adds a span for every field; what could be read before a failure is in the map. */
int kw_decode_map(const struct kw_msg *msg, int version, const uint8_t *p, size_t n, struct kw_arena *arena, void **out,
		  size_t *used, struct kw_map *map, struct kt_err *err);

/* Adds header fields ("header.correlationId") and body of a request frame. p is what
 * follows the size field; versions are those that the frame's own header states. KT_EVERSION when there is no such
 * request, else as kw_decode; the map has what could be read. *used, if given, gets the bytes of header and body. */
int kw_map_request(struct kw_map *map, const uint8_t *p, size_t n, size_t *used, struct kt_err *err);

/* The same for a response to a request of that API and version. */
int kw_map_response(struct kw_map *map, int api, int version, const uint8_t *p, size_t n, size_t *used,
		    struct kt_err *err);

/* Adds the batches and messages of all records fields that are in the map so far. False when memory is exhausted. */
bool kw_map_record_fields(struct kw_map *map);

/* Adds the batches and messages in [p, p + n) as path[0], path[1], ... with their records; stops where there is
 * neither. False when memory is exhausted. */
bool kw_map_set(struct kw_map *map, const char *path, const uint8_t *p, size_t n);
/* Adds one batch as path; "" for a batch that stands alone, whose fields have bare names. It has the size that its
 * length states, at most n. False when memory is exhausted; a batch that is too short has what fields it has. */
bool kw_map_batch(struct kw_map *map, const char *path, const uint8_t *p, size_t n);
/* Adds the records in an area that is not compressed as path[0], ...; stops at `most`, or where there is none. */
bool kw_map_records(struct kw_map *map, const char *path, const uint8_t *p, size_t n, int32_t most);

#endif
