/* Bytes of whole control batches are in golden_records.def; here are keys and values by themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/text/base64.h"
#include "lib/wire/control.h"

#include "kw_messages.h"

static uint8_t bytes[128];
static struct kw_arena arena;
static struct kt_err err;

static struct kw_bytes unhex(const char *hex)
{
	if (!hex)
		return (struct kw_bytes){NULL, -1};
	return (struct kw_bytes){bytes, (int32_t)kt_hex_decode(hex, strlen(hex), bytes)};
}

static void names(void **state)
{
	(void)state;
	assert_string_equal(kw_control_name(KW_CONTROL_ABORT), "ABORT");
	assert_string_equal(kw_control_name(KW_CONTROL_KRAFT_VOTERS), "KRAFT_VOTERS");
	assert_null(kw_control_name(7));
	assert_null(kw_control_name(-1));
	assert_int_equal(kw_control_find("COMMIT"), 1);
	assert_int_equal(kw_control_find("commit"), -1);
	assert_string_equal(kw_control_message(KW_CONTROL_LEADER_CHANGE)->name, "LeaderChangeMessage");
	assert_null(kw_control_message(7));
}

static void keys(void **state)
{
	static const struct {
		const char *hex;
		int code, version, type;
		const char *text;
	} rows[] = {
		{"0000 0001", 0, 0, 1, ""},
		{"0000 0000", 0, 0, 0, ""},
		{"0007 0003 ffff", 0, 7, 3, ""},
		{"0000 ffff", 0, 0, -1, ""},
		{"ffff 0001", KT_ECORRUPT, 0, 0,
		 "Invalid version found for control record: -1. May indicate data corruption"},
		{"000000", KT_ECORRUPT, 0, 0, "Invalid value size found for end control record key. Must have at least "
		 "4 bytes, but found only 3"},
		{NULL, KT_ECORRUPT, 0, 0, "Invalid value size found for end control record key. Must have at least "
		 "4 bytes, but found only 0"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int version = 0, type = 0;

		err = (struct kt_err){0};
		assert_int_equal(kw_control_read_key(unhex(rows[i].hex), &version, &type, &err), rows[i].code);
		assert_int_equal(version, rows[i].version);
		assert_int_equal(type, rows[i].type);
		assert_string_equal(err.text, rows[i].text);
	}
	assert_int_equal(kw_control_read_key(unhex("0000 0002"), NULL, &(int){0}, NULL), 0);
}

static void *read_value(int type, const char *hex, int version)
{
	int found = -99;
	void *out = NULL;

	err = (struct kt_err){0};
	if (kw_control_read_value(type, unhex(hex), &arena, &found, &out, &err))
		fail_msg("%s: %s", hex, err.text);
	assert_int_equal(found, version);
	return out;
}

static void values(void **state)
{
	const struct kw_EndTxnMarker *marker;
	const struct kw_LeaderChangeMessage *change;
	const struct kw_KRaftVersionRecord *version;

	(void)state;
	kw_arena_init(&arena, 1 << 16);
	marker = read_value(KW_CONTROL_COMMIT, "0000 00000006", 0);
	assert_int_equal(marker->coordinatorEpoch, 6);
	marker = read_value(KW_CONTROL_ABORT, "0005 00000007 1234", 5);
	assert_int_equal(marker->coordinatorEpoch, 7);
	change = read_value(KW_CONTROL_LEADER_CHANGE, "0000 00000001 02 00000001 00 02 00000002 00 00", 0);
	assert_int_equal(change->leaderId, 1);
	assert_int_equal(change->voters.n, 1);
	assert_int_equal(change->grantingVoters.v[0].voterId, 2);
	change = read_value(KW_CONTROL_LEADER_CHANGE,
			    "0001 00000001 02 00000001 00000000000000010000000000000002 00 01 00", 1);
	assert_int_equal(change->version, 1);
	assert_int_equal(change->voters.v[0].voterDirectoryId.b[15], 2);
	version = read_value(KW_CONTROL_KRAFT_VERSION, "0000 0001 00", 0);
	assert_int_equal(version->kRaftVersion, 1);
	kw_arena_fini(&arena);
}

static void values_that_cannot_be_read(void **state)
{
	static const struct {
		int type;
		const char *hex;
		int code;
		const char *text;
	} rows[] = {
		{KW_CONTROL_COMMIT, "0000000000", KT_ECORRUPT, "Invalid value size found for end transaction marker. "
		 "Must have at least 6 bytes, but found only 5"},
		{KW_CONTROL_COMMIT, NULL, KT_ECORRUPT, "Invalid value size found for end transaction marker. "
		 "Must have at least 6 bytes, but found only 0"},
		{KW_CONTROL_ABORT, "ffff00000000", KT_ECORRUPT, "Invalid version found for end transaction marker: -1. "
		 "May indicate data corruption"},
		{KW_CONTROL_LEADER_CHANGE, "00", KT_ETRUNC, "1 bytes do not hold the version of a control record"},
		{KW_CONTROL_SNAPSHOT_FOOTER, "0000", KT_ETRUNC, NULL},
		{7, "0000", KT_EUNKNOWN, "there is no control record type 7"},
	};

	(void)state;
	kw_arena_init(&arena, 1 << 16);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int version;
		void *out;

		err = (struct kt_err){0};
		assert_int_equal(kw_control_read_value(rows[i].type, unhex(rows[i].hex), &arena, &version, &out, &err),
				 rows[i].code);
		if (rows[i].text)
			assert_string_equal(err.text, rows[i].text);
	}
	kw_arena_fini(&arena);
}

static int read_marker(void *arg, int32_t index, const struct kw_record *record)
{
	int type = -1;

	(void)index;
	assert_int_equal(kw_control_read_key(record->key, NULL, &type, NULL), 0);
	assert_int_equal(type, KW_CONTROL_ABORT);
	*(const struct kw_EndTxnMarker **)arg = read_value(type, "0000 00000009", 0);
	assert_int_equal(record->value.n, 6);
	return 0;
}

static void built_batches(void **state)
{
	struct kw_EndTxnMarker marker = {.coordinatorEpoch = 9};
	const struct kw_EndTxnMarker *read = NULL;
	struct kw_batch_spec spec = kw_batch_spec_default;
	struct kw_batch batch;
	enum kw_walk why;
	struct kw_buf out;

	(void)state;
	kw_buf_init(&out, 0);
	kw_arena_init(&arena, 1 << 16);
	assert_int_equal(kw_control_build(&spec, 7, 0, &marker, &out, NULL), KT_EUNKNOWN);
	assert_int_equal(kw_control_build(&spec, KW_CONTROL_ABORT, 1, &marker, &out, NULL), KT_EVERSION);
	assert_int_equal(out.n, 0);
	assert_int_equal(kw_control_build(&spec, KW_CONTROL_ABORT, 0, &marker, &out, NULL), 0);
	assert_int_equal(kw_batch_parse(out.p, out.n, &batch, NULL), 0);
	assert_int_equal(batch.attributes, KW_A_CONTROL | KW_A_TRANSACTIONAL);
	assert_int_equal(batch.count, 1);
	assert_int_equal(kw_batch_walk(&batch, NULL, read_marker, &read, &why, NULL), 0);
	assert_int_equal(read->coordinatorEpoch, 9);
	kw_arena_fini(&arena);
	kw_buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(keys),
		cmocka_unit_test(values),
		cmocka_unit_test(values_that_cannot_be_read),
		cmocka_unit_test(built_batches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
