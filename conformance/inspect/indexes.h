/* The files beside a log segment: shown, and held against its batches. Each is a node of the tree. segment may be NULL:
 * then only the file itself is judged. */
#ifndef KASSAY_CONFORMANCE_INSPECT_INDEXES_H
#define KASSAY_CONFORMANCE_INSPECT_INDEXES_H

#include "conformance/inspect/inspect.h"
#include "conformance/inspect/segment.h"
#include "lib/wire/index_file.h"

/* A file: its name, for people, and its bytes. */
struct cf_beside {
	const char *name;
	struct kw_slice bytes;
	int64_t first_offset;            /* as the name says */
	bool entries;                    /* show each entry, not only how many there are */
};

/* Has the file that suffix, and something in front of it? */
bool cf_has_suffix(const char *file, const char *suffix);
/* Suffixes of the files that are named as their segment is; NULL behind the last. */
const char *cf_beside_suffix(size_t i);
/* A fault of the file's bytes [at, at + size). */
void cf_beside_fault(struct cf_inspector *inspector, const struct cf_beside *beside, size_t at, size_t size,
		     const char *text);

void cf_inspect_index(struct cf_inspector *inspector, enum kw_index index, const struct cf_beside *beside,
		      const struct cf_segment *segment);
/* NN.snapshot: the producers as they were in front of offset NN. */
void cf_inspect_producers(struct cf_inspector *inspector, const struct cf_beside *beside);
/* leader-epoch-checkpoint: where each leader epoch begins. */
void cf_inspect_epochs(struct cf_inspector *inspector, const struct cf_beside *beside,
		       const struct cf_segment *segment);

/* partition.metadata: version and topic id. */
void cf_inspect_partition(struct cf_inspector *inspector, const struct cf_beside *beside);

/* The files beside the segment `file`, whose bytes are given; those that are there. */
int cf_inspect_beside(struct cf_inspector *inspector, const char *file, const struct kw_slice *bytes,
		      int64_t first_offset, struct kt_err *err);
/* One such file alone. */
void cf_inspect_alone(struct cf_inspector *inspector, const char *file, const struct kw_slice *bytes,
		      int64_t first_offset);

#endif
