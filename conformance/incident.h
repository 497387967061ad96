/* An incident: bytes that a real client sent and a broker must refuse, or take, with the same bytes mended.
 *
 *	{"id": "S03", "title": "...", "source": ["IBM/sarama#1032"], "text": "what happened",
 *	 "topic": {"name": "test2", "configs": {}, "partitions": 1}, "frame": "0000007c...",
 *	 "notes": [{"at": 99, "size": 4, "text": "lastOffsetDelta: 0, with two records behind it"}],
 *	 "answer": {"api": "Produce", "version": 3, "at": "responses[0].partitionResponses[0]"},
 *	 "expect": {...}, "endOffset": 0,
 *	 "mended": {"title": "...", "edits": [{"edit": "set", ...}], "expect": {...}, "endOffset": 2},
 *	 "log": {"keepOffsets": true, "records": {"batches": [...]}}}
 *
 * Where a report does not show the whole request, "send" stands for "frame" and "answer": the arguments of that verb,
 * with $topic for the topic's name; then "mended" has a "send" of its own. `expect` is as in a case. Without "topic"
 * there is no "endOffset". `mended` may be missing. Where one request does not tell it, "steps" stands for all of that:
 * those of a case, with "needs" beside them if a target may lack something.
 *
 * "log" is what a broker's log held, for clients that must cope with it: the body of a fakebroker's append, so that a
 * target with a control API can be given it. It must come back by a fetch as it is.
 *
 * The requests become a case of their own, and so does the log, so that one engine judges all.
 */
#ifndef KASSAY_CONFORMANCE_INCIDENT_H
#define KASSAY_CONFORMANCE_INCIDENT_H

#include "conformance/case.h"
#include "lib/wire/buf.h"

struct cf_incident_note {
	int at, size;            /* bytes of the frame */
	const char *text;
};

struct cf_incident {
	struct kt_json doc;
	const char *id, *title, *text;
	const char *frame, *topic;       /* NULL = none */
	json_t *send;                    /* in place of frame; NULL = none */
	json_t *steps, *needs;           /* in place of frame and send; NULL = none */
	json_t *sources, *answer, *expect, *topic_configs;
	int topic_partitions, end_offset;
	struct cf_incident_note *notes;
	size_t nnotes;
	const char *mended_title;        /* NULL without a mended variant */
	json_t *mended_edits, *mended_send, *mended_expect;
	int mended_end_offset;
	struct kw_buf log;               /* bytes of "log" */
	bool has_log;
	struct cf_case *cas, *log_case;  /* what the incident comes to; log_case NULL = no log */
};

/* cf_incident_fini() may be called whatever the outcome. */
int cf_incident_load(struct cf_incident *incident, const char *file, struct kt_err *err);
void cf_incident_fini(struct cf_incident *incident);

#endif
