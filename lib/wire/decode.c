/* Decode: one interpreter for every message and version.
 *
 * This half takes the common cases of each step of a plan with as little ado as can be. Each kind of step has a
 * function, which goes on to that of the next step in its last call, a jump where the compiler optimizes: so place,
 * step and struct stay in registers, and none are saved. Without optimization the stack holds the steps of one struct
 * and of those around it, no more. What is not common, and what is broken, is left to decode_field.c.
 */
#include "lib/wire/decode.h"

/* What a kw_read_fn has, how it goes on, and what it leaves to the general way. */
#define STEP struct kw_dec *d, const uint8_t *p, const struct kw_step *step, char *out, struct kw_frame *frame
#define NEXT(p) step[1].read(d, p, step + 1, out, frame)
#define SLOWLY(p) read_slowly(d, p, step, out, frame)
#define FIELD(type) ((type *)(void *)(out + step->offset))

static const uint8_t *read_slowly(STEP)
{
	for (uint32_t i = 0; i < step->nops && p && !d->code; i++)
		p = kw_read_field(d, p, &step->op[i], frame, out);
	return p && !d->code ? NEXT(p) : NULL;
}

/* ---- numbers ---- */

static inline void move_run(const struct kw_step *step, const uint8_t *from, char *out)
{
	const struct kw_move *move = step->moves, *end = move + step->nmoves;

	do
		kw_shuffle((uint8_t *)out + move->offset, from + move->from, move->get, move->fill);
	while (++move < end);
}

/* A run near the end of the input. */
static __attribute__((noinline)) const uint8_t *read_last_run(STEP)
{
	uint8_t copy[2 * KW_LANES] = {0};   /* run_get is less */

	if (!kw_has(d, p, step->run_bytes))
		return SLOWLY(p);
	memcpy(copy, p, step->run_bytes);
	move_run(step, copy, out);
	return NEXT(p + step->run_bytes);
}

/* run_get bytes are there, so one look at what is left does for all. */
static const uint8_t *read_run(STEP)
{
	if (!kw_has(d, p, step->run_get))
		return read_last_run(d, p, step, out, frame);
	move_run(step, p, out);
	return NEXT(p + step->run_bytes);
}

static const uint8_t *read_16(STEP)
{
	if (!kw_has(d, p, 2))
		return SLOWLY(p);
	*FIELD(uint16_t) = kw_rd16(p);
	return NEXT(p + 2);
}

static const uint8_t *read_32(STEP)
{
	if (!kw_has(d, p, 4))
		return SLOWLY(p);
	*FIELD(uint32_t) = kw_rd32(p);
	return NEXT(p + 4);
}

static const uint8_t *read_64(STEP)
{
	if (!kw_has(d, p, 8))
		return SLOWLY(p);
	*FIELD(uint64_t) = kw_rd64(p);
	return NEXT(p + 8);
}

static const uint8_t *read_bool(STEP)
{
	if (p == d->end)
		return SLOWLY(p);
	*FIELD(bool) = *p != 0;
	return NEXT(p + 1);
}

/* ---- what has a length ---- */

/* Of one byte: less than 127, wraps where null. */
static inline bool short_length(const struct kw_dec *d, const uint8_t *p, uint32_t *n)
{
	if (p == d->end)
		return false;
	*n = *p - 1u;
	return true;
}

static const uint8_t *read_text(STEP)
{
	struct kw_str *str = FIELD(struct kw_str);
	uint32_t n;

	if (!short_length(d, p, &n))
		return SLOWLY(p);
	*str = (struct kw_str){(const char *)p + 1, (int32_t)n};
	if (n < 0x7f && kw_has(d, p + 1, n))
		return NEXT(p + 1 + n);
	return n == UINT32_MAX && step->nullable ? NEXT(p + 1) : SLOWLY(p);
}

/* Of less than 2 MiB, which a length of three bytes can say; not null. */
static const uint8_t *read_records(STEP)
{
	struct kw_records *records = FIELD(struct kw_records);
	const uint8_t *at = p + 1;
	uint32_t n;

	if (p == d->end)
		return SLOWLY(p);
	n = *p;
	if (n >= 0x80) {
		if (!kw_has(d, p, 3))
			return SLOWLY(p);
		n += (uint32_t)*at++ * 0x80 - 0x80;
		if (n >= 0x4000)
			n += (uint32_t)*at++ * 0x4000 - 0x4000;
	}
	if (--n >= 0x1fffff || !kw_has(d, at, n))
		return SLOWLY(p);
	records->p = at;
	records->n = (int32_t)n;
	return NEXT(at + n);
}

/* An array of which only the count is there. */
static const uint8_t *read_no_array(STEP)
{
	uint32_t n;

	if (!short_length(d, p, &n) || (n != 0 && !(n == UINT32_MAX && step->nullable)))
		return SLOWLY(p);
	FIELD(struct kw_arr)->n = (int32_t)n;
	return NEXT(p + 1);
}

static const uint8_t *read_ints(STEP)
{
	uint32_t n, *v;

	if (!short_length(d, p, &n))
		return SLOWLY(p);
	if (n - 1 >= 0x7e)
		return read_no_array(d, p, step, out, frame);
	p++;
	if (!kw_has(d, p, 4 * (size_t)n) || !(v = kw_alloc(d->arena, 4 * (size_t)n)))
		return SLOWLY(p - 1);
	*FIELD(struct kw_arr) = (struct kw_arr){v, (int32_t)n};
	if (kw_has(d, p, 4 * (size_t)n + KW_LANES))   /* four at once: there is memory for a multiple of that */
		for (uint32_t i = 0; i < n; i += 4)
			kw_shuffle((uint8_t *)(v + i), p + 4 * (size_t)i, kw_turn_32, NULL);
	else
		for (uint32_t i = 0; i < n; i++)
			v[i] = kw_rd32(p + 4 * (size_t)i);
	return NEXT(p + 4 * (size_t)n);
}

/* ---- structs ---- */

/* One struct; the frame is its own. */
static inline const uint8_t *read_struct(struct kw_dec *d, const uint8_t *p, const struct kw_plan *plan, char *out,
					 struct kw_frame *frame)
{
	const struct kw_fill *fill = plan->fills;

	for (uint32_t left = plan->nfills; left > 0; left--, fill++)
		memcpy(out + fill->offset, fill->bytes, sizeof fill->bytes);
	return plan->steps->read(d, p, plan->steps, out, frame);
}

static inline const uint8_t *read_elements(struct kw_dec *d, const uint8_t *p, const struct kw_plan *plan, char *out,
					   int32_t n, struct kw_frame *up)
{
	struct kw_frame frame = {up, NULL, -1};

	up->index = 0;
	do {
		p = read_struct(d, p, plan, out, &frame);
		if (!p)
			return NULL;
		out += plan->size;
	} while (++up->index < n);
	up->index = -1;
	return p;
}

/* Of less than 127 structs, but some. Apart from read_structs(), since this has registers to save. */
static __attribute__((noinline)) const uint8_t *read_short_array(STEP)
{
	const struct kw_plan *sub = step->sub;
	uint32_t n = *p++ - 1u;
	char *v;

	if (!kw_has(d, p, n * (size_t)sub->min_size) || !(v = kw_alloc(d->arena, n * (size_t)sub->size)))
		return SLOWLY(p - 1);
	*FIELD(struct kw_arr) = (struct kw_arr){v, (int32_t)n};
	frame->field = step->op->field;
	p = read_elements(d, p, sub, v, (int32_t)n, frame);
	return p ? NEXT(p) : NULL;
}

static const uint8_t *read_structs(STEP)
{
	uint32_t n;

	if (!short_length(d, p, &n))
		return SLOWLY(p);
	return n - 1 < 0x7e ? read_short_array(d, p, step, out, frame) : read_no_array(d, p, step, out, frame);
}

static const uint8_t *read_end(STEP)
{
	(void)d, (void)step, (void)out, (void)frame;
	return p;
}

/* The end of a struct that can have tagged fields, which nearly always has none. */
static const uint8_t *read_tags(STEP)
{
	return p < d->end && *p == 0 ? p + 1 : kw_read_tags(d, p, step->sub, out, frame);
}

kw_read_fn *const kw_read_fns[KW_STEP_KINDS] = {
	[KW_STEP_SLOW] = read_slowly,
	[KW_STEP_RUN] = read_run,
	[KW_STEP_16] = read_16,
	[KW_STEP_32] = read_32,
	[KW_STEP_64] = read_64,
	[KW_STEP_BOOL] = read_bool,
	[KW_STEP_TEXT] = read_text,
	[KW_STEP_RECORDS] = read_records,
	[KW_STEP_INTS] = read_ints,
	[KW_STEP_STRUCTS] = read_structs,
	[KW_STEP_ARRAY] = read_no_array,
	[KW_STEP_TAGS] = read_tags,
	[KW_STEP_END] = read_end,
};

static const uint8_t *read_mapped(struct kw_dec *d, const uint8_t *p, const struct kw_plan *plan, char *out,
				  struct kw_frame *frame)
{
	memcpy(out, plan->image, plan->size);
	for (uint32_t i = 0; i < plan->nops && p; i++)
		p = kw_read_field(d, p, &plan->ops[i], frame, out);
	return p && plan->flexible ? kw_read_tags(d, p, plan, out, frame) : p;
}

const uint8_t *kw_read_struct(struct kw_dec *d, const uint8_t *p, const struct kw_plan *plan, char *out,
			      struct kw_frame *up)
{
	struct kw_frame frame = {up, NULL, -1};

	return d->map ? read_mapped(d, p, plan, out, &frame) : read_struct(d, p, plan, out, &frame);
}

const uint8_t *kw_read_structs(struct kw_dec *d, const uint8_t *p, const struct kw_plan *plan, char *out, int32_t n,
			       struct kw_frame *up)
{
	return read_elements(d, p, plan, out, n, up);
}

static inline int decode(struct kw_dec *d, const struct kw_plan *plan, void **out, size_t *used)
{
	struct kw_frame root = {NULL, NULL, -1};
	const uint8_t *end;

	*out = plan ? kw_alloc(d->arena, plan->size) : NULL;
	if (!*out)
		return plan ? kt_fail(d->err, KT_ENOMEM, "out of memory") : d->err ? d->err->code : KT_EVERSION;
	end = d->map ? read_mapped(d, d->base, plan, *out, &root) : read_struct(d, d->base, plan, *out, &root);
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
	d = (struct kw_dec){.base = p ? p : nothing, .end = (p ? p : nothing) + n, .arena = arena, .err = err,
			    .map = map};
	return decode(&d, kw_plan_get(msg, version, err), out, used);
}

int kw_decode(const struct kw_msg *msg, int version, const uint8_t *p, size_t n, struct kw_arena *arena, void **out,
	      size_t *used, struct kt_err *err)
{
	struct kw_dec d = {.base = p ? p : nothing, .end = (p ? p : nothing) + n, .arena = arena, .err = err};

	return decode(&d, kw_plan_get(msg, version, err), out, used);
}
