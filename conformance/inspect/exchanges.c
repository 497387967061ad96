#include "conformance/inspect/exchanges.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "conformance/pcap/answer.h"

enum { ERRORS_SHOWN = 3, SECOND = 1000000, SIZE_FIELD = 4 };

static const struct cf_place nowhere = {.none = true};

struct show {
	struct cf_inspector *inspector;
	const struct cf_pcap_filter *filter;
	FILE *null;                      /* for trees that are only counted; NULL unless brief */
	int64_t begin_us;                /* of the first connection that is told */
	bool has_begin;
	uint64_t shown;
	struct cf_talked *talked;        /* by end */
	size_t ntalked, captalked;
	bool failed;                     /* out of memory */
};

/* ---- words ---- */

static void seconds_text(int64_t us, char out[32])
{
	snprintf(out, 32, "%s%lld.%06lld s", us < 0 ? "-" : "", llabs(us) / SECOND, llabs(us) % SECOND);
}

/* Distinct error codes of a response, in the order of their first place: "INVALID_RECORD (87)". */
static void errors_text(const struct cf_exchange *exchange, char *out, size_t size)
{
	const struct cf_frame *response = exchange->response;
	struct kw_arena arena;
	struct kw_map map = {.arena = &arena};
	int codes[ERRORS_SHOWN], n = 0;

	*out = '\0';
	kw_arena_init(&arena, KW_INFLATE_MAX);
	cf_answer_map(&map, exchange->api, exchange->response_version, &response->bytes);
	for (size_t i = 0; i < map.n && n < ERRORS_SHOWN; i++) {
		int code = cf_answer_error(&map, &map.v[i]), k = 0;
		size_t used = strlen(out);

		while (k < n && codes[k] != code)
			k++;
		if (code == 0 || k < n)
			continue;
		codes[n++] = code;
		snprintf(out + used, size - used, ", %s (%d)", kw_error_name(code), code);
	}
	kw_arena_fini(&arena);
}

static bool can_read_response(const struct cf_exchange *exchange)
{
	return !exchange->token && cf_answer_known(exchange->api, exchange->response_version);
}

static bool is_whole(const struct cf_frame *frame)
{
	return !frame->cut && !frame->bad_size && frame->missing == 0 && frame->bytes.n >= SIZE_FIELD;
}

/* "Produce 9", "SASL token" */
static void what_text(const struct cf_exchange *exchange, char *out, size_t size)
{
	const char *name = kw_api_name(exchange->api);

	if (exchange->token)
		snprintf(out, size, "SASL token");
	else if (!exchange->request)
		snprintf(out, size, "answer to %" PRId32, exchange->correlation);
	else if (exchange->api < 0)
		snprintf(out, size, "no request");
	else if (!name)
		snprintf(out, size, "API %d version %d", exchange->api, exchange->version);
	else
		snprintf(out, size, "%s %d", name, exchange->version);
}

/* "Produce 9, 104 bytes, answered after 0.001200 s with 60 bytes, INVALID_RECORD (87)" */
static void line_text(const struct show *show, const struct cf_exchange *exchange, char *out, size_t size)
{
	const struct cf_frame *request = exchange->request, *response = exchange->response;
	char what[60], begin[32], took[32] = "", errors[200] = "";
	size_t n;

	what_text(exchange, what, sizeof what);
	seconds_text((request ? request : response)->begin.time_us - show->begin_us, begin);
	n = (size_t)snprintf(out, size, "connection %" PRIu64 ", %s, %s", exchange->conn->number, begin, what);
	if (request)
		n += (size_t)snprintf(out + n, size - n, ", %" PRIu64 " bytes", request->size);
	if (!response)
		return;
	if (request) {
		seconds_text(response->end.time_us - request->end.time_us, took);
		n += (size_t)snprintf(out + n, size - n, ", answered after %s", took);
	}
	if (can_read_response(exchange) && is_whole(response))
		errors_text(exchange, errors, sizeof errors);
	snprintf(out + n, size - n, "%s%" PRIu64 " bytes%s", request ? " with " : ", ", response->size, errors);
}

/* ---- frames ---- */

static void show_token(struct cf_inspector *inspector, const struct cf_frame *frame)
{
	struct cf_place place = {SIZE_FIELD, frame->bytes.n - SIZE_FIELD, false, false};

	cf_tree_bytes(&inspector->tree, &place, "token",
		      (struct kw_bytes){frame->bytes.p + SIZE_FIELD, (int32_t)(frame->bytes.n - SIZE_FIELD)}, false);
}

/* Bytes that are not to be understood. */
static void show_raw(struct cf_inspector *inspector, const struct cf_frame *frame)
{
	struct cf_place place = {0, frame->bytes.n, false, false};

	cf_tree_bytes(&inspector->tree, &place, "bytes", (struct kw_bytes){frame->bytes.p, (int32_t)frame->bytes.n},
		      false);
}

static void show_frame(struct show *show, const struct cf_exchange *exchange, const struct cf_frame *frame)
{
	bool request = frame == exchange->request;
	struct cf_place place = {frame->at, frame->size, false, false};
	struct cf_inspector *inspector = show->inspector;
	char text[160], date[48], end[40] = "";

	cf_time_text(frame->begin.time_us, SECOND, date, sizeof date);
	if (frame->end.packet != frame->begin.packet)
		snprintf(end, sizeof end, " to %" PRIu64, frame->end.packet);
	snprintf(text, sizeof text, "packet %" PRIu64 "%s, %s", frame->begin.packet, end, date);
	cf_tree_open(&inspector->tree, &place, request ? "request" : "response", text);
	if (frame->missing) {
		snprintf(text, sizeof text, "%" PRIu64 " bytes are not in the capture, the first of them byte %zu",
			 frame->missing, frame->bytes.n);
		cf_tree_leaf(&inspector->tree, &nowhere, "missing", json_integer((json_int_t)frame->missing), text,
			     false);
	}
	if (!is_whole(frame))
		show_raw(inspector, frame);
	else if (exchange->token)
		show_token(inspector, frame);
	else if (request)
		cf_inspect_frame(inspector, &frame->bytes, -1, -1);
	else if (can_read_response(exchange))
		cf_inspect_frame(inspector, &frame->bytes, exchange->api, exchange->response_version);
	else
		show_raw(inspector, frame);
	cf_tree_close(&inspector->tree);
}

/* The first fault says in which frame of all it is. */
static void say_where(struct cf_inspector *inspector, const struct cf_exchange *exchange, bool response)
{
	char sentence[sizeof inspector->first];

	snprintf(sentence, sizeof sentence, "%s of exchange %" PRIu64 ": %.300s", response ? "response" : "request",
		 exchange->number, inspector->first);
	snprintf(inspector->first, sizeof inspector->first, "%s", sentence);
}

static void show_fault(struct show *show, const struct cf_exchange *exchange)
{
	struct cf_inspector *inspector = show->inspector;

	if (exchange->remark)
		cf_tree_leaf(&inspector->tree, &nowhere, "remark", json_string(exchange->remark), exchange->remark,
			     false);
	if (!exchange->fault)
		return;
	if (inspector->faults++ == 0)
		snprintf(inspector->first, sizeof inspector->first, "exchange %" PRIu64 ": %s", exchange->number,
			 exchange->fault);
	cf_tree_fault(&inspector->tree, &nowhere, NULL, exchange->fault, 0);
}

static void show_frames(struct show *show, const struct cf_exchange *exchange)
{
	const struct cf_frame *frames[2] = {exchange->request, exchange->response};

	for (int i = 0; i < 2; i++) {
		size_t faults = show->inspector->faults;

		if (frames[i])
			show_frame(show, exchange, frames[i]);
		if (faults == 0 && show->inspector->faults > 0)
			say_where(show->inspector, exchange, i == 1);
	}
}

/* What the line says, for programs. */
static void show_members(struct show *show, const struct cf_exchange *exchange)
{
	const struct cf_frame *request = exchange->request, *response = exchange->response;
	struct cf_tree *tree = &show->inspector->tree;

	cf_tree_leaf(tree, &nowhere, "connection", json_integer((json_int_t)exchange->conn->number), NULL, false);
	if (!exchange->token) {
		cf_tree_leaf(tree, &nowhere, "requestApiKey", json_integer(exchange->api), kw_api_name(exchange->api),
			     false);
		cf_tree_leaf(tree, &nowhere, "requestApiVersion", json_integer(exchange->version), NULL, false);
		cf_tree_leaf(tree, &nowhere, "correlationId", json_integer(exchange->correlation), NULL, false);
	}
	cf_tree_leaf(tree, &nowhere, "timeUs", json_integer((request ? request : response)->begin.time_us), NULL,
		     false);
	if (request && response)
		cf_tree_leaf(tree, &nowhere, "answeredAfterUs",
			     json_integer(response->end.time_us - request->end.time_us), NULL, false);
}

/* Is something wrong in it? Draws the tree for nobody. */
static bool is_wrong(struct show *show, const struct cf_exchange *exchange)
{
	struct cf_inspector *inspector = show->inspector, counting = *inspector;

	counting.tree = (struct cf_tree){.out = show->null};
	counting.faults = 0;
	show->inspector = &counting;
	show_frames(show, exchange);
	show->inspector = inspector;
	if (counting.faults == 0 && !exchange->fault) {
		inspector->batches = counting.batches;
		inspector->nrecords = counting.nrecords;
		return false;
	}
	return true;
}

static bool is_chosen(const struct cf_pcap_filter *filter, const struct cf_exchange *exchange)
{
	return (filter->connection == 0 || exchange->conn->number == (uint64_t)filter->connection) &&
	       (filter->exchange == 0 || exchange->number == (uint64_t)filter->exchange) &&
	       (filter->api < 0 || exchange->api == filter->api);
}

static void on_exchange(void *arg, const struct cf_exchange *exchange)
{
	struct show *show = arg;
	struct cf_inspector *inspector = show->inspector;
	char name[40], text[400];

	if (!show->has_begin)
		show->begin_us = exchange->conn->first.time_us;
	show->has_begin = true;
	if (!is_chosen(show->filter, exchange))
		return;
	show->shown++;
	if ((exchange->request && !is_whole(exchange->request)) ||
	    (exchange->response && !is_whole(exchange->response)))
		inspector->incomplete = true;
	snprintf(name, sizeof name, "exchange %" PRIu64, exchange->number);
	line_text(show, exchange, text, sizeof text);
	cf_tree_open(&inspector->tree, &nowhere, name, text);
	if (inspector->tree.json)
		show_members(show, exchange);
	if (!show->filter->brief || is_wrong(show, exchange))
		show_frames(show, exchange);
	show_fault(show, exchange);
	cf_tree_close(&inspector->tree);
}

/* ---- connections ---- */

static void on_ended(void *arg, const struct cf_talked *talked)
{
	struct show *show = arg;

	if (show->filter->connection && talked->conn.number != (uint64_t)show->filter->connection)
		return;
	if (show->ntalked == show->captalked) {
		size_t cap = show->captalked ? show->captalked * 2 : 16;
		struct cf_talked *v = realloc(show->talked, cap * sizeof *v);

		if (!v) {
			show->failed = true;
			return;
		}
		show->talked = v;
		show->captalked = cap;
	}
	show->talked[show->ntalked++] = *talked;
}

static int by_number(const void *a, const void *b)
{
	const struct cf_talked *x = a, *y = b;

	return (x->conn.number > y->conn.number) - (x->conn.number < y->conn.number);
}

/* "client 127.0.0.1:40000, broker 127.0.0.1:9092, 4 exchanges, 210 and 1033 bytes, closed" */
static void connection_text(const struct cf_talked *talked, char *out, size_t size)
{
	static const char *const ends[] = {
#define KW_X(sym, text) [sym] = (text),
		KW_TCP_ENDS(KW_X)
#undef KW_X
	};
	const struct kw_tcp_conn *conn = &talked->conn;
	char client[56], broker[56];
	int side = talked->client;
	uint64_t missing = conn->missing[0] + conn->missing[1], skipped = talked->skipped[0] + talked->skipped[1];
	size_t n;

	kw_endpoint_text(&conn->ends[side], client);
	kw_endpoint_text(&conn->ends[!side], broker);
	if (talked->talk == CF_TALK_KAFKA)
		n = (size_t)snprintf(out, size, "client %s, broker %s, %" PRIu64 " %s, ", client, broker,
				     talked->exchanges, talked->exchanges == 1 ? "exchange" : "exchanges");
	else
		n = (size_t)snprintf(out, size, "%s and %s, %s, ", client, broker, cf_talk_text(talked->talk));
	n += (size_t)snprintf(out + n, size - n, "%" PRIu64 " and %" PRIu64 " bytes, %s%s", conn->bytes[side],
			      conn->bytes[!side], ends[conn->end],
			      conn->opened ? "" : ", its beginning was not captured");
	if (missing)
		n += (size_t)snprintf(out + n, size - n, ", %" PRIu64 " bytes missing", missing);
	if (skipped)
		snprintf(out + n, size - n, ", %" PRIu64 " bytes passed over until a frame began", skipped);
}

/* Of chosen exchanges, only their own holes count. */
static bool counts_as_whole(const struct cf_pcap_filter *filter)
{
	return filter->connection == 0 && filter->exchange == 0 && filter->api < 0;
}

static void show_connections(struct show *show)
{
	struct cf_tree *tree = &show->inspector->tree;
	char name[40], text[400];

	if (show->ntalked)
		qsort(show->talked, show->ntalked, sizeof *show->talked, by_number);
	for (size_t i = 0; i < show->ntalked; i++) {
		const struct cf_talked *talked = &show->talked[i];

		if (counts_as_whole(show->filter) && talked->talk == CF_TALK_KAFKA &&
		    (!talked->conn.opened || talked->skipped[0] || talked->skipped[1]))
			show->inspector->incomplete = true;
		snprintf(name, sizeof name, "connection %" PRIu64, talked->conn.number);
		connection_text(talked, text, sizeof text);
		cf_tree_leaf(tree, &nowhere, name, json_string(text), text, false);
	}
}

/* ---- the file ---- */

static void show_totals(struct show *show, const struct cf_pcap_totals *totals)
{
	struct cf_tree *tree = &show->inspector->tree;
	char text[400];

	snprintf(text, sizeof text,
		 "packets %" PRIu64 ", of TCP %" PRIu64 "; connections %" PRIu64 ", of Kafka %" PRIu64,
		 totals->packets, totals->segments, totals->connections, totals->kafka);
	cf_tree_leaf(tree, &nowhere, "in all", json_string(text), text, false);
	if (totals->unread) {
		snprintf(text, sizeof text, "%" PRIu64 "; the first is %s", totals->unread, totals->unread_text);
		cf_tree_leaf(tree, &nowhere, "packets not read", json_string(text), text, false);
	}
	if (totals->truncated)
		cf_tree_leaf(tree, &nowhere, "end", json_string(totals->truncated_text), totals->truncated_text, false);
	if (counts_as_whole(show->filter) && (totals->unread || totals->truncated || totals->missing))
		show->inspector->incomplete = true;
}

static int judge_choice(const struct show *show, const struct cf_pcap_totals *totals, struct kt_err *err)
{
	const struct cf_pcap_filter *filter = show->filter;
	struct cf_inspector *inspector = show->inspector;

	/* What is not there is no fault of it. */
	if (totals->packets == 0 && counts_as_whole(filter)) {
		snprintf(inspector->note, sizeof inspector->note, "no packets");
		return 0;
	}
	if (totals->segments == 0 && totals->unread && counts_as_whole(filter)) {
		snprintf(inspector->note, sizeof inspector->note, "no packet could be read: %s", totals->unread_text);
		return 0;
	}
	if (totals->kafka == 0)
		return kt_fail(err, KT_EUNKNOWN, "none of its %" PRIu64 " connections speaks Kafka%s",
			       totals->connections, filter->port ? "" : "; --port says which port is the broker's");
	if (filter->connection && show->ntalked == 0)
		return kt_fail(err, KT_EUNKNOWN, "there is no connection %d", filter->connection);
	if (show->shown == 0 && filter->exchange && !filter->connection && filter->api < 0)
		return kt_fail(err, KT_EUNKNOWN, "there is no exchange %d", filter->exchange);
	if (show->shown == 0 && (filter->connection || filter->exchange || filter->api >= 0))
		return kt_fail(err, KT_EUNKNOWN, "there is no such exchange");
	return 0;
}

int cf_inspect_pcap(struct cf_inspector *inspector, const struct kw_slice *file, const struct cf_pcap_filter *filter,
		    struct kt_err *err)
{
	struct show show = {.inspector = inspector, .filter = filter};
	struct cf_pcap_ops ops = {on_exchange, on_ended, inspector->progress, &show, filter->port};
	struct cf_pcap_totals totals;

	if (filter->brief) {
		show.null = fopen("/dev/null", "w");
		if (!show.null)
			return kt_fail(err, KT_EFILE, "/dev/null cannot be opened");
	}
	cf_pcap_read(file, &ops, &totals, err);
	show_connections(&show);
	show_totals(&show, &totals);
	if (show.failed)
		kt_fail(err, KT_ENOMEM, "out of memory");
	if (err->code == 0)
		judge_choice(&show, &totals, err);
	if (show.null)
		fclose(show.null);
	free(show.talked);
	return err->code;
}
