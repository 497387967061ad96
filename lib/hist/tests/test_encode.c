#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "lib/hist/hist.h"

struct blob {
	uint8_t p[65536];
	size_t n;
};

static int digit_value(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = strchr(digits, c);

	return at ? (int)(at - digits) : 0;
}

/* Undoes base64 and deflate: the same content may deflate to other bytes under another zlib. */
static void inflate_text(const char *text, struct blob *out)
{
	static uint8_t packed[65536];
	size_t n = 0, len = strlen(text);
	uLongf plain = sizeof out->p;

	assert_int_equal(len % 4, 0);
	for (size_t i = 0; i < len; i += 4) {
		int v = 0;

		for (size_t k = 0; k < 4; k++)
			v = v << 6 | digit_value(text[i + k]);
		packed[n++] = (uint8_t)(v >> 16);
		packed[n++] = (uint8_t)(v >> 8);
		packed[n++] = (uint8_t)v;
	}
	assert_memory_equal(packed, "\x1c\x84\x93\x14", 4);
	n = (size_t)packed[4] << 24 | (size_t)packed[5] << 16 | (size_t)packed[6] << 8 | packed[7];
	assert_true(8 + n <= len / 4 * 3);
	assert_int_equal(uncompress(out->p, &plain, packed + 8, (uLong)n), Z_OK);
	out->n = plain;
}

static void check_encoding(const struct kh_hist *hist, const char *golden)
{
	static struct blob want, got;
	char *text = kh_encode(hist, NULL);

	assert_non_null(text);
	inflate_text(text, &got);
	inflate_text(golden, &want);
	assert_int_equal(got.n, want.n);
	assert_memory_equal(got.p, want.p, want.n);
	free(text);
}

/* The strings are what HdrHistogram 2.1.11 (Java) writes for the same values. */
static void test_encodings_match_hdrhistogram(void **state)
{
	struct kh_hist hist;

	(void)state;
	assert_int_equal(kh_init_latency(&hist, NULL), 0);
	check_encoding(&hist, "HISTFAAAACF4nJNpmSzMwMDAyAABzFAayGd2M9ixgMH+A1QEAFKmBEw=");
	kh_record(&hist, 1);
	check_encoding(&hist, "HISTFAAAACJ4nJNpmSzMwMDAxAABzFCaEch0M9ixgMH+A1SECQBXFwRP");
	kh_reset(&hist);
	kh_record(&hist, 0);
	kh_record_n(&hist, 1, 2);
	kh_record(&hist, 2);
	kh_record_n(&hist, 1000, 5);
	kh_record(&hist, 2047);
	kh_record(&hist, 2048);
	kh_record_n(&hist, 2049, 2);
	check_encoding(&hist, "HISTFAAAACt4nJNpmSzMwMDAxQABzFCaEch0M9ixgMH+A0SAiYXpJD/XagEmNgCEDgYC");
	kh_reset(&hist);
	kh_record(&hist, 1);
	kh_record_n(&hist, 1500, 1000);
	kh_record_n(&hist, 123456, 77);
	kh_record_n(&hist, 1234567, 5);
	kh_record_n(&hist, 98765432, 3);
	kh_record(&hist, KH_LATENCY_HIGHEST);
	check_encoding(&hist, "HISTFAAAADV4nJNpmSzMwMAgwgABzFCaEch0M9ixgMH+A1SEabP4Bf7rabMYr5pw3UxhO/"
			      "+JkQkA9YEL/A==");
	kh_fini(&hist);
}

static void test_counts_of_any_size_take_at_most_nine_bytes(void **state)
{
	struct kh_hist hist;
	static struct blob got;
	static const uint8_t want[] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	char *text;

	(void)state;
	assert_int_equal(kh_init_latency(&hist, NULL), 0);
	kh_record_n(&hist, 0, INT64_MAX);
	text = kh_encode(&hist, NULL);
	assert_non_null(text);
	inflate_text(text, &got);
	assert_int_equal(got.n, 40 + sizeof want);
	assert_memory_equal(got.p + 40, want, sizeof want);
	free(text);
	kh_fini(&hist);
}

static void test_log(void **state)
{
	static const char want[] =
		"#[Histogram log format version 1.3]\n"
		"#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 15:24:39 UTC 2015]\n"
		"#[BaseTime: 1441812279.474 (seconds since epoch)]\n"
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"
		"Tag=service,0.127,1.007,0.002,HISTFAAAA";
	struct kh_hist hist;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	assert_non_null(out);
	assert_int_equal(kh_init_latency(&hist, NULL), 0);
	kh_record(&hist, 2049);
	assert_int_equal(kh_log_begin(out, 1441812279474, NULL), 0);
	assert_int_equal(kh_log_interval(out, "service", 0.127, 1.007, &hist, NULL), 0);
	assert_int_equal(kh_log_interval(out, NULL, 1.134, 1, &hist, NULL), 0);
	fclose(out);
	assert_true(n > sizeof want);
	assert_memory_equal(text, want, sizeof want - 1);
	assert_non_null(strstr(text, "\n1.134,1.000,0.002,HISTFAAAA"));
	assert_int_equal(text[n - 1], '\n');
	free(text);
	kh_fini(&hist);
}

static void test_log_says_when_it_cannot_write(void **state)
{
	FILE *out = fopen("/dev/null", "r");
	struct kh_hist hist;
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(kh_init_latency(&hist, NULL), 0);
	assert_int_equal(kh_log_interval(out, "lag", 0, 1, &hist, &err), KT_EFILE);
	assert_int_equal(err.code, KT_EFILE);
	fclose(out);
	kh_fini(&hist);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encodings_match_hdrhistogram),
		cmocka_unit_test(test_counts_of_any_size_take_at_most_nine_bytes),
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_log_says_when_it_cannot_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
