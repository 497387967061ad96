#include "lib/text/process.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The first line of a file of /proc. */
static int read_line(const char *file, char *line, size_t size, struct kt_err *err)
{
	FILE *f = fopen(file, "r");
	int rc = f && fgets(line, (int)size, f) ? 0 : kt_fail(err, KT_ESYS, "%s cannot be read", file);

	if (f)
		fclose(f);
	line[rc ? 0 : strcspn(line, "\n")] = '\0';
	return rc;
}

#define SIX " %*s %*s %*s %*s %*s %*s"

/* starttime, the 22nd field. The second one, the program's name in brackets, may have blanks and brackets. */
static int read_start(pid_t pid, unsigned long long *start, struct kt_err *err)
{
	char file[40], line[1024];
	const char *behind;
	int rc;

	snprintf(file, sizeof file, "/proc/%d/stat", (int)pid);
	rc = read_line(file, line, sizeof line, err);
	if (rc)
		return rc;
	behind = strrchr(line, ')');
	if (!behind || sscanf(behind, ") %*c" SIX SIX SIX " %llu", start) != 1)
		return kt_fail(err, KT_ESYS, "%s has no start time", file);
	return 0;
}

int kt_process_text(pid_t pid, char text[KT_PROCESS_TEXT], struct kt_err *err)
{
	char boot[40];
	unsigned long long start;
	struct stat namespace;
	int rc = read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot, err);

	text[0] = '\0';
	if (rc == 0 && stat("/proc/self/ns/pid", &namespace) != 0)
		rc = kt_fail(err, KT_ESYS, "/proc/self/ns/pid cannot be read");
	if (rc == 0)
		rc = read_start(pid, &start, err);
	if (rc == 0)
		snprintf(text, KT_PROCESS_TEXT, "%s %llu %d %llu", boot, (unsigned long long)namespace.st_ino, (int)pid,
			 start);
	return rc;
}
