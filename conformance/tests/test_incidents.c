/* The incidents that the kit ships: every file can be replayed, and holds the bytes that the reports give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/data.h"
#include "conformance/incident.h"
#include "lib/text/base64.h"
#include "lib/wire/set.h"

#define DIR "fixtures/incidents"

static void load(struct cf_incident *incident, const char *id)
{
	struct kt_err err = {0};
	char file[100], line[1280];

	snprintf(file, sizeof file, DIR "/%s.json", id);
	if (cf_incident_load(incident, file, &err))
		fail_msg("%s", kt_err_line(&err, line, sizeof line));
}

static void every_file_becomes_a_case(void **state)
{
	struct cf_files files;
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(cf_files_find(&files, DIR, &err), 0);
	assert_int_equal(files.n, 24);
	for (size_t i = 0; i < files.n; i++) {
		const char *base = strrchr(files.v[i], '/') + 1;
		struct cf_incident incident;
		char id[20];

		snprintf(id, sizeof id, "%.*s", (int)strcspn(base, "."), base);
		load(&incident, id);
		assert_string_equal(incident.id, id);
		assert_true(json_array_size(incident.sources) > 0);
		assert_int_equal((incident.frame != NULL) + (incident.send != NULL) + (incident.steps != NULL), 1);
		if (!incident.steps)
			assert_int_equal(incident.cas->steps.n,
					 (incident.topic ? 2u : 1u) * (incident.mended_title ? 2u : 1u));
		assert_true(!incident.log_case || incident.log_case->steps.n == 2);
		cf_incident_fini(&incident);
	}
	cf_files_fini(&files);
}

enum { LOG = -1 };

static void build_records(const struct cf_incident *incident, json_t *send, struct kw_buf *out)
{
	json_t *data = json_array_get(json_object_get(json_object_get(send, "body"), "topicData"), 0);
	json_t *records = json_object_get(json_array_get(json_object_get(data, "partitionData"), 0), "records");
	struct kt_err err = {0};
	char line[1280];

	if (kw_batches_from_json(json_object_get(records, "batches"), out, &err))
		fail_msg("%s: %s", incident->id, kt_err_line(&err, line, sizeof line));
}

/* What the incident sends, in its step if there are several: the batch of its one partition, or its frame. */
static void build(const struct cf_incident *incident, int step, struct kw_buf *out)
{
	uint8_t *p;
	long n;

	if (step == LOG) {
		kw_put(out, incident->log.p, incident->log.n);
	} else if (incident->frame) {
		p = kw_buf_room(out, strlen(incident->frame) / 2 + 1);
		n = kt_hex_decode(incident->frame, strlen(incident->frame), p);
		assert_true(n > 0);
		out->n += (size_t)n;
	} else {
		build_records(incident,
			      incident->steps ? json_object_get(json_array_get(incident->steps, (size_t)step), "send")
					      : incident->send, out);
	}
}

/* Bytes as the reports have them, and where they are in the frame or set. Those that are whole have an end. */
static const struct {
	const char *id;
	int step;
	size_t at;
	const char *hex;
	size_t end;
} rows[] = {
	/* incident, step, offset, bytes, end of all or 0 */
	{"S01", 0, 61 + 3 + 4, "7e", 0},
	{"S02", 0, 21, "0000", 0},
	{"S02", 0, 61, "28b52ffd", 0},
	{"S03", 0, 0, "0000007c 0000 0003 00000001 0006 736172616d61 ffff ffff 00002710 00000001 0005 7465737432 "
	 "00000001 000000000000004d 0000000000000000 00000041 00000000 02 52c268a4 0000 00000000 0000016176862535 "
	 "ffffffffffffffffffffffffffffffff 0000 00000000 00000002 0e000000010230 00 0e000002010231 00", 128},
	{"S04", 0, 0, "0000000000000000 00000039 ffffffff 02 d3f2ac75 0000 00000000 0000018bcfe56800 0000018bcfe56800"
	 "ffffffffffffffff ffff ffffffff 00000001 0e000000010276 00", 69},
	{"S06", 0, 61 + 5 + 3 + 1 + 8 + 1, "0a 746f706963 0c 6f7264657273", 0},
	{"S08", 0, 4, "0012", 0},
	{"S09", 0, 43, "0000000000001267 0000 7ffffffe 00000003", 0},
	{"S09", 1, 53, "00000001 00000001", 0},
	{"S09", 4, 53, "80000000 00000001", 0},
	{"S10", 1, 43, "0000000000001267 0001 00000039 00000001", 0},
	{"S10", 2, 51, "0001 00000000", 0},
	{"S11", 0, 21, "0020", 0},
	{"S11", 0, 61 + 5, "00000001", 0},
	{"S12", 2, 61 + 7, "ffffffffffffffffffffffffffffffff", 0},
	{"S13", LOG, 0, "0000000000136439 0000299f", 0},
	{"S13", LOG, 16, "02", 0},
	{"S13", LOG, 23, "00000007", 0},
	{"S13", LOG, 43, "ffffffffffffffff", 0},
	{"S13", LOG, 57, "00000003", 0},
	{"S13", LOG, 10667, "0000000000136441 00000031", 0},
	{"S14", 0, 61 + 8 + 2, "a2d99eea8268", 0},
	{"S16", LOG, 0, "0000000000000002", 0},
	{"S16", LOG, 16, "01 01", 0},
	{"S17", 0, 61, "04224d18 6040 1a", 0},
	{"S18", 0, 61, "8201", 0},
	{"S19", 0, 61, "28b52ffd 00 58", 0},
	{"S20", 0, 14, "7fffffff", 18},
};

static void bytes_are_those_of_the_reports(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct cf_incident incident;
		struct kw_buf got = {0};
		uint8_t want[200];
		long n = kt_hex_decode(rows[i].hex, strlen(rows[i].hex), want);

		assert_true(n > 0);
		load(&incident, rows[i].id);
		build(&incident, rows[i].step, &got);
		assert_true(got.n >= rows[i].at + (size_t)n);
		if (rows[i].end)
			assert_int_equal(got.n, rows[i].end);
		if (memcmp(got.p + rows[i].at, want, (size_t)n) != 0)
			fail_msg("%s differs at %zu", rows[i].id, rows[i].at);
		kw_buf_fini(&got);
		cf_incident_fini(&incident);
	}
}

/* What is wrong is wrong in one way only: all but the fault of each batch is sound. */
static void crcs_are_right(void **state)
{
	static const char *const ids[] = {"S01", "S02", "S04", "S05", "S06", "S07", "S09", "S10",
					  "S11", "S12", "S13", "S14", "S17", "S18", "S19"};
	static const enum kw_walk why[] = {KW_WALK_BAD_RECORD, KW_WALK_BAD_RECORD, KW_WALK_END, KW_WALK_END,
					   KW_WALK_END, KW_WALK_TRAILING, KW_WALK_END, KW_WALK_END, KW_WALK_END,
					   KW_WALK_END, KW_WALK_END, KW_WALK_END, KW_WALK_BAD_CODEC, KW_WALK_END,
					   KW_WALK_END};

	(void)state;
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
		struct cf_incident incident;
		struct kw_batch batch;
		struct kw_buf got = {0};
		enum kw_walk end;

		load(&incident, ids[i]);
		build(&incident, 0, &got);
		assert_int_equal(kw_batch_parse(got.p, got.n, &batch, NULL), 0);
		assert_int_equal(batch.size, got.n);
		assert_int_equal(batch.crc, kw_batch_crc(got.p, got.n));
		kw_batch_walk(&batch, NULL, NULL, NULL, &end, NULL);
		assert_int_equal(end, why[i]);
		kw_buf_fini(&got);
		cf_incident_fini(&incident);
	}
}

/* Offset of each record, and of each batch that has none or a wrong CRC as -(offset + 1). */
struct seen {
	int64_t v[40];
	size_t n;
};

static int see(void *arg, int32_t index, const struct kw_item *item)
{
	struct seen *seen = arg;

	(void)index;
	assert_true(seen->n < 40);
	seen->v[seen->n++] = item->offset;
	return 0;
}

static void read_log(const struct cf_incident *incident, struct seen *seen)
{
	struct kw_set set = {.p = incident->log.p, .n = incident->log.n};
	struct kw_entry entry;
	enum kw_walk why;

	*seen = (struct seen){.n = 0};
	while (kw_set_next(&set, &entry, NULL) > 0) {
		size_t before = seen->n;

		if (kw_entry_check(&entry, NULL) == 0)
			assert_int_equal(kw_entry_walk(&entry, NULL, see, seen, &why, NULL), 0);
		if (seen->n == before)
			seen->v[seen->n++] = -(entry.offset + 1);
	}
	assert_int_equal(set.at, set.n);
}

static void logs_hold_what_they_say(void **state)
{
	static const struct {
		const char *id;
		struct seen want;
	} logs[] = {
		{"S11", {{0, 1, 2, 3, 4, 5, 6, 7, 8}, 9}},
		{"S13", {{1270841, 1270842, 1270843, -1270850, 1270853}, 5}},
		{"S15", {{0, 1, -3, 4, 5}, 5}},
		{"S16", {{0, 1, 2, 3, 4, 5, 6, 9}, 8}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
		struct cf_incident incident;
		struct seen seen;

		load(&incident, logs[i].id);
		assert_true(incident.has_log);
		read_log(&incident, &seen);
		assert_int_equal(seen.n, logs[i].want.n);
		assert_memory_equal(seen.v, logs[i].want.v, seen.n * sizeof *seen.v);
		cf_incident_fini(&incident);
	}
}

/* The markers of S11: commit, abort, commit, one without transaction, one of an unknown type. */
static void markers_are_those_of_the_report(void **state)
{
	static const uint16_t types[] = {1, 0, 1, 1, 7};
	struct cf_incident incident;
	struct kw_entry entry;
	struct kw_set set;
	size_t n = 0;

	(void)state;
	load(&incident, "S11");
	set = (struct kw_set){.p = incident.log.p, .n = incident.log.n};
	while (kw_set_next(&set, &entry, NULL) > 0) {
		if (!(kw_rd16(entry.p + KW_B_ATTRIBUTES) & KW_A_CONTROL))
			continue;
		assert_int_equal(kw_rd16(entry.p + KW_B_ATTRIBUTES) & KW_A_TRANSACTIONAL,
				 n == 3 ? 0 : KW_A_TRANSACTIONAL);
		assert_int_equal(kw_rd16(entry.p + KW_B_RECORDS + 5 + 2), types[n++]);
	}
	assert_int_equal(n, 5);
	cf_incident_fini(&incident);
}

static void faulty_files_are_refused(void **state)
{
	static const struct {
		const char *log, *text;    /* behind "log": a value, and perhaps more members */
	} faulty[] = {
		{"null, \"notes\": [{\"at\": 0, \"size\": 1, \"text\": \"t\"}]",
		 "notes are about the bytes of \"frame\""},
		{"{}", "missing member \"keepOffsets\""},
		{"{\"keepOffsets\": false, \"records\": {\"batches\": []}}",
		 "an incident's bytes are kept as they are: true is expected"},
		{"{\"keepOffsets\": true, \"records\": {\"batches\": [{\"count\": \"x\"}]}}",
		 "must be a whole number, not a string"},
	};
	char file[] = "/tmp/kassay-incident-XXXXXX";
	int fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0);
	for (size_t i = 0; i < sizeof faulty / sizeof *faulty; i++) {
		struct cf_incident incident;
		struct kt_err err = {0};
		char text[600];
		int n = snprintf(text, sizeof text,
				 "{\"id\": \"X\", \"title\": \"t\", \"source\": [\"s\"], \"text\": \"t\", "
				 "\"topic\": {\"name\": \"t\"}, \"steps\": [], \"log\": %s}", faulty[i].log);

		assert_int_equal(pwrite(fd, text, (size_t)n, 0), n);
		assert_int_equal(ftruncate(fd, n), 0);
		assert_true(cf_incident_load(&incident, file, &err) < 0);
		assert_string_equal(err.text, faulty[i].text);
		cf_incident_fini(&incident);
	}
	close(fd);
	unlink(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_file_becomes_a_case),
		cmocka_unit_test(bytes_are_those_of_the_reports),
		cmocka_unit_test(crcs_are_right),
		cmocka_unit_test(logs_hold_what_they_say),
		cmocka_unit_test(markers_are_those_of_the_report),
		cmocka_unit_test(faulty_files_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
