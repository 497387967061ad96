/* Values of the JSON form of batches and messages; see batch_json.h. */
#include "lib/text/base64.h"
#include "lib/text/number.h"
#include "lib/wire/batch_json.h"

/* Most milliseconds away from "now": some 30 years. */
#define BY_MAX INT64_C(1000000000000)

bool kw_obj_field(struct kt_obj *obj, const char *name, int size, int64_t *v)
{
	int64_t min = size == 8 ? INT64_MIN : -((int64_t)1 << (8 * size - 1));
	int64_t max = size == 8 ? INT64_MAX : ((int64_t)1 << 8 * size) - 1;

	return kt_obj_int64(obj, name, min, max, v);
}

bool kw_obj_time(struct kw_building *building, struct kt_obj *obj, const char *name, int64_t *v)
{
	const char *text = json_string_value(kt_obj_any(obj, name));
	int64_t by = 0;

	if (!text)
		return kt_obj_int64(obj, name, INT64_MIN, INT64_MAX, v);
	if (strncmp(text, "now", 3) != 0 ||
	    (text[3] && (!strchr("+-", text[3]) || kt_parse_int(text + 3, -BY_MAX, BY_MAX, &by, NULL)))) {
		kt_obj_fail(obj, name, KT_ESYNTAX, "must be a number, \"now\", \"now+MS\" or \"now-MS\"");
		return false;
	}
	*v = building->now + by;
	return true;
}

void kw_obj_digits(struct kw_building *building, struct kt_obj *obj, const char *name, struct kw_bytes *out)
{
	const char *text = NULL;
	bool hex = strcmp(name, "hex") == 0;
	uint8_t *p;
	size_t n;
	long len;

	if (!kt_obj_str(obj, name, &text))
		return;
	n = strlen(text);
	p = n <= KW_JSON_MAX ? kw_alloc(building->arena, n + 3) : NULL;
	if (!p) {
		kt_obj_fail(obj, name, KT_ELIMIT, "too long");
		return;
	}
	len = hex ? kt_hex_decode(text, n, p) : kt_base64_decode(text, n, p);
	if (len < 0)
		kt_obj_fail(obj, name, KT_ESYNTAX, hex ? "must be an even number of hex digits" : "must be base64");
	else
		*out = (struct kw_bytes){p, (int32_t)len};
}

/* {"size": n}: n bytes 'x'. */
static void sized_bytes(struct kw_building *building, struct kt_obj *obj, struct kw_bytes *out)
{
	uint8_t *p;
	int n;

	if (!kt_obj_int(obj, "size", 0, KW_JSON_MAX, &n))
		return;
	p = kw_alloc(building->arena, (size_t)n);
	if (p)
		*out = (struct kw_bytes){memset(p, 'x', (size_t)n), n};
	else
		kt_obj_fail(obj, "size", KT_ENOMEM, "out of memory");
}

void kw_obj_bytes(struct kw_building *building, struct kt_obj *obj, const char *name, struct kw_bytes *out)
{
	json_t *json = kt_obj_any(obj, name);
	struct kt_obj sub;

	*out = (struct kw_bytes){NULL, -1};
	if (!json || json_is_null(json))
		return;
	if (json_is_string(json) && json_string_length(json) <= KW_JSON_MAX) {
		*out = (struct kw_bytes){(const uint8_t *)json_string_value(json), (int32_t)json_string_length(json)};
		return;
	}
	if (!json_is_object(json) || json_object_size(json) != 1) {
		kt_obj_fail(obj, name, KT_ETYPE, "must be a string or an object of \"hex\", \"base64\" or \"size\"");
		return;
	}
	kt_obj_object(obj, name, &sub);
	kw_obj_digits(building, &sub, "hex", out);
	kw_obj_digits(building, &sub, "base64", out);
	sized_bytes(building, &sub, out);
	kt_obj_done(&sub);
}

void kw_obj_full(struct kt_obj *obj, const char *name, const struct kw_buf *buf, const char *of)
{
	struct kt_err why = {0};

	kw_buf_fail(buf, &why, "more than %d bytes%s", KW_JSON_MAX, of);
	kt_obj_fail(obj, name, why.code, "%s", why.text);
}

void kw_obj_put_bytes(struct kw_building *building, struct kt_obj *obj, const char *name, struct kw_buf *out)
{
	struct kw_bytes bytes;

	kw_obj_bytes(building, obj, name, &bytes);
	if (bytes.n < 0)
		kt_obj_fail(obj, name, KT_ETYPE, "must not be null");
	else
		kw_put(out, bytes.p, (size_t)bytes.n);
	if (out->failed)
		kw_obj_full(obj, name, out, "");
}

void kw_obj_codec(struct kt_obj *obj, int *codec, struct kw_deflate_opts *opts)
{
	static const char *const checksums[] = {"right", "historic", NULL}, *const framings[] = {"xerial", "raw", NULL};
	const char *codecs[KW_ZSTD + 2] = {NULL};
	int historic = opts->lz4_historic, raw = opts->snappy_raw;

	for (int i = KW_NONE; i <= KW_ZSTD; i++)
		codecs[i] = kw_codec_name(i);
	kt_obj_enum(obj, "codec", codecs, codec);
	kt_obj_enum(obj, "lz4Checksum", checksums, &historic);
	kt_obj_enum(obj, "snappyFraming", framings, &raw);
	*opts = (struct kw_deflate_opts){.lz4_historic = historic, .snappy_raw = raw};
}

bool kw_obj_crc_is(struct kt_obj *obj, const char *word)
{
	const char *text = json_string_value(kt_obj_any(obj, "crc"));

	return text && strcmp(text, word) == 0;
}
