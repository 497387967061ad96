/* Produce 0 to 2: messages of magic 0 and 1, as Kafka up to 3.9 judged them (UnifiedLog.analyzeAndValidateRecords, then
 * LogValidator, which converted them to magic 2). */
#include "lib/wire/errors.h"
#include "lib/wire/next_batch.h"
#include "lib/wire/set.h"
#include "lib/wire/verdict_steps.h"

struct old {
	const struct kw_judge *judge;
	int first_magic;       /* -1 before the first */
	size_t n;	       /* entries */
	bool compressed;       /* one of them */
	bool keys, timestamps; /* records that are refused for these */
};

/* Size, CRC and codec of one entry. */
static bool judge_entry(struct old *old, const struct kw_entry *entry)
{
	const struct kw_judge *judge = old->judge;
	struct kw_batch batch = {.p = entry->p, .size = entry->size, .length = entry->length};

	if (entry->size > (size_t)judge->leader->conf->maxMessageBytes)
		return kw_refuse(judge, KW_R_TOO_LARGE, &batch, 0);
	if (kw_entry_check(entry, NULL))
		return kw_refuse(judge, KW_R_CRC, &batch, 0);
	if (!kw_codec_name(kw_entry_codec(entry)))
		return kw_refuse_with(judge, KW_R_CODEC, "Unknown compression type id");
	old->compressed = old->compressed || kw_entry_codec(entry) != KW_NONE;
	old->n++;
	return true;
}

static int judge_item(void *arg, int32_t index, const struct kw_item *item)
{
	struct old *old = arg;
	const struct kw_leader *leader = old->judge->leader;

	(void)index;
	if (leader->conf->compact && item->key.n < 0)
		old->keys = true;
	else if (!leader->conf->logAppendTime && item->timestamp != KW_NO_TIMESTAMP &&
		 kw_out_of_range(leader, item->timestamp))
		old->timestamps = true;
	return 0;
}

static bool judge_records(struct old *old, const struct kw_entry *entry)
{
	struct kw_walk_opts opts = kw_judge_walk_opts(old->judge->leader, false);
	struct kw_batch batch = {.p = entry->p, .size = entry->size};
	struct kt_err err = {0};
	enum kw_walk why;
	int code;

	opts.inner_magic = opts.inner_crc = true;
	if (old->first_magic < 0)
		old->first_magic = entry->magic;
	if (entry->magic != old->first_magic)
		return kw_refuse(old->judge, KW_R_MIXED_MAGIC, &batch, 0);
	if (kw_entry_walk(entry, &opts, judge_item, old, &why, &err) == 0)
		return true;
	code = kw_walk_code(why);
	return kw_refuse_batch(old->judge,
			       code == KW_ERR_CORRUPT_MESSAGE  ? KW_R_CRC
			       : code == KW_ERR_INVALID_RECORD ? KW_R_BAD_RECORD
							       : KW_R_UNREADABLE,
			       "%s", err.text);
}

static bool each(struct old *old, const struct kw_records *records,
		 bool (*fn)(struct old *old, const struct kw_entry *entry))
{
	struct kw_set set = {.p = records->p, .n = records->n > 0 ? (size_t)records->n : 0};
	struct kw_entry entry;

	while (kw_set_next(&set, &entry, NULL) > 0)
		if (!fn(old, &entry))
			return false;
	return true;
}

bool kw_verdict_old(const struct kw_leader *leader, const struct kw_records *records, struct kw_arena *arena,
		    struct kw_verdict *v)
{
	struct kw_judge judge = {leader, arena, v, records->n > 0 ? (size_t)records->n : 0};
	struct old old = {.judge = &judge, .first_magic = -1};
	struct kw_append_plan *plan;

	if (records->n > KW_E_MAGIC && records->p[KW_E_MAGIC] == 2)
		return kw_verdict_check(leader, records, arena, &plan, v);
	if (!each(&old, records, judge_entry))
		return false;
	if (old.n == 0)
		return kw_refuse_with(&judge, KW_R_NO_BATCH, "Record batch has no batches at all");
	if (old.compressed && old.n > 1)
		return kw_refuse_with(&judge, KW_R_SECOND_OUTER, "Compressed outer record has more than one batch");
	if (!each(&old, records, judge_records))
		return false;
	if (old.timestamps)
		return kw_refuse_with(&judge, KW_R_TIMESTAMPS,
				      "One or more records have been rejected due to invalid timestamp");
	return !old.keys || kw_refuse_with(&judge, KW_R_RECORDS, "Compacted topic cannot accept message without key");
}
