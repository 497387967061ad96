/* What mutation.c and mutation_old.c make mutations of. */
#ifndef KASSAY_CONFORMANCE_DIFF_MAKER_H
#define KASSAY_CONFORMANCE_DIFF_MAKER_H

#include "conformance/diff/mutation.h"

struct cf_maker {
	struct cf_dice *dice;
	int64_t now_ms;
};

/* Makes an element of `batches` wrong in one way. */
typedef void cf_wrong_fn(struct cf_maker *make, json_t *batch);

struct cf_wrong {
	cf_wrong_fn *make;
	int weight;
};

/* In up to three ways of a table that ends with a NULL. */
void cf_make_wrong(struct cf_maker *make, const struct cf_wrong *table, json_t *batch);
void cf_add_edit(json_t *batch, json_t *edit);

/* What is wrong in one way with either kind of element. `path` is a field of the finished bytes, `within` so many of
 * these. */
void cf_wrong_length(struct cf_maker *make, json_t *batch, const char *path);
void cf_change(struct cf_maker *make, json_t *batch, const char *path);
void cf_behind(struct cf_maker *make, json_t *batch);
void cf_cut(struct cf_maker *make, json_t *batch, int within);
/* One bit; the CRC is right all the same, mostly. */
void cf_flip(struct cf_maker *make, json_t *batch, int within);
/* Makes the CRC right, but one time in `rarely`. */
void cf_fix_crc(struct cf_maker *make, json_t *batch, int rarely);

/* One of the forms that codecs had: snappy without frames, lz4 with the checksum of old clients. In an old message lz4
 * may be right. */
void cf_other_form(struct cf_maker *make, json_t *batch, bool old);

/* A key, a value; null too. */
json_t *cf_some_bytes(struct cf_maker *make);
/* {"key": ..., "value": ...} */
json_t *cf_some_key_value(struct cf_maker *make);
/* Hours from now, or almost one. */
json_t *cf_far_time(struct cf_maker *make);
/* What no codec inflates, or inflates to nothing. */
json_t *cf_no_stream(struct cf_maker *make);
/* A batch of magic 2, mostly wrong. */
json_t *cf_some_batch(struct cf_maker *make);
/* What Produce 0 to 2 carry in one partition: messages of magic 0 and 1 mostly, and mostly wrong. */
json_t *cf_old_batches(struct cf_maker *make);

#endif
