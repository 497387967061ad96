/* SloObserver: how long requests took, by API, topic and principal, held against an objective. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakebroker/hooks/builtin_observers.h"
#include "fakebroker/hooks/traffic_table.h"

/* Upper ends of the histogram's buckets in ms, and their labels; the last one has none. */
#define BOUNDS(X) X(1) X(2) X(5) X(10) X(20) X(50) X(100) X(200) X(500) X(1000) X(2000) X(5000) X(10000)

static const int64_t bounds_ms[] = {
#define X(ms) ms,
	BOUNDS(X)
#undef X
};

static const char *const bound_labels[] = {
#define X(ms) #ms,
	BOUNDS(X)
#undef X
	"+Inf",
};

enum { NBOUNDS = sizeof bounds_ms / sizeof *bounds_ms, SLOTS = 10 };

/* Requests of a part of the window. */
struct slot {
	int64_t number;             /* of the part, counted from the clock's beginning */
	int64_t requests, slow;
};

struct row {
	int64_t counts[NBOUNDS + 1];
	int64_t nanoseconds, slow;
	struct slot slots[SLOTS];
};

struct slo {
	pthread_mutex_t lock;
	int64_t target_ns, slot_ns, allowed_ppm;
	uint64_t exchange;
	struct fb_traffic_table table;
	struct row *rows;           /* beside the table's */
};

#define TARGET_MS 100
#define OBJECTIVE_PPM 999000
#define WINDOW_S 300

const struct kassay_option fb_slo_options[] = {
	{"target.ms", FB_OPTION_TEXT(TARGET_MS), "a request that takes longer is slow"},
	{"objective.ppm", FB_OPTION_TEXT(OBJECTIVE_PPM), "how many of a million requests must not be slow or fail"},
	{"window.s", FB_OPTION_TEXT(WINDOW_S), "seconds that the burn rate looks back"},
	{"limit", FB_OPTION_TEXT(FB_TRAFFIC_LIMIT),
	 "most combinations of API, topic and principal that are counted apart"},
	{0},
};

void fb_slo_close(void *instance, int64_t timeout_ms)
{
	struct slo *self = instance;

	(void)timeout_ms;
	fb_traffic_table_fini(&self->table);
	free(self->rows);
	pthread_mutex_destroy(&self->lock);
	free(self);
}

int fb_slo_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	int64_t target, objective, window, limit;
	struct slo *self;

	if (fb_option_number(host, "target.ms", 1, 3600000, TARGET_MS, &target, why) < 0 ||
	    fb_option_number(host, "objective.ppm", 0, 999999, OBJECTIVE_PPM, &objective, why) < 0 ||
	    fb_option_number(host, "window.s", 1, 86400, WINDOW_S, &window, why) < 0 ||
	    fb_option_number(host, "limit", 1, FB_TRAFFIC_LIMIT_MAX, FB_TRAFFIC_LIMIT, &limit, why) < 0)
		return -1;
	self = calloc(1, sizeof *self);
	if (self) {
		pthread_mutex_init(&self->lock, NULL);
		self->target_ns = target * 1000000;
		self->slot_ns = window * 1000000000 / SLOTS;
		self->allowed_ppm = 1000000 - objective;
		self->rows = calloc((size_t)limit + 1, sizeof *self->rows);
		if (fb_traffic_table_init(&self->table, 3, (uint32_t)limit) == 0 && self->rows) {
			*instance = self;
			return 0;
		}
		fb_slo_close(self, 0);
	}
	snprintf(why->text, why->size, "out of memory");
	return -1;
}

/* ---- counting ---- */

static void count(struct slo *self, struct row *row, int64_t ns, bool slow)
{
	int64_t number = fb_hook_now() / self->slot_ns;
	struct slot *slot = &row->slots[number % SLOTS];
	int i = 0;

	while (i < NBOUNDS && ns > bounds_ms[i] * 1000000)
		i++;
	row->counts[i]++;
	row->nanoseconds += ns;
	row->slow += slow;
	if (slot->number != number)
		*slot = (struct slot){.number = number};
	slot->requests++;
	slot->slow += slow;
}

/* Once for each topic of the request; a request without topics counts for the topic "(none)". */
int fb_slo_record(void *instance, const struct kassay_exchange *exchange, struct kassay_text *why)
{
	struct kassay_str names[3] = {
		{exchange->api, (int32_t)strlen(exchange->api)}, {NULL, -1}, exchange->principal,
	};
	int64_t ns = exchange->queue_ns + exchange->service_ns;
	struct slo *self = instance;
	bool bad = ns > self->target_ns || exchange->error_count > 0;
	int32_t i = 0;

	(void)why;
	pthread_mutex_lock(&self->lock);
	self->exchange++;
	do {
		const struct kassay_partition *partition = exchange->partition(exchange, i);
		struct fb_traffic_key key;
		struct fb_traffic_row *row;

		if (partition && i > 0 && partition->topic.data == names[1].data &&
		    partition->topic.size == names[1].size)
			continue;
		if (partition)
			names[1] = partition->topic;
		key = fb_traffic_key(names, 3);
		row = fb_traffic_row(&self->table, &key);
		if (row->exchange != self->exchange)
			count(self, &self->rows[row - self->table.rows], ns, bad);
		row->exchange = self->exchange;
	} while (++i < exchange->partition_count);
	pthread_mutex_unlock(&self->lock);
	return 0;
}

/* ---- reporting ---- */

/* How many times faster than allowed the slow requests come, in thousandths; 0 without requests. */
static int64_t burn(const struct slo *self, const struct row *row)
{
	int64_t now = fb_hook_now() / self->slot_ns, requests = 0, slow = 0;

	for (int i = 0; i < SLOTS; i++) {
		if (row->slots[i].number <= now - SLOTS)
			continue;
		requests += row->slots[i].requests;
		slow += row->slots[i].slow;
	}
	return requests ? (int64_t)((double)slow * 1e9 / ((double)requests * (double)self->allowed_ppm)) : 0;
}

static int64_t total(const struct row *row)
{
	int64_t n = 0;

	for (int i = 0; i <= NBOUNDS; i++)
		n += row->counts[i];
	return n;
}

static int64_t slow(const struct slo *self, const struct row *row)
{
	(void)self;
	return row->slow;
}

static int64_t nanoseconds(const struct slo *self, const struct row *row)
{
	(void)self;
	return row->nanoseconds;
}

struct report {
	const struct slo *self;
	const struct row *rows;          /* copies */
	uint32_t n;
	struct kassay_sink *sink;
};

static void set_labels(struct kassay_label labels[3], const struct fb_traffic_row *key)
{
	static const char *const names[] = {"api", "topic", "principal"};
	const char *name = key->names;

	for (int i = 0; i < 3; i++) {
		labels[i] = (struct kassay_label){names[i], name};
		name += strlen(name) + 1;
	}
}

static void report_numbers(const struct report *report, const char *name, const char *help,
			   int64_t (*number)(const struct slo *self, const struct row *row))
{
	struct kassay_label labels[3];

	report->sink->metric(report->sink, name, help);
	for (uint32_t i = 0; i < report->n; i++) {
		if (total(&report->rows[i]) == 0)
			continue;
		set_labels(labels, &report->self->table.rows[i]);
		report->sink->sample(report->sink, labels, 3, number(report->self, &report->rows[i]));
	}
}

/* As Prometheus has histograms: a count holds all that took no longer. */
static void report_histogram(const struct report *report)
{
	struct kassay_label labels[4];

	report->sink->metric(report->sink, "slo_requests_total", "Requests that took at most le milliseconds");
	for (uint32_t i = 0; i < report->n; i++) {
		int64_t sum = 0;

		if (total(&report->rows[i]) == 0)
			continue;
		set_labels(labels, &report->self->table.rows[i]);
		for (int k = 0; k <= NBOUNDS; k++) {
			sum += report->rows[i].counts[k];
			labels[3] = (struct kassay_label){"le", bound_labels[k]};
			report->sink->sample(report->sink, labels, 4, sum);
		}
	}
}

void fb_slo_collect(void *instance, struct kassay_sink *sink)
{
	struct slo *self = instance;
	struct report report = {.self = self, .sink = sink};
	struct row *copy;

	/* Names stay where they are; only the numbers change meanwhile. */
	pthread_mutex_lock(&self->lock);
	report.n = self->table.n;
	copy = malloc(report.n * sizeof *copy);
	if (copy)
		memcpy(copy, self->rows, report.n * sizeof *copy);
	pthread_mutex_unlock(&self->lock);
	if (!copy)
		return;
	report.rows = copy;
	report_histogram(&report);
	report_numbers(&report, "slo_nanoseconds_total", "Time from receipt to the built response", nanoseconds);
	report_numbers(&report, "slo_violations_total", "Requests that were slow or had an error", slow);
	report_numbers(&report, "slo_burn_permille",
		       "Violations in the window, in thousandths of what the objective allows", burn);
	free(copy);
}
