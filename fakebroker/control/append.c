/* Bytes put into a partition's log as they are. */
#include <stdlib.h>

#include "fakebroker/control/endpoints.h"
#include "lib/text/base64.h"

static const char FORM[] = "base64 is expected, or an object with one of \"hex\", \"base64\" and \"batches\"";

/* Appends what a string of digits says. */
static int put_digits(json_t *json, long (*decode)(const char *, size_t, uint8_t *), const char *wrong,
		      struct kw_buf *out, struct kt_err *err)
{
	const char *s = json_string_value(json);
	size_t n = s ? strlen(s) : 0;
	uint8_t *p;
	long size;

	if (!s)
		return kt_fail(err, KT_ETYPE, "%s", FORM);
	p = kw_buf_room(out, n + 3);
	if (!p)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	size = decode(s, n, p);
	if (size < 0)
		return kt_fail(err, KT_ESYNTAX, "%s", wrong);
	out->n += (size_t)size;
	return 0;
}

static int put_set(json_t *json, struct kw_buf *out, struct kt_err *err)
{
	json_t *hex = json_object_get(json, "hex"), *base64 = json_object_get(json, "base64");
	json_t *batches = json_object_get(json, "batches");

	if (json_is_string(json))
		return put_digits(json, kt_base64_decode, "not valid base64", out, err);
	if (json_object_size(json) != 1)
		return kt_fail(err, KT_ETYPE, "%s", FORM);
	if (hex)
		return put_digits(hex, kt_hex_decode, "not pairs of hex digits", out, err);
	if (base64)
		return put_digits(base64, kt_base64_decode, "not valid base64", out, err);
	if (batches)
		return kw_batches_from_json(batches, out, err);
	return kt_fail(err, KT_ETYPE, "%s", FORM);
}

int fb_append_read(struct kt_obj *obj, struct kw_buf *set, bool *keep_offsets)
{
	json_t *records;

	kt_obj_need(obj, "records", NULL);
	records = kt_obj_any(obj, "records");
	kt_obj_bool(obj, "keepOffsets", keep_offsets);
	if (kt_obj_done(obj) < 0)
		return obj->err->code;
	if (put_set(records, set, obj->err) == 0)
		return 0;
	return kt_obj_place(obj, "records");
}

static json_t *append(struct fb_partition *partition, const struct kw_buf *set, bool keep_offsets, struct kt_err *err)
{
	struct fb_log *log = &partition->log;
	size_t before = log->n - log->first, dropped = log->dropped;
	json_int_t first = log->logEndOffset;
	json_t *json = json_pack("{s:I, s:I, s:I}", "firstOffset", first, "logEndOffset", first, "batches", first);

	/* Nothing is appended that could not be told. */
	if (!json) {
		kt_fail(err, KT_ENOMEM, "out of memory");
		return NULL;
	}
	if (fb_log_append_set(log, set->p, set->n, keep_offsets, partition->leaderEpoch, err) < 0) {
		json_decref(json);
		return NULL;
	}
	json_integer_set(json_object_get(json, "logEndOffset"), (json_int_t)log->logEndOffset);
	json_integer_set(json_object_get(json, "batches"),
			 (json_int_t)(log->n - log->first + (log->dropped - dropped) - before));
	return json;
}

json_t *fb_append_json(struct fb_cluster *cluster, const char *topic, int32_t index, const struct kw_buf *set,
		       bool keep_offsets, struct kt_err *err)
{
	struct fb_partition *partition;
	json_t *json = NULL;
	struct fb_topic *t;

	pthread_rwlock_rdlock(&cluster->lock);
	t = fb_topic_find(cluster, kw_str(topic));
	partition = t ? fb_topic_partition(t, index) : NULL;
	if (partition) {
		pthread_mutex_lock(&partition->lock);
		partition->log.now = fb_cluster_now(cluster);
		json = append(partition, set, keep_offsets, err);
		pthread_mutex_unlock(&partition->lock);
	}
	pthread_rwlock_unlock(&cluster->lock);
	if (json && cluster->server)
		fb_server_poke(cluster->server);
	return json;
}
