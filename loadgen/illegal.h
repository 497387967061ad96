/* Named illegal records and batches; the table is illegal.def. */
#ifndef KASSAY_LOADGEN_ILLEGAL_H
#define KASSAY_LOADGEN_ILLEGAL_H

#include <stdbool.h>
#include <stddef.h>

#include "loadgen/record.h"

struct lg_illegal {
	const char *name;
	int code;                                /* Kafka error code that is due */
	void (*spoil_record)(struct lg_draft *draft);             /* exactly one of the two is set */
	void (*spoil_batch)(uint8_t *batch, size_t size);         /* a finished batch */
	const char *what, *who;                  /* what is wrong, and who refuses it */
};

size_t lg_illegal_count(void);
const struct lg_illegal *lg_illegal_at(size_t i);
/* NULL if there is none of this name. */
const struct lg_illegal *lg_illegal_find(const char *name);
/* The nearest name, or NULL. */
const char *lg_illegal_nearest(const char *name);

/* A share of the operations of a phase. */
struct lg_illegal_share {
	const struct lg_illegal *illegal;
	double share;                            /* 0..1 */
};

enum { LG_ILLEGAL_MAX = 16 };

struct lg_illegal_mix {
	int n;
	struct lg_illegal_share v[LG_ILLEGAL_MAX];
};

/* Adds a share. KT_EUNKNOWN (names the nearest), KT_ERANGE (share not in (0, 1], or the sum above 1), KT_ELIMIT. */
int lg_illegal_mix_add(struct lg_illegal_mix *mix, const char *name, double share, struct kt_err *err);
/* The kind that operation `random` in [0, 1) is, NULL for a legal one. */
const struct lg_illegal *lg_illegal_pick(const struct lg_illegal_mix *mix, double random);
/* Is code one that a kind of the mix is due? */
bool lg_illegal_mix_has_code(const struct lg_illegal_mix *mix, int code);

#endif
