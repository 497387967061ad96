/* The metadata log keeps so many bytes and no more, and so do answers about it; what is taken back is not in it; the
 * endpoint's parameters. */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/tests/http.h"
#include "fakebroker/tests/talk.h"
#include "lib/wire/set.h"

static const struct fb_settings settings;
static struct running run;

static void add_feature(struct fb_metadata_log *log, int16_t level)
{
	struct kw_FeatureLevelRecord record = {.name = kw_str("metadata.version"), .featureLevel = level};

	fb_metadata_add(log, &kw_msg_FeatureLevelRecord, 0, &record);
}

static int next_level(void *arg, const struct fb_metadata_record *record)
{
	const struct kw_FeatureLevelRecord *data = record->data;
	int64_t *expected = arg;

	assert_int_equal(record->offset, *expected);
	assert_int_equal(data->featureLevel, *expected % 1000);
	assert_int_equal(record->timestamp, 7);
	(*expected)++;
	return 0;
}

static void old_batches_are_dropped(void **state)
{
	struct fb_metadata_log log;
	struct kw_buf segment;
	struct kw_set set = {0};
	struct kw_entry entry;
	int64_t expected;

	(void)state;
	fb_metadata_init(&log, 10000);
	for (int16_t i = 0; i < 3000; i++) {
		add_feature(&log, i % 1000);
		if (i % 2)
			fb_metadata_close(&log, 7);
		assert_true(log.bytes <= 10000);
	}
	assert_int_equal(log.end, 3000);
	assert_true(log.start > 2700 && log.start < 2980);
	expected = log.start;
	assert_int_equal(fb_metadata_each(&log, 0, next_level, &expected), 0);
	assert_int_equal(expected, 3000);
	expected = 2999;   /* in the middle of a batch */
	assert_int_equal(fb_metadata_each(&log, 2999, next_level, &expected), 0);
	assert_int_equal(expected, 3000);
	kw_buf_init(&segment, 0);
	fb_metadata_segment(&log, &segment);
	set.p = segment.p;
	set.n = segment.n;
	for (expected = log.start; kw_set_next(&set, &entry, NULL) > 0; expected += 2)
		assert_int_equal(kw_entry_check(&entry, NULL), 0);
	assert_int_equal(expected, 3000);
	assert_int_equal(set.at, segment.n);
	kw_buf_fini(&segment);
	fb_metadata_fini(&log);
}

/* Records that were taken back are not there, nor are their offsets. */
static void records_are_taken_back(void **state)
{
	struct fb_metadata_log log;
	int64_t expected = 0;

	(void)state;
	fb_metadata_init(&log, 10000);
	add_feature(&log, 0);
	add_feature(&log, 9);
	fb_metadata_rewind(&log, 1);
	add_feature(&log, 1);
	assert_int_equal(fb_metadata_next(&log), 2);
	fb_metadata_close(&log, 7);
	fb_metadata_close(&log, 7);
	assert_int_equal(fb_metadata_each(&log, 0, next_level, &expected), 0);
	assert_int_equal(expected, 2);
	fb_metadata_fini(&log);
}

/* A record of control characters, each of which is six of JSON. */
static void put_large(struct fb_metadata_log *log)
{
	static char value[INT16_MAX];
	const struct kw_ConfigRecord record = {
		.resourceType = 4, .resourceName = kw_str("1"), .name = kw_str("x"), .value = {value, sizeof value},
	};

	memset(value, 1, sizeof value);
	fb_metadata_add(log, &kw_msg_ConfigRecord, 0, &record);
}

static void add_large(struct fb_metadata_log *log)
{
	put_large(log);
	fb_metadata_close(log, 7);
}

/* No batch is larger than Kafka's controller writes; what does not fit into one is known before it is closed. */
static void batches_are_as_large_as_kafkas(void **state)
{
	struct kw_buf segment;
	struct kw_set set = {0};
	struct kw_entry entry;
	struct fb_metadata_log log;
	size_t n = 0;

	(void)state;
	fb_metadata_init(&log, FB_METADATA_LOG_MAX);
	for (int i = 0; i < 300; i++)
		put_large(&log);
	assert_int_equal(fb_metadata_fits(&log), KT_ELIMIT);
	fb_metadata_rewind(&log, 250);
	assert_int_equal(fb_metadata_fits(&log), 0);
	for (int i = 250; i < 300; i++)
		put_large(&log);
	fb_metadata_close(&log, 7);
	assert_int_equal(log.end, 300);
	assert_int_equal(log.start, 0);
	kw_buf_init(&segment, 0);
	fb_metadata_segment(&log, &segment);
	set.p = segment.p;
	set.n = segment.n;
	for (; kw_set_next(&set, &entry, NULL) > 0; n++)
		assert_true(kw_entry_check(&entry, NULL) == 0 && entry.size <= FB_METADATA_BATCH_MAX &&
			    entry.offset == (n ? log.batches[1].baseOffset : 0));
	assert_int_equal(n, 2);
	assert_true(log.batches[0].bytes.n > FB_METADATA_BATCH_MAX - 33000);
	kw_buf_fini(&segment);
	fb_metadata_fini(&log);
}

/* A record that could not be made takes the log with it only if it stays. */
static void a_failure_can_be_taken_back(void **state)
{
	struct fb_metadata_log log;
	int64_t expected = 0;

	(void)state;
	fb_metadata_init(&log, 10000);
	add_feature(&log, 0);
	fb_metadata_add_failed(&log, KT_ENOMEM);
	add_feature(&log, 9);
	assert_int_equal(fb_metadata_fits(&log), KT_ENOMEM);
	fb_metadata_rewind(&log, 1);
	assert_int_equal(fb_metadata_fits(&log), 0);
	add_feature(&log, 1);
	fb_metadata_close(&log, 7);
	assert_int_equal(fb_metadata_each(&log, 0, next_level, &expected), 0);
	assert_int_equal(expected, 2);
	fb_metadata_add_failed(&log, KT_ENOMEM);
	fb_metadata_close(&log, 7);
	assert_int_equal(log.start, 3);
	assert_int_equal(log.end, 3);
	assert_int_equal(log.n, 0);
	add_feature(&log, 3);
	fb_metadata_close(&log, 7);
	expected = 3;
	assert_int_equal(fb_metadata_each(&log, 0, next_level, &expected), 0);
	assert_int_equal(expected, 4);
	fb_metadata_fini(&log);
}

/* With so many static configurations of 32,000 bytes. */
static int register_with(struct fb_cluster *cluster, size_t nstatics, int64_t *epoch)
{
	static char text[32001];
	static struct fb_static_config statics[300];
	const struct fb_listener_view listener = {kw_str("P"), kw_str("h"), 9, 0};
	struct fb_register_view view = {.version = 5, .brokerId = 50, .listeners = &listener, .nlisteners = 1,
					.statics = statics, .nstatics = nstatics};

	memset(text, 'x', sizeof text - 1);
	for (size_t i = 0; i < nstatics; i++)
		statics[i] = (struct fb_static_config){.name = kw_str("a"), .value = kw_str(text)};
	return fb_cluster_register(cluster, &view, true, false, epoch);
}

static void a_registration_is_kept_or_refused(void **state)
{
	struct fb_cluster *cluster;
	int64_t epoch = 7, end;

	(void)state;
	running_start(&run, &settings);
	cluster = run.process.cluster;
	pthread_rwlock_wrlock(&cluster->lock);
	end = cluster->metadata.end;
	assert_int_equal(register_with(cluster, 270, &epoch), KT_ELIMIT);
	assert_null(fb_cluster_broker(cluster, 50));
	assert_int_equal(cluster->metadata.end, end);
	assert_int_equal(cluster->metadata.start, 0);
	assert_int_equal(register_with(cluster, 250, &epoch), 0);
	assert_int_equal(epoch, end);
	assert_int_equal(fb_cluster_broker(cluster, 50)->view.nstatics, 250);
	assert_int_equal(register_with(cluster, 270, &epoch), KT_ELIMIT);
	assert_int_equal(fb_cluster_broker(cluster, 50)->view.nstatics, 250);
	assert_int_equal(fb_cluster_broker(cluster, 50)->epoch, end);
	assert_int_equal(cluster->metadata.end, end + 1);
	assert_int_equal(cluster->metadata.start, 0);
	pthread_rwlock_unlock(&cluster->lock);
	running_stop(&run);
}

/* How many records come, all of them or as many as the answer takes. */
static size_t listed(int64_t from)
{
	json_t *json;
	char path[64];
	size_t n;

	snprintf(path, sizeof path, "/v1/metadata-log?from=%lld", (long long)from);
	json = http_json(&run, 200, "GET", path, NULL);
	n = json_array_size(at(json, "records"));
	assert_int_equal(num_at(json, "logEndOffset"), run.process.cluster->metadata.end);
	assert_int_equal(num_at(json, "records.0.offset"), from);
	json_decref(json);
	return n;
}

static void answers_are_bounded(void **state)
{
	struct fb_metadata_log *log;
	int64_t first;
	size_t n;

	(void)state;
	running_start(&run, &settings);
	log = &run.process.cluster->metadata;
	first = log->end;
	for (int i = 0; i < 100; i++)
		add_large(log);
	n = listed(first);
	assert_in_range(n, 80, 85);
	assert_int_equal(listed(first + (int64_t)n), 100 - n);
	running_stop(&run);
}

static void the_endpoint_knows_its_parameters(void **state)
{
	struct http http;

	(void)state;
	running_start(&run, &settings);
	http_error(&run, 400, "GET", "/v1/metadata-log?format=xml", NULL, "format: json or segment is expected");
	http_error(&run, 400, "GET", "/v1/metadata-log?fromat=json", NULL,
		   "GET /v1/metadata-log has no parameter \"fromat\"; did you mean \"format\"?");
	http = http_ask(&run, "GET", "/v1/metadata-log?format=segment", NULL);
	assert_int_equal(http.status, 200);
	http_free(&http);
	running_stop(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_batches_are_dropped),
		cmocka_unit_test(records_are_taken_back),
		cmocka_unit_test(batches_are_as_large_as_kafkas),
		cmocka_unit_test(a_failure_can_be_taken_back),
		cmocka_unit_test(a_registration_is_kept_or_refused),
		cmocka_unit_test(answers_are_bounded),
		cmocka_unit_test(the_endpoint_knows_its_parameters),
	};

	fb_log_level(KASSAY_ERROR + 1);
	return cmocka_run_group_tests_name("bounds of the metadata log", tests, NULL, NULL);
}
