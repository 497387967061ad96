/* Messages of magic 0 and 1 from their JSON form; see kw_batches_from_json in batch.h. */
#include "lib/wire/batch_json.h"

/* A set that is being put together. */
struct messages {
	struct kw_building *building;
	int8_t magic;
	bool wrapped;            /* the records go into one message */
	int64_t baseOffset;
	int32_t n;
	int64_t last;            /* offset of the last one, as it is written */
	int64_t maxTimestamp;
};

/* Length and CRC that a message is to have in place of the right ones. */
struct frame {
	bool has_length, has_crc;
	int64_t length, crc;
};

static void get_frame(struct kt_obj *obj, struct frame *frame)
{
	frame->has_length = kw_obj_field(obj, "length", 4, &frame->length);
	frame->has_crc = kw_obj_field(obj, "crc", 4, &frame->crc);
}

static void set_frame(const struct frame *frame, struct kw_buf *out, size_t start)
{
	if (out->failed)
		return;
	if (frame->has_length)
		kw_wr32(out->p + start + KW_L_LENGTH, (uint32_t)frame->length);
	if (frame->has_crc)
		kw_wr32(out->p + start + KW_L_CRC, (uint32_t)frame->crc);
}

/* Attributes and, where there is one, the timestamp of a message or wrapper. */
static void get_fields(struct kw_building *building, struct kt_obj *obj, struct kw_legacy *message)
{
	int64_t v;

	if (kw_obj_field(obj, "attributes", 1, &v))
		message->attributes = (int8_t)v;
	if (message->magic != 0)
		kw_obj_time(building, obj, "timestamp", &message->timestamp);
}

/* Where a record's offset counts from. */
static int64_t first_offset(const struct messages *messages)
{
	return messages->wrapped && messages->magic == 1 ? 0 : messages->baseOffset;
}

static void put_message(struct messages *messages, struct kt_obj *obj, struct kw_buf *out)
{
	struct kw_building *building = messages->building;
	struct kw_legacy message = {.magic = messages->magic, .timestamp = building->now};
	struct frame frame;
	int64_t v;
	int repeat = 1;
	bool fixed;

	if (kw_obj_field(obj, "magic", 1, &v))
		message.magic = (int8_t)v;
	fixed = kt_obj_int64(obj, "offset", INT64_MIN, INT64_MAX, &message.offset);
	get_fields(building, obj, &message);
	kt_obj_int(obj, "repeat", 0, KW_JSON_MAX, &repeat);
	kw_obj_bytes(building, obj, "key", &message.key);
	kw_obj_bytes(building, obj, "value", &message.value);
	get_frame(obj, &frame);
	if (kt_obj_done(obj))
		return;
	for (; repeat > 0 && !out->failed; repeat--, messages->n++) {
		size_t start = out->n;

		if (!fixed)
			message.offset = first_offset(messages) + messages->n;
		kw_legacy_put(out, &message);
		set_frame(&frame, out, start);
		messages->last = message.offset;
		if (message.magic != 0 && message.timestamp > messages->maxTimestamp)
			messages->maxTimestamp = message.timestamp;
	}
	if (out->failed)
		kw_obj_full(obj, NULL, out, " of messages");
}

static void put_messages(struct messages *messages, struct kt_obj *obj, struct kw_buf *out)
{
	struct kt_arr arr;
	struct kt_obj one;

	kt_obj_array(obj, "records", &arr);
	while (kt_arr_object(&arr, &one)) {
		put_message(messages, &one, out);
		kw_arena_reset(messages->building->arena);
	}
}

/* Appends the compressed set as the value of the wrapper, which ends with an empty one. */
static void put_value(struct kw_building *building, struct kt_obj *obj, int codec, const struct kw_deflate_opts *opts)
{
	struct kw_buf *out = &building->bytes;
	size_t start = out->n;
	struct kt_err why = {0};
	int code;

	if (out->failed || obj->err->code)
		return;
	code = kw_compress_as(codec, opts, building->area.p, building->area.n, out, &why);
	if (code)
		kt_obj_fail(obj, NULL, code, "%s", why.text);
	else
		kw_wr32(out->p + start - 4, (uint32_t)(out->n - start));
}

/* The wrapper around the records, the body or the payload. */
static void put_wrapper(struct messages *messages, struct kt_obj *obj, int codec, const struct kw_deflate_opts *opts)
{
	struct kw_building *building = messages->building;
	bool payload = kt_obj_any(obj, "payload"), body = kt_obj_any(obj, "body");
	struct kw_legacy wrapper = {.magic = messages->magic, .attributes = (int8_t)codec, .timestamp = building->now};

	if (body)
		kw_obj_put_bytes(building, obj, "body", &building->area);
	else if (!payload)
		put_messages(messages, obj, &building->area);
	if (!body && !payload)
		wrapper.timestamp = messages->maxTimestamp;
	wrapper.offset = messages->last;
	if (messages->magic == 1 || messages->n == 0)
		wrapper.offset = (int64_t)((uint64_t)messages->last + (uint64_t)messages->baseOffset);
	kt_obj_int64(obj, "offset", INT64_MIN, INT64_MAX, &wrapper.offset);
	get_fields(building, obj, &wrapper);
	kw_obj_bytes(building, obj, "key", &wrapper.key);
	if (payload)
		kw_obj_bytes(building, obj, "payload", &wrapper.value);
	kw_legacy_put(&building->bytes, &wrapper);
	if (!payload)
		put_value(building, obj, codec, opts);
}

void kw_messages_fix(uint8_t *p, size_t n)
{
	struct kw_entry entry;

	while (kw_entry_parse(p, n, &entry, NULL) == 0) {
		kw_wr32(p + KW_L_CRC, kw_legacy_crc(p, entry.size));
		p += entry.size;
		n -= entry.size;
	}
}

/* Those of the wrapper. Without one there is only "fix", which is for later. */
static void get_set_frame(const struct messages *messages, struct kt_obj *obj, struct frame *frame)
{
	if (!kw_obj_crc_is(obj, "fix") && messages->wrapped)
		frame->has_crc = kw_obj_field(obj, "crc", 4, &frame->crc);
	else if (!kw_obj_crc_is(obj, "fix") && kt_obj_any(obj, "crc"))
		kt_obj_fail(obj, "crc", KT_ETYPE, "must be \"fix\": each record has its own");
	if (messages->wrapped)
		frame->has_length = kw_obj_field(obj, "length", 4, &frame->length);
}

void kw_messages_from_json(struct kw_building *building, struct kt_obj *obj, int8_t magic)
{
	struct messages messages = {.building = building, .magic = magic, .maxTimestamp = KW_NO_TIMESTAMP};
	struct kw_deflate_opts opts = {.lz4_historic = magic == 0};
	bool records = kt_obj_any(obj, "records"), body = kt_obj_any(obj, "body"), payload = kt_obj_any(obj, "payload");
	struct kw_buf *out = &building->bytes;
	struct frame frame = {0};
	int codec = KW_NONE;

	if (records + body + payload > 1)
		kt_obj_fail(obj, NULL, KT_ETYPE, "only one of \"records\", \"body\" and \"payload\" can be given");
	kt_obj_int64(obj, "baseOffset", INT64_MIN / 2, INT64_MAX / 2, &messages.baseOffset);
	kw_obj_codec(obj, &codec, &opts);
	messages.wrapped = codec != KW_NONE || body || payload;
	get_set_frame(&messages, obj, &frame);
	if (!messages.wrapped) {
		put_messages(&messages, obj, out);
		return;
	}
	put_wrapper(&messages, obj, codec, &opts);
	if (out->failed || obj->err->code)
		return;
	kw_wr32(out->p + KW_L_LENGTH, (uint32_t)(out->n - KW_E_BODY));
	kw_messages_fix(out->p, out->n);
	set_frame(&frame, out, 0);
}
