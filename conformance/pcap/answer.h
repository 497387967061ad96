/* Answers of a capture, field by field. */
#ifndef KASSAY_CONFORMANCE_PCAP_ANSWER_H
#define KASSAY_CONFORMANCE_PCAP_ANSWER_H

#include "lib/wire/map.h"

/* The version that the answer to a request is written in: its own, but what ApiVersions asks in a version that the
 * broker does not have is answered in 0. frame begins with its size. */
int cf_answer_version(int api, int version, const struct kw_slice *frame);
/* Is there an answer of that API and version? */
bool cf_answer_known(int api, int version);
/* The fields of a frame that begins with its size, as far as they can be read: base is the byte behind the size. The
 * map's arena is the caller's. */
int cf_answer_map(struct kw_map *map, int api, int version, const struct kw_slice *frame);
/* The error code that a field is, 0 for NONE and for fields that are none. */
int cf_answer_error(const struct kw_map *map, const struct kw_span *span);

#endif
