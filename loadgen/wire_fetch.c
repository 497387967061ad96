#include "loadgen/wire_fetch.h"

#include <librdkafka/rdkafka.h>
#include <stdlib.h>

#include "kw_messages.h"
#include "lib/wire/record_time.h"
#include "loadgen/clock.h"
#include "loadgen/payload.h"
#include "loadgen/ring.h"
#include "loadgen/routes.h"

enum { API_FETCH = 1, VERSION_MIN = 4, VERSION_MAX = 12 };   /* from version 13 on topics are named by id */

#define ANSWER_MS 30000
#define STOP_WAIT (5 * LG_SECOND)

struct flight {
	int32_t correlation, partition;
	int64_t offset, intended, sent;
};

struct flights {
	struct lg_ring ring;
	struct flight *v;              /* in_flight of them, NULL until the first */
};

struct fetcher {
	const struct lg_fetch_opts *opts;
	struct lg_fetch_stats *stats;
	struct lg_schedule schedule;
	struct lg_routes routes;
	struct flights flights[LG_LANES_MAX];   /* by lane */
	int64_t *positions;            /* of each partition */
	uint32_t topic;
	struct kw_buf frame;
	struct kw_arena arena;
	struct kt_err fatal;           /* lack of memory: no fault of the broker's */
};

static struct flights *flights_of(struct fetcher *fetcher, const struct lg_lane *lane)
{
	return &fetcher->flights[lane - fetcher->routes.lanes];
}

/* NULL if nothing is in flight. */
static const struct flight *oldest(const struct flights *flights)
{
	return flights->ring.n > 0 ? &flights->v[flights->ring.first] : NULL;
}

static int in_flight(const struct fetcher *fetcher)
{
	int n = 0;

	for (int i = 0; i < fetcher->routes.nlanes; i++)
		n += fetcher->flights[i].ring.n;
	return n;
}

static void drop_lane(struct fetcher *fetcher, struct lg_lane *lane, const char *why)
{
	struct flights *flights = flights_of(fetcher, lane);

	for (; flights->ring.n > 0; lg_ring_drop(&flights->ring))
		fetcher->stats->unanswered++;
	lg_outcomes_add(&fetcher->stats->outcomes, NULL, RD_KAFKA_RESP_ERR__TRANSPORT, lg_stopped(), why);
	lg_lane_close(&fetcher->routes, lane);
}

/* After a failure on a connection. */
static void give_up(struct fetcher *fetcher, struct lg_lane *lane, const struct kt_err *err)
{
	char text[600];

	if (err->code == KT_ENOMEM)
		fetcher->fatal = *err;
	else
		drop_lane(fetcher, lane, kt_err_line(err, text, sizeof text));
}

/* ---- requests ---- */

static int encode(struct fetcher *fetcher, struct lg_lane *lane, struct flight *flight, struct kt_err *err)
{
	struct kw_FetchRequest_FetchPartition partition = {
		.partition = flight->partition, .currentLeaderEpoch = -1, .fetchOffset = flight->offset,
		.lastFetchedEpoch = -1, .logStartOffset = -1, .partitionMaxBytes = fetcher->opts->max_bytes,
		.highWatermark = INT64_MAX,
	};
	struct kw_FetchRequest_FetchTopic topic = {
		.topic = kw_str(fetcher->opts->topic), .partitions = {&partition, 1},
	};
	struct kw_FetchRequest *request;

	kw_arena_reset(&fetcher->arena);
	request = kw_new(kw_request(API_FETCH), &fetcher->arena);
	if (!request)
		return kt_fail(err, KT_ENOMEM, "no memory");
	request->maxBytes = fetcher->opts->max_bytes;
	request->topics.v = &topic;
	request->topics.n = 1;
	kw_buf_clear(&fetcher->frame);
	return kc_encode(lane->conn, API_FETCH, lane->version, request, &fetcher->frame, &flight->correlation, err);
}

static struct flight *new_flight(const struct fetcher *fetcher, struct flights *flights, struct kt_err *err)
{
	int place;

	if (!flights->v) {
		flights->ring.max = fetcher->opts->in_flight;
		flights->v = calloc((size_t)flights->ring.max, sizeof *flights->v);
		if (!flights->v)
			kt_fail(err, KT_ENOMEM, "no memory");
	}
	place = flights->v ? lg_ring_take(&flights->ring) : -1;
	return place < 0 ? NULL : &flights->v[place];
}

/* False if the request cannot go out now, for a reason that is noted. */
static bool send_request(struct fetcher *fetcher, int32_t partition, int64_t intended)
{
	struct kt_err err = {0};
	struct lg_lane *lane = lg_routes_lane(&fetcher->routes, partition, &err);
	struct flight *flight = lane ? new_flight(fetcher, flights_of(fetcher, lane), &err) : NULL;
	char *why = fetcher->stats->not_sent_why;

	if (err.code == KT_ENOMEM)
		fetcher->fatal = err;
	if (!flight) {
		if (err.code || lane)   /* else nothing was tried, and what was said before still holds */
			snprintf(why, sizeof fetcher->stats->not_sent_why, "%.150s",
				 lane ? "no room on the connection for 30 s" : err.text);
		return false;
	}
	*flight = (struct flight){
		.partition = partition, .offset = fetcher->positions[partition], .intended = intended,
	};
	if (encode(fetcher, lane, flight, &err) == 0) {
		flight->sent = lg_now();
		lg_meter_sent(&fetcher->stats->meter, intended, flight->sent);
		fetcher->stats->requests++;
		kc_write(lane->conn, fetcher->frame.p, fetcher->frame.n, kc_now_ms() + ANSWER_MS, &err);
	} else {
		lg_ring_untake(&flights_of(fetcher, lane)->ring);
	}
	if (err.code)
		give_up(fetcher, lane, &err);
	return true;
}

/* ---- records ---- */

struct visit {
	struct fetcher *fetcher;
	const struct flight *flight;
	int64_t base;                  /* offset of the batch */
};

static enum lg_payload_state read_stamp(const struct kw_record *record, struct lg_stamp *stamp, size_t *wrong)
{
	struct kw_bytes bytes = record->value;

	for (int32_t i = record->nheaders - 1; i >= 0; i--)
		if (kw_str_is(record->headers[i].key, LG_STAMP_HEADER)) {
			bytes = record->headers[i].value;
			break;
		}
	return lg_payload_read(bytes.p, bytes.n < 0 ? 0 : (size_t)bytes.n, stamp, wrong);
}

static void note_damage(struct lg_fetch_stats *stats, const struct flight *flight, int64_t offset, const char *what)
{
	stats->corrupt++;
	if (!stats->damage[0])
		snprintf(stats->damage, sizeof stats->damage, "partition %d, offset %lld: %.100s",
			 (int)flight->partition, (long long)offset, what);
}

static int judge_record(void *arg, int32_t index, const struct kw_record *record)
{
	struct visit *visit = arg;
	struct lg_fetch_stats *stats = visit->fetcher->stats;
	int64_t offset = visit->base + record->offsetDelta;
	struct lg_stamp stamp;
	size_t wrong;

	(void)index;
	if (offset < visit->flight->offset)
		return 0;      /* a batch begins before the offset that was asked for */
	stats->records++;
	switch (read_stamp(record, &stamp, &wrong)) {
	case LG_PAYLOAD_FOREIGN:
		stats->foreign++;
		return 0;
	case LG_PAYLOAD_INTACT:
		if (stamp.topic == visit->fetcher->topic && stamp.partition == visit->flight->partition) {
			stats->intact++;
			return 0;
		}
		break;
	case LG_PAYLOAD_CORRUPT:
		break;
	}
	note_damage(stats, visit->flight, offset, "the record is not as it was sent");
	return 0;
}

/* Walks all whole batches; the last one of an answer may be cut off. *next is the offset after the last record. Fails
 * for want of memory alone. */
static int read_records(struct fetcher *fetcher, const struct flight *flight, const struct kw_records *records,
			int64_t *next, struct kt_err *err)
{
	size_t at = 0, n = records->n < 0 ? 0 : (size_t)records->n;
	struct kw_batch batch;

	*next = flight->offset;
	while (kw_batch_parse(records->p + at, n - at, &batch, NULL) == 0 && batch.magic == 2) {
		struct visit visit = {fetcher, flight, batch.baseOffset};
		struct kt_err fault = {0};
		enum kw_walk why;

		if (batch.crc != kw_batch_crc(batch.p, batch.size))
			note_damage(fetcher->stats, flight, batch.baseOffset, "the CRC of the batch is wrong");
		else if (!(batch.attributes & KW_A_CONTROL) &&
			 kw_batch_walk(&batch, NULL, judge_record, &visit, &why, &fault)) {
			if (fault.code == KT_ENOMEM)
				return kt_fail(err, KT_ENOMEM, "%s", fault.text);
			note_damage(fetcher->stats, flight, batch.baseOffset, fault.text);
		}
		*next = kw_next_offset(&batch);
		at += batch.size;
	}
	return 0;
}

/* ---- answers ---- */

static int take_partition(struct fetcher *fetcher, const struct flight *flight,
			  const struct kw_FetchResponse_PartitionData *data, int64_t now, struct kt_err *err)
{
	struct lg_fetch_stats *stats = fetcher->stats;
	int64_t *position = &fetcher->positions[flight->partition], next;

	if (data->errorCode) {
		lg_outcomes_add(&stats->outcomes, NULL, data->errorCode, false, "");
		lg_routes_heed(&fetcher->routes, data->errorCode);
		return 0;
	}
	if (data->records.n > 0) {
		stats->with_records++;
		stats->bytes += data->records.n;
		lg_meter_acked(&stats->meter, flight->intended, flight->sent, now);
	} else {
		stats->without_records++;
		kh_record(&stats->empty, now - flight->intended);
	}
	if (read_records(fetcher, flight, &data->records, &next, err))
		return err->code;
	if (*position == flight->offset)
		*position = next >= data->highWatermark ? fetcher->opts->begins[flight->partition] : next;
	return 0;
}

static int take_answer(void *arg, struct lg_lane *lane, const uint8_t *p, size_t n, struct kt_err *err)
{
	struct fetcher *fetcher = arg;
	struct flights *flights = flights_of(fetcher, lane);
	const struct flight *flight = oldest(flights);
	const struct kw_FetchResponse *response;
	int64_t now = lg_now();
	int32_t correlation;
	void *decoded;
	int rc;

	kw_arena_reset(&fetcher->arena);
	rc = kc_decode(API_FETCH, lane->version, p, n, &fetcher->arena, &correlation, &decoded, err);
	if (rc)
		return rc;
	response = decoded;
	if (!flight || correlation != flight->correlation)
		return kt_fail(err, KT_ECORRUPT, "an answer with correlation id %d where %d is due", (int)correlation,
			       flight ? (int)flight->correlation : -1);
	fetcher->stats->last = now;
	if (response->errorCode)
		lg_outcomes_add(&fetcher->stats->outcomes, NULL, response->errorCode, false, "");
	else if (response->responses.n != 1 || response->responses.v[0].partitions.n != 1 ||
		 response->responses.v[0].partitions.v[0].partitionIndex != flight->partition)
		return kt_fail(err, KT_ECORRUPT, "an answer that is not about the partition of its request");
	else if (take_partition(fetcher, flight, &response->responses.v[0].partitions.v[0], now, err))
		return err->code;
	lg_ring_drop(&flights->ring);
	return 0;
}

static void read_lane(void *arg, struct lg_lane *lane)
{
	struct fetcher *fetcher = arg;
	struct kt_err err = {0};

	if (lg_lane_read(lane, take_answer, fetcher, &err) < 0)
		give_up(fetcher, lane, &err);
}

/* ---- the loop ---- */

static void read_until(struct fetcher *fetcher, int64_t until)
{
	lg_routes_poll(&fetcher->routes, until, read_lane, fetcher);
	for (int i = 0; i < fetcher->routes.nlanes; i++) {
		const struct flight *flight = oldest(&fetcher->flights[i]);

		if (flight && lg_now() - flight->sent > ANSWER_MS * LG_MS)
			drop_lane(fetcher, &fetcher->routes.lanes[i], "no answer in time");
	}
}

/* Waits for the time and for room, reading meanwhile, until the user stops, memory runs out, or nobody has taken the
 * request for so long that its answer would come too late. */
static void send_at(struct fetcher *fetcher, int32_t partition, int64_t intended)
{
	int64_t too_late = intended + ANSWER_MS * LG_MS;
	bool held = false;

	while (!lg_stopped() && !fetcher->fatal.code) {
		int64_t now = lg_now();

		if (now >= intended && send_request(fetcher, partition, intended))
			return;
		if (now >= too_late) {
			fetcher->stats->not_sent++;
			return;
		}
		fetcher->stats->held += now >= intended && !held;
		held = held || now >= intended;
		read_until(fetcher, held ? now + LG_MS : intended);
	}
}

static void run(struct fetcher *fetcher)
{
	bool paced = lg_schedule_paced(&fetcher->schedule);
	int64_t start = fetcher->stats->started = lg_now(), at, stop;
	int64_t end = start + (int64_t)(fetcher->opts->rate.seconds * 1e9);

	for (int64_t i = 0; (at = lg_schedule_next(&fetcher->schedule)) >= 0; i++) {
		if (!paced && fetcher->opts->rate.seconds > 0 && lg_now() >= end)
			break;
		send_at(fetcher, (int32_t)(i % fetcher->opts->npartitions), paced ? start + at : lg_now());
		if (lg_stopped() || fetcher->fatal.code)
			break;
		read_until(fetcher, 0);
	}
	stop = lg_now() + STOP_WAIT;
	while (in_flight(fetcher) > 0 && !fetcher->fatal.code && (!lg_stopped() || lg_now() < stop))
		read_until(fetcher, lg_now() + 10 * LG_MS);
	fetcher->stats->unanswered += in_flight(fetcher);
}

int lg_wire_fetch(const struct lg_fetch_opts *opts, struct lg_fetch_stats *stats, struct kt_err *err)
{
	struct fetcher *fetcher = calloc(1, sizeof *fetcher);
	int rc;

	if (!fetcher)
		return kt_fail(err, KT_ENOMEM, "no memory");
	fetcher->opts = opts;
	fetcher->stats = stats;
	fetcher->topic = lg_topic_id(opts->topic);
	kw_buf_init(&fetcher->frame, 0);
	kw_arena_init(&fetcher->arena, 512 << 20);
	fetcher->positions = calloc((size_t)opts->npartitions, sizeof *fetcher->positions);
	rc = fetcher->positions ? lg_schedule_init(&fetcher->schedule, &opts->rate, opts->seed, err) :
	     kt_fail(err, KT_ENOMEM, "no memory");
	if (rc == 0)
		rc = lg_routes_open(&fetcher->routes, opts->bootstrap, opts->login, opts->topic, opts->npartitions,
				    API_FETCH, VERSION_MIN, VERSION_MAX, err);
	if (rc == 0) {
		memcpy(fetcher->positions, opts->begins, (size_t)opts->npartitions * sizeof *opts->begins);
		lg_precise_timers();
		run(fetcher);
		rc = fetcher->fatal.code;
		if (rc && err->code == 0)
			*err = fetcher->fatal;
	}
	lg_routes_fini(&fetcher->routes);
	for (int i = 0; i < LG_LANES_MAX; i++)
		free(fetcher->flights[i].v);
	free(fetcher->positions);
	kw_buf_fini(&fetcher->frame);
	kw_arena_fini(&fetcher->arena);
	free(fetcher);
	return rc;
}

int lg_fetch_stats_init(struct lg_fetch_stats *stats, struct kt_err *err)
{
	int rc;

	memset(stats, 0, sizeof *stats);
	lg_outcomes_init(&stats->outcomes);
	rc = lg_meter_init(&stats->meter, err);
	return rc ? rc : kh_init_latency(&stats->empty, err);
}

void lg_fetch_stats_fini(struct lg_fetch_stats *stats)
{
	lg_meter_fini(&stats->meter);
	kh_fini(&stats->empty);
	lg_outcomes_fini(&stats->outcomes);
}
