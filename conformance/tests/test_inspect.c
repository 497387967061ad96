/* Trees of whatever bytes: segments that Kafka 4.4.0 wrote, cut at every byte and with every byte changed; frames
 * likewise. The sanitizers look for reads beyond the end, so every input has exactly the memory that it needs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/inspect/input.h"
#include "conformance/inspect/inspect.h"
#include "lib/text/base64.h"

static const char *const segments[] = {"none", "gzip", "snappy", "lz4", "zstd", "txn"};

static char *text;
static size_t text_size;
static struct cf_inspector inspector;

static void begin(enum kw_role role, bool json)
{
	free(text);
	inspector = (struct cf_inspector){.role = role, .records = true, .tree.json = json};
	inspector.tree.out = open_memstream(&text, &text_size);
	cf_tree_open(&inspector.tree, &(struct cf_place){.none = true}, "all", NULL);
}

static void end(void)
{
	json_error_t why;
	json_t *json;

	cf_tree_close(&inspector.tree);
	assert_int_equal(inspector.tree.depth, 0);
	fclose(inspector.tree.out);
	if (!inspector.tree.json)
		return;
	json = json_loads(text, JSON_REJECT_DUPLICATES, &why);
	if (!json)
		fail_msg("%s at %d in %s", why.text, why.position, text);
	json_decref(json);
}

static void load(const char *name, struct cf_input *input)
{
	struct kt_err err = {0};
	char file[100];

	snprintf(file, sizeof file, "conformance/tests/data/kafka-4.4.0-%s.hex", name);
	if (cf_input_open(input, file, &err))
		fail_msg("%s: %s", file, err.text);
	assert_true(input->hex);
	assert_int_equal(input->kind, CF_IN_SET);
}

/* n bytes of p, in memory of their own. */
static uint8_t *exact(const uint8_t *p, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);

	assert_non_null(copy);
	memcpy(copy, p, n);
	return copy;
}

static void show_set(const uint8_t *p, size_t n, bool json)
{
	struct kw_slice bytes = {p, n};

	begin(KW_STORED, json);
	cf_inspect_set(&inspector, &bytes, 0, n, -1);
	end();
}

static void what_kafka_wrote_is_right(void **state)
{
	static const size_t records[] = {5, 5, 5, 5, 5, 9};

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		struct cf_input input;

		load(segments[i], &input);
		show_set(input.bytes.p, input.bytes.n, true);
		assert_int_equal(inspector.faults, 0);
		assert_int_equal(inspector.nrecords, records[i]);
		cf_input_fini(&input);
	}
}

static void segments_cut_at_every_byte(void **state)
{
	(void)state;
	for (size_t i = 0; i < 6; i++) {
		struct cf_input input;

		load(segments[i], &input);
		for (size_t n = 0; n < input.bytes.n; n++) {
			uint8_t *copy = exact(input.bytes.p, n);

			show_set(copy, n, n % 2);
			/* A cut between two batches is none. */
			assert_true(inspector.faults <= 1);
			if (i < 5)
				assert_int_equal(inspector.faults, n > 0);
			free(copy);
		}
		cf_input_fini(&input);
	}
}

/* Whatever byte changes is told, but for those in front of what the CRC covers. */
static void every_byte_changed(void **state)
{
	(void)state;
	for (size_t i = 0; i < 6; i++) {
		struct cf_input input;

		load(segments[i], &input);
		for (size_t at = 0; at < input.bytes.n; at++) {
			uint8_t *copy = exact(input.bytes.p, input.bytes.n);

			copy[at] ^= 0xff;
			show_set(copy, input.bytes.n, at % 2);
			if (at >= 16 && i < 5)
				assert_true(inspector.faults > 0);
			free(copy);
		}
		cf_input_fini(&input);
	}
}

static void the_changed_byte_is_named(void **state)
{
	struct cf_input input;
	uint8_t *copy;

	(void)state;
	load("none", &input);
	copy = exact(input.bytes.p, input.bytes.n);
	copy[60] = 7;
	show_set(copy, input.bytes.n, false);
	assert_string_equal(inspector.first, "byte 57 of batch 0: count says 7, lastOffsetDelta says 4");
	copy[60] = 5;
	copy[100] ^= 4;
	show_set(copy, input.bytes.n, false);
	assert_non_null(strstr(inspector.first, "bit 2 of byte 100 is flipped"));
	free(copy);
	cf_input_fini(&input);
}

/* ---- frames ---- */

static void show_frame(const uint8_t *p, size_t n, int api, int version, bool json)
{
	struct kw_slice bytes = {p, n};

	begin(KW_PRODUCED, json);
	cf_inspect_frame(&inspector, &bytes, api, version);
	end();
}

static size_t hex(const char *s, uint8_t *out)
{
	long n = kt_hex_decode(s, strlen(s), out);

	assert_true(n > 0);
	return (size_t)n;
}

static void assert_says(const char *words)
{
	if (!strstr(text, words))
		fail_msg("\"%s\" is not in\n%s", words, text);
}

static void requests_and_responses(void **state)
{
	uint8_t p[200];
	size_t n = hex("0000001c 0003 0001 00000007 0002 6d65 00000002 0003 616263 0002 6465 aabbcc", p);

	(void)state;
	show_frame(p, n, -1, -1, false);
	assert_int_equal(inspector.faults, 0);
	assert_says("Metadata 1 request");
	assert_says("\"abc\"");
	assert_says("3, which Kafka ignores");
	/* Without its size, too. */
	show_frame(p + 4, n - 4, -1, -1, false);
	assert_int_equal(inspector.faults, 0);
	p[3] = 99;
	show_frame(p, n, -1, -1, false);
	assert_string_equal(inspector.first, "byte 0 of size: says 99, and 28 bytes follow");
	n = hex("00000007 00000001 0003 616263 00000001 00000000 0003 ffffffffffffffff ffffffffffffffff 00000000", p);
	show_frame(p, n, 0, 2, false);
	assert_says("UNKNOWN_TOPIC_OR_PARTITION");
}

static void the_wrong_length_is_named(void **state)
{
	uint8_t p[100];
	size_t n = hex("0003 0001 00000007 0002 6d65 00000001 0030 616263", p);

	(void)state;
	show_frame(p, n, -1, -1, false);
	assert_string_equal(inspector.first, "byte 16 of topics[0].name: 48 bytes are needed, 3 are left");
	assert_says("nothing: it closes the connection");
}

static void frames_cut_and_changed(void **state)
{
	static const char metadata[] = "00000024 0003 000c 00000007 ffff 00 02"
				       " 00000000000000000000000000000000 04 616263 00 01 00 00";
	uint8_t p[100];
	size_t n = hex(metadata, p);

	(void)state;
	for (size_t cut = 0; cut <= n; cut++) {
		uint8_t *copy = exact(p, cut);

		show_frame(copy, cut, -1, -1, cut % 2);
		show_frame(copy, cut, 3, 12, cut % 2);
		free(copy);
	}
	for (size_t at = 0; at < n; at++) {
		uint8_t *copy = exact(p, n);

		copy[at] ^= 0xff;
		show_frame(copy, n, -1, -1, at % 2);
		free(copy);
	}
}

/* ---- files ---- */

/* A broker that deletes or truncates a segment does not ask who reads it. */
static void a_file_that_is_cut_meanwhile(void **state)
{
	char file[] = "/tmp/kassay-inspect-XXXXXX";
	struct cf_input input, whole;
	struct kt_err err = {0};
	int fd = mkstemp(file);

	(void)state;
	load("none", &whole);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, whole.bytes.p, whole.bytes.n), whole.bytes.n);
	assert_int_equal(cf_input_open(&input, file, &err), 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(input.kind, CF_IN_SET);
	show_set(input.bytes.p, input.bytes.n, true);
	assert_int_equal(inspector.faults, 0);
	assert_int_equal(inspector.nrecords, 5);
	close(fd);
	unlink(file);
	cf_input_fini(&input);
	cf_input_fini(&whole);
}

static void zeros_are_nothing(void **state)
{
	uint8_t zeros[1000] = {0};
	struct kw_slice bytes = {zeros, sizeof zeros};

	(void)state;
	assert_false(cf_is_request(&bytes));
	/* A request that says how long it is may have bytes behind its body. */
	bytes.n = hex("0000001c 0003 0001 00000007 0002 6d65 00000002 0003 616263 0002 6465 aabbcc", zeros);
	assert_true(cf_is_request(&bytes));
	zeros[3]++;
	assert_false(cf_is_request(&bytes));
}

static int give_back(void **state)
{
	(void)state;
	free(text);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_kafka_wrote_is_right),
		cmocka_unit_test(segments_cut_at_every_byte),
		cmocka_unit_test(every_byte_changed),
		cmocka_unit_test(the_changed_byte_is_named),
		cmocka_unit_test(requests_and_responses),
		cmocka_unit_test(the_wrong_length_is_named),
		cmocka_unit_test(frames_cut_and_changed),
		cmocka_unit_test(a_file_that_is_cut_meanwhile),
		cmocka_unit_test(zeros_are_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, give_back);
}
