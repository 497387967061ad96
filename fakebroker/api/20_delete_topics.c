/* DeleteTopics (20): by name, from version 6 on also by id. As ControllerApis.deleteTopics does it, whose answers come
 * in random order; here they have the request's. */
#include "fakebroker/cluster/metadata_records.h"
#include "fakebroker/config/twins.h"
#include "fakebroker/mutants.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

static const struct kw_uuid no_id;

enum kind { BY_NAME, BY_ID, NEITHER, BOTH };

/* An entry. */
struct target {
	enum kind kind;
	struct kw_str name;        /* null unless it was given */
	struct kw_uuid id;
};

typedef struct kw_DeleteTopicsResponse_DeletableTopicResult result;

static enum kind kind_of(struct kw_str name, struct kw_uuid id)
{
	bool has_id = !kw_uuid_eq(id, no_id);

	if (name.n < 0)
		return has_id ? BY_ID : NEITHER;
	return has_id && !fb_mutant(FB_M_DELETED_BY_BOTH) ? BOTH : BY_NAME;
}

/* The entries of any version. NULL without memory. */
static struct target *targets_of(struct fb_request *req, int32_t *n)
{
	const struct kw_DeleteTopicsRequest *body = req->body;
	bool has_ids = req->version >= 6;
	struct target *targets;

	*n = has_ids ? body->topics.n : body->topicNames.n;
	targets = kw_alloc(&req->arena, (size_t)*n * sizeof *targets);
	for (int32_t i = 0; targets && i < *n; i++) {
		struct target *target = &targets[i];

		target->name = has_ids ? body->topics.v[i].name : body->topicNames.v[i];
		target->id = has_ids ? body->topics.v[i].topicId : no_id;
		target->kind = kind_of(target->name, target->id);
	}
	return targets;
}

/* ---- which entries are about the same ---- */

static struct kw_str bytes_of(const struct kw_uuid *id)
{
	return (struct kw_str){(const char *)id->b, sizeof id->b};
}

/* Entries that name the same thing in the same way; those that are wrong by themselves are alone. */
static struct fb_twins *find_repeated(struct fb_request *req, const struct target *targets, int32_t n)
{
	struct fb_named *names = kw_alloc(&req->arena, (size_t)n * sizeof *names);

	for (int32_t i = 0; names && i < n; i++) {
		const struct target *target = &targets[i];

		names[i].tag = target->kind <= BY_ID ? (int)target->kind : BOTH + i;
		names[i].name = target->kind == BY_ID ? bytes_of(&target->id)
						      : target->kind == BY_NAME ? target->name : kw_str("");
	}
	return names ? fb_find_twins(names, (size_t)n, &req->arena) : NULL;
}

/* Ids, and names that are not repeated and have one: there are twins where both are of one topic. */
static struct fb_twins *find_same(struct fb_request *req, const struct target *targets,
				  const struct fb_twins *repeated, int32_t n)
{
	struct fb_named *names = kw_alloc(&req->arena, (size_t)n * sizeof *names);

	for (int32_t i = 0; names && i < n; i++) {
		const struct target *target = &targets[i];
		const struct fb_topic *topic = NULL;

		if (target->kind == BY_NAME && repeated[i].first == repeated[i].last)
			topic = fb_topic_find(req->cluster, target->name);
		names[i].tag = target->kind == BY_ID || topic ? 0 : 1 + i;
		names[i].name = target->kind == BY_ID ? bytes_of(&target->id) : topic ? bytes_of(&topic->id)
										      : kw_str("");
	}
	return names ? fb_find_twins(names, (size_t)n, &req->arena) : NULL;
}

/* ---- the answer ---- */

static void fail(result *out, int16_t error, const char *message)
{
	out->errorCode = error;
	out->errorMessage = kw_str(message);
}

static void delete(struct fb_request *req, struct fb_topic *topic, result *out)
{
	out->name = kw_str(kw_strndup(&req->arena, topic->name, strlen(topic->name)));
	out->topicId = topic->id;
	fb_write_topic_removal(req->cluster, topic);
	fb_topic_delete(req->cluster, topic);
}

static void delete_named(struct fb_request *req, const struct target *target, bool has_id, result *out)
{
	struct fb_topic *topic = fb_topic_find(req->cluster, target->name);

	if (!topic) {
		fail(out, KW_ERR_UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition.");
	} else if (has_id) {
		out->topicId = topic->id;
		fail(out, KW_ERR_INVALID_REQUEST, "The provided topic name maps to an ID that was already supplied.");
	} else {
		delete(req, topic, out);
	}
}

static void delete_by_id(struct fb_request *req, const struct target *target, result *out)
{
	struct fb_topic *topic = fb_topic_find_id(req->cluster, target->id);

	if (topic)
		delete(req, topic, out);
	else
		fail(out, KW_ERR_UNKNOWN_TOPIC_ID, "This server does not host this topic ID.");
}

static void answer_one(struct fb_request *req, const struct target *target, bool repeated, bool has_id, result *out)
{
	out->name = target->name;
	out->topicId = target->id;
	out->errorMessage = KW_NULL_STR;
	if (req->forced)
		fail(out, req->forced, req->why);
	else if (target->kind == NEITHER)
		fail(out, KW_ERR_INVALID_REQUEST, "Neither topic name nor id were specified.");
	else if (target->kind == BOTH)
		fail(out, KW_ERR_INVALID_REQUEST, "You may not specify both topic name and topic id.");
	else if (repeated)
		fail(out, KW_ERR_INVALID_REQUEST,
		     target->kind == BY_ID ? "Duplicate topic id." : "Duplicate topic name.");
	else if (target->kind == BY_NAME)
		delete_named(req, target, has_id, out);
	else
		delete_by_id(req, target, out);
}

/* An id beside the name of the same topic has no answer of its own. Returns how many there are, -1 without memory. */
static int32_t answer(struct fb_request *req, const struct target *targets, const struct fb_twins *repeated, int32_t n,
		      result *out)
{
	struct fb_twins *same = find_same(req, targets, repeated, n);
	int32_t answered = 0;

	for (int32_t i = 0; same && i < n; i++) {
		bool again = repeated[i].first != repeated[i].last;
		bool both = same[i].first != same[i].last && !fb_mutant(FB_M_DELETED_BY_BOTH);

		if (repeated[i].first != (size_t)i || (targets[i].kind == BY_ID && both && !again && !req->forced))
			continue;
		answer_one(req, &targets[i], again, both, &out[answered++]);
	}
	return same ? answered : -1;
}

enum fb_outcome fb_delete_topics(struct fb_request *req)
{
	struct kw_DeleteTopicsResponse *response = req->response;
	int32_t n, answered;
	struct target *targets = targets_of(req, &n);
	struct fb_twins *repeated = targets ? find_repeated(req, targets, n) : NULL;

	if (!repeated ||
	    !FB_RESPONSE_ARRAY(req, response->responses, kw_DeleteTopicsResponse_DeletableTopicResult_struct, n))
		return FB_CLOSE;
	if (!req->forced && ((const struct kw_DeleteTopicsRequest *)req->body)->timeoutMs <= 0)
		req->forced = KW_ERR_REQUEST_TIMED_OUT;   /* the controller is late before it has begun */
	pthread_rwlock_wrlock(&req->cluster->lock);
	answered = answer(req, targets, repeated, n, response->responses.v);
	fb_wrote(req->cluster);
	pthread_rwlock_unlock(&req->cluster->lock);
	if (answered < 0)
		return FB_CLOSE;
	response->responses.n = answered;
	fb_server_poke(req->cluster->server);
	return FB_REPLY;
}
