#include "lib/wire/batch_json.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/text/near.h"
#include "lib/wire/base64.h"

static const char *const bytes_members[] = {"hex", "base64", "size"};

int kw_bj_fail(struct kw_bj *bj, int code, const char *fmt, ...)
{
	va_list ap;

	if (bj->err && !bj->err->code)
		snprintf(bj->err->path, sizeof bj->err->path, "%s", bj->path);
	va_start(ap, fmt);
	kt_vfail(bj->err, code, fmt, ap);
	va_end(ap);
	return code;
}

size_t kw_bj_enter(struct kw_bj *bj, const char *name)
{
	size_t n = strlen(bj->path);

	snprintf(bj->path + n, sizeof bj->path - n, ".%s", name);
	return n;
}

size_t kw_bj_enter_index(struct kw_bj *bj, size_t index)
{
	size_t n = strlen(bj->path);

	snprintf(bj->path + n, sizeof bj->path - n, "[%zu]", index);
	return n;
}

void kw_bj_leave(struct kw_bj *bj, size_t up)
{
	bj->path[up] = 0;
}

static int unknown(struct kw_bj *bj, const char *name, const char *const *names, size_t n)
{
	const char *near = kt_nearest(name, names, n);

	kw_bj_enter(bj, name);
	return kw_bj_fail(bj, KT_EUNKNOWN, "unknown member%s%s%s", near ? "; did you mean \"" : "", near ? near : "",
		    near ? "\"?" : "");
}

int kw_bj_object(struct kw_bj *bj, json_t *json, const char *const *names, size_t n)
{
	const char *name;
	json_t *value;

	if (!json_is_object(json))
		return kw_bj_fail(bj, KT_ETYPE, "an object is expected");
	json_object_foreach(json, name, value) {
		size_t i = 0;

		while (i < n && strcmp(names[i], name) != 0)
			i++;
		if (i == n)
			return unknown(bj, name, names, n);
	}
	return 0;
}

int kw_bj_int(struct kw_bj *bj, json_t *json, int64_t min, int64_t max, int64_t *v)
{
	if (!json_is_integer(json))
		return kw_bj_fail(bj, KT_ETYPE, "an integer is expected");
	*v = json_integer_value(json);
	if (*v < min || *v > max)
		return kw_bj_fail(bj, KT_ERANGE, "%lld is outside %lld..%lld", (long long)*v, (long long)min, (long long)max);
	return 0;
}

int kw_bj_get_int(struct kw_bj *bj, json_t *object, const char *name, int64_t min, int64_t max, int64_t *v)
{
	json_t *json = json_object_get(object, name);
	size_t up = kw_bj_enter(bj, name);
	int code = json ? kw_bj_int(bj, json, min, max, v) : 0;

	kw_bj_leave(bj, up);
	return code;
}

int kw_bj_time(struct kw_bj *bj, json_t *json, int64_t *v)
{
	const char *text = json_string_value(json);
	char *end = NULL;
	int64_t by = 0;

	if (!text)
		return kw_bj_int(bj, json, INT64_MIN, INT64_MAX, v);
	if (strncmp(text, "now", 3) == 0 && (text[3] == '+' || text[3] == '-'))
		by = strtoll(text + 3, &end, 10);
	if (end ? end == text + 3 || *end : strcmp(text, "now") != 0)
		return kw_bj_fail(bj, KT_ESYNTAX, "a number, \"now\", \"now+MS\" or \"now-MS\" is expected");
	*v = (int64_t)((uint64_t)bj->now + (uint64_t)by);
	return 0;
}

int kw_bj_get_time(struct kw_bj *bj, json_t *object, const char *name, int64_t *v)
{
	json_t *json = json_object_get(object, name);
	size_t up = kw_bj_enter(bj, name);
	int code = json ? kw_bj_time(bj, json, v) : 0;

	kw_bj_leave(bj, up);
	return code;
}

/* ---- bytes ---- */

static int sized_bytes(struct kw_bj *bj, json_t *json, struct kw_bytes *out)
{
	int64_t n;
	uint8_t *p;
	int code = kw_bj_int(bj, json, 0, KW_BJ_MAX, &n);

	if (code)
		return code;
	p = kw_alloc(&bj->arena, (size_t)n);
	if (!p)
		return kw_bj_fail(bj, KT_ENOMEM, "out of memory");
	*out = (struct kw_bytes){memset(p, 'x', (size_t)n), (int32_t)n};
	return 0;
}

int kw_bj_coded(struct kw_bj *bj, json_t *json, bool hex, struct kw_bytes *out)
{
	const char *text = json_string_value(json);
	size_t n = json_string_length(json);
	uint8_t *p;
	long len;

	if (!text)
		return kw_bj_fail(bj, KT_ETYPE, "a string is expected");
	if (n > KW_BJ_MAX)
		return kw_bj_fail(bj, KT_ELIMIT, "longer than %d characters", KW_BJ_MAX);
	p = kw_alloc(&bj->arena, n + 3);
	if (!p)
		return kw_bj_fail(bj, KT_ENOMEM, "out of memory");
	len = hex ? kw_hex_decode(text, n, p) : kw_base64_decode(text, n, p);
	if (len < 0)
		return kw_bj_fail(bj, KT_ESYNTAX, hex ? "not an even number of hex digits" : "not valid base64");
	*out = (struct kw_bytes){p, (int32_t)len};
	return 0;
}

/* A string, or one of bytes_members. */
static int to_bytes(struct kw_bj *bj, json_t *json, struct kw_bytes *out)
{
	const char *name = json_object_iter_key(json_object_iter(json));
	json_t *value = json_object_iter_value(json_object_iter(json));
	size_t up;
	int code;

	if (json_is_string(json)) {
		if (json_string_length(json) > KW_BJ_MAX)
			return kw_bj_fail(bj, KT_ELIMIT, "longer than %d bytes", KW_BJ_MAX);
		*out = (struct kw_bytes){(const uint8_t *)json_string_value(json), (int32_t)json_string_length(json)};
		return 0;
	}
	if (!json_is_object(json))
		return kw_bj_fail(bj, KT_ETYPE, "a string or an object with \"hex\", \"base64\" or \"size\" is expected");
	code = kw_bj_object(bj, json, bytes_members, sizeof bytes_members / sizeof *bytes_members);
	if (code)
		return code;
	if (json_object_size(json) != 1)
		return kw_bj_fail(bj, KT_ETYPE, "exactly one of \"hex\", \"base64\" and \"size\" is expected");
	up = kw_bj_enter(bj, name);
	code = strcmp(name, "size") == 0 ? sized_bytes(bj, value, out)
					 : kw_bj_coded(bj, value, strcmp(name, "hex") == 0, out);
	kw_bj_leave(bj, up);
	return code;
}

int kw_bj_get_bytes(struct kw_bj *bj, json_t *object, const char *name, struct kw_bytes *out)
{
	json_t *json = json_object_get(object, name);
	size_t up = kw_bj_enter(bj, name);
	int code = 0;

	*out = (struct kw_bytes){NULL, -1};
	if (json && !json_is_null(json))
		code = to_bytes(bj, json, out);
	kw_bj_leave(bj, up);
	return code;
}

int kw_bj_put_bytes(struct kw_bj *bj, json_t *object, const char *name, struct kw_buf *out)
{
	size_t up = kw_bj_enter(bj, name);
	struct kw_bytes bytes;
	int code = to_bytes(bj, json_object_get(object, name), &bytes);

	if (code)
		return code;
	kw_put(out, bytes.p, (size_t)bytes.n);
	if (out->failed)
		return kw_bj_fail(bj, KT_ELIMIT, "more than %d bytes", KW_BJ_MAX);
	kw_bj_leave(bj, up);
	return 0;
}

