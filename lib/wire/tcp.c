#include "lib/wire/tcp.h"

#include <stdlib.h>

enum { FIRST_BUCKETS = 64, STRAYS_MAX = 3, FAR = 1 << 30, LATE = 1 << 20 };

/* Bytes that came too early: behind others that are missing, or before what they acknowledge. */
struct held {
	struct held *next;       /* by rising seq */
	struct kw_tcp_at at;
	uint32_t seq, ack;
	bool has_ack;
	size_t n, lost;          /* as in a segment */
	uint8_t p[];
};

/* What one side sends. */
struct stream {
	bool known;              /* next is */
	bool fin, finished;
	uint32_t next;           /* sequence number of the next byte to hand on */
	uint32_t fin_seq;
	bool has_ack;
	uint32_t acked;          /* by the other side */
	unsigned waited;         /* packets since it has been clear that what is held waits for bytes that were sent */
	struct held *held;
	size_t nheld, bytes;
};

struct entry {
	struct kw_tcp_conn conn;         /* first: what users see is the entry */
	struct stream streams[2];
	unsigned strays;                 /* segments in a row that cannot be of this connection */
	struct entry *next;              /* in its bucket */
};

struct kw_tcp {
	struct kw_tcp_ops ops;
	struct entry **buckets;          /* the newest connection of each pair of ends comes first */
	size_t nbuckets;                 /* a power of two */
	struct entry **conns;
	size_t n, cap;
	size_t held;
};

/* ---- handing on ---- */

static void hand_on(struct kw_tcp *tcp, struct entry *entry, int side, const uint8_t *p, size_t n,
		    const struct kw_tcp_at *at)
{
	if (n == 0)
		return;
	entry->streams[side].next += (uint32_t)n;
	entry->conn.bytes[side] += n;
	tcp->ops.data(tcp->ops.arg, &entry->conn, side, p, n, at);
}

static void hand_on_gap(struct kw_tcp *tcp, struct entry *entry, int side, uint32_t n, const struct kw_tcp_at *at)
{
	if (n == 0)
		return;
	entry->streams[side].next += n;
	entry->conn.bytes[side] += n;
	entry->conn.missing[side] += n;
	tcp->ops.gap(tcp->ops.arg, &entry->conn, side, n, at);
}

/* Bytes at seq, which is not beyond the next one that is due: what of them is new. */
static void take(struct kw_tcp *tcp, struct entry *entry, int side, uint32_t seq, const uint8_t *p, size_t n,
		 size_t lost, const struct kw_tcp_at *at)
{
	size_t old = entry->streams[side].next - seq;

	if (old >= n + lost)
		return;
	if (old < n)
		hand_on(tcp, entry, side, p + old, n - old, at);
	else
		lost -= old - n;
	hand_on_gap(tcp, entry, side, (uint32_t)lost, at);
}

/* Takes the first of what is held out of the list. */
static struct held *unhold(struct kw_tcp *tcp, struct stream *stream)
{
	struct held *held = stream->held;

	stream->held = held->next;
	stream->nheld--;
	stream->bytes -= held->n;
	tcp->held -= held->n;
	return held;
}

/* Does the side lack bytes that the other one has acknowledged? One more may be a FIN. */
static bool lacks(const struct stream *stream, uint32_t ack)
{
	int32_t ahead = (int32_t)(ack - stream->next);

	return stream->known && ahead > 1 && ahead < FAR;
}

/* Can bytes of a side be handed on? Whoever acknowledges bytes has had them before: so does the one who reads on. */
static bool is_due(const struct entry *entry, int side, uint32_t seq, bool has_ack, uint32_t ack)
{
	return (int32_t)(seq - entry->streams[side].next) <= 0 && !(has_ack && lacks(&entry->streams[!side], ack));
}

static bool drain_side(struct kw_tcp *tcp, struct entry *entry, int side)
{
	struct stream *stream = &entry->streams[side];
	bool moved = false;

	while (stream->held && is_due(entry, side, stream->held->seq, stream->held->has_ack, stream->held->ack)) {
		struct held *held = unhold(tcp, stream);

		take(tcp, entry, side, held->seq, held->p, held->n, held->lost, &held->at);
		stream->waited = 0;
		moved = true;
		free(held);
	}
	if (stream->fin && !stream->finished && stream->known && (int32_t)(stream->next - stream->fin_seq) >= 0) {
		stream->finished = true;
		if (entry->conn.ended_by < 0)
			entry->conn.ended_by = side;
		tcp->ops.finished(tcp->ops.arg, &entry->conn, side);
	}
	return moved;
}

/* Hands on what is due; bytes of one side can make those of the other due. */
static void drain(struct kw_tcp *tcp, struct entry *entry)
{
	bool moved;

	do {
		moved = drain_side(tcp, entry, 0);
		moved |= drain_side(tcp, entry, 1);
	} while (moved);
}

/* What the first bytes that are held wait for will not come. */
static void give_up(struct kw_tcp *tcp, struct entry *entry, int side)
{
	struct stream *stream = &entry->streams[side], *other = &entry->streams[!side];
	struct held *held = stream->held;
	uint32_t missing = held->seq - stream->next;

	if ((int32_t)missing > 0) {
		hand_on_gap(tcp, entry, side, missing, &held->at);
	} else if (other->held && (int32_t)(other->held->seq - other->next) <= 0) {
		held->has_ack = false;   /* each waits for the other, which no sender has made */
	} else {
		missing = held->ack - other->next;
		if (other->held && other->held->seq - other->next < missing)
			missing = other->held->seq - other->next;
		hand_on_gap(tcp, entry, !side, missing, &held->at);
	}
	drain(tcp, entry);
}

static int hold(struct kw_tcp *tcp, struct stream *stream, const struct kw_segment *segment, uint32_t seq,
		const struct kw_tcp_at *at)
{
	struct held *held = malloc(sizeof *held + segment->data.n), **place = &stream->held;

	if (!held)
		return KT_ENOMEM;
	*held = (struct held){.at = *at, .seq = seq, .ack = segment->ack, .has_ack = segment->flags & KW_TCP_ACK,
			      .n = segment->data.n, .lost = segment->lost};
	if (held->n)
		memcpy(held->p, segment->data.p, held->n);
	while (*place && (int32_t)((*place)->seq - seq) <= 0)
		place = &(*place)->next;
	held->next = *place;
	*place = held;
	stream->nheld++;
	stream->bytes += held->n;
	tcp->held += held->n;
	return 0;
}

/* ---- connections ---- */

static size_t hash_end(const struct kw_endpoint *end)
{
	size_t h = end->port;

	for (size_t i = 0; i < sizeof end->address; i++)
		h = h * 31 + end->address[i];
	return h;
}

/* The same for both directions. */
static struct entry **bucket_of(const struct kw_tcp *tcp, const struct kw_endpoint *a, const struct kw_endpoint *b)
{
	return &tcp->buckets[(hash_end(a) + hash_end(b)) * 0x9e3779b97f4a7c15u >> 32 & (tcp->nbuckets - 1)];
}

static struct entry *find(const struct kw_tcp *tcp, const struct kw_segment *segment)
{
	struct entry *entry = *bucket_of(tcp, &segment->from, &segment->to);

	for (; entry; entry = entry->next) {
		const struct kw_endpoint *ends = entry->conn.ends;

		if ((kw_endpoint_eq(&ends[0], &segment->from) && kw_endpoint_eq(&ends[1], &segment->to)) ||
		    (kw_endpoint_eq(&ends[1], &segment->from) && kw_endpoint_eq(&ends[0], &segment->to)))
			return entry;
	}
	return NULL;
}

static void put_in_bucket(const struct kw_tcp *tcp, struct entry *entry)
{
	struct entry **bucket = bucket_of(tcp, &entry->conn.ends[0], &entry->conn.ends[1]);

	entry->next = *bucket;
	*bucket = entry;
}

/* Room for one more connection, and as many buckets as there are connections. */
static int make_room(struct kw_tcp *tcp)
{
	size_t cap = tcp->cap * 2;
	struct entry **conns, **buckets;

	if (tcp->n < tcp->cap)
		return 0;
	conns = realloc(tcp->conns, cap * sizeof *conns);
	if (!conns)
		return KT_ENOMEM;
	tcp->conns = conns;
	buckets = calloc(cap, sizeof *buckets);
	if (!buckets)
		return KT_ENOMEM;
	free(tcp->buckets);
	tcp->buckets = buckets;
	tcp->nbuckets = tcp->cap = cap;
	for (size_t i = 0; i < tcp->n; i++)
		put_in_bucket(tcp, tcp->conns[i]);
	return 0;
}

/* The answer to a SYN comes from the other end. */
static struct entry *begin(struct kw_tcp *tcp, const struct kw_segment *segment, const struct kw_tcp_at *at)
{
	bool answer = segment->flags & KW_TCP_SYN && segment->flags & KW_TCP_ACK;
	struct entry *entry = make_room(tcp) ? NULL : calloc(1, sizeof *entry);

	if (!entry)
		return NULL;
	entry->conn.ends[answer] = segment->from;
	entry->conn.ends[!answer] = segment->to;
	entry->conn.opened = segment->flags & KW_TCP_SYN;
	entry->conn.first = *at;
	entry->conn.ended_by = -1;
	tcp->conns[tcp->n++] = entry;
	entry->conn.number = tcp->n;
	put_in_bucket(tcp, entry);
	return entry;
}

/* What was sent but not captured at the end, as the FIN or the receiver says; a byte more may be a FIN. */
static uint32_t missing_end(const struct stream *stream)
{
	int32_t missing = 0;

	if (stream->known && stream->fin)
		missing = (int32_t)(stream->fin_seq - stream->next);
	else if (stream->has_ack && lacks(stream, stream->acked))
		missing = (int32_t)(stream->acked - stream->next);
	return missing > 0 && missing < FAR ? (uint32_t)missing : 0;
}

static void end(struct kw_tcp *tcp, struct entry *entry, enum kw_tcp_end how)
{
	for (int side = 0; side < 2; side++)
		while (entry->streams[side].held)
			give_up(tcp, entry, side);
	for (int side = 0; side < 2; side++)
		hand_on_gap(tcp, entry, side, missing_end(&entry->streams[side]), &entry->conn.last);
	drain(tcp, entry);
	entry->conn.end = how;
	tcp->ops.ended(tcp->ops.arg, &entry->conn);
}

/* ---- segments ---- */

static bool is_far(const struct stream *stream, uint32_t seq)
{
	int32_t ahead = (int32_t)(seq - stream->next);

	return stream->known && (ahead > FAR || ahead < -FAR);
}

/* Bytes after the end: beyond a FIN there are none, behind a reset some may have been under way. */
static bool is_beyond_end(const struct stream *stream, uint32_t seq)
{
	return is_far(stream, seq) || (stream->known && (int32_t)(seq - stream->next) > (stream->finished ? 0 : LATE));
}

/* Does the segment belong to another connection of the same ends? */
static bool is_new(struct entry *entry, const struct kw_segment *segment, int side)
{
	const struct stream *stream = &entry->streams[side];
	uint32_t seq = segment->seq + (segment->flags & KW_TCP_SYN ? 1 : 0);
	bool payload = segment->data.n + segment->lost > 0;

	if (segment->flags & KW_TCP_SYN)
		return stream->known ? seq != stream->next - (uint32_t)entry->conn.bytes[side]
				     : entry->conn.end != KW_TCP_OPEN;
	if (entry->conn.end != KW_TCP_OPEN)
		return payload && is_beyond_end(stream, seq);
	entry->strays = payload && is_far(stream, seq) ? entry->strays + 1 : 0;
	return entry->strays == STRAYS_MAX;
}

static int take_data(struct kw_tcp *tcp, struct entry *entry, int side, const struct kw_segment *segment,
		     const struct kw_tcp_at *at)
{
	struct stream *stream = &entry->streams[side];
	uint32_t seq = segment->seq + (segment->flags & KW_TCP_SYN ? 1 : 0);
	size_t n = segment->data.n + segment->lost;

	if (!stream->known && (n > 0 || segment->flags & KW_TCP_SYN)) {
		stream->known = true;
		stream->next = seq;
	}
	if (stream->finished || is_far(stream, seq))
		return 0;
	if (segment->flags & KW_TCP_FIN) {
		stream->fin = true;
		stream->fin_seq = seq + (uint32_t)n;
		if (!stream->known)
			stream->next = stream->fin_seq;
		stream->known = true;
	}
	if (n > 0 && (int32_t)(seq + (uint32_t)n - stream->next) > 0) {
		if (is_due(entry, side, seq, segment->flags & KW_TCP_ACK, segment->ack))
			take(tcp, entry, side, seq, segment->data.p, segment->data.n, segment->lost, at);
		else if (hold(tcp, stream, segment, seq, at))
			return KT_ENOMEM;
	}
	drain(tcp, entry);
	return 0;
}

/* What is acknowledged has been sent, whether or not it was captured. */
static void take_ack(struct entry *entry, int side, const struct kw_segment *segment)
{
	struct stream *other = &entry->streams[!side];

	if (!(segment->flags & KW_TCP_ACK) || segment->flags & KW_TCP_RST)
		return;
	if (!other->known) {
		other->known = true;
		other->next = segment->ack;
	}
	other->acked = segment->ack;
	other->has_ack = true;
}

static void lose_patience(struct kw_tcp *tcp, struct entry *entry, int side)
{
	struct stream *stream = &entry->streams[side];
	bool sent = stream->held && ((int32_t)(stream->held->seq - stream->next) <= 0 ||
				     (stream->has_ack && (int32_t)(stream->acked - stream->held->seq) >= 0));

	if (sent)
		stream->waited++;
	while (stream->held && (stream->nheld > KW_TCP_HELD || stream->bytes > KW_TCP_HELD_BYTES ||
				stream->waited > KW_TCP_PATIENCE))
		give_up(tcp, entry, side);
}

static void judge_end(struct kw_tcp *tcp, struct entry *entry, int side, const struct kw_segment *segment)
{
	if (segment->flags & KW_TCP_RST) {
		entry->conn.ended_by = side;
		end(tcp, entry, KW_TCP_RESET);
	} else if (entry->streams[0].finished && entry->streams[1].finished) {
		end(tcp, entry, KW_TCP_CLOSED);
	}
}

int kw_tcp_add(struct kw_tcp *tcp, const struct kw_segment *segment, const struct kw_tcp_at *at)
{
	struct entry *entry = find(tcp, segment);
	int side = entry && !kw_endpoint_eq(&entry->conn.ends[0], &segment->from);

	if (entry && is_new(entry, segment, side)) {
		if (entry->conn.end == KW_TCP_OPEN)
			end(tcp, entry, KW_TCP_REUSED);
		entry = NULL;
	} else if (entry && entry->conn.end != KW_TCP_OPEN) {
		return 0;
	}
	if (!entry) {
		if (!(segment->flags & KW_TCP_SYN) && segment->data.n + segment->lost == 0)
			return 0;
		entry = begin(tcp, segment, at);
		if (!entry)
			return KT_ENOMEM;
		side = !kw_endpoint_eq(&entry->conn.ends[0], &segment->from);
	}
	entry->conn.last = *at;
	take_ack(entry, side, segment);
	if (take_data(tcp, entry, side, segment, at))
		return KT_ENOMEM;
	for (int i = 0; i < 2; i++)
		lose_patience(tcp, entry, i);
	judge_end(tcp, entry, side, segment);
	return 0;
}

/* ---- life ---- */

struct kw_tcp *kw_tcp_new(const struct kw_tcp_ops *ops)
{
	struct kw_tcp *tcp = calloc(1, sizeof *tcp);

	if (!tcp)
		return NULL;
	tcp->ops = *ops;
	tcp->cap = tcp->nbuckets = FIRST_BUCKETS;
	tcp->conns = calloc(tcp->cap, sizeof(struct entry *));
	tcp->buckets = calloc(tcp->nbuckets, sizeof(struct entry *));
	if (!tcp->conns || !tcp->buckets) {
		kw_tcp_free(tcp);
		return NULL;
	}
	return tcp;
}

void kw_tcp_finish(struct kw_tcp *tcp)
{
	for (size_t i = 0; i < tcp->n; i++)
		if (tcp->conns[i]->conn.end == KW_TCP_OPEN)
			end(tcp, tcp->conns[i], KW_TCP_CUT);
}

void kw_tcp_free(struct kw_tcp *tcp)
{
	if (!tcp)
		return;
	for (size_t i = 0; i < tcp->n; i++) {
		for (int side = 0; side < 2; side++)
			while (tcp->conns[i]->streams[side].held)
				free(unhold(tcp, &tcp->conns[i]->streams[side]));
		free(tcp->conns[i]);
	}
	free(tcp->conns);
	free(tcp->buckets);
	free(tcp);
}

struct kw_tcp_conn *kw_tcp_at(const struct kw_tcp *tcp, size_t i)
{
	return i < tcp->n ? &tcp->conns[i]->conn : NULL;
}

size_t kw_tcp_held(const struct kw_tcp *tcp)
{
	return tcp->held;
}
