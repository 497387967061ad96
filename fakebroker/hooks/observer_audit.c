/* AuditObserver and CostObserver: what moved in every bucket of time, by topic and by principal, as rows of a file. */
#include <stdio.h>
#include <string.h>

#include "fakebroker/hooks/buckets.h"
#include "fakebroker/hooks/builtin_observers.h"

void fb_bucketed_close(void *instance, int64_t timeout_ms)
{
	(void)timeout_ms;
	fb_buckets_free(instance);
}

static void report(struct fb_buckets *buckets, struct kassay_sink *sink, const char *name, const char *lost_name)
{
	int64_t rows, lost;

	fb_buckets_written(buckets, &rows, &lost);
	sink->metric(sink, name, "Rows written to the file");
	sink->sample(sink, NULL, 0, rows);
	sink->metric(sink, lost_name, "Rows lost because the file could not be written");
	sink->sample(sink, NULL, 0, lost);
}

static int no_memory(struct kassay_text *why)
{
	snprintf(why->text, why->size, "out of memory");
	return -1;
}

static void add_partition(struct fb_traffic_totals *totals, const struct kassay_partition *partition)
{
	enum fb_traffic_flow flow = fb_traffic_flow_of(partition);

	if (partition->direction == KASSAY_NO_RECORDS)
		return;
	totals->records[flow] += partition->records;
	totals->bytes[flow] += partition->bytes;
}

/* ---- AuditObserver ---- */

const struct kassay_option fb_audit_options[] = {FB_BUCKET_OPTIONS, {0}};

static void audit_row(FILE *out, const struct fb_bucket *bucket, const struct fb_traffic_row *row)
{
	const struct fb_traffic_totals *totals = &row->totals;

	fprintf(out,
		"{\"v\":1,\"node\":%d,\"instance\":\"%s\",\"start\":%lld,\"end\":%lld,\"topic\":", (int)bucket->node,
		bucket->instance, (long long)bucket->start, (long long)bucket->end);
	fb_put_json_string(out, row->names);
	fprintf(out, ",\"requests\":%lld,\"produced\":{\"records\":%lld,\"bytes\":%lld},"
		"\"duplicate\":{\"records\":%lld,\"bytes\":%lld},\"refused\":{\"records\":%lld,\"bytes\":%lld},"
		"\"consumed\":{\"records\":%lld,\"bytes\":%lld}}\n", (long long)totals->requests,
		(long long)totals->records[FB_FLOW_ACCEPTED], (long long)totals->bytes[FB_FLOW_ACCEPTED],
		(long long)totals->records[FB_FLOW_DUPLICATE], (long long)totals->bytes[FB_FLOW_DUPLICATE],
		(long long)totals->records[FB_FLOW_REFUSED], (long long)totals->bytes[FB_FLOW_REFUSED],
		(long long)totals->records[FB_FLOW_CONSUMED], (long long)totals->bytes[FB_FLOW_CONSUMED]);
}

int fb_audit_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	struct fb_buckets *buckets;

	if (fb_buckets_new(host, 1, NULL, audit_row, &buckets, why) < 0)
		return -1;
	*instance = buckets;
	return 0;
}

int fb_audit_record(void *instance, const struct kassay_exchange *exchange, struct kassay_text *why)
{
	struct fb_traffic_table *table;
	struct fb_traffic_row *row = NULL;
	struct kassay_str topic = {NULL, -2};

	if (exchange->partition_count == 0)
		return 0;
	table = fb_buckets_enter(instance, exchange->node);
	if (!table)
		return no_memory(why);
	for (int32_t i = 0; i < exchange->partition_count; i++) {
		const struct kassay_partition *partition = exchange->partition(exchange, i);

		if (!row || topic.data != partition->topic.data || topic.size != partition->topic.size) {
			struct fb_traffic_key key = fb_traffic_key(&partition->topic, 1);

			topic = partition->topic;
			row = fb_traffic_row(table, &key);
			row->totals.requests += row->exchange != exchange->id;
			row->exchange = exchange->id;
		}
		add_partition(&row->totals, partition);
	}
	fb_buckets_leave(instance);
	return 0;
}

void fb_audit_collect(void *instance, struct kassay_sink *sink)
{
	report(instance, sink, "audit_rows_total", "audit_lost_rows_total");
}

/* ---- CostObserver ---- */

const struct kassay_option fb_cost_options[] = {FB_BUCKET_OPTIONS, {0}};

/* RFC 4180. */
static void put_csv(FILE *out, const char *s)
{
	if (!strpbrk(s, ",\"\r\n")) {
		fputs(s, out);
		return;
	}
	fputc('"', out);
	for (; *s; s++)
		fprintf(out, *s == '"' ? "\"\"" : "%c", *s);
	fputc('"', out);
}

static void cost_row(FILE *out, const struct fb_bucket *bucket, const struct fb_traffic_row *row)
{
	const struct fb_traffic_totals *totals = &row->totals;

	fprintf(out, "%lld,%lld,%d,%s,", (long long)bucket->start, (long long)bucket->end, (int)bucket->node,
		bucket->instance);
	put_csv(out, row->names);
	fprintf(out, ",%lld,%lld,%lld,%lld,%lld,%lld\n", (long long)totals->requests, (long long)totals->request_bytes,
		(long long)totals->response_bytes, (long long)totals->bytes[FB_FLOW_ACCEPTED],
		(long long)totals->bytes[FB_FLOW_CONSUMED], (long long)(totals->service_ns / 1000));
}

int fb_cost_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	static const char head[] =
		"start,end,node,instance,principal,requests,bytes_in,bytes_out,produced_bytes,consumed_bytes,"
		"service_us\n";
	struct fb_buckets *buckets;

	if (fb_buckets_new(host, 1, head, cost_row, &buckets, why) < 0)
		return -1;
	*instance = buckets;
	return 0;
}

int fb_cost_record(void *instance, const struct kassay_exchange *exchange, struct kassay_text *why)
{
	const struct fb_traffic_key key = fb_traffic_key(&exchange->principal, 1);
	struct fb_traffic_table *table = fb_buckets_enter(instance, exchange->node);
	struct fb_traffic_totals *totals;

	if (!table)
		return no_memory(why);
	totals = &fb_traffic_row(table, &key)->totals;
	totals->requests++;
	totals->request_bytes += exchange->request_bytes;
	totals->response_bytes += exchange->response_bytes;
	totals->service_ns += exchange->service_ns;
	for (int32_t i = 0; i < exchange->partition_count; i++)
		add_partition(totals, exchange->partition(exchange, i));
	fb_buckets_leave(instance);
	return 0;
}

void fb_cost_collect(void *instance, struct kassay_sink *sink)
{
	report(instance, sink, "cost_rows_total", "cost_lost_rows_total");
}
