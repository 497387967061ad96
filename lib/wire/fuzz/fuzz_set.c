/* A record set of any magics: read, checked, walked, judged as each release of Kafka would, and converted between
 * magics. A conversion that succeeds makes a set that can be read to its end, with right CRCs; a verdict names the rule
 * that is broken. */
#include "lib/text/fuzz/fuzz.h"
#include "lib/wire/convert.h"
#include "lib/wire/produce_release.h"
#include "lib/wire/set.h"
#include "lib/wire/verdict.h"

FUZZ_TARGET

enum { INFLATE_MAX = 1 << 20 };

static const struct kw_walk_opts opts = {.inflate_max = INFLATE_MAX};

/* Touches every byte that is shown. */
static int note(void *arg, int32_t index, const struct kw_item *item)
{
	int32_t *n = arg;
	struct kw_buf copy = {0};

	FUZZ_CHECK(index == (*n)++);
	if (item->key.n > 0)
		kw_put(&copy, item->key.p, (size_t)item->key.n);
	if (item->value.n > 0)
		kw_put(&copy, item->value.p, (size_t)item->value.n);
	for (int32_t i = 0; i < item->nheaders; i++)
		kw_put(&copy, item->headers[i].key.s, (size_t)item->headers[i].key.n);
	kw_buf_fini(&copy);
	return 0;
}

/* Number of entries; -1 if the set does not end well. */
static long read_set(const uint8_t *p, size_t n, bool made)
{
	struct kw_set set = {.p = p, .n = n};
	struct kw_entry entry;
	struct kt_err err = {0};
	long entries = 0;
	int code;

	while ((code = kw_set_next(&set, &entry, &err)) > 0) {
		struct kt_err fault = {0};
		enum kw_walk why;
		int32_t items = 0;

		FUZZ_CHECK(entry.size > 0 && entry.at + entry.size == set.at && set.at <= n);
		code = kw_entry_check(&entry, &fault);
		FUZZ_CHECK(code == fault.code && (!made || code == 0));
		fault = (struct kt_err){0};
		code = kw_entry_walk(&entry, &opts, note, &items, &why, &fault);
		FUZZ_CHECK((code == 0) == (why == KW_WALK_END) && why != KW_WALK_STOPPED);
		entries++;
	}
	FUZZ_CHECK(code == 0 || (err.code == code && err.text[0]));
	return code ? -1 : entries;
}

static void converted(int code, const struct kw_buf *out, const struct kt_err *err)
{
	FUZZ_CHECK(code == err->code && (code == 0 || out->n == 6));
	FUZZ_CHECK(memcmp(out->p, "before", 6) == 0);
	if (code == 0)
		FUZZ_CHECK(read_set(out->p + 6, out->n - 6, false) >= 0);
}

static void judge(const uint8_t *p, size_t n, const struct kw_release *release, struct kw_arena *arena)
{
	const struct kw_topic_conf conf = kw_release_conf(release);
	const struct kw_records records = {.p = p, .n = (int32_t)n};
	struct kw_meters meters = {0};
	const struct kw_leader leader = {
		.topic = "t", .conf = &conf, .now = 1000000, .inflate_max = INFLATE_MAX, .meters = &meters,
	};
	struct kw_append_plan *plan;
	struct kw_verdict v;
	bool whole = false, ok;

	kw_verdict_init(&v);
	if (release->minVersion < 3) {
		ok = kw_verdict_shape(release->minVersion, &records, arena, &v, &whole) &&
		     kw_verdict_old(&leader, &records, arena, &plan, &v);
		FUZZ_CHECK(ok == (v.errorCode == 0) && ok == (v.rule < 0));
		kw_verdict_init(&v);
	}
	ok = kw_verdict_shape(release->maxVersion, &records, arena, &v, &whole) &&
	     kw_verdict_check(&leader, &records, arena, &plan, &v);
	FUZZ_CHECK(ok == (v.errorCode == 0) && ok == (v.rule < 0));
	FUZZ_CHECK(ok || (v.errorCode == kw_rule_code((enum kw_rule)v.rule) && v.reason));
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct kw_arena arena;

	kw_arena_init(&arena, 0);
	read_set(p, n, false);
	for (size_t i = 0; i < kw_nreleases; i++)
		judge(p, n, &kw_releases[i], &arena);
	kw_arena_fini(&arena);
	for (int magic = 0; magic <= 2; magic++) {
		const struct kw_convert_up to = {.magic = magic, .codec = -1, .baseOffset = 5};
		struct kt_err err = {0};
		struct kw_buf out = {0};

		kw_put(&out, "before", 6);
		converted(kw_convert_down(p, n, magic, 1, &opts, &out, &err), &out, &err);
		if (magic > 0) {
			kw_buf_clear(&out);
			kw_put(&out, "before", 6);
			err = (struct kt_err){0};
			converted(kw_convert_up(p, n, &to, &opts, &out, &err), &out, &err);
			if (!err.code)
				FUZZ_CHECK(read_set(out.p + 6, out.n - 6, true) >= 0);
		}
		kw_buf_fini(&out);
	}
	return 0;
}
