/* DeleteTopics (20): by name, from version 6 on also by id. */
#include "fakebroker/request.h"

enum { UNKNOWN_TOPIC = 3, INVALID_REQUEST = 42, UNKNOWN_TOPIC_ID = 100 };

static void delete(struct fb_request *req, struct kw_str name, struct kw_uuid id,
		   struct kw_DeleteTopicsResponse_DeletableTopicResult *out)
{
	static const struct kw_uuid none;
	bool by_id = name.n < 0;
	struct fb_topic *topic = by_id ? fb_topic_find_id(req->cluster, id) : fb_topic_find(req->cluster, name);

	out->name = name;
	out->topicId = id;
	out->errorMessage = KW_NULL_STR;
	if (req->forced) {
		out->errorCode = req->forced;
	} else if (by_id && kw_uuid_eq(id, none)) {
		out->errorCode = INVALID_REQUEST;
		out->errorMessage = kw_str("Neither topic name nor id were specified.");
	} else if (!by_id && !kw_uuid_eq(id, none)) {
		out->errorCode = INVALID_REQUEST;
		out->errorMessage = kw_str("You may not specify both topic name and topic id.");
	} else if (!topic) {
		out->errorCode = by_id ? UNKNOWN_TOPIC_ID : UNKNOWN_TOPIC;
		out->errorMessage = kw_str(by_id ? "This server does not host this topic ID."
						 : "This server does not host this topic-partition.");
	} else {
		out->name = kw_str(kw_strndup(&req->arena, topic->name, strlen(topic->name)));
		out->topicId = topic->id;
		fb_topic_delete(req->cluster, topic);
	}
}

enum fb_outcome fb_delete_topics(struct fb_request *req)
{
	const struct kw_DeleteTopicsRequest *body = req->body;
	struct kw_DeleteTopicsResponse *response = req->response;
	int32_t n = req->version >= 6 ? body->topics.n : body->topicNames.n;

	if (!FB_RESPONSE_ARRAY(req, response->responses, kw_DeleteTopicsResponse_DeletableTopicResult_struct, n))
		return FB_CLOSE;
	pthread_rwlock_wrlock(&req->cluster->lock);
	for (int32_t i = 0; i < n; i++) {
		if (req->version >= 6)
			delete(req, body->topics.v[i].name, body->topics.v[i].topicId, &response->responses.v[i]);
		else
			delete(req, body->topicNames.v[i], (struct kw_uuid){{0}}, &response->responses.v[i]);
	}
	pthread_rwlock_unlock(&req->cluster->lock);
	fb_server_poke(req->cluster->server);
	return FB_REPLY;
}
