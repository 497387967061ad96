#include "lib/wire/fuzz/inflate.h"

FUZZ_TARGET

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	return fuzz_inflate(KW_SNAPPY, p, n);
}
