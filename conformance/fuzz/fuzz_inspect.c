/* An octet of options and then a set of batches, a request or a response: what inspect shows of it is a whole tree, and
 * of JSON one that can be read; what is wrong lies inside of the entry. */
#include "conformance/fuzz/whole_tree.h"
#include "lib/wire/message.h"

FUZZ_TARGET

enum { JSON = 1, STORED = 2, KIND = 12, SET = 0, REQUEST = 4 };

static int check_fault(void *arg, const struct kw_fault *fault)
{
	const struct kw_entry *entry = arg;

	FUZZ_CHECK(fault->text[0]);
	FUZZ_CHECK(fault->inflated || (fault->at <= entry->size && fault->size <= entry->size));
	return 0;
}

static void check_set(const struct kw_slice *bytes, enum kw_role role)
{
	struct kw_set set = {.p = bytes->p, .n = bytes->n};
	struct kw_entry entry;

	while (kw_set_next(&set, &entry, NULL) > 0)
		kw_entry_faults(&entry, role, check_fault, &entry);
}

static void show(struct cf_inspector *inspector, const struct kw_slice *bytes, int kind)
{
	int api, version;

	if (kind == SET) {
		check_set(bytes, inspector->role);
		cf_inspect_set(inspector, bytes, 0, bytes->n, -1);
	} else if (kind == REQUEST) {
		cf_inspect_frame(inspector, bytes, -1, -1);
	} else if (bytes->n >= 2 && kw_response(bytes->p[0])) {
		api = bytes->p[0];
		version = bytes->p[1] % (kw_response(api)->versions.max + 1);
		cf_inspect_frame(inspector, &(struct kw_slice){bytes->p + 2, bytes->n - 2}, api, version);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct kw_slice bytes = {p + 1, n - 1};
	struct cf_inspector inspector = {.records = true};
	struct whole_tree whole = {0};

	if (n == 0)
		return 0;
	inspector.role = p[0] & STORED ? KW_STORED : KW_PRODUCED;
	inspector.tree.json = p[0] & JSON;
	whole_tree_begin(&whole, &inspector);
	cf_tree_open(&inspector.tree, &(struct cf_place){.none = true}, "all", NULL);
	show(&inspector, &bytes, p[0] & KIND);
	cf_tree_close(&inspector.tree);
	whole_tree_end(&whole, &inspector);
	return 0;
}
