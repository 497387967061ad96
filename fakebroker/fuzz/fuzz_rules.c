/* A JSON array of rules; those that are taken are held against requests and told again. */
#include "fakebroker/control/rules.h"
#include "lib/text/fuzz/fuzz.h"
#include "lib/text/json.h"

FUZZ_TARGET

static struct kw_ProduceRequest_TopicProduceData topic = {.name = {"t", 1}};
static struct kw_ProduceRequest produce = {.topicData = {&topic, 1}};
static struct kw_MetadataRequest metadata;
static struct kw_RequestHeader header = {.clientId = {"client-7", 8}}, nameless = {.clientId = {NULL, -1}};

static void match(struct fb_rules *rules, struct fb_cluster *cluster, int key, const void *body,
		  struct kw_RequestHeader *head)
{
	struct fb_node node = {.id = 1};
	struct fb_session session = {.principal = {FB_ANONYMOUS, sizeof FB_ANONYMOUS - 1}};
	const struct fb_request req = {.cluster = cluster, .node = &node, .session = &session, .api = fb_api_find(key),
				       .version = 9, .header = head, .body = body};
	struct fb_action action = fb_rules_match(rules, &req);

	FUZZ_CHECK(action.kind <= FB_ACT_NONE);
	FUZZ_CHECK(action.kind != FB_ACT_ERROR || action.error != 0);
	FUZZ_CHECK(action.delay_ms >= 0 && action.delay_ms <= 86400000);
}

static void put_all(struct fb_rules *rules, json_t *json)
{
	size_t i;
	json_t *rule;

	json_array_foreach(json, i, rule) {
		const char *name = json_string_value(json_object_get(rule, "name"));
		struct kt_err err = {0};
		struct kt_obj obj;
		int code;

		kt_obj_open(&obj, NULL, rule, "$", &err);
		code = fb_rules_put(rules, NULL, &obj);

		FUZZ_CHECK(code == err.code && (code == 0 || err.text[0]));
		if (code == 0 && name && *name) {
			json_t *told = fb_rules_get(rules, name);

			FUZZ_CHECK(told);
			json_decref(told);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct fb_cluster cluster = {.release = fb_release_find("4.4"), .lock = PTHREAD_RWLOCK_INITIALIZER};
	struct fb_rules *rules = fb_rules_new(&cluster, 1);
	json_t *json = json_loadb((const char *)p, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL), *told;
	char text[64];

	FUZZ_CHECK(rules);
	put_all(rules, json);
	for (int i = 0; i < 3; i++) {
		match(rules, &cluster, 0, &produce, &header);
		match(rules, &cluster, 3, &metadata, &nameless);
	}
	told = fb_rules_json(rules);
	FUZZ_CHECK(json_is_array(told) && json_array_size(told) <= json_array_size(json));
	json_decref(told);
	fb_rules_unmet(rules, text, sizeof text);
	FUZZ_CHECK(memchr(text, '\0', sizeof text));
	json_decref(json);
	fb_rules_free(rules);
	return 0;
}
