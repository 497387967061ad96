/* bench_messages [WORD]: decode and encode by table against straight-line C, of those messages that have WORD in their
 * name below. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/text/bench/pairs.h"
#include "lib/wire/bench/samples.h"
#include "lib/wire/bench/straight.h"

enum { PAIRS = 31, BLOCK_US = 1500 };

static const double DECODE_LIMIT = 1.6, ENCODE_LIMIT = 2.0;

static const struct subject {
	const char *name;
	const struct kw_msg *msg;
	int version;
	straight_decode_fn *decode;
	straight_encode_fn *encode;
	sample_fn *sample;
	struct sample_shape shape;
} subjects[] = {
#define SUBJECT(name, msg, version, sample, ...)                                                                 \
	{name, &kw_msg_##msg, version, straight_decode_##msg##_##version, straight_encode_##msg##_##version, sample, \
	 {__VA_ARGS__}}
#define PLAIN(name, msg, version, ...) SUBJECT(name, msg, version, sample_##msg, __VA_ARGS__)
	/* name, message, version, topics, partitions of each, bytes of records in each */
	PLAIN("Produce v9 request, 1 partition", ProduceRequest, 9, 1, 1, 1024),
	PLAIN("Produce v9 request, 10 x 10 partitions", ProduceRequest, 9, 10, 10, 1024),
	PLAIN("Produce v9 request, 1 x 1000 partitions", ProduceRequest, 9, 1, 1000, 1024),
	PLAIN("Produce v9 response, 1 partition", ProduceResponse, 9, 1, 1, 0),
	PLAIN("Produce v9 response, 10 x 10 partitions", ProduceResponse, 9, 10, 10, 0),
	PLAIN("Fetch v13 request, 1 partition", FetchRequest, 13, 1, 1, 0),
	PLAIN("Fetch v13 request, 10 x 10 partitions", FetchRequest, 13, 10, 10, 0),
	PLAIN("Fetch v13 response, 1 partition, 16 KiB", FetchResponse, 13, 1, 1, 16 << 10),
	PLAIN("Fetch v13 response, 10 x 10 partitions, 1 KiB", FetchResponse, 13, 10, 10, 1024),
	SUBJECT("Fetch v13 response, 10 x 10, some leaders moved", FetchResponse, 13, sample_FetchResponse_moved, 10,
		10, 0),
	PLAIN("Metadata v12 request, 10 topics", MetadataRequest, 12, 10, 0, 0),
	PLAIN("Metadata v12 response, 1 partition", MetadataResponse, 12, 1, 1, 0),
	PLAIN("Metadata v12 response, 10 x 10 partitions", MetadataResponse, 12, 10, 10, 0),
	PLAIN("Metadata v12 response, 100 x 10 partitions", MetadataResponse, 12, 100, 10, 0),
#undef PLAIN
#undef SUBJECT
};

struct run {
	const struct subject *subject;
	void *in;                  /* what is encoded */
	struct kw_buf frame;       /* its encoding: what is decoded */
	struct kw_arena arena;     /* of a decode */
	struct kw_buf out;         /* of an encode: records by reference, as a broker sends them */
};

static void decode_by_table(void *arg, unsigned times)
{
	struct run *run = arg;
	void *out;

	while (times--) {
		kw_arena_reset(&run->arena);
		if (kw_decode(run->subject->msg, run->subject->version, run->frame.p, run->frame.n, &run->arena, &out,
			      NULL, NULL))
			abort();
	}
}

static void decode_straight(void *arg, unsigned times)
{
	struct run *run = arg;
	size_t used;
	void *out;

	while (times--) {
		kw_arena_reset(&run->arena);
		if (run->subject->decode(run->frame.p, run->frame.n, &run->arena, &out, &used, NULL))
			abort();
	}
}

static void encode_by_table(void *arg, unsigned times)
{
	struct run *run = arg;

	while (times--) {
		kw_buf_clear(&run->out);
		if (kw_encode(run->subject->msg, run->subject->version, run->in, &run->out, NULL))
			abort();
	}
}

static void encode_straight(void *arg, unsigned times)
{
	struct run *run = arg;

	while (times--) {
		kw_buf_clear(&run->out);
		if (run->subject->encode(run->in, &run->out))
			abort();
	}
}

static void disagree(const struct run *run, const char *what)
{
	fprintf(stderr, "%s: table and straight-line code disagree: %s\n", run->subject->name, what);
	exit(3);
}

static bool same_bytes(const struct kw_buf *a, const struct kw_buf *b)
{
	return a->n == b->n && memcmp(a->p, b->p, a->n) == 0;
}

/* That both do the same work: the bytes of a sample, what is read from them, and where each prefix of them breaks. */
static void compare(struct run *run)
{
	const struct subject *subject = run->subject;
	struct kw_buf straight = {0}, again = {0};
	size_t used;
	void *out;

	if (subject->encode(run->in, &straight) || !same_bytes(&straight, &run->frame))
		disagree(run, "bytes");
	if (subject->decode(run->frame.p, run->frame.n, &run->arena, &out, &used, NULL) || used != run->frame.n ||
	    kw_encode(subject->msg, subject->version, out, &again, NULL) || !same_bytes(&again, &run->frame))
		disagree(run, "what is read");
	for (size_t n = 0; n < run->frame.n; n += n < 512 ? 1 : 97) {
		struct kt_err err = {0}, straight_err = {0};
		int code;

		kw_arena_reset(&run->arena);
		code = kw_decode(subject->msg, subject->version, run->frame.p, n, &run->arena, &out, NULL, &err);
		if (code != subject->decode(run->frame.p, n, &run->arena, &out, &used, &straight_err) || code == 0 ||
		    err.offset != straight_err.offset || strcmp(err.path, straight_err.path) ||
		    strcmp(err.text, straight_err.text))
			disagree(run, "where and why a prefix breaks");
	}
	kw_buf_fini(&straight);
	kw_buf_fini(&again);
}

static void start(struct run *run, const struct subject *subject, struct kw_arena *samples)
{
	struct kt_err err = {0};

	*run = (struct run){.subject = subject, .in = subject->sample(&subject->shape, samples), .out.by_ref = true};
	if (kw_encode(subject->msg, subject->version, run->in, &run->frame, &err)) {
		fprintf(stderr, "%s: %s: %s\n", subject->name, err.path, err.text);
		exit(3);
	}
	compare(run);
}

static void measure(struct run *runs, size_t n, const char *what, pairs_fn *table, pairs_fn *straight, double limit,
		    struct pairs_tally *tally)
{
	pairs_head(what, "table", "straight", "ns");
	for (size_t i = 0; i < n; i++) {
		struct pairs_result result = pairs_measure(table, straight, &runs[i], PAIRS, BLOCK_US);

		pairs_line(tally, runs[i].subject->name, &result, limit);
	}
}

int main(int argc, char **argv)
{
	static struct run runs[sizeof subjects / sizeof *subjects];
	struct kw_arena samples = {0};
	struct pairs_tally tally = {0};
	size_t n = 0;

	for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
		if (argc < 2 || strstr(subjects[i].name, argv[1]))
			start(&runs[n++], &subjects[i], &samples);
	measure(runs, n, "decode", decode_by_table, decode_straight, DECODE_LIMIT, &tally);
	measure(runs, n, "encode", encode_by_table, encode_straight, ENCODE_LIMIT, &tally);
	return pairs_end(&tally);
}
