/* What observers are shown of a request: after its response is built, and before an append. */
#include <assert.h>

#include "fakebroker/mutants.h"
#include "fakebroker/request.h"
#include "lib/wire/legacy.h"

/* ---- where responses have their error codes ---- */

enum kind {
	CODE,
	COLUMN,                        /* an array whose elements have one code */
	COLUMNS,                       /* an array whose elements have a column and no more: topics with partitions */
	ELEMENTS,                      /* any other array */
};

/* A response's structs in preorder, without those that hold no code. */
struct place {
	enum kind kind;
	uint32_t offset;               /* in the struct around it: of a code, or of an array */
	uint32_t size;                 /* of an array's element */
	uint32_t inside;               /* an array's element has the places that follow, so many of them */
};

enum { KEYS = 128, PLACES = 256, NO_THROTTLE = -1 };

static struct place places[PLACES];

static struct shape {
	const char *api;
	const struct place *first, *end;
	int32_t throttle;              /* offset of throttleTimeMs, or NO_THROTTLE */
} shapes[KEYS];

static enum kind kind_of(const struct place *first, uint32_t n)
{
	if (n == 1)
		return COLUMN;
	return n == 2 && first->kind == COLUMN ? COLUMNS : ELEMENTS;
}

static uint32_t find_places(const struct kw_struct *st, uint32_t n)
{
	for (uint32_t i = 0; i < st->nfields; i++) {
		const struct kw_field *field = &st->fields[i];
		uint32_t here = n, inside;

		assert(n < PLACES);
		if (field->type == KW_INT16 && strcmp(field->name, "errorCode") == 0) {
			places[n++] = (struct place){.kind = CODE, .offset = field->offset};
		} else if (field->type == KW_STRUCT && field->flags & KW_F_ARRAY) {
			inside = find_places(field->sub, here + 1) - here - 1;
			if (inside == 0)
				continue;
			places[here] = (struct place){kind_of(&places[here + 1], inside), field->offset,
						      (uint32_t)field->sub->size, inside};
			n += 1 + inside;
		}
	}
	return n;
}

static void find_shapes(void)
{
	const struct fb_api *api;
	uint32_t n = 0;

	for (size_t i = 0; (api = fb_api_at(i)); i++) {
		const struct kw_struct *root = kw_response(api->key)->root;
		struct shape *shape = &shapes[api->key];

		assert(api->key < KEYS);
		*shape = (struct shape){.api = kw_api_name(api->key), .first = &places[n], .throttle = NO_THROTTLE};
		n = find_places(root, n);
		shape->end = &places[n];
		for (uint32_t k = 0; k < root->nfields; k++)
			if (strcmp(root->fields[k].name, "throttleTimeMs") == 0)
				shape->throttle = (int32_t)root->fields[k].offset;
	}
}

static const struct shape *shape_of(const struct fb_api *api)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_shapes);
	return &shapes[api->key];
}

struct codes {
	int16_t first;
	int32_t n;
};

static inline void count_code(struct codes *codes, const void *at)
{
	int16_t code = *(const int16_t *)at;

	if (code == 0)
		return;
	if (codes->n++ == 0)
		codes->first = code;
}

static inline void count_column(const struct place *column, const char *in, struct codes *codes)
{
	const struct kw_arr *arr = (const void *)(in + column->offset);
	const char *at = (const char *)arr->v + column[1].offset;

	for (int32_t i = 0; i < arr->n; i++, at += column->size)
		count_code(codes, at);
}

static inline void count_columns(const struct place *array, const char *in, struct codes *codes)
{
	const struct kw_arr *arr = (const void *)(in + array->offset);
	const char *at = arr->v;

	for (int32_t i = 0; i < arr->n; i++, at += array->size)
		count_column(array + 1, at, codes);
}

static void count_elements(const struct place *array, const char *in, struct codes *codes);

/* The error codes of a response at all levels. */
static inline void count_codes(const struct place *place, const struct place *end, const char *in, struct codes *codes)
{
	for (; place < end; place += 1 + place->inside)
		if (place->kind == CODE)
			count_code(codes, in + place->offset);
		else if (place->kind == COLUMNS)
			count_columns(place, in, codes);
		else
			count_elements(place, in, codes);
}

static __attribute__((cold)) void count_elements(const struct place *array, const char *in, struct codes *codes)
{
	const struct kw_arr *arr = (const void *)(in + array->offset);
	const char *at = arr->v;

	for (int32_t i = 0; i < arr->n; i++, at += array->size)
		count_codes(array + 1, array + 1 + array->inside, at, codes);
}

/* ---- exchanges ---- */

/* All but what the response says. Field by field: what is assigned as a whole is cleared before. */
KT_ALL_MEMBERS(struct kassay_exchange, partition, 0, 0, 0, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, 0, 0, 0, NULL, 0,
	       0, 0, 0, 0, 0, 0, 0, 0, NULL);
static inline void describe(const struct fb_request *req, const struct shape *shape, struct fb_exchange *x)
{
	struct kassay_exchange *view = &x->view;

	view->struct_size = sizeof *view;
	view->id = req->id;
	view->node = req->node->id;
	view->listener = req->session->listener;
	view->principal = req->session->principal;
	view->address = req->session->address;
	view->clientId = fb_hook_str(req->header->clientId);
	view->apiKey = req->api->key;
	view->apiVersion = (int16_t)req->version;
	view->correlationId = req->header->correlationId;
	view->api = shape->api;
	view->request_bytes = (int64_t)req->frame->n + 4;
	view->response_bytes = 0;
	view->queue_ns = req->started_ns - fb_conn_received_ns(req->conn);
	view->service_ns = 0;
	view->throttleTimeMs = 0;
	view->has_response = 0;
	view->error = 0;
	view->error_count = 0;
	view->partition_count = req->npartitions;
	view->partition = fb_exchange_partition;
	x->partitions = req->partitions;
}

static inline void describe_response(const struct fb_request *req, const struct shape *shape,
				     struct kassay_exchange *view)
{
	const char *response = req->response;
	struct codes codes = {0};

	count_codes(shape->first, shape->end, response, &codes);
	view->error = codes.first;
	view->error_count = codes.n;
	if (shape->throttle != NO_THROTTLE)
		view->throttleTimeMs = *(const int32_t *)(const void *)(response + shape->throttle);
}

/* ---- records of messages without a header ---- */

static int count_message(void *arg, int32_t index, const struct kw_legacy *message)
{
	int64_t *n = arg;

	(void)index;
	(void)message;
	++*n;
	return 0;
}

size_t fb_partition_count_messages(const struct kw_records *records, struct kassay_partition *p)
{
	struct kw_legacy message;
	enum kw_walk why;
	size_t at;

	for (at = 0; kw_legacy_parse(records->p + at, (size_t)records->n - at, &message, NULL) == 0;
	     at += message.size) {
		if (at == 0)
			p->codec = message.attributes & KW_A_CODEC;
		kw_legacy_walk(&message, NULL, count_message, &p->records, &why, NULL);
		if (message.attributes & KW_A_CODEC)
			p->flags |= KASSAY_COUNTED;
	}
	return at;
}

/* ---- showing them ---- */

/* How often do mutants have an exchange shown? */
static int times(const struct kassay_exchange *view, bool produce)
{
	bool replied = view->has_response;

	if (produce)
		return !fb_mutant(FB_M_PRODUCE_UNOBSERVED);
	if ((fb_mutant(FB_M_SILENT_UNOBSERVED) && !replied) ||
	    (fb_mutant(FB_M_ERRORS_UNOBSERVED) && view->error_count > 0) ||
	    (fb_mutant(FB_M_CLOSED_UNOBSERVED) && !replied && view->error_count > 0) ||
	    (fb_mutant(FB_M_ONLY_RECORDS_OBSERVED) && view->partition_count == 0) ||
	    (fb_mutant(FB_M_FETCH_UNOBSERVED) && strcmp(view->api, "Fetch") == 0))
		return 0;
	return fb_mutant(FB_M_OBSERVED_TWICE) ? 2 : 1;
}

static __attribute__((cold)) void show_mutated(struct fb_request *req, struct fb_exchange *x, bool produce,
					       int64_t *now)
{
	const struct kassay_str null = {NULL, -1};

	if (fb_mutant(FB_M_PRINCIPAL_HIDDEN))
		x->view.principal = null;
	if (fb_mutant(FB_M_CLIENT_ID_HIDDEN))
		x->view.clientId = null;
	if (fb_mutant(FB_M_RESPONSE_BYTES_UNTOLD))
		x->view.response_bytes = 0;
	if (fb_mutant(FB_M_FIRST_PARTITION_ONLY) && x->view.partition_count > 1)
		x->view.partition_count = 1;
	for (int n = times(&x->view, produce); n > 0; n--)
		fb_observer_show(&req->node->observer, x, produce, now);
}

static inline void show(struct fb_request *req, struct fb_exchange *x, bool produce, int64_t *now)
{
	if (fb_mutated())
		show_mutated(req, x, produce, now);
	else
		fb_observer_show(&req->node->observer, x, produce, now);
}

/* Apart from what calls it, which for an idle observer is short thereby. */
static __attribute__((noinline)) void observe(struct fb_request *req, bool replied, size_t response_bytes)
{
	const struct shape *shape = shape_of(req->api);
	int64_t now = fb_hook_now();
	struct fb_exchange x;

	describe(req, shape, &x);
	x.view.response_bytes = (int64_t)response_bytes;
	x.view.service_ns = now - req->started_ns;
	x.view.has_response = replied;
	if (req->response)
		describe_response(req, shape, &x.view);
	show(req, &x, false, &now);
	fb_conn_turn(req->conn, now);
}

void fb_request_observe(struct fb_request *req, bool replied, size_t response_bytes)
{
	if (req->watched)
		observe(req, replied, response_bytes);
	else
		atomic_fetch_add_explicit(&req->node->passed, 1, memory_order_relaxed);
}

void fb_request_observe_produce(struct fb_request *req)
{
	struct fb_exchange x;
	int64_t now = 0;

	describe(req, shape_of(req->api), &x);
	show(req, &x, true, &now);
}
