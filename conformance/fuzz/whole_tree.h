/* For the targets of inspect: what holds of the tree whatever the bytes. */
#ifndef KASSAY_CONFORMANCE_FUZZ_WHOLE_TREE_H
#define KASSAY_CONFORMANCE_FUZZ_WHOLE_TREE_H

#include <stdlib.h>

#include "conformance/inspect/inspect.h"
#include "lib/text/fuzz/fuzz.h"

/* The tree that the inspector writes, in memory. */
struct whole_tree {
	char *text;
	size_t size;
};

static inline void whole_tree_begin(struct whole_tree *whole, struct cf_inspector *inspector)
{
	inspector->tree.out = open_memstream(&whole->text, &whole->size);
}

/* It is closed as often as opened, says its first fault if it has any, and as JSON can be read. */
static inline void whole_tree_end(struct whole_tree *whole, struct cf_inspector *inspector)
{
	fclose(inspector->tree.out);
	FUZZ_CHECK(inspector->tree.depth == 0);
	FUZZ_CHECK((inspector->faults > 0) == (inspector->first[0] != '\0'));
	if (inspector->tree.json) {
		json_t *json = json_loads(whole->text, JSON_REJECT_DUPLICATES, NULL);

		FUZZ_CHECK(json);
		json_decref(json);
	}
	free(whole->text);
}

#endif
