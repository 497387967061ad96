/* The incidents that the kit ships: every file can be replayed, and holds the bytes that the reports give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/data.h"
#include "conformance/incident.h"
#include "lib/wire/base64.h"
#include "lib/wire/batch.h"

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
	assert_int_equal(files.n, 12);
	for (size_t i = 0; i < files.n; i++) {
		const char *base = strrchr(files.v[i], '/') + 1;
		struct cf_incident incident;
		char id[20];

		snprintf(id, sizeof id, "%.*s", (int)strcspn(base, "."), base);
		load(&incident, id);
		assert_string_equal(incident.id, id);
		assert_true(json_array_size(incident.sources) > 0);
		assert_true(incident.frame != NULL || incident.send != NULL);
		assert_int_equal(incident.cas->steps.n, (incident.topic ? 2u : 1u) * (incident.mended_title ? 2u : 1u));
		cf_incident_fini(&incident);
	}
	cf_files_fini(&files);
}

/* What the incident sends: the batch of its one partition, or its frame. */
static void build(const struct cf_incident *incident, struct kw_buf *out)
{
	json_t *body = json_object_get(incident->send, "body"), *records;
	struct kt_err err = {0};
	char line[1280];

	if (incident->frame) {
		uint8_t *p = kw_buf_room(out, strlen(incident->frame) / 2 + 1);
		long n = kw_hex_decode(incident->frame, strlen(incident->frame), p);

		assert_true(n > 0);
		out->n += (size_t)n;
		return;
	}
	records = json_object_get(json_array_get(json_object_get(json_array_get(json_object_get(body, "topicData"), 0),
								 "partitionData"), 0), "records");
	if (kw_batches_from_json(json_object_get(records, "batches"), out, &err))
		fail_msg("%s: %s", incident->id, kt_err_line(&err, line, sizeof line));
}

/* Bytes as the reports have them, and where they are in the frame or batch. Those that are whole have an end. */
static const struct {
	const char *id;
	size_t at;
	const char *hex;
	size_t end;
} rows[] = {
	/* incident, offset, bytes, end of all or 0 */
	{"S01", 61 + 3 + 4, "7e", 0},
	{"S02", 21, "0000", 0},
	{"S02", 61, "28b52ffd", 0},
	{"S03", 0, "0000007c 0000 0003 00000001 0006 736172616d61 ffff ffff 00002710 00000001 0005 7465737432 00000001 00000000"
	 "0000004d 0000000000000000 00000041 00000000 02 52c268a4 0000 00000000 0000016176862535 ffffffffffffffff"
	 "ffffffffffffffff 0000 00000000 00000002 0e000000010230 00 0e000002010231 00", 128},
	{"S04", 0, "0000000000000000 00000039 ffffffff 02 d3f2ac75 0000 00000000 0000018bcfe56800 0000018bcfe56800"
	 "ffffffffffffffff ffff ffffffff 00000001 0e000000010276 00", 69},
	{"S08", 4, "0012", 0},
	{"S14", 61 + 8 + 2, "a2d99eea8268", 0},
	{"S17", 61, "04224d18 6040 1a", 0},
	{"S18", 61, "8201", 0},
	{"S19", 61, "28b52ffd 00 58", 0},
	{"S20", 14, "7fffffff", 18},
};

static void bytes_are_those_of_the_reports(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct cf_incident incident;
		struct kw_buf got = {0};
		uint8_t want[200];
		long n = kw_hex_decode(rows[i].hex, strlen(rows[i].hex), want);

		assert_true(n > 0);
		load(&incident, rows[i].id);
		build(&incident, &got);
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
	static const char *const ids[] = {"S01", "S02", "S04", "S05", "S07", "S14", "S17", "S18", "S19"};
	static const enum kw_walk why[] = {KW_WALK_BAD_RECORD, KW_WALK_BAD_RECORD, KW_WALK_END, KW_WALK_END, KW_WALK_TRAILING,
					   KW_WALK_END, KW_WALK_BAD_CODEC, KW_WALK_END, KW_WALK_END};

	(void)state;
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
		struct cf_incident incident;
		struct kw_batch batch;
		struct kw_buf got = {0};
		enum kw_walk end;

		load(&incident, ids[i]);
		build(&incident, &got);
		assert_int_equal(kw_batch_parse(got.p, got.n, &batch, NULL), 0);
		assert_int_equal(batch.size, got.n);
		assert_int_equal(batch.crc, kw_batch_crc(got.p, got.n));
		kw_batch_walk(&batch, NULL, NULL, NULL, &end, NULL);
		assert_int_equal(end, why[i]);
		kw_buf_fini(&got);
		cf_incident_fini(&incident);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_file_becomes_a_case),
		cmocka_unit_test(bytes_are_those_of_the_reports),
		cmocka_unit_test(crcs_are_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
