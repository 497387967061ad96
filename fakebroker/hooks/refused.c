#include "fakebroker/hooks/refused.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A record and the block of memory that it begins. */
struct kept {
	struct fb_refused_record record;
	size_t bytes;             /* of the block */
	uint8_t rest[];
};

struct fb_refused {
	enum fb_refused_keep keep;
	pthread_mutex_t lock;     /* guards what follows */
	struct kept *ring[FB_REFUSED_RECORDS];
	size_t first, n, bytes;
	uint64_t total;
};

struct fb_refused *fb_refused_new(enum fb_refused_keep keep)
{
	struct fb_refused *refused = calloc(1, sizeof *refused);

	if (!refused)
		return NULL;
	refused->keep = keep;
	pthread_mutex_init(&refused->lock, NULL);
	return refused;
}

void fb_refused_record_unref(struct fb_refused_record *record)
{
	if (atomic_fetch_sub_explicit(&record->refs, 1, memory_order_acq_rel) == 1)
		free(record);
}

static void drop_oldest(struct fb_refused *refused)
{
	struct kept *kept = refused->ring[refused->first];

	refused->bytes -= kept->bytes;
	refused->first = (refused->first + 1) % FB_REFUSED_RECORDS;
	refused->n--;
	fb_refused_record_unref(&kept->record);
}

void fb_refused_free(struct fb_refused *refused)
{
	if (!refused)
		return;
	while (refused->n > 0)
		drop_oldest(refused);
	pthread_mutex_destroy(&refused->lock);
	free(refused);
}

/* ---- copying ---- */

static int32_t part(const struct fb_refused *refused, int32_t size)
{
	if (size <= 0 || refused->keep == FB_KEEP_METADATA)
		return 0;
	return size < FB_REFUSED_PART ? size : FB_REFUSED_PART;
}

static int32_t kept_headers(const struct fb_refused *refused, const struct kw_record *record)
{
	if (refused->keep == FB_KEEP_METADATA || !record->headers)
		return 0;
	return record->nheaders < FB_REFUSED_HEADERS ? record->nheaders : FB_REFUSED_HEADERS;
}

static size_t room(const struct fb_refused *refused, const struct fb_batch_place *place, struct kw_str clientId,
		   const struct kw_record *record, const struct fb_rejection *rejection)
{
	int32_t nkept = kept_headers(refused, record);
	size_t n = (size_t)nkept * sizeof(struct fb_refused_header);

	n += strlen(place->topic) + strlen(rejection->validator) + strlen(rejection->text) + 3;
	n += (size_t)(clientId.n > 0 ? clientId.n : 0);
	n += (size_t)(part(refused, record->key.n) + part(refused, record->value.n));
	for (int32_t i = 0; i < nkept; i++)
		n += (size_t)(part(refused, record->headers[i].key.n) + part(refused, record->headers[i].value.n));
	return n;
}

static struct fb_refused_bytes put(uint8_t **at, const void *p, int32_t size, int32_t n)
{
	struct fb_refused_bytes bytes = {*at, size, n};

	if (n > 0)
		memcpy(*at, p, (size_t)n);
	*at += n;
	return bytes;
}

static const char *put_text(uint8_t **at, const char *text)
{
	size_t n = strlen(text) + 1;
	char *copy = memcpy(*at, text, n);

	*at += n;
	return copy;
}

static void put_headers(const struct fb_refused *refused, struct fb_refused_record *out, uint8_t **at,
			const struct kw_record *record)
{
	struct fb_refused_header *headers = (struct fb_refused_header *)(void *)*at;

	out->nheaders = record->nheaders;
	out->nkept = kept_headers(refused, record);
	out->headers = headers;
	*at += (size_t)out->nkept * sizeof *headers;
	for (int32_t i = 0; i < out->nkept; i++) {
		const struct kw_header *header = &record->headers[i];

		headers[i].key = put(at, header->key.s, header->key.n, part(refused, header->key.n));
		headers[i].value = put(at, header->value.p, header->value.n, part(refused, header->value.n));
	}
}

static struct kept *copy(const struct fb_refused *refused, const struct fb_batch_place *place, struct kw_str clientId,
			 const struct kw_record *record, const struct fb_rejection *rejection)
{
	size_t bytes = sizeof(struct kept) + room(refused, place, clientId, record, rejection);
	struct kept *kept = malloc(bytes);
	uint8_t *at;

	if (!kept)
		return NULL;
	at = kept->rest;
	kept->bytes = bytes;
	kept->record = (struct fb_refused_record){
		.partition = place->partition, .offsetDelta = record->offsetDelta, .size = (int32_t)record->size,
		.timestamp = fb_record_timestamp(place, record), .error = rejection->error,
	};
	atomic_init(&kept->record.refs, 1);
	put_headers(refused, &kept->record, &at, record);   /* first: they are aligned */
	kept->record.topic = put_text(&at, place->topic);
	kept->record.validator = put_text(&at, rejection->validator);
	kept->record.reason = put_text(&at, rejection->text);
	kept->record.clientId = put(&at, clientId.s, clientId.n, clientId.n > 0 ? clientId.n : 0);
	kept->record.key = put(&at, record->key.p, record->key.n, part(refused, record->key.n));
	kept->record.value = put(&at, record->value.p, record->value.n, part(refused, record->value.n));
	return kept;
}

void fb_refused_add(struct fb_refused *refused, const struct fb_batch_place *place, struct kw_str clientId, int64_t now,
		    int32_t index, const struct kw_record *record, const struct fb_rejection *rejection)
{
	struct kept *kept;

	if (!refused || refused->keep == FB_KEEP_NONE)
		return;
	kept = copy(refused, place, clientId, record, rejection);
	pthread_mutex_lock(&refused->lock);
	refused->total++;
	if (kept) {
		kept->record.id = refused->total;
		kept->record.time = now;
		kept->record.index = index;
		while (refused->n == FB_REFUSED_RECORDS ||
		       (refused->n > 0 && refused->bytes + kept->bytes > FB_REFUSED_BYTES))
			drop_oldest(refused);
		refused->ring[(refused->first + refused->n++) % FB_REFUSED_RECORDS] = kept;
		refused->bytes += kept->bytes;
	}
	pthread_mutex_unlock(&refused->lock);
}

size_t fb_refused_get(struct fb_refused *refused, struct fb_refused_record **out, uint64_t *total)
{
	size_t n;

	pthread_mutex_lock(&refused->lock);
	n = refused->n;
	*total = refused->total;
	for (size_t i = 0; i < n; i++) {
		out[i] = &refused->ring[(refused->first + i) % FB_REFUSED_RECORDS]->record;
		atomic_fetch_add_explicit(&out[i]->refs, 1, memory_order_relaxed);
	}
	pthread_mutex_unlock(&refused->lock);
	return n;
}
