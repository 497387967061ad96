/* TrafficObserver: who moves how much data to and from which topic.
 *
 * One lock guards all tables. It is held while an exchange is counted, and while one table is copied for collect().
 *
 * A client sends many requests in a row, so what its names lead to is remembered: from principal, address, client id
 * and API to their rows, and from a client and a topic to the rows of those. What is counted is added up there, and in
 * the rows when the place is given to another and before they are read.
 */
#include <pthread.h>
#include <stdalign.h>
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

enum { WHO_PARTS = 3, WHOS = 64, WHERES = 256 };

enum {
	CACHE_LINE = 64,       /* bytes of one of the processor's cache */
	ADDRESS_STEP = 64,     /* bytes of memory; the addresses of two connections lie further apart */
};

/* Whose exchanges are counted where. Rows never move and never go: names are those of rows. What an exchange needs
 * comes first, in as few lines of the processor's cache as can be. */
struct who {
	alignas(CACHE_LINE) int16_t apiKey;
	bool known;                            /* all names have rows; else it is looked up each time */
	struct kassay_str names[WHO_PARTS];    /* PRINCIPAL, ADDRESS, CLIENT_ID */
	struct where *last;                    /* of its last exchange */
	struct fb_traffic_totals pending;      /* not yet in the rows */
	struct fb_traffic_row *rows[API + 1];
};

/* The same of a client's records of one topic. */
struct where {
	alignas(CACHE_LINE) const char *principal, *clientId;   /* the client's, as in names */
	struct kassay_str name;                /* of the topic; data NULL: it is looked up each time */
	struct fb_traffic_totals pending;
	struct fb_traffic_row *rows[2];        /* of TOPIC and FLOW */
};

struct traffic {
	pthread_mutex_t lock;
	uint64_t exchange;        /* exchanges counted so far */
	struct fb_traffic_table tables[NTABLES];
	struct who whos[WHOS];
	struct where wheres[WHERES];
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
	self = aligned_alloc(alignof(struct traffic), sizeof *self);
	if (self) {
		memset(self, 0, sizeof *self);
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

static __attribute__((cold)) void count_error(struct traffic *self, const struct kassay_exchange *exchange,
					      int16_t error, int64_t n)
{
	const char *name = kw_error_name(error);
	const struct kassay_str names[] = {
		{exchange->api, (int32_t)strlen(exchange->api)}, {name, (int32_t)strlen(name)},
	};

	totals_of(self, ERROR, names)->errors += n;
}

/* ---- what is remembered ----
 *
 * The code of a request is more than the processor's first cache holds, so that what is not run costs too: what is rare
 * is cold, out of the way, and what is done several times is one function. */

static __attribute__((noinline)) bool same(const struct kassay_str *a, const struct kassay_str *b)
{
	return a->size == b->size && fb_name_same(a->data, b->data, a->size);
}

/* The name that a row is found by. */
static struct kassay_str name_of(const struct fb_traffic_row *row)
{
	return row ? (struct kassay_str){row->names, row->sizes[0]} : (struct kassay_str){NULL, -1};
}

static void settle(struct fb_traffic_totals *pending, struct fb_traffic_row *const *rows, int n)
{
	static const struct fb_traffic_totals nothing;

	for (int row = 0; row < n && rows[row]; row++) {
#define X(member, name, help, group) rows[row]->totals.member += pending->member;
		METRICS(X)
#undef X
		for (int i = 0; i < FB_FLOWS; i++) {
#define X(member, name, help) rows[row]->totals.member[i] += pending->member[i];
			FLOW_METRICS(X)
#undef X
		}
	}
	*pending = nothing;
}

static void settle_all(struct traffic *self)
{
	for (int i = 0; i < WHOS; i++)
		settle(&self->whos[i].pending, self->whos[i].rows, API + 1);
	for (int i = 0; i < WHERES; i++)
		settle(&self->wheres[i].pending, self->wheres[i].rows, 2);
}

static __attribute__((cold)) void remember_who(struct traffic *self, const struct kassay_exchange *exchange,
					       struct who *who)
{
	const struct kassay_str api = {exchange->api, (int32_t)strlen(exchange->api)};
	const struct kassay_str *const names[] = {
		[PRINCIPAL] = &exchange->principal, [ADDRESS] = &exchange->address, [CLIENT_ID] = &exchange->clientId,
		[API] = &api,
	};

	settle(&who->pending, who->rows, API + 1);
	who->apiKey = exchange->apiKey;
	who->known = true;
	who->last = self->wheres;
	for (int table = PRINCIPAL; table <= API; table++) {
		struct fb_traffic_key key = fb_traffic_key(names[table], 1);

		who->rows[table] = fb_traffic_row(&self->tables[table], &key);
		if (table < WHO_PARTS) {
			who->names[table] = name_of(fb_traffic_row_of(&self->tables[table], &key));
			who->known &= who->names[table].data != NULL;
		}
	}
}

/* Of one connection the address lies where it lay before, and its client is who it was. */
static inline struct who *find_who(struct traffic *self, const struct kassay_exchange *exchange)
{
	uintptr_t place = (uintptr_t)exchange->address.data / ADDRESS_STEP + (uintptr_t)exchange->apiKey;
	struct who *who = &self->whos[place % WHOS];

	if (!who->known || who->apiKey != exchange->apiKey || !same(&who->names[PRINCIPAL], &exchange->principal) ||
	    !same(&who->names[ADDRESS], &exchange->address) || !same(&who->names[CLIENT_ID], &exchange->clientId))
		remember_who(self, exchange, who);
	return who;
}

static __attribute__((cold)) void remember_where(struct traffic *self, const struct kassay_exchange *exchange,
						 const struct who *who, const struct kassay_str *topic,
						 struct where *where)
{
	struct fb_traffic_key key = fb_traffic_key(topic, 1);
	struct fb_traffic_key flow = fb_traffic_key((const struct kassay_str[]){exchange->principal, exchange->clientId,
										  *topic}, 3);

	settle(&where->pending, where->rows, 2);
	where->rows[0] = fb_traffic_row(&self->tables[TOPIC], &key);
	where->rows[1] = fb_traffic_row(&self->tables[FLOW], &flow);
	where->principal = who->names[PRINCIPAL].data;
	where->clientId = who->names[CLIENT_ID].data;
	where->name = name_of(who->known ? fb_traffic_row_of(&self->tables[TOPIC], &key) : NULL);
}

static inline bool is_where(const struct where *where, const struct who *who, const struct kassay_str *topic)
{
	return where->clientId == who->names[CLIENT_ID].data && where->principal == who->names[PRINCIPAL].data &&
	       where->name.data && same(&where->name, topic);
}

static __attribute__((noinline)) struct where *look_up(struct traffic *self, const struct kassay_exchange *exchange,
						       const struct who *who, const struct kassay_str *topic)
{
	uint32_t place = fb_traffic_hash(topic) + (uint32_t)((uintptr_t)who->names[CLIENT_ID].data >> 4);
	struct where *where = &self->wheres[place % WHERES];

	if (!is_where(where, who, topic))
		remember_where(self, exchange, who, topic, where);
	return where;
}

/* Most of a client's requests are for the topic of the one before. */
static inline struct where *find_where(struct traffic *self, const struct kassay_exchange *exchange, struct who *who,
				       const struct kassay_str *topic)
{
	if (!is_where(who->last, who, topic))
		who->last = look_up(self, exchange, who, topic);
	return who->last;
}

/* ---- an exchange ---- */

/* Two names may have one row, "(other)": where a request may name several, rows say whether it was counted. */
static inline void count_request_once(struct traffic *self, const struct kassay_exchange *exchange, struct where *where)
{
	if (exchange->partition_count == 1) {
		where->pending.requests++;
		return;
	}
	for (int i = 0; i < 2; i++) {
		where->rows[i]->totals.requests += where->rows[i]->exchange != self->exchange;
		where->rows[i]->exchange = self->exchange;
	}
}

static inline void count_records(struct fb_traffic_totals *totals, const struct kassay_partition *partition)
{
	enum fb_traffic_flow flow = fb_traffic_flow_of(partition);

	totals->records[flow] += partition->records;
	totals->bytes[flow] += partition->bytes;
	totals->errors += partition->error != 0;
}

/* Counts the partitions for their topics and for the exchange. Those of a topic follow each other: its name is the same
 * slice of the request. */
static inline void count_partitions(struct traffic *self, const struct kassay_exchange *exchange, struct who *who)
{
	struct kassay_str name = {NULL, 0};
	struct where *where = NULL;

	for (int32_t i = 0; i < exchange->partition_count; i++) {
		const struct kassay_partition *partition = exchange->partition(exchange, i);

		if (!where || name.data != partition->topic.data || name.size != partition->topic.size) {
			name = partition->topic;
			where = find_where(self, exchange, who, &name);
			count_request_once(self, exchange, where);
		}
		count_records(&where->pending, partition);
		count_records(&who->pending, partition);
		if (partition->error != 0)
			count_error(self, exchange, partition->error, 1);
	}
}

int fb_traffic_record(void *instance, const struct kassay_exchange *exchange, struct kassay_text *why)
{
	struct traffic *self = instance;
	struct fb_traffic_totals *sum;
	struct who *who;
	int64_t errors;

	(void)why;
	pthread_mutex_lock(&self->lock);
	self->exchange++;
	who = find_who(self, exchange);
	sum = &who->pending;
	sum->requests++;
	sum->request_bytes += exchange->request_bytes;
	sum->response_bytes += exchange->response_bytes;
	sum->queue_ns += exchange->queue_ns;
	sum->service_ns += exchange->service_ns;
	sum->throttle_ms += exchange->throttleTimeMs;
	errors = sum->errors;
	count_partitions(self, exchange, who);
	/* The codes that belong to no partition. Only the first code of a response is known by its number. */
	if (exchange->error_count > sum->errors - errors) {
		count_error(self, exchange, exchange->error, exchange->error_count - (sum->errors - errors));
		sum->errors = errors + exchange->error_count;
	}
	pthread_mutex_unlock(&self->lock);
	return 0;
}

/* ---- reporting ---- */

/* A copy of a table's rows for free(); their names stay those of the table. NULL, with *n 0, without memory. */
static struct fb_traffic_row *copy_rows(struct traffic *self, enum table table, uint32_t *n)
{
	struct fb_traffic_row *rows;

	pthread_mutex_lock(&self->lock);
	settle_all(self);
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
