/* bench_idle FAKEBROKER EMPTY: what a fakebroker costs that does nothing yet: its start, against that of an empty
 * program linked to the same libraries, and its private memory. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fakebroker/bench/program.h"
#include "lib/text/bench/pairs.h"

enum { STARTS = 41, MANY = 10000, ANSWER_MS = 10000 };

static const double START_LIMIT_MS = 6, IDLE_LIMIT_KIB = 4096, PARTITION_LIMIT = 4096, CONNECTION_LIMIT = 8192;

/* Connects to the first broker that the ready line names, sends ApiVersions and waits for the first bytes of the
 * answer. */
static int ask(const struct program *program)
{
	static const unsigned char request[] = {0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff};
	const char *at = strstr(program->ready, "bootstrap=127.0.0.1:");
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct pollfd answer = {.fd = fd, .events = POLLIN};
	unsigned char size[4];

	to.sin_port = htons(at ? (uint16_t)strtoul(at + strlen("bootstrap=127.0.0.1:"), NULL, 10) : 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) ||
	    write(fd, request, sizeof request) != (ssize_t)sizeof request || poll(&answer, 1, ANSWER_MS) != 1 ||
	    read(fd, size, sizeof size) != (ssize_t)sizeof size)
		bench_give_up("the first answer");
	return fd;
}

static double to_first_answer(char *const *argv)
{
	double from = bench_now_ms();
	struct program program;
	int fd;

	program_start(&program, argv);
	fd = ask(&program);
	from = bench_now_ms() - from;
	close(fd);
	program_stop(&program);
	return from;
}

static double to_first_line(char *const *argv)
{
	double from = bench_now_ms();
	struct program program;

	program_start(&program, argv);
	from = bench_now_ms() - from;
	program_stop(&program);
	return from;
}

/* Bytes that are the process's own. */
static double private_bytes(pid_t pid)
{
	char path[64], line[256];
	double kib = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
	f = fopen(path, "r");
	if (!f)
		bench_give_up(path);
	while (fgets(line, sizeof line, f))
		if (strncmp(line, "Private_", 8) == 0)
			kib += strtod(strchr(line, ':') + 1, NULL);
	fclose(f);
	return kib * 1024;
}

/* least: the end of the interval of `is` that noise explains. */
static void say(struct pairs_tally *tally, const char *what, double is, double least, double limit, const char *unit)
{
	bool passed = least <= limit;

	tally->passed += passed;
	tally->failed += !passed;
	printf("%-58s %9.1f %s, limit %6.0f  %s\n", what, is, unit, limit,
	       !passed ? "FAIL" : is <= limit ? "pass" : "pass (within the noise)");
}

static void measure_start(struct pairs_tally *tally, char *const *broker, char *const *empty)
{
	struct pairs pairs = {.n = STARTS};
	struct pairs_result more;

	for (int i = 0; i < STARTS; i++) {
		bool a_first = pairs_a_first();

		if (a_first)
			pairs.a[i] = to_first_answer(broker);
		pairs.b[i] = to_first_line(empty);
		if (!a_first)
			pairs.a[i] = to_first_answer(broker);
	}
	more = pairs_judge_difference(&pairs);
	printf("exec to first answer %.2f ms, an empty program to its first line %.2f ms (wall time, medians of %d);\n"
	       "the median difference lies between %.2f and %.2f ms\n", more.a, more.b, STARTS, more.low, more.high);
	say(tally, "start: more than an empty program", more.ratio, more.low, START_LIMIT_MS, "ms");
}

/* Returns the memory of the idle broker. */
static double measure_connections(struct pairs_tally *tally, char *const *broker)
{
	struct rlimit files = {MANY + 64, MANY + 64};
	double idle, with;
	struct program program;
	static int fds[MANY];

	if (setrlimit(RLIMIT_NOFILE, &files))
		bench_give_up("room for 10,000 connections (ulimit -n)");
	program_start(&program, broker);
	close(ask(&program));
	idle = private_bytes(program.pid);
	say(tally, "private memory, 3 nodes, idle", idle / 1024, idle / 1024, IDLE_LIMIT_KIB, "KiB");
	for (int i = 0; i < MANY; i++)
		fds[i] = ask(&program);
	with = private_bytes(program.pid);
	with = (with - idle) / MANY;
	say(tally, "private memory per idle connection, of 10,000", with, with, CONNECTION_LIMIT, "bytes");
	for (int i = 0; i < MANY; i++)
		close(fds[i]);
	program_stop(&program);
	return idle;
}

static void measure_partitions(struct pairs_tally *tally, char *path, double idle)
{
	char scenario[] = "/tmp/bench_idle_XXXXXX";
	char *argv[] = {path, scenario, "--nodes", "3", "--port", "0", NULL};
	int fd = mkstemp(scenario);
	struct program program;
	double each;

	if (fd < 0 || dprintf(fd, "{\"topics\": [{\"name\": \"many\", \"partitions\": %d}]}\n", MANY) < 0)
		bench_give_up(scenario);
	close(fd);
	program_start(&program, argv);
	close(ask(&program));
	each = (private_bytes(program.pid) - idle) / MANY;
	say(tally, "private memory per idle partition, of 10,000", each, each, PARTITION_LIMIT, "bytes");
	program_stop(&program);
	unlink(scenario);
}

int main(int argc, char **argv)
{
	struct pairs_tally tally = {0};
	double idle;

	if (argc != 3) {
		fprintf(stderr, "usage: bench_idle FAKEBROKER EMPTY\n");
		return 2;
	}
	printf("\nfakebroker, idle\n");
	measure_start(&tally, (char *[]){argv[1], "--nodes", "3", "--port", "0", NULL}, (char *[]){argv[2], NULL});
	idle = measure_connections(&tally, (char *[]){argv[1], "--nodes", "3", "--port", "0", NULL});
	measure_partitions(&tally, argv[1], idle);
	return pairs_end(&tally);
}
