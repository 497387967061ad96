/* A tree of named places in bytes, written while it is walked: lines for people, or JSON. */
#ifndef KASSAY_CONFORMANCE_INSPECT_TREE_H
#define KASSAY_CONFORMANCE_INSPECT_TREE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/wire/types.h"

enum { CF_TREE_DEPTH = 64 };

struct cf_tree {
	FILE *out;
	bool json;
	bool full;               /* long values whole */
	int depth;
	bool filled[CF_TREE_DEPTH];   /* JSON: the open node has a child */
};

/* A run of bytes: of the file, or, if inflated, of what a compressed batch holds. */
struct cf_place {
	size_t at, size;
	bool inflated, none;     /* none: it has no place */
};

/* "2026-11-29T21:44:02.123Z" of a time since 1970 in thousandths or, per_second being 1000000, millionths of a second;
 * "no date" of one that has none. */
void cf_time_text(int64_t time, int per_second, char *out, size_t size);

/* A node with children; text may be NULL. Beyond CF_TREE_DEPTH nodes are left out. */
void cf_tree_open(struct cf_tree *tree, const struct cf_place *place, const char *name, const char *text);
void cf_tree_close(struct cf_tree *tree);
/* A node without; value is taken, text is for people and may be NULL: then it is the value. `wrong` marks it. */
void cf_tree_leaf(struct cf_tree *tree, const struct cf_place *place, const char *name, json_t *value, const char *text,
		  bool wrong);
/* Bytes: null, text in quotes or hex, cut unless full; JSON has the text of those that are cut, which says how many
 * they are. */
void cf_tree_bytes(struct cf_tree *tree, const struct cf_place *place, const char *name, struct kw_bytes bytes,
		   bool wrong);
/* What is wrong, with the bytes around it and a line below those that are meant. bytes are those that place counts in,
 * or NULL. code is a Kafka error code, 0 = none. */
void cf_tree_fault(struct cf_tree *tree, const struct cf_place *place, const struct kw_slice *bytes,
		   const char *sentence, int code);

#endif
