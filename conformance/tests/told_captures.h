/* A capture that is made by hand, and what is found in it, as text. An exchange is told as "1 Metadata 1 c7 24@0/18@0":
 * connection, API, version, correlation id, size and place of request and answer, then what is wrong or remarked. */
#ifndef KASSAY_CONFORMANCE_TESTS_TOLD_CAPTURES_H
#define KASSAY_CONFORMANCE_TESTS_TOLD_CAPTURES_H

#include "conformance/tests/captures.h"

#include <stdio.h>
#include <stdlib.h>

#include "conformance/pcap/pcap.h"
#include "lib/wire/message.h"

#define ME "00026d65"                              /* client id "me" */
#define METADATA(id) "00000010 0003 0001 " id ME "00000000"
#define METADATA_ANSWER(id) "00000010 " id "00000000 ffffffff 00000000"
#define VERSIONS(version) "0000000c 0012 " version " 00000001" ME

static struct capture capture;
static struct cf_pcap_totals totals;
static char told[8000];

static inline void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void tell(const char *format, ...)
{
	size_t n = strlen(told);
	va_list ap;

	va_start(ap, format);
	vsnprintf(told + n, sizeof told - n, format, ap);
	va_end(ap);
}

static inline void tell_frame(const struct cf_frame *frame)
{
	if (!frame) {
		tell("-");
		return;
	}
	tell("%d@%d", (int)frame->size, (int)frame->at);
	if (frame->missing)
		tell("-%d", (int)frame->missing);
	assert_true(frame->bytes.n + frame->missing <= frame->size);
}

static inline void on_exchange(void *arg, const struct cf_exchange *exchange)
{
	const char *name = exchange->token ? "token" : kw_api_name(exchange->api);

	(void)arg;
	tell("%d %s %d c%d ", (int)exchange->conn->number, name ? name : "?", exchange->version,
	     (int)exchange->correlation);
	tell_frame(exchange->request);
	tell("/");
	tell_frame(exchange->response);
	tell("%s%s%s%s\n", exchange->fault ? " WRONG: " : "", exchange->fault ? exchange->fault : "",
	     exchange->remark ? " " : "", exchange->remark ? exchange->remark : "");
}

static inline void on_ended(void *arg, const struct cf_talked *talked)
{
	(void)arg;
	if (talked->talk != CF_TALK_KAFKA)
		tell("%d %s\n", (int)talked->conn.number, cf_talk_text(talked->talk));
}

static inline int read_as(int port, struct kt_err *err)
{
	struct cf_pcap_ops ops = {on_exchange, on_ended, NULL, NULL, port};
	struct kw_slice file = {capture.file.p, capture.file.n};

	told[0] = '\0';
	assert_false(capture.file.failed);
	assert_true(cf_is_pcap(&file));
	return cf_pcap_read(&file, &ops, &totals, err);
}

static inline void is_read_as(int port, const char *wanted)
{
	struct kt_err err = {0};

	if (read_as(port, &err))
		fail_msg("%s", err.text);
	assert_string_equal(told, wanted);
}

/* So far as `told` holds it. */
static inline void is_read_first(const char *wanted)
{
	struct kt_err err = {0};

	assert_int_equal(read_as(0, &err), 0);
	told[strlen(wanted)] = '\0';
	assert_string_equal(told, wanted);
}

static inline void is_read(const char *wanted)
{
	is_read_as(0, wanted);
}

/* A connection whose handshake was captured. */
static inline void begin(void)
{
	capture_begin(&capture);
	capture_connect(&capture, 40000, true);
}

static inline void client(const char *hex)
{
	capture_say(&capture, true, hex);
}

static inline void broker(const char *hex)
{
	capture_say(&capture, false, hex);
}

static inline int give_capture_back(void **state)
{
	(void)state;
	kw_buf_fini(&capture.file);
	return 0;
}

#endif
