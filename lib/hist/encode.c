#include <arpa/inet.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "lib/hist/hist.h"
#include "lib/hist/layout.h"
#include "lib/text/base64.h"

/* The low nibble of the second byte is the word size of the counts: 1 stands for LEB128. */
#define COOKIE_V2 0x1c849313u
#define COOKIE_V2_DEFLATED 0x1c849314u
#define V2_HEADER 40
#define DEFLATED_HEADER 8
#define LEB128_MAX 9

static uint8_t *put32(uint8_t *p, uint32_t v)
{
	v = htonl(v);
	memcpy(p, &v, sizeof v);
	return p + sizeof v;
}

static uint8_t *put64(uint8_t *p, uint64_t v)
{
	v = htobe64(v);
	memcpy(p, &v, sizeof v);
	return p + sizeof v;
}

/* HdrHistogram's variant ends at nine bytes: the ninth carries eight bits. */
static uint8_t *put_zigzag(uint8_t *p, int64_t value)
{
	uint64_t v = ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
	int n = 1;

	for (; v > 0x7f && n < LEB128_MAX; n++, v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

/* Counts up to the maximum's; a run of two zeros or more is its negative length. */
static uint8_t *put_counts(uint8_t *p, const struct kh_hist *hist)
{
	int32_t end = kh_index_of(hist, kh_max(hist)) + 1;

	for (int32_t i = 0; i < end;) {
		int32_t zeros = 0;

		while (i + zeros < end && hist->counts[i + zeros] == 0)
			zeros++;
		p = put_zigzag(p, zeros > 1 ? -zeros : hist->counts[i]);
		i += zeros > 1 ? zeros : 1;
	}
	return p;
}

/* The encoding before compression; *n gets its length. */
static uint8_t *encode_v2(const struct kh_hist *hist, size_t *n)
{
	double ratio = 1.0;
	uint64_t ratio_bits;
	size_t cap = V2_HEADER + LEB128_MAX * ((size_t)kh_index_of(hist, kh_max(hist)) + 1);
	uint8_t *buf = malloc(cap), *p, *end;

	if (!buf)
		return NULL;
	memcpy(&ratio_bits, &ratio, sizeof ratio_bits);
	end = put_counts(buf + V2_HEADER, hist);
	p = put32(buf, COOKIE_V2);
	p = put32(p, (uint32_t)(end - buf - V2_HEADER));
	p = put32(p, 0);                          /* normalizing index offset */
	p = put32(p, (uint32_t)hist->digits);
	p = put64(p, (uint64_t)hist->lowest);
	p = put64(p, (uint64_t)hist->highest);
	put64(p, ratio_bits);
	*n = (size_t)(end - buf);
	return buf;
}

char *kh_encode(const struct kh_hist *hist, struct kt_err *err)
{
	size_t n = 0;
	uint8_t *plain = encode_v2(hist, &n), *packed = NULL;
	uLongf npacked = compressBound((uLong)n);
	char *text = NULL;

	packed = malloc(DEFLATED_HEADER + npacked);
	if (!plain || !packed)
		goto out;
	if (compress(packed + DEFLATED_HEADER, &npacked, plain, (uLong)n) != Z_OK)
		goto out;
	put32(put32(packed, COOKIE_V2_DEFLATED), (uint32_t)npacked);
	text = malloc(kt_base64_len(DEFLATED_HEADER + npacked, false) + 1);
	if (text)
		kt_base64_encode(packed, DEFLATED_HEADER + npacked, false, text);
out:
	if (!text)
		kt_fail(err, KT_ENOMEM, "no memory to encode a histogram");
	free(plain);
	free(packed);
	return text;
}

int kh_log_begin(FILE *out, int64_t start_ms, struct kt_err *err)
{
	time_t s = (time_t)(start_ms / 1000);
	struct tm tm;
	char when[64];

	gmtime_r(&s, &tm);
	strftime(when, sizeof when, "%a %b %d %H:%M:%S UTC %Y", &tm);
	fprintf(out, "#[Histogram log format version 1.3]\n");
	fprintf(out, "#[StartTime: %lld.%03d (seconds since epoch), %s]\n", (long long)s, (int)(start_ms % 1000), when);
	fprintf(out, "#[BaseTime: %lld.%03d (seconds since epoch)]\n", (long long)s, (int)(start_ms % 1000));
	fprintf(out, "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n");
	return ferror(out) ? kt_fail(err, KT_EFILE, "cannot write the histogram log") : 0;
}

int kh_log_interval(FILE *out, const char *tag, double start_s, double length_s, const struct kh_hist *hist,
		    struct kt_err *err)
{
	char *text = kh_encode(hist, err);

	if (!text)
		return KT_ENOMEM;
	if (tag)
		fprintf(out, "Tag=%s,", tag);
	fprintf(out, "%.3f,%.3f,%.3f,%s\n", start_s, length_s, (double)kh_max(hist) / 1e6, text);
	free(text);
	return ferror(out) ? kt_fail(err, KT_EFILE, "cannot write the histogram log") : 0;
}
