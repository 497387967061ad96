/* Batches and messages, and their records. */
#include <inttypes.h>
#include <time.h>

#include "conformance/inspect/inspect.h"
#include "lib/wire/control.h"
#include "lib/wire/errors.h"
#include "lib/wire/map.h"
#include "lib/wire/record_time.h"
#include "lib/wire/varint.h"

enum { FAULTS_MAX = 16, PROGRESS_STEP = 16 << 20 };

/* One entry while it is shown. */
struct entry {
	struct cf_inspector *inspector;
	const struct kw_slice *bytes;
	const uint8_t *end;              /* of the set */
	struct kw_entry entry;           /* at counts in bytes */
	struct kw_batch batch;           /* of magic 2 */
	struct kw_fault faults[FAULTS_MAX];
	size_t nfaults;
	struct kw_buf inflated;
	size_t number;
};

/* ---- words ---- */

static void time_text(int64_t ms, char *out, size_t size)
{
	if (ms == KW_NO_TIMESTAMP)
		snprintf(out, size, "none");
	else
		cf_time_text(ms, 1000, out, size);
}

static const char *codec_text(int codec)
{
	const char *name = kw_codec_name(codec);

	return name ? name : "no codec";
}

static void attributes_text(int attributes, char *out, size_t size)
{
	int known = KW_A_CODEC | KW_A_LOG_APPEND_TIME | KW_A_TRANSACTIONAL | KW_A_CONTROL | KW_A_DELETE_HORIZON;

	snprintf(out, size, "0x%04x  %s, %s%s%s%s%s", attributes & 0xffff, codec_text(attributes & KW_A_CODEC),
		 attributes & KW_A_LOG_APPEND_TIME ? "LogAppendTime" : "CreateTime",
		 attributes & KW_A_TRANSACTIONAL ? ", transactional" : "", attributes & KW_A_CONTROL ? ", control" : "",
		 attributes & KW_A_DELETE_HORIZON ? ", delete horizon" : "",
		 attributes & ~known ? ", unused bits" : "");
}

/* ---- faults ---- */

void cf_inspect_fault(struct cf_inspector *inspector, const struct cf_place *place, const struct kw_slice *bytes,
		      const char *where, const char *text, int code)
{
	char sentence[400];

	snprintf(sentence, sizeof sentence, "byte %zu%s%s%s: %s", place->at,
		 place->inflated ? " of the inflated records" : "", *where ? " of " : "", where, text);
	if (inspector->faults++ == 0)
		snprintf(inspector->first, sizeof inspector->first, "%s", sentence);
	cf_tree_fault(&inspector->tree, place, bytes, sentence, code);
}

/* A varint is wrong as a whole. */
static size_t varint_size(const struct kw_slice *bytes, size_t at)
{
	size_t n = 1;

	while (at + n < bytes->n && bytes->p[at + n - 1] >= 0x80 && n < KW_VARLONG_MAX)
		n++;
	return n;
}

/* Up to version 2 a Produce request has messages of magic 0 and 1, and as many as it likes. */
static bool takes_messages(const struct entry *entry)
{
	return entry->entry.magic < 2 && entry->inspector->in_produce && entry->inspector->version < 3;
}

static int keep_fault(void *arg, const struct kw_fault *fault)
{
	struct entry *entry = arg;

	if (fault->rule == KW_R_OLD_MAGIC && takes_messages(entry))
		return 0;
	if (entry->nfaults < FAULTS_MAX)
		entry->faults[entry->nfaults++] = *fault;
	return 0;
}

static bool overlaps(size_t at, size_t size, const struct kw_fault *fault)
{
	return fault->at < at + size && at < fault->at + (fault->size ? fault->size : 1);
}

/* Is a field at that place of the entry, or of its inflated records, wrong? A CRC that fails does not make it so. */
static bool is_wrong(const struct entry *entry, size_t at, size_t size, bool inflated)
{
	for (size_t i = 0; i < entry->nfaults; i++)
		if (entry->faults[i].inflated == inflated && overlaps(at, size, &entry->faults[i]))
			return true;
	return false;
}

/* The sentence counts bytes in the batch; the dump beside it counts in the file. */
static void show_fault(struct entry *entry, const struct kw_fault *fault)
{
	struct cf_inspector *inspector = entry->inspector;
	struct kw_slice inflated = {entry->inflated.p, entry->inflated.n};
	struct cf_place place = {fault->at, fault->size, fault->inflated, false};
	char sentence[400], in_file[60] = "";

	if (!fault->inflated && entry->entry.at > 0)
		snprintf(in_file, sizeof in_file, " (byte %zu of all)", entry->entry.at + fault->at);
	snprintf(sentence, sizeof sentence, "byte %zu of %sbatch %zu%s: %s", fault->at,
		 fault->inflated ? "the inflated records of " : "", entry->number, in_file, fault->text);
	if (inspector->faults++ == 0)
		snprintf(inspector->first, sizeof inspector->first, "%s", sentence);
	if (!fault->inflated)
		place.at += entry->entry.at;
	if (place.size == 1 && (fault->inflated || fault->at >= KW_B_RECORDS) && entry->entry.magic == 2)
		place.size = varint_size(fault->inflated ? &inflated : entry->bytes, place.at);
	cf_tree_fault(&inspector->tree, &place, fault->inflated ? &inflated : entry->bytes, sentence, fault->code);
}

/* What is broken tells more than that the CRC does not fit, and bytes in front more than those behind. */
static const struct kw_fault *next_fault(const struct entry *entry, bool shown[FAULTS_MAX], size_t *index)
{
	const struct kw_fault *best = NULL;

	for (size_t i = 0; i < entry->nfaults; i++) {
		const struct kw_fault *fault = &entry->faults[i];
		bool crc = fault->rule == KW_R_CRC;

		if (shown[i] || (best && (crc || (best->rule != KW_R_CRC && fault->inflated >= best->inflated &&
						  (fault->inflated > best->inflated || fault->at >= best->at)))))
			continue;
		best = fault;
		*index = i;
	}
	return best;
}

static void show_faults(struct entry *entry)
{
	bool shown[FAULTS_MAX] = {false};
	const struct kw_fault *fault;
	size_t i = 0;

	while ((fault = next_fault(entry, shown, &i))) {
		shown[i] = true;
		show_fault(entry, fault);
	}
}

/* A producer's record set is answered as a whole, so that what follows its first batch counts; a stored batch is judged
 * as if it were sent alone. */
static void show_verdict(struct entry *entry)
{
	struct cf_inspector *inspector = entry->inspector;
	struct kw_slice batches = {entry->entry.p, entry->entry.size};
	struct cf_place place = {entry->entry.at, entry->entry.size, false, false};
	char where[40], why[300];
	int code;

	if (!inspector->asked || (inspector->role == KW_STORED && !inspector->asked->detailed))
		return;
	if (inspector->role == KW_PRODUCED && entry->number > 0)
		return;
	if (inspector->role == KW_PRODUCED)
		batches.n = (size_t)(entry->end - entry->entry.p);
	code = cf_inspect_answer(inspector, &batches, entry->entry.magic, why, sizeof why);
	if (!code || inspector->role == KW_STORED || entry->nfaults)
		return;
	/* The bytes are right, but not for this topic now. */
	snprintf(where, sizeof where, "batch %zu", entry->number);
	cf_inspect_fault(inspector, &place, NULL, where, why, code);
}

/* ---- fields ---- */

static void leaf(struct entry *entry, const char *name, size_t at, size_t size, int64_t value, const char *text)
{
	struct cf_place place = {entry->entry.at + at, size, false, false};

	cf_tree_leaf(&entry->inspector->tree, &place, name, json_integer(value), text,
		     is_wrong(entry, at, size, false));
}

static void time_leaf(struct entry *entry, const char *name, size_t at, int64_t value)
{
	char time[60], text[100];

	time_text(value, time, sizeof time);
	snprintf(text, sizeof text, "%" PRId64 "  %s", value, time);
	leaf(entry, name, at, 8, value, text);
}

static void crc_leaf(struct entry *entry, size_t at, uint32_t stored, uint32_t computed)
{
	char text[60];

	if (stored == computed)
		snprintf(text, sizeof text, "%08x  right", stored);
	else
		snprintf(text, sizeof text, "%08x  computed: %08x", stored, computed);
	leaf(entry, "crc", at, 4, stored, text);
}

static void show_header(struct entry *entry)
{
	const struct kw_batch *batch = &entry->batch;
	char attributes[120];

	attributes_text(batch->attributes, attributes, sizeof attributes);
	leaf(entry, "baseOffset", KW_B_BASE_OFFSET, 8, batch->baseOffset, NULL);
	leaf(entry, "length", KW_B_LENGTH, 4, batch->length, NULL);
	leaf(entry, "partitionLeaderEpoch", KW_B_LEADER_EPOCH, 4, batch->partitionLeaderEpoch, NULL);
	leaf(entry, "magic", KW_B_MAGIC, 1, batch->magic, NULL);
	crc_leaf(entry, KW_B_CRC, batch->crc, kw_batch_crc(batch->p, batch->size));
	leaf(entry, "attributes", KW_B_ATTRIBUTES, 2, batch->attributes, attributes);
	leaf(entry, "lastOffsetDelta", KW_B_LAST_OFFSET_DELTA, 4, batch->lastOffsetDelta, NULL);
	time_leaf(entry, batch->attributes & KW_A_DELETE_HORIZON ? "deleteHorizon" : "baseTimestamp",
		  KW_B_BASE_TIMESTAMP, batch->baseTimestamp);
	time_leaf(entry, "maxTimestamp", KW_B_MAX_TIMESTAMP, batch->maxTimestamp);
	leaf(entry, "producerId", KW_B_PRODUCER_ID, 8, batch->producerId, NULL);
	leaf(entry, "producerEpoch", KW_B_PRODUCER_EPOCH, 2, batch->producerEpoch, NULL);
	leaf(entry, "baseSequence", KW_B_BASE_SEQUENCE, 4, batch->baseSequence, NULL);
	leaf(entry, "count", KW_B_COUNT, 4, batch->count, NULL);
}

/* ---- records ---- */

/* A records area: where it lies, and where its places count from. */
struct area {
	const uint8_t *p;
	size_t n, at;                    /* at: of p, in what places count in */
	size_t in_entry;                 /* of p, in the entry; 0 if inflated */
	bool inflated;
};

static int64_t number_of(const struct kw_map *map, const char *path)
{
	const struct kw_span *span = kw_map_find(map, path);
	int64_t v = 0;

	if (span && kw_get_varlong(map->base + span->start, map->base + span->end, &v) <= 0)
		v = 0;
	return v;
}

/* Does the record end where its length says? */
static bool is_whole(const struct kw_map *map)
{
	const struct kw_span *span = &map->v[0];
	int64_t length = -1;

	kw_get_varlong(map->base + span->len_at, map->base + span->len_end, &length);
	return length == (int64_t)(span->end - span->len_end);
}

static struct kw_bytes bytes_of(const struct kw_map *map, const struct kw_span *span)
{
	bool null = span->end == span->len_end && span->len_at < span->len_end && (map->base[span->len_at] & 1);

	return (struct kw_bytes){map->base + span->len_end, null ? -1 : (int32_t)(span->end - span->len_end)};
}

static void bytes_leaf(struct entry *entry, const struct area *area, const struct kw_map *map,
		       const struct kw_span *span, const char *name)
{
	struct cf_place place = {area->at + span->start, span->end - span->start, area->inflated, false};

	cf_tree_bytes(&entry->inspector->tree, &place, name, bytes_of(map, span),
		      is_wrong(entry, area->in_entry + span->start, place.size, area->inflated));
}

/* What a control record says: "COMMIT {"coordinatorEpoch": 0}". */
static void control_leaf(struct entry *entry, const struct kw_map *map, const struct kw_span *key,
			 const struct kw_span *value)
{
	struct cf_place nowhere = {.none = true};
	const struct kw_msg *msg;
	struct kw_arena arena;
	json_t *json = NULL;
	char text[60] = "no control type that Kafka has";
	int type, version;
	void *decoded;

	if (kw_control_read_key(bytes_of(map, key), NULL, &type, NULL))
		return;
	kw_arena_init(&arena, 0);
	msg = kw_control_message(type);
	if (kw_control_name(type))
		snprintf(text, sizeof text, "%s", kw_control_name(type));
	if (msg && kw_control_read_value(type, bytes_of(map, value), &arena, &version, &decoded, NULL) == 0)
		json = kw_to_json(msg, version < msg->versions.max ? version : msg->versions.max, decoded, NULL);
	cf_tree_leaf(&entry->inspector->tree, &nowhere, text, json ? json : json_null(), NULL, false);
	kw_arena_fini(&arena);
}

static void show_record_fields(struct entry *entry, const struct area *area, const struct kw_map *map)
{
	const struct kw_span *key = kw_map_find(map, "key"), *value = kw_map_find(map, "value");
	const struct kw_span *name = NULL;

	for (size_t i = 0; i < map->n; i++) {
		const struct kw_span *span = &map->v[i];
		const char *last = strrchr(span->path, '.');

		if (span == key || span == value)
			bytes_leaf(entry, area, map, span, span->path);
		if (last && strcmp(last, ".key") == 0)
			name = span;
		if (last && strcmp(last, ".value") == 0 && name) {
			size_t n = name->end - name->len_end;
			char label[60];

			snprintf(label, sizeof label, "header \"%.*s\"", n < 48 ? (int)n : 48,
				 (const char *)map->base + name->len_end);
			kt_clean(label);
			bytes_leaf(entry, area, map, span, label);
		}
	}
	if (key && value && entry->batch.attributes & KW_A_CONTROL)
		control_leaf(entry, map, key, value);
}

/* The record at `at` of the area; returns its size, 0 when it cannot be read to its end. */
static size_t show_record(struct entry *entry, const struct area *area, size_t at, int64_t index,
			  struct kw_arena *arena)
{
	const struct kw_batch *batch = &entry->batch;
	struct kw_map map = {.arena = arena, .base = area->p};
	int64_t delta, time;
	char name[40], text[160], date[60];
	struct cf_place place;
	bool wrong;
	size_t size;

	if (!kw_map_records(&map, "", area->p + at, area->n - at, 1) || map.n == 0)
		return 0;
	/* Paths begin with "[0]", or "[0]." */
	for (size_t i = 0; i < map.n; i++)
		map.v[i].path += strlen(map.v[i].path) > 4 ? 4 : 3;
	size = map.v[0].end - at;
	place = (struct cf_place){area->at + at, size, area->inflated, false};
	delta = number_of(&map, "offsetDelta");
	time = batch->attributes & KW_A_LOG_APPEND_TIME
		       ? batch->maxTimestamp
		       : kw_wrap_add(batch->baseTimestamp, number_of(&map, "timestampDelta"));
	time_text(time, date, sizeof date);
	wrong = is_wrong(entry, area->in_entry + at, size, area->inflated);
	snprintf(name, sizeof name, "record %" PRId64, index);
	snprintf(text, sizeof text, "offset %" PRId64 ", %s%s",
		 kw_wrap_add(batch->baseOffset, delta), date, wrong ? "   <-- wrong" : "");
	cf_tree_open(&entry->inspector->tree, &place, name, text);
	show_record_fields(entry, area, &map);
	cf_tree_close(&entry->inspector->tree);
	return is_whole(&map) ? size : 0;
}

static void show_area(struct entry *entry, const struct area *area)
{
	struct kw_arena arena;
	size_t at = 0, size;

	kw_arena_init(&arena, 0);
	for (int64_t i = 0; at < area->n && i < entry->batch.count; i++) {
		size = show_record(entry, area, at, i, &arena);
		kw_arena_reset(&arena);
		if (size == 0)
			break;
		entry->inspector->nrecords++;
		at += size;
	}
	kw_arena_fini(&arena);
}

static void show_records(struct entry *entry)
{
	const struct kw_batch *batch = &entry->batch;
	size_t size = batch->size - KW_B_RECORDS, at = entry->entry.at + KW_B_RECORDS;
	struct area area = {batch->p + KW_B_RECORDS, size, at, KW_B_RECORDS, false};
	struct cf_place place = {at, size, false, false};
	int codec = batch->attributes & KW_A_CODEC;
	char text[120];

	snprintf(text, sizeof text, "%zu bytes", size);
	if (codec != KW_NONE) {
		area = (struct area){entry->inflated.p, entry->inflated.n, 0, 0, true};
		snprintf(text, sizeof text, "%zu bytes of %s, %zu inflated, in which places with ~ count", size,
			 codec_text(codec), entry->inflated.n);
	}
	cf_tree_open(&entry->inspector->tree, &place, "records", text);
	show_area(entry, &area);
	cf_tree_close(&entry->inspector->tree);
}

/* ---- entries ---- */

static void show_batch(struct entry *entry)
{
	const struct kw_batch *batch = &entry->batch;
	struct cf_place place = {entry->entry.at, entry->entry.size, false, false};
	int codec = batch->attributes & KW_A_CODEC;
	char name[40], text[160], date[60];

	snprintf(name, sizeof name, "batch %zu", entry->number);
	if (kw_batch_parse(entry->entry.p, entry->entry.size, &entry->batch, NULL)) {
		cf_tree_open(&entry->inspector->tree, &place, name, NULL);
		show_faults(entry);
		show_verdict(entry);
		cf_tree_close(&entry->inspector->tree);
		return;
	}
	codec = batch->attributes & KW_A_CODEC;
	time_text(batch->maxTimestamp, date, sizeof date);
	snprintf(text, sizeof text, "offsets %" PRId64 " to %" PRId64 ", %d %s, %s, %s", batch->baseOffset,
		 kw_record_offset(batch, batch->lastOffsetDelta), batch->count,
		 batch->attributes & KW_A_CONTROL ? "control" : batch->count == 1 ? "record" : "records",
		 codec_text(codec), date);
	if (codec != KW_NONE && kw_codec_name(codec) && (entry->inspector->records || entry->nfaults))
		kw_decompress(codec, batch->p + KW_B_RECORDS, batch->size - KW_B_RECORDS, KW_INFLATE_MAX,
			      &entry->inflated, NULL);
	cf_tree_open(&entry->inspector->tree, &place, name, text);
	if (entry->inspector->records || entry->nfaults) {
		show_header(entry);
		show_records(entry);
	} else {
		/* Nothing is wrong, so that it is right. */
		entry->inspector->nrecords += (size_t)batch->count;
	}
	show_faults(entry);
	show_verdict(entry);
	cf_tree_close(&entry->inspector->tree);
}

static int show_inner(void *arg, int32_t index, const struct kw_item *item)
{
	struct entry *entry = arg;
	struct cf_place place = {item->at, item->size, kw_entry_codec(&entry->entry) != KW_NONE, false},
			nowhere = {.none = true};
	char name[40], text[120], date[60];

	if (!place.inflated)
		place.at = entry->entry.at;
	time_text(item->timestamp, date, sizeof date);
	snprintf(name, sizeof name, "record %d", index);
	snprintf(text, sizeof text, "offset %" PRId64 ", %s", item->offset, date);
	cf_tree_open(&entry->inspector->tree, &place, name, text);
	cf_tree_bytes(&entry->inspector->tree, &nowhere, "key", item->key, false);
	cf_tree_bytes(&entry->inspector->tree, &nowhere, "value", item->value, false);
	cf_tree_close(&entry->inspector->tree);
	entry->inspector->nrecords++;
	return 0;
}

static void show_message(struct entry *entry)
{
	const struct kw_entry *e = &entry->entry;
	struct cf_place place = {e->at, e->size, false, false};
	struct kw_legacy message;
	char name[40], text[100];
	enum kw_walk why;

	kw_legacy_parse(e->p, e->size, &message, NULL);
	snprintf(name, sizeof name, "message %zu", entry->number);
	snprintf(text, sizeof text, "offset %" PRId64 ", magic %d, %s", e->offset, e->magic,
		 codec_text(kw_entry_codec(e)));
	cf_tree_open(&entry->inspector->tree, &place, name, text);
	leaf(entry, "offset", KW_L_OFFSET, 8, e->offset, NULL);
	leaf(entry, "length", KW_L_LENGTH, 4, e->length, NULL);
	crc_leaf(entry, KW_L_CRC, message.crc, kw_legacy_crc(e->p, e->size));
	leaf(entry, "magic", KW_L_MAGIC, 1, e->magic, NULL);
	leaf(entry, "attributes", KW_L_ATTRIBUTES, 1, message.attributes, NULL);
	if (e->magic == 1 && e->size >= KW_L_KEY_V1)
		time_leaf(entry, "timestamp", KW_L_TIMESTAMP, message.timestamp);
	if (entry->inspector->records)
		kw_entry_walk(e, NULL, show_inner, entry, &why, NULL);
	show_faults(entry);
	show_verdict(entry);
	cf_tree_close(&entry->inspector->tree);
}

/* Offsets rise from batch to batch. */
static void check_order(struct entry *entry, int64_t next_offset)
{
	struct kw_fault fault = {.rule = KW_RULES, .size = 8};

	if (entry->inspector->role != KW_STORED || entry->entry.magic != 2 || entry->entry.offset >= next_offset)
		return;
	snprintf(fault.text, sizeof fault.text,
		 "baseOffset is %" PRId64 ", but offsets up to %" PRId64 " are in front of it", entry->entry.offset,
		 next_offset - 1);
	keep_fault(entry, &fault);
}

static void check_alone(struct entry *entry)
{
	struct kw_fault fault = {.rule = KW_R_SECOND, .size = entry->entry.size, .code = kw_rule_code(KW_R_SECOND)};

	if (entry->inspector->role != KW_PRODUCED || entry->number == 0 || takes_messages(entry))
		return;
	kw_rule_words(fault.rule, true, NULL, fault.text, sizeof fault.text);
	keep_fault(entry, &fault);
}

static int64_t show_entry(struct entry *entry, int64_t next_offset)
{
	check_order(entry, next_offset);
	check_alone(entry);
	kw_entry_faults(&entry->entry, entry->inspector->role, keep_fault, entry);
	if (entry->entry.magic == 2)
		show_batch(entry);
	else
		show_message(entry);
	kw_buf_fini(&entry->inflated);
	if (entry->entry.magic != 2)
		return entry->entry.offset < INT64_MAX ? entry->entry.offset + 1 : INT64_MAX;
	return kw_next_offset(&entry->batch);
}

/* The set ends, or nothing is known behind this byte. */
static void show_end(struct cf_inspector *inspector, const struct kw_slice *bytes, const struct kw_set *set, size_t at,
		     size_t number, int code, const struct kt_err *err)
{
	struct cf_place place = {at + set->at, set->n - set->at, false, false};
	char where[40], text[300];

	if (code == 0 || (code == KT_ETRUNC && inspector->cut_is_fine))
		return;
	snprintf(where, sizeof where, "batch %zu", number);
	snprintf(text, sizeof text, "%.200s%s", err->text,
		 code == KT_ETRUNC ? ", then all ends" : "; nothing can be read behind it");
	if (code != KT_ETRUNC) {
		place.at = at + err->offset;
		place.size = err->offset - set->at == KW_E_MAGIC ? 1 : 4;
	}
	cf_inspect_fault(inspector, &place, bytes, where, text,
			 code == KT_ETRUNC ? KW_ERR_INVALID_RECORD : KW_ERR_CORRUPT_MESSAGE);
}

void cf_inspect_set(struct cf_inspector *inspector, const struct kw_slice *bytes, size_t at, size_t n,
		    int64_t first_offset)
{
	struct kw_set set = {.p = bytes->p + at, .n = n};
	struct entry entry = {.inspector = inspector, .bytes = bytes, .end = bytes->p + at + n};
	size_t shown = 0;
	struct kt_err err = {0};
	int code;

	while ((code = kw_set_next(&set, &entry.entry, &err)) > 0) {
		entry.entry.at += at;
		entry.nfaults = 0;
		first_offset = show_entry(&entry, first_offset);
		entry.number++;
		inspector->batches++;
		if (inspector->progress && set.at - shown > PROGRESS_STEP) {
			shown = set.at;
			inspector->progress(inspector->progress_arg, at + set.at, bytes->n);
		}
	}
	show_end(inspector, bytes, &set, at, entry.number, code, &err);
}
