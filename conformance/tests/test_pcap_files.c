/* Captures as files: shown whole and in part, cut, wrong, of other forms. */
#include "conformance/tests/told_captures.h"

#include "conformance/inspect/exchanges.h"

/* All kinds of exchanges in several connections, some of them broken. */
static void make_all(void)
{
	begin();
	client(VERSIONS("0063"));                                /* a version that is not known yet */
	broker("0000000a 00000001 0023 00000000");
	client(METADATA("00000002"));
	broker("00000010 00000002 00000000 ffffffff 00000009");  /* nine topics in no bytes */
	client("0000001a 0000 0003 00000003" ME "ffff 0000 00000001 00000000" "0000");
	capture_connect(&capture, 40001, true);
	client("00000013 0011 0000 00000001" ME "0005 504c41494e");
	broker("0000000a 00000001 0000 00000000");
	client("0000000a 00 757365720070617373");
	broker("00000000");
	capture_close(&capture, true);
	capture_connect(&capture, 40002, false);
	client(METADATA("00000007"));
	capture_miss(&capture, false, 10);
	broker(METADATA_ANSWER("00000007"));
}

static char *text;
static size_t text_size;

static int show(const struct cf_pcap_filter *filter, bool json, struct cf_inspector *inspector, struct kt_err *err)
{
	struct kw_slice file = {capture.file.p, capture.file.n};

	free(text);
	text = NULL;
	*inspector = (struct cf_inspector){.records = true, .tree.json = json};
	inspector->tree.out = open_memstream(&text, &text_size);
	cf_tree_open(&inspector->tree, &(struct cf_place){.none = true}, "all", NULL);
	cf_inspect_pcap(inspector, &file, filter, err);
	cf_tree_close(&inspector->tree);
	fclose(inspector->tree.out);
	assert_int_equal(inspector->tree.depth, 0);
	return err->code;
}

static void says(const char *words)
{
	if (!strstr(text, words))
		fail_msg("\"%s\" is not in\n%s", words, text);
}

static void shown_as_trees(void **state)
{
	struct cf_pcap_filter filter = {.api = -1};
	struct cf_inspector inspector;
	struct kt_err err = {0};

	(void)state;
	make_all();
	assert_int_equal(show(&filter, false, &inspector, &err), 0);
	says("exchange 1            connection 1, 0.003000 s, ApiVersions 99, 16 bytes, answered after 0.001000 s with "
	     "14 bytes, UNSUPPORTED_VERSION (35)");
	says("ApiVersions 0 response");
	says("wrong: byte 16 of topics: ");
	says("remark                acks=0: no answer is due");
	says("token                 00757365720070617373");
	says("connection 2          client 10.0.0.1:40001, broker 10.0.0.2:9092, 2 exchanges, 37 and 18 bytes, closed");
	says("its beginning was not captured");
	says("packets 19, of TCP 19; connections 3, of Kafka 3");
	assert_true(inspector.incomplete);
	assert_int_equal(inspector.faults, 2);
	assert_string_equal(inspector.first,
			    "request of exchange 1: byte 6: ApiVersionsRequest has no version 99 (known: 0-5)");
}

static void some_of_it(void **state)
{
	struct cf_inspector inspector;
	struct kt_err err = {0};

	(void)state;
	make_all();
	assert_int_equal(show(&(struct cf_pcap_filter){.api = -1, .connection = 2, .brief = true}, false, &inspector,
			      &err), 0);
	assert_int_equal(inspector.faults, 0);
	assert_null(strstr(text, "connection 1"));
	assert_null(strstr(text, "frame"));
	says("connection 2, 0.011000 s, SaslHandshake 0, 23 bytes, answered after 0.001000 s with 14 bytes");
	says("connection 2, 0.013000 s, SASL token, 14 bytes, answered after 0.001000 s with 4 bytes");
	/* What is wrong is shown whole in brief, too. */
	assert_int_equal(show(&(struct cf_pcap_filter){.api = 3, .brief = true}, false, &inspector, &err), 0);
	assert_int_equal(inspector.faults, 1);
	says("wrong: byte 16 of topics");
	assert_null(strstr(text, "ApiVersions"));
	assert_int_equal(show(&(struct cf_pcap_filter){.api = -1, .exchange = 99}, false, &inspector, &err),
			 KT_EUNKNOWN);
	assert_string_equal(err.text, "there is no exchange 99");
	err = (struct kt_err){0};
	assert_int_equal(show(&(struct cf_pcap_filter){.api = -1, .connection = 99}, false, &inspector, &err),
			 KT_EUNKNOWN);
	assert_string_equal(err.text, "there is no connection 99");
	err = (struct kt_err){0};
	assert_int_equal(show(&(struct cf_pcap_filter){.api = 3, .exchange = 1}, false, &inspector, &err), KT_EUNKNOWN);
	assert_string_equal(err.text, "there is no such exchange");
	err = (struct kt_err){0};
	assert_int_equal(show(&(struct cf_pcap_filter){.api = -1, .port = 77}, false, &inspector, &err), KT_EUNKNOWN);
	assert_string_equal(err.text, "none of its 3 connections speaks Kafka");
}

static void shown_as_json(void **state)
{
	struct cf_pcap_filter filter = {.api = -1};
	struct cf_inspector inspector;
	struct kt_err err = {0};
	json_t *all;

	(void)state;
	make_all();
	assert_int_equal(show(&filter, true, &inspector, &err), 0);
	all = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(all);
	/* Six exchanges, three connections, and the sum. */
	assert_int_equal(json_array_size(json_object_get(all, "fields")), 10);
	json_decref(all);
}

/* The file is cut at every byte: what is in front of the cut is read, and where it is cut is told. */
static void files_cut_at_every_byte(void **state)
{
	struct cf_pcap_ops ops = {on_exchange, on_ended, NULL, NULL, 0};
	size_t cut_packets = 0;
	struct kt_err err = {0};

	(void)state;
	make_all();
	for (size_t n = 4; n < capture.file.n; n++) {
		uint8_t *copy = malloc(n);
		int code;

		memcpy(copy, capture.file.p, n);
		told[0] = '\0';
		err = (struct kt_err){0};
		code = cf_pcap_read(&(struct kw_slice){copy, n}, &ops, &totals, &err);
		assert_int_equal(code, n < KW_PCAP_HEAD ? KT_ESYNTAX : 0);
		cut_packets += totals.truncated;
		free(copy);
	}
	/* All but those between two packets. */
	assert_int_equal(cut_packets, capture.file.n - KW_PCAP_HEAD - 19);
}

static void files_that_are_wrong(void **state)
{
	struct kt_err err = {0};

	(void)state;
	make_all();
	kw_wr32(capture.file.p + KW_PCAP_HEAD + 16 + 40 + 8, 0xffffffff);   /* the size of the second packet */
	assert_int_equal(read_as(0, &err), KT_ESYNTAX);
	assert_int_equal(strncmp(err.text, "packet 2, at byte 80: ", 22), 0);
	make_all();
	kw_wr32(capture.file.p + 20, 147);
	err = (struct kt_err){0};
	assert_int_equal(read_as(0, &err), KT_ETYPE);
	assert_string_equal(err.text, "packets of link type 147 (unknown) cannot be read");
	/* A packet that is no right one is passed over and told. */
	make_all();
	capture.file.p[KW_PCAP_HEAD + 16] = 0x55;
	err = (struct kt_err){0};
	assert_int_equal(read_as(0, &err), 0);
	assert_int_equal(totals.unread, 1);
	assert_string_equal(totals.unread_text, "packet 1, which ends at byte 80: no IPv4 head, where one should be");
}

static void no_packets(void **state)
{
	struct cf_pcap_filter filter = {.api = -1};
	struct cf_inspector inspector;
	struct kt_err err = {0};

	(void)state;
	capture_begin(&capture);
	assert_int_equal(show(&filter, false, &inspector, &err), 0);
	assert_string_equal(inspector.note, "no packets");
	assert_false(inspector.incomplete);
	/* One that is of no IP, and no other. */
	capture_connect(&capture, 40000, false);
	client("00");
	capture.file.p[KW_PCAP_HEAD + 16] = 0x55;
	assert_int_equal(show(&filter, false, &inspector, &err), 0);
	assert_string_equal(inspector.note,
			    "no packet could be read: packet 1, which ends at byte 81: no IPv4 head, "
			    "where one should be");
	assert_true(inspector.incomplete);
	capture.file.n = 10;
	assert_int_equal(show(&filter, false, &inspector, &err), KT_ESYNTAX);
	assert_string_equal(err.text, "the file has 10 bytes, and ends inside of the capture's head");
}

/* Eight bytes more in front of each packet: interface, protocol, type. */
static void patched_for_linux(void **state)
{
	struct kw_buf out = {0};
	char wanted[sizeof told];

	(void)state;
	make_all();
	assert_int_equal(read_as(0, NULL), 0);
	memcpy(wanted, told, sizeof told);
	kw_put(&out, capture.file.p, KW_PCAP_HEAD);
	kw_wr32(out.p, 0xa1b2cd34);
	for (size_t at = KW_PCAP_HEAD, size; at < capture.file.n; at += 16 + size) {
		size = kw_rd32(capture.file.p + at + 8);
		kw_put(&out, capture.file.p + at, 16);
		kw_put(&out, "\0\0\0\1\0\10\0\0", 8);
		kw_put(&out, capture.file.p + at + 16, size);
	}
	kw_buf_fini(&capture.file);
	capture.file = out;
	is_read(wanted);
}

/* A client that does not wait for answers: what it is told late is not wrong. */
static void very_many_at_once(void **state)
{
	struct cf_pcap_filter filter = {.api = -1, .brief = true};
	struct cf_inspector inspector;
	struct kt_err err = {0};
	char hex[100];

	(void)state;
	begin();
	for (int i = 0; i < 1002; i++) {
		snprintf(hex, sizeof hex, "00000010 0003 0001 %08x " ME "00000000", i);
		client(hex);
	}
	for (int i = 0; i < 1002; i++) {
		snprintf(hex, sizeof hex, "00000010 %08x 00000000 ffffffff 00000000", i);
		broker(hex);
	}
	assert_int_equal(show(&filter, false, &inspector, &err), 0);
	assert_int_equal(inspector.faults, 0);
	says("Metadata 1, 20 bytes, answered after 1.002000 s with 20 bytes");
	says("its request was not captured, or was the oldest of too many without an answer");
}

/* The same packets in the blocks of pcapng: section, interface, packets. */
static void put_block(struct kw_buf *out, uint32_t type, const void *p, size_t n)
{
	size_t padded = (n + 3) / 4 * 4;

	kw_put_u32(out, type);
	kw_put_u32(out, (uint32_t)(padded + 12));
	kw_put(out, p, n);
	kw_put(out, "\0\0\0", padded - n);
	kw_put_u32(out, (uint32_t)(padded + 12));
}

/* The capture at hand, of an interface that is described so. */
static void make_pcapng(const uint8_t *interface, size_t n)
{
	static const uint8_t section[16] = {0x1a, 0x2b, 0x3c, 0x4d, 0, 1, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255};
	struct kw_buf out = {0};

	put_block(&out, 0x0a0d0d0a, section, sizeof section);
	put_block(&out, 1, interface, n);
	for (size_t at = KW_PCAP_HEAD; at < capture.file.n;) {
		const uint8_t *record = capture.file.p + at;
		size_t size = kw_rd32(record + 8);
		uint64_t time = (uint64_t)kw_rd32(record) * 1000000 + kw_rd32(record + 4);
		struct kw_buf packet = {0};

		kw_put_u32(&packet, 0);
		kw_put_u64(&packet, time);
		kw_put_u32(&packet, (uint32_t)size);
		kw_put_u32(&packet, (uint32_t)size);
		kw_put(&packet, record + 16, size);
		put_block(&out, 6, packet.p, packet.n);
		kw_buf_fini(&packet);
		at += 16 + size;
	}
	kw_buf_fini(&capture.file);
	capture.file = out;
}

static void pcapng(void **state)
{
	static const uint8_t interface[8] = {0, KW_LINK_RAW, 0, 0, 0, 4, 0, 0};
	char wanted[sizeof told];

	(void)state;
	make_all();
	assert_int_equal(read_as(0, NULL), 0);
	memcpy(wanted, told, sizeof told);
	make_pcapng(interface, sizeof interface);
	is_read(wanted);
}

/* 2^63 seconds before 1970. */
static void times_out_of_range(void **state)
{
	static const uint8_t interface[24] = {0, KW_LINK_RAW, 0, 0, 0, 4, 0, 0, 0, 14, 0, 8, 0x80};
	struct cf_pcap_filter filter = {.api = -1};
	struct cf_inspector inspector;
	struct kt_err err = {0};

	(void)state;
	make_all();
	make_pcapng(interface, sizeof interface);
	assert_int_equal(show(&filter, true, &inspector, &err), 0);
	says("\"timeUs\",\"value\":-2305843009213693951}");
	says("\"answeredAfterUs\",\"value\":0}");
	assert_int_equal(show(&filter, false, &inspector, &err), 0);
	says("connection 1, 0.000000 s, ");
	says("no date");
}

static int give_back(void **state)
{
	free(text);
	return give_capture_back(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shown_as_trees),
		cmocka_unit_test(some_of_it),
		cmocka_unit_test(shown_as_json),
		cmocka_unit_test(files_cut_at_every_byte),
		cmocka_unit_test(files_that_are_wrong),
		cmocka_unit_test(very_many_at_once),
		cmocka_unit_test(no_packets),
		cmocka_unit_test(patched_for_linux),
		cmocka_unit_test(pcapng),
		cmocka_unit_test(times_out_of_range),
	};

	return cmocka_run_group_tests(tests, NULL, give_back);
}
