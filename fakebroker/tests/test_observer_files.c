/* What AuditObserver, CostObserver and JournalObserver write, and what SloObserver counts. */
#include "fakebroker/tests/hook_fixtures.h"

#include <fcntl.h>
#include <jansson.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "fakebroker/tests/show_exchange.h"

static char path[] = "/tmp/kassay-observer-XXXXXX";

static int make_file(void **state)
{
	int fd;

	(void)state;
	memcpy(path + sizeof path - 7, "XXXXXX", 6);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	return 0;
}

static int remove_file(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

static struct fb_observer *make(const char *classes, struct fixture *fixture)
{
	struct fb_hook_env env = fixture_env(fixture);
	struct fb_observer *observer;
	struct kt_err err = {0};

	assert_int_equal(fb_observer_new(classes, &env, &observer, &err), 0);
	if (err.code)
		fail_msg("%s", err.text);
	return observer;
}

static struct kassay_str text(const char *s)
{
	return (struct kassay_str){s, (int32_t)strlen(s)};
}

/* An exchange of n partitions: topic, direction, records, bytes, error of each. */
struct row {
	const char *topic;
	int direction, records, bytes, error;
	uint32_t flags;
};

static void show(struct fb_observer *observer, uint64_t id, const char *principal, const struct row *rows, int n)
{
	struct kassay_partition partitions[8];
	struct fb_exchange exchange;

	exchange_init(&exchange);
	exchange.view.id = id;
	exchange.view.node = 3;
	exchange.view.api = n && rows[0].direction == KASSAY_CONSUMED ? "Fetch" : n ? "Produce" : "Metadata";
	exchange.view.principal = text(principal);
	exchange.view.request_bytes = 100;
	exchange.view.response_bytes = 50;
	exchange.view.queue_ns = 1000000;
	exchange.view.service_ns = 4000000;
	exchange.view.has_response = 1;
	exchange.view.partition_count = n;
	exchange.partitions = partitions;
	for (int i = 0; i < n; i++) {
		fb_partition_init(&partitions[i]);
		partitions[i].topic = text(rows[i].topic);
		partitions[i].direction = rows[i].direction;
		partitions[i].records = rows[i].records;
		partitions[i].bytes = rows[i].bytes;
		partitions[i].error = (int16_t)rows[i].error;
		partitions[i].flags = rows[i].flags;
		exchange.view.error_count += rows[i].error != 0;
	}
	show_exchange(observer, &exchange, false);
}

/* The next line as JSON, NULL at the end. */
static json_t *next_line(FILE *f)
{
	char line[4096];
	json_error_t why;
	json_t *json;

	if (!fgets(line, sizeof line, f))
		return NULL;
	assert_int_equal(line[strlen(line) - 1], '\n');
	json = json_loads(line, JSON_REJECT_DUPLICATES, &why);
	if (!json)
		fail_msg("%s: %s", why.text, line);
	return json;
}

static json_int_t number(json_t *json, const char *member, const char *sub)
{
	json_t *v = json_object_get(json, member);

	v = sub ? json_object_get(v, sub) : v;
	assert_true(json_is_integer(v));
	return json_integer_value(v);
}

/* ---- AuditObserver ---- */

static void audit_rows(void **state)
{
	const struct setting settings[] = {{"observer.AuditObserver.file", path},
					   {"observer.AuditObserver.bucket.ms", "86400000"}, {0}};
	const struct row produced[] = {{"a", KASSAY_PRODUCED, 3, 30, 0, 0},
				       {"a", KASSAY_PRODUCED, 2, 20, 87, 0},
				       {"b\"", KASSAY_PRODUCED, 1, 10, 0, KASSAY_DUPLICATE}};
	const struct row consumed[] = {{"a", KASSAY_CONSUMED, 7, 70, 0, 0}};
	struct fixture fixture = FIXTURE(settings);
	struct fb_observer *observer = make("AuditObserver", &fixture);
	int seen = 0;
	json_t *json;
	FILE *f;

	(void)state;
	show(observer, 1, "User:x", produced, 3);
	show(observer, 2, "User:x", consumed, 1);
	show(observer, 3, "User:x", NULL, 0);
	assert_int_equal(fb_observer_close(observer, 10000, NULL), 0);
	fb_observer_unref(observer);
	f = fopen(path, "r");
	while ((json = next_line(f))) {
		bool a = strcmp(json_string_value(json_object_get(json, "topic")), "a") == 0;

		seen++;
		assert_int_equal(number(json, "v", NULL), 1);
		assert_int_equal(number(json, "node", NULL), 3);
		assert_int_equal(number(json, "end", NULL) - number(json, "start", NULL), 86400000);
		assert_int_equal(number(json, "start", NULL) % 86400000, 0);
		if (!a)
			assert_string_equal(json_string_value(json_object_get(json, "topic")), "b\"");
		assert_int_equal(number(json, "requests", NULL), a ? 2 : 1);
		assert_int_equal(number(json, "produced", "records"), a ? 3 : 0);
		assert_int_equal(number(json, "produced", "bytes"), a ? 30 : 0);
		assert_int_equal(number(json, "refused", "records"), a ? 2 : 0);
		assert_int_equal(number(json, "duplicate", "records"), a ? 0 : 1);
		assert_int_equal(number(json, "duplicate", "bytes"), a ? 0 : 10);
		assert_int_equal(number(json, "consumed", "records"), a ? 7 : 0);
		assert_int_equal(number(json, "consumed", "bytes"), a ? 70 : 0);
		json_decref(json);
	}
	assert_int_equal(seen, 2);
	fclose(f);
}

enum { THREADS = 4, ROUNDS = 3000 };

struct load {
	struct fb_observer *observer;
	uint64_t first;
};

static void *load(void *arg)
{
	static const struct row rows[] = {{"t", KASSAY_PRODUCED, 2, 20, 0, 0}};
	struct load *self = arg;

	for (uint64_t i = 0; i < ROUNDS; i++)
		show(self->observer, self->first + i, "User:x", rows, 1);
	return NULL;
}

/* Buckets that end while threads count: nothing is lost, nothing twice, and no bucket has two lines. */
static void audit_exactly_once(void **state)
{
	const struct setting settings[] = {{"observer.AuditObserver.file", path},
					   {"observer.AuditObserver.bucket.ms", "1"},
					   {"observer.AuditObserver.limit", "1"}, {0}};   /* so that many may wait */
	struct fixture fixture = FIXTURE(settings);
	struct load loads[THREADS];
	pthread_t threads[THREADS];
	struct fb_observer *observer = make("AuditObserver", &fixture);
	json_int_t records = 0, requests = 0, last = 0, buckets = 0;
	json_t *json;
	FILE *f;

	(void)state;
	for (int i = 0; i < THREADS; i++) {
		loads[i] = (struct load){observer, (uint64_t)i * ROUNDS + 1};
		assert_int_equal(pthread_create(&threads[i], NULL, load, &loads[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(fb_observer_close(observer, 10000, NULL), 0);
	fb_observer_unref(observer);
	f = fopen(path, "r");
	while ((json = next_line(f))) {
		assert_true(number(json, "start", NULL) >= last);
		last = number(json, "end", NULL);
		records += number(json, "produced", "records");
		requests += number(json, "requests", NULL);
		buckets++;
		json_decref(json);
	}
	fclose(f);
	assert_int_equal(records, THREADS * ROUNDS * 2);
	assert_int_equal(requests, THREADS * ROUNDS);
	assert_true(buckets >= 1);
	assert_int_equal(fixture.lines, 0);
}

static void audit_cannot_write(void **state)
{
	static const struct setting nowhere[] = {{"observer.AuditObserver.file", "/nowhere/at/all"}, {0}};
	static const struct setting full[] = {{"observer.AuditObserver.file", "/dev/full"}, {0}};
	const struct row rows[] = {{"t", KASSAY_PRODUCED, 2, 20, 0, 0}};
	struct fixture fixture = FIXTURE(nowhere);
	struct fb_hook_env env = fixture_env(&fixture);
	struct fb_observer *observer;
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(fb_observer_new("AuditObserver", &env, &observer, &err), 0);
	assert_string_equal(err.text, "observer 'AuditObserver': /nowhere/at/all: No such file or directory");
	fb_observer_unref(observer);
	fixture = (struct fixture)FIXTURE(full);
	observer = make("AuditObserver", &fixture);
	show(observer, 1, "User:x", rows, 1);
	fb_observer_unref(observer);
	assert_int_equal(fixture.lines, 1);
	assert_string_equal(fixture.last, "AuditObserver: 1 rows are lost: No space left on device");
}

static void no_reader_is_waited_for(void **state)
{
	static const char *const classes[] = {"AuditObserver", "CostObserver", "JournalObserver"};
	char pipe[sizeof path + 8], name[64], said[200];

	(void)state;
	assert_int_equal(make_file(NULL), 0);
	snprintf(pipe, sizeof pipe, "%s.pipe", path);
	assert_int_equal(mkfifo(pipe, 0600), 0);
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
		const struct setting settings[] = {{name, pipe}, {0}};
		struct fixture fixture = FIXTURE(settings);
		struct fb_hook_env env = fixture_env(&fixture);
		struct fb_observer *observer;
		struct kt_err err = {0};

		snprintf(name, sizeof name, "observer.%s.file", classes[i]);
		snprintf(said, sizeof said, "observer '%s': %s: nobody reads from it", classes[i], pipe);
		assert_int_equal(fb_observer_new(classes[i], &env, &observer, &err), 0);
		assert_string_equal(err.text, said);
		fb_observer_unref(observer);
	}
	unlink(pipe);
	remove_file(NULL);
}

static void *unref(void *observer)
{
	fb_observer_unref(observer);
	return NULL;
}

static json_int_t metric(struct fb_observer *observer, const char *name)
{
	json_t *json = fb_observer_json(observer), *of_first = json_array_get(json_object_get(json, "observers"), 0);
	json_t *samples = json_object_get(json_object_get(json_object_get(of_first, "metrics"), name), "samples");
	json_int_t value = json_integer_value(json_object_get(json_array_get(samples, 0), "value"));

	json_decref(json);
	return value;
}

/* What waits for a pipe that takes no more is bounded; what is lost is said and counted, the rest comes later. */
static void audit_of_a_pipe_that_is_full(void **state)
{
	char pipe[sizeof path + 8];
	const struct setting settings[] = {{"observer.AuditObserver.file", pipe},
					   {"observer.AuditObserver.bucket.ms", "1"},
					   {"observer.AuditObserver.limit", "100000"}, {0}};   /* few may wait */
	const struct row rows[] = {{"t", KASSAY_PRODUCED, 2, 20, 0, 0}};
	struct fixture fixture = FIXTURE(settings);
	struct fb_observer *observer;
	json_int_t shown = 0, read = 0, written, lost;
	pthread_t closing;
	json_t *json;
	FILE *f;
	int fd;

	(void)state;
	assert_int_equal(make_file(NULL), 0);
	snprintf(pipe, sizeof pipe, "%s.pipe", path);
	assert_int_equal(mkfifo(pipe, 0600), 0);
	fd = open(pipe, O_RDONLY | O_NONBLOCK);
	observer = make("AuditObserver", &fixture);
	do {   /* until as many wait as may, while the writer gets on no more */
		lost = metric(observer, "audit_lost_rows_total");
		written = metric(observer, "audit_rows_total");
		while (metric(observer, "audit_lost_rows_total") < lost + 20 && shown < 100000000)
			show(observer, (uint64_t)++shown, "User:x", rows, 1);
	} while (metric(observer, "audit_rows_total") > written);
	assert_non_null(strstr(fixture.last, "rows are lost: the file takes none, and 16 buckets wait for it"));
	f = fdopen(fd, fcntl(fd, F_SETFL, 0) == 0 ? "r" : "");
	assert_int_equal(pthread_create(&closing, NULL, unref, observer), 0);
	for (; (json = next_line(f)); json_decref(json))
		read++;
	pthread_join(closing, NULL);
	assert_in_range(read, written + 16, written + 17);   /* and one is at hand */
	fclose(f);
	unlink(pipe);
	remove_file(NULL);
}

/* ---- CostObserver ---- */

enum { SHARERS = 4, FILES = 20 };

/* Each of them finds the new file empty, and one head stands in it. */
static void cost_heads(void **state)
{
	const struct setting settings[] = {{"observer.CostObserver.file", path}, {0}};
	struct fixture fixture = FIXTURE(settings);

	(void)state;
	for (int file = 0; file < FILES; file++) {
		pthread_t threads[SHARERS];
		int heads = 0, rows = 0;
		char line[512];
		FILE *f;

		assert_int_equal(truncate(path, 0), 0);
		for (int i = 0; i < SHARERS; i++) {
			struct fb_observer *observer = make("CostObserver", &fixture);

			show(observer, 1, "User:x", NULL, 0);
			assert_int_equal(pthread_create(&threads[i], NULL, unref, observer), 0);
		}
		for (int i = 0; i < SHARERS; i++)
			pthread_join(threads[i], NULL);
		f = fopen(path, "r");
		while (fgets(line, sizeof line, f)) {
			heads += strncmp(line, "start,", 6) == 0;
			rows += strstr(line, "User:x") != NULL;
		}
		fclose(f);
		assert_int_equal(heads, 1);
		assert_int_equal(rows, SHARERS);
	}
}

static void cost_rows(void **state)
{
	const struct setting settings[] = {{"observer.CostObserver.file", path},
					   {"observer.CostObserver.bucket.ms", "86400000"}, {0}};
	const struct row rows[] = {{"a", KASSAY_PRODUCED, 3, 30, 0, 0}, {"a", KASSAY_PRODUCED, 2, 20, 87, 0}};
	char line[512], head[512];
	long long start, end;
	int node, at = 0;
	FILE *f;

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct fixture fixture = FIXTURE(settings);
		struct fb_observer *observer = make("CostObserver", &fixture);

		show(observer, 1, "User:CN=a,O=\"b\"", rows, 2);
		show(observer, 2, "User:CN=a,O=\"b\"", NULL, 0);
		assert_int_equal(fb_observer_close(observer, 10000, NULL), 0);
		fb_observer_unref(observer);
	}
	f = fopen(path, "r");
	assert_non_null(fgets(head, sizeof head, f));
	assert_string_equal(
		head, "start,end,node,instance,principal,requests,bytes_in,bytes_out,produced_bytes,consumed_bytes,"
		      "service_us\n");
	for (int round = 0; round < 2; round++) {
		assert_non_null(fgets(line, sizeof line, f));
		assert_int_equal(sscanf(line, "%lld,%lld,%d,%*[^,],%n", &start, &end, &node, &at), 3);
		assert_int_equal(end - start, 86400000);
		assert_int_equal(node, 3);
		assert_string_equal(line + at, "\"User:CN=a,O=\"\"b\"\"\",2,200,100,30,0,8000\n");
	}
	assert_null(fgets(line, sizeof line, f));
	fclose(f);
}

/* ---- SloObserver ---- */

static json_int_t slo_value(struct fb_observer *observer, const char *metric, const char *topic, const char *le)
{
	json_t *json = fb_observer_json(observer), *metrics, *sample;
	json_int_t value = -1;
	size_t i;

	metrics = json_object_get(json_array_get(json_object_get(json, "observers"), 0), "metrics");
	json_array_foreach(json_object_get(json_object_get(metrics, metric), "samples"), i, sample) {
		const char *bound = json_string_value(json_object_get(sample, "le"));

		if (strcmp(json_string_value(json_object_get(sample, "topic")), topic) == 0 &&
		    (!le || strcmp(bound, le) == 0))
			value = json_integer_value(json_object_get(sample, "value"));
	}
	json_decref(json);
	return value;
}

static void slo_counts(void **state)
{
	static const struct setting fast[] = {{"observer.SloObserver.target.ms", "5"},
					      {"observer.SloObserver.objective.ppm", "750000"}, {0}};
	static const struct setting slow[] = {{"observer.SloObserver.target.ms", "4"},
					      {"observer.SloObserver.objective.ppm", "750000"}, {0}};
	const struct row good[] = {{"a", KASSAY_PRODUCED, 3, 30, 0, 0}, {"b", KASSAY_PRODUCED, 3, 30, 0, 0},
				   {"a", KASSAY_PRODUCED, 3, 30, 0, 0}};
	const struct row bad[] = {{"a", KASSAY_PRODUCED, 2, 20, 87, 0}};
	struct fixture fixture = FIXTURE(fast);
	struct fb_observer *observer = make("SloObserver", &fixture);

	(void)state;
	show(observer, 1, "User:x", good, 3);
	show(observer, 2, "User:x", bad, 1);
	show(observer, 3, "User:x", NULL, 0);
	/* Each takes 5 ms; a topic counts once for a request. */
	assert_int_equal(slo_value(observer, "slo_requests_total", "a", "2"), 0);
	assert_int_equal(slo_value(observer, "slo_requests_total", "a", "5"), 2);
	assert_int_equal(slo_value(observer, "slo_requests_total", "a", "+Inf"), 2);
	assert_int_equal(slo_value(observer, "slo_requests_total", "b", "5"), 1);
	assert_int_equal(slo_value(observer, "slo_requests_total", "(none)", "5"), 1);
	assert_int_equal(slo_value(observer, "slo_nanoseconds_total", "a", NULL), 10000000);
	assert_int_equal(slo_value(observer, "slo_violations_total", "a", NULL), 1);
	assert_int_equal(slo_value(observer, "slo_violations_total", "b", NULL), 0);
	/* Half are bad, a quarter may be. */
	assert_int_equal(slo_value(observer, "slo_burn_permille", "a", NULL), 2000);
	assert_int_equal(slo_value(observer, "slo_burn_permille", "b", NULL), 0);
	fb_observer_unref(observer);
	fixture = (struct fixture)FIXTURE(slow);
	observer = make("SloObserver", &fixture);
	show(observer, 1, "User:x", good, 1);
	assert_int_equal(slo_value(observer, "slo_violations_total", "a", NULL), 1);
	assert_int_equal(slo_value(observer, "slo_burn_permille", "a", NULL), 4000);
	fb_observer_unref(observer);
}

/* ---- JournalObserver ---- */

static void journal_lines(void **state)
{
	const struct setting settings[] = {{"observer.JournalObserver.file", path},
					   {"observer.JournalObserver.fail", "true"},
					   {0}};
	const struct row rows[] = {{"a\n", KASSAY_PRODUCED, 3, 30, 87, 0}};
	static const char *const calls[] = {"configure", "record", "record", "close"};
	struct fixture fixture = FIXTURE(settings);
	struct fb_observer *observer = make("JournalObserver", &fixture);
	json_t *json, *partition;
	FILE *f;

	(void)state;
	show(observer, 1, "User:x", rows, 1);
	show(observer, 2, "User:x", NULL, 0);
	assert_string_equal(fixture.last, "JournalObserver failed (failure 1): fails in record, as it was told to");
	assert_int_equal(fb_observer_close(observer, 10000, NULL), 0);
	fb_observer_unref(observer);
	f = fopen(path, "r");
	for (int i = 0; i < 4; i++) {
		json = next_line(f);
		assert_non_null(json);
		assert_int_equal(number(json, "v", NULL), 1);
		assert_int_equal(number(json, "seq", NULL), i + 1);
		assert_string_equal(json_string_value(json_object_get(json, "call")), calls[i]);
		if (i == 1) {
			assert_int_equal(number(json, "id", NULL), 1);
			assert_int_equal(number(json, "errorCount", NULL), 1);
			assert_true(json_is_null(json_object_get(json, "clientId")));
			partition = json_array_get(json_object_get(json, "partitions"), 0);
			assert_string_equal(json_string_value(json_object_get(partition, "topic")), "a\n");
			assert_string_equal(json_string_value(json_object_get(partition, "direction")), "produced");
			assert_int_equal(number(partition, "records", NULL), 3);
			assert_int_equal(number(partition, "error", NULL), 87);
			assert_true(json_is_null(json_object_get(partition, "codec")));
		} else if (i == 3) {
			assert_in_range(number(json, "timeoutMs", NULL), 1, 10000);
		}
		json_decref(json);
	}
	assert_null(next_line(f));
	fclose(f);
}

/* ---- a disk that is full ---- */

/* Files can have so many bytes and no more, and who goes on is told EFBIG; RLIM_INFINITY ends that. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static off_t file_size(void)
{
	struct stat stat_of;

	assert_int_equal(stat(path, &stat_of), 0);
	return stat_of.st_size;
}

/* How many lines the file has of which each is whole JSON; what is broken is counted in *broken. */
static int count_lines(int *broken)
{
	FILE *f = fopen(path, "r");
	char line[4096];
	int whole = 0;

	for (*broken = 0; fgets(line, sizeof line, f);) {
		json_t *json = json_loads(line, 0, NULL);

		whole += json != NULL;
		*broken += json == NULL;
		json_decref(json);
	}
	fclose(f);
	return whole;
}

/* The lines that do not fit are lost, and none besides, whoever writes next. */
static void a_journal_goes_on_after_a_full_disk(void **state)
{
	const struct setting settings[] = {{"observer.JournalObserver.file", path}, {0}};
	struct fixture fixture = FIXTURE(settings);
	struct fb_observer *one = make("JournalObserver", &fixture), *other = make("JournalObserver", &fixture);
	int broken;

	(void)state;
	show(one, 1, "User:x", NULL, 0);
	limit_files((rlim_t)file_size() + 40);
	show(one, 2, "User:x", NULL, 0);
	show(one, 3, "User:x", NULL, 0);
	limit_files(RLIM_INFINITY);
	show(other, 4, "User:x", NULL, 0);
	show(one, 5, "User:x", NULL, 0);
	assert_int_equal(fb_observer_close(one, 10000, NULL), 0);
	assert_int_equal(fb_observer_close(other, 10000, NULL), 0);
	fb_observer_unref(one);
	fb_observer_unref(other);
	/* Two configured, 1, 4, 5, two closed. */
	assert_int_equal(count_lines(&broken), 7);
	assert_int_equal(broken, 0);
}

/* Nothing of the bucket that does not fit is left. */
static void an_audit_leaves_no_half_rows(void **state)
{
	const struct setting settings[] = {{"observer.AuditObserver.file", path},
					   {"observer.AuditObserver.bucket.ms", "86400000"}, {0}};
	const struct row produced[] = {{"a", KASSAY_PRODUCED, 3, 30, 0, 0}};
	struct fixture fixture = FIXTURE(settings);
	struct fb_observer *observer;
	int broken;

	(void)state;
	for (int i = 0; i < 3; i++) {
		observer = make("AuditObserver", &fixture);
		show(observer, 1, "User:x", produced, 1);
		limit_files(i == 1 ? (rlim_t)file_size() + 40 : RLIM_INFINITY);
		fb_observer_close(observer, 10000, NULL);
		limit_files(RLIM_INFINITY);
		fb_observer_unref(observer);
	}
	assert_int_equal(count_lines(&broken), 2);
	assert_int_equal(broken, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(audit_rows, make_file, remove_file),
		cmocka_unit_test_setup_teardown(audit_exactly_once, make_file, remove_file),
		cmocka_unit_test(audit_cannot_write),
		cmocka_unit_test(no_reader_is_waited_for),
		cmocka_unit_test(audit_of_a_pipe_that_is_full),
		cmocka_unit_test_setup_teardown(cost_heads, make_file, remove_file),
		cmocka_unit_test_setup_teardown(cost_rows, make_file, remove_file),
		cmocka_unit_test(slo_counts),
		cmocka_unit_test_setup_teardown(journal_lines, make_file, remove_file),
		cmocka_unit_test_setup_teardown(a_journal_goes_on_after_a_full_disk, make_file, remove_file),
		cmocka_unit_test_setup_teardown(an_audit_leaves_no_half_rows, make_file, remove_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
