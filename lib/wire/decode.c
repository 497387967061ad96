/* Decode: one interpreter for every message and version.
 *
 * This half takes the common cases of each step of a plan with as little ado as can be: each returns NULL for all others
 * and for what is broken, which is left to decode_field.c.
 */
#include "lib/wire/decode.h"

/* A run of numbers; run_get bytes are there, so one look at what is left does for all. */
static inline const uint8_t *read_run(const struct kw_step *step, char *out, const uint8_t *p)
{
	const struct kw_move *move = step->moves;

	for (unsigned left = step->nmoves; left > 0; left--, move++)
		kw_shuffle((uint8_t *)out + move->offset, p + move->from, move->get, move->fill);
	return p + step->run_bytes;
}

/* The same of a short run near the end of the input. NULL when it is too near. */
static __attribute__((noinline)) const uint8_t *read_short_run(const struct kw_dec *d, const uint8_t *p,
							       const struct kw_step *step, char *out)
{
	uint8_t copy[2 * KW_LANES] = {0};   /* run_get is less */

	if (!kw_has(d, p, step->run_bytes))
		return NULL;
	memcpy(copy, p, step->run_bytes);
	read_run(step, out, copy);
	return p + step->run_bytes;
}

/* What has a length of one byte: less than 127, wraps where null. */
static inline bool short_length(const struct kw_dec *d, const uint8_t *p, uint32_t *n)
{
	if (p == d->end)
		return false;
	*n = *p - 1u;
	return true;
}

static inline const uint8_t *read_short_text(const struct kw_dec *d, const uint8_t *p, bool nullable, struct kw_str *out)
{
	uint32_t n;

	if (!short_length(d, p++, &n))
		return NULL;
	*out = (struct kw_str){(const char *)p, (int32_t)n};
	if (n == UINT32_MAX)
		return nullable ? p : NULL;
	return n < 0x7f && kw_has(d, p, n) ? p + n : NULL;
}

/* Of less than 2 MiB, which a length of three bytes can say; not null. */
static inline const uint8_t *read_records(const struct kw_dec *d, const uint8_t *p, struct kw_records *out)
{
	uint32_t v;

	if (p == d->end)
		return NULL;
	v = *p++;
	if (v >= 0x80) {
		if (!kw_has(d, p, 2))
			return NULL;
		v += (uint32_t)*p++ * 0x80 - 0x80;
		if (v >= 0x4000)
			v += (uint32_t)*p++ * 0x4000 - 0x4000;
	}
	if (v == 0 || v >= 0x200000 || !kw_has(d, p, v - 1))
		return NULL;
	*out = (struct kw_records){.p = p, .n = (int32_t)(v - 1)};
	return p + v - 1;
}

/* An array of which only the count is there. */
static inline const uint8_t *read_no_array(const uint8_t *p, uint32_t n, bool nullable, struct kw_arr *out)
{
	if (n != 0 && !(n == UINT32_MAX && nullable))
		return NULL;
	out->n = (int32_t)n;
	return p + 1;
}

static inline const uint8_t *read_ints(const struct kw_dec *d, const uint8_t *p, bool nullable, struct kw_arr *out)
{
	uint32_t n, *v;

	if (!short_length(d, p, &n))
		return NULL;
	if (n - 1 >= 0x7e)
		return read_no_array(p, n, nullable, out);
	if (!kw_has(d, ++p, 4 * (size_t)n) || !(v = kw_alloc(d->arena, 4 * (size_t)n)))
		return NULL;
	*out = (struct kw_arr){v, (int32_t)n};
	if (kw_has(d, p, 4 * (size_t)n + KW_LANES))   /* four at once: there is memory for a multiple of that */
		for (uint32_t i = 0; i < n; i += 4)
			kw_shuffle((uint8_t *)(v + i), p + 4 * (size_t)i, kw_turn_32, NULL);
	else
		for (uint32_t i = 0; i < n; i++)
			v[i] = kw_rd32(p + 4 * (size_t)i);
	return p + 4 * (size_t)n;
}

static const uint8_t *read_plain(struct kw_dec *d, const uint8_t *p, const struct kw_plan *plan, char *out, int32_t n,
				 struct kw_frame *up);

static inline const uint8_t *read_short_array(struct kw_dec *d, const uint8_t *p, const struct kw_step *step,
					      struct kw_arr *out, struct kw_frame *frame)
{
	const struct kw_plan *sub = step->sub;
	uint32_t n;
	char *v;

	if (!short_length(d, p, &n))
		return NULL;
	if (n - 1 >= 0x7e)
		return read_no_array(p, n, step->nullable, out);
	if (!kw_has(d, ++p, n * (size_t)sub->min_size) || !(v = kw_alloc(d->arena, n * (size_t)sub->size)))
		return NULL;
	*out = (struct kw_arr){v, (int32_t)n};
	frame->field = step->op->field;
	frame->index = 0;
	return read_plain(d, p, sub, v, (int32_t)n, frame);
}

static inline const uint8_t *read_quickly(struct kw_dec *d, const uint8_t *p, const struct kw_step *step, char *out,
					  struct kw_frame *frame)
{
	void *at = out + step->offset;
	uint32_t n;

	switch ((enum kw_step_kind)step->kind) {
	case KW_STEP_RUN:
		return kw_has(d, p, step->run_get) ? read_run(step, out, p) : read_short_run(d, p, step, out);
	case KW_STEP_16:
		if (!kw_has(d, p, 2))
			return NULL;
		*(uint16_t *)at = kw_rd16(p);
		return p + 2;
	case KW_STEP_32:
		if (!kw_has(d, p, 4))
			return NULL;
		*(uint32_t *)at = kw_rd32(p);
		return p + 4;
	case KW_STEP_64:
		if (!kw_has(d, p, 8))
			return NULL;
		*(uint64_t *)at = kw_rd64(p);
		return p + 8;
	case KW_STEP_BOOL:
		if (p == d->end)
			return NULL;
		*(bool *)at = *p != 0;
		return p + 1;
	case KW_STEP_TEXT:
		return read_short_text(d, p, step->nullable, at);
	case KW_STEP_RECORDS:
		return read_records(d, p, at);
	case KW_STEP_INTS:
		return read_ints(d, p, step->nullable, at);
	case KW_STEP_STRUCTS:
		return read_short_array(d, p, step, at, frame);
	case KW_STEP_ARRAY:
		return short_length(d, p, &n) ? read_no_array(p, n, step->nullable, at) : NULL;
	case KW_STEP_SLOW:
	case KW_STEP_END:
		break;
	}
	return NULL;
}

static __attribute__((noinline)) const uint8_t *read_slowly(struct kw_dec *d, const uint8_t *p, const struct kw_step *step,
							    char *out, struct kw_frame *frame)
{
	for (uint32_t i = 0; i < step->nops && p && !d->code; i++)
		p = kw_read_field(d, p, &step->op[i], frame, out);
	return d->code ? NULL : p;
}

static const uint8_t *read_mapped(struct kw_dec *d, const uint8_t *p, const struct kw_plan *plan, char *out, int32_t n,
				  struct kw_frame *up)
{
	struct kw_frame frame = {up, NULL, -1};

	for (; p && up->index < n; up->index++, out += plan->size) {
		memcpy(out, plan->image, plan->size);
		for (uint32_t i = 0; i < plan->nops && p; i++)
			p = kw_read_field(d, p, &plan->ops[i], &frame, out);
		if (p && plan->flexible)
			p = kw_read_tags(d, p, plan, out, &frame);
	}
	up->index = -1;
	return p;
}

/* kw_read_structs() without a map. */
static const uint8_t *read_plain(struct kw_dec *d, const uint8_t *p, const struct kw_plan *plan, char *out, int32_t n,
				 struct kw_frame *up)
{
	struct kw_frame frame = {up, NULL, -1};

	for (int32_t i = up->index; i < n; up->index = ++i, out += plan->size) {
		const struct kw_fill *fill = plan->fills;

		for (uint32_t left = plan->nfills; left > 0; left--, fill++)
			memcpy(out + fill->offset, fill->bytes, sizeof fill->bytes);
		for (const struct kw_step *step = plan->steps; step->kind != KW_STEP_END; step++) {
			const uint8_t *next = read_quickly(d, p, step, out, &frame);

			if (__builtin_expect(!next, 0) && !(next = read_slowly(d, p, step, out, &frame)))
				return NULL;
			p = next;
		}
		if (!plan->flexible)
			continue;
		if (p < d->end && *p == 0)   /* no tagged fields, as nearly always */
			p++;
		else if (!(p = kw_read_tags(d, p, plan, out, &frame)))
			return NULL;
	}
	up->index = -1;
	return p;
}

const uint8_t *kw_read_structs(struct kw_dec *d, const uint8_t *p, const struct kw_plan *plan, char *out, int32_t n,
			       struct kw_frame *up)
{
	return d->map ? read_mapped(d, p, plan, out, n, up) : read_plain(d, p, plan, out, n, up);
}

static inline int decode(struct kw_dec *d, const struct kw_plan *plan, void **out, size_t *used)
{
	struct kw_frame root = {NULL, NULL, -1};
	const uint8_t *end;

	*out = plan ? kw_alloc(d->arena, plan->size) : NULL;
	if (!*out)
		return plan ? kt_fail(d->err, KT_ENOMEM, "out of memory") : d->err ? d->err->code : KT_EVERSION;
	end = kw_read_structs(d, d->base, plan, *out, 0, &root);
	if (used)
		*used = (size_t)((end ? end : d->stop) - d->base);
	return d->code;
}

static const uint8_t nothing[1];   /* stands for a NULL, which must not be counted from */

int kw_decode_map(const struct kw_msg *msg, int version, const uint8_t *p, size_t n, struct kw_arena *arena, void **out,
		  size_t *used, struct kw_map *map, struct kt_err *err)
{
	struct kw_dec d;

	if (!p)
		map->base = nothing;
	d = (struct kw_dec){.base = p ? p : nothing, .end = (p ? p : nothing) + n, .arena = arena, .err = err, .map = map};
	return decode(&d, kw_plan_get(msg, version, err), out, used);
}

int kw_decode(const struct kw_msg *msg, int version, const uint8_t *p, size_t n, struct kw_arena *arena, void **out,
	      size_t *used, struct kt_err *err)
{
	struct kw_dec d = {.base = p ? p : nothing, .end = (p ? p : nothing) + n, .arena = arena, .err = err};

	return decode(&d, kw_plan_get(msg, version, err), out, used);
}
