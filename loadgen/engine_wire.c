/* The engine that speaks the protocol itself: one arrival is one Produce request with one batch for one partition,
 * encoded before it is due and written to the partition's leader at its intended time, whatever is still without an
 * answer there (up to inFlight requests per connection). Nothing is ever sent twice.
 *
 * One thread. The due order of the requests is kept over all connections: when the one that is due cannot go out,
 * because its connection has no room, the later ones wait too, and all show it as schedule lag.
 */
#include <stdlib.h>

#include "loadgen/clock.h"
#include "loadgen/parcel.h"
#include "loadgen/ring.h"
#include "loadgen/routes.h"

enum { API_PRODUCE = 0, VERSION_MIN = 9, VERSION_MAX = 12 };   /* from version 13 on topics are named by id */
enum { AHEAD = 64 };

#define AHEAD_NS (100 * LG_MS)     /* nothing is encoded earlier than this before it is due */
#define ANSWER_MS 30000
#define STOP_WAIT (5 * LG_SECOND)

/* The requests on one connection that wait for an answer, oldest first. */
struct flights {
	struct lg_ring ring;
	struct lg_parcel *parcels;     /* inFlight of them, NULL until the first */
};

struct wire {
	struct lg_load *load;
	struct lg_packer packer;
	struct lg_schedule schedule;   /* in batches */
	int64_t records_left, index;
	int64_t next_at;               /* of the arrival after those in `ahead`, ns from the start; -1 = none */
	bool planned_all;
	struct lg_ring ahead_ring;
	struct lg_parcel ahead[AHEAD]; /* encoded parcels that are not sent yet */
	struct lg_routes routes;
	struct flights flights[LG_LANES_MAX];   /* by lane */
	struct kw_buf frame;
	struct kw_arena arena;
	struct kt_err fatal;
};

static struct flights *flights_of(struct wire *wire, const struct lg_lane *lane)
{
	return &wire->flights[lane - wire->routes.lanes];
}

/* NULL if nothing is in flight. */
static struct lg_parcel *oldest(const struct flights *flights)
{
	return flights->ring.n > 0 ? &flights->parcels[flights->ring.first] : NULL;
}

/* The next free place, NULL if there is none. */
static struct lg_parcel *new_flight(const struct wire *wire, struct flights *flights, struct kt_err *err)
{
	int place;

	if (!flights->parcels) {
		flights->ring.max = wire->load->phase->in_flight;
		flights->parcels = calloc((size_t)flights->ring.max, sizeof *flights->parcels);
		if (!flights->parcels)
			kt_fail(err, KT_ENOMEM, "no memory");
	}
	place = flights->parcels ? lg_ring_take(&flights->ring) : -1;
	return place < 0 ? NULL : &flights->parcels[place];
}

static void note(struct wire *wire, const struct kt_err *err)
{
	char text[600];

	if (err->code)
		lg_load_event(wire->load, kt_err_line(err, text, sizeof text));
}

/* Gives up what is in flight; the connection is opened again when it is needed. */
static void drop_lane(struct wire *wire, struct lg_lane *lane, bool expected, const char *why)
{
	struct flights *flights = flights_of(wire, lane);

	/* what was in flight may still arrive behind what comes next */
	if (flights->ring.n > 0)
		wire->load->guarantee.ordered = false;
	for (; flights->ring.n > 0; lg_ring_drop(&flights->ring))
		lg_parcel_give_up(oldest(flights), wire->load, expected, why);
	lg_lane_close(&wire->routes, lane);
}

/* After a failure on a connection; lack of memory is none of its own, and ends the run. */
static void give_up(struct wire *wire, struct lg_lane *lane, const struct kt_err *err)
{
	char text[600];

	note(wire, err);
	if (err->code == KT_ENOMEM)
		wire->fatal = *err;
	else
		drop_lane(wire, lane, false, kt_err_line(err, text, sizeof text));
}

/* ---- encoding ahead ---- */

/* Finds out when the next arrival is due. */
static void look_ahead(struct wire *wire)
{
	double seconds = wire->load->phase->rate.seconds;

	wire->next_at = wire->records_left > 0 ? lg_schedule_next(&wire->schedule) : -1;
	if (!lg_schedule_paced(&wire->schedule) && seconds > 0 &&
	    lg_now() >= wire->load->started + (int64_t)(seconds * 1e9))
		wire->next_at = -1;
	wire->planned_all = wire->next_at < 0;
}

/* Encodes the next arrival if there is room and it is near enough. */
static bool plan_next(struct wire *wire)
{
	const struct lg_phase *phase = wire->load->phase;
	int32_t spread = lg_spread(&phase->shape, wire->load->npartitions), n = phase->batch;
	int64_t intended = wire->load->started + wire->next_at, now = lg_now();
	int place;

	if (wire->planned_all || intended - now > AHEAD_NS || (place = lg_ring_take(&wire->ahead_ring)) < 0)
		return false;
	if (!lg_schedule_paced(&wire->schedule))
		intended = now;
	if (n > wire->records_left)
		n = (int32_t)wire->records_left;
	if (lg_pack(&wire->packer, (int32_t)(wire->index % spread), n,
		    lg_illegal_pick(&phase->illegal, lg_random_unit(&wire->packer.random)), intended,
		    &wire->ahead[place], &wire->fatal))
		return false;
	wire->index++;
	wire->records_left -= n;
	look_ahead(wire);
	return true;
}

/* ---- sending ---- */

static int encode_request(struct wire *wire, struct lg_lane *lane, struct lg_parcel *parcel, struct kt_err *err)
{
	struct kw_ProduceRequest_PartitionProduceData partition = {
		.index = parcel->partition, .records = {.p = parcel->batch.p, .n = (int32_t)parcel->batch.n},
	};
	struct kw_ProduceRequest_TopicProduceData topic = {
		.name = kw_str(wire->load->phase->topic), .partitionData = {&partition, 1},
	};
	struct kw_ProduceRequest request = {
		.transactionalId = KW_NULL_STR, .acks = (int16_t)wire->load->phase->acks, .timeoutMs = ANSWER_MS,
		.topicData = {&topic, 1},
	};

	kw_buf_clear(&wire->frame);
	return kc_encode(lane->conn, API_PRODUCE, lane->version, &request, &wire->frame, &parcel->correlation, err);
}

static void count_sent(struct wire *wire, const struct lg_parcel *parcel)
{
	struct lg_load *load = wire->load;

	load->last_sent = parcel->sent;
	lg_meter_sent(&load->meter, parcel->intended, parcel->sent);
	load->counters.sent += parcel->n;
	load->counters.operations++;
	load->counters.bytes += parcel->value_bytes;
}

/* With acks=0 there is no answer: written is all that can be known. */
static void settle_unanswered(struct wire *wire, const struct lg_parcel *parcel)
{
	struct lg_answer answer = {.expected = true};

	lg_parcel_settle(parcel, wire->load, &answer, lg_now());
}

/* False: it could not be encoded, which ends the run, and nothing was sent. */
static bool write_parcel(struct wire *wire, struct lg_lane *lane, struct lg_parcel *flight, struct lg_parcel *parcel)
{
	struct kt_err err = {0};
	int rc;

	if (encode_request(wire, lane, parcel, &wire->fatal)) {
		lg_ring_untake(&flights_of(wire, lane)->ring);
		return false;
	}
	parcel->sent = lg_now();
	if (!lg_schedule_paced(&wire->schedule))
		parcel->intended = parcel->sent;
	count_sent(wire, parcel);
	rc = kc_write(lane->conn, wire->frame.p, wire->frame.n, kc_now_ms() + ANSWER_MS, &err);
	kw_buf_clear(&parcel->batch);
	*flight = *parcel;
	flight->batch = (struct kw_buf){0};
	if (rc) {
		give_up(wire, lane, &err);
	} else if (wire->load->phase->acks == 0) {
		settle_unanswered(wire, parcel);
		lg_ring_untake(&flights_of(wire, lane)->ring);
	}
	return true;
}

/* Sends the first encoded parcel if it is due and can go out. A parcel that no broker takes within the time that an
 * answer may take has failed; one that memory lacks for is not sent, and ends the run. */
static bool send_due(struct wire *wire)
{
	struct lg_parcel *parcel = &wire->ahead[wire->ahead_ring.first], *flight = NULL;
	struct kt_err err = {0};
	struct lg_lane *lane;

	if (wire->ahead_ring.n == 0 || lg_now() < parcel->intended)
		return false;
	lane = lg_routes_lane(&wire->routes, parcel->partition, &err);
	if (lane)
		flight = new_flight(wire, flights_of(wire, lane), &err);
	note(wire, &err);
	if (err.code == KT_ENOMEM) {
		wire->fatal = err;
		return false;
	}
	if (!flight && lg_now() - parcel->intended < ANSWER_MS * LG_MS) {
		wire->load->counters.held += parcel->sent == 0;
		parcel->sent = -1;      /* held back: counted once */
		return false;
	}
	if (!flight) {
		lg_parcel_give_up(parcel, wire->load, false,
				  lane ? "no room on the connection for 30 s" : "no leader took it in time");
		kw_buf_clear(&parcel->batch);
	} else if (!write_parcel(wire, lane, flight, parcel)) {
		return false;
	}
	lg_ring_drop(&wire->ahead_ring);
	return true;
}

/* ---- answers ---- */

static const struct kw_ProduceResponse_PartitionProduceResponse *partition_of(const struct kw_ProduceResponse *response,
									       const struct lg_parcel *parcel)
{
	if (response->responses.n != 1 || response->responses.v[0].partitionResponses.n != 1 ||
	    response->responses.v[0].partitionResponses.v[0].index != parcel->partition)
		return NULL;
	return &response->responses.v[0].partitionResponses.v[0];
}

static int take_answer(void *arg, struct lg_lane *lane, const uint8_t *p, size_t n, struct kt_err *err)
{
	const struct kw_ProduceResponse_PartitionProduceResponse *partition;
	struct wire *wire = arg;
	struct flights *flights = flights_of(wire, lane);
	const struct lg_parcel *parcel = oldest(flights);
	int64_t now = lg_now();
	int32_t correlation;
	struct lg_answer answer;
	void *response;
	int rc;

	kw_arena_reset(&wire->arena);
	rc = kc_decode(API_PRODUCE, lane->version, p, n, &wire->arena, &correlation, &response, err);
	if (rc)
		return rc;
	if (!parcel || correlation != parcel->correlation)
		return kt_fail(err, KT_ECORRUPT, "an answer with correlation id %d that no request waits for",
			       (int)correlation);
	partition = partition_of(response, parcel);
	if (!partition)
		return kt_fail(err, KT_ECORRUPT, "an answer that is not about the partition of its request");
	lg_parcel_judge(parcel, partition, &answer);
	lg_parcel_settle(parcel, wire->load, &answer, now);
	lg_routes_heed(&wire->routes, answer.code);
	lg_ring_drop(&flights->ring);
	return 0;
}

static bool overdue(const struct flights *flights)
{
	const struct lg_parcel *parcel = oldest(flights);

	return parcel && lg_now() - parcel->sent > ANSWER_MS * LG_MS;
}

/* Takes all answers that have arrived. */
static void read_lane(void *arg, struct lg_lane *lane)
{
	struct wire *wire = arg;
	struct kt_err err = {0};

	if (lg_lane_read(lane, take_answer, wire, &err) < 0)
		give_up(wire, lane, &err);
}

/* Waits until something can be read or until the given time, and reads it. */
static void wait_and_read(struct wire *wire, int64_t until)
{
	lg_routes_poll(&wire->routes, until, read_lane, wire);
	for (int i = 0; i < wire->routes.nlanes; i++)
		if (overdue(&wire->flights[i]))
			drop_lane(wire, &wire->routes.lanes[i], false, "no answer in time");
}

/* ---- the loop ---- */

static int in_flight(const struct wire *wire)
{
	int n = 0;

	for (int i = 0; i < wire->routes.nlanes; i++)
		n += wire->flights[i].ring.n;
	return n;
}

static int64_t next_wake(const struct wire *wire)
{
	const struct lg_parcel *parcel = &wire->ahead[wire->ahead_ring.first];
	int64_t now = lg_now(), wake = now + 50 * LG_MS;

	if (!wire->planned_all && wire->ahead_ring.n < AHEAD && wire->load->started + wire->next_at - AHEAD_NS < wake)
		wake = wire->load->started + wire->next_at - AHEAD_NS;
	if (wire->ahead_ring.n > 0 && parcel->sent < 0)      /* held back: an answer makes room, or the backoff ends */
		return now + LG_MS;
	return wire->ahead_ring.n > 0 && parcel->intended < wake ? parcel->intended : wake;
}

static void run_load(struct wire *wire)
{
	look_ahead(wire);
	while (!lg_stopped() && !wire->fatal.code &&
	       (!wire->planned_all || wire->ahead_ring.n > 0 || in_flight(wire) > 0)) {
		/* one at a time, so that no encoding delays what becomes due meanwhile */
		bool busy = send_due(wire) || (!wire->fatal.code && plan_next(wire));

		if (!wire->fatal.code)
			wait_and_read(wire, busy ? 0 : next_wake(wire));
	}
	wire->load->complete = !lg_stopped() && !wire->fatal.code;
}

/* After the user stopped the run: a short while for what is in flight. */
static void wind_down(struct wire *wire)
{
	int64_t end = lg_now() + STOP_WAIT;

	while (in_flight(wire) > 0 && lg_now() < end && !wire->fatal.code)
		wait_and_read(wire, lg_now() + 10 * LG_MS);
	for (int i = 0; i < wire->routes.nlanes; i++)
		drop_lane(wire, &wire->routes.lanes[i], true, "the run was stopped");
	for (; wire->ahead_ring.n > 0; lg_ring_drop(&wire->ahead_ring)) {
		struct lg_parcel *parcel = &wire->ahead[wire->ahead_ring.first];

		for (int32_t i = 0; i < parcel->n; i++)
			lg_load_settle(wire->load, parcel->partition, parcel->first + i, LG_NOT_SENT);
	}
}

static int start(struct wire *wire, struct kt_err *err)
{
	struct lg_load *load = wire->load;
	struct lg_plan_rate rate = load->phase->rate;
	int rc;

	wire->records_left = rate.count > 0 ? rate.count : INT64_MAX;
	rate.from /= load->phase->batch;
	rate.to /= load->phase->batch;
	rate.count = (rate.count + load->phase->batch - 1) / load->phase->batch;
	rc = lg_schedule_init(&wire->schedule, &rate, load->plan->seed + load->number, err);
	if (rc == 0)
		rc = lg_packer_init(&wire->packer, load, err);
	if (rc == 0)
		rc = lg_routes_open(&wire->routes, load->plan->bootstrap, &load->plan->login, load->phase->topic,
				    load->npartitions, API_PRODUCE, VERSION_MIN, VERSION_MAX, err);
	return rc;
}

static void fini(struct wire *wire)
{
	lg_routes_fini(&wire->routes);
	for (int i = 0; i < LG_LANES_MAX; i++)
		free(wire->flights[i].parcels);
	for (int i = 0; i < AHEAD; i++)
		kw_buf_fini(&wire->ahead[i].batch);
	lg_packer_fini(&wire->packer);
	kw_buf_fini(&wire->frame);
	kw_arena_fini(&wire->arena);
	free(wire);
}

int lg_wire_run(struct lg_load *load, struct kt_err *err)
{
	struct wire *wire = calloc(1, sizeof *wire);
	int rc;

	if (!wire)
		return kt_fail(err, KT_ENOMEM, "no memory for the engine");
	wire->load = load;
	wire->ahead_ring.max = AHEAD;
	kw_arena_init(&wire->arena, 64 << 20);
	kw_buf_init(&wire->frame, 0);
	for (int i = 0; i < AHEAD; i++)
		kw_buf_init(&wire->ahead[i].batch, 0);
	load->guarantee = (struct lg_guarantee){.kept = load->phase->acks != 0, .once = true, .ordered = true};
	load->records_per_request = load->phase->batch;
	rc = start(wire, err);
	if (rc == 0) {
		lg_precise_timers();
		load->started = lg_now();
		run_load(wire);
		wind_down(wire);
		rc = wire->fatal.code;
		if (rc && err->code == 0)
			*err = wire->fatal;
	}
	fini(wire);
	return rc;
}
