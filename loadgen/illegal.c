#include "loadgen/illegal.h"

#include <string.h>

#include "lib/text/near.h"
#include "lib/wire/errors.h"

#define DAY_MS INT64_C(86400000)
#define HOUR_MS INT64_C(3600000)

/* ---- records ---- */

static void empty_value(struct lg_draft *draft)
{
	lg_draft_stamp_header(draft);
	draft->value = (struct kw_bytes){(const uint8_t *)"", 0};
}

static void null_value(struct lg_draft *draft)
{
	lg_draft_stamp_header(draft);
	draft->value = (struct kw_bytes){NULL, -1};
}

static void no_header(struct lg_draft *draft)
{
	draft->nheaders = 0;
}

static void null_key(struct lg_draft *draft)
{
	draft->key = (struct kw_bytes){NULL, -1};
}

static void bad_timestamp(struct lg_draft *draft)
{
	draft->timestamp += DAY_MS + HOUR_MS;
}

/* ---- batches ---- */

static void seal(uint8_t *batch, size_t size)
{
	kw_wr32(batch + KW_B_CRC, kw_batch_crc(batch, size));
}

static void stale_crc(uint8_t *batch, size_t size)
{
	(void)size;
	batch[KW_B_CRC] ^= 1;
}

static void magic(uint8_t *batch, size_t size)
{
	(void)size;
	batch[KW_B_MAGIC] = 3;
}

static void base_offset(uint8_t *batch, size_t size)
{
	(void)size;
	kw_wr64(batch + KW_B_BASE_OFFSET, 1);
}

static void add32(uint8_t *p, uint32_t n)
{
	kw_wr32(p, kw_rd32(p) + n);
}

static void last_offset(uint8_t *batch, size_t size)
{
	add32(batch + KW_B_LAST_OFFSET_DELTA, 1);
	seal(batch, size);
}

/* Kept in step with the last offset delta, so that only reading the records tells. */
static void count(uint8_t *batch, size_t size)
{
	add32(batch + KW_B_COUNT, 1);
	last_offset(batch, size);
}

static void set_attributes(uint8_t *batch, size_t size, uint16_t bits)
{
	kw_wr16(batch + KW_B_ATTRIBUTES, kw_rd16(batch + KW_B_ATTRIBUTES) | bits);
	seal(batch, size);
}

static void control_flag(uint8_t *batch, size_t size)
{
	set_attributes(batch, size, KW_A_CONTROL);
}

static void codec_id(uint8_t *batch, size_t size)
{
	set_attributes(batch, size, KW_A_CODEC);
}

static void no_sequence(uint8_t *batch, size_t size)
{
	kw_wr64(batch + KW_B_PRODUCER_ID, 1);
	kw_wr16(batch + KW_B_PRODUCER_EPOCH, 0);
	seal(batch, size);
}

/* ---- the table ---- */

#define SPOILS_record(change) .spoil_record = change
#define SPOILS_batch(change) .spoil_batch = change

static const struct lg_illegal table[] = {
#define LG_ILLEGAL(n, scope, c, change, text, refuser)                                                            \
	{.name = n, .code = KW_ERR_##c, SPOILS_##scope(change), .what = text, .who = refuser},
#include "loadgen/illegal.def"
#undef LG_ILLEGAL
};

size_t lg_illegal_count(void)
{
	return sizeof table / sizeof table[0];
}

const struct lg_illegal *lg_illegal_at(size_t i)
{
	return &table[i];
}

const struct lg_illegal *lg_illegal_find(const char *name)
{
	for (size_t i = 0; i < lg_illegal_count(); i++)
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}

const char *lg_illegal_nearest(const char *name)
{
	struct kt_near near;

	kt_near_init(&near, name);
	for (size_t i = 0; i < lg_illegal_count(); i++)
		kt_near_offer(&near, table[i].name);
	return near.best;
}

/* ---- mixes ---- */

int lg_illegal_mix_add(struct lg_illegal_mix *mix, const char *name, double share, struct kt_err *err)
{
	const struct lg_illegal *illegal = lg_illegal_find(name);
	const char *near = illegal ? NULL : lg_illegal_nearest(name);
	double sum = share;

	if (!illegal)
		return kt_fail(err, KT_EUNKNOWN, "no illegal record is called \"%s\"%s%s%s", name,
			       near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
	if (!(share > 0 && share <= 1))
		return kt_fail(err, KT_ERANGE, "the share of %s must be above 0 and at most 1", name);
	for (int i = 0; i < mix->n; i++)
		sum += mix->v[i].share;
	if (sum > 1 + 1e-9)
		return kt_fail(err, KT_ERANGE, "the shares of illegal records add up to %g, which is above 1", sum);
	if (mix->n == LG_ILLEGAL_MAX)
		return kt_fail(err, KT_ELIMIT, "more than %d kinds of illegal records in one phase", LG_ILLEGAL_MAX);
	mix->v[mix->n++] = (struct lg_illegal_share){illegal, share};
	return 0;
}

const struct lg_illegal *lg_illegal_pick(const struct lg_illegal_mix *mix, double random)
{
	for (int i = 0; i < mix->n; i++) {
		if (random < mix->v[i].share)
			return mix->v[i].illegal;
		random -= mix->v[i].share;
	}
	return NULL;
}

bool lg_illegal_mix_has_code(const struct lg_illegal_mix *mix, int code)
{
	for (int i = 0; i < mix->n; i++)
		if (mix->v[i].illegal->code == code)
			return true;
	return false;
}
