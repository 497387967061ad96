/* What a control API may answer. */
#include "lib/client/http.h"
#include "lib/text/fuzz/fuzz.h"

FUZZ_TARGET

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	char *text = fuzz_text(p, n), *answer = NULL;
	struct kt_err err = {0};
	int status = -1, code = kc_http_answer(text, &status, &answer, &err);

	FUZZ_CHECK(code == err.code && !answer == !!code);
	FUZZ_CHECK(code ? err.text[0] != '\0' : status >= 100 && status <= 999);
	FUZZ_CHECK(!answer || strlen(answer) <= n);
	free(answer);
	free(text);
	return 0;
}
