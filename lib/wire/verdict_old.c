/* Produce 0 to 2: messages of magic 0 and 1, as Kafka up to 3.9 judged them and converted them to magic 2
 * (UnifiedLog.analyzeAndValidateRecords, LogValidator). */
#include "lib/wire/convert.h"
#include "lib/wire/errors.h"
#include "lib/wire/verdict_steps.h"

struct old {
	const struct kw_judge *judge;
	int first_magic;       /* -1 before the first */
	bool same_magic;       /* in all */
	size_t n;	       /* entries */
	int codec;	       /* of the last that has one */
	/* Of the entry that is judged: its records that are refused, some of them for their timestamps. */
	int32_t refused;
	bool timestamps;
	const struct kw_entry *entry;
	struct kw_records_facts facts;
	int32_t records;       /* of all entries so far */
};

/* Size, CRC and codec of one entry. */
static bool judge_entry(struct old *old, const struct kw_entry *entry)
{
	const struct kw_judge *judge = old->judge;
	struct kw_batch batch = {.p = entry->p, .size = entry->size, .length = entry->length,
				 .baseOffset = entry->offset, .magic = entry->magic};

	if (entry->magic == 2 && entry->offset != 0)
		return kw_refuse(judge, KW_R_BASE_OFFSET, &batch, 0);
	if (entry->size > (size_t)judge->leader->conf->maxMessageBytes)
		return kw_refuse(judge, KW_R_TOO_LARGE, &batch, 0);
	if (kw_entry_check(entry, NULL))
		return kw_refuse(judge, KW_R_CRC, &batch, 0);
	if (!kw_codec_name(kw_entry_codec(entry)))
		return kw_refuse_with(judge, KW_R_CODEC, "Unknown compression type id");
	if (kw_entry_codec(entry) != KW_NONE)
		old->codec = kw_entry_codec(entry);
	if (old->n++ == 0)
		old->first_magic = entry->magic;
	old->same_magic = old->same_magic && entry->magic == old->first_magic;
	return true;
}

static void note_time(struct old *old, int64_t timestamp)
{
	struct kw_records_facts *facts = &old->facts;

	if (timestamp < facts->maxTimestamp || (timestamp == facts->maxTimestamp && facts->hasMax))
		return;
	facts->maxTimestamp = timestamp;
	facts->hasMax = true;
	facts->indexOfMax = old->records;
}

static bool validate(const struct old *old, int32_t index, const struct kw_item *item, bool *timestamp)
{
	const struct kw_leader *leader = old->judge->leader;
	const struct kw_batch batch = {.attributes = (int16_t)kw_entry_codec(old->entry), .magic = old->entry->magic};
	const struct kw_record record = {.timestampDelta = item->timestamp, .key = item->key, .value = item->value};
	const char *text;
	int16_t code = 0;

	if (!leader->validate || leader->validate(leader->validate_arg, &batch, index, &record, &code, &text))
		return true;
	*timestamp = code == KW_ERR_INVALID_TIMESTAMP;
	return false;
}

/* LogValidator.validateRecord. Some of its messages show the whole record, where it fails if that is cut. */
static int judge_item(void *arg, int32_t index, const struct kw_item *item)
{
	struct old *old = arg;
	const struct kw_leader *leader = old->judge->leader;
	bool timestamp = false, good = true, shown = false;

	note_time(old, item->timestamp);
	old->records++;
	if (item->magic != old->entry->magic) {
		leader->meters->invalidMagicNumberRecords++;
		good = false;
		shown = true;
	} else if (leader->conf->compact && item->key.n < 0) {
		leader->meters->noKeyCompactedTopicRecords++;
		good = false;
	} else if (!leader->conf->logAppendTime && item->timestamp != KW_NO_TIMESTAMP) {
		good = !kw_out_of_range(leader, item->timestamp);
		timestamp = !good;
	} else if (item->timestampType == KW_LOG_APPEND_TIME) {
		good = false;
		timestamp = shown = true;
	}
	if (shown && item->cut)
		return 1;
	if (good)
		good = validate(old, index, item, &timestamp);
	old->refused += !good;
	old->timestamps = old->timestamps || timestamp;
	return 0;
}

/* Walks over the records; what cannot be read is refused. */
static bool walk(struct old *old, const struct kw_entry *entry, const struct kw_walk_opts *opts, kw_item_fn *fn)
{
	struct kt_err err = {0};
	enum kw_walk why;
	int code;

	if (kw_entry_walk(entry, opts, fn, old, &why, &err) == 0)
		return true;
	code = kw_walk_code(why);
	return kw_refuse_batch(old->judge,
			       code == KW_ERR_CORRUPT_MESSAGE  ? KW_R_CRC
			       : code == KW_ERR_INVALID_RECORD ? KW_R_BAD_RECORD
							       : KW_R_UNREADABLE,
			       "%s", err.text);
}

/* What is converted without any codec has its size estimated first, by the keys and values of all entries. */
static bool estimate(struct old *old, const struct kw_entry *entry)
{
	struct kw_walk_opts opts = kw_judge_walk_opts(old->judge->leader, false);

	return walk(old, entry, &opts, NULL);
}

/* An uncompressed message is a batch of its own: the first one that is refused decides. Keys and values are not looked
 * at until all of them are encoded anew, but by validators, and by compaction, which needs to know whether there is a
 * key. */
static bool judge_records(struct old *old, const struct kw_entry *entry)
{
	const struct kw_leader *leader = old->judge->leader;
	struct kw_walk_opts opts = kw_judge_walk_opts(leader, false);
	struct kw_batch batch = {.p = entry->p, .size = entry->size, .magic = entry->magic};

	opts.inner_crc = true;
	opts.fields = leader->validate        ? KW_FIELDS_ALL
		      : leader->conf->compact ? KW_FIELDS_KEY_LENGTH
					      : KW_FIELDS_TIMESTAMP;
	old->entry = entry;
	if (entry->magic != old->first_magic)
		return kw_refuse(old->judge, KW_R_MIXED_MAGIC, &batch, 0);
	if (!walk(old, entry, &opts, judge_item))
		return false;
	if (old->timestamps)
		return kw_refuse(old->judge, KW_R_TIMESTAMPS, &batch, 0);
	return old->refused == 0 ||
	       kw_refuse_batch(old->judge, KW_R_RECORDS,
			       "One or more records have been rejected due to %d record errors in total", old->refused);
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

/* ---- what is stored ---- */

/* A batch that was built as the leader stores it. */
static bool plan_built(const struct old *old, const struct kw_buf *built, struct kw_append_plan *plan)
{
	const struct kw_judge *judge = old->judge;
	bool logAppendTime = judge->leader->conf->logAppendTime;
	uint8_t *p;

	if (built->n > (size_t)judge->leader->conf->maxMessageBytes)
		return kw_refuse(judge, KW_R_REBUILT_TOO_LARGE, NULL, built->n);
	p = kw_alloc(judge->arena, built->n);
	if (!p)
		return kw_refuse_no_memory(judge);
	memcpy(p, built->p, built->n);
	memcpy(plan->header, p, KW_B_RECORDS);
	kw_batch_parse(p, built->n, &plan->batch, NULL);
	plan->body = (struct kw_slice){p + KW_B_RECORDS, built->n - KW_B_RECORDS};
	plan->rebuilt = true;
	plan->hasMax = old->facts.hasMax || logAppendTime;
	plan->deltaOfMax = logAppendTime ? 0 : old->facts.indexOfMax;
	return kw_check_segment(judge, plan);
}

static bool convert(const struct old *old, const struct kw_records *records, struct kw_append_plan **plan)
{
	const struct kw_judge *judge = old->judge;
	const struct kw_leader *leader = judge->leader;
	struct kw_walk_opts opts = kw_judge_walk_opts(leader, false);
	const struct kw_convert_up to = {
		.magic = 2, .codec = leader->conf->compression, .now = leader->now,
		.timestampType = leader->conf->logAppendTime ? KW_LOG_APPEND_TIME : KW_CREATE_TIME,
	};
	struct kt_err err = {0};
	struct kw_buf built;
	bool good;
	int code;

	*plan = kw_alloc(judge->arena, sizeof **plan);
	if (!*plan)
		return kw_refuse_no_memory(judge);
	kw_buf_init(&built, 0);
	code = kw_convert_up(records->p, (size_t)records->n, &to, &opts, &built, &err);
	if (code == KT_ENOMEM || code == KT_ELIMIT)
		good = kw_refuse_no_memory(judge);
	else if (code)
		good = kw_refuse_batch(judge, KW_R_NOT_REBUILT, "%s", err.text);
	else
		good = plan_built(old, &built, *plan);
	kw_buf_fini(&built);
	return good;
}

/* Is some entry older than magic 2, and is there no codec, neither theirs nor the topic's? */
static bool is_converted_plain(const struct old *old)
{
	bool is_old = old->first_magic < 2 || !old->same_magic;

	return is_old && old->codec == KW_NONE && old->judge->leader->conf->compression <= KW_NONE;
}

bool kw_verdict_old(const struct kw_leader *leader, const struct kw_records *records, struct kw_arena *arena,
		    struct kw_append_plan **plan, struct kw_verdict *v)
{
	struct kw_judge judge = {leader, arena, v, records->n > 0 ? (size_t)records->n : 0};
	struct old old = {.judge = &judge, .first_magic = -1, .same_magic = true,
			  .facts = {.maxTimestamp = KW_NO_TIMESTAMP}};

	if (!each(&old, records, judge_entry))
		return false;
	*plan = NULL;
	if (old.n == 0)
		return true;
	if (is_converted_plain(&old) && !each(&old, records, estimate))
		return false;
	if (old.n > 1 && (old.first_magic == 2 || old.codec != KW_NONE))
		return kw_refuse_with(&judge, KW_R_SECOND_OUTER, "Compressed outer record has more than one batch");
	if (old.first_magic == 2)
		return kw_verdict_check(leader, records, arena, plan, v);
	if (!each(&old, records, judge_records))
		return false;
	v->records = old.records;
	v->codec = old.codec;
	return convert(&old, records, plan);
}
