#include "loadgen/record.h"

#include <inttypes.h>
#include <stdio.h>

#include "loadgen/schedule.h"

int32_t lg_spread(const struct lg_shape *shape, int32_t npartitions)
{
	return shape->key_mode == LG_KEY_COUNT && shape->keys < npartitions ? (int32_t)shape->keys : npartitions;
}

int32_t lg_shape_size(const struct lg_shape *shape, uint64_t seed)
{
	uint64_t range = (uint64_t)(shape->size_max - shape->size_min) + 1;

	return shape->size_min + (int32_t)(lg_mix(seed, 1, 0) % range);
}

/* A key of the partition: keys k with k % npartitions == partition are its own. */
static uint64_t key_of(const struct lg_shape *shape, const struct lg_stamp *stamp, int32_t npartitions)
{
	uint64_t step = (uint64_t)npartitions, first = (uint64_t)stamp->partition;
	uint64_t own = ((uint64_t)shape->keys - first + step - 1) / step;

	return first + step * (lg_mix(stamp->seed, 2, 0) % own);
}

static void make_key(struct lg_draft *draft, const struct lg_shape *shape, int32_t npartitions)
{
	const struct lg_stamp *stamp = &draft->stamp;
	int n = 0;

	switch (shape->key_mode) {
	case LG_KEY_NONE:
		draft->key = (struct kw_bytes){NULL, -1};
		return;
	case LG_KEY_SEQUENCE:
		n = snprintf(draft->key_text, sizeof draft->key_text, "%" PRIu32 "-%" PRIx32 "-%" PRId64,
			     stamp->producer, (uint32_t)stamp->partition, stamp->sequence);
		break;
	case LG_KEY_COUNT:
		n = snprintf(draft->key_text, sizeof draft->key_text, "key-%08" PRIu64,
			     key_of(shape, stamp, npartitions));
		break;
	}
	draft->key = (struct kw_bytes){(const uint8_t *)draft->key_text, n};
}

void lg_draft_make(struct lg_draft *draft, const struct lg_shape *shape, const struct lg_stamp *stamp,
		   int32_t npartitions, uint8_t *value)
{
	int32_t size = lg_shape_size(shape, stamp->seed);

	draft->stamp = *stamp;
	draft->timestamp = stamp->intended / 1000000;
	make_key(draft, shape, npartitions);
	lg_payload_write(value, (size_t)size, stamp);
	draft->value = (struct kw_bytes){value, size};
	draft->nheaders = shape->nheaders;
	for (int32_t i = 0; i < shape->nheaders; i++) {
		struct kw_str text = kw_str(shape->headers[i].value);

		draft->headers[i].key = kw_str(shape->headers[i].name);
		draft->headers[i].value = (struct kw_bytes){(const uint8_t *)text.s, text.n};
	}
}

void lg_draft_stamp_header(struct lg_draft *draft)
{
	struct kw_header *header = &draft->headers[draft->nheaders++];

	lg_payload_write(draft->stamp_bytes, sizeof draft->stamp_bytes, &draft->stamp);
	header->key = kw_str(LG_STAMP_HEADER);
	header->value = (struct kw_bytes){draft->stamp_bytes, sizeof draft->stamp_bytes};
}
