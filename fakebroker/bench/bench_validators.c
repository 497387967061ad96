/* What record validators cost: batches of 100 records judged with a chain and without one.
 *
 *	bench_validators           a table
 *	bench_validators BATCHES   judges so many batches without a chain, and nothing else: for an instruction count
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakebroker/log/verdict.h"
#include "lib/text/bench/pairs.h"

enum { RECORDS = 100, PAIRS = 31, BLOCK_US = 1500 };

struct run {
	struct fb_append with, without;
	struct kw_records records;
	struct kw_arena arena;
};

static void judge(const struct fb_append *a, struct run *run, unsigned times)
{
	while (times--) {
		struct kw_append_plan *plan;
		struct kw_verdict v;

		kw_verdict_init(&v);
		if (!fb_verdict_check(a, &run->records, &run->arena, &plan, &v)) {
			fprintf(stderr, "refused: %s\n", v.reason);
			abort();
		}
		kw_arena_reset(&run->arena);
	}
}

static void judge_with(void *arg, unsigned times)
{
	judge(&((struct run *)arg)->with, arg, times);
}

static void judge_without(void *arg, unsigned times)
{
	judge(&((struct run *)arg)->without, arg, times);
}

static const char *config(void *arg, const char *name)
{
	static const struct {
		const char *name, *value;
	} rows[] = {
		{"record.validator.AvroSchema.schemas", "fixtures/schemas/order.avsc"},
		{"record.validator.PayloadSchema.schemas", "fixtures/schemas/registry"},
		{"record.validator.SchemaId.ids", "1,2,3"},
	};

	(void)arg;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].value;
	return NULL;
}

/* An order with two items, as fixtures/schemas/order.avsc has it, and much the same as JSON. */
static const uint8_t order[] = {
	0, 0, 0, 0, 1,
	0xd2, 0x09, 18, 'c', 'u', 's', 't', 'o', 'm', 'e', 'r', '7', 2, 1,
	4, 10, 's', 'k', 'u', '-', '1', 6, 0, 0, 0, 0, 0, 0, 0x23, 0x40, 0, 0,
	10, 's', 'k', 'u', '-', '2', 2, 0, 0, 0, 0, 0, 0x80, 0x41, 0x40, 2, 0, 0, 0x80, 0x3f, 0, 0,
	2, 6, 'w', 'a', 'y', 4, 'u', 'p', 0,
	1, 2, 3, 4,
};
static const char json[] = "{\"id\": 617, \"customer\": \"customer7\", \"state\": \"PAID\", \"paid\": true, \"items\": "
			   "[{\"sku\": \"sku-1\", \"count\": 3, \"price\": 9.5}, {\"sku\": \"sku-2\", \"count\": 1, "
			   "\"price\": 35, \"weight\": 1}], \"labels\": {\"way\": \"up\"}}";

static const struct row {
	const char *name, *classes;
	const void *value;
	int32_t size;
	int codec;
} rows[] = {
	{"AllowAll", "AllowAll", json, sizeof json - 1, KW_NONE},
	{"AllowAll, lz4", "AllowAll", json, sizeof json - 1, KW_LZ4},
	{"JsonSyntax", "JsonSyntax", json, sizeof json - 1, KW_NONE},
	{"AvroSchema", "AvroSchema", order + 5, sizeof order - 5, KW_NONE},
	{"SchemaId", "SchemaId", order, sizeof order, KW_NONE},
	{"PayloadSchema", "PayloadSchema", order, sizeof order, KW_NONE},
	{"SchemaId, PayloadSchema", "SchemaId,PayloadSchema", order, sizeof order, KW_NONE},
};

static void build(const struct row *row, struct kw_buf *out)
{
	struct kw_batch_spec spec = kw_batch_spec_default;
	struct kw_record records[RECORDS];

	spec.attributes = (int16_t)row->codec;
	for (int32_t i = 0; i < RECORDS; i++)
		records[i] = (struct kw_record){.offsetDelta = i, .key = {(const uint8_t *)"key-7", 5},
						.value = {row->value, row->size}};
	if (kw_batch_build(&spec, records, RECORDS, out, NULL) < 0)
		abort();
}

static void set_up(struct run *run, const struct row *row, struct kw_buf *buf)
{
	static struct fb_log log;
	static struct fb_producers producers;
	static struct kw_meters meters;
	static const struct kw_topic_conf conf = {
		.maxMessageBytes = 1 << 20, .segmentBytes = 1 << 30, .compression = -1, .beforeMaxMs = INT64_MAX,
		.afterMaxMs = INT64_MAX,
	};
	const struct fb_hook_env env = {.config = config};
	struct kt_err err = {0};

	build(row, buf);
	run->records = (struct kw_records){.p = buf->p, .n = (int32_t)buf->n};
	run->without = (struct fb_append){.log = &log, .producers = &producers, .topic = "t", .conf = &conf,
					  .meters = &meters, .now = 1700000000000};
	run->with = run->without;
	kw_arena_init(&run->arena, 0);
	if (fb_chain_new(row->classes, &env, &run->with.chain, &err) < 0) {
		fprintf(stderr, "%s: %s\n", row->classes, err.text);
		exit(3);
	}
}

static void tear_down(struct run *run, struct kw_buf *buf)
{
	fb_chain_unref(run->with.chain);
	kw_arena_fini(&run->arena);
	kw_buf_fini(buf);
}

static void measure(const struct row *row)
{
	struct kw_buf buf = {0};
	struct pairs_result r;
	struct run run;

	set_up(&run, row, &buf);
	r = pairs_measure(judge_with, judge_without, &run, PAIRS, BLOCK_US);
	printf("%-26s %10.1f %10.1f %12.0f %7.2f  %5.2f - %5.2f\n", row->name, r.a / RECORDS, r.b / RECORDS,
	       1e9 / (r.a / RECORDS), r.ratio, r.low, r.high);
	tear_down(&run, &buf);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		struct kw_buf buf = {0};
		struct run run;

		set_up(&run, &rows[0], &buf);
		judge_without(&run, (unsigned)strtoul(argv[1], NULL, 10));
		tear_down(&run, &buf);
		return 0;
	}
	printf("%-26s %10s %10s %12s %7s  %s\n", "CPU time, a core", "ns/record", "no chain", "records/s", "ratio",
	       "95 % interval");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		measure(&rows[i]);
	return 0;
}
