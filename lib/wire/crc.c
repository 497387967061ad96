#include <isa-l/crc.h>

#include "lib/wire/batch.h"

/* ISA-L picks the CPU's own instructions when the library is loaded. It leaves both inversions to the caller and counts
 * in int. */
uint32_t kw_crc32c(uint32_t crc, const void *p, size_t n)
{
	unsigned char *at = (unsigned char *)(uintptr_t)p;

	crc = ~crc;
	for (; n > INT32_MAX; n -= INT32_MAX, at += INT32_MAX)
		crc = crc32_iscsi(at, INT32_MAX, crc);
	return ~crc32_iscsi(at, (int)n, crc);
}

uint32_t kw_batch_crc(const uint8_t *p, size_t size)
{
	return kw_crc32c(0, p + KW_B_ATTRIBUTES, size - KW_B_ATTRIBUTES);
}
