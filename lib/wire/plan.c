#include "lib/wire/plan.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
	uint32_t size;         /* in memory */
	uint32_t wire_min;     /* on the wire, not compact */
} types[] = {
	[KW_BOOL] = {sizeof(bool), 1},
	[KW_INT8] = {1, 1},
	[KW_INT16] = {2, 2},
	[KW_UINT16] = {2, 2},
	[KW_INT32] = {4, 4},
	[KW_UINT32] = {4, 4},
	[KW_INT64] = {8, 8},
	[KW_FLOAT64] = {8, 8},
	[KW_UUID] = {16, 16},
	[KW_STRING] = {sizeof(struct kw_str), 2},
	[KW_BYTES] = {sizeof(struct kw_bytes), 4},
	[KW_RECORDS] = {sizeof(struct kw_records), 4},
};

uint32_t kw_type_size(const struct kw_field *field)
{
	return field->type == KW_STRUCT ? field->sub->size : types[field->type].size;
}

static bool has_length(uint8_t type)
{
	return type == KW_STRING || type == KW_BYTES || type == KW_RECORDS;
}

/* ---- defaults ---- */

void kw_set_defaults(const struct kw_struct *st, void *out)
{
	memcpy(out, st->defaults, st->size);
}

/* Unknown tagged fields count, too: a struct that has some is worth sending. */
static bool struct_is_default(const struct kw_struct *st, const void *in)
{
	if (((const struct kw_tags *)((const char *)in + st->tags_offset))->n)
		return false;
	for (uint32_t i = 0; i < st->nfields; i++)
		if (!kw_field_is_default(&st->fields[i], in))
			return false;
	return true;
}

bool kw_field_is_default(const struct kw_field *field, const void *in)
{
	const char *at = (const char *)in + field->offset;
	int32_t null_n = field->flags & KW_F_DEFAULT_NULL ? -1 : 0;

	if (field->flags & KW_F_ARRAY)
		return ((const struct kw_arr *)at)->n == null_n;
	switch ((enum kw_type)field->type) {
	case KW_BOOL: return *(const bool *)at == (field->def_int != 0);
	case KW_INT8: return *(const int8_t *)at == (int8_t)field->def_int;
	case KW_INT16:
	case KW_UINT16: return *(const int16_t *)at == (int16_t)field->def_int;
	case KW_INT32:
	case KW_UINT32: return *(const int32_t *)at == (int32_t)field->def_int;
	case KW_INT64: return *(const int64_t *)at == field->def_int;
	case KW_FLOAT64: return *(const double *)at == (double)field->def_int;
	case KW_UUID: {
		static const struct kw_uuid zero;
		return kw_uuid_eq(*(const struct kw_uuid *)at, zero);
	}
	case KW_STRING:
		if (null_n < 0)
			return ((const struct kw_str *)at)->n < 0;
		return kw_str_is(*(const struct kw_str *)at, field->def_str ? field->def_str : "");
	case KW_BYTES: return ((const struct kw_bytes *)at)->n == null_n;
	case KW_RECORDS: return ((const struct kw_records *)at)->n == null_n;
	case KW_STRUCT:
		if (kw_is_pointer(field)) {
			const void *sub = *(void *const *)at;
			return null_n < 0 ? !sub : sub && struct_is_default(field->sub, sub);
		}
		return struct_is_default(field->sub, at);
	}
	return false;
}

void *kw_new_array(const struct kw_struct *st, int32_t n, struct kw_arena *arena)
{
	char *p = kw_alloc(arena, (size_t)n * st->size);

	for (int32_t i = 0; p && i < n; i++)
		kw_set_defaults(st, p + (size_t)i * st->size);
	return p;
}

void *kw_new(const struct kw_msg *msg, struct kw_arena *arena)
{
	return kw_new_array(msg->root, 1, arena);
}

/* ---- plans ---- */

struct maker {
	struct kw_arena *arena;
	const struct kw_msg *msg;
	int version;
	bool failed;
};

static const struct kw_plan *make_plan(struct maker *mk, const struct kw_struct *st);

static void make_op(struct maker *mk, const struct kw_field *field, struct kw_op *op)
{
	bool flexible = kw_in(mk->msg->flexible, mk->version);

	op->type = field->type;
	op->array = field->flags & KW_F_ARRAY;
	op->pointer = kw_is_pointer(field);
	op->compact = flexible && !(field->flags & KW_F_NEVER_COMPACT);
	op->nullable = kw_in(field->nullable, mk->version);
	op->tag = kw_in(field->tagged, mk->version) ? field->tag : -1;
	op->offset = field->offset;
	op->elem_size = kw_type_size(field);
	op->field = field;
	if (field->type == KW_STRUCT)
		op->sub = make_plan(mk, field->sub);
	if (op->sub)
		op->elem_min = op->sub->min_size;
	else if (field->type != KW_STRUCT)
		op->elem_min = op->compact && has_length(field->type) ? 1 : types[field->type].wire_min;
	if (op->elem_min == 0)
		op->elem_min = 1;
}

static uint32_t wire_min(const struct kw_op *op)
{
	if (op->array)
		return op->compact ? 1 : 4;
	if (op->type == KW_STRUCT)
		return op->nullable ? 1 : op->sub ? op->sub->min_size : 0;
	return op->elem_min;
}

static bool is_number(const struct kw_struct *st, const struct kw_op *op)
{
	return !op->array && op->type >= KW_INT8 && op->type <= KW_UUID && op->offset + KW_LANES <= st->size;
}

/* Takes as many of the n numbers as lie close enough in memory; the run has `at` bytes on the wire before them. Returns
 * how many. */
static uint32_t make_move(struct kw_move *move, const struct kw_op *ops, uint32_t n, uint32_t at)
{
	uint32_t i, wire = 0;

	move->offset = (uint16_t)ops->offset;
	move->from = move->to = (uint16_t)at;
	memset(move->get, KW_NO_LANE, sizeof move->get);
	memset(move->put, KW_NO_LANE, sizeof move->put);
	for (i = 0; i < n; i++) {
		uint32_t memory = ops[i].offset - ops->offset, size = ops[i].elem_min;
		bool turned = ops[i].type != KW_UUID && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

		if (memory + size > KW_LANES)
			break;
		for (uint32_t b = 0; b < size; b++, wire++) {
			uint32_t lane = memory + (turned ? size - 1 - b : b);

			move->get[lane] = (uint8_t)wire;
			move->put[wire] = (uint8_t)lane;
		}
	}
	return i;
}

/* Has the move read from before its own numbers, so that it ends with the run. */
static void pull_back(struct kw_move *move, uint32_t run_bytes)
{
	uint32_t end = (uint32_t)move->to + KW_LANES;
	uint32_t by = end > run_bytes && run_bytes >= KW_LANES ? end - run_bytes : 0;

	move->from = (uint16_t)(move->to - by);
	for (uint32_t i = 0; i < KW_LANES; i++)
		if (move->get[i] < KW_LANES)
			move->get[i] = (uint8_t)(move->get[i] + by);
}

static enum kw_step_kind lone_number(const struct kw_op *op)
{
	return op->elem_min == 2 ? KW_STEP_16 : op->elem_min == 4 ? KW_STEP_32 : op->elem_min == 8 ? KW_STEP_64 : KW_STEP_RUN;
}

static void make_moves(struct maker *mk, struct kw_step *step)
{
	const struct kw_op *op = step->op;

	step->moves = kw_alloc(mk->arena, step->nops * sizeof *step->moves);
	if (!step->moves) {
		mk->failed = true;
		return;
	}
	for (uint32_t i = 0; i < step->nops;) {
		uint32_t end = i + make_move(&step->moves[step->nmoves++], op + i, step->nops - i, step->run_bytes);

		step->run_put = (uint16_t)(step->run_bytes + KW_LANES);
		for (; i < end; i++)
			step->run_bytes = (uint16_t)(step->run_bytes + op[i].elem_min);
	}
	for (uint32_t i = 0; i < step->nmoves; i++)
		pull_back(&step->moves[i], step->run_bytes);
	step->run_get = step->run_bytes < KW_LANES ? step->run_put : step->run_bytes;
}

static enum kw_step_kind step_kind(const struct kw_op *op)
{
	if (op->array && op->compact)
		return op->type == KW_INT32 ? KW_STEP_INTS : op->type == KW_STRUCT ? KW_STEP_STRUCTS : KW_STEP_ARRAY;
	if (op->array)
		return KW_STEP_SLOW;
	switch ((enum kw_type)op->type) {
	case KW_BOOL: return KW_STEP_BOOL;
	case KW_STRING: return op->compact ? KW_STEP_TEXT : KW_STEP_SLOW;
	case KW_RECORDS: return op->compact ? KW_STEP_RECORDS : KW_STEP_SLOW;
	default: return KW_STEP_SLOW;
	}
}

/* The step that begins with the first of n ops. */
static void make_step(struct maker *mk, const struct kw_struct *st, const struct kw_op *op, uint32_t n,
		      struct kw_step *step)
{
	uint32_t run = 0;

	while (run < n && run < UINT8_MAX && is_number(st, &op[run]))
		run++;
	*step = (struct kw_step){.nullable = op->nullable, .nops = (uint8_t)(run ? run : 1), .offset = op->offset, .op = op};
	step->kind = (uint8_t)(run > 1 ? KW_STEP_RUN : run ? lone_number(op) : step_kind(op));
	if (step->kind == KW_STEP_RUN)
		make_moves(mk, step);
	else if (step->kind == KW_STEP_STRUCTS)
		step->sub = op->sub;
}

static void make_steps(struct maker *mk, struct kw_plan *plan)
{
	struct kw_step *steps = kw_alloc(mk->arena, (plan->nops + 1) * sizeof *steps);

	if (!steps) {
		mk->failed = true;
		return;
	}
	for (uint32_t i = 0; i < plan->nops; i += steps[plan->nsteps++].nops)
		make_step(mk, plan->st, &plan->ops[i], plan->nops - i, &steps[plan->nsteps]);
	steps[plan->nsteps].kind = plan->flexible ? KW_STEP_TAGS : KW_STEP_END;
	steps[plan->nsteps].sub = plan;
	for (uint32_t i = 0; i <= plan->nsteps; i++)
		steps[i].read = kw_read_fns[steps[i].kind];
	plan->steps = steps;
}

static uint32_t end_of(const struct kw_field *field)
{
	return field->offset + (uint32_t)(field->flags & KW_F_ARRAY ? sizeof(struct kw_arr) :
					  kw_is_pointer(field) ? sizeof(void *) : kw_type_size(field));
}

static void extend(struct kw_extent *extent, const struct kw_field *field)
{
	if (extent->to == 0 || field->offset < extent->from)
		extent->from = field->offset;
	if (end_of(field) > extent->to)
		extent->to = end_of(field);
}

/* Makes the extent empty if a field that is there lies within. */
static void close_extent(const struct kw_plan *plan, struct kw_extent *extent)
{
	extent->from = extent->from / KW_WORD * KW_WORD;
	extent->to = (extent->to + KW_WORD - 1) / KW_WORD * KW_WORD;
	for (uint32_t i = 0; i < plan->nops; i++)
		if (plan->ops[i].offset < extent->to && end_of(plan->ops[i].field) > extent->from)
			extent->to = extent->from;
}

static void find_extents(struct kw_plan *plan)
{
	for (uint32_t i = 0; i < plan->ntagged; i++)
		extend(&plan->tagged_at, plan->tagged[i].field);
	for (uint32_t i = 0; i < plan->nabsent; i++)
		extend(&plan->absent_at, plan->absent[i]);
	close_extent(plan, &plan->tagged_at);
	close_extent(plan, &plan->absent_at);
}

/* The image of a struct before it is read: zeros, and the defaults of what this version lacks or need not have. */
static char *make_image(struct maker *mk, const struct kw_plan *plan)
{
	char *image = kw_alloc(mk->arena, plan->size);

	if (!image)
		return NULL;
	memcpy(image, plan->defaults, plan->size);
	for (uint32_t i = 0; i < plan->nops; i++) {
		const struct kw_op *op = &plan->ops[i];

		memset(image + op->offset, 0, op->array ? sizeof(struct kw_arr) : op->pointer ? sizeof(void *) : op->elem_size);
	}
	return image;
}

/* Has the moves bring what stands beside their numbers, and keeps the rest of the image as fills. */
static void find_fills(struct maker *mk, struct kw_plan *plan)
{
	struct kw_fill *fills = kw_alloc(mk->arena, plan->size / KW_LANES * sizeof *fills);
	char *rest = kw_alloc(mk->arena, plan->size);

	plan->image = make_image(mk, plan);
	if (!fills || !rest || !plan->image) {
		mk->failed = true;
		return;
	}
	memcpy(rest, plan->image, plan->size);
	for (uint32_t i = 0; i < plan->nsteps; i++)
		for (uint32_t k = 0; k < plan->steps[i].nmoves; k++) {
			struct kw_move *move = &plan->steps[i].moves[k];

			memcpy(move->fill, (const char *)plan->image + move->offset, KW_LANES);
			memset(rest + move->offset, 0, KW_LANES);
		}
	for (uint32_t at = 0; at + KW_LANES <= plan->size;) {
		if (!rest[at]) {
			at++;
			continue;
		}
		fills[plan->nfills].offset = at;
		memcpy(fills[plan->nfills++].bytes, (const char *)plan->image + at, KW_LANES);
		at += KW_LANES;
	}
	plan->fills = fills;
}

static int by_tag(const void *a, const void *b)
{
	return ((const struct kw_op *)a)->tag - ((const struct kw_op *)b)->tag;
}

static const struct kw_plan *make_plan(struct maker *mk, const struct kw_struct *st)
{
	struct kw_plan *plan = kw_alloc(mk->arena, sizeof *plan);
	struct kw_op *ops = kw_alloc(mk->arena, st->nfields * sizeof *ops);
	struct kw_op *tagged = kw_alloc(mk->arena, st->nfields * sizeof *tagged);

	if (plan)
		plan->absent = kw_alloc(mk->arena, st->nfields * sizeof *plan->absent);
	if (!plan || !ops || !tagged || !plan->absent) {
		mk->failed = true;
		return NULL;
	}
	plan->st = st;
	plan->size = st->size;
	plan->tags_offset = st->tags_offset;
	plan->ops = ops;
	plan->tagged = tagged;
	plan->flexible = kw_in(mk->msg->flexible, mk->version);
	plan->min_size = plan->flexible ? 1 : 0;
	plan->defaults = st->defaults;
	for (uint32_t i = 0; i < st->nfields; i++) {
		const struct kw_field *field = &st->fields[i];

		if (!kw_in(field->versions, mk->version)) {
			if (!(field->flags & KW_F_IGNORABLE))
				plan->absent[plan->nabsent++] = field;
		} else if (kw_in(field->tagged, mk->version)) {
			make_op(mk, field, &tagged[plan->ntagged++]);
		} else {
			make_op(mk, field, &ops[plan->nops]);
			plan->min_size += wire_min(&ops[plan->nops++]);
		}
	}
	qsort(tagged, plan->ntagged, sizeof *tagged, by_tag);
	make_steps(mk, plan);
	find_extents(plan);
	find_fills(mk, plan);
	return plan;
}

/* The arena is never freed: plans live as long as the process. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kw_arena plan_arena;
kw_plan_slot **_Atomic kw_plan_slots;
static atomic_size_t made;

static void init(void)
{
	kw_plan_slot **of;

	kw_arena_init(&plan_arena, 0);
	of = kw_alloc(&plan_arena, kw_all_messages_n * sizeof *of);
	for (size_t i = 0; of && i < kw_all_messages_n; i++) {
		struct kw_range r = kw_all_messages[i]->versions;

		if (r.min <= r.max)
			of[i] = kw_alloc(&plan_arena, (size_t)(r.max - r.min + 1) * sizeof(kw_plan_slot));
	}
	atomic_store(&kw_plan_slots, of);
}

static const struct kw_plan *make(const struct kw_msg *msg, int version, kw_plan_slot *at, struct kt_err *err)
{
	struct maker mk = {&plan_arena, msg, version, false};
	const struct kw_plan *plan;

	pthread_mutex_lock(&lock);
	plan = atomic_load(at);
	if (!plan) {
		plan = make_plan(&mk, msg->root);
		if (mk.failed)
			plan = NULL;
		else
			atomic_fetch_add(&made, 1);
		atomic_store(at, plan);
	}
	pthread_mutex_unlock(&lock);
	if (!plan)
		kt_fail(err, KT_ENOMEM, "no memory for the plan of %s", msg->name);
	return plan;
}

const struct kw_plan *kw_plan_make(const struct kw_msg *msg, int version, struct kt_err *err)
{
	kw_plan_slot **of, *at;

	if (!kw_in(msg->versions, version)) {
		kt_fail(err, KT_EVERSION, "%s has no version %d (known: %d-%d)", msg->name, version, msg->versions.min,
			msg->versions.max);
		return NULL;
	}
	pthread_once(&once, init);
	of = atomic_load(&kw_plan_slots);
	at = of ? of[msg->id] : NULL;
	if (at)
		return make(msg, version, at + (version - msg->versions.min), err);
	kt_fail(err, KT_ENOMEM, "no memory for the plans");
	return NULL;
}

size_t kw_plan_count(void)
{
	return atomic_load(&made);
}

/* ---- paths ---- */

void kw_frame_path(const struct kw_frame *frame, char *buf, size_t size)
{
	size_t n;

	buf[0] = '\0';
	if (!frame || size < 2)
		return;
	kw_frame_path(frame->up, buf, size);
	if (!frame->field)
		return;
	n = strlen(buf);
	snprintf(buf + n, size - n, "%s%s", n ? "." : "", frame->field->name);
	n = strlen(buf);
	if (frame->index >= 0)
		snprintf(buf + n, size - n, "[%d]", frame->index);
}

int kw_frame_fail(const struct kw_frame *frame, struct kt_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err || err->code)
		return code;
	kw_frame_path(frame, err->path, sizeof err->path);
	va_start(ap, fmt);
	kt_vfail(err, code, fmt, ap);
	va_end(ap);
	return code;
}
