/* bench_observer: how many instructions the observers cost per request, exactly.
 *
 * The program runs itself under valgrind's callgrind three times. Each time every observer in each mode gets the same
 * requests through fb_dispatch(), on a connection that has no socket behind it. First all that happens there is
 * counted; then what happens for observers alone, which is functions of its own (FB_OBSERVING); then the observer's own
 * functions. Of queued observers the counts are those of the thread that handles requests. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fakebroker/cluster/log_line.h"
#include "fakebroker/net/loop.h"
#include "fakebroker/request.h"
#include "fakebroker/session.h"
#include "fakebroker/start.h"
#include "lib/text/bench/pairs.h"
#include "lib/wire/batch.h"

enum { WARM = 20, COUNTED = 100, VALUE_BYTES = 100, PARTITIONS_MAX = 10, RECORDS_MAX = 100 };

/* What the hook takes beside the functions that are counted: the look whether anybody watches, and the calls of those
 * functions. Read off the compiled code, and rounded up. */
static const double AROUND = 13;
static const double NO_OP_LIMIT = 20, TRAFFIC_LIMIT = 300, TRAFFIC_PARTITION_LIMIT = 100;

/* ---- what is measured ---- */

struct shape {
	int16_t key, version;
	int32_t partitions, records;
};

static const struct shape shapes[] = {
	{0, 12, 1, 1}, {0, 12, 1, 100}, {0, 12, 10, 1}, {1, 12, 1, 1}, {1, 12, 1, 100}, {1, 12, 10, 1},
};

static const struct subject {
	const char *name, *mode;
	bool file;
} subjects[] = {
	{"NoOpObserver", "inline", false}, {"NoOpObserver", "queued", false},
	{"TrafficObserver", "inline", false}, {"TrafficObserver", "queued", false},
	{"AuditObserver", "inline", true}, {"AuditObserver", "queued", true},
	{"CostObserver", "inline", true}, {"CostObserver", "queued", true},
	{"SloObserver", "inline", false}, {"SloObserver", "queued", false},
	{"JournalObserver", "inline", true}, {"JournalObserver", "queued", true},
	{"FailingObserver", "inline", false}, {"FailingObserver", "queued", false},
	{"SlowObserver", "inline", false}, {"SlowObserver", "queued", false},
};

enum { NSHAPES = sizeof shapes / sizeof *shapes, NSUBJECTS = sizeof subjects / sizeof *subjects };

/* ---- under callgrind ---- */

void end_of_block(void);

/* Callgrind writes its counts and begins anew when this returns. */
__attribute__((noinline)) void end_of_block(void)
{
	__asm__ volatile("");
}

static void check(int code, const struct kt_err *err)
{
	char line[600];

	if (code >= 0)
		return;
	fprintf(stderr, "bench_observer: %s\n", kt_err_line(err, line, sizeof line));
	exit(3);
}

static void put_frame(struct kw_buf *buf, const struct shape *shape, const void *body)
{
	struct kw_RequestHeader header = {
		.requestApiKey = shape->key, .requestApiVersion = shape->version, .correlationId = 7,
		.clientId = kw_str("bench-client"),
	};
	struct kt_err err = {0};

	check(kw_encode(&kw_msg_RequestHeader, kw_request_header_version(shape->key, shape->version), &header, buf,
			&err),
	      &err);
	check(kw_encode(kw_request(shape->key), shape->version, body, buf, &err), &err);
}

static void topic_of(const struct shape *shape, char name[32])
{
	snprintf(name, 32, "orders-%d", shape->records);
}

static void put_batch(struct kw_buf *buf, int32_t n)
{
	static const char value[VALUE_BYTES];
	struct kw_batch_spec spec = kw_batch_spec_default;
	struct kw_record records[RECORDS_MAX] = {0};
	struct kt_err err = {0};

	for (int32_t i = 0; i < n; i++)
		records[i] = (struct kw_record){.offsetDelta = i, .key = {NULL, -1},
						.value = {(const uint8_t *)value, sizeof value}};
	check(kw_batch_build(&spec, records, n, buf, &err), &err);
}

static void put_produce(struct kw_buf *buf, const struct shape *shape, const struct kw_buf *batch)
{
	struct kw_ProduceRequest_PartitionProduceData data[PARTITIONS_MAX] = {0};
	struct kw_ProduceRequest_TopicProduceData topic = {.partitionData = {data, shape->partitions}};
	struct kw_ProduceRequest body = {.transactionalId = KW_NULL_STR, .acks = 1, .timeoutMs = 1000,
					 .topicData = {&topic, 1}};
	char name[32];

	topic_of(shape, name);
	topic.name = kw_str(name);
	for (int32_t i = 0; i < shape->partitions; i++) {
		data[i].index = i;
		data[i].records = (struct kw_records){.p = batch->p, .n = (int32_t)batch->n};
	}
	put_frame(buf, shape, &body);
}

static void put_fetch(struct kw_buf *buf, const struct shape *shape, const struct kw_buf *batch, struct kw_arena *arena)
{
	struct kw_FetchRequest_FetchPartition data[PARTITIONS_MAX] = {0};
	struct kw_FetchRequest_FetchTopic topic = {.partitions = {data, shape->partitions}};
	struct kw_FetchRequest *body = kw_new(kw_request(shape->key), arena);
	char name[32];

	topic_of(shape, name);
	topic.topic = kw_str(name);
	for (int32_t i = 0; i < shape->partitions; i++)
		data[i] = (struct kw_FetchRequest_FetchPartition){
			.partition = i, .currentLeaderEpoch = -1, .lastFetchedEpoch = -1, .logStartOffset = -1,
			.partitionMaxBytes = (int32_t)batch->n, .highWatermark = INT64_MAX,
		};
	body->maxBytes = 1 << 24;
	body->topics.v = &topic;
	body->topics.n = 1;
	put_frame(buf, shape, body);
}

static void sent(struct fb_conn *conn)
{
	while (conn->out) {
		struct fb_out *out = conn->out;

		conn->out = out->next;
		fb_out_free(out);
	}
	conn->out_tail = &conn->out;
	conn->queued = 0;
}

static void handle(struct fb_cluster *cluster, struct fb_conn *conn, const struct kw_buf *bytes, int n)
{
	for (int i = 0; i < n; i++) {
		struct fb_frame *frame = fb_frame_new(bytes->n);
		void *state = NULL;

		memcpy(frame->p, bytes->p, bytes->n);
		frame->n = bytes->n;
		conn->received_ns = conn->turned_ns = fb_now_ns();
		if (fb_dispatch(cluster, conn, frame, &state) != FB_REPLY) {
			fprintf(stderr, "bench_observer: a request was not answered\n");
			exit(3);
		}
		sent(conn);
	}
	end_of_block();
}

static void measure_shape(struct fb_cluster *cluster, struct fb_conn *conn, const struct shape *shape)
{
	struct kw_buf batch, bytes;
	struct kw_arena arena;

	kw_buf_init(&batch, 0);
	kw_buf_init(&bytes, 0);
	kw_arena_init(&arena, 0);
	put_batch(&batch, shape->records);
	if (shape->key == 0)
		put_produce(&bytes, shape, &batch);
	else
		put_fetch(&bytes, shape, &batch, &arena);
	handle(cluster, conn, &bytes, WARM);
	handle(cluster, conn, &bytes, COUNTED);
	kw_arena_fini(&arena);
	kw_buf_fini(&bytes);
	kw_buf_fini(&batch);
}

static void measure_subject(struct fb_cluster *cluster, struct fb_conn *conn, const struct subject *subject)
{
	struct kt_err err = {0};

	check(fb_cluster_observe(cluster, subject->name, subject->mode, NULL, true, &err), &err);
	for (int i = 0; i < NSHAPES; i++)
		measure_shape(cluster, conn, &shapes[i]);
}

static void make_topics(struct fb_cluster *cluster)
{
	static const int32_t replicas[PARTITIONS_MAX] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	struct fb_topic *topic;

	pthread_rwlock_wrlock(&cluster->lock);
	for (int i = 0; i < NSHAPES; i++) {
		struct kt_err err = {0};
		char name[32];

		topic_of(&shapes[i], name);
		if (!fb_topic_find(cluster, kw_str(name)))
			check(fb_topic_create(cluster, kw_str(name), PARTITIONS_MAX, 1, replicas, &topic, &err), &err);
	}
	pthread_rwlock_unlock(&cluster->lock);
}

static struct fb_listener *broker_listener(struct fb_server *server)
{
	struct fb_listener *listener = server->listeners;

	while (((struct fb_node *)listener->tag)->controller)
		listener = listener->next;
	return listener;
}

static int child(const char *dir)
{
	const struct sockaddr_in peer = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct fb_settings settings = {.threads = 1, .host = "127.0.0.1", .advertise = "127.0.0.1"};
	const char *set[NSUBJECTS];
	struct fb_broker_process process;
	struct kt_err err = {0};
	struct fb_conn *conn;

	settings.set.v = set;
	for (int i = 0; i < NSUBJECTS; i++) {
		char *text;

		if (!subjects[i].file || strcmp(subjects[i].mode, "queued") == 0)
			continue;
		if (asprintf(&text, "observer.%s.file=%s/%s", subjects[i].name, dir, subjects[i].name) < 0)
			return 3;
		set[settings.set.n++] = text;
	}
	check(fb_start(&process, &settings, &err), &err);
	make_topics(process.cluster);
	conn = fb_conn_new(&process.server->loops[0], open("/dev/null", O_WRONLY | O_CLOEXEC),
			   broker_listener(process.server), (const struct sockaddr *)(const void *)&peer);
	if (!conn || !fb_session_began(process.cluster, conn))
		return 3;
	fb_log_level(KASSAY_ERROR + 1);   /* FailingObserver's failures */
	for (int i = 0; i < NSUBJECTS; i++)
		measure_subject(process.cluster, conn, &subjects[i]);
	_exit(0);   /* the dumps are written; nothing else matters */
}

/* ---- around callgrind ---- */

static const char *const whole[] = {"--toggle-collect=fb_dispatch", NULL};
static const char *const observing[] = {
	"--toggle-collect=fb_request_observe", "--toggle-collect=fb_request_observe_produce",
	"--toggle-collect=show_produced*", "--toggle-collect=show_consumed*",
	"--toggle-collect=make_room_to_show*", NULL,
};

static const char *const own[] = {
#define X(name, help, options, create, record, produce, collect, close) "--toggle-collect=" #record,
#include "fakebroker/hooks/observers.def"
#undef X
	"--toggle-collect=fb_failing_observer_produce", "--toggle-collect=fb_slow_observer_produce",
	"--toggle-collect=fb_journal_produce", NULL,
};

/* The dumps are DIR/out.1, DIR/out.2, ... */
static void run_callgrind(const char *program, const char *dir, const char *const *toggles)
{
	const char *argv[24] = {"valgrind", "--tool=callgrind", "--quiet", "--dump-after=end_of_block"};
	char file[300], log[300];
	pid_t pid = fork();
	int n = 4, status;

	snprintf(file, sizeof file, "--callgrind-out-file=%s/out", dir);
	snprintf(log, sizeof log, "--log-file=%s/log", dir);
	while (*toggles)
		argv[n++] = *toggles++;
	argv[n++] = file;
	argv[n++] = log;
	argv[n++] = program;
	argv[n++] = "count";
	argv[n] = dir;
	if (pid == 0) {
		execvp("valgrind", (char *const *)(const void *)argv);
		perror("valgrind");
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
		fprintf(stderr, "bench_observer: valgrind failed, see %s/log\n", dir);
		exit(3);
	}
}

/* Of the dump with this number, counted from 1: instructions per request. */
static double read_dump(const char *dir, int number)
{
	char path[300], line[256];
	double n = -1;
	FILE *f;

	snprintf(path, sizeof path, "%s/out.%d", dir, number);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, "totals: ", 8) == 0 || strncmp(line, "summary: ", 9) == 0)
			n = strtod(strchr(line, ' '), NULL);
	if (!f || n < 0) {
		fprintf(stderr, "bench_observer: %s has no totals\n", path);
		exit(3);
	}
	fclose(f);
	return n / COUNTED;
}

/* Every second dump is of a warm-up. */
static void count(const char *program, const char *dir, const char *const *toggles, double counts[NSUBJECTS][NSHAPES])
{
	run_callgrind(program, dir, toggles);
	for (int i = 0; i < NSUBJECTS; i++)
		for (int k = 0; k < NSHAPES; k++)
			counts[i][k] = read_dump(dir, 2 * (i * NSHAPES + k) + 2);
}

struct counts {
	double whole, observing, own;  /* instructions per request */
};

/* What a limit is for: of the observer that is nothing all of the hook, of the other what it does itself. */
static double limited(const struct subject *subject, const struct counts *counts)
{
	return strcmp(subject->name, "NoOpObserver") == 0 ? counts->observing : counts->own;
}

/* 0: there is none. */
static double limit_of(const struct subject *subject, const struct shape *shape)
{
	if (strcmp(subject->mode, "inline") != 0)
		return 0;
	if (strcmp(subject->name, "NoOpObserver") == 0)
		return NO_OP_LIMIT;
	if (strcmp(subject->name, "TrafficObserver") == 0)
		return TRAFFIC_LIMIT + TRAFFIC_PARTITION_LIMIT * shape->partitions;
	return 0;
}

static void say(struct pairs_tally *tally, const struct subject *subject, const struct shape *shape,
		const struct counts *counts)
{
	double limit = limit_of(subject, shape);
	bool passed = limited(subject, counts) <= limit, queued = strcmp(subject->mode, "queued") == 0;

	printf("%-16s %-6s %-8s %10d %8d %9.0f %10.0f", subject->name, subject->mode,
	       shape->key == 0 ? "Produce" : "Fetch", shape->partitions, shape->records, counts->whole,
	       counts->observing);
	if (queued)
		printf(" %8s", "");
	else
		printf(" %8.0f", counts->own);
	if (limit > 0) {
		tally->passed += passed;
		tally->failed += !passed;
		printf(" %6.0f  %s", limit, passed ? "pass" : "FAIL");
	}
	putchar('\n');
}

static int report(double counts[3][NSUBJECTS][NSHAPES])
{
	struct pairs_tally tally = {0};

	printf("%-16s %-6s %-8s %10s %8s %9s %10s %8s %6s\n", "observer", "mode", "request", "partitions", "records",
	       "request", "observing", "observer", "limit");
	for (int i = 0; i < NSUBJECTS; i++)
		for (int k = 0; k < NSHAPES; k++) {
			const struct counts one = {counts[0][i][k], counts[1][i][k] + AROUND, counts[2][i][k]};

			say(&tally, &subjects[i], &shapes[k], &one);
		}
	return pairs_end(&tally);
}

int main(int argc, char **argv)
{
	static double counts[3][NSUBJECTS][NSHAPES];
	char dir[] = "/tmp/bench_observer.XXXXXX", *clean;

	if (argc == 3 && strcmp(argv[1], "count") == 0)
		return child(argv[2]);
	if (!mkdtemp(dir)) {
		perror(dir);
		return 3;
	}
	count(argv[0], dir, whole, counts[0]);
	count(argv[0], dir, observing, counts[1]);
	count(argv[0], dir, own, counts[2]);
	if (asprintf(&clean, "rm -r %s", dir) > 0 && system(clean) == 0)
		free(clean);
	return report(counts);
}
