#include "lib/wire/batch.h"

const struct kw_batch_spec kw_batch_spec_default = {
	.partitionLeaderEpoch = -1,
	.maxTimestamp = -2,
	.producerId = -1,
	.producerEpoch = -1,
	.baseSequence = -1,
};

static void read_header(struct kw_batch *batch)
{
	const uint8_t *p = batch->p;

	batch->partitionLeaderEpoch = (int32_t)kw_rd32(p + KW_B_LEADER_EPOCH);
	batch->magic = (int8_t)p[KW_B_MAGIC];
	batch->crc = kw_rd32(p + KW_B_CRC);
	batch->attributes = (int16_t)kw_rd16(p + KW_B_ATTRIBUTES);
	batch->lastOffsetDelta = (int32_t)kw_rd32(p + KW_B_LAST_OFFSET_DELTA);
	batch->baseTimestamp = (int64_t)kw_rd64(p + KW_B_BASE_TIMESTAMP);
	batch->maxTimestamp = (int64_t)kw_rd64(p + KW_B_MAX_TIMESTAMP);
	batch->producerId = (int64_t)kw_rd64(p + KW_B_PRODUCER_ID);
	batch->producerEpoch = (int16_t)kw_rd16(p + KW_B_PRODUCER_EPOCH);
	batch->baseSequence = (int32_t)kw_rd32(p + KW_B_BASE_SEQUENCE);
	batch->count = (int32_t)kw_rd32(p + KW_B_COUNT);
}

int kw_batch_parse(const uint8_t *p, size_t n, struct kw_batch *batch, struct kt_err *err)
{
	struct kw_entry entry;
	int code = kw_entry_parse(p, n, &entry, err);

	*batch = (struct kw_batch){.p = p, .size = entry.size, .baseOffset = entry.offset, .length = entry.length};
	if (code)
		return code;
	if (batch->size < KW_B_RECORDS)
		return kw_fail_at(err, KT_ECORRUPT, KW_B_LENGTH,
			       "Record batch is corrupt (the size %zu is smaller than the minimum allowed overhead %d)",
			       batch->size, KW_B_RECORDS);
	read_header(batch);
	return 0;
}

static size_t varlong_size(int64_t v)
{
	uint64_t raw = (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
	size_t n = 1;

	while (raw >>= 7)
		n++;
	return n;
}

/* Size of a run with its length. */
static size_t run_size(int32_t n)
{
	return varlong_size(n < 0 ? -1 : n) + (n < 0 ? 0 : (size_t)n);
}

static void put_run(struct kw_buf *out, const void *p, int32_t n)
{
	kw_put_varint(out, n < 0 ? -1 : n);
	if (n > 0)
		kw_put(out, p, (size_t)n);
}

const char *kw_batch_unwritable(const struct kw_batch *batch)
{
	if (batch->producerId == -1)
		return batch->attributes & KW_A_TRANSACTIONAL
			? "Cannot write transactional messages without a valid producer ID" : NULL;
	if (batch->producerEpoch == -1)
		return "Invalid negative producer epoch";
	return batch->baseSequence < 0 && !(batch->attributes & KW_A_CONTROL)
	       ? "Invalid negative sequence number used" : NULL;
}

/* Without its length prefix. */
static size_t body_size(const struct kw_record *record)
{
	size_t size = 1 + varlong_size(record->timestampDelta) + varlong_size(record->offsetDelta) +
		      run_size(record->key.n) + run_size(record->value.n) + varlong_size(record->nheaders);

	for (int32_t i = 0; i < record->nheaders; i++)
		size += run_size(record->headers[i].key.n) + run_size(record->headers[i].value.n);
	return size;
}

size_t kw_record_size(const struct kw_record *record)
{
	size_t size = body_size(record);

	return varlong_size((int64_t)size) + size;
}

void kw_record_put(struct kw_buf *out, const struct kw_record *record)
{
	size_t size = body_size(record);

	if (size > INT32_MAX) {
		if (!out->failed)
			out->failed = KT_ELIMIT;
		return;
	}
	kw_put_varint(out, (int32_t)size);
	kw_put_u8(out, (uint8_t)record->attributes);
	kw_put_varlong(out, record->timestampDelta);
	kw_put_varint(out, record->offsetDelta);
	put_run(out, record->key.p, record->key.n);
	put_run(out, record->value.p, record->value.n);
	kw_put_varint(out, record->nheaders);
	for (int32_t i = 0; i < record->nheaders; i++) {
		put_run(out, record->headers[i].key.s, record->headers[i].key.n);
		put_run(out, record->headers[i].value.p, record->headers[i].value.n);
	}
}

static int put_records(int codec, const struct kw_record *records, int32_t n, struct kw_buf *out, struct kt_err *err)
{
	struct kw_buf plain;
	int code = 0;

	if (codec == KW_NONE) {
		for (int32_t i = 0; i < n; i++)
			kw_record_put(out, &records[i]);
		return 0;
	}
	kw_buf_init(&plain, 0);
	for (int32_t i = 0; i < n; i++)
		kw_record_put(&plain, &records[i]);
	if (plain.failed)
		out->failed = plain.failed;
	else
		code = kw_compress(codec, plain.p, plain.n, out, err);
	kw_buf_fini(&plain);
	return code;
}

static int64_t max_timestamp(const struct kw_batch_spec *spec, const struct kw_record *records, int32_t n)
{
	int64_t max = n > 0 ? INT64_MIN : 0;

	if (spec->maxTimestamp != -2)
		return spec->maxTimestamp;
	for (int32_t i = 0; i < n; i++)
		if (records[i].timestampDelta > max)
			max = records[i].timestampDelta;
	return (int64_t)((uint64_t)spec->baseTimestamp + (uint64_t)max);
}

/* spec->maxTimestamp is what is to be written. */
static void write_header(uint8_t *p, size_t size, const struct kw_batch_spec *spec, int32_t count,
			 int32_t lastOffsetDelta)
{
	kw_wr64(p + KW_B_BASE_OFFSET, (uint64_t)spec->baseOffset);
	kw_wr32(p + KW_B_LENGTH, (uint32_t)(size - KW_B_LOG_OVERHEAD));
	kw_wr32(p + KW_B_LEADER_EPOCH, (uint32_t)spec->partitionLeaderEpoch);
	p[KW_B_MAGIC] = 2;
	kw_wr16(p + KW_B_ATTRIBUTES, (uint16_t)spec->attributes);
	kw_wr32(p + KW_B_LAST_OFFSET_DELTA, (uint32_t)lastOffsetDelta);
	kw_wr64(p + KW_B_BASE_TIMESTAMP, (uint64_t)spec->baseTimestamp);
	kw_wr64(p + KW_B_MAX_TIMESTAMP, (uint64_t)spec->maxTimestamp);
	kw_wr64(p + KW_B_PRODUCER_ID, (uint64_t)spec->producerId);
	kw_wr16(p + KW_B_PRODUCER_EPOCH, (uint16_t)spec->producerEpoch);
	kw_wr32(p + KW_B_BASE_SEQUENCE, (uint32_t)spec->baseSequence);
	kw_wr32(p + KW_B_COUNT, (uint32_t)count);
	kw_wr32(p + KW_B_CRC, kw_batch_crc(p, size));
}

/* Completes the batch that begins at start, or takes it back: code is what came of its records. */
static int finish(int code, const struct kw_batch_spec *spec, int32_t count, int32_t lastOffsetDelta, size_t start,
		  struct kw_buf *out, struct kt_err *err)
{
	if (code == 0 && !out->failed && out->n - start - KW_B_LOG_OVERHEAD > INT32_MAX)
		out->failed = KT_ELIMIT;
	if (code == 0 && out->failed)
		code = kw_buf_fail(out, err, "batch of %d records is too large", count);
	if (code)
		out->n = start;
	else
		write_header(out->p + start, out->n - start, spec, count, lastOffsetDelta);
	return code;
}

int kw_batch_build(const struct kw_batch_spec *spec, const struct kw_record *records, int32_t n, struct kw_buf *out,
		   struct kt_err *err)
{
	struct kw_batch_spec header = *spec;
	size_t start = out->n;
	int code;

	header.maxTimestamp = max_timestamp(spec, records, n);
	if (kw_buf_room(out, KW_B_RECORDS))
		out->n += KW_B_RECORDS;
	code = put_records(spec->attributes & KW_A_CODEC, records, n, out, err);
	return finish(code, &header, n, n > 0 ? records[n - 1].offsetDelta : -1, start, out, err);
}

int kw_batch_wrap(const struct kw_batch_spec *spec, const uint8_t *area, size_t size, int32_t count,
		  int32_t lastOffsetDelta, struct kw_buf *out, struct kt_err *err)
{
	int codec = spec->attributes & KW_A_CODEC, code = 0;
	size_t start = out->n;

	if (kw_buf_room(out, KW_B_RECORDS))
		out->n += KW_B_RECORDS;
	if (codec == KW_NONE)
		kw_put(out, area, size);
	else
		code = kw_compress(codec, area, size, out, err);
	return finish(code, spec, count, lastOffsetDelta, start, out, err);
}
