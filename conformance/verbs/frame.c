/* frame: recorded bytes, sent again under another topic's name. */
#include <stdlib.h>
#include <string.h>

#include "conformance/vars.h"
#include "conformance/verbs/verbs.h"
#include "lib/text/base64.h"

enum { FRAME_MAX = 100 << 20 };

const struct cf_arg cf_args_frame[] = {
	{"hex", CF_ARG_STR, true, "the frame as it was recorded, its size in front; blanks are ignored"},
	{"edits", CF_ARG_EDITS, false,
	 "changes of the recording, see docs/edits.md; offsets count from its size field"},
	{"rename", CF_ARG_OBJECT, false, "topic in the recording -> topic now, behind the edits; its length is redone"},
	{"answer", CF_ARG_OBJECT, false, "{\"api\": NAME, \"version\": N}: read the answer as this"},
	{"at", CF_ARG_STR, false, "path of the part of the answer that the expectation is about"},
	{"topic", CF_ARG_STR, false, "to whose leader it goes; else to the broker"},
	{0},
};

static int put_hex(struct kw_buf *buf, const char *hex, struct kt_err *err)
{
	size_t n = hex ? strlen(hex) : 0;
	uint8_t *p = malloc(n / 2 + 1);
	long size = p && hex ? kt_hex_decode(hex, n, p) : -1;

	if (size >= 0)
		kw_put(buf, p, (size_t)size);
	free(p);
	return size < 0 ? kt_fail(err, KT_ESYNTAX, "hex: not pairs of hexadecimal digits") : 0;
}

/* The edits, and those that rename topics, which come last: edits count offsets in the recording. */
static json_t *all_edits(json_t *args)
{
	json_t *edits = json_copy(json_object_get(args, "edits")), *to;
	const char *from;

	if (!edits)
		edits = json_array();
	json_object_foreach(json_object_get(args, "rename"), from, to)
		json_array_append_new(edits, json_pack("{s:s, s:s, s:O}", "edit", "rename", "from", from, "to", to));
	return edits;
}

int cf_verb_frame(struct cf_run *run, json_t *args, struct cf_outcome *out, struct kt_err *err)
{
	const char *topic = json_string_value(json_object_get(args, "topic")),
		   *at = json_string_value(json_object_get(args, "at"));
	struct cf_link *link = cf_run_link(run, topic ? "leader" : "broker", topic, err);
	struct kt_err why = {0};
	json_t *edits = NULL;
	bool bad_edits = false;
	struct kw_buf frame;

	kw_buf_init(&frame, FRAME_MAX);
	if (!link || put_hex(&frame, json_string_value(json_object_get(args, "hex")), err))
		goto out;
	out->evidence = json_object();
	edits = all_edits(args);
	if (cf_link_send_edited(link, &frame, edits, out->evidence, &bad_edits, &why) == 0)
		cf_read_raw(link, json_object_get(args, "answer"), out, err);
	if (bad_edits) {
		why.code = KT_EUSAGE;
		*err = why;
	}
	if (at) {
		json_decref(out->subject);
		out->subject = json_incref(cf_at(out->body, at));
	}
out:
	kw_buf_fini(&frame);
	json_decref(edits);
	return err->code;
}
