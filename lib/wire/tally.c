/* All records of a batch at once, as long as each is in good order. */
#include "lib/wire/tally.h"

#include "lib/wire/record_time.h"
#include "lib/wire/varint.h"

static inline const uint8_t *pass_run(const uint8_t *p, const uint8_t *end, int32_t *n)
{
	p = kw_take_varint(p, end, n);
	return p && *n <= end - p ? p + (*n > 0 ? *n : 0) : NULL;
}

static const uint8_t *pass_headers(const uint8_t *p, const uint8_t *end)
{
	int32_t n, key, value;

	for (p = kw_take_varint(p, end, &n); p && n > 0; n--) {
		p = pass_run(p, end, &key);
		if (!p || key < 0 || !(p = pass_run(p, end, &value)))
			return NULL;
	}
	return p && n == 0 ? p : NULL;
}

/* Whether a record's value and headers, from p on, end where the record does. */
static bool ends_well(const uint8_t *p, const uint8_t *end)
{
	int32_t value;

	p = pass_run(p, end, &value);
	return p && pass_headers(p, end) == end;
}

/* What is gone through, and what it has come to so far. */
struct tallying {
	const uint8_t *p, *end;
	int64_t base;
	bool append_time;           /* all records have the time `base` */
	int32_t record_max, index, count;
	struct kw_tally tally;
};

static inline void count_time(struct tallying *t, int32_t index, int64_t timestampDelta, int32_t offsetDelta)
{
	struct kw_tally *tally = &t->tally;
	int64_t timestamp = kw_wrap_add(t->base, t->append_time ? 0 : timestampDelta);

	if (timestamp > tally->maxTimestamp || index == 0) {
		tally->maxTimestamp = timestamp;
		tally->indexOfMax = index;
		tally->deltaOfMax = offsetDelta;
	}
	if (timestamp < tally->minTimestamp || index == 0)
		tally->minTimestamp = timestamp;
}

/* ---- a record by itself ---- */

/* Reads the record at t->p. False if it is not in good order. */
static bool read_record(struct tallying *t)
{
	struct kw_tally *tally = &t->tally;
	const uint8_t *p, *end;
	int64_t timestampDelta;
	int32_t size, offsetDelta, key;
	int used;

	p = kw_take_varint(t->p, t->end, &size);
	if (!p || size <= 0 || size > t->end - p || size > t->record_max)
		return false;
	end = p + size;
	used = kw_get_varlong(p + 1, end, &timestampDelta);
	if (used <= 0 || !(p = kw_take_varint(p + 1 + used, end, &offsetDelta)) || !(p = pass_run(p, end, &key)) ||
	    !ends_well(p, end))
		return false;
	count_time(t, t->index, timestampDelta, offsetDelta);
	if (t->index == 0)
		tally->firstDelta = offsetDelta;
	tally->odd |= offsetDelta != t->index;
	tally->null_key |= key < 0;
	t->p = end;
	t->index++;
	return true;
}

/* ---- a record like the one before ----
 * A record is its length, attributes, timestamp delta, offset delta, length of the key, key, length of the value,
 * value, number of headers, headers. From one to the next the offset delta grows by one, and else little changes: the
 * time now and then, maybe the lengths. So what there is to find is known before it is read. Bytes are compared, eight
 * at once, and as long as they are as expected none of them is decoded; where the next record begins is known, too, so
 * that the processor need not wait for one record's bytes before it looks at those of the next. What is not as expected
 * is decoded, and is what is expected from there on. */

/* What is loaded of a record before it is judged: its length, and the head, which begins with the attributes. Of the
 * head all counts from the timestamp delta to the length of the key. */
enum { SIZE_MOST = 2, HEAD = 8 };

static const uint64_t LAST_BITS = 0x8080808080808080;   /* of each byte: whether a varint goes on behind it */
static const uint64_t ATTRIBUTES = 0xff;                /* of the head, whose first byte is the lowest */

/* What the next record is expected to be. It is taken for read if what is compared is as expected: its first two bytes,
 * what `mask` covers of its head, what `value_mask` covers behind its key. So the masks decide what is correct. Time,
 * key and lengths are guessed to be those of the record before; a wrong guess is decoded, which is only slower. The
 * offset delta is no guess: bytes that match it are held to be the index. */
struct likeness {
	uint64_t head;         /* as expected; of it counts what is in mask */
	uint64_t mask;         /* fixed, time and key */
	uint64_t fixed;        /* offset delta, and how long it and the timestamp delta are; 0: nothing is known */
	uint64_t time;         /* timestamp delta but for how long it is */
	uint64_t key;          /* length of the key */
	uint64_t step;         /* added to the head: one more of the offset delta */
	uint64_t carry;        /* set in the head after that */
	int32_t until;         /* the index from which on that takes a byte more, or there are no more */
	unsigned key_at;       /* bits of the head before the key's length */
	uint32_t size;         /* the record's first two bytes: its length, and if that takes one, attributes */
	uint32_t value;        /* the first two bytes behind the key */
	uint32_t value_mask;   /* how much of them is the value's length */
	ptrdiff_t nsize;       /* bytes of the record's length */
	ptrdiff_t nfront;      /* bytes of what follows it, up to the end of the key */
	ptrdiff_t stride;      /* bytes of the record */
	ptrdiff_t value_at;    /* bytes of the record before its value's length */
};

static inline uint32_t load16(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8;
}

static inline uint64_t load64(const uint8_t *p)
{
	return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
	       (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

/* The first two bytes of a record. They are loaded with those behind them, since gcc likes to store two bytes and to
 * load four from there, for which a processor has to wait. */
static inline uint32_t load_size(const uint8_t *p)
{
	return (uint32_t)load64(p) & 0xffff;
}

static inline uint64_t lowest(uint64_t bits)
{
	return bits & (0 - bits);
}

/* A varint of one byte or two, out of the two that it begins, before zigzag. Above 0x3fff: it is longer. */
static inline uint32_t short_varint(uint32_t raw)
{
	return raw & 0x80 ? (raw & 0x807f) | (raw >> 1 & 0x3f80) : raw & 0xff;
}

/* For a record without headers that ends n bytes behind its key. */
static inline void expect_value(struct likeness *like, uint32_t n)
{
	uint32_t twice = 2 * (n - 2);

	like->value = twice;
	like->value_mask = 0xff;
	if (twice > 0x7f) {
		twice -= 2;
		like->value = (twice & 0x7f) | 0x80 | twice >> 7 << 8;
		like->value_mask = 0xffff;
	}
}

/* For a key as the head says. False: its length takes more than two bytes. */
static inline bool expect_key(struct likeness *like, struct tallying *t)
{
	uint32_t raw = (uint32_t)(like->head >> like->key_at) & 0xffff, twice = short_varint(raw);

	like->key = (uint64_t)(raw & 0x80 ? 0xffff : 0xff) << like->key_at;
	like->mask = like->fixed | like->time | like->key;
	like->nfront = like->key_at / 8 + (raw & 0x80 ? 2 : 1);
	if (twice & 1)
		t->tally.null_key = true;
	else
		like->nfront += twice / 2;
	return twice <= 0x3fff;
}

/* For a record of this length, of one byte or two. False: there is no such record. */
static inline bool expect_size(struct likeness *like, const struct tallying *t, uint32_t size)
{
	uint32_t twice = short_varint(size);
	ptrdiff_t n = twice / 2, left = n - like->nfront;

	like->size = size;
	like->nsize = size & 0x80 ? 2 : 1;
	like->stride = like->nsize + n;
	like->value_at = like->nsize + like->nfront;
	expect_value(like, (uint32_t)left);
	return !(twice & 1) && n <= t->record_max && left >= 2;
}

/* Nothing was known, or numbers are of other lengths than before. False: the offset delta is not the index, the head is
 * longer than is looked at, or as above. */
static inline bool expect_all(struct likeness *like, struct tallying *t, int32_t index, const uint8_t *p)
{
	uint32_t size = load_size(p);
	const uint8_t *head = p + (size & 0x80 ? 2 : 1);
	uint64_t ends, time, offset;   /* the last bit of each */
	int64_t timestampDelta;
	int32_t offsetDelta;
	int used;

	like->head = load64(head);
	ends = ~like->head & LAST_BITS & ~ATTRIBUTES;
	time = lowest(ends);
	offset = lowest(ends ^ time);
	if (offset == 0 || offset >> (64 - 16))   /* no room for the length of a key */
		return false;
	used = kw_get_varlong(head + 1, head + HEAD, &timestampDelta);
	if (used <= 0 || kw_get_varint(head + 1 + used, head + HEAD, &offsetDelta) <= 0 || offsetDelta != index)
		return false;
	count_time(t, index, timestampDelta, offsetDelta);
	like->time = (time - 1) & ~LAST_BITS & ~ATTRIBUTES;
	like->fixed = (offset | (offset - 1)) & ~like->time & ~ATTRIBUTES;
	/* `time` is the highest bit of its byte: the lowest of the next one, where the offset delta begins, is time << 1.
	 * One more is 2 more after zigzag. */
	like->step = time << 2;
	/* Adding 2 may carry away the bit that says that a byte goes on, into the byte behind it, which is where the sum
	 * goes on as well. All bytes of the offset delta but the last have that bit, and get it back. */
	like->carry = (offset - time) & LAST_BITS & ~time;
	like->key_at = (unsigned)__builtin_ctzll(offset) + 1;
	like->until = 1 << (7 * (__builtin_ctzll(offset) - __builtin_ctzll(time)) / 8 - 1);
	if (like->until > t->count)
		like->until = t->count;
	return expect_key(like, t) && expect_size(like, t, size);
}

/* Expects what the record at p, number `index`, has up to its key. The tally has a part of it already if what is behind
 * that turns out to be amiss; whoever reads the record by itself then either finds the same, or no tally. */
static inline bool adapt(struct likeness *like, struct tallying *t, int32_t index, const uint8_t *p)
{
	uint32_t size = load_size(p);
	uint64_t head = load64(p + (size & 0x80 ? 2 : 1)), differs = like->head ^ head;
	int64_t timestampDelta;

	if ((size & 0x8080) == 0x8080)
		return false;   /* the head is elsewhere */
	if (differs & like->fixed || !like->fixed)
		return expect_all(like, t, index, p);
	like->head = head;
	if (differs & like->key && !expect_key(like, t))
		return false;
	if ((size != like->size || differs & like->key) && !expect_size(like, t, size))
		return false;
	if (differs & like->time) {
		if (kw_get_varlong(p + like->nsize + 1, t->end, &timestampDelta) <= 0)
			return false;
		count_time(t, index, timestampDelta, index);
	}
	return true;
}

/* Reads on from t->p up to a record that is better read by itself. Not inlined, so that registers suffice. */
__attribute__((noinline))
static void read_alike(struct tallying *t)
{
	const uint8_t *p = t->p, *end = t->end, *next;
	int32_t index = t->index;
	struct likeness like = {.size = UINT32_MAX, .until = t->count};

	for (; index < like.until && end - p >= SIZE_MOST + HEAD; index++, p = next) {
		like.head = (like.head + like.step) | like.carry;
		if ((load_size(p) ^ like.size) | ((load64(p + like.nsize) ^ like.head) & like.mask) &&
		    !adapt(&like, t, index, p))
			break;
		if (like.stride > end - p)
			break;
		next = p + like.stride;
		if (((load16(p + like.value_at) ^ like.value) & like.value_mask || next[-1] != 0) &&
		    !ends_well(p + like.value_at, next))
			break;
	}
	t->p = p;
	t->index = index;
}

/* ---- all of them ---- */

bool kw_tally_records(const struct kw_batch *batch, const uint8_t *p, const uint8_t *end, int32_t record_max,
		      struct kw_tally *tally)
{
	bool append_time = batch->attributes & KW_A_LOG_APPEND_TIME;
	struct tallying t = {
		.p = p, .end = end, .append_time = append_time, .count = batch->count,
		.base = append_time ? batch->maxTimestamp : batch->baseTimestamp,
		.record_max = record_max > 0 ? record_max : INT32_MAX,
	};

	while (t.index < t.count) {
		if (!t.tally.odd)
			read_alike(&t);
		if (t.index < t.count && !read_record(&t))
			return false;
	}
	*tally = t.tally;
	return t.p == end && t.count > 0;
}
