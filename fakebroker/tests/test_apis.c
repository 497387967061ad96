/* Every API in every version that is advertised: it answers, and its answer can be read in that version; and with a
 * rule that wants an error it answers with that. */
#include "fakebroker/control/rules.h"
#include "fakebroker/tests/running.h"

enum { BROKER = 1, OTHER = 2 };

static struct running run;

static int set_up(void **state)
{
	struct fb_settings settings = {.nodes = 3};

	(void)state;
	running_start(&run, &settings);
	make_topic(&run, "t");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	running_stop(&run);
	return 0;
}

static struct kw_records good_batch(void)
{
	const struct kw_record record = {.key = {NULL, -1}, .value = {(const uint8_t *)"v", 1}};
	struct kw_buf buf;
	uint8_t *p;

	kw_buf_init(&buf, 0);
	assert_int_equal(kw_batch_build(&kw_batch_spec_default, &record, 1, &buf, NULL), 0);
	p = kw_alloc(&run.arena, buf.n);
	memcpy(p, buf.p, buf.n);
	kw_buf_fini(&buf);
	return (struct kw_records){.p = p, .n = (int32_t)(kw_rd32(p + KW_B_LENGTH) + KW_B_LOG_OVERHEAD)};
}

/* Bodies that name topic t, as JSON; {} is a good body for the others. */
static const struct {
	int api, min, max;
	const char *body;
} bodies[] = {
	{0, 0, 12, "{\"acks\": 1, \"topicData\": [{\"name\": \"t\", \"partitionData\": [{\"index\": 0}]}]}"},
	{0, 13, 99, "{\"acks\": 1}"},
	{1, 0, 12,
	 "{\"topics\": [{\"topic\": \"t\", \"partitions\": [{\"partition\": 0, \"partitionMaxBytes\": 1000}]}]}"},
	{2, 0, 99, "{\"topics\": [{\"name\": \"t\", \"partitions\": [{\"partitionIndex\": 0, \"timestamp\": -1}]}]}"},
	{3, 0, 99, "{\"topics\": [{\"name\": \"t\"}]}"},
	{10, 0, 3, "{\"key\": \"g\"}"},
	{10, 4, 99, "{\"coordinatorKeys\": [\"g\"]}"},
	{18, 3, 99, "{\"clientSoftwareName\": \"test\", \"clientSoftwareVersion\": \"1\"}"},
	{19, 0, 99, "{\"topics\": [{\"name\": \"a b\", \"numPartitions\": 1, \"replicationFactor\": 1}]}"},
	{20, 0, 5, "{\"topicNames\": [\"nope\"]}"},
	{20, 6, 99, "{\"topics\": [{\"name\": \"nope\"}]}"},
	{21, 0, 99, "{\"topics\": [{\"name\": \"t\", \"partitions\": [{\"partitionIndex\": 0, \"offset\": 0}]}]}"},
	{23, 0, 99, "{\"topics\": [{\"topic\": \"t\", \"partitions\": [{\"partition\": 0, \"leaderEpoch\": 0}]}]}"},
	{24, 0, 3,
	 "{\"v3AndBelowTransactionalId\": \"x\", \"v3AndBelowTopics\": [{\"name\": \"t\", \"partitions\": [0]}]}"},
	{24, 4, 99,
	 "{\"transactions\": [{\"transactionalId\": \"x\", \"topics\": [{\"name\": \"t\", \"partitions\": [0]}]}]}"},
	{27, 0, 99, "{\"markers\": [{\"topics\": [{\"name\": \"t\", \"partitionIndexes\": [0]}]}]}"},
	{61, 0, 99, "{\"topics\": [{\"name\": \"t\", \"partitionIndexes\": [0]}]}"},
	{65, 0, 99, "{\"transactionalIds\": [\"x\"]}"},
	{32, 0, 99, "{\"resources\": [{\"resourceType\": 2, \"resourceName\": \"t\", \"configurationKeys\": null}]}"},
	{33, 0, 99, "{\"resources\": [{\"resourceType\": 2, \"resourceName\": \"t\"}]}"},
	{44, 0, 99, "{\"resources\": [{\"resourceType\": 2, \"resourceName\": \"t\"}]}"},
	{55, 0, 99,
	 "{\"topics\": [{\"topicName\": \"__cluster_metadata\", \"partitions\": [{\"partitionIndex\": 0}]}]}"},
};

static void *body_of(const struct fb_api *api, int version)
{
	const char *text = "{}";
	struct kt_err err = {0};
	json_t *json;
	void *body;

	for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
		if (bodies[i].api == api->key && version >= bodies[i].min && version <= bodies[i].max)
			text = bodies[i].body;
	json = json_loads(text, 0, NULL);
	if (kw_from_json(kw_request(api->key), version, json, &run.arena, &body, &err) < 0)
		fail_msg("%s v%d: %s: %s", kw_api_name(api->key), version, err.path, err.text);
	json_decref(json);
	if (api->key == 0 && version < 13)
		((struct kw_ProduceRequest *)body)->topicData.v[0].partitionData.v[0].records = good_batch();
	if (api->key == 60 && version >= 1)
		((struct kw_DescribeClusterRequest *)body)->endpointType = 1;
	return body;
}

/* Error codes at all levels: how many, and how many of them are `code`. */
static void count(const struct kw_struct *st, const void *in, int16_t code, int *all, int *equal)
{
	for (uint32_t i = 0; i < st->nfields; i++) {
		const struct kw_field *field = &st->fields[i];
		const char *at = (const char *)in + field->offset;
		const struct kw_arr *arr = (const struct kw_arr *)(const void *)at;

		if (strcmp(field->name, "errorCode") == 0 || strcmp(field->name, "partitionErrorCode") == 0) {
			++*all;
			*equal += *(const int16_t *)(const void *)at == code;
		}
		for (int32_t k = 0; field->type == KW_STRUCT && field->flags & KW_F_ARRAY && k < arr->n; k++)
			count(field->sub, (const char *)arr->v + (size_t)k * field->sub->size, code, all, equal);
	}
}

static void each_api(struct kc_conn *conn, uint8_t listener, int16_t forced)
{
	const struct fb_api *api;

	for (size_t i = 0; (api = fb_api_at(i)); i++) {
		for (int v = api->min; api->listeners & listener && v <= api->max; v++) {
			void *response = call(&run, conn, api->key, v, body_of(api, v));
			int all = 0, equal = 0;

			if (!forced)
				continue;
			count(kw_response(api->key)->root, response, forced, &all, &equal);
			if (equal == 0 && !(api->key == 0 && v == 13) && !(api->key == 1 && v >= 13))
				fail_msg("%s v%d: the rule's error is nowhere in the answer", kw_api_name(api->key), v);
		}
	}
}

static void each_api_answers_in_each_version(void **state)
{
	struct kc_conn *broker = dial(&run, BROKER), *controller = dial(&run, FB_CONTROLLER_ID);

	(void)state;
	each_api(broker, FB_ON_BROKER, 0);
	each_api(controller, FB_ON_CONTROLLER, 0);
	kc_free(broker);
	kc_free(controller);
}

/* Topic t is led by broker 1, so the others refuse it, in every version. */
static void each_api_answers_where_it_does_not_lead(void **state)
{
	struct kc_conn *conn = dial(&run, OTHER);

	(void)state;
	each_api(conn, FB_ON_BROKER, 0);
	kc_free(conn);
}

static void each_api_can_be_made_to_fail(void **state)
{
	struct kc_conn *broker = dial(&run, BROKER), *controller = dial(&run, FB_CONTROLLER_ID);
	json_t *rule = json_loads("{\"action\": {\"error\": \"KAFKA_STORAGE_ERROR\"}}", 0, NULL);
	struct kt_err err = {0};
	struct kt_obj obj;

	(void)state;
	kt_obj_open(&obj, NULL, rule, "$", &err);
	assert_int_equal(fb_rules_put(run.process.cluster->rules, "storage", &obj), 0);
	json_decref(rule);
	each_api(broker, FB_ON_BROKER, 56);
	each_api(controller, FB_ON_CONTROLLER, 56);
	assert_true(fb_rules_delete(run.process.cluster->rules, "storage"));
	kc_free(broker);
	kc_free(controller);
}

static void other_versions_close(void **state)
{
	static const struct {
		int api, version;
	} wrong[] = {{0, 2}, {0, 14}, {1, 3}, {3, 99}, {62, 4}, {4, 0}, {999, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct kc_conn *conn = dial(&run, BROKER);
		uint8_t frame[16] = {0, 0, 0, 10};

		kw_wr16(frame + 4, (uint16_t)wrong[i].api);
		kw_wr16(frame + 6, (uint16_t)wrong[i].version);
		kw_wr32(frame + 8, 1);
		kw_wr16(frame + 12, 0xffff);
		assert_int_equal(kc_write(conn, frame, 14, soon(), NULL), 0);
		if (kc_wait_close(conn, soon()) == KC_OPEN)
			fail_msg("API %d v%d does not close", wrong[i].api, wrong[i].version);
		kc_free(conn);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_api_answers_in_each_version),
		cmocka_unit_test(each_api_answers_where_it_does_not_lead),
		cmocka_unit_test(each_api_can_be_made_to_fail),
		cmocka_unit_test(other_versions_close),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
