/* What the interpreter is measured against: decoders and encoders as one would write them by hand for one version of
 * one message, field after field, with nothing looked up.
 *
 * They have the contract of kw_decode() and kw_encode(): the same structs in the same arena, slices of the input, every
 * length and count checked before use, null where it is allowed, tagged fields known and unknown, defaults, and of a
 * failure to read its code, words, path of the field and byte. Of a failure to write they say the code alone.
 */
#ifndef KASSAY_WIRE_BENCH_STRAIGHT_H
#define KASSAY_WIRE_BENCH_STRAIGHT_H

#include "kw_messages.h"
#include "lib/text/err.h"
#include "lib/wire/arena.h"
#include "lib/wire/buf.h"

/* 0 or a code of err.h. *used: bytes read, if all went well. err as from kw_decode(). */
typedef int straight_decode_fn(const uint8_t *p, size_t n, struct kw_arena *arena, void **out, size_t *used,
			       struct kt_err *err);
typedef int straight_encode_fn(const void *in, struct kw_buf *buf);

straight_decode_fn straight_decode_ProduceRequest_9, straight_decode_ProduceResponse_9;
straight_decode_fn straight_decode_FetchRequest_13, straight_decode_FetchResponse_13;
straight_decode_fn straight_decode_MetadataRequest_12, straight_decode_MetadataResponse_12;
straight_encode_fn straight_encode_ProduceRequest_9, straight_encode_ProduceResponse_9;
straight_encode_fn straight_encode_FetchRequest_13, straight_encode_FetchResponse_13;
straight_encode_fn straight_encode_MetadataRequest_12, straight_encode_MetadataResponse_12;

#endif
