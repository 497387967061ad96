/* The files beside a segment, as Kafka 4.4.0 wrote them, cut at every byte and with every byte changed. Every input has
 * exactly the memory that it needs, for the sanitizers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/inspect/indexes.h"
#include "lib/text/file.h"

#define FOLDER "conformance/tests/data/kafka-4.4.0-orders-0/"
#define OLD "00000000000000000000"
#define ACTIVE "00000000000000000037"

static struct kw_slice log_bytes;
static struct cf_segment segment;
static struct cf_inspector inspector;

static struct kw_slice load(const char *name)
{
	struct kt_err err = {0};
	char path[200], *text;
	size_t n;

	snprintf(path, sizeof path, "%s%s", FOLDER, name);
	if (kt_file_read(path, 1 << 20, &text, &n, &err))
		fail_msg("%s: %s", path, err.text);
	return (struct kw_slice){(uint8_t *)text, n};
}

static void give_back(struct kw_slice *bytes)
{
	free((void *)(uintptr_t)bytes->p);
}

/* Shows n bytes as that file; whether the tree is JSON changes nothing. */
static void show(const char *name, const uint8_t *p, size_t n, bool json)
{
	struct cf_beside beside = {.name = name, .bytes = {p, n}, .entries = true};
	const char *suffix = strchr(name, '.');
	char *text = NULL;
	size_t size = 0;
	json_t *tree;

	inspector = (struct cf_inspector){.tree.json = json};
	inspector.tree.out = open_memstream(&text, &size);
	cf_tree_open(&inspector.tree, &(struct cf_place){.none = true}, "all", NULL);
	for (enum kw_index index = 0; index < KW_INDEX_KINDS; index++)
		if (suffix && strcmp(suffix, kw_index_suffix(index)) == 0)
			cf_inspect_index(&inspector, index, &beside, &segment);
	if (!suffix)
		cf_inspect_epochs(&inspector, &beside, &segment);
	else if (strcmp(suffix, ".snapshot") == 0)
		cf_inspect_producers(&inspector, &beside);
	cf_tree_close(&inspector.tree);
	fclose(inspector.tree.out);
	assert_int_equal(inspector.tree.depth, 0);
	if (json) {
		tree = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(tree);
		json_decref(tree);
	}
	free(text);
}

static uint8_t *exact(const uint8_t *p, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);

	assert_non_null(copy);
	memcpy(copy, p, n);
	return copy;
}

static void what_kafka_wrote_agrees(void **state)
{
	static const char *const names[] = {OLD ".index", OLD ".timeindex", OLD ".txnindex", ACTIVE ".snapshot",
					    "leader-epoch-checkpoint"};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct kw_slice bytes = load(names[i]);

		show(names[i], bytes.p, bytes.n, i % 2);
		assert_int_equal(inspector.faults, 0);
		give_back(&bytes);
	}
	assert_int_equal(segment.n, 37);
	assert_false(segment.holes);
}

/* Every byte of an entry matters, but for those fields of a transaction that only other segments could tell. */
static void every_byte_changed(void **state)
{
	static const struct {
		const char *name;
		size_t size;
		size_t free_from, free_to, free2_from, free2_to; /* in an entry */
	} rows[] = {
		{OLD ".index", 8, 0, 0, 0, 0},
		{OLD ".timeindex", 12, 0, 0, 0, 0},
		{OLD ".txnindex", 34, 10, 18, 26, 34},
		{ACTIVE ".snapshot", 56, 0, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct kw_slice bytes = load(rows[i].name);

		for (size_t at = 0; at < bytes.n; at++) {
			uint8_t *copy = exact(bytes.p, bytes.n);
			size_t in = at % rows[i].size;

			copy[at] ^= 0xff;
			show(rows[i].name, copy, bytes.n, at % 2);
			if (!(in >= rows[i].free_from && in < rows[i].free_to) &&
			    !(in >= rows[i].free2_from && in < rows[i].free2_to) && inspector.faults == 0)
				fail_msg("byte %zu of %s changed and nobody noticed", at, rows[i].name);
			free(copy);
		}
		give_back(&bytes);
	}
}

static void cut_at_every_byte(void **state)
{
	static const struct {
		const char *name;
		size_t size; /* of an entry: a cut between two is none */
	} rows[] = {{OLD ".index", 8}, {OLD ".timeindex", 12}, {ACTIVE ".snapshot", 56}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct kw_slice bytes = load(rows[i].name);

		for (size_t n = 0; n < bytes.n; n++) {
			uint8_t *copy = exact(bytes.p, n);

			show(rows[i].name, copy, n, n % 2);
			assert_int_equal(inspector.faults > 0, n % rows[i].size != 0 || rows[i].size == 56);
			free(copy);
		}
		give_back(&bytes);
	}
}

static void faults_of_a_file_are_bounded(void **state)
{
	uint8_t entries[50 * 8];

	(void)state;
	for (size_t i = 0; i < 50; i++) {
		kw_wr32(entries + 8 * i, (uint32_t)(50 - i));
		kw_wr32(entries + 8 * i + 4, (uint32_t)(i + 1));
	}
	show(OLD ".index", entries, sizeof entries, false);
	/* Offsets that fall from the second on, and no batch at any of the places. */
	assert_int_equal(inspector.faults, 49 + 50);
	assert_string_equal(inspector.first, "byte 4 of " OLD ".index, entry 0: no batch begins at position 1");
}

static int set_up(void **state)
{
	(void)state;
	log_bytes = load(OLD ".log");
	return cf_segment_read(&segment, &log_bytes, 0, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	cf_segment_fini(&segment);
	give_back(&log_bytes);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_kafka_wrote_agrees),
		cmocka_unit_test(every_byte_changed),
		cmocka_unit_test(cut_at_every_byte),
		cmocka_unit_test(faults_of_a_file_are_bounded),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
