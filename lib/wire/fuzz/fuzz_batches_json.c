/* Record batches in JSON: what is refused leaves the buffer as it was, and the error says where the fault lies. */
#include "lib/wire/batch.h"
#include "lib/wire/fuzz/hand_written.h"

FUZZ_TARGET

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	json_t *json = hand_written(p, n);
	struct kw_buf buf = {0};
	struct kt_err err = {0};
	int code;

	kw_put(&buf, "before", 6);
	if (json) {
		code = kw_batches_from_json(json, &buf, &err);
		FUZZ_CHECK(code == err.code);
		FUZZ_CHECK(code == 0 || (buf.n == 6 && !buf.failed));
		FUZZ_CHECK(code == 0 || (err.text[0] && strncmp(err.path, "batches", 7) == 0));
	}
	FUZZ_CHECK(buf.n >= 6 && memcmp(buf.p, "before", 6) == 0);
	kw_buf_fini(&buf);
	json_decref(json);
	return 0;
}
