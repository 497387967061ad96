/* frame: recorded bytes, sent again under another topic's name. */
#include <stdlib.h>
#include <string.h>

#include "conformance/vars.h"
#include "conformance/verbs/verbs.h"
#include "lib/wire/base64.h"
#include "lib/wire/batch.h"

enum { SIZE_FIELD = 4, FRAME_MAX = 100 << 20 };

const struct cf_arg cf_args_frame[] = {
	{"hex", CF_ARG_STR, true, "the frame as it was recorded, its size in front; blanks are ignored"},
	{"edits", CF_ARG_ARRAY, false, "[{\"at\": offset in the recording, \"hex\": bytes to put there}]"},
	{"batchAt", CF_ARG_INT, false, "offset of the record batch whose CRC is redone behind the edits"},
	{"rename", CF_ARG_OBJECT, false, "topic in the recording -> topic now; frame and string lengths are redone"},
	{"answer", CF_ARG_OBJECT, true, "{\"api\": NAME, \"version\": N}: read the answer as this"},
	{"at", CF_ARG_STR, false, "path of the part of the answer that the expectation is about"},
	{"topic", CF_ARG_STR, false, "to whose leader it goes; else to the broker"},
	{0},
};

static int put_hex(struct kw_buf *buf, const char *hex, struct kt_err *err)
{
	size_t n = hex ? strlen(hex) : 0;
	uint8_t *p = malloc(n / 2 + 1);
	long size = p && hex ? kw_hex_decode(hex, n, p) : -1;

	if (size >= 0)
		kw_put(buf, p, (size_t)size);
	free(p);
	return size < 0 ? kt_fail(err, KT_ESYNTAX, "hex: not pairs of hexadecimal digits") : 0;
}

static int edit(struct kw_buf *frame, json_t *edits, struct kt_err *err)
{
	json_t *one;
	size_t i;

	json_array_foreach(edits, i, one) {
		json_int_t at = json_integer_value(json_object_get(one, "at"));
		struct kw_buf bytes;

		kw_buf_init(&bytes, FRAME_MAX);
		if (put_hex(&bytes, json_string_value(json_object_get(one, "hex")), err) == 0) {
			if (at < 0 || (size_t)at + bytes.n > frame->n)
				kt_fail(err, KT_ERANGE, "edits: byte %lld is not in the frame", (long long)at);
			else
				memcpy(frame->p + at, bytes.p, bytes.n);
		}
		kw_buf_fini(&bytes);
	}
	return err->code;
}

static int redo_crc(struct kw_buf *frame, json_t *batch_at, struct kt_err *err)
{
	size_t at = (size_t)json_integer_value(batch_at), size;

	if (!batch_at)
		return 0;
	if (json_integer_value(batch_at) < 0 || at + KW_B_RECORDS > frame->n)
		return kt_fail(err, KT_ERANGE, "batchAt: no batch at byte %zu", at);
	size = KW_B_LOG_OVERHEAD + (size_t)kw_rd32(frame->p + at + KW_B_LENGTH);
	if (size < KW_B_RECORDS || at + size > frame->n)
		return kt_fail(err, KT_ERANGE, "batchAt: no batch at byte %zu", at);
	kw_wr32(frame->p + at + KW_B_CRC, kw_batch_crc(frame->p + at, size));
	return 0;
}

/* The place of the string `name` with its int16 length, which must be there once. */
static const uint8_t *find_string(const struct kw_buf *frame, const char *name, size_t n)
{
	const uint8_t *found = NULL;

	for (size_t i = SIZE_FIELD; i + 2 + n <= frame->n; i++) {
		if (kw_rd16(frame->p + i) != n || memcmp(frame->p + i + 2, name, n) != 0)
			continue;
		if (found)
			return NULL;
		found = frame->p + i;
	}
	return found;
}

static int rename_topic(struct kw_buf *frame, const char *from, const char *to, struct kt_err *err)
{
	size_t n = strlen(from), m = strlen(to);
	const uint8_t *at = find_string(frame, from, n);
	struct kw_buf out;

	if (!at)
		return kt_fail(err, KT_EUSAGE, "rename: \"%s\" is not in the frame exactly once", from);
	kw_buf_init(&out, FRAME_MAX);
	kw_put(&out, frame->p, (size_t)(at - frame->p));
	kw_put_u16(&out, (uint16_t)m);
	kw_put(&out, to, m);
	kw_put(&out, at + 2 + n, (size_t)(frame->p + frame->n - at) - 2 - n);
	if (out.failed) {
		kw_buf_fini(&out);
		return kt_fail(err, KT_ENOMEM, "out of memory");
	}
	kw_wr32(out.p, (uint32_t)(out.n - SIZE_FIELD));
	kw_buf_fini(frame);
	*frame = out;
	return 0;
}

static int build(json_t *args, struct kw_buf *frame, struct kt_err *err)
{
	const char *from;
	json_t *to;

	if (put_hex(frame, json_string_value(json_object_get(args, "hex")), err) ||
	    edit(frame, json_object_get(args, "edits"), err) || redo_crc(frame, json_object_get(args, "batchAt"), err))
		return err->code;
	if (frame->n < SIZE_FIELD)
		return kt_fail(err, KT_EUSAGE, "hex: no frame is shorter than its size");
	json_object_foreach(json_object_get(args, "rename"), from, to)
		if (rename_topic(frame, from, json_is_string(to) ? json_string_value(to) : "", err))
			return err->code;
	return 0;
}

int cf_verb_frame(struct cf_run *run, json_t *args, struct cf_outcome *out, struct kt_err *err)
{
	const char *topic = json_string_value(json_object_get(args, "topic")), *at = json_string_value(json_object_get(args, "at"));
	struct cf_link *link = cf_run_link(run, topic ? "leader" : "broker", topic, err);
	struct kt_err why = {0};
	struct kw_buf frame;

	kw_buf_init(&frame, FRAME_MAX);
	if (!link || build(args, &frame, err))
		goto out;
	out->evidence = json_object();
	if (cf_link_send(link, frame.p, frame.n, out->evidence, &why) == 0)
		cf_read_raw(link, json_object_get(args, "answer"), out, err);
	if (at) {
		json_decref(out->subject);
		out->subject = json_incref(cf_at(out->body, at));
	}
out:
	kw_buf_fini(&frame);
	return err->code;
}
