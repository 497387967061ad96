#include "fakebroker/log/mutant_checks.h"

#include "fakebroker/mutants.h"
#include "lib/wire/java_utf8.h"

static int codec_of(const struct kw_batch *batch)
{
	return batch->attributes & KW_A_CODEC;
}

/* ---- codecs ---- */

/* The payload does not begin with the frame of snappy-java. */
static bool is_raw_snappy(const uint8_t *p, size_t n)
{
	static const uint8_t xerial[] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0};

	return n < sizeof xerial || memcmp(p, xerial, sizeof xerial) != 0;
}

/* The first block of the frame, behind a header without content size, is marked as stored. */
static bool is_stored_lz4(const uint8_t *p, size_t n)
{
	return n > 10 && p[10] & 0x80;
}

/* The frame is neither one segment nor has a field for its size. */
static bool is_unsized_zstd(const uint8_t *p, size_t n)
{
	return n > 4 && !(p[4] & 0xe0);
}

static bool is_any(const uint8_t *p, size_t n)
{
	(void)p;
	return n > 0;
}

bool fb_mutant_lacks_codec(const struct kw_batch *batch)
{
	static const struct {
		enum fb_mutant mutant;
		int codec;
		bool (*is)(const uint8_t *p, size_t n);
	} rows[] = {
		{FB_M_GZIP_UNKNOWN, KW_GZIP, is_any},
		{FB_M_SNAPPY_UNKNOWN, KW_SNAPPY, is_any},
		{FB_M_SNAPPY_RAW_UNKNOWN, KW_SNAPPY, is_raw_snappy},
		{FB_M_LZ4_UNKNOWN, KW_LZ4, is_any},
		{FB_M_LZ4_STORED_UNKNOWN, KW_LZ4, is_stored_lz4},
		{FB_M_ZSTD_UNKNOWN, KW_ZSTD, is_any},
		{FB_M_ZSTD_UNSIZED_UNKNOWN, KW_ZSTD, is_unsized_zstd},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (fb_mutant(rows[i].mutant) && codec_of(batch) == rows[i].codec &&
		    rows[i].is(batch->p + KW_B_RECORDS, batch->size - KW_B_RECORDS))
			return true;
	return false;
}

/* ---- judged too much ---- */

bool fb_mutant_refuses_header(const struct kw_batch *batch)
{
	return (fb_mutant(FB_M_LEADER_EPOCH_JUDGED) && batch->partitionLeaderEpoch > 0) ||
	       (fb_mutant(FB_M_MAX_TIMESTAMP_JUDGED) && batch->maxTimestamp < batch->baseTimestamp) ||
	       (fb_mutant(FB_M_NEGATIVE_TIMESTAMP_JUDGED) && batch->baseTimestamp < -1) ||
	       (fb_mutant(FB_M_APPEND_TIME_BIT_JUDGED) && batch->attributes & KW_A_LOG_APPEND_TIME) ||
	       (fb_mutant(FB_M_DELETE_HORIZON_JUDGED) && batch->attributes & KW_A_DELETE_HORIZON) ||
	       (fb_mutant(FB_M_UNUSED_ATTRIBUTES_JUDGED) && batch->attributes & ~0x7f);
}

static bool is_canonical(const struct kw_batch *batch, const struct kw_record *record)
{
	struct kw_buf out = {0};
	bool same;

	if (codec_of(batch) != KW_NONE)
		return true;
	kw_record_put(&out, record);
	same = out.n == record->size && memcmp(out.p, batch->p + KW_B_RECORDS + record->at, out.n) == 0;
	kw_buf_fini(&out);
	return same;
}

static bool has_odd_header(const struct kw_record *record)
{
	for (int32_t i = 0; i < record->nheaders && record->headers; i++) {
		const struct kw_header *header = &record->headers[i];

		if ((fb_mutant(FB_M_HEADER_KEY_EMPTY_JUDGED) && header->key.n == 0) ||
		    (fb_mutant(FB_M_HEADER_VALUE_NULL_JUDGED) && header->value.n < 0) ||
		    (fb_mutant(FB_M_HEADER_KEY_UTF8_JUDGED) &&
		     !kw_java_utf8_good((const uint8_t *)header->key.s, (size_t)header->key.n)))
			return true;
	}
	return false;
}

bool fb_mutant_refuses_record(const struct fb_append *a, const struct kw_batch *batch, int32_t index,
			      const struct kw_record *record)
{
	return (fb_mutant(FB_M_OFFSET_DELTAS_JUDGED) && record->offsetDelta != index) ||
	       (fb_mutant(FB_M_RECORD_ATTRIBUTES_JUDGED) && record->attributes) ||
	       (fb_mutant(FB_M_SIZE_LIMIT_INFLATED) && record->at + record->size > (size_t)a->conf->maxMessageBytes) ||
	       (fb_mutant(FB_M_ONLY_CANONICAL) && !is_canonical(batch, record)) || has_odd_header(record);
}

/* ---- judged too little ---- */

static bool is_duplicate(const struct fb_append *a, const struct kw_batch *batch, struct kw_arena *arena)
{
	const struct fb_producer_check check = {.batch = batch, .topic = a->topic, .partition = a->partition};
	const struct fb_producer_batch *duplicate = NULL;
	const char *reason;

	fb_producers_check(a->producers, &check, arena, &reason, &duplicate);
	return duplicate != NULL;
}

bool fb_mutant_hides_record(const struct fb_append *a, const struct kw_batch *batch, int32_t index, int32_t refused,
			    struct kw_arena *arena)
{
	int codec = codec_of(batch);

	return fb_mutant(FB_M_CHAIN_IGNORED) ||
	       (fb_mutant(FB_M_CHAIN_WITHOUT_SINGLES) && batch->count == 1) ||
	       (fb_mutant(FB_M_CHAIN_WITHOUT_PLAIN) && codec == KW_NONE) ||
	       (fb_mutant(FB_M_CHAIN_ONLY_IDEMPOTENT) && batch->producerId < 0) ||
	       (fb_mutant(FB_M_CHAIN_WITHOUT_GZIP) && codec == KW_GZIP) ||
	       (fb_mutant(FB_M_CHAIN_WITHOUT_SNAPPY) && codec == KW_SNAPPY) ||
	       (fb_mutant(FB_M_CHAIN_WITHOUT_LZ4) && codec == KW_LZ4) ||
	       (fb_mutant(FB_M_CHAIN_WITHOUT_ZSTD) && codec == KW_ZSTD) ||
	       (fb_mutant(FB_M_CHAIN_SKIPS_FIRST) && index == 0) ||
	       (fb_mutant(FB_M_CHAIN_SKIPS_LAST) && index > 0 && index == batch->count - 1) ||
	       (fb_mutant(FB_M_CHAIN_SEES_FIRST_ONLY) && index > 0) ||
	       (fb_mutant(FB_M_CHAIN_STOPS) && refused > 0) ||
	       (fb_mutant(FB_M_DUPLICATE_NOT_SHOWN) && is_duplicate(a, batch, arena));
}

bool fb_mutant_misses(enum kw_walk why, const char *text)
{
	static const struct {
		enum fb_mutant mutant;
		enum kw_walk why;
		const char *text;         /* how it begins */
	} rows[] = {
		{FB_M_RECORD_STRUCTURE_UNSEEN, KW_WALK_BAD_RECORD, "Found invalid record structure"},
		{FB_M_RECORD_SIZE_UNSEEN, KW_WALK_BAD_RECORD, "Invalid record size"},
		{FB_M_HEADER_COUNT_UNSEEN, KW_WALK_BAD_RECORD, "Found invalid number of record headers"},
		{FB_M_HEADER_COUNT_SIGN_UNSEEN, KW_WALK_BAD_RECORD, "Found invalid number of record headers -"},
		{FB_M_HEADER_KEY_NULL_UNSEEN, KW_WALK_BAD_RECORD, "Invalid negative header key size"},
		{FB_M_SKIPPED_END_UNSEEN, KW_WALK_BAD_RECORD, "Reached end of input stream"},
		{FB_M_EMPTY_BATCH_TAKEN, KW_WALK_BAD_RECORD, "Found invalid record count"},
		{FB_M_FEWER_RECORDS_UNSEEN, KW_WALK_EARLY_EOF, ""},
		{FB_M_MORE_RECORDS_UNSEEN, KW_WALK_TRAILING, ""},
		{FB_M_LONG_VARINT_UNSEEN, KW_WALK_BAD_VARINT, ""},
		{FB_M_BROKEN_CODEC_UNSEEN, KW_WALK_BAD_CODEC, ""},
		{FB_M_BROKEN_END_UNSEEN, KW_WALK_BAD_CODEC, "Error checking for remaining bytes"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (fb_mutant(rows[i].mutant) && why == rows[i].why &&
		    strncmp(text, rows[i].text, strlen(rows[i].text)) == 0)
			return true;
	return false;
}
