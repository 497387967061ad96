/* What observers are shown of a request: after its response is built, and before an append. */
#include <assert.h>

#include "fakebroker/mutants.h"
#include "fakebroker/request.h"

/* ---- where responses have their error codes ---- */

/* A response's structs in preorder, without those that hold no code. */
struct place {
	uint32_t offset;               /* in the struct around it: of a code, or of an array */
	uint32_t size;                 /* of an array's element; 0: it is a code */
	uint32_t inside;               /* an array's element has the places that follow, so many of them */
};

enum { KEYS = 128, PLACES = 256, NO_THROTTLE = -1 };

static struct place places[PLACES];

static struct shape {
	const char *api;
	const struct place *first, *end;
	int32_t throttle;              /* offset of throttleTimeMs, or NO_THROTTLE */
} shapes[KEYS];

static uint32_t find_places(const struct kw_struct *st, uint32_t n)
{
	for (uint32_t i = 0; i < st->nfields; i++) {
		const struct kw_field *field = &st->fields[i];
		uint32_t here = n;

		assert(n < PLACES);
		if (field->type == KW_INT16 && strcmp(field->name, "errorCode") == 0) {
			places[n++] = (struct place){.offset = field->offset};
		} else if (field->type == KW_STRUCT && field->flags & KW_F_ARRAY) {
			n = find_places(field->sub, here + 1);
			if (n == here + 1)
				n = here;
			else
				places[here] = (struct place){field->offset, (uint32_t)field->sub->size, n - here - 1};
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

static void count_codes(const struct place *place, const struct place *end, const char *in, struct codes *codes);

/* Of the elements of an array that have one code and nothing else. */
static inline void count_column(const struct place *array, const char *in, struct codes *codes)
{
	const struct kw_arr *arr = (const void *)(in + array->offset);
	const char *at = (const char *)arr->v + array[1].offset;

	for (int32_t i = 0; i < arr->n; i++, at += array->size)
		count_code(codes, at);
}

static void count_elements(const struct place *array, const char *in, struct codes *codes)
{
	const struct kw_arr *arr = (const void *)(in + array->offset);
	const struct place *first = array + 1;
	const char *at = arr->v;
	bool columns = first->size && array->inside == 2;   /* topics with partitions with a code: worth no call each */

	for (int32_t i = 0; i < arr->n; i++, at += array->size)
		if (columns)
			count_column(first, at, codes);
		else
			count_codes(first, first + array->inside, at, codes);
}

/* The error codes of a response at all levels. */
static void count_codes(const struct place *place, const struct place *end, const char *in, struct codes *codes)
{
	for (; place < end; place += 1 + place->inside)
		if (!place->size)
			count_code(codes, in + place->offset);
		else if (place->inside == 1)
			count_column(place, in, codes);
		else
			count_elements(place, in, codes);
}

/* ---- exchanges ---- */

struct kassay_partition *fb_request_partitions(struct fb_request *req, int32_t n)
{
	req->partitions = kw_alloc(&req->arena, (size_t)n * sizeof *req->partitions);
	req->npartitions = req->partitions ? n : 0;
	for (int32_t i = 0; i < req->npartitions; i++)
		fb_partition_init(&req->partitions[i]);
	return req->partitions;
}

static struct kassay_str str_of(const char *s)
{
	return (struct kassay_str){s, (int32_t)strlen(s)};
}

static void describe(const struct fb_request *req, const struct shape *shape, struct fb_exchange *x)
{
	const struct kassay_str null = {NULL, -1};
	struct kw_str address = fb_conn_address_str(req->conn);

	*x = (struct fb_exchange){
		.view = {
			.struct_size = sizeof x->view,
			.id = req->id,
			.node = req->node->id,
			.listener = str_of(req->node->auth.name),
			.principal = fb_mutant(FB_M_PRINCIPAL_HIDDEN) ? null : str_of(fb_request_principal(req)),
			.address = {address.s, address.n},
			.clientId = fb_mutant(FB_M_CLIENT_ID_HIDDEN) ? null : fb_hook_str(req->header->clientId),
			.apiKey = req->api->key,
			.apiVersion = (int16_t)req->version,
			.correlationId = req->header->correlationId,
			.api = shape->api,
			.request_bytes = (int64_t)req->frame->n + 4,
			.queue_ns = req->started_ns - fb_conn_received_ns(req->conn),
			.partition_count = fb_mutant(FB_M_FIRST_PARTITION_ONLY) && req->npartitions > 1
					   ? 1 : req->npartitions,
			.partition = fb_exchange_partition,
		},
		.partitions = req->partitions,
	};
}

/* Does a mutant keep the request from observers? */
static bool is_unobserved(const struct fb_request *req, bool replied, const struct fb_exchange *x)
{
	return (fb_mutant(FB_M_SILENT_UNOBSERVED) && !replied) ||
	       (fb_mutant(FB_M_ERRORS_UNOBSERVED) && x->view.error_count > 0) ||
	       (fb_mutant(FB_M_CLOSED_UNOBSERVED) && !replied && x->view.error_count > 0) ||
	       (fb_mutant(FB_M_ONLY_RECORDS_OBSERVED) && req->npartitions == 0) ||
	       (fb_mutant(FB_M_FETCH_UNOBSERVED) && strcmp(kw_api_name(req->api->key), "Fetch") == 0);
}

/* Apart from what calls it, which for an idle observer is short thereby. */
static __attribute__((noinline)) void observe(struct fb_request *req, bool replied, size_t response_bytes)
{
	const struct shape *shape = shape_of(req->api);
	struct fb_exchange x;
	int64_t now;

	describe(req, shape, &x);
	x.view.response_bytes = fb_mutant(FB_M_RESPONSE_BYTES_UNTOLD) ? 0 : (int64_t)response_bytes;
	now = fb_now_ns();
	x.view.service_ns = now - req->started_ns;
	x.view.has_response = replied;
	if (req->response) {
		struct codes codes = {0};

		count_codes(shape->first, shape->end, req->response, &codes);
		x.view.error = codes.first;
		x.view.error_count = codes.n;
		if (shape->throttle != NO_THROTTLE)
			x.view.throttleTimeMs = *(const int32_t *)(const void *)((const char *)req->response +
										 shape->throttle);
	}
	if (!is_unobserved(req, replied, &x))
		fb_observer_show(&req->node->observer, &x, false, &now);
	if (fb_mutant(FB_M_OBSERVED_TWICE))
		fb_observer_show(&req->node->observer, &x, false, &now);
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

	if (fb_mutant(FB_M_PRODUCE_UNOBSERVED))
		return;
	describe(req, shape_of(req->api), &x);
	fb_observer_show(&req->node->observer, &x, true, &now);
}
