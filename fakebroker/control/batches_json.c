#include "fakebroker/control/batches_json.h"

#include <stdio.h>

#include "lib/text/base64.h"
#include "lib/wire/set.h"

/* Inflated bytes of one batch that are looked at. */
enum { INFLATED = 8 * 1024 * 1024 };

struct showing {
	json_t *records;
	int left;                      /* records that may still be shown */
	bool cut;
};

/* Text if it can be, else {"hex"}, or {"size"} of what is long. */
static json_t *bytes(const void *p, int32_t n)
{
	json_t *text;

	if (n < 0)
		return json_null();
	if (n > FB_SHOWN_BYTES)
		return json_pack("{s:i}", "size", (int)n);
	text = n ? json_stringn(p, (size_t)n) : json_string("");
	return text ? text : json_pack("{s:o}", "hex", kt_hex_json(p, (size_t)n));
}

static json_t *headers(const struct kw_record *record)
{
	json_t *list = json_array();

	for (int32_t i = 0; i < record->nheaders && i < FB_SHOWN_RECORDS; i++) {
		const struct kw_header *header = &record->headers[i];

		json_array_append_new(list, json_pack("{s:o, s:o}", "key", bytes(header->key.s, header->key.n), "value",
						      bytes(header->value.p, header->value.n)));
	}
	return list;
}

/* Takes the record; non-zero when there are too many. */
static int add(struct showing *showing, json_t *record)
{
	showing->cut = showing->left == 0;
	if (showing->cut) {
		json_decref(record);
		return 1;
	}
	showing->left--;
	json_array_append_new(showing->records, record);
	return 0;
}

static int show_record(void *arg, int32_t index, const struct kw_record *record)
{
	(void)index;
	return add(arg, json_pack("{s:o, s:o, s:o, s:i, s:I}", "key", bytes(record->key.p, record->key.n), "value",
				  bytes(record->value.p, record->value.n), "headers", headers(record), "offsetDelta",
				  (int)record->offsetDelta, "timestampDelta", (json_int_t)record->timestampDelta));
}

static int show_message(void *arg, int32_t index, const struct kw_item *item)
{
	(void)index;
	return add(arg, json_pack("{s:o, s:o, s:I, s:I}", "key", bytes(item->key.p, item->key.n), "value",
				  bytes(item->value.p, item->value.n), "offset", (json_int_t)item->offset, "timestamp",
				  (json_int_t)item->timestamp));
}

static json_t *header_json(const struct kw_batch *b)
{
	return json_pack("{s:I, s:i, s:i, s:i, s:I, s:i, s:i, s:I, s:I, s:I, s:i, s:i, s:i}", "baseOffset",
			 (json_int_t)b->baseOffset, "length", (int)b->length, "partitionLeaderEpoch",
			 (int)b->partitionLeaderEpoch, "magic", b->magic, "crc", (json_int_t)b->crc, "attributes",
			 b->attributes, "lastOffsetDelta", (int)b->lastOffsetDelta, "baseTimestamp",
			 (json_int_t)b->baseTimestamp, "maxTimestamp", (json_int_t)b->maxTimestamp, "producerId",
			 (json_int_t)b->producerId, "producerEpoch", b->producerEpoch, "baseSequence",
			 (int)b->baseSequence, "count", (int)b->count);
}

/* Of a message of magic 0 or 1; of one that is not whole what could be read. */
static json_t *message_json(const struct kw_entry *entry)
{
	struct kw_legacy message;

	kw_legacy_parse(entry->p, entry->size, &message, NULL);
	return json_pack("{s:I, s:i, s:I, s:i, s:i}", "offset", (json_int_t)entry->offset, "length", (int)entry->length,
			 "crc", (json_int_t)message.crc, "magic", entry->magic, "attributes", message.attributes);
}

static void set_error(json_t *json, const struct kt_err *err)
{
	json_t *text = json_string(err->text);

	json_object_set_new(json, "error", text ? text : json_string("not readable"));
}

/* *left counts down over all batches of the request. */
static json_t *entry_json(const struct kw_entry *entry, int *left)
{
	struct kw_walk_opts opts = {.inflate_max = INFLATED};
	struct showing showing = {.left = *left, .records = json_array()};
	struct kw_batch batch;
	struct kt_err err = {0};
	enum kw_walk why;
	json_t *json;
	int code;

	if (entry->magic == 2 && kw_batch_parse(entry->p, entry->size, &batch, NULL) == 0) {
		json = header_json(&batch);
		code = kw_batch_walk(&batch, &opts, show_record, &showing, &why, &err);
	} else {
		json = message_json(entry);
		code = kw_entry_walk(entry, &opts, show_message, &showing, &why, &err);
	}
	if (code < 0)
		set_error(json, &err);
	json_object_set_new(json, "records", showing.records);
	if (showing.cut)
		json_object_set_new(json, "recordsCut", json_true());
	*left = showing.left;
	return json;
}

static json_t *set_json(const struct kw_records *records, int *left)
{
	struct kw_set set = {.p = records->p, .n = (size_t)records->n};
	json_t *list = json_array(), *last;
	struct kw_entry entry;
	struct kt_err err = {0};
	int code;

	while ((code = kw_set_next(&set, &entry, &err)) > 0 && json_array_size(list) < FB_SHOWN_RECORDS)
		json_array_append_new(list, entry_json(&entry, left));
	if (code < 0) {
		last = json_object();
		set_error(last, &err);
		json_array_append_new(list, last);
	}
	return list;
}

void fb_add_batches(json_t *json, const struct kw_ProduceRequest *body)
{
	json_t *topics = json_object_get(json, "topicData");
	int left = FB_SHOWN_RECORDS;

	for (int32_t t = 0; t < body->topicData.n; t++) {
		const struct kw_ProduceRequest_TopicProduceData *topic = &body->topicData.v[t];
		json_t *partitions = json_object_get(json_array_get(topics, (size_t)t), "partitionData");

		for (int32_t p = 0; p < topic->partitionData.n; p++) {
			const struct kw_records *records = &topic->partitionData.v[p].records;

			if (records->n > 0)
				json_object_set_new(json_array_get(partitions, (size_t)p), "batches",
						    set_json(records, &left));
		}
	}
}
