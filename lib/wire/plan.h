/* Inside lib/wire: what a (message, version) becomes before anything is decoded or encoded.
 *
 * The field tables carry version ranges; a plan has them resolved: a dense list of operations, compactness and
 * nullability decided, and the least number of bytes that the struct takes on the wire. One check, count times minimum
 * against the bytes left, bounds every array of every message.
 */
#ifndef KASSAY_WIRE_PLAN_H
#define KASSAY_WIRE_PLAN_H

#include <stdatomic.h>

#include "lib/wire/message.h"
#include "lib/wire/shuffle.h"

struct kw_plan;

/* Some numbers of a run, which one shuffle moves. It writes KW_LANES bytes: those that go too far are zeros and
 * defaults, or overwritten by what comes next, since fields lie in memory in the order of the wire, and a struct ends
 * with its unknown tags. What is read goes too far as well, but where the run is long enough it lies within it. */
struct kw_move {
	uint16_t offset;           /* of the first in the C struct */
	uint16_t from, to;         /* of the run's bytes on the wire: where to read, where to write */
	uint8_t get[KW_LANES], put[KW_LANES]; /* orders: wire to struct, struct to wire */
	uint8_t fill[KW_LANES];    /* what stands in the struct beside the numbers */
};

enum { KW_WORD = 8 };

struct kw_op {
	uint8_t type;              /* enum kw_type */
	bool array, compact, nullable;
	bool pointer;              /* see kw_is_pointer() */
	int16_t tag;               /* of a tagged field, else -1 */
	uint32_t offset;           /* in the C struct */
	uint32_t elem_size;        /* of an array element in memory */
	uint32_t elem_min;         /* of an array element on the wire, at least 1 */
	const struct kw_plan *sub; /* KW_STRUCT */
	const struct kw_field *field;
};

/* What the interpreters have a short way for: a run of numbers, a lone number, a bool, and what is compact of strings,
 * records, arrays of int32, of structs, and other arrays. The end has none, and comes after all others. */
enum kw_step_kind {
	KW_STEP_SLOW, KW_STEP_RUN, KW_STEP_16, KW_STEP_32, KW_STEP_64, KW_STEP_BOOL, KW_STEP_TEXT, KW_STEP_RECORDS,
	KW_STEP_INTS, KW_STEP_STRUCTS, KW_STEP_ARRAY, KW_STEP_TAGS, KW_STEP_END,
	KW_STEP_KINDS,
};

struct kw_dec;
struct kw_step;
struct kw_frame;

/* Reads at p a step and all that come after it in its struct, which lies at `out`; returns the place behind, or
 * NULL. */
typedef const uint8_t *kw_read_fn(struct kw_dec *d, const uint8_t *p, const struct kw_step *step, char *out,
				  struct kw_frame *frame);
/* By kind of step. */
extern kw_read_fn *const kw_read_fns[KW_STEP_KINDS];

/* One op or a run of them, as the interpreters' short ways need it. */
struct kw_step {
	kw_read_fn *read;
	uint8_t kind;              /* enum kw_step_kind */
	bool nullable;
	uint8_t nops;              /* that it stands for */
	uint8_t nmoves;            /* of a run */
	uint32_t offset;           /* in the C struct */
	uint16_t run_bytes;        /* of a run: bytes on the wire */
	uint16_t run_get, run_put; /* of a run: bytes that its moves touch when they read and when they write */
	union {
		struct kw_move *moves;     /* KW_STEP_RUN */
		const struct kw_plan *sub; /* KW_STEP_STRUCTS; KW_STEP_TAGS: the plan of the step */
	};
	const struct kw_op *op;
};

/* Bytes of a struct that are not zero before it is read: the defaults of fields that need not come, but for those that
 * come with a move. */
struct kw_fill {
	uint32_t offset;
	uint8_t bytes[KW_LANES];
};

/* Offsets between which some fields lie and no others, a multiple of a word; equal where others do. */
struct kw_extent {
	uint32_t from, to;
};

/* What the short ways need comes first, and is one cache line. */
struct kw_plan {
	const struct kw_step *steps;  /* the ops once more; the last is the end */
	const struct kw_fill *fills;
	uint32_t nsteps, nfills;
	uint32_t min_size;            /* least bytes on the wire */
	uint32_t size, tags_offset;   /* of st */
	bool flexible;
	uint32_t ntagged, nabsent;
	struct kw_extent tagged_at, absent_at; /* where those lie */
	uint32_t nops;
	const struct kw_op *ops;      /* in wire order */
	const struct kw_op *tagged;   /* in tag order */
	const struct kw_field **absent; /* fields that this version lacks and that must not be set */
	const void *defaults;         /* image of the struct with all defaults */
	const void *image;            /* with those of absent and tagged fields: what a decode begins with */
	const struct kw_struct *st;
};

/* One step of the way to a field, for the path in an error; frames live on the C stack. */
struct kw_frame {
	const struct kw_frame *up;
	const struct kw_field *field;
	int32_t index;             /* of an array element, -1 = the field itself */
};

extern const struct kw_msg *const kw_all_messages[];
extern const size_t kw_all_messages_n;

/* Plans by message id and version - versions.min, NULL where none was made yet. */
typedef const struct kw_plan *_Atomic kw_plan_slot;
extern kw_plan_slot **_Atomic kw_plan_slots;

/* Makes the plan if there is none yet. */
const struct kw_plan *kw_plan_make(const struct kw_msg *msg, int version, struct kt_err *err);

/* How many (message, version) have a plan by now. */
size_t kw_plan_count(void);
/* "topicData[0].partitionData[1].index" */
void kw_frame_path(const struct kw_frame *frame, char *buf, size_t size);
/* Fails with the path of the frame. */
int kw_frame_fail(const struct kw_frame *frame, struct kt_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* True if the field of the struct at `in` is at its default. */
bool kw_field_is_default(const struct kw_field *field, const void *in);
/* Bytes of one value (or one array element) of the type in memory. */
uint32_t kw_type_size(const struct kw_field *field);

static inline bool kw_in(struct kw_range range, int version)
{
	return version >= range.min && version <= range.max;
}

/* The plan of the root struct; NULL with err if the version is not the message's. Plans are made once and kept; safe
 * from several threads. */
static inline const struct kw_plan *kw_plan_get(const struct kw_msg *msg, int version, struct kt_err *err)
{
	kw_plan_slot **slots = atomic_load_explicit(&kw_plan_slots, memory_order_acquire);
	const struct kw_plan *plan = NULL;

	if (slots && kw_in(msg->versions, version) && slots[msg->id])
		plan = atomic_load_explicit(slots[msg->id] + (version - msg->versions.min), memory_order_acquire);
	return plan ? plan : kw_plan_make(msg, version, err);
}

/* A struct field that can be null in some version is a pointer in the C struct. */
static inline bool kw_is_pointer(const struct kw_field *field)
{
	return field->type == KW_STRUCT && !(field->flags & KW_F_ARRAY) && field->nullable.min <= field->nullable.max;
}

#endif
