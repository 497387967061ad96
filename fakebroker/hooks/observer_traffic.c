/* TrafficObserver: who moves how much data to and from which topic.
 *
 * One lock guards all tables. It is held while an exchange is counted, and while one table is copied for collect().
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakebroker/hooks/builtin_observers.h"
#include "fakebroker/hooks/traffic_table.h"
#include "lib/wire/message.h"

/* Groups of metrics. */
enum { REQUESTS = 1, WHOLE = 2, RECORDS = 4, ERRORS = 8, EXCHANGE = REQUESTS | WHOLE | RECORDS | ERRORS };

/* What is counted apart: the exchange as a whole first, then its partitions, then error codes.
 * X(symbol, beginning of the metrics' names, groups of metrics, labels) */
#define TABLES(X)                                                                         \
	X(PRINCIPAL, "principal_", EXCHANGE, "principal")                                 \
	X(ADDRESS,   "address_",   EXCHANGE, "address")                                   \
	X(CLIENT_ID, "client_id_", EXCHANGE, "client_id")                                 \
	X(API,       "api_",       EXCHANGE, "api")                                       \
	X(TOPIC,     "topic_",     REQUESTS | RECORDS | ERRORS, "topic")                  \
	X(FLOW,      "flow_",      REQUESTS | RECORDS | ERRORS, "principal", "client_id", "topic") \
	X(ERROR,     "",           ERRORS, "api", "error")

/* X(member of the totals, end of the metric's name, help, group) */
#define METRICS(X)                                                                                             \
	X(requests, "requests_total", "Requests", REQUESTS)                                                    \
	X(request_bytes, "request_bytes_total", "Bytes of request frames", WHOLE)                              \
	X(response_bytes, "response_bytes_total", "Bytes of response frames", WHOLE)                           \
	X(queue_ns, "queue_nanoseconds_total", "Time from receipt to handling", WHOLE)                         \
	X(service_ns, "service_nanoseconds_total", "Time from handling to the response, waiting included", WHOLE) \
	X(throttle_ms, "throttle_milliseconds_total", "Throttle time that clients were told", WHOLE)           \
	X(errors, "errors_total", "Error codes other than NONE", ERRORS)

/* X(member, end of the metric's name, help), by direction and outcome */
#define FLOW_METRICS(X)                                                                                        \
	X(records, "records_total", "Records, by the headers of their batches")                                \
	X(bytes, "record_bytes_total", "Bytes of record sets, as compressed as they were sent")

enum table {
#define X(sym, name, groups, ...) sym,
	TABLES(X)
#undef X
	NTABLES,
};

static const struct {
	const char *name;
	int groups;
	const char *labels[FB_TRAFFIC_PARTS + 1];   /* NULL-terminated */
} tables[] = {
#define X(sym, name_, groups_, ...) [sym] = {name_, groups_, {__VA_ARGS__}},
	TABLES(X)
#undef X
};

static const struct {
	const char *direction, *outcome;
} flows[] = {
#define FB_X(sym, direction_, outcome_) [sym] = {direction_, outcome_},
	FB_TRAFFIC_FLOWS(FB_X)
#undef FB_X
};

struct traffic {
	pthread_mutex_t lock;
	uint64_t exchange;        /* exchanges counted so far */
	struct fb_traffic_table tables[NTABLES];
};

const struct kassay_option fb_traffic_options[] = {
	{"limit", FB_OPTION_TEXT(FB_TRAFFIC_LIMIT),
	 "most different names of each kind (and combinations of them) that are counted apart"},
	{0},
};

static int part_count(enum table table)
{
	int n = 0;

	while (tables[table].labels[n])
		n++;
	return n;
}

void fb_traffic_close(void *instance, int64_t timeout_ms)
{
	struct traffic *self = instance;
	int i;

	(void)timeout_ms;
	for (i = 0; i < NTABLES; i++)
		fb_traffic_table_fini(&self->tables[i]);
	pthread_mutex_destroy(&self->lock);
	free(self);
}

int fb_traffic_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	struct traffic *self;
	int64_t limit;
	int i, failed = 0;

	if (fb_option_number(host, "limit", 1, FB_TRAFFIC_LIMIT_MAX, FB_TRAFFIC_LIMIT, &limit, why) < 0)
		return -1;
	self = calloc(1, sizeof *self);
	if (self) {
		pthread_mutex_init(&self->lock, NULL);
		for (i = 0; i < NTABLES; i++)
			failed |= fb_traffic_table_init(&self->tables[i], part_count((enum table)i), (uint32_t)limit);
		if (!failed) {
			*instance = self;
			return 0;
		}
		fb_traffic_close(self, 0);
	}
	snprintf(why->text, why->size, "out of memory");
	return -1;
}

/* ---- counting ---- */

static struct fb_traffic_totals *totals_of(struct traffic *self, enum table table, const struct kassay_str *names)
{
	struct fb_traffic_key key = fb_traffic_key(names, part_count(table));

	return &fb_traffic_row(&self->tables[table], &key)->totals;
}

static void count_error(struct traffic *self, const struct kassay_exchange *exchange, int16_t error, int64_t n)
{
	const char *name = kw_error_name(error);
	const struct kassay_str names[] = {
		{exchange->api, (int32_t)strlen(exchange->api)}, {name, (int32_t)strlen(name)},
	};

	totals_of(self, ERROR, names)->errors += n;
}

static void count_partition(struct fb_traffic_totals *totals, const struct kassay_partition *partition)
{
	enum fb_traffic_flow flow = fb_traffic_flow_of(partition);

	totals->errors += partition->error != 0;
	if (partition->direction == KASSAY_NO_RECORDS)
		return;
	totals->records[flow] += partition->records;
	totals->bytes[flow] += partition->bytes;
}

static void count_request_once(struct traffic *self, struct fb_traffic_row *row)
{
	row->totals.requests += row->exchange != self->exchange;
	row->exchange = self->exchange;
}

/* Counts the partitions for their topics, and adds them to the sum of the exchange. */
static void count_partitions(struct traffic *self, const struct kassay_exchange *exchange,
			     struct fb_traffic_totals *sum)
{
	struct kassay_str names[3] = {exchange->principal, exchange->clientId, {NULL, -2}};
	struct fb_traffic_row *topic = NULL, *flow = NULL;
	int32_t i;

	for (i = 0; i < exchange->partition_count; i++) {
		const struct kassay_partition *partition = exchange->partition(exchange, i);

		/* The partitions of a topic follow each other: its name is the same slice of the request. */
		if (!topic || names[2].data != partition->topic.data || names[2].size != partition->topic.size) {
			struct fb_traffic_key key = fb_traffic_key(&partition->topic, 1);

			topic = fb_traffic_row(&self->tables[TOPIC], &key);
			names[2] = partition->topic;
			key = fb_traffic_key(names, 3);
			flow = fb_traffic_row(&self->tables[FLOW], &key);
			count_request_once(self, topic);
			count_request_once(self, flow);
		}
		count_partition(&topic->totals, partition);
		count_partition(&flow->totals, partition);
		count_partition(sum, partition);
		if (partition->error != 0)
			count_error(self, exchange, partition->error, 1);
	}
}

static void add(struct fb_traffic_totals *totals, const struct fb_traffic_totals *sum)
{
	int i;

#define X(member, name, help, group) totals->member += sum->member;
	METRICS(X)
#undef X
	for (i = 0; i < FB_FLOWS; i++) {
#define X(member, name, help) totals->member[i] += sum->member[i];
		FLOW_METRICS(X)
#undef X
	}
}

int fb_traffic_record(void *instance, const struct kassay_exchange *exchange, struct kassay_text *why)
{
	const struct kassay_str api = {exchange->api, (int32_t)strlen(exchange->api)};
	const struct fb_traffic_key keys[] = {
		[PRINCIPAL] = fb_traffic_key(&exchange->principal, 1),
		[ADDRESS] = fb_traffic_key(&exchange->address, 1),
		[CLIENT_ID] = fb_traffic_key(&exchange->clientId, 1),
		[API] = fb_traffic_key(&api, 1),
	};
	struct fb_traffic_totals sum = {
		.requests = 1, .request_bytes = exchange->request_bytes, .response_bytes = exchange->response_bytes,
		.queue_ns = exchange->queue_ns, .service_ns = exchange->service_ns,
		.throttle_ms = exchange->throttleTimeMs,
	};
	struct traffic *self = instance;
	int table;

	(void)why;
	pthread_mutex_lock(&self->lock);
	self->exchange++;
	count_partitions(self, exchange, &sum);
	/* The codes that belong to no partition. Only the first code of a response is known by its number. */
	if (exchange->error_count > sum.errors) {
		count_error(self, exchange, exchange->error, exchange->error_count - sum.errors);
		sum.errors = exchange->error_count;
	}
	for (table = PRINCIPAL; table <= API; table++)
		add(&fb_traffic_row(&self->tables[table], &keys[table])->totals, &sum);
	pthread_mutex_unlock(&self->lock);
	return 0;
}

/* ---- reporting ---- */

/* A copy of a table's rows for free(); their names stay those of the table. NULL, with *n 0, without memory. */
static struct fb_traffic_row *copy_rows(struct traffic *self, enum table table, uint32_t *n)
{
	struct fb_traffic_row *rows;

	pthread_mutex_lock(&self->lock);
	*n = self->tables[table].n;
	pthread_mutex_unlock(&self->lock);
	rows = malloc(*n * sizeof *rows);
	if (!rows) {
		*n = 0;
		return NULL;
	}
	pthread_mutex_lock(&self->lock);
	memcpy(rows, self->tables[table].rows, *n * sizeof *rows);
	pthread_mutex_unlock(&self->lock);
	return rows;
}

static size_t set_labels(struct kassay_label *labels, enum table table, const struct fb_traffic_row *row)
{
	const char *name = row->names;
	size_t n;

	for (n = 0; tables[table].labels[n]; n++) {
		labels[n] = (struct kassay_label){tables[table].labels[n], name};
		name += strlen(name) + 1;
	}
	return n;
}

static void start_metric(struct kassay_sink *sink, enum table table, const char *name, const char *help)
{
	char full[64], text[128];

	snprintf(full, sizeof full, "traffic_%s%s", tables[table].name, name);
	snprintf(text, sizeof text, "%s, by %s", help, *tables[table].name ? tables[table].labels[0] : "API and error");
	sink->metric(sink, full, text);
}

static void report_metric(struct kassay_sink *sink, enum table table, const struct fb_traffic_row *rows, uint32_t n,
			  const char *name, const char *help, size_t member)
{
	struct kassay_label labels[FB_TRAFFIC_PARTS];
	uint32_t i;

	start_metric(sink, table, name, help);
	for (i = 0; i < n; i++) {
		int64_t value;

		memcpy(&value, (const char *)&rows[i].totals + member, sizeof value);
		if (!rows[i].same_as && value != 0)
			sink->sample(sink, labels, set_labels(labels, table, &rows[i]), value);
	}
}

/* A metric whose member is an array by flow. */
static void report_flows(struct kassay_sink *sink, enum table table, const struct fb_traffic_row *rows, uint32_t n,
			 const char *name, const char *help, size_t member)
{
	struct kassay_label labels[FB_TRAFFIC_PARTS + 2];
	uint32_t i;
	int flow;

	start_metric(sink, table, name, help);
	for (i = 0; i < n; i++) {
		for (flow = 0; flow < FB_FLOWS; flow++) {
			size_t nlabels = set_labels(labels, table, &rows[i]);
			size_t at = member + (size_t)flow * sizeof(int64_t);
			int64_t value;

			memcpy(&value, (const char *)&rows[i].totals + at, sizeof value);
			labels[nlabels++] = (struct kassay_label){"direction", flows[flow].direction};
			if (flows[flow].outcome)
				labels[nlabels++] = (struct kassay_label){"outcome", flows[flow].outcome};
			if (!rows[i].same_as && value != 0)
				sink->sample(sink, labels, nlabels, value);
		}
	}
}

static void report_table(struct traffic *self, enum table table, struct kassay_sink *sink)
{
	uint32_t n;
	struct fb_traffic_row *rows = copy_rows(self, table, &n);
	int groups = tables[table].groups;

#define X(member, name, help, group)                                                                  \
	if (groups & (group))                                                                         \
		report_metric(sink, table, rows, n, name, help, offsetof(struct fb_traffic_totals, member));
	METRICS(X)
#undef X
#define X(member, name, help)                                                                         \
	if (groups & RECORDS)                                                                         \
		report_flows(sink, table, rows, n, name, help, offsetof(struct fb_traffic_totals, member));
	FLOW_METRICS(X)
#undef X
	free(rows);
}

void fb_traffic_collect(void *instance, struct kassay_sink *sink)
{
	int table;

	for (table = 0; table < NTABLES; table++)
		report_table(instance, (enum table)table, sink);
}
