#include "fakebroker/api/fetch_old.h"

#include "fakebroker/cluster/log_line.h"
#include "fakebroker/log/down_convert.h"
#include "lib/wire/errors.h"

/* The first version whose clients know zstd. */
enum { KNOWS_ZSTD = 10 };

int16_t fb_fetch_old_refuses(const struct fb_request *req, const struct fb_topic *topic)
{
	if (!fb_release_before(req->cluster->release, "4.0"))
		return 0;
	if (req->version < KNOWS_ZSTD && topic->conf.compression == KW_ZSTD)
		return KW_ERR_UNSUPPORTED_COMPRESSION_TYPE;
	if (req->version <= FB_FETCH_LAST_OLD &&
	    !fb_configs_bool(req->cluster->configs, FB_TOPIC, kw_str(topic->name), req->node->id,
			     "message.downconversion.enable", true))
		return KW_ERR_UNSUPPORTED_VERSION;
	return 0;
}

void fb_fetch_old_fail(struct kw_FetchResponse_PartitionData *data, int16_t error)
{
	data->errorCode = error;
	data->highWatermark = data->lastStableOffset = data->logStartOffset = -1;
	data->abortedTransactions.n = 0;
	data->records = (struct kw_records){.n = -1};
}

/* What observers are shown in place of what they were to be shown; null records are none. */
static void show(struct kassay_partition *shown, int16_t error, const struct kw_records *records)
{
	shown->error = error;
	shown->bytes = records->n > 0 ? records->n : 0;
	shown->records = 0;
	shown->codec = -1;
	shown->flags = 0;
	if (records->n > 0 && fb_partition_count_messages(records, shown) < (size_t)records->n)
		shown->flags |= KASSAY_PARTIAL;
}

/* FetchRequest.getErrorResponse. */
static void fail_all(struct fb_request *req, int16_t error)
{
	struct kw_FetchResponse *response = req->response;

	for (int32_t t = 0; t < response->responses.n; t++)
		for (int32_t p = 0; p < response->responses.v[t].partitions.n; p++)
			fb_fetch_old_fail(&response->responses.v[t].partitions.v[p], error);
	for (int32_t i = 0; i < req->npartitions; i++)
		show(&req->partitions[i], error, &(struct kw_records){.n = -1});
}

static void tell(const struct fb_request *req, const struct fb_fetch_want *want, const struct kt_err *err)
{
	fb_log_line(KASSAY_INFO,
		    "node %d: %.*s-%d cannot be converted for Fetch %d from offset %lld on: %s", req->node->id,
		    (int)want->topic.n, want->topic.s, want->data.partition, req->version,
		    (long long)want->data.fetchOffset, err->text);
}

/* 0, or how fb_down_convert fails other than for zstd. */
static int convert(struct fb_request *req, const struct fb_fetch_want *want,
		   struct kw_FetchResponse_PartitionData *data)
{
	struct kt_err err = {0};
	struct fb_frame *frame;
	int code = fb_down_convert(&data->records, req->version < FB_FETCH_MAGIC_1 ? 0 : 1, want->data.fetchOffset,
				   &frame, &err);

	if (code)
		tell(req, want, &err);
	if (code == KT_EUNKNOWN) {
		fb_fetch_old_fail(data, KW_ERR_UNSUPPORTED_COMPRESSION_TYPE);
		return 0;
	}
	if (code)
		return code;
	data->records = (struct kw_records){.p = frame->p, .n = (int32_t)frame->n};
	return fb_request_keep_take(req, &frame, 1);
}

enum fb_outcome fb_fetch_old_convert(struct fb_request *req, const struct fb_fetch_context *context)
{
	struct kw_FetchResponse *response = req->response;
	size_t i = 0;

	for (int32_t t = 0; t < response->responses.n; t++) {
		for (int32_t p = 0; p < response->responses.v[t].partitions.n; p++, i++) {
			struct kw_FetchResponse_PartitionData *data = &response->responses.v[t].partitions.v[p];
			int code = data->records.n > 0 ? convert(req, &context->wants[context->order[i]], data) : 0;

			if (code == KT_ECLOSED || code == KT_ENOMEM)
				return FB_CLOSE;
			if (code) {
				fail_all(req,
					 code == KT_ECORRUPT ? KW_ERR_INVALID_RECORD : KW_ERR_UNKNOWN_SERVER_ERROR);
				return FB_REPLY;
			}
			if (req->npartitions)
				show(&req->partitions[i], data->errorCode, &data->records);
		}
	}
	return FB_REPLY;
}
