/* Inside control/: the endpoints, without HTTP. */
#ifndef KASSAY_FAKEBROKER_CONTROL_ENDPOINTS_H
#define KASSAY_FAKEBROKER_CONTROL_ENDPOINTS_H

#include <jansson.h>

#include "fakebroker/control/recorder_json.h"
#include "lib/text/json.h"
#include "lib/wire/buf.h"

struct evkeyvalq;

struct fb_ask {
	struct fb_cluster *cluster;
	const char *method;
	char *path;
	struct evkeyvalq *params;  /* of the query */
	struct kt_json body;       /* root NULL if there was none */
};

struct fb_answer {
	int status;                /* HTTP's */
	json_t *json;              /* or NULL and text, or bytes */
	char *text;
	struct kw_buf bytes;
	char file[40];             /* what a browser would call the bytes */
	char allow[40];            /* with 405: the methods that there are */
	/* Or later: when so many requests were recorded, or the time is over. */
	bool wait;
	struct fb_record_filter filter;
	int64_t count, timeout_ms;
};

/* Answers: 404 for an unknown path, 405 for a wrong method, 400 for bad input; errors are {"error": "..."}. */
void fb_endpoint(const struct fb_ask *ask, struct fb_answer *answer);
/* May it call what does not come back soon? Then the thread that answers the others must not be the one that runs
 * it. */
bool fb_endpoint_is_slow(const struct fb_ask *ask);
/* Gives back what the answer holds. */
void fb_answer_drop(struct fb_answer *answer);
/* The answer to a wait that is over. */
void fb_answer_waited(struct fb_answer *answer, bool met);
void fb_answer_error(struct fb_answer *answer, int status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* What "TOPIC/N" names. */
struct fb_partition_path {
	char topic[256];
	int32_t index;
};

/* endpoints.c: as kt_parse_int(), but without a sign. min is not negative. */
int fb_parse_digits(const char *s, int64_t min, int64_t max, int64_t *v, struct kt_err *err);
/* endpoints.c: reads the n bytes; false when they are no such path. */
bool fb_partition_path(const char *rest, size_t n, struct fb_partition_path *path);
/* The answer when there is no such partition. */
void fb_answer_no_partition(const char *rest, size_t n, struct fb_answer *answer);
/* compact.c: POST /v1/partitions/TOPIC/N/compact; rest is what follows /v1/partitions/ */
void fb_post_compact(const struct fb_ask *ask, const char *rest, struct fb_answer *answer);
/* nodes.c: POST /v1/nodes/ID/stop and /v1/nodes/ID/start; rest is what follows /v1/nodes/ */
void fb_post_node(const struct fb_ask *ask, const char *rest, struct fb_answer *answer);
/* Is that what follows, ID/stop or ID/start, whether there is such a node or not? */
bool fb_is_node_path(const char *rest);
/* endpoints.c: for other files with endpoints. */
void fb_answer_err(struct fb_answer *answer, const struct kt_err *err);
/* status.c */
json_t *fb_status_json(struct fb_cluster *cluster);
json_t *fb_node_json(struct fb_cluster *cluster, const struct fb_node *node);
/* NULL if there is no such partition. */
json_t *fb_partition_json(struct fb_cluster *cluster, const char *topic, int32_t index);
/* metadata_json.c: the records from an offset on, at most limit, and as bounded as in listing.h. NULL without
 * memory. */
json_t *fb_metadata_json(struct fb_cluster *cluster, int64_t from, int64_t limit);
/* append.c: the body of an append, whose bytes are put behind those of set. 0 or the code in obj->err. */
int fb_append_read(struct kt_obj *obj, struct kw_buf *set, bool *keep_offsets);
/* What fb_log_append_set() made of it: {"firstOffset", "logEndOffset", "batches"}. NULL with err if it refused, without
 * if there is no such partition. */
json_t *fb_append_json(struct fb_cluster *cluster, const char *topic, int32_t index, const struct kw_buf *set,
		       bool keep_offsets, struct kt_err *err);
/* metrics.c: Prometheus text, for free(). NULL without memory. */
char *fb_metrics_text(struct fb_cluster *cluster);

#endif
