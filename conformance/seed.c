#include "conformance/seed.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

int64_t cf_random_seed(void)
{
	uint32_t seed;

	if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
		seed = (uint32_t)time(NULL) ^ (uint32_t)getpid() << 16;
	return seed;
}
