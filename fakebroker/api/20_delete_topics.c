/* DeleteTopics (20): by name, from version 6 on also by id. */
#include "fakebroker/cluster/metadata_records.h"
#include "fakebroker/request.h"

#include "fakebroker/config/twins.h"
#include "lib/wire/errors.h"

static const struct kw_uuid no_id;

/* What an entry names; a null name goes with an id. */
struct target {
	struct kw_str name;
	struct kw_uuid id;
};

typedef struct kw_DeleteTopicsResponse_DeletableTopicResult result;

static void fail(result *out, int16_t error, const char *message)
{
	out->errorCode = error;
	out->errorMessage = kw_str(message);
}

static void delete(struct fb_request *req, const struct target *target, bool repeated, result *out)
{
	bool by_id = target->name.n < 0, has_id = !kw_uuid_eq(target->id, no_id);
	struct fb_topic *topic = by_id ? fb_topic_find_id(req->cluster, target->id)
				       : fb_topic_find(req->cluster, target->name);

	out->name = target->name;
	out->topicId = target->id;
	out->errorMessage = KW_NULL_STR;
	if (req->forced) {
		fail(out, req->forced, req->why);
	} else if (by_id && !has_id) {
		fail(out, KW_ERR_INVALID_REQUEST, "Neither topic name nor id were specified.");
	} else if (!by_id && has_id) {
		fail(out, KW_ERR_INVALID_REQUEST, "You may not specify both topic name and topic id.");
	} else if (repeated) {
		fail(out, KW_ERR_INVALID_REQUEST, by_id ? "Duplicate topic id." : "Duplicate topic name.");
	} else if (!topic && by_id) {
		fail(out, KW_ERR_UNKNOWN_TOPIC_ID, "This server does not host this topic ID.");
	} else if (!topic) {
		fail(out, KW_ERR_UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition.");
	} else {
		out->name = kw_str(kw_strndup(&req->arena, topic->name, strlen(topic->name)));
		out->topicId = topic->id;
		fb_write_topic_removal(req->cluster, topic);
		fb_topic_delete(req->cluster, topic);
	}
}

/* The entries of any version. NULL without memory. */
static struct target *targets_of(struct fb_request *req, int32_t *n)
{
	const struct kw_DeleteTopicsRequest *body = req->body;
	bool has_ids = req->version >= 6;
	struct target *targets;

	*n = has_ids ? body->topics.n : body->topicNames.n;
	targets = kw_alloc(&req->arena, (size_t)*n * sizeof *targets);
	for (int32_t i = 0; targets && i < *n; i++)
		targets[i] = has_ids ? (struct target){body->topics.v[i].name, body->topics.v[i].topicId}
				     : (struct target){body->topicNames.v[i], no_id};
	return targets;
}

static struct fb_twins *find_repeated(struct fb_request *req, const struct target *targets, int32_t n)
{
	struct fb_named *names = kw_alloc(&req->arena, (size_t)n * sizeof *names);

	for (int32_t i = 0; names && i < n; i++) {
		bool by_id = targets[i].name.n < 0;

		names[i].tag = by_id;
		names[i].name = by_id ? (struct kw_str){(const char *)targets[i].id.b, sizeof targets[i].id.b}
				      : targets[i].name;
	}
	return names ? fb_find_twins(names, (size_t)n, &req->arena) : NULL;
}

enum fb_outcome fb_delete_topics(struct fb_request *req)
{
	struct kw_DeleteTopicsResponse *response = req->response;
	int32_t n, answered = 0;
	struct target *targets = targets_of(req, &n);
	struct fb_twins *twins = targets ? find_repeated(req, targets, n) : NULL;

	if (!twins ||
	    !FB_RESPONSE_ARRAY(req, response->responses, kw_DeleteTopicsResponse_DeletableTopicResult_struct, n))
		return FB_CLOSE;
	pthread_rwlock_wrlock(&req->cluster->lock);
	for (int32_t i = 0; i < n; i++)
		if (twins[i].first == (size_t)i)
			delete(req, &targets[i], twins[i].last != (size_t)i, &response->responses.v[answered++]);
	fb_wrote(req->cluster);
	pthread_rwlock_unlock(&req->cluster->lock);
	response->responses.n = answered;
	fb_server_poke(req->cluster->server);
	return FB_REPLY;
}
