/* A request frame, its size in front, on the first line in hex; then edits in JSON. What is refused says where; what is
 * edited stays within bounds, and all cuts lie inside. */
#include "lib/text/base64.h"
#include "lib/wire/edit.h"
#include "lib/wire/fuzz/hand_written.h"

FUZZ_TARGET

enum { LARGEST = 1 << 20 };

static void check(const struct kw_editing *result, const struct kw_buf *frame)
{
	FUZZ_CHECK(result->ncuts <= KW_EDIT_CUTS);
	for (size_t i = 0; i < result->ncuts; i++) {
		FUZZ_CHECK(result->cuts[i] <= frame->n);
		FUZZ_CHECK(i == 0 || result->cuts[i - 1] < result->cuts[i]);
	}
	FUZZ_CHECK(frame->n < LARGEST && !frame->failed && frame->nrefs == 0);
}

static void edit(const uint8_t *bytes, size_t n, json_t *edits)
{
	struct kw_editing result = {0};
	struct kw_buf frame = {.max = LARGEST};
	struct kt_err err = {0}, early = {0};
	int code, check_code = kw_edits_check(edits, &early);

	kw_put(&frame, bytes, n);
	code = kw_edit_frame(edits, &frame, &result, &err);
	FUZZ_CHECK(code == err.code && (code == 0 || err.text[0]));
	FUZZ_CHECK(check_code == early.code && (check_code == 0 || code != 0));
	if (code == 0)
		check(&result, &frame);
	kw_buf_fini(&frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	const uint8_t *end = n ? memchr(p, '\n', n) : NULL;
	size_t digits = end ? (size_t)(end - p) : 0;
	uint8_t *bytes = malloc(digits / 2 + 1);
	json_t *edits = end ? hand_written(end + 1, n - digits - 1) : NULL;
	long len = bytes && edits ? kt_hex_decode((const char *)p, digits, bytes) : -1;

	if (len >= 4)
		edit(bytes, (size_t)len, edits);
	json_decref(edits);
	free(bytes);
	return 0;
}
