/* Writes the corpora of the fuzz targets that take bytes: seeds, in the sources' root. The same files every time. */
#include <sys/stat.h>

#include "kw_messages.h"
#include "lib/text/base64.h"
#include "lib/text/fuzz/fuzz.h"
#include "lib/wire/batch.h"
#include "lib/wire/packet.h"
#include "lib/wire/tests/random_message.h"

enum { MOST = 3 << 10, SMALL_SET = 256 };   /* bytes: of a corpus of messages, of a record set */

static struct random_source source = {.state = 88172645463325252u, .unknown_tags = true};

static void write_file(const char *dir, const char *name, const struct kw_buf *buf)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	mkdir(dir, 0777);
	f = fopen(path, "wb");
	if (!f || buf->failed || fwrite(buf->p, 1, buf->n, f) != buf->n || fclose(f)) {
		perror(path);
		exit(1);
	}
}

/* ---- messages ---- */

static void put_header(const struct kw_msg *msg, int version, struct kw_arena *arena, struct kw_buf *buf)
{
	bool request = msg->kind == KW_REQUEST;
	const struct kw_msg *header = request ? &kw_msg_RequestHeader : &kw_msg_ResponseHeader;
	int header_version = request ? kw_request_header_version(msg->key, version)
				     : kw_response_header_version(msg->key, version);
	void *in = kw_new(header, arena);

	if (request) {
		*(struct kw_RequestHeader *)in = (struct kw_RequestHeader){
			.requestApiKey = msg->key, .requestApiVersion = (int16_t)version, .correlationId = 7,
		};
	} else {
		kw_put_u16(buf, (uint16_t)msg->key);
		kw_put_u16(buf, (uint16_t)version);
	}
	kw_encode(header, header_version, in, buf, NULL);
}

static void put_line(const struct kw_msg *msg, int version, struct kw_buf *buf)
{
	char line[128];

	kw_put(buf, line, (size_t)snprintf(line, sizeof line, "%s %d\n", msg->name, version));
}

static void put_json(const struct kw_msg *msg, int version, const void *in, struct kw_buf *buf)
{
	json_t *json = kw_to_json(msg, version, in, NULL);
	char *text = json_dumps(json, JSON_COMPACT);

	put_line(msg, version, buf);
	kw_put(buf, text, strlen(text));
	free(text);
	json_decref(json);
}

enum form { FRAME, LINE, TEXT };

/* A message of the kind (-1 = of any) in its newest version or an older one, small ones only. */
static void messages(const char *dir, int kind, enum form form)
{
	size_t total = 0;

	for (size_t k = 0; k < kw_msg_count() && total < MOST; k++) {
		const struct kw_msg *msg = kw_msg_at(k * 7 % kw_msg_count());   /* a prime: all kinds of names */
		int version = msg->versions.max - (int)(k % 2 && msg->versions.max > msg->versions.min);
		struct kw_arena arena;
		struct kw_buf buf = {0};
		const void *in;

		if ((kind >= 0 && (int)msg->kind != kind) || version < 0)
			continue;
		kw_arena_init(&arena, 0);
		in = random_message(&source, msg, version, &arena);
		if (form == TEXT)
			put_json(msg, version, in, &buf);
		else if (form == LINE)
			put_line(msg, version, &buf);
		else
			put_header(msg, version, &arena, &buf);
		if (form != TEXT)
			kw_encode(msg, version, in, &buf, NULL);
		if (buf.n < 250) {
			total += buf.n;
			write_file(dir, msg->name, &buf);
		}
		kw_buf_fini(&buf);
		kw_arena_fini(&arena);
	}
}

/* ---- golden frames: those with a header ---- */

static const struct {
	bool header;
	const struct kw_msg *msg;
	int version;
	const char *bytes;
} golden[] = {
#define X(release, what, header, msg, version, json_version, json, bytes) {header, &kw_msg_##msg, version, bytes},
#include "lib/wire/tests/golden.def"
#undef X
};

static void golden_frames(void)
{
	for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
		bool request = golden[i].msg->kind == KW_REQUEST;
		uint8_t bytes[1024];
		struct kw_buf buf = {0};
		char name[32];

		if (!golden[i].header || !golden[i].bytes || strlen(golden[i].bytes) > 2 * sizeof bytes)
			continue;
		if (!request) {
			kw_put_u16(&buf, (uint16_t)golden[i].msg->key);
			kw_put_u16(&buf, (uint16_t)golden[i].version);
		}
		kw_put(&buf, bytes, (size_t)kt_hex_decode(golden[i].bytes, strlen(golden[i].bytes), bytes));
		snprintf(name, sizeof name, "golden-%zu", i);
		write_file(request ? "lib/wire/fuzz/corpus/request" : "lib/wire/fuzz/corpus/response", name, &buf);
		if (request)
			write_file("lib/wire/fuzz/corpus/map", name, &buf);
		kw_buf_fini(&buf);
	}
}

/* ---- record sets ---- */

/* What Kafka 3.9 wrote, of all magics; small ones. */
static void golden_sets(void)
{
	static const char *const hex[] = {
#define READ(name, set, found) set,
#define LEAD(name, found)
#define DOWN(name, magic, first, set)
#define UP(name, magic, codec, type, set)
#define CONTROL(type, json, batch)
#define VARINT(kind, bytes, canonical, used, value)
#include "lib/wire/tests/golden_records.def"
	};

	for (size_t i = 0; i < sizeof hex / sizeof hex[0]; i++) {
		static const uint8_t old_produce[] = {0, 2, 0};   /* options of fuzz_produce.c */
		uint8_t bytes[SMALL_SET + sizeof old_produce];
		struct kw_buf buf = {0};
		char name[32];

		if (strlen(hex[i]) > 2 * SMALL_SET)
			continue;
		kw_put(&buf, bytes, (size_t)kt_hex_decode(hex[i], strlen(hex[i]), bytes));
		snprintf(name, sizeof name, "golden-%zu", i);
		write_file("lib/wire/fuzz/corpus/set", name, &buf);
		memmove(bytes + sizeof old_produce, bytes, buf.n);
		memcpy(bytes, old_produce, sizeof old_produce);
		kw_buf_clear(&buf);
		kw_put(&buf, bytes, sizeof old_produce + (strlen(hex[i]) / 2));
		write_file("fakebroker/fuzz/corpus/produce", name, &buf);
		kw_buf_fini(&buf);
	}
}

static const char records[] =
	"\"records\": [{\"key\": \"k\", \"value\": \"{}\", \"headers\": [{\"key\": \"h\", \"value\": \"topic\"},"
	" {\"key\": \"topic\", \"value\": null}]}, {\"value\": {\"size\": 40}, \"timestampDelta\": 3, \"repeat\": 2}]";

static const struct {
	const char *name;
	uint8_t options[3];      /* of fuzz_produce.c */
	const char *head;        /* of the JSON of the batch; then come the records */
} sets[] = {
	{"plain", {1, 12, 0}, ""},
	{"gzip", {1, 12, 0}, "\"codec\": \"gzip\", "},
	{"snappy", {1, 9, 0}, "\"codec\": \"snappy\", "},
	{"lz4", {1, 12, 0}, "\"codec\": \"lz4\", "},
	{"zstd", {1, 12, 0}, "\"codec\": \"zstd\", "},
	{"chain", {3, 12, 0}, "\"codec\": \"gzip\", "},
	{"json-chain", {5, 12, 0}, ""},
	{"compact-append-time", {25, 12, 0}, "\"codec\": \"lz4\", "},
	{"to-zstd", {1, 12, 5}, "\"codec\": \"gzip\", "},
	{"to-none", {1, 12, 1}, "\"codec\": \"gzip\", "},
	{"idempotent", {1, 12, 0}, "\"producerId\": 5, \"producerEpoch\": 1, \"baseSequence\": 0, "},
	{"transactional", {33, 12, 0},
	 "\"producerId\": 5, \"producerEpoch\": 1, \"baseSequence\": 0, \"attributes\": 16, "},
	{"old-release", {129, 3, 0}, "\"codec\": \"gzip\", "},
	{"small", {65, 12, 0}, "\"maxTimestamp\": 999990, "},
	{"count", {1, 12, 0}, "\"count\": 4, "},
	{"wrong-crc", {0, 12, 0}, "\"crc\": 1, "},
	{"delete-horizon", {1, 12, 0}, "\"attributes\": 64, "},
};

static void record_sets(void)
{
	for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
		struct kw_buf set = {0}, options = {0};
		char text[1024];
		json_t *json;

		snprintf(text, sizeof text, "[{%s\"baseTimestamp\": 999980, %s}]", sets[i].head, records);
		json = json_loads(text, 0, NULL);
		if (kw_batches_from_json(json, &set, NULL))
			exit(1);
		json_decref(json);
		kw_put(&options, sets[i].options, 3);
		kw_put(&options, set.p, set.n);
		write_file("fakebroker/fuzz/corpus/produce", sets[i].name, &options);
		write_file("lib/wire/fuzz/corpus/batch", sets[i].name, &set);
		kw_buf_fini(&set);
		kw_buf_fini(&options);
	}
}

static void deflated(int codec)
{
	static const char *const texts[] = {
		"", "a", "abcabcabcabcabcabcabcabcabcabcabcabcabcabcabc and something else 0123456789",
	};
	char dir[64];

	snprintf(dir, sizeof dir, "lib/wire/fuzz/corpus/%s", kw_codec_name(codec));
	for (int i = 0; i < 3; i++) {
		struct kw_buf buf = {0};
		char name[40];

		if (kw_compress(codec, (const uint8_t *)texts[i], strlen(texts[i]), &buf, NULL))
			exit(1);
		snprintf(name, sizeof name, "%zu-bytes", strlen(texts[i]));
		write_file(dir, name, &buf);
		kw_buf_fini(&buf);
	}
}

/* ---- captures ---- */

/* A connection: requests and answers of ApiVersions, Metadata and Produce with acks=0, out of order, again, and one
 * lost. */
static const struct {
	bool client;
	uint8_t flags;
	uint32_t at;             /* in what the side sends */
	const char *hex;
} segments[] = {
	{true, KW_TCP_SYN, 0, ""},
	{false, KW_TCP_SYN | KW_TCP_ACK, 0, ""},
	{true, KW_TCP_ACK, 1, "0000000c 0012 0063 00000001 0002 6d65"},
	{false, KW_TCP_ACK, 1, "0000000a 00000001 0023 00000000"},
	{true, KW_TCP_ACK, 37, "0000001a 0000 0003 00000003 0002 6d65 ffff 0000 00000001 00000000 0000"},
	{true, KW_TCP_ACK, 17, "00000010 0003 0001 00000002 0002 6d65 00000000"},
	{true, KW_TCP_ACK, 17, "00000010"},
	{false, KW_TCP_ACK, 15, "00000010 00000002 00000000 ffffffff 00000000"},
	{false, KW_TCP_ACK, 45, "00000000"},
	{true, KW_TCP_FIN | KW_TCP_ACK, 67, ""},
	{false, KW_TCP_FIN | KW_TCP_ACK, 49, ""},
};

/* What the other side has sent before a segment. */
static uint32_t acknowledged(size_t i)
{
	uint32_t ack = 0;

	for (size_t k = 0; k < i; k++) {
		uint8_t bytes[100];
		uint32_t n = (uint32_t)kt_hex_decode(segments[k].hex, strlen(segments[k].hex), bytes),
			 end = segments[k].at + n;

		if (segments[k].flags & (KW_TCP_SYN | KW_TCP_FIN))
			end++;
		if (segments[k].client != segments[i].client && end > ack)
			ack = end;
	}
	return ack;
}

/* One packet behind its record of 16 bytes. */
static void put_packet(struct kw_buf *buf, size_t i, int family, int64_t time_us)
{
	struct kw_endpoint ends[2] = {
		{.family = (uint8_t)family, .port = 40000, .address = {[0] = 127, [3] = 1}},
		{.family = (uint8_t)family, .port = 9092, .address = {[0] = 127, [3] = 1}},
	};
	struct kw_segment segment = {.from = ends[!segments[i].client], .to = ends[segments[i].client],
				     .seq = 0xfffffff0 + segments[i].at,
				     .ack = 0xfffffff0 + acknowledged(i), .flags = segments[i].flags};
	uint8_t bytes[100], head[KW_PCAP_PACKET_HEAD];
	struct iovec iov = {bytes, (size_t)kt_hex_decode(segments[i].hex, strlen(segments[i].hex), bytes)};

	kw_put(buf, head, kw_pcap_packet_head(head, &segment, &iov, 1, time_us));
	kw_put(buf, bytes, iov.iov_len);
}

enum { RECORD = 16, SEGMENTS = sizeof segments / sizeof segments[0] };

/* Of fuzz_tcp.c: the link's place in its table, and what stands in front of IP. */
static const struct {
	const char *name;
	uint8_t link;
	int family;
	const char *head;
} packet_seeds[] = {
	{"loopback", 0, 4, "02000000"},
	{"ethernet", 1, 4, "0102030405060708090a0b0c0800"},
	{"vlan", 1, 6, "0102030405060708090a0b0c 8100 0064 86dd"},
	{"raw", 4, 6, ""},
	{"cooked", 6, 4, "0000030400060000000000000000 0800"},
	{"cooked2", 9, 6, "86dd 0000000000010304 0006 0000000000000000"},
};

static void packets(void)
{
	for (size_t i = 0; i < sizeof packet_seeds / sizeof packet_seeds[0]; i++) {
		struct kw_buf buf = {0};
		uint8_t head[32];
		size_t nhead = (size_t)kt_hex_decode(packet_seeds[i].head, strlen(packet_seeds[i].head), head);

		kw_put_u8(&buf, packet_seeds[i].link);
		for (size_t k = 0; k < SEGMENTS; k++) {
			struct kw_buf packet = {0};

			put_packet(&packet, k, packet_seeds[i].family, 0);
			kw_put_u16(&buf, (uint16_t)(nhead + packet.n - RECORD));
			kw_put_u8(&buf, 0);
			kw_put(&buf, head, nhead);
			kw_put(&buf, packet.p + RECORD, packet.n - RECORD);
			kw_buf_fini(&packet);
		}
		write_file("lib/wire/fuzz/corpus/tcp", packet_seeds[i].name, &buf);
		kw_buf_fini(&buf);
	}
}

/* Of conformance/fuzz/fuzz_pcap.c, whose first byte is options. */
static void captures(void)
{
	static const char *const names[] = {"tree", "json", "brief", "brief-json", "port"};

	for (uint8_t options = 0; options < 5; options++) {
		struct kw_buf buf = {0};
		uint8_t head[KW_PCAP_HEAD];

		kw_put_u8(&buf, options);
		kw_pcap_head(head);
		kw_put(&buf, head, sizeof head);
		for (size_t k = 0; k < SEGMENTS; k++)
			put_packet(&buf, k, options % 2 ? 6 : 4, (int64_t)k * 1000);
		write_file("conformance/fuzz/corpus/pcap", names[options], &buf);
		kw_buf_fini(&buf);
	}
}

int main(void)
{
	mkdir("lib/wire/fuzz/corpus", 0777);
	mkdir("fakebroker/fuzz/corpus", 0777);
	mkdir("conformance/fuzz/corpus", 0777);
	messages("lib/wire/fuzz/corpus/request", KW_REQUEST, FRAME);
	messages("lib/wire/fuzz/corpus/response", KW_RESPONSE, FRAME);
	messages("lib/wire/fuzz/corpus/to_json", -1, LINE);
	source.unknown_tags = false;
	messages("lib/wire/fuzz/corpus/from_json", -1, TEXT);
	golden_frames();
	golden_sets();
	record_sets();
	for (int codec = KW_GZIP; codec <= KW_ZSTD; codec++)
		deflated(codec);
	packets();
	captures();
	return 0;
}
