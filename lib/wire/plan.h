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

/* What the interpreters have a short way for: the numbers from this op on, a bool, a uuid, and what is compact of
 * strings, records, arrays of int32, of structs, and other arrays. */
enum kw_quick {
	KW_QUICK_NOT, KW_QUICK_RUN, KW_QUICK_BOOL, KW_QUICK_UUID, KW_QUICK_TEXT, KW_QUICK_RECORDS, KW_QUICK_INTS,
	KW_QUICK_STRUCTS, KW_QUICK_ARRAY,
};

/* A number of a run. All sizes are moved alike, as the upper bytes of a big-endian word of eight: nothing has to be
 * decided for each. What goes too far is zeros, or overwritten by what comes next: fields lie in memory in the order of
 * the wire, and a struct ends with its unknown tags. */
struct kw_move {
	uint16_t offset;           /* in the C struct */
	uint8_t size;              /* bytes */
	uint8_t shift;             /* bits of a word that are not its own */
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
	uint8_t quick;             /* enum kw_quick */
	uint8_t step;              /* ops that are done by it */
	uint16_t run_bytes;        /* of a run: bytes on the wire, its last number taken as a word */
	const struct kw_move *moves; /* of a run: `step` of them */
	const struct kw_plan *sub; /* KW_STRUCT */
	const struct kw_field *field;
};

/* A word of a struct that is not zero where nothing is read: the defaults of fields that need not come. What is read
 * into the same word lies beside its bits. */
struct kw_fill {
	uint32_t offset;
	uint64_t word;
};

/* Offsets between which some fields lie and no others, a multiple of a word; equal where others do. */
struct kw_extent {
	uint32_t from, to;
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
	uint32_t size, tags_offset;   /* of st */
	bool flexible;
	const void *defaults;         /* image of the struct with all defaults */
	const struct kw_fill *fills;
	uint32_t nfills;
	struct kw_extent tagged_at, absent_at; /* where those lie */
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
