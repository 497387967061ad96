/* An octet of options and then a capture: the tree of what is in it is whole, and of JSON one that can be read. */
#include "conformance/fuzz/whole_tree.h"
#include "conformance/inspect/exchanges.h"

FUZZ_TARGET

enum { JSON = 1, BRIEF = 2, PORT = 4 };

static void inspect(struct cf_inspector *inspector, const struct kw_slice *file, int options)
{
	struct cf_pcap_filter filter = {.api = -1, .brief = options & BRIEF, .port = options & PORT ? 9092 : 0};
	struct kt_err err = {0};

	cf_tree_open(&inspector->tree, &(struct cf_place){.none = true}, "all", NULL);
	cf_inspect_pcap(inspector, file, &filter, &err);
	cf_tree_close(&inspector->tree);
	FUZZ_CHECK(err.code != KT_ENOMEM);
	FUZZ_CHECK(err.code == 0 || err.text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	uint8_t options = fuzz_byte(&p, &n);
	struct kw_slice file = {p, n};
	struct cf_inspector inspector = {.records = true};
	struct whole_tree whole = {0};

	if (!cf_is_pcap(&file))
		return 0;
	inspector.tree.json = options & JSON;
	whole_tree_begin(&whole, &inspector);
	inspect(&inspector, &file, options);
	whole_tree_end(&whole, &inspector);
	return 0;
}
