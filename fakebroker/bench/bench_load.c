/* bench_load FAKEBROKER SINK [KFAKE]: what a record costs a fakebroker, against a sink that only checks it, against
 * franz-go's kfake, and against librdkafka's own mock; the client is librdkafka each time. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fakebroker/bench/client.h"
#include "fakebroker/bench/program.h"
#include "lib/text/bench/pairs.h"

enum {
	PAIRS = 21, MANY = 1000,
	LOG_BYTES = 32 << 20,      /* of all logs of a broker */
	WARM = 5,                  /* times that they are filled first, until it is known memory that is used again */
};

static const double SINK_LIMIT = 1.5, KFAKE_LIMIT = 0.5, MANY_LIMIT = 1.2, MOCK_LIMIT = 1 / 0.9;

static const struct load
	small = {"none", 100, 100000, 1000, 1, 0}, small_lz4 = {"lz4", 100, 100000, 1000, 1, 0},
	large = {"none", 1024, 20000, 500, 1, 0}, large_lz4 = {"lz4", 1024, 20000, 500, 1, 0},
	rush = {"none", 100, 500000, 10000, 1, 0};

/* A batch for each of MANY partitions, and as many for one: batches as above, of 16 KiB (Java's batch.size), and small
 * ones. Each partition keeps one batch, whatever the limit, so that logs of large ones take more. */
static const struct spread {
	const char *name;
	int batch;
	size_t log_bytes;
} spreads[] = {
	{"100 B, batches of 1,000", 1000, 4 * LOG_BYTES},
	{"100 B, batches of 150", 150, LOG_BYTES},
	{"100 B, batches of 50", 50, LOG_BYTES},
};

/* A broker and a producer to it. */
struct side {
	struct program program;
	char bootstrap[64];
	const struct load *load;
	rd_kafka_t *producer;
};

typedef void starter(struct side *side, const struct load *load, size_t log_bytes);

static struct {
	char *fakebroker, *sink, *kfake;
	struct pairs_tally tally;
} bench;

static void warm_up(rd_kafka_t *producer, const struct load *load, size_t log_bytes)
{
	for (size_t bytes = 0; bytes < WARM * log_bytes; bytes += (size_t)load->records * load->size)
		client_produce(producer, load);
}

static void connect_side(struct side *side, const struct load *load, size_t log_bytes)
{
	program_bootstrap(&side->program, side->bootstrap, sizeof side->bootstrap);
	side->load = load;
	side->producer = client_producer(side->bootstrap, load);
	warm_up(side->producer, load, log_bytes);
}

static void start_fakebroker(struct side *side, const struct load *load, size_t log_bytes)
{
	char scenario[] = "/tmp/bench_load_XXXXXX", limit[64];
	int fd = mkstemp(scenario);

	if (fd < 0 || dprintf(fd, "{\"topics\": [{\"name\": \"bench\", \"partitions\": %d}]}\n", load->partitions) < 0)
		bench_give_up(scenario);
	close(fd);
	snprintf(limit, sizeof limit, "kit.log.max.bytes=%zu", log_bytes / (size_t)load->partitions);
	program_start(&side->program, (char *[]){bench.fakebroker, scenario, "--port", "0", "--set", limit, NULL});
	unlink(scenario);
	connect_side(side, load, log_bytes);
}

/* A sink or a kfake. */
static void start_other(struct side *side, char *path, const struct load *load, size_t log_bytes)
{
	char partitions[16];

	snprintf(partitions, sizeof partitions, "%d", load->partitions);
	program_start(&side->program, (char *[]){path, partitions, NULL});
	connect_side(side, load, log_bytes);
}

static void start_sink(struct side *side, const struct load *load, size_t log_bytes)
{
	start_other(side, bench.sink, load, log_bytes);
}

static void end_side(struct side *side)
{
	rd_kafka_destroy(side->producer);
	program_stop(&side->program);
}

/* ---- what is measured: the cost of a block ---- */

static double produce(struct side *side)
{
	double from = program_cpu(&side->program);

	client_produce(side->producer, side->load);
	return (program_cpu(&side->program) - from) / side->load->records;
}

/* In microseconds for each 1,000,000 bytes of values. */
static double consume(struct side *side)
{
	double from = program_cpu(&side->program), mb = side->load->records * (double)side->load->size / 1e6;

	client_consume(side->bootstrap, side->load->records);
	return (program_cpu(&side->program) - from) / 1e3 / mb;
}

/* Wall time: the only measure that a mock in the client's own process has. */
static double take_time(struct side *side)
{
	double from = bench_now_ms();

	client_produce(side->producer, side->load);
	return (bench_now_ms() - from) * 1e6 / side->load->records;
}

static void measure(const char *name, struct side *a, struct side *b, double (*cost)(struct side *side), double limit)
{
	struct pairs pairs = {.n = PAIRS};
	struct pairs_result result;

	for (int i = 0; i < PAIRS; i++) {
		bool a_first = pairs_a_first();

		if (a_first)
			pairs.a[i] = cost(a);
		pairs.b[i] = cost(b);
		if (!a_first)
			pairs.a[i] = cost(a);
	}
	result = pairs_judge(&pairs);
	pairs_line(&bench.tally, name, &result, limit);
}

/* ---- the tables ---- */

static const struct subject {
	const char *name;
	const struct load *load;
} subjects[] = {
	{"100 B, none", &small}, {"100 B, lz4", &small_lz4}, {"1 KiB, none", &large}, {"1 KiB, lz4", &large_lz4},
};

static void against(char *path, const char *what, const char *other, const char *unit,
		    double (*cost)(struct side *side), double limit)
{
	pairs_head(what, "fakebroker", other, unit);
	for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
		struct side a, b;

		start_fakebroker(&a, subjects[i].load, LOG_BYTES);
		start_other(&b, path, subjects[i].load, LOG_BYTES);
		measure(subjects[i].name, &a, &b, cost, limit);
		end_side(&a);
		end_side(&b);
	}
}

static void partitions(const struct spread *spread, starter *start, const char *who, int in_flight, double limit)
{
	struct load many = {"none", 100, spread->batch * MANY, spread->batch, MANY, in_flight}, one = many;
	struct side a, b;
	char name[64];

	one.partitions = 1;
	snprintf(name, sizeof name, "%s%s", spread->name, who);
	start(&a, &many, spread->log_bytes);
	start(&b, &one, spread->log_bytes);
	measure(name, &a, &b, produce, limit);
	end_side(&a);
	end_side(&b);
}

/* With one request in flight it is the number of partitions alone that differs. With more a client that has many
 * partitions sends fewer requests at once, and so wakes the broker more often: that is shown beside a sink, for which a
 * partition is nothing but a number. */
static void all_partitions(void)
{
	pairs_head("produce, one request in flight", "1,000 parts", "1 part", "ns");
	for (size_t i = 0; i < sizeof spreads / sizeof *spreads; i++)
		partitions(&spreads[i], start_fakebroker, "", 1, MANY_LIMIT);
	pairs_head("produce, as many as the client likes", "1,000 parts", "1 part", "ns");
	for (size_t i = 0; i < sizeof spreads / sizeof *spreads; i++) {
		partitions(&spreads[i], start_sink, ": the sink itself", 0, 0);
		partitions(&spreads[i], start_fakebroker, "", 0, 0);
	}
}

static void rate(void)
{
	struct side a, b = {.load = &rush, .producer = client_producer(NULL, &rush)};

	pairs_head("produce, wall time per record", "fakebroker", "its mock", "ns");
	start_fakebroker(&a, &rush, LOG_BYTES);
	warm_up(b.producer, &rush, LOG_BYTES);
	measure("100 B, none", &a, &b, take_time, MOCK_LIMIT);
	end_side(&a);
	rd_kafka_destroy(b.producer);
}

int main(int argc, char **argv)
{
	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: bench_load FAKEBROKER SINK [KFAKE]\n");
		return 2;
	}
	bench.fakebroker = argv[1];
	bench.sink = argv[2];
	bench.kfake = argc == 4 ? argv[3] : NULL;
	against(bench.sink, "produce, CPU of the broker per record", "sink", "ns", produce, SINK_LIMIT);
	if (bench.kfake) {
		against(bench.kfake, "produce, CPU of the broker per record", "kfake", "ns", produce, KFAKE_LIMIT);
		against(bench.kfake, "fetch, CPU of the broker per MB", "kfake", "us", consume, KFAKE_LIMIT);
	} else {
		printf("\nagainst kfake: skipped, it could not be built (needs go and "
		       "github.com/twmb/franz-go/pkg/kfake)\n");
	}
	all_partitions();
	rate();
	return pairs_end(&bench.tally);
}
