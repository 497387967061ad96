/* Inside lib/wire: what a (message, version) becomes before anything is decoded or encoded.
 *
 * The field tables carry version ranges; a plan has them resolved: a dense list of operations, compactness and
 * nullability decided, and the least number of bytes that the struct takes on the wire. One check, count times minimum
 * against the bytes left, bounds every array of every message.
 */
#ifndef KASSAY_WIRE_PLAN_H
#define KASSAY_WIRE_PLAN_H

#include "lib/wire/message.h"

struct kw_plan;

/* Two numbers that follow each other on the wire, or one. An interpreter's cost is that of choosing what to do, so it
 * chooses half as often. X(first, second): bytes of each; the bool has a shape of its own, because any byte is one. */
#define KW_SHAPES(X)                                                \
	X(1, 0) X(2, 0) X(4, 0) X(8, 0)                             \
	X(1, 1) X(1, 2) X(1, 4) X(1, 8) X(2, 1) X(2, 2) X(2, 4) X(2, 8) \
	X(4, 1) X(4, 2) X(4, 4) X(4, 8) X(8, 1) X(8, 2) X(8, 4) X(8, 8)
#define KW_SHAPE(first, second) KW_SHAPE_##first##_##second

enum kw_shape {
#define KW_X(first, second) KW_SHAPE(first, second),
	KW_SHAPES(KW_X)
#undef KW_X
	KW_SHAPE_BOOL, KW_SHAPE_UUID,
};

/* What the interpreters have a short way for: the numbers from this op on, compact strings, compact records. */
enum kw_quick {
	KW_QUICK_NOT, KW_QUICK_RUN, KW_QUICK_TEXT, KW_QUICK_RECORDS,
};

struct kw_move {
	uint8_t shape;             /* enum kw_shape */
	uint16_t first, second;    /* offsets in the C struct */
};

struct kw_op {
	uint8_t type;              /* enum kw_type */
	bool array, compact, nullable;
	bool pointer;              /* see kw_is_pointer() */
	int16_t tag;               /* of a tagged field, else -1 */
	uint32_t offset;           /* in the C struct */
	uint32_t elem_size;        /* of an array element in memory */
	uint32_t elem_min;         /* of an array element on the wire, at least 1 */
	uint8_t quick;             /* enum kw_quick */
	uint8_t step;              /* ops that are done with it */
	uint16_t run_bytes;        /* of a run: bytes on the wire, so that one look at what is left does for all, */
	uint16_t nmoves;           /* and its numbers, two at a time */
	const struct kw_move *moves;
	const struct kw_plan *sub; /* KW_STRUCT */
	const struct kw_field *field;
};

/* A word of a decoded struct that is not zero before anything is read: of the defaults of fields that need not come. */
struct kw_fill {
	uint32_t offset;
	uint64_t word;
};

struct kw_plan {
	const struct kw_struct *st;
	const struct kw_op *ops;      /* in wire order */
	uint32_t nops;
	const struct kw_op *tagged;   /* in tag order */
	uint32_t ntagged;
	const struct kw_field **absent; /* fields that this version lacks and that must not be set */
	uint32_t nabsent;
	uint32_t min_size;            /* least bytes on the wire */
	bool flexible;
	const void *defaults;         /* image of the struct with all defaults */
	const struct kw_fill *fills;
	uint32_t nfills;
};

/* One step of the way to a field, for the path in an error; frames live on the C stack. */
struct kw_frame {
	const struct kw_frame *up;
	const struct kw_field *field;
	int32_t index;             /* of an array element, -1 = the field itself */
};

extern const struct kw_msg *const kw_all_messages[];
extern const size_t kw_all_messages_n;

/* The plan of the root struct; NULL with err if the version is not the message's. Plans are made once and kept; safe
 * from several threads. */
const struct kw_plan *kw_plan_get(const struct kw_msg *msg, int version, struct kt_err *err);
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

/* A struct field that can be null in some version is a pointer in the C struct. */
static inline bool kw_is_pointer(const struct kw_field *field)
{
	return field->type == KW_STRUCT && !(field->flags & KW_F_ARRAY) && field->nullable.min <= field->nullable.max;
}

#endif
