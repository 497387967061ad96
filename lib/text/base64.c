#include "lib/text/base64.h"

#include <stdlib.h>
#include <string.h>

static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url_safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

size_t kt_base64_len(size_t n, bool url)
{
	return url ? (n * 4 + 2) / 3 : (n + 2) / 3 * 4;
}

void kt_base64_encode(const uint8_t *p, size_t n, bool url, char *out)
{
	const char *abc = url ? url_safe : standard;

	for (; n >= 3; n -= 3, p += 3) {
		*out++ = abc[p[0] >> 2];
		*out++ = abc[(p[0] & 3) << 4 | p[1] >> 4];
		*out++ = abc[(p[1] & 15) << 2 | p[2] >> 6];
		*out++ = abc[p[2] & 63];
	}
	if (n) {
		uint8_t second = n == 2 ? p[1] : 0;

		*out++ = abc[p[0] >> 2];
		*out++ = abc[(p[0] & 3) << 4 | second >> 4];
		if (n == 2)
			*out++ = abc[(second & 15) << 2];
		else if (!url)
			*out++ = '=';
		if (!url)
			*out++ = '=';
	}
	*out = '\0';
}

static int value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

long kt_base64_decode(const char *s, size_t n, uint8_t *out)
{
	uint32_t acc = 0;
	unsigned bits = 0;
	long len = 0;

	if (n % 4 == 0)
		for (int i = 0; i < 2 && n && s[n - 1] == '='; i++)
			n--;
	if (n % 4 == 1)
		return -1;
	for (size_t i = 0; i < n; i++) {
		int v = value(s[i]);

		if (v < 0)
			return -1;
		acc = acc << 6 | (uint32_t)v;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			out[len++] = (uint8_t)(acc >> bits);
		}
	}
	return acc & ((1u << bits) - 1) ? -1 : len;
}

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void kt_hex_encode(const uint8_t *p, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		*out++ = digits[p[i] >> 4];
		*out++ = digits[p[i] & 15];
	}
	*out = '\0';
}

json_t *kt_hex_json(const void *p, size_t n)
{
	char *digits = malloc(2 * n + 1);
	json_t *json;

	if (!digits)
		return NULL;
	kt_hex_encode(p, n, digits);
	json = json_stringn_nocheck(digits, 2 * n);
	free(digits);
	return json;
}

long kt_hex_decode(const char *s, size_t n, uint8_t *out)
{
	long len = 0;

	for (size_t i = 0; i < n;) {
		if (s[i] && strchr(" \t\r\n", s[i])) {
			i++;
			continue;
		}
		if (i + 1 >= n || nibble(s[i]) < 0 || nibble(s[i + 1]) < 0)
			return -1;
		out[len++] = (uint8_t)(nibble(s[i]) << 4 | nibble(s[i + 1]));
		i += 2;
	}
	return len;
}
