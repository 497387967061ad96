#include "conformance/fake.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/client/client.h"

/* Kafka's 9 s would be waited for in every run. */
#define SESSION_TIMEOUT "broker.session.timeout.ms=1000"

enum { READY_MS = 20000, OUTPUT_MAX = 1 << 20 };

/* Runs argv with its standard output in *out, which the caller closes, and its standard error in log. */
static int spawn(const char *const *argv, int log, pid_t *pid, int *out, struct kt_err *err)
{
	struct stat st;
	int ends[2];

	if (access(argv[0], X_OK) < 0)
		return kt_fail(err, KT_EFILE, "%s: %s", argv[0], strerror(errno));
	if (stat(argv[0], &st) == 0 && S_ISDIR(st.st_mode))
		return kt_fail(err, KT_EFILE, "%s: is a directory, not a program", argv[0]);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return kt_fail(err, KT_ESYS, "pipe: %s", strerror(errno));
	*pid = fork();
	if (*pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		dup2(log, STDERR_FILENO);
		execv(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	close(ends[1]);
	*out = ends[0];
	if (*pid > 0)
		return 0;
	close(ends[0]);
	return kt_fail(err, KT_ESYS, "fork: %s", strerror(errno));
}

static int await_end(pid_t pid, const char *program, struct kt_err *err)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (WIFSIGNALED(status))
		return kt_fail(err, KT_ESYS, "%s was ended by signal %d", program, WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		return kt_fail(err, KT_ESYS, "%s ended with exit code %d", program, WEXITSTATUS(status));
	return 0;
}

/* The first line, without its end. */
static int read_line(int fd, char *line, size_t size, struct kt_err *err)
{
	int64_t deadline = kc_now_ms() + READY_MS;
	size_t n = 0;

	while (n + 1 < size) {
		struct pollfd ready = {.fd = fd, .events = POLLIN};
		int64_t left = deadline - kc_now_ms();
		ssize_t got;

		if (left <= 0 || poll(&ready, 1, (int)left) == 0)
			return kt_fail(err, KT_ETIMEOUT, "the fakebroker is not ready after %d s", READY_MS / 1000);
		got = read(fd, line + n, 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return kt_fail(err, KT_ESYS, "the fakebroker does not start");
		if (line[n] == '\n')
			break;
		n++;
	}
	line[n] = '\0';
	return 0;
}

/* "ready bootstrap=127.0.0.1:9092,127.0.0.1:9093 controller=..." */
static int read_ready(struct cf_fake *fake, int fd, struct kt_err *err)
{
	static const char begin[] = "ready bootstrap=";
	char line[4096];
	const char *address = line + sizeof begin - 1;

	if (read_line(fd, line, sizeof line, err))
		return err->code;
	if (strncmp(line, begin, sizeof begin - 1) != 0)
		return kt_fail(err, KT_ESYS, "the fakebroker is not ready, but says: %.200s", line);
	snprintf(fake->bootstrap, sizeof fake->bootstrap, "%.*s", (int)strcspn(address, ", "), address);
	return 0;
}

static int make_journal(struct cf_fake *fake, struct kt_err *err)
{
	const char *dir = getenv("TMPDIR");
	int fd;

	snprintf(fake->journal, sizeof fake->journal, "%.150s/kassay-journal-XXXXXX", dir && *dir ? dir : "/tmp");
	fd = mkostemp(fake->journal, O_CLOEXEC);
	if (fd < 0) {
		kt_fail(err, KT_EFILE, "%s: %s", fake->journal, strerror(errno));
		fake->journal[0] = '\0';
		return err->code;
	}
	close(fd);
	return 0;
}

/* A sanitizer's report, for one, is longer than what is kept, but sums up what it is about at its end. */
static void read_said(struct cf_fake *fake)
{
	off_t size = lseek(fake->log, 0, SEEK_END), from = size < CF_FAKE_SAID ? 0 : size - (CF_FAKE_SAID - 1);
	ssize_t n = pread(fake->log, fake->said, CF_FAKE_SAID - 1, from);
	const char *whole = fake->said;

	fake->said[n > 0 ? n : 0] = '\0';
	for (char *s = fake->said; *s; s++)
		if (*s != '\n' && (*s < ' ' || *s > '~'))
			*s = '?';
	if (from > 0 && strchr(whole, '\n'))
		whole = strchr(whole, '\n') + 1;
	memmove(fake->said, whole, strlen(whole) + 1);
}

int cf_fake_start(struct cf_fake *fake, const struct cf_fake_setup *setup, struct kt_err *err)
{
	char journal[300], level[16];
	const char *argv[16] = {setup->program, setup->scenario, "--port", "0", "--set", SESSION_TIMEOUT, "--set",
				journal};
	size_t n = 8;
	int out;

	memset(fake, 0, sizeof *fake);
	fake->log = memfd_create("fakebroker", MFD_CLOEXEC);
	if (fake->log < 0)
		return kt_fail(err, KT_ESYS, "memfd_create: %s", strerror(errno));
	if (make_journal(fake, err)) {
		close(fake->log);
		return err->code;
	}
	snprintf(journal, sizeof journal, "observer.JournalObserver.file=%s", fake->journal);
	snprintf(level, sizeof level, "%d", setup->level);
	if (setup->mutant) {
		argv[n++] = "--mutant";
		argv[n++] = setup->mutant;
	}
	if (setup->level) {
		argv[n++] = "--metadata-version";
		argv[n++] = level;
	}
	if (spawn(argv, fake->log, &fake->pid, &out, err) == 0) {
		read_ready(fake, out, err);
		close(out);
	} else {
		fake->pid = 0;
	}
	if (err->code)
		cf_fake_stop(fake, NULL);
	return err->code;
}

int cf_fake_stop(struct cf_fake *fake, struct kt_err *err)
{
	pid_t pid = fake->pid;
	int code = 0;

	fake->pid = 0;
	if (pid) {
		kill(pid, SIGTERM);
		code = await_end(pid, "the fakebroker", err);
	}
	unlink(fake->journal);
	read_said(fake);
	close(fake->log);
	return code;
}

json_t *cf_fake_mutants(const char *program, struct kt_err *err)
{
	const char *argv[] = {program, "--list", "mutants", "--json", NULL};
	char *text = malloc(OUTPUT_MAX);
	json_t *list = NULL;
	struct kt_json doc;
	size_t n = 0;
	ssize_t got;
	pid_t pid;
	int out;

	if (!text || spawn(argv, STDERR_FILENO, &pid, &out, err)) {
		free(text);
		kt_fail(err, KT_ENOMEM, "out of memory");
		return NULL;
	}
	while ((got = read(out, text + n, OUTPUT_MAX - n)) > 0)
		n += (size_t)got;
	close(out);
	if (await_end(pid, program, err) == 0) {
		if (kt_json_parse(&doc, "--list mutants", text, n, NULL) == 0 && json_is_array(doc.root))
			list = json_incref(doc.root);
		else
			kt_fail(err, KT_ESYS, "%s is no fakebroker: `--list mutants --json` lists none", program);
		kt_json_fini(&doc);
	}
	free(text);
	return list;
}
