#include "lib/wire/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <zlib.h>

#include "lib/wire/control.h"
#include "lib/wire/errors.h"

#define CRC32C_POLYNOMIAL UINT32_C(0x82f63b78)   /* bits in reverse, as they are sent */

struct check {
	const struct kw_entry *entry;
	enum kw_role role;
	kw_fault_fn *fn;
	void *arg;
	bool stopped;
	/* Of the records, while they are walked: */
	struct kw_batch batch;
	int64_t last;            /* offset delta, -1 before the first */
	int64_t maxTimestamp;
	int32_t n;
	bool told;               /* of one record that its offset is wrong: more of them say nothing new */
};

__attribute__((format(printf, 6, 7)))
static void find(struct check *check, enum kw_rule rule, int code, size_t at, size_t size, const char *fmt, ...)
{
	struct kw_fault fault = {.rule = rule, .at = at, .size = size, .code = code};
	va_list ap;

	if (check->stopped)
		return;
	va_start(ap, fmt);
	vsnprintf(fault.text, sizeof fault.text, fmt, ap);
	va_end(ap);
	check->stopped = check->fn(check->arg, &fault) != 0;
}

/* ---- checksums ---- */

bool kw_crc32c_flip(size_t n, uint32_t difference, size_t *at, int *bit)
{
	uint32_t turn = CRC32C_POLYNOMIAL;

	for (size_t k = 0; k < 8 * n; k++) {
		if (turn == difference) {
			*at = n - 1 - k / 8;
			*bit = 7 - (int)(k % 8);
			return true;
		}
		turn = turn >> 1 ^ (turn & 1 ? CRC32C_POLYNOMIAL : 0);
	}
	return false;
}

/* What could have been meant by a CRC that is not right. */
static void guess(const struct kw_entry *entry, uint32_t stored, uint32_t computed, char *out, size_t size)
{
	const uint8_t *p = entry->p + KW_B_ATTRIBUTES;
	size_t n = entry->size - KW_B_ATTRIBUTES, at;
	uint32_t turned = stored ^ computed;
	int bit;

	*out = '\0';
	if (__builtin_bswap32(stored) == computed)
		snprintf(out, size, "; that is the right one with its bytes in reverse");
	else if (stored == (uint32_t)crc32(0, p, (uInt)n))
		snprintf(out, size, "; that is their CRC-32, not CRC-32C");
	else if (stored == kw_crc32c(0, entry->p + KW_B_MAGIC, entry->size - KW_B_MAGIC))
		snprintf(out, size, "; that is the CRC from the magic on");
	else if ((turned & (turned - 1)) == 0)
		snprintf(out, size, "; one bit of the crc is flipped");
	else if (kw_crc32c_flip(n, turned, &at, &bit))
		snprintf(out, size, "; bit %d of byte %zu is flipped, if no more is", bit, KW_B_ATTRIBUTES + at);
}

static void crc_words(const struct kw_batch *batch, const struct kw_entry *entry, char *out, size_t size)
{
	uint32_t computed = kw_batch_crc(batch->p, batch->size);
	char hint[100];

	guess(entry, batch->crc, computed, hint, sizeof hint);
	snprintf(out, size, "crc says %08x, the bytes from attributes on have %08x%s", batch->crc, computed, hint);
}

/* ---- header ---- */

/* A rule that a batch, or a message whose header it holds, breaks. */
static void find_rule(struct check *check, enum kw_rule rule)
{
	const struct kw_rule_facts facts = {.batch = &check->batch};
	struct kw_fault fault = {.rule = rule, .code = kw_rule_code(rule)};

	if (check->stopped)
		return;
	kw_rule_place(rule, &fault.at, &fault.size);
	if (rule == KW_R_CRC)
		crc_words(&check->batch, check->entry, fault.text, sizeof fault.text);
	else
		kw_rule_words(rule, true, &facts, fault.text, sizeof fault.text);
	check->stopped = check->fn(check->arg, &fault) != 0;
}

static void check_header(struct check *check)
{
	enum kw_rule rule = 0;

	while ((rule = kw_rule_broken(check->role, &check->batch, NULL, rule)) < KW_RULES)
		find_rule(check, rule++);
}

/* ---- records ---- */

/* A fault of a record as a whole. */
static struct kw_fault of_record(const struct check *check, const struct kw_item *item)
{
	struct kw_fault fault = {
		.rule = KW_RULES, .at = item->at, .size = item->size, .inflated = check->batch.attributes & KW_A_CODEC,
	};

	if (!fault.inflated)
		fault.at += KW_B_RECORDS;
	return fault;
}

static void check_control(struct check *check, const struct kw_item *item)
{
	struct kw_fault fault = of_record(check, item);
	struct kt_err err = {0};
	int type;

	if (check->stopped || kw_control_read_key(item->key, NULL, &type, &err) == 0)
		return;
	snprintf(fault.text, sizeof fault.text, "a control record whose key is none: %.180s", err.text);
	check->stopped = check->fn(check->arg, &fault) != 0;
}

/* b - a, which wraps as offsets in a batch do. */
static int64_t between(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)b - (uint64_t)a);
}

static int see_record(void *arg, int32_t index, const struct kw_item *item)
{
	struct check *check = arg;
	const struct kw_batch *batch = &check->batch;
	int64_t delta = between(batch->baseOffset, item->offset);

	check->n++;
	if (item->timestamp > check->maxTimestamp)
		check->maxTimestamp = item->timestamp;
	if (check->role == KW_STORED && !check->told && (delta <= check->last || delta > batch->lastOffsetDelta)) {
		struct kw_fault fault = of_record(check, item);

		check->told = true;
		snprintf(fault.text, sizeof fault.text, "record %d has offset delta %" PRId64 ", its place is behind %"
			 PRId64 " and not behind %d", index, delta, check->last, batch->lastOffsetDelta);
		check->stopped = check->fn(check->arg, &fault) != 0;
	}
	check->last = delta;
	if (batch->attributes & KW_A_CONTROL)
		check_control(check, item);
	return check->stopped;
}

static void check_records(struct check *check)
{
	const struct kw_batch *batch = &check->batch;
	bool inflated = batch->attributes & KW_A_CODEC;
	struct kw_fault fault = {.rule = KW_RULES, .size = 1, .inflated = inflated};
	struct kt_err err = {0};
	enum kw_walk why;

	check->last = -1;
	check->maxTimestamp = INT64_MIN;
	if (kw_entry_walk(check->entry, NULL, see_record, check, &why, &err) == 0 || why == KW_WALK_STOPPED)
		return;
	fault.code = kw_walk_code(why);
	fault.at = err.offset;
	if (why == KW_WALK_BAD_CODEC && err.offset == 0)
		fault = (struct kw_fault){.rule = KW_RULES, .at = KW_B_RECORDS, .size = batch->size - KW_B_RECORDS,
					  .code = fault.code};
	else if (!inflated)
		fault.at += KW_B_RECORDS;
	if (check->n == 0)
		snprintf(fault.text, sizeof fault.text, "%.230s", err.text);
	else
		snprintf(fault.text, sizeof fault.text, "after %d good %s: %.200s", check->n,
			 check->n == 1 ? "record" : "records", err.text);
	check->stopped = check->fn(check->arg, &fault) != 0;
}

/* In a log the greatest timestamp is the leader's work. */
static void check_max_timestamp(struct check *check)
{
	const struct kw_batch *batch = &check->batch;

	if (check->role == KW_STORED && check->n > 0 && check->n == batch->count &&
	    !(batch->attributes & (KW_A_LOG_APPEND_TIME | KW_A_CONTROL)) && check->maxTimestamp != batch->maxTimestamp)
		find(check, KW_RULES, 0, KW_B_MAX_TIMESTAMP, 8,
		     "maxTimestamp is %" PRId64 ", the greatest of the records is %" PRId64,
		     batch->maxTimestamp, check->maxTimestamp);
}

/* ---- entries ---- */

static void check_batch(struct check *check)
{
	struct kw_batch *batch = &check->batch;
	int code = kw_batch_parse(check->entry->p, check->entry->size, batch, NULL);

	check_header(check);
	if (code || check->stopped)
		return;
	if (kw_codec_name(batch->attributes & KW_A_CODEC))
		check_records(check);
	check_max_timestamp(check);
}

static void check_message(struct check *check)
{
	const struct kw_entry *entry = check->entry;
	struct kt_err err = {0};
	struct kw_legacy message;
	enum kw_walk why;
	uint32_t computed;
	int code;

	check->batch = (struct kw_batch){.p = entry->p, .size = entry->size};
	if (check->role == KW_PRODUCED)
		find_rule(check, KW_R_OLD_MAGIC);
	code = kw_legacy_parse(entry->p, entry->size, &message, &err);
	computed = kw_legacy_crc(entry->p, entry->size);
	if (message.crc != computed)
		find(check, KW_R_CRC, kw_rule_code(KW_R_CRC), KW_L_CRC, 4,
		     "crc says %08x, the bytes from magic on have %08x", message.crc, computed);
	if (code) {
		find(check, KW_RULES, KW_ERR_UNKNOWN_SERVER_ERROR, err.offset, 4, "%s", err.text);
		return;
	}
	if (kw_legacy_walk(&message, NULL, NULL, NULL, &why, &err)) {
		struct kw_fault fault = {.rule = KW_RULES, .at = err.offset, .size = 1, .code = kw_walk_code(why)};

		fault.inflated = why != KW_WALK_BEYOND &&
				 !(why >= KW_WALK_WRAPPER_MAGIC && why <= KW_WALK_WRAPPER_OFFSET);
		snprintf(fault.text, sizeof fault.text, "%.230s", err.text);
		check->fn(check->arg, &fault);
	}
}

void kw_entry_faults(const struct kw_entry *entry, enum kw_role role, kw_fault_fn *fn, void *arg)
{
	struct check check = {.entry = entry, .role = role, .fn = fn, .arg = arg};

	if (entry->magic < 2)
		check_message(&check);
	else
		check_batch(&check);
}
