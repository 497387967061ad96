#include "conformance/replay_pcap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "conformance/pcap/answer.h"
#include "conformance/replay_nodes.h"
#include "lib/client/client.h"
#include "lib/text/opt.h"

enum {
	METADATA = 3,
	SIZE_FIELD = 4,
	CORRELATION_AT = 8,      /* in a request, its size included */
	LATER = 6,               /* a target that has let a time-out go by is given that part of one */
	TIMEOUTS_MAX = 3,        /* of a target that has answered nothing */
	PATHS_SHOWN = 3,
};

/* X(symbol, text) */
#define FATES(X)                                                        \
	X(SAME_BYTES, "same bytes")                                     \
	X(SAME_ERRORS, "same error codes, other values")                \
	X(SAME_FATE, "no answer, as recorded")                          \
	X(NOT_COMPARED, "sent, with nothing to compare")                \
	X(NOT_SENT, "not sent")                                         \
	X(DIFFERENT, "DIFFERENT")

enum fate {
#define X(sym, text) sym,
	FATES(X)
#undef X
	NFATES
};

static const char *const fate_texts[] = {
#define X(sym, text) [sym] = (text),
	FATES(X)
#undef X
};

/* A connection to the target that stands for a recorded one. */
struct live {
	struct live *next;
	uint64_t number;
	struct kc_conn *conn;    /* NULL: it has ended */
};

struct replay {
	char host[256];
	int port, timeout_ms;
	struct live *lives;
	struct cf_node_pairs nodes;
	uint64_t counts[NFATES];
	uint64_t answered, unanswered;   /* requests that the target answered; those whose answer did not come */
	uint64_t timeouts;       /* of those, nothing came for too long */
	char first_why[220];     /* what came instead of the first answer that did not come */
	int status;              /* KT_EXIT_ENGINE: no further request is sent */
	struct kt_err *err;
};

/* ---- connections ---- */

static void end_live(struct live *live)
{
	kc_free(live->conn);
	live->conn = NULL;
}

static int64_t deadline(const struct replay *replay)
{
	return kc_now_ms() + (replay->timeouts ? replay->timeout_ms / LATER : replay->timeout_ms);
}

static struct live *live_of(struct replay *replay, const struct cf_exchange *x)
{
	const struct cf_node_pair *node = cf_node_pairs_find(&replay->nodes, x->conn->ends[!x->client].port);
	struct live *live = replay->lives;

	while (live && live->number != x->conn->number)
		live = live->next;
	if (live)
		return live;
	live = calloc(1, sizeof *live);
	if (!live) {
		kt_fail(replay->err, KT_ENOMEM, "out of memory");
		return NULL;
	}
	live->number = x->conn->number;
	if (kc_connect(node ? node->host : replay->host, node ? node->port : replay->port, NULL, deadline(replay),
		       &live->conn, replay->err)) {
		free(live);
		return NULL;
	}
	live->next = replay->lives;
	replay->lives = live;
	return live;
}

static void on_ended(void *arg, const struct cf_talked *talked)
{
	struct replay *replay = arg;

	for (struct live **place = &replay->lives; *place; place = &(*place)->next) {
		struct live *live = *place;

		if (live->number != talked->conn.number)
			continue;
		*place = live->next;
		end_live(live);
		free(live);
		return;
	}
}

/* ---- comparing ---- */

static bool same_span(const struct kw_map *a, const struct kw_span *x, const struct kw_map *b, const struct kw_span *y)
{
	size_t n = x->end - x->start;

	return n == y->end - y->start && memcmp(a->base + x->start, b->base + y->start, n) == 0;
}

/* The next field that is an error code other than 0. */
static const struct kw_span *next_error(const struct kw_map *map, size_t *i)
{
	while (*i < map->n) {
		const struct kw_span *span = &map->v[(*i)++];

		if (cf_answer_error(map, span))
			return span;
	}
	return NULL;
}

/* The first error code that one has and the other has not, in text. */
static bool errors_differ(const struct kw_map *a, const struct kw_map *b, char *text, size_t size)
{
	const struct kw_span *x, *y;
	size_t i = 0, k = 0;
	int was, is;

	do {
		x = next_error(a, &i);
		y = next_error(b, &k);
		was = x ? cf_answer_error(a, x) : 0;
		is = y ? cf_answer_error(b, y) : 0;
	} while (x && y && was == is && strcmp(x->path, y->path) == 0);
	if (!x && !y)
		return false;
	if (x && y && strcmp(x->path, y->path) == 0)
		snprintf(text, size,
			 "%.150s was %s (%d), is %s (%d)", x->path, kw_error_name(was), was, kw_error_name(is), is);
	else if (x)
		snprintf(text, size, "%.150s was %s (%d), is no more", x->path, kw_error_name(was), was);
	else
		snprintf(text, size, "%.150s is %s (%d), was not", y->path, kw_error_name(is), is);
	return true;
}

/* Fields of the same path with other bytes; up to where the two have no longer the same fields. */
static void other_values(const struct kw_map *a, const struct kw_map *b, char *text, size_t size)
{
	size_t n = 0, i = 0, used = 0;

	for (; i < a->n && i < b->n && strcmp(a->v[i].path, b->v[i].path) == 0; i++) {
		const struct kw_span *x = &a->v[i];

		if (x->array || x->type == KW_STRUCT || same_span(a, x, b, &b->v[i]))
			continue;
		if (n++ < PATHS_SHOWN && used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%.80s", used ? ", " : "", x->path);
	}
	if (n > PATHS_SHOWN && used < size)
		used += (size_t)snprintf(text + used, size - used, " and %zu more", n - PATHS_SHOWN);
	if ((i < a->n || i < b->n) && used < size)
		snprintf(text + used, size - used, "%sother fields from %.80s on", used ? "; " : "",
			 i < b->n ? b->v[i].path : a->v[i].path);
}

static enum fate compare(const struct cf_exchange *x, const struct kw_slice *was, const struct kw_slice *is, char *text,
			 size_t size)
{
	struct kw_arena arena;
	struct kw_map a = {.arena = &arena}, b = {.arena = &arena};
	int version = cf_answer_version(x->api, x->version, is);
	enum fate fate = SAME_ERRORS;

	if (was->n == is->n && memcmp(was->p, is->p, is->n) == 0)
		return SAME_BYTES;
	if (x->token || !cf_answer_known(x->api, x->response_version) || !cf_answer_known(x->api, version)) {
		snprintf(text, size, "%zu bytes were answered, now %zu others", was->n, is->n);
		return DIFFERENT;
	}
	kw_arena_init(&arena, 0);
	if (cf_answer_map(&a, x->api, x->response_version, was) != cf_answer_map(&b, x->api, version, is)) {
		snprintf(text, size, "only one of the answers can be read to its end");
		fate = DIFFERENT;
	} else if (errors_differ(&a, &b, text, size)) {
		fate = DIFFERENT;
	} else {
		other_values(&a, &b, text, size);
	}
	kw_arena_fini(&arena);
	return fate;
}

/* ---- one request ---- */

/* A target that answers nothing at all is not waited for over and over. */
static void note_failure(struct replay *replay, const struct kt_err *why)
{
	if (replay->unanswered++ == 0)
		snprintf(replay->first_why, sizeof replay->first_why, "%.200s", why->text);
	replay->timeouts += why->code == KT_ETIMEOUT;
	if (replay->answered || replay->timeouts < TIMEOUTS_MAX)
		return;
	kt_fail(replay->err, KT_ETIMEOUT,
		"%d requests were sent on as many connections, none was answered: %s", TIMEOUTS_MAX,
		why->text);
	replay->status = KT_EXIT_ENGINE;
}

/* Is the frame the answer to the request that was sent last? One that has the wrong correlation id which was recorded
 * is there to be compared. */
static int check_correlation(const struct cf_exchange *x, const uint8_t *p, size_t n, struct kt_err *why)
{
	const struct kw_slice *request = &x->request->bytes, *was = &x->response->bytes;
	uint32_t sent, got;

	if (x->token || request->n < CORRELATION_AT + sizeof sent)
		return 0;
	if (n < sizeof got)
		return kt_fail(why, KT_EPEER, "%zu bytes are too few for a correlation id", n);
	sent = kw_rd32(request->p + CORRELATION_AT);
	got = kw_rd32(p);
	if (got == sent || (was->n >= SIZE_FIELD + sizeof got && kw_rd32(was->p + SIZE_FIELD) == got))
		return 0;
	return kt_fail(why, KT_EPEER, "correlation id %d, sent was %d", (int)(int32_t)got, (int)(int32_t)sent);
}

static enum fate receive(struct replay *replay, struct live *live, const struct cf_exchange *x, char *text, size_t size)
{
	struct kt_err why = {0};
	struct kw_buf frame = {0};
	struct kw_slice is;
	const uint8_t *p;
	enum fate fate;
	size_t n;

	if (kc_read_frame(live->conn, deadline(replay), &p, &n, &why) || check_correlation(x, p, n, &why)) {
		snprintf(text, size, "was answered, now: %.200s", why.text);
		end_live(live);
		if (why.code == KT_EPEER)
			replay->answered++;
		else
			note_failure(replay, &why);
		return DIFFERENT;
	}
	replay->answered++;
	if (x->response->missing || x->response->cut || x->response->bad_size || x->fault)
		return NOT_COMPARED;
	kw_put_u32(&frame, (uint32_t)n);
	kw_put(&frame, p, n);
	is = (struct kw_slice){frame.p, frame.n};
	fate = frame.failed ? NOT_COMPARED : compare(x, &x->response->bytes, &is, text, size);
	if (x->api == METADATA && fate != NOT_COMPARED)
		cf_node_pairs_learn(&replay->nodes, x->version, &x->response->bytes, &is);
	kw_buf_fini(&frame);
	return fate;
}

static bool broker_ended(const struct cf_exchange *x)
{
	return (x->conn->end == KW_TCP_CLOSED || x->conn->end == KW_TCP_RESET) && x->conn->ended_by == !x->client;
}

/* Nothing was answered: the broker closed the connection, or nobody waited for an answer. */
static enum fate expect_end(const struct replay *replay, struct live *live, const struct cf_exchange *x, char *text,
			    size_t size)
{
	if (!broker_ended(x))
		return NOT_COMPARED;
	if (kc_wait_close(live->conn, kc_now_ms() + replay->timeout_ms / LATER) != KC_OPEN &&
	    !kc_has_frame(live->conn)) {
		end_live(live);
		return SAME_FATE;
	}
	snprintf(text, size, "the connection was closed, now %s",
		 kc_has_frame(live->conn) ? "there is an answer" : "it is open");
	/* What came behind it waited for the same end. */
	end_live(live);
	return DIFFERENT;
}

static enum fate send_request(struct replay *replay, const struct cf_exchange *x, char *text, size_t size)
{
	struct live *live = live_of(replay, x);
	const struct cf_frame *request = x->request;
	struct kt_err why = {0};

	if (!live) {
		replay->status = KT_EXIT_ENGINE;
		return NOT_SENT;
	}
	if (request->missing) {
		snprintf(text, size, "%" PRIu64 " of its bytes are not in the capture", request->missing);
		return NOT_SENT;
	}
	if (!live->conn) {
		snprintf(text, size, "the connection has ended already");
		return x->response ? DIFFERENT : NOT_SENT;
	}
	if (kc_write(live->conn, request->bytes.p, request->bytes.n, deadline(replay), &why)) {
		end_live(live);
		if (!x->response && broker_ended(x))
			return SAME_FATE;
		snprintf(text, size, "was %s, now: %.200s", x->response ? "answered" : "taken", why.text);
		return DIFFERENT;
	}
	return x->response ? receive(replay, live, x, text, size) : expect_end(replay, live, x, text, size);
}

static void on_exchange(void *arg, const struct cf_exchange *x)
{
	struct replay *replay = arg;
	const char *name = x->token ? "SASL token" : kw_api_name(x->api);
	char text[600] = "";
	enum fate fate;

	if (!x->request || replay->status)
		return;
	fate = send_request(replay, x, text, sizeof text);
	if (replay->status && fate == NOT_SENT)
		return;
	replay->counts[fate]++;
	printf("exchange %-5" PRIu64 " connection %-3" PRIu64 " %-22s %2d  %s%s%s\n", x->number, x->conn->number,
	       name ? name : "unknown", x->version, fate_texts[fate], *text ? ": " : "", text);
	/* Those who look on see how far it is. */
	fflush(stdout);
}

/* ---- the whole ---- */

/* What the capture lacks, so that what it says of its requests is not all there was. */
static bool print_lacks(const struct cf_pcap_totals *totals)
{
	if (totals->truncated)
		printf("the capture is not whole: %s\n", totals->truncated_text);
	if (totals->unread)
		printf("the capture is not whole: packets that cannot be read: %" PRIu64 "; the first is %s\n",
		       totals->unread, totals->unread_text);
	if (totals->missing)
		printf("the capture is not whole: bytes that are missing: %" PRIu64 "\n", totals->missing);
	return totals->truncated || totals->unread || totals->missing;
}

/* The exit code. */
static int print_summary(const struct replay *replay, const struct cf_pcap_totals *totals)
{
	bool first = true, lacks;

	for (int i = 0; i < NFATES; i++) {
		if (replay->counts[i])
			printf("%s%" PRIu64 " %s", first ? "" : "; ", replay->counts[i], fate_texts[i]);
		first = first && !replay->counts[i];
	}
	printf("%s\n", first ? "no requests" : "");
	lacks = print_lacks(totals);
	if (replay->unanswered && !replay->answered) {
		kt_fail(replay->err, KT_ENET, "the target answered nothing: %s", replay->first_why);
		return KT_EXIT_ENGINE;
	}
	if (replay->counts[DIFFERENT])
		return KT_EXIT_VERDICT;
	return replay->counts[NOT_SENT] || first || lacks ? KT_EXIT_INCOMPLETE : KT_EXIT_OK;
}

int cf_replay_pcap(const struct kw_slice *file, const char *bootstrap, int port, int timeout_ms, struct kt_err *err)
{
	struct replay replay = {.timeout_ms = timeout_ms, .err = err};
	struct cf_pcap_ops ops = {on_exchange, on_ended, NULL, &replay, port};
	struct cf_pcap_totals totals;
	int status = KT_EXIT_USAGE;

	if (!bootstrap)
		kt_fail(err, KT_EUSAGE, "--bootstrap-server says where to send it");
	else if (kc_parse_address(bootstrap, replay.host, sizeof replay.host, &replay.port, err) == 0 &&
		 cf_pcap_read(file, &ops, &totals, err) == 0 && totals.packets == 0)
		kt_fail(err, KT_EUNKNOWN, "holds no packets");
	else if (err->code == 0 && totals.kafka == 0)
		kt_fail(err, KT_EUNKNOWN, "none of its %" PRIu64 " connections speaks Kafka", totals.connections);
	if (replay.status)
		status = replay.status;
	else if (err->code == 0)
		status = print_summary(&replay, &totals);
	while (replay.lives) {
		struct live *live = replay.lives;

		replay.lives = live->next;
		end_live(live);
		free(live);
	}
	cf_node_pairs_fini(&replay.nodes);
	return status;
}
