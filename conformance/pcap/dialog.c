#include "conformance/pcap/dialog.h"

#include <stdlib.h>

#include "conformance/pcap/answer.h"
#include "lib/wire/message.h"

enum {
	PRODUCE = 0, CONTROLLED_SHUTDOWN = 7, SASL_HANDSHAKE = 17, API_VERSIONS = 18,
	SIZE_FIELD = 4,
	HEAD = 14,               /* size, API, version, correlation id, length of the client id */
	EARLY_MAX = 64 << 10,    /* bytes of one side that are kept until the other begins */
	MAP_MAX = 256 << 20,
	WAITING_MAX = 1000,      /* requests of a connection that wait for their answers; clients have some five */
	TLS_HANDSHAKE = 0x16, TLS_MAJOR = 3,
};

/* A request that waits for its answer. */
struct cf_request {
	struct cf_request *next;
	struct kw_buf bytes;
	struct cf_frame frame;           /* its bytes are `bytes` */
	bool token;
	int api, version;
	bool has_correlation;            /* its head is there so far */
	int32_t correlation;
};

/* ---- heads ---- */

static bool is_known(int api, int version)
{
	const struct kw_msg *msg = kw_request(api);

	if (api == API_VERSIONS)
		return version >= 0 && version < 100;   /* a client may know more than we do, and the broker says so */
	return msg && version >= msg->versions.min && version <= msg->versions.max;
}

/* A client id, or what is there of it: characters, no control characters. */
static bool is_client_id(const uint8_t *p, size_t n, uint32_t size)
{
	int16_t length = (int16_t)kw_rd16(p);

	if (length < -1 || (length > 0 && (uint32_t)length > size - (HEAD - SIZE_FIELD)))
		return false;
	for (size_t i = 0; i < n - 2 && (int)i < length; i++)
		if (p[2 + i] < 0x20 || p[2 + i] == 0x7f)
			return false;
	return true;
}

/* Does a request with its size in front begin here? HEAD bytes decide. */
static bool is_request(const uint8_t *p, size_t n)
{
	uint32_t size;
	int api;

	if (n < HEAD)
		return false;
	size = kw_rd32(p);
	api = (int16_t)kw_rd16(p + SIZE_FIELD);
	if (size > CF_FRAME_MAX || !is_known(api, (int16_t)kw_rd16(p + SIZE_FIELD + 2)))
		return false;
	if (api == CONTROLLED_SHUTDOWN && kw_rd16(p + SIZE_FIELD + 2) == 0)
		return size == 12;
	return size >= HEAD - SIZE_FIELD && is_client_id(p + HEAD - 2, n - (HEAD - 2), size);
}

/* The same where nothing is known of the connection: an answer with a small correlation id begins as a request does. So
 * a request that is there as a whole must be one to its end, and another must have a client id. */
static bool is_surely_request(const uint8_t *p, size_t n)
{
	size_t size = n < HEAD ? 0 : (size_t)kw_rd32(p) + SIZE_FIELD, used = 0;
	struct kw_arena arena;
	struct kw_map map = {.arena = &arena, .base = p};
	bool sure;

	if (!is_request(p, n))
		return false;
	if (size > n)
		return n > HEAD && (int16_t)kw_rd16(p + HEAD - 2) > 0;
	kw_arena_init(&arena, MAP_MAX);
	sure = kw_map_request(&map, p + SIZE_FIELD, size - SIZE_FIELD, &used, NULL) == 0 && used == size - SIZE_FIELD;
	kw_arena_fini(&arena);
	return sure;
}

/* acks of a Produce request, as far as it can be read; -1 if it cannot. */
static int acks_of(const struct cf_frame *frame)
{
	const uint8_t *p = frame->bytes.p + SIZE_FIELD;
	struct kw_arena arena;
	struct kw_map map = {.arena = &arena, .base = p};
	const struct kw_span *span;
	int acks = -1;

	kw_arena_init(&arena, MAP_MAX);
	kw_map_request(&map, p, frame->bytes.n - SIZE_FIELD, NULL, NULL);
	span = kw_map_find(&map, "acks");
	if (span && span->end - span->start == 2)
		acks = (int16_t)kw_rd16(p + span->start);
	kw_arena_fini(&arena);
	return acks;
}

/* ---- telling ---- */

static void tell(struct cf_dialog *dialog, const struct cf_request *request, const struct cf_frame *response,
		 int response_version, const char *fault, const char *remark)
{
	struct cf_exchange exchange = {
		.number = ++dialog->all->exchanges, .conn = dialog->conn, .client = dialog->client,
		.response = response, .api = -1, .version = -1, .response_version = response_version, .fault = fault,
		.remark = remark,
	};

	if (request) {
		exchange.request = &request->frame;
		exchange.token = request->token;
		exchange.api = request->api;
		exchange.version = request->version;
		exchange.correlation = request->correlation;
	} else if (response && response->bytes.n >= SIZE_FIELD + 4) {
		exchange.correlation = (int32_t)kw_rd32(response->bytes.p + SIZE_FIELD);
	}
	dialog->exchanges++;
	dialog->all->ops->exchange(dialog->all->ops->arg, &exchange);
}

static void request_free(struct cf_request *request)
{
	kw_buf_fini(&request->bytes);
	free(request);
}

/* Takes a request out of those that wait. */
static struct cf_request *unlink_request(struct cf_dialog *dialog, struct cf_request **place)
{
	struct cf_request *request = *place;

	*place = request->next;
	if (!*place)
		dialog->last = place;
	dialog->nwaiting--;
	return request;
}

static const char *frame_fault(const struct cf_dialog *dialog, const struct cf_frame *frame)
{
	if (frame->bad_size)
		return "the size field says what cannot be; where the next frame begins is not known";
	if (frame->cut && frame->missing == 0 && dialog->conn->end != KW_TCP_CUT)
		return "the connection ends inside of the frame";
	return NULL;
}

static const char *frame_remark(const struct cf_dialog *dialog, const struct cf_frame *frame)
{
	if (!frame->cut || frame_fault(dialog, frame))
		return NULL;
	return frame->missing ? "the end of the frame is not in the capture" : "the capture ends inside of the frame";
}

static void answer_left_out(struct cf_dialog *dialog)
{
	struct cf_request *request = unlink_request(dialog, &dialog->first);

	tell(dialog, request, NULL, -1, NULL, "no answer in what was captured");
	request_free(request);
}

/* ---- requests ---- */

static void read_head(struct cf_request *request, const struct kw_slice *bytes)
{
	request->api = request->version = -1;
	if (bytes->n < SIZE_FIELD + 4)
		return;
	request->api = (int16_t)kw_rd16(bytes->p + SIZE_FIELD);
	request->version = (int16_t)kw_rd16(bytes->p + SIZE_FIELD + 2);
	request->has_correlation = bytes->n >= SIZE_FIELD + 8;
	if (request->has_correlation)
		request->correlation = (int32_t)kw_rd32(bytes->p + SIZE_FIELD + 4);
}

/* The request has the frame's memory from now on. */
static struct cf_request *request_new(struct cf_dialog *dialog, const struct cf_frame *frame)
{
	struct cf_request *request = calloc(1, sizeof *request);
	struct kw_buf *buf = &dialog->frames[dialog->client].buf;

	if (!request) {
		dialog->all->failed = true;
		return NULL;
	}
	request->bytes = *buf;
	*buf = (struct kw_buf){0};
	request->frame = *frame;
	request->token = dialog->tokens && !is_request(frame->bytes.p, frame->bytes.n);
	if (request->token)
		request->api = request->version = -1;
	else
		read_head(request, &frame->bytes);
	return request;
}

static void on_request(struct cf_dialog *dialog, const struct cf_frame *frame)
{
	struct cf_request *request = request_new(dialog, frame);

	if (!request)
		return;
	if (!request->token)
		dialog->tokens = false;
	if (frame->cut || frame->bad_size) {
		tell(dialog, request, NULL, -1, frame_fault(dialog, frame), frame_remark(dialog, frame));
		request_free(request);
	} else if (request->api == PRODUCE && acks_of(frame) == 0) {
		tell(dialog, request, NULL, -1, NULL, "acks=0: no answer is due");
		request_free(request);
	} else {
		/* Of a capture without answers not all requests are kept to its end. */
		if (dialog->nwaiting == WAITING_MAX) {
			dialog->gave_up = true;
			answer_left_out(dialog);
		}
		*dialog->last = request;
		dialog->last = &request->next;
		dialog->nwaiting++;
	}
}

/* ---- responses ---- */

static bool can_answer(const struct cf_request *request, const uint8_t *response)
{
	return !request->token &&
	       (!request->has_correlation || request->correlation == (int32_t)kw_rd32(response + SIZE_FIELD));
}

/* The oldest request that the answer can belong to, or NULL. */
static struct cf_request **find_request(struct cf_dialog *dialog, const struct cf_frame *response)
{
	struct cf_request **place = &dialog->first;

	if (*place && (*place)->token)
		return place;
	if (response->bytes.n < SIZE_FIELD + 4)
		return *place ? place : NULL;
	while (*place && !can_answer(*place, response->bytes.p))
		place = &(*place)->next;
	return *place ? place : NULL;
}

/* What begins here can be the answer to a request that waits. */
static bool is_response(const struct cf_dialog *dialog, const uint8_t *p, size_t n)
{
	if (n < SIZE_FIELD + 4 || kw_rd32(p) < 4 || kw_rd32(p) > CF_FRAME_MAX)
		return false;
	for (const struct cf_request *request = dialog->first; request; request = request->next)
		if (can_answer(request, p))
			return true;
	return false;
}

static bool has_holes(const struct cf_dialog *dialog, int side)
{
	return dialog->conn->missing[side] > 0 || dialog->frames[side].skipped > 0;
}

static const char *why_alone(const struct cf_dialog *dialog)
{
	if (dialog->gave_up)
		return "its request was not captured, or was the oldest of too many without an answer";
	return "its request was not captured";
}

static void on_response(struct cf_dialog *dialog, const struct cf_frame *response)
{
	struct cf_request **place = find_request(dialog, response), *request;
	bool complete = dialog->conn->opened && !has_holes(dialog, dialog->client) && !dialog->gave_up;
	const char *fault = frame_fault(dialog, response);

	if (!place) {
		if (!fault && complete && !response->cut)
			fault = "answers no request: none with its correlation id waits";
		tell(dialog, NULL, response, -1, fault, complete ? frame_remark(dialog, response) : why_alone(dialog));
		return;
	}
	/* Answers come in the order of the requests; those in front may have had theirs in what is missing. */
	if (place != &dialog->first && has_holes(dialog, !dialog->client)) {
		request = *place;
		while (dialog->first != request)
			answer_left_out(dialog);
		place = &dialog->first;
	} else if (place != &dialog->first && !fault) {
		fault = "answered before an older request";
	}
	request = unlink_request(dialog, place);
	if (request->api == SASL_HANDSHAKE && request->version == 0 && response->bytes.n >= SIZE_FIELD + 6)
		dialog->tokens = kw_rd16(response->bytes.p + SIZE_FIELD + 4) == 0;
	tell(dialog, request, response, cf_answer_version(request->api, request->version, &response->bytes), fault,
	     frame_remark(dialog, response));
	request_free(request);
}

/* ---- who is who ---- */

static void on_frame(void *arg, const struct cf_frame *frame)
{
	const struct cf_dialog_side *from = arg;

	if (from->side == from->dialog->client)
		on_request(from->dialog, frame);
	else
		on_response(from->dialog, frame);
}

static bool begins(void *arg, const uint8_t *p, size_t n)
{
	const struct cf_dialog_side *from = arg;

	return from->side == from->dialog->client ? is_request(p, n) : is_response(from->dialog, p, n);
}

static bool is_broker(const struct cf_dialogs *all, const struct kw_endpoint *end)
{
	for (size_t i = 0; i < all->nbrokers; i++)
		if (kw_endpoint_eq(&all->brokers[i], end))
			return true;
	return false;
}

/* Other connections to it speak Kafka as well, however broken their frames are. */
static void remember_broker(struct cf_dialogs *all, const struct kw_endpoint *end)
{
	struct kw_endpoint *brokers;

	if (is_broker(all, end))
		return;
	brokers = realloc(all->brokers, (all->nbrokers + 1) * sizeof *brokers);
	if (!brokers) {
		all->failed = true;
		return;
	}
	all->brokers = brokers;
	all->brokers[all->nbrokers++] = *end;
}

/* Has the capture all that the side has sent so far? */
static bool is_whole(const struct cf_dialog *dialog, int side)
{
	return dialog->conn->opened && dialog->conn->missing[side] == 0;
}

/* The connection speaks Kafka. What came early is cut into frames now, the client's first. */
static void begin_kafka(struct cf_dialog *dialog, int client, const struct kw_tcp_at *at)
{
	dialog->talk = CF_TALK_KAFKA;
	dialog->client = client;
	for (int i = 0; i < 2; i++) {
		int side = i == 0 ? client : !client;
		struct cf_frames_ops ops = {on_frame, begins, &dialog->sides[side]};
		size_t early = dialog->early[side].n;
		bool lost = !dialog->conn->opened || dialog->passed[side] != early;

		cf_frames_init(&dialog->frames[side], &ops, lost);
		dialog->frames[side].offset = dialog->passed[side] - early;
		dialog->frames[side].skipped = lost ? dialog->frames[side].offset : 0;
		if (early)
			cf_frames_data(&dialog->frames[side], dialog->early[side].p, early, at);
		kw_buf_fini(&dialog->early[side]);
	}
}

static void decide(struct cf_dialog *dialog, int side, const struct kw_tcp_at *at)
{
	const struct kw_buf *early = &dialog->early[side];
	bool sure = is_whole(dialog, side) && side == 0;

	if (early->n >= 3 && early->p[0] == TLS_HANDSHAKE && early->p[1] == TLS_MAJOR) {
		dialog->talk = CF_TALK_TLS;
	} else if (sure ? is_request(early->p, early->n) : is_surely_request(early->p, early->n)) {
		remember_broker(dialog->all, &dialog->conn->ends[!side]);
		begin_kafka(dialog, side, at);
	} else if (is_whole(dialog, side) && (side == 0 ? early->n >= HEAD : early->n > EARLY_MAX)) {
		dialog->talk = CF_TALK_OTHER;
	}
	if (dialog->talk == CF_TALK_TLS || dialog->talk == CF_TALK_OTHER) {
		kw_buf_fini(&dialog->early[0]);
		kw_buf_fini(&dialog->early[1]);
	}
}

/* Bytes of a connection of which it is not known what it is. Without its beginning only the beginning of a packet
 * tells. */
static void take_early(struct cf_dialog *dialog, int side, const uint8_t *p, size_t n, const struct kw_tcp_at *at)
{
	struct kw_buf *early = &dialog->early[side];

	dialog->passed[side] += n;
	if (!is_whole(dialog, side))
		kw_buf_clear(early);
	kw_put(early, p, n);
	if (early->failed)
		dialog->all->failed = true;
	else
		decide(dialog, side, at);
}

/* ---- from outside ---- */

const char *cf_talk_text(enum cf_talk talk)
{
	static const char *const texts[] = {
#define CF_X(sym, text) [sym] = (text),
		CF_TALKS(CF_X)
#undef CF_X
	};

	return texts[talk];
}

struct cf_dialog *cf_dialog_new(struct cf_dialogs *all, const struct kw_tcp_conn *conn)
{
	struct cf_dialog *dialog = calloc(1, sizeof *dialog);
	int port = all->ops->port;

	if (!dialog)
		return NULL;
	dialog->all = all;
	dialog->conn = conn;
	dialog->last = &dialog->first;
	for (int side = 0; side < 2; side++)
		dialog->sides[side] = (struct cf_dialog_side){dialog, side};
	if (port && (conn->ends[0].port == port || conn->ends[1].port == port))
		begin_kafka(dialog, conn->ends[1].port == port ? 0 : 1, &conn->first);
	else if (port)
		dialog->talk = CF_TALK_OTHER;
	else if (conn->opened && is_broker(all, &conn->ends[1]))
		begin_kafka(dialog, 0, &conn->first);
	return dialog;
}

void cf_dialog_free(struct cf_dialog *dialog)
{
	if (!dialog)
		return;
	while (dialog->first)
		request_free(unlink_request(dialog, &dialog->first));
	for (int side = 0; side < 2; side++) {
		kw_buf_fini(&dialog->early[side]);
		cf_frames_fini(&dialog->frames[side]);
	}
	free(dialog);
}

void cf_dialog_data(struct cf_dialog *dialog, int side, const uint8_t *p, size_t n, const struct kw_tcp_at *at)
{
	if (dialog->talk == CF_TALK_KAFKA) {
		cf_frames_data(&dialog->frames[side], p, n, at);
		if (dialog->frames[side].buf.failed)
			dialog->all->failed = true;
	} else if (dialog->talk == CF_TALK_UNKNOWN) {
		take_early(dialog, side, p, n, at);
	}
}

/* What is there of the first request in front of a hole, of packets that are captured only in part: API and version at
 * least. */
static bool begins_as_request(const struct cf_dialog *dialog, int side)
{
	const struct kw_buf *early = &dialog->early[side];

	return dialog->talk == CF_TALK_UNKNOWN && dialog->conn->opened && side == 0 && dialog->passed[0] == early->n &&
	       early->n >= SIZE_FIELD + 4 && kw_rd32(early->p) <= CF_FRAME_MAX &&
	       is_known((int16_t)kw_rd16(early->p + SIZE_FIELD), (int16_t)kw_rd16(early->p + SIZE_FIELD + 2));
}

void cf_dialog_gap(struct cf_dialog *dialog, int side, uint64_t n, const struct kw_tcp_at *at)
{
	if (begins_as_request(dialog, side))
		begin_kafka(dialog, side, at);
	if (dialog->talk == CF_TALK_KAFKA)
		cf_frames_gap(&dialog->frames[side], n, at);
	else
		kw_buf_clear(&dialog->early[side]);
	if (dialog->talk == CF_TALK_UNKNOWN)
		dialog->passed[side] += n;
}

void cf_dialog_finished(struct cf_dialog *dialog, int side)
{
	if (dialog->talk == CF_TALK_KAFKA)
		cf_frames_end(&dialog->frames[side], &dialog->conn->last);
}

static const char *no_answer(const struct kw_tcp_conn *conn)
{
	switch (conn->end) {
	case KW_TCP_CLOSED: return "no answer: the connection was closed";
	case KW_TCP_RESET: return "no answer: the connection was reset";
	case KW_TCP_CUT: return "no answer yet when the capture ended";
	default: return "no answer";
	}
}

void cf_dialog_ended(struct cf_dialog *dialog)
{
	struct cf_talked talked = {.conn = *dialog->conn, .talk = dialog->talk, .client = dialog->client};

	for (int i = 0; i < 2; i++)
		cf_dialog_finished(dialog, i == 0 ? dialog->client : !dialog->client);
	while (dialog->first) {
		struct cf_request *request = unlink_request(dialog, &dialog->first);

		tell(dialog, request, NULL, -1, NULL, no_answer(dialog->conn));
		request_free(request);
	}
	talked.exchanges = dialog->exchanges;
	talked.skipped[0] = dialog->frames[0].skipped;
	talked.skipped[1] = dialog->frames[1].skipped;
	dialog->all->ops->ended(dialog->all->ops->arg, &talked);
}
