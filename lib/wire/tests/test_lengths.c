/* Every length of every message and version set to hostile values: the decoder makes of them what Kafka does, or names
 * the field and the offset of the fault; it reads no byte too many and takes no more memory than the input is worth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/wire/plan.h"
#include "lib/wire/tests/length_sites.h"
#include "lib/wire/tests/random_message.h"

enum { SAMPLES = 3 };

static struct random_source source = {.state = 88172645463325252u, .unknown_tags = true};
static size_t lies, refused, most_per_byte;

/* One message and one of its lengths. */
struct lie {
	const struct kw_msg *msg;
	int version;
	const uint8_t *whole;    /* the truth */
	size_t whole_n;
	const struct length_site *site;
	int64_t value;
};

static void fail_lie(const struct lie *lie, const struct kt_err *err, const char *what)
{
	char line[1200];

	fail_msg("%s v%d, %s (kind %d) at byte %zu set to %lld: %s; %s", lie->msg->name, lie->version, lie->site->path,
		 lie->site->kind, lie->site->at, (long long)lie->value, what, kt_err_line(err, line, sizeof line));
}

/* Decodes and checks what holds of any input. */
static int decode(const struct lie *lie, const uint8_t *p, size_t n, struct kw_arena *arena, void **out,
		  struct kt_err *err)
{
	size_t used = 0, before = arena->used, per_byte;
	int code;

	*err = (struct kt_err){0};
	code = kw_decode(lie->msg, lie->version, p, n, arena, out, &used, err);
	per_byte = (arena->used - before - ((lie->msg->root->size + 15) & ~15u) + n) / (n + 1);
	if (per_byte > most_per_byte)
		most_per_byte = per_byte;
	if (per_byte > KW_DECODE_PER_BYTE)
		fail_lie(lie, err, "takes too much memory");
	lies++;
	refused += code != 0;
	if (code == 0 && used > n)
		fail_lie(lie, err, "reads too much");
	if (code != 0 && (code != err->code || !err->has_offset || err->offset > n || !err->text[0]))
		fail_lie(lie, err, "has no clean error");
	return code;
}

/* ---- the content stays: faults that are certain ---- */

static void expect(const struct lie *lie, int code, int wanted, size_t offset, const struct kt_err *err)
{
	if (code != wanted || strcmp(err->path, lie->site->path) != 0 || err->offset != offset)
		fail_lie(lie, err, "is not refused as it should be");
}

static void check_fault(const struct lie *lie, int code, size_t prefix_end, size_t left, const struct kt_err *err)
{
	const struct length_site *site = lie->site;
	int64_t v = lie->value, most = (int64_t)left;

	switch (site->kind) {
	case LENGTH_STRING:
	case LENGTH_BYTES:
	case LENGTH_RECORDS:
		if (v < 0 && !site->nullable)
			expect(lie, code, KT_ECORRUPT, prefix_end, err);
		else if (v > most)
			expect(lie, code, KT_ETRUNC, prefix_end, err);
		break;
	case LENGTH_ARRAY:
		if ((v < 0 && !site->nullable) || v > most)
			expect(lie, code, KT_ECORRUPT, prefix_end, err);
		break;
	case LENGTH_TAG_COUNT:
		if (v < 0 || v > most)
			expect(lie, code, KT_ECORRUPT, prefix_end, err);
		break;
	case LENGTH_TAG_SIZE:
		if (v < 0 || v > most)
			expect(lie, code, KT_ETRUNC, prefix_end, err);
		break;
	case LENGTH_KNOWN_SIZE:   /* Kafka does not look at it */
		if (code)
			fail_lie(lie, err, "matters");
		break;
	case LENGTH_PRESENCE:
		break;
	}
}

/* ---- the content goes: null and empty ---- */

/* The value at a path like "topicData[0].name"; NULL where a member is left out, being a tagged one at its default. */
static json_t *value_at(json_t *json, const char *path)
{
	while (json && *path) {
		size_t n = strcspn(path, ".[");

		json = n ? json_object_getn(json, path, n) : json;
		path += n;
		while (*path == '[') {
			json = json_array_get(json, strtoul(path + 1, NULL, 10));
			path += strcspn(path, "]") + 1;
		}
		path += *path == '.';
	}
	return json;
}

static void check_value(const struct lie *lie, const void *out)
{
	const struct length_site *site = lie->site;
	struct kt_err err = {0};
	json_t *json = kw_to_json(lie->msg, lie->version, out, &err), *value;
	bool right;

	assert_non_null(json);
	value = value_at(json, site->path);
	if (!value)
		right = site->tagged;
	else if (lie->value < 0 || site->kind == LENGTH_PRESENCE)
		right = json_is_null(value);
	else if (site->kind == LENGTH_ARRAY)
		right = json_is_array(value) && json_array_size(value) == 0;
	else
		right = json_is_string(value) && json_string_length(value) == 0;
	if (!right)
		fail_lie(lie, &err, "is not read as null or empty");
	json_decref(json);
}

/* Is the message whole without what the number counts? */
static bool can_do_without(const struct lie *lie)
{
	switch (lie->site->kind) {
	case LENGTH_PRESENCE: return lie->value < 0 || (lie->site->width == 0 && lie->value == 0);
	case LENGTH_KNOWN_SIZE: return false;
	case LENGTH_TAG_COUNT:
	case LENGTH_TAG_SIZE: return lie->value == 0;
	default: return lie->value == 0 || (lie->value < 0 && lie->site->nullable);
	}
}

static void check_dropped(const struct lie *lie, struct kw_arena *arena)
{
	size_t n, prefix_end;
	uint8_t *p = length_site_edit(lie->site, lie->whole, lie->whole_n, lie->value, true, &n, &prefix_end);
	struct kt_err err;
	void *out;

	if (decode(lie, p, n, arena, &out, &err))
		fail_lie(lie, &err, "is refused");
	if (lie->site->kind != LENGTH_TAG_COUNT && lie->site->kind != LENGTH_TAG_SIZE)
		check_value(lie, out);
	free(p);
}

/* ---- all of them ---- */

static void tell(struct lie *lie, int64_t value, struct kw_arena *arena)
{
	size_t n, prefix_end;
	struct kt_err err;
	uint8_t *p;
	void *out;
	int code;

	lie->value = value;
	p = length_site_edit(lie->site, lie->whole, lie->whole_n, value, false, &n, &prefix_end);
	code = decode(lie, p, n, arena, &out, &err);
	check_fault(lie, code, prefix_end, n - prefix_end, &err);
	free(p);
	if (can_do_without(lie))
		check_dropped(lie, arena);
	kw_arena_reset(arena);
}

/* An unsigned varint whose fifth byte says that there is a sixth. */
static void tell_overlong(struct lie *lie, struct kw_arena *arena)
{
	const struct length_site *site = lie->site;
	size_t n = site->at + 6 + lie->whole_n - site->end;
	uint8_t *p = malloc(n);
	struct kt_err err;
	void *out;

	assert_non_null(p);
	memcpy(p, lie->whole, site->at);
	memcpy(p + site->at, "\x81\x80\x80\x80\x80\x01", 6);
	memcpy(p + site->at + 6, lie->whole + site->end, lie->whole_n - site->end);
	lie->value = 0;
	expect(lie, decode(lie, p, n, arena, &out, &err), KT_ECORRUPT, site->at, &err);
	free(p);
	kw_arena_reset(arena);
}

static void tell_all(struct lie *lie, struct kw_arena *arena)
{
	static const int64_t largest[] = {[0] = INT32_MAX, [1] = INT8_MAX, [2] = INT16_MAX, [4] = INT32_MAX};
	int64_t most = largest[lie->site->width], left = (int64_t)(lie->whole_n - lie->site->end);

	for (int64_t value = -2; value <= 1; value++)
		tell(lie, value, arena);
	for (int64_t value = left - 1; value <= left + 1; value++)
		if (value >= 0 && value <= most)
			tell(lie, value, arena);
	for (int64_t part = 2; part < 100; part *= 2)   /* counts that pass, as an element takes that many bytes */
		if (left / part <= most)
			tell(lie, left / part, arena);
	tell(lie, most, arena);
	if (lie->site->width == 0)
		tell_overlong(lie, arena);
	else if (lie->site->width == 4)
		tell(lie, INT32_MIN, arena);
}

/* pad: that many zeros behind the message, for which there is room in counts. */
static void lie_about_all_lengths(const struct kw_msg *msg, int version, size_t pad, size_t kinds[])
{
	struct kw_arena arena, scratch;
	struct kw_buf buf = {0};
	struct length_sites sites;
	struct lie lie = {msg, version, NULL, 0, NULL, 0};

	kw_arena_init(&arena, 0);
	kw_arena_init(&scratch, 0);
	length_sites_find(&sites, msg, version, random_message(&source, msg, version, &arena), &buf, &arena);
	if (pad)
		memset(kw_buf_room(&buf, pad), 0, pad);
	lie.whole = buf.p;
	lie.whole_n = buf.n + pad;
	for (size_t i = 0; i < sites.n; i++) {
		lie.site = &sites.v[i];
		kinds[lie.site->kind]++;
		tell_all(&lie, &scratch);
	}
	kw_buf_fini(&buf);
	kw_arena_fini(&scratch);
	kw_arena_fini(&arena);
}

static void hostile_lengths_are_read_as_kafka_reads_them_or_refused(void **state)
{
	size_t kinds[LENGTH_KNOWN_SIZE + 1] = {0};

	(void)state;
	for (size_t i = 0; i < kw_msg_count(); i++) {
		const struct kw_msg *msg = kw_msg_at(i);

		for (int version = msg->versions.min; version <= msg->versions.max; version++)
			for (int sample = 0; sample < SAMPLES; sample++)
				lie_about_all_lengths(msg, version, sample % 2 ? 4096 : 0, kinds);
	}
	for (int kind = 0; kind <= LENGTH_KNOWN_SIZE; kind++)
		assert_true(kinds[kind] > 10);
	print_message("%zu lies, %zu refused; at most %zu bytes of memory for a byte of input\n", lies, refused,
		      most_per_byte);
}

/* ---- the bound on memory, from the schemas ---- */

/* What an array of least elements, or a nullable struct, can take for a byte of input; allocations are rounded up to 16
 * bytes, and an empty array takes as much. */
static double claim_of_field(const struct kw_op *op)
{
	double size = op->elem_size, least = op->elem_min;

	if (op->array)
		return size / least + 16 / (op->compact ? 1.0 : 4.0);
	return kw_is_pointer(op->field) ? (size + 16) / (1 + least) : 0;
}

static double claim_of_struct(const struct kw_plan *plan)
{
	double most = 0, tags = plan->flexible ? sizeof(struct kw_tag) / 2.0 : 0;

	for (uint32_t i = 0; i < plan->nops + plan->ntagged; i++) {
		const struct kw_op *op = i < plan->nops ? &plan->ops[i] : &plan->tagged[i - plan->nops];
		double claim = claim_of_field(op) + (op->sub ? claim_of_struct(op->sub) : 0);

		if (claim > most)
			most = claim;
	}
	return most + tags;
}

static void no_message_can_claim_more_than_stated(void **state)
{
	double most = 0;

	(void)state;
	for (size_t i = 0; i < kw_msg_count(); i++) {
		const struct kw_msg *msg = kw_msg_at(i);

		for (int version = msg->versions.min; version <= msg->versions.max; version++) {
			double claim = claim_of_struct(kw_plan_get(msg, version, NULL));

			if (claim > most)
				most = claim;
		}
	}
	print_message("at most %.0f bytes of memory for a byte of input\n", most);
	assert_true(most <= KW_DECODE_PER_BYTE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_message_can_claim_more_than_stated),
		cmocka_unit_test(hostile_lengths_are_read_as_kafka_reads_them_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
