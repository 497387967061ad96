#include "lib/wire/tests/random_message.h"

#include <assert.h>

#include "lib/wire/plan.h"

struct filler {
	struct random_source *src;
	const struct kw_msg *msg;
	int version;
	struct kw_arena *arena;
};

uint32_t random_below(struct random_source *src, uint32_t n)
{
	src->state ^= src->state << 13;
	src->state ^= src->state >> 7;
	src->state ^= src->state << 17;
	return (uint32_t)(src->state >> 32) % n;
}

/* Often one of the values at which something changes. */
static int64_t random_number(struct random_source *src)
{
	static const int64_t edges[] = {0, 1, -1, INT8_MIN, INT8_MAX, INT16_MIN, INT16_MAX, INT32_MIN, INT32_MAX,
					INT64_MIN, INT64_MAX};

	if (random_below(src, 3) == 0)
		return edges[random_below(src, sizeof edges / sizeof edges[0])];
	return (int64_t)((uint64_t)random_below(src, UINT32_MAX) << 32 | random_below(src, UINT32_MAX));
}

static void *take(struct filler *fill, size_t n)
{
	void *p = kw_alloc(fill->arena, n);

	assert(p);
	return p;
}

static struct kw_str random_text(struct filler *fill)
{
	static const char *const characters[] = {"a", "B", "7", ".", "-", "_", " ", "\"", "\\", "/", "\n", "\x7f",
						 "\xc3\xa9", "\xe2\x82\xac", "\xef\xbf\xbf", "\xf0\x9f\x98\x80"};
	uint32_t n = random_below(fill->src, 10) == 0 ? 200 : random_below(fill->src, 12);
	char *text = take(fill, (size_t)n * 4 + 1);
	int32_t len = 0;

	for (; n > 0; n--) {
		const char *c = characters[random_below(fill->src, sizeof characters / sizeof characters[0])];

		for (; *c; c++)
			text[len++] = *c;
	}
	return (struct kw_str){text, len};
}

static struct kw_bytes random_bytes(struct filler *fill)
{
	uint32_t n = random_below(fill->src, 10) == 0 ? 300 : random_below(fill->src, 12);
	uint8_t *p = take(fill, n);

	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)random_below(fill->src, 256);
	return (struct kw_bytes){p, (int32_t)n};
}

static void fill_struct(struct filler *fill, const struct kw_struct *st, void *out);

static void fill_run(struct filler *fill, const struct kw_field *field, char *at)
{
	struct kw_bytes run = {NULL, -1};

	if (!kw_in(field->nullable, fill->version) || random_below(fill->src, 4) > 0) {
		if (field->type == KW_STRING) {
			*(struct kw_str *)(void *)at = random_text(fill);
			return;
		}
		run = random_bytes(fill);
	}
	if (field->type == KW_RECORDS)
		*(struct kw_records *)(void *)at = (struct kw_records){.p = run.p, .n = run.n};
	else
		*(struct kw_bytes *)(void *)at = run;
}

static void fill_value(struct filler *fill, const struct kw_field *field, char *at)
{
	int64_t number = random_number(fill->src);
	double real = (double)number / 8;

	switch ((enum kw_type)field->type) {
	case KW_BOOL: *(bool *)at = number & 1; break;
	case KW_INT8: *(int8_t *)at = (int8_t)number; break;
	case KW_INT16:
	case KW_UINT16: *(int16_t *)(void *)at = (int16_t)number; break;
	case KW_INT32:
	case KW_UINT32: *(int32_t *)(void *)at = (int32_t)number; break;
	case KW_INT64: *(int64_t *)(void *)at = number; break;
	case KW_FLOAT64: memcpy(at, &real, sizeof real); break;
	case KW_UUID:
		for (int i = 0; i < 16; i++)
			((uint8_t *)at)[i] = (uint8_t)random_below(fill->src, 256);
		break;
	case KW_STRING:
	case KW_BYTES:
	case KW_RECORDS: fill_run(fill, field, at); break;
	case KW_STRUCT: fill_struct(fill, field->sub, at); break;
	}
}

static void fill_array(struct filler *fill, const struct kw_field *field, bool null, struct kw_arr *arr)
{
	static const struct kw_range never = {0, -1};
	struct kw_field element = *field;
	uint32_t size = kw_type_size(field);

	element.nullable = never;
	arr->n = null ? -1 : (int32_t)random_below(fill->src, 3);
	arr->v = null ? NULL : take(fill, (size_t)arr->n * size);
	for (int32_t i = 0; i < arr->n; i++)
		fill_value(fill, &element, (char *)arr->v + (size_t)i * size);
}

static void fill_field(struct filler *fill, const struct kw_field *field, char *at)
{
	bool null = kw_in(field->nullable, fill->version) && random_below(fill->src, 4) == 0;

	if (field->flags & KW_F_ARRAY) {
		fill_array(fill, field, null, (struct kw_arr *)(void *)at);
	} else if (kw_is_pointer(field)) {
		void *sub = null ? NULL : take(fill, field->sub->size);

		*(void **)(void *)at = sub;
		if (sub)
			fill_struct(fill, field->sub, sub);
	} else {
		fill_value(fill, field, at);
	}
}

/* Above the known tags and those that a release may add; ascending, as an encoder has to write them. */
static void fill_tags(struct filler *fill, struct kw_tags *tags)
{
	uint32_t tag = 16;

	tags->v = take(fill, 2 * sizeof *tags->v);
	for (tags->n = 0; tags->n < 2 && random_below(fill->src, 6) == 0; tags->n++) {
		tag += random_below(fill->src, 200);
		tags->v[tags->n] = (struct kw_tag){tag++, random_bytes(fill)};
	}
}

static void fill_struct(struct filler *fill, const struct kw_struct *st, void *out)
{
	kw_set_defaults(st, out);
	for (uint32_t i = 0; i < st->nfields; i++) {
		const struct kw_field *field = &st->fields[i];
		bool tagged = kw_in(field->tagged, fill->version);

		if (kw_in(field->versions, fill->version) && !(tagged && random_below(fill->src, 3) == 0))
			fill_field(fill, field, (char *)out + field->offset);
	}
	if (fill->src->unknown_tags && kw_in(fill->msg->flexible, fill->version))
		fill_tags(fill, (struct kw_tags *)(void *)((char *)out + st->tags_offset));
}

void *random_message(struct random_source *src, const struct kw_msg *msg, int version, struct kw_arena *arena)
{
	struct filler fill = {src, msg, version, arena};
	void *out = take(&fill, msg->root->size);

	fill_struct(&fill, msg->root, out);
	return out;
}
