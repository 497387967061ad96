/* An octet of options and then a document of the kit's in JSON: a case, an incident, a result. What inspect shows of it
 * is a whole tree, and of JSON one that can be read. */
#include "conformance/fuzz/whole_tree.h"
#include "lib/wire/fuzz/hand_written.h"

FUZZ_TARGET

enum { JSON = 1, STORED = 2 };

static void inspect(struct cf_inspector *inspector, json_t *document)
{
	struct kt_err err = {0};
	int shown;

	cf_tree_open(&inspector->tree, &(struct cf_place){.none = true}, "all", NULL);
	shown = cf_inspect_document(inspector, document, &err);
	cf_tree_close(&inspector->tree);
	FUZZ_CHECK(shown == err.code || (shown >= 0 && err.code == 0));
	FUZZ_CHECK(err.code == 0 || err.text[0]);
	FUZZ_CHECK(shown != 0 || inspector->batches == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	uint8_t options = fuzz_byte(&p, &n);
	struct cf_inspector inspector = {.records = true};
	json_t *document = hand_written(p, n);
	struct whole_tree whole = {0};

	if (!document)
		return 0;
	inspector.role = options & STORED ? KW_STORED : KW_PRODUCED;
	inspector.tree.json = options & JSON;
	whole_tree_begin(&whole, &inspector);
	inspect(&inspector, document);
	json_decref(document);
	whole_tree_end(&whole, &inspector);
	return 0;
}
