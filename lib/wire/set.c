#include "lib/wire/set.h"

#include "lib/wire/record_time.h"

/* Says of the entry at the set's place what is wrong with it. */
static int fail_entry(const struct kw_set *set, struct kt_err *err)
{
	struct kt_err fault = {0};
	struct kw_entry entry;
	int code = kw_entry_parse(set->p + set->at, set->n - set->at, &entry, &fault);

	return kw_fail_at(err, code, set->at + fault.offset, "%s", fault.text);
}

int kw_set_next(struct kw_set *set, struct kw_entry *entry, struct kt_err *err)
{
	size_t left = set->n - set->at;
	int code;

	*entry = (struct kw_entry){.at = set->at, .magic = -1};
	if (left == 0)
		return 0;
	code = kw_entry_parse(set->p + set->at, left, entry, NULL);
	entry->at = set->at;
	/* The magic of a cut entry is judged too, if it is there. */
	if (code != KT_ECORRUPT && left > KW_E_MAGIC && (entry->magic < 0 || entry->magic > 2))
		return kw_fail_at(err, KT_ECORRUPT, set->at + KW_E_MAGIC, "Invalid magic found in record: %d",
				  entry->magic);
	if (code)
		return fail_entry(set, err);
	set->at += entry->size;
	return 1;
}

int kw_entry_check(const struct kw_entry *entry, struct kt_err *err)
{
	size_t place = entry->magic < 2 ? KW_L_CRC : KW_B_CRC;
	uint32_t stored, computed;

	if (entry->magic == 2 && entry->size < KW_B_RECORDS)
		return kw_fail_at(err, KT_ECORRUPT, entry->at + KW_E_LENGTH,
				  "Record batch is corrupt (the size %zu is smaller than the minimum allowed overhead "
				  "%d)", entry->size, KW_B_RECORDS);
	stored = kw_rd32(entry->p + place);
	computed = entry->magic < 2 ? kw_legacy_crc(entry->p, entry->size) : kw_batch_crc(entry->p, entry->size);
	if (stored == computed)
		return 0;
	return kw_fail_at(err, KT_ECORRUPT, entry->at + place,
			  "Record is corrupt (stored crc = %u, computed crc = %u)", stored, computed);
}

int kw_entry_codec(const struct kw_entry *entry)
{
	return entry->p[entry->magic < 2 ? KW_L_ATTRIBUTES : KW_B_ATTRIBUTES + 1] & KW_A_CODEC;
}

struct visit {
	const struct kw_batch *batch;   /* of magic 2 */
	kw_item_fn *fn;
	void *arg;
};

static int visit_message(void *arg, int32_t index, const struct kw_legacy *message)
{
	const struct visit *visit = arg;
	struct kw_item item = {
		.offset = message->offset, .timestamp = message->timestamp, .timestampType = message->timestampType,
		.magic = message->magic, .attributes = message->attributes, .key = message->key,
		.value = message->value, .cut = message->cut, .at = message->at, .size = message->size,
	};

	return visit->fn(visit->arg, index, &item);
}

static int visit_record(void *arg, int32_t index, const struct kw_record *record)
{
	const struct visit *visit = arg;
	const struct kw_batch *batch = visit->batch;
	bool append_time = batch->attributes & KW_A_LOG_APPEND_TIME;
	struct kw_item item = {
		.offset = kw_record_offset(batch, record->offsetDelta),
		.timestamp = kw_record_time(batch, record),
		.timestampType = append_time ? KW_LOG_APPEND_TIME : KW_CREATE_TIME,
		.magic = 2, .attributes = record->attributes, .key = record->key, .value = record->value,
		.nheaders = record->nheaders, .headers = record->headers, .at = record->at, .size = record->size,
	};

	return visit->fn(visit->arg, index, &item);
}

/* Of a wrapper the value is needed, unless its codec is refused before that. */
static enum kw_fields fields_of(const struct kw_entry *entry, const struct kw_walk_opts *opts)
{
	int codec = kw_entry_codec(entry);

	if (codec == KW_ZSTD)
		return KW_FIELDS_TIMESTAMP;
	return codec != KW_NONE || !opts ? KW_FIELDS_ALL : opts->fields;
}

int kw_entry_walk(const struct kw_entry *entry, const struct kw_walk_opts *opts, kw_item_fn *fn, void *arg,
		  enum kw_walk *why, struct kt_err *err)
{
	struct kw_legacy message;
	struct kw_batch batch;
	struct visit visit = {&batch, fn, arg};
	int code;

	*why = KW_WALK_BEYOND;
	if (entry->magic < 2) {
		code = kw_legacy_parse_fields(entry->p, entry->size, fields_of(entry, opts), &message, err);
		return code ? code : kw_legacy_walk(&message, opts, fn ? visit_message : NULL, &visit, why, err);
	}
	code = kw_batch_parse(entry->p, entry->size, &batch, err);
	return code ? code : kw_batch_walk(&batch, opts, fn ? visit_record : NULL, &visit, why, err);
}
