/* A scenario file: from its text to a cluster with topics, rules and configuration, or to a fault with its place. */
#include <sys/mman.h>
#include <unistd.h>

#include "fakebroker/fuzz/checked_start.h"

FUZZ_TARGET

/* A file in memory, which is opened by its name like any other. */
static const char *file_of(const uint8_t *p, size_t n)
{
	static char name[64];
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("scenario.json", MFD_CLOEXEC);
	FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, p, n, 0) == (ssize_t)n);
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	return name;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct fb_broker_process process;
	struct kt_err err = {0};
	int code;

	if (memchr(p, '#', n) || memmem(p, n, "\\u", 2))   /* validators of a plugin: whatever file that names */
		return 0;
	code = checked_start(&process, file_of(p, n), &err);
	FUZZ_CHECK(code == err.code && (code == 0 || err.text[0]));
	if (code == 0)
		FUZZ_CHECK(process.cluster->nnodes >= 2 && process.cluster->nnodes <= FB_MAX_NODES + 1);
	fb_stop(&process);
	return 0;
}
