#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loadgen/reconcile.h"

static char a[] = "/tmp/kassay-audit-a-XXXXXX", b[] = "/tmp/kassay-audit-b-XXXXXX";

static int make(void **state)
{
	(void)state;
	memcpy(a + sizeof a - 7, "XXXXXX", 6);
	memcpy(b + sizeof b - 7, "XXXXXX", 6);
	close(mkstemp(a));
	close(mkstemp(b));
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	unlink(a);
	unlink(b);
	return 0;
}

static void put(const char *file, int node, const char *instance, const char *topic, int start, int records)
{
	FILE *f = fopen(file, "a");

	fprintf(f,
		"{\"v\":1,\"node\":%d,\"instance\":\"%s\",\"start\":%d,\"end\":%d,\"topic\":\"%s\",\"requests\":1,"
		"\"produced\":{\"records\":%d,\"bytes\":%d},\"later\":{}}\n",
		node, instance, start, start + 1000, topic, records, 10 * records);
	fclose(f);
}

/* Of topics that are counted together nothing can be said, nor of those beside them. */
static void topics_beyond_a_limit(void **state)
{
	struct lg_reconciliation got;
	struct kt_err err = {0};

	(void)state;
	put(a, 1, "i", "orders", 1000, 5);
	put(b, 1, "k", "orders", 1000, 5);
	put(a, 1, "i", "(other)", 1000, 0);
	assert_int_equal(lg_reconcile(a, b, &got, &err), 0);
	assert_true(got.same);
	assert_false(got.folded);
	lg_reconciliation_fini(&got);
	put(b, 1, "k", "(other)", 2000, 1);
	assert_int_equal(lg_reconcile(a, b, &got, &err), 0);
	assert_true(got.folded);
	lg_reconciliation_fini(&got);
}

static void topics_and_buckets(void **state)
{
	struct lg_reconciliation got;
	struct kt_err err = {0};
	json_t *json;

	(void)state;
	put(a, 1, "i", "orders", 1000, 5);
	put(a, 2, "j", "orders", 1000, 2);
	put(a, 1, "i", "orders", 2000, 4);
	put(a, 1, "i", "lost", 1000, 3);
	put(b, 7, "k", "orders", 1000, 6);
	put(b, 7, "k", "orders", 2000, 4);
	put(b, 7, "l", "orders", 3000, 1);
	put(b, 7, "k", "lost", 1000, 2);
	put(b, 7, "k", "twice", 1000, 2);
	assert_int_equal(lg_reconcile(a, b, &got, &err), 0);
	assert_false(got.same);
	assert_int_equal(got.ntopics, 3);
	assert_string_equal(got.topics[0].topic, "lost");
	assert_int_equal(got.topics[0].match, LG_MISSING);
	assert_string_equal(got.topics[1].topic, "orders");
	assert_int_equal(got.topics[1].match, LG_EQUAL);
	assert_int_equal(got.topics[1].a, 11);
	assert_int_equal(got.topics[1].b_bytes, 110);
	assert_int_equal(got.topics[1].start, 1000);
	assert_int_equal(got.topics[1].end, 4000);
	assert_int_equal(got.topics[2].match, LG_SURPLUS);
	assert_int_equal(got.nbuckets, 5);
	assert_int_equal(got.buckets[0].match, LG_MISSING);
	assert_int_equal(got.buckets[1].a, 7);
	assert_int_equal(got.buckets[1].b, 6);
	assert_int_equal(got.buckets[1].match, LG_SHIFTED);
	assert_int_equal(got.buckets[2].match, LG_EQUAL);
	assert_int_equal(got.buckets[3].match, LG_SHIFTED);
	json = lg_reconciliation_json(&got);
	assert_int_equal(json_array_size(json_object_get(json, "buckets")), 5);
	assert_string_equal(json_string_value(
				    json_object_get(json_array_get(json_object_get(json, "topics"), 2), "match")),
			    "surplus");
	json_decref(json);
	lg_reconciliation_fini(&got);
}

static void the_same(void **state)
{
	struct lg_reconciliation got;

	(void)state;
	put(a, 1, "i", "orders", 1000, 5);
	put(b, 7, "k", "orders", 2000, 5);
	assert_int_equal(lg_reconcile(a, b, &got, NULL), 0);
	assert_true(got.same);
	assert_int_equal(got.buckets[0].match, LG_SHIFTED);
	lg_reconciliation_fini(&got);
}

/* An audit that never ran would be the same as another that never ran. */
static void without_any_row(void **state)
{
	struct lg_reconciliation got;

	(void)state;
	assert_int_equal(lg_reconcile(a, b, &got, NULL), 0);
	assert_int_equal(got.ntopics, 0);
	assert_false(got.same);
	lg_reconciliation_fini(&got);
	put(b, 7, "k", "orders", 1000, 5);
	assert_int_equal(lg_reconcile(a, b, &got, NULL), 0);
	assert_false(got.same);
	assert_int_equal(got.topics[0].match, LG_SURPLUS);
	lg_reconciliation_fini(&got);
}

static void refuse(const char *line, int code, const char *why)
{
	struct lg_reconciliation got;
	struct kt_err err = {0};
	char text[1200];
	FILE *f = fopen(b, "w");

	fputs(line, f);
	fclose(f);
	assert_int_equal(lg_reconcile(a, b, &got, &err), code);
	kt_err_line(&err, text, sizeof text);
	if (!strstr(text, why))
		fail_msg("\"%s\" is not in \"%s\"", why, text);
	lg_reconciliation_fini(&got);
}

#define ROW(start, end) "{\"v\":1,\"node\":7,\"instance\":\"k\",\"start\":" #start ",\"end\":" #end \
			",\"topic\":\"t\",\"produced\":{\"records\":1,\"bytes\":1}}\n"

#define MOST(instance, start, end, records, bytes) \
	"{\"v\":1,\"node\":7,\"instance\":\"" instance "\",\"start\":" #start ",\"end\":" #end \
	",\"topic\":\"t\",\"produced\":{\"records\":" #records ",\"bytes\":" #bytes "}}\n"

static void broken_files(void **state)
{
	struct lg_reconciliation got;
	struct kt_err err = {0};

	(void)state;
	put(a, 1, "i", "orders", 1000, 5);
	refuse("{\n", KT_ESYNTAX, ":1:");
	refuse("{\"v\":2}\n", KT_ERANGE, "$.v");
	refuse(ROW(1000, 2000) "{\"v\":1}\n", KT_EUNKNOWN,
	       ":2: $: not a row of AuditObserver: missing member \"node\"");
	refuse("start,end,topic\n", KT_ESYNTAX, ":1: not a row of AuditObserver: '[' or '{' expected near 'start'");
	refuse(ROW(1000, 1000), KT_ERANGE, "$.end");
	refuse(ROW(1000, 2000) ROW(1000, 2000), KT_ECORRUPT, ":2: the bucket of line 1 is there again");
	refuse(ROW(1000, 3000), KT_ECORRUPT, "the bucket is not of the same length as that of");
	refuse(ROW(1500, 2500), KT_ECORRUPT, "the bucket is not of the same length as that of");
	refuse(ROW(9223372036854775807, 9223372036854775807), KT_ERANGE, "$.start");
	refuse(MOST("r", 1000, 2000, 9223372036854775807, 1) MOST("s", 1000, 2000, 0, 1), 0, "");
	refuse(MOST("r", 1000, 2000, 9223372036854775807, 1) MOST("s", 1000, 2000, 1, 1), KT_ERANGE,
	       ":2: the sums of topic \"t\" are above");
	refuse(MOST("r", 1000, 2000, 1, 9223372036854775807) MOST("r", 2000, 3000, 1, 1), KT_ERANGE,
	       ":2: the sums of topic \"t\" are above");
	assert_int_equal(lg_reconcile(a, "/nowhere", &got, &err), KT_EFILE);
	lg_reconciliation_fini(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(topics_and_buckets, make, unmake),
		cmocka_unit_test_setup_teardown(topics_beyond_a_limit, make, unmake),
		cmocka_unit_test_setup_teardown(the_same, make, unmake),
		cmocka_unit_test_setup_teardown(without_any_row, make, unmake),
		cmocka_unit_test_setup_teardown(broken_files, make, unmake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
