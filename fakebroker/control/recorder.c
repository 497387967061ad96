#include "fakebroker/control/recorder.h"

#include <stdlib.h>

#include "fakebroker/control/recorder_json.h"

/* Of frames in one answer, whose JSON is several times as large: while it is made, the control API answers nobody
 * else. */
enum { ANSWER_BYTES = 16 << 20 };

struct fb_recorder {
	pthread_mutex_t lock;
	void (*added)(void *arg);  /* called under the lock; NULL while nobody waits */
	void *arg;
	struct fb_recorded *ring;
	size_t cap, first, n;
	size_t bytes, max_bytes;
	uint64_t next_id;
};

struct fb_recorder *fb_recorder_new(size_t max_requests, size_t max_bytes)
{
	struct fb_recorder *recorder = calloc(1, sizeof *recorder);

	if (!recorder)
		return NULL;
	recorder->ring = calloc(max_requests, sizeof *recorder->ring);
	if (!recorder->ring) {
		free(recorder);
		return NULL;
	}
	recorder->cap = max_requests;
	recorder->max_bytes = max_bytes;
	pthread_mutex_init(&recorder->lock, NULL);
	return recorder;
}

static void recorded_fini(struct fb_recorded *r)
{
	fb_frame_unref(r->frame);
	free(r->response);
	free(r->reason);
}

static size_t bytes_of(const struct fb_recorded *r)
{
	return r->frame->n + r->response_n;
}

static void drop_oldest(struct fb_recorder *recorder)
{
	struct fb_recorded *r = &recorder->ring[recorder->first];

	recorder->bytes -= bytes_of(r);
	recorded_fini(r);
	recorder->first = (recorder->first + 1) % recorder->cap;
	recorder->n--;
}

void fb_recorder_free(struct fb_recorder *recorder)
{
	if (!recorder)
		return;
	while (recorder->n)
		drop_oldest(recorder);
	free(recorder->ring);
	pthread_mutex_destroy(&recorder->lock);
	free(recorder);
}

static void add(struct fb_recorder *recorder, struct fb_recorded *r)
{
	size_t bytes = bytes_of(r);

	pthread_mutex_lock(&recorder->lock);
	while (recorder->n && (recorder->n == recorder->cap || recorder->bytes + bytes > recorder->max_bytes))
		drop_oldest(recorder);
	r->id = ++recorder->next_id;
	recorder->ring[(recorder->first + recorder->n++) % recorder->cap] = *r;
	recorder->bytes += bytes;
	if (recorder->added)
		recorder->added(recorder->arg);
	pthread_mutex_unlock(&recorder->lock);
}

/* The beginning of the response; a fetched megabyte is in the log anyway. */
static void copy_response(struct fb_recorded *r, const struct kw_buf *response)
{
	enum { IOVS = 2 * (FB_RECORDED_RESPONSE / KW_REF_MIN) + 2 };   /* more than hold that many bytes */
	size_t n = kw_buf_len(response), at = 0;
	struct iovec iov[IOVS];

	r->response_cut = n > FB_RECORDED_RESPONSE;
	n = r->response_cut ? FB_RECORDED_RESPONSE : n;
	r->response = malloc(n ? n : 1);
	if (!r->response)
		return;
	kw_buf_iov(response, iov, IOVS);
	for (size_t i = 0; at < n; i++) {
		size_t k = iov[i].iov_len < n - at ? iov[i].iov_len : n - at;

		memcpy(r->response + at, iov[i].iov_base, k);
		at += k;
	}
	r->response_n = at;
}

static struct fb_recorded start(const struct fb_node *node, const struct fb_conn *conn, struct fb_frame *frame,
				const char *fate)
{
	struct fb_recorded r = {.node = node->id, .connection = fb_conn_id(conn), .port = fb_conn_port(conn),
				.fate = fate, .frame = fb_frame_ref(frame)};

	memccpy(r.address, fb_conn_address(conn), '\0', sizeof r.address - 1);
	r.address[sizeof r.address - 1] = '\0';
	return r;
}

void fb_recorder_add(struct fb_recorder *recorder, const struct fb_request *req, const struct kw_buf *response,
		     const char *fate)
{
	struct fb_recorded r = start(req->node, req->conn, req->frame, fate);

	r.api = req->api->key;
	r.version = (int16_t)req->version;
	r.response_version = (int16_t)(req->header_version_override >= 0 ? req->header_version_override : req->version);
	r.time_ms = fb_cluster_now(req->cluster);
	if (response)
		copy_response(&r, response);
	add(recorder, &r);
}

void fb_recorder_add_unparsed(struct fb_recorder *recorder, const struct fb_node *node, const struct fb_conn *conn,
			      struct fb_frame *frame, const char *reason)
{
	struct fb_recorded r = start(node, conn, frame, "closed");

	r.api = r.version = -1;
	r.reason = strdup(reason);
	add(recorder, &r);
}

/* ---- reading back ---- */

static bool matches(const struct fb_recorded *r, const struct fb_record_filter *filter)
{
	return (filter->api < 0 || r->api == filter->api) && (filter->node < 0 || r->node == filter->node);
}

/* Place in the ring of the first request after an id; n if there is none. Ids have no gaps. */
static size_t place_after(const struct fb_recorder *recorder, uint64_t id)
{
	uint64_t first = recorder->next_id - recorder->n;   /* the id before the first that is kept */

	if (id <= first)
		return 0;
	return id - first < recorder->n ? (size_t)(id - first) : recorder->n;
}

static const struct fb_recorded *at(const struct fb_recorder *recorder, size_t i)
{
	return &recorder->ring[(recorder->first + i) % recorder->cap];
}

/* A copy with references of its own. */
static void copy_recorded(struct fb_recorded *out, const struct fb_recorded *r)
{
	*out = *r;
	fb_frame_ref(out->frame);
	out->reason = r->reason ? strdup(r->reason) : NULL;
	out->response = r->response_n ? malloc(r->response_n) : NULL;
	out->response_n = out->response ? r->response_n : 0;
	if (out->response)
		memcpy(out->response, r->response, r->response_n);
}

/* The next one that the filter lets through, copied. */
static bool next(struct fb_recorder *recorder, struct fb_record_filter *filter, struct fb_recorded *out)
{
	bool found = false;

	pthread_mutex_lock(&recorder->lock);
	for (size_t i = place_after(recorder, filter->after); i < recorder->n && !found; i++) {
		const struct fb_recorded *r = at(recorder, i);

		filter->after = r->id;
		found = matches(r, filter);
		if (found)
			copy_recorded(out, r);
	}
	pthread_mutex_unlock(&recorder->lock);
	return found;
}

/* The last one before an id that the filter lets through, copied. */
static bool previous(struct fb_recorder *recorder, const struct fb_record_filter *filter, uint64_t *before,
		     struct fb_recorded *out)
{
	bool found = false;

	pthread_mutex_lock(&recorder->lock);
	for (size_t i = place_after(recorder, *before - 1); i > 0 && !found; i--) {
		const struct fb_recorded *r = at(recorder, i - 1);

		*before = r->id;
		found = matches(r, filter);
		if (found)
			copy_recorded(out, r);
	}
	pthread_mutex_unlock(&recorder->lock);
	return found;
}

json_t *fb_recorder_json(struct fb_recorder *recorder, const struct fb_record_filter *filter)
{
	struct fb_record_filter left = *filter;
	uint64_t before = UINT64_MAX;
	json_t *out = json_array();
	size_t n = 0, bytes = 0;
	bool failed = !out;
	struct fb_recorded r;

	while (!failed && n < filter->limit && bytes <= ANSWER_BYTES &&
	       (filter->newest ? previous(recorder, filter, &before, &r) : next(recorder, &left, &r))) {
		bool wanted = !filter->topic || fb_recorded_mentions(&r, filter->topic);

		bytes += wanted ? bytes_of(&r) : 0;
		if (wanted && (n == 0 || bytes <= ANSWER_BYTES)) {
			failed = json_array_insert_new(out, filter->newest ? 0 : n,
						       fb_recorded_json(&r, filter->bytes)) < 0;
			n++;
		}
		recorded_fini(&r);
	}
	if (!failed)
		return out;
	json_decref(out);
	return NULL;
}

void fb_recorder_clear(struct fb_recorder *recorder)
{
	pthread_mutex_lock(&recorder->lock);
	while (recorder->n)
		drop_oldest(recorder);
	pthread_mutex_unlock(&recorder->lock);
}

size_t fb_recorder_count(struct fb_recorder *recorder, struct fb_record_filter *filter)
{
	size_t n = 0;

	pthread_mutex_lock(&recorder->lock);
	for (size_t i = place_after(recorder, filter->after); i < recorder->n; i++)
		n += matches(at(recorder, i), filter);
	if (filter->after < recorder->next_id)
		filter->after = recorder->next_id;
	pthread_mutex_unlock(&recorder->lock);
	return n;
}

void fb_recorder_notify(struct fb_recorder *recorder, void (*added)(void *arg), void *arg)
{
	pthread_mutex_lock(&recorder->lock);
	recorder->added = added;
	recorder->arg = arg;
	pthread_mutex_unlock(&recorder->lock);
}
