#include "fakebroker/control/validators.h"

#include <stdlib.h>

#include "fakebroker/api/alter.h"
#include "fakebroker/control/listing.h"
#include "fakebroker/hooks/utf8.h"
#include "lib/text/base64.h"

json_t *fb_validators_json(struct fb_cluster *cluster)
{
	json_t *json = json_object();

	pthread_rwlock_rdlock(&cluster->lock);
	for (size_t i = 0; i < cluster->ntopics; i++) {
		struct fb_topic *topic = cluster->topics[i];

		if (topic->chain)
			json_object_set_new(json, topic->name,
					    json_pack("{s:s, s:o}", "classes", fb_chain_classes(topic->chain),
						      "validators", fb_chain_json(topic->chain)));
	}
	pthread_rwlock_unlock(&cluster->lock);
	return json;
}

/* ---- changing them ---- */

enum { OP_SET = 0, OP_DELETE = 1 };   /* of IncrementalAlterConfigs */

/* `record.validator.classes`, or what has a name and an option. */
static bool is_of_validators(const char *name)
{
	size_t n = strlen(FB_VALIDATOR_PREFIX);

	return strncmp(name, FB_VALIDATOR_PREFIX, n) == 0 &&
	       (strcmp(name + n, "classes") == 0 || strchr(name + n, '.'));
}

/* An option that is given together with the classes is meant for one of them. */
static int check_option(const struct fb_cluster *cluster, struct kt_obj *configs, const char *name)
{
	const char *classes = json_string_value(json_object_get(configs->json, FB_VALIDATOR_PREFIX "classes"));
	struct kt_err why = {0};

	if (!classes || strcmp(name, FB_VALIDATOR_PREFIX "classes") == 0 ||
	    fb_chain_has_option(classes, cluster->plugins, name, &why) == 0)
		return 0;
	return kt_obj_fail(configs, name, why.code, "%s", why.text);
}

static int read_config(const struct fb_cluster *cluster, struct kt_obj *configs, const char *name,
		       struct fb_alter_config *out)
{
	json_t *value = kt_obj_any(configs, name);

	if (!is_of_validators(name))
		return kt_obj_fail(configs, name, KT_EUNKNOWN,
				   "is not a configuration of validators: " FB_VALIDATOR_PREFIX
				   "classes or " FB_VALIDATOR_PREFIX "NAME.OPTION is expected");
	if (!json_is_string(value) && !json_is_null(value))
		return kt_obj_fail(configs, name, KT_ETYPE, "must be a string, or null to delete it");
	out->name = kw_str(name);
	out->configOperation = json_is_null(value) ? OP_DELETE : OP_SET;
	out->value = kw_str(json_string_value(value));
	return json_is_null(value) ? 0 : check_option(cluster, configs, name);
}

/* Every member of `configs`; they live as long as the body. */
static int read_configs(const struct fb_cluster *cluster, struct kt_obj *configs, struct kw_arena *arena,
			struct fb_alter_resource *resource)
{
	struct fb_alter_config *v = kw_alloc(arena, (json_object_size(configs->json) + 1) * sizeof *v);
	const char *name;
	int32_t n = 0;

	if (!v)
		return KT_ENOMEM;
	while (kt_obj_each(configs, &name))
		if (read_config(cluster, configs, name, &v[n++]) < 0)
			break;
	resource->configs = v;
	resource->nconfigs = n;
	return kt_obj_done(configs);
}

static int alter(struct fb_cluster *cluster, const struct fb_alter_resource *resource, struct kw_arena arena,
		 struct kt_err *err)
{
	struct fb_request req = {.cluster = cluster, .node = &cluster->nodes[0], .arena = arena};
	const struct fb_alter_request request = {false, resource, 1};
	struct fb_alter_answer answer = {0};
	int code = fb_alter(&req, &request, false, &answer);

	if (code)
		kt_fail(err, code, "out of memory");
	else if (answer.results[0].errorCode)
		code = kt_fail(err, KT_EUSAGE, "%s: %s", kw_error_name(answer.results[0].errorCode),
			       answer.results[0].errorMessage ? answer.results[0].errorMessage : "no reason given");
	kw_arena_fini(&req.arena);
	return code;
}

int fb_validators_put(struct fb_cluster *cluster, struct kt_obj *obj)
{
	struct fb_alter_resource resource = {.resourceType = FB_BROKER};
	const char *topic = NULL;
	struct kw_arena arena;
	struct kt_obj configs;
	int code = 0;

	kw_arena_init(&arena, 0);
	kt_obj_need(obj, "configs", NULL);
	if (kt_obj_str(obj, "topic", &topic))
		resource.resourceType = FB_TOPIC;
	resource.resourceName = kw_str(topic ? topic : "");
	if (kt_obj_object(obj, "configs", &configs))
		code = read_configs(cluster, &configs, &arena, &resource);
	if (!code)
		code = kt_obj_done(obj);
	if (!code)
		return alter(cluster, &resource, arena, obj->err);   /* frees the arena */
	kw_arena_fini(&arena);
	return code;
}

/* ---- what they refused ---- */

/* Takes json. Returns it if it is whole, or NULL. */
static json_t *whole_take(json_t *json, bool whole)
{
	if (whole)
		return json;
	json_decref(json);
	return NULL;
}

static bool is_text(const struct fb_refused_bytes *b)
{
	return fb_utf8_valid(b->p, (size_t)b->n) == (size_t)b->n;
}

/* {"size": n, "text": "..."}, with "hex" for what is no text; "cut" when only its beginning is kept. NULL without
 * memory, like those that follow. */
static json_t *bytes(const struct fb_refused_bytes *b)
{
	json_t *json;
	bool whole;

	if (b->size < 0)
		return json_null();
	json = json_pack("{s:i}", "size", (int)b->size);
	if (b->n == 0 && b->size > 0)
		return json;
	whole = is_text(b) ? json_object_set_new(json, "text", json_stringn((const char *)b->p, (size_t)b->n)) == 0
			   : json_object_set_new(json, "hex", kt_hex_json(b->p, (size_t)b->n)) == 0;
	if (b->n < b->size)
		whole = json_object_set_new(json, "cut", json_true()) == 0 && whole;
	return whole_take(json, whole);
}

static json_t *headers(const struct fb_refused_record *r)
{
	json_t *list = json_array();
	bool whole = list != NULL;

	for (int32_t i = 0; i < r->nkept && whole; i++)
		whole = json_array_append_new(list, json_pack("{s:o, s:o}", "key", bytes(&r->headers[i].key), "value",
							      bytes(&r->headers[i].value))) == 0;
	return whole_take(list, whole);
}

static json_t *client(const struct fb_refused_record *r)
{
	if (r->clientId.size < 0 || !is_text(&r->clientId))
		return json_null();
	return json_stringn((const char *)r->clientId.p, (size_t)r->clientId.n);
}

static json_t *one(const struct fb_refused_record *r)
{
	json_t *json = json_pack("{s:I, s:I, s:s, s:i, s:i, s:s, s:i, s:s, s:o, s:I, s:i, s:i}",
				 "id", (json_int_t)r->id, "time", (json_int_t)r->time, "topic", r->topic,
				 "partition", (int)r->partition, "batchIndex", (int)r->index, "validator", r->validator,
				 "errorCode", (int)r->error, "reason", r->reason, "clientId", client(r),
				 "timestamp", (json_int_t)r->timestamp, "offsetDelta", (int)r->offsetDelta,
				 "size", (int)r->size);
	bool whole = json_object_set_new(json, "key", bytes(&r->key)) == 0 &&
		     json_object_set_new(json, "value", bytes(&r->value)) == 0 &&
		     json_object_set_new(json, "headerCount", json_integer(r->nheaders)) == 0;

	if (whole && (r->nkept > 0 || r->nheaders == 0))
		whole = json_object_set_new(json, "headers", headers(r)) == 0;
	return whole_take(json, whole);
}

static bool wanted(const struct fb_refused_record *r, const struct fb_refused_filter *filter)
{
	return r->id > filter->after && (!filter->topic || strcmp(filter->topic, r->topic) == 0);
}

json_t *fb_refused_json(struct fb_refused *refused, const struct fb_refused_filter *filter)
{
	struct fb_refused_record **all = malloc(FB_REFUSED_RECORDS * sizeof(struct fb_refused_record *));
	struct fb_listing listing = {.rows = json_array(), .limit = filter->limit, .backwards = filter->newest};
	uint64_t total = 0;
	size_t n = all && refused ? fb_refused_get(refused, all, &total) : 0;
	int added = all ? 1 : KT_ENOMEM;

	for (size_t i = 0; i < n && added > 0; i++) {
		const struct fb_refused_record *r = all[filter->newest ? n - 1 - i : i];

		if (wanted(r, filter))
			added = fb_listing_add(&listing, one(r));
	}
	for (size_t i = 0; i < n; i++)
		fb_refused_record_unref(all[i]);
	free(all);
	if (added >= 0)
		return json_pack("{s:I, s:o}", "refused", (json_int_t)total, "records", listing.rows);
	json_decref(listing.rows);
	return NULL;
}
