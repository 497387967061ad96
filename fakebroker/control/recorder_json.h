/* Inside control/: a recorded request, and reading it back. */
#ifndef KASSAY_FAKEBROKER_CONTROL_RECORDER_JSON_H
#define KASSAY_FAKEBROKER_CONTROL_RECORDER_JSON_H

#include "fakebroker/control/mentions.h"
#include "fakebroker/control/recorder.h"

enum { FB_RECORDED_RESPONSE = 64 * 1024 };

struct fb_recorded {
	uint64_t id;               /* counts from 1 */
	int64_t time_ms;
	int32_t node;
	uint64_t connection;
	char address[64];
	int port;
	int16_t api, version, response_version;   /* -1: could not be parsed */
	const char *fate;
	char *reason;              /* why not, or NULL */
	struct fb_frame *frame;    /* of the request, without its size field */
	uint8_t *response;         /* whole frame, size field included, at most FB_RECORDED_RESPONSE bytes of
				      it; or NULL */
	size_t response_n;
	bool response_cut;
};

struct fb_record_filter {
	uint64_t after;            /* only later ids */
	int api, node;             /* -1 = any */
	size_t limit;
	bool newest;               /* of those that match, the last limit ones and not the first */
	bool bytes;                /* hex beside the JSON */
	const struct fb_wanted_topic *topic;   /* NULL = any; fb_recorder_count() does not look at it */
};

/* Does the request name the topic? */
bool fb_recorded_mentions(const struct fb_recorded *r, const struct fb_wanted_topic *want);
/* The request and its answer as JSON: decoded now, from the bytes. New reference. */
json_t *fb_recorded_json(const struct fb_recorded *r, bool bytes);
/* Those that the filter lets through, oldest first, and not more than make 16 MiB of frames, or one. New reference,
 * or NULL without memory. Requests go on being recorded meanwhile. */
json_t *fb_recorder_json(struct fb_recorder *recorder, const struct fb_record_filter *filter);
/* Forgets all that are kept; ids go on. */
void fb_recorder_clear(struct fb_recorder *recorder);
/* Number of requests kept that the filter lets through; its limit is not looked at. Moves filter->after up to the last
 * request recorded, so that the next call counts later ones. */
size_t fb_recorder_count(struct fb_recorder *recorder, struct fb_record_filter *filter);
/* From now on calls added(arg) for every request, on the thread that handled it; NULL ends that. It must be quick and
 * not use the recorder. */
void fb_recorder_notify(struct fb_recorder *recorder, void (*added)(void *arg), void *arg);

#endif
