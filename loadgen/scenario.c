/* Scenario files: what docs/loadgen.md describes, read strictly. */
#include <string.h>

#include "lib/text/near.h"
#include "lib/text/number.h"
#include "lib/wire/message.h"
#include "loadgen/plan.h"

#define MEBI (1024 * 1024)

/* ---- pieces ---- */

static int no_memory(struct kt_obj *obj)
{
	return kt_obj_fail(obj, NULL, KT_ENOMEM, "no memory");
}

/* {"name": "value", ...} */
static void read_properties(struct lg_plan *plan, struct kt_obj *parent, const char *member,
			    struct lg_properties *properties)
{
	struct kt_obj obj;
	const char *name;

	if (!kt_obj_object(parent, member, &obj))
		return;
	properties->v = kw_alloc(&plan->arena, json_object_size(obj.json) * sizeof *properties->v);
	if (!properties->v) {
		no_memory(&obj);
		return;
	}
	while (kt_obj_each(&obj, &name)) {
		struct lg_property *property = &properties->v[properties->n];

		if (kt_obj_str(&obj, name, &property->value)) {
			property->name = name;
			properties->n++;
		}
	}
}

static void read_client_properties(struct lg_plan *plan, struct kt_obj *obj, struct lg_properties *properties)
{
	read_properties(plan, obj, "properties", properties);
	for (int i = 0; i < properties->n; i++)
		if (lg_property_owner(properties->v[i].name))
			kt_obj_fail(obj, "properties", KT_EUSAGE, "%s is set by the member \"%s\"",
				    properties->v[i].name, lg_property_owner(properties->v[i].name));
}

/* A number, or {"from": a, "to": b}. */
static void read_rate(struct kt_obj *parent, struct lg_plan_rate *rate)
{
	const double most = 1e8;
	struct kt_obj obj;

	if (!json_is_object(kt_obj_any(parent, "rate"))) {
		if (kt_obj_real(parent, "rate", 0, most, &rate->from))
			rate->to = rate->from;
	} else if (kt_obj_object(parent, "rate", &obj)) {
		kt_obj_need(&obj, "from", "to", NULL);
		kt_obj_real(&obj, "from", 0, most, &rate->from);
		kt_obj_real(&obj, "to", 0, most, &rate->to);
		kt_obj_done(&obj);
	}
}

/* A number, or {"min": a, "max": b}. */
static void read_size(struct kt_obj *parent, struct lg_shape *shape)
{
	struct kt_obj obj;

	if (!json_is_object(kt_obj_any(parent, "size"))) {
		if (kt_obj_int(parent, "size", LG_STAMP_SIZE, LG_RECORD_MAX, &shape->size_min))
			shape->size_max = shape->size_min;
	} else if (kt_obj_object(parent, "size", &obj)) {
		kt_obj_need(&obj, "min", "max", NULL);
		kt_obj_int(&obj, "min", LG_STAMP_SIZE, LG_RECORD_MAX, &shape->size_min);
		kt_obj_int(&obj, "max", LG_STAMP_SIZE, LG_RECORD_MAX, &shape->size_max);
		if (kt_obj_done(&obj) == 0 && shape->size_min > shape->size_max)
			kt_obj_fail(&obj, "max", KT_ERANGE, "must be at least \"min\"");
	}
}

static void read_key(struct kt_obj *obj, struct lg_shape *shape)
{
	static const char *const modes[] = {[LG_KEY_NONE] = "none", [LG_KEY_SEQUENCE] = "sequence", NULL};
	int mode;

	if (json_is_integer(kt_obj_any(obj, "key"))) {
		if (kt_obj_int64(obj, "key", 1, INT32_MAX, &shape->keys))
			shape->key_mode = LG_KEY_COUNT;
	} else if (kt_obj_enum(obj, "key", modes, &mode)) {
		shape->key_mode = (enum lg_key_mode)mode;
	}
}

static void read_headers(struct kt_obj *parent, struct lg_shape *shape)
{
	struct kt_obj obj;
	const char *name;

	if (!kt_obj_object(parent, "headers", &obj))
		return;
	while (kt_obj_each(&obj, &name)) {
		struct lg_header_spec *header = &shape->headers[shape->nheaders];

		if (shape->nheaders == LG_HEADERS_MAX)
			kt_obj_fail(&obj, NULL, KT_ELIMIT, "more than %d headers", LG_HEADERS_MAX);
		else if (strcmp(name, LG_STAMP_HEADER) == 0)
			kt_obj_fail(&obj, name, KT_EUSAGE, "this header is the load generator's own");
		else if (kt_obj_str(&obj, name, &header->value)) {
			header->name = name;
			shape->nheaders++;
		}
	}
}

static void read_acks(struct kt_obj *obj, int *acks)
{
	static const char *const all[] = {"all", NULL};
	int index;

	if (json_is_string(kt_obj_any(obj, "acks"))) {
		if (kt_obj_enum(obj, "acks", all, &index))
			*acks = -1;
	} else {
		kt_obj_int(obj, "acks", -1, 1, acks);
	}
}

static void read_illegal(struct kt_obj *parent, struct lg_illegal_mix *mix)
{
	struct kt_arr arr;
	struct kt_obj obj;

	kt_obj_array(parent, "illegal", &arr);
	while (kt_arr_object(&arr, &obj)) {
		struct kt_err wrong = {0};
		const char *name = NULL;
		double share = 0;

		kt_obj_need(&obj, "name", "share", NULL);
		kt_obj_str(&obj, "name", &name);
		kt_obj_real(&obj, "share", 0, 1, &share);
		if (kt_obj_done(&obj) == 0 && lg_illegal_mix_add(mix, name, share, &wrong))
			kt_obj_fail(&obj, wrong.code == KT_EUNKNOWN ? "name" : "share", wrong.code, "%s", wrong.text);
	}
}

/* ---- topics ---- */

static int read_topic(struct lg_plan *plan, struct kt_obj *obj, struct lg_topic *topic)
{
	topic->partitions = 1;
	topic->replication_factor = 1;
	kt_obj_need(obj, "name", NULL);
	kt_obj_str(obj, "name", &topic->name);
	kt_obj_int(obj, "partitions", 1, 100000, &topic->partitions);
	kt_obj_int(obj, "replicationFactor", 1, INT16_MAX, &topic->replication_factor);
	read_properties(plan, obj, "config", &topic->configs);
	return kt_obj_done(obj);
}

static void read_topics(struct lg_plan *plan, struct kt_obj *root)
{
	struct kt_arr arr;
	struct kt_obj obj;

	kt_obj_array(root, "topics", &arr);
	plan->topics = kw_alloc(&plan->arena, arr.n * sizeof *plan->topics);
	if (!plan->topics)
		no_memory(root);
	while (kt_arr_object(&arr, &obj) && read_topic(plan, &obj, &plan->topics[plan->ntopics]) == 0)
		plan->ntopics++;
}

/* ---- phases ---- */

static bool good_name(const char *name)
{
	return *name && *name != '.' && strlen(name) <= 100 &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")];
}

static void check_name(const struct lg_plan *plan, struct kt_obj *obj, const struct lg_phase *phase)
{
	if (!phase->name)
		return;
	if (!good_name(phase->name))
		kt_obj_fail(obj, "name", KT_ESYNTAX, "must be letters, digits, dots, dashes and underscores");
	for (int i = 0; i < plan->nphases; i++)
		if (strcmp(plan->phases[i].name, phase->name) == 0)
			kt_obj_fail(obj, "name", KT_EUSAGE, "a phase before has the same name");
}

static void read_load(struct kt_obj *obj, struct lg_phase *phase)
{
	static const char *const arrivals[] = {"constant", "poisson", NULL};
	static const char *const codecs[] = {"none", "gzip", "snappy", "lz4", "zstd", NULL};
	int engine, arrival = 0;

	if (kt_obj_enum(obj, "engine", lg_engine_names, &engine))
		phase->engine = (enum lg_engine)engine;
	kt_obj_real(obj, "duration", 0.001, 1e6, &phase->rate.seconds);
	kt_obj_int64(obj, "records", 1, INT64_C(1) << 40, &phase->rate.count);
	read_rate(obj, &phase->rate);
	kt_obj_enum(obj, "arrival", arrivals, &arrival);
	phase->rate.poisson = arrival == 1;
	kt_obj_enum(obj, "codec", codecs, &phase->codec);
	read_acks(obj, &phase->acks);
	kt_obj_int(obj, "batch", 1, 100000, &phase->batch);
	kt_obj_int(obj, "inFlight", 1, 10000, &phase->in_flight);
}

static int read_phase(struct lg_plan *plan, struct kt_obj *obj, struct lg_phase *phase)
{
	struct kt_err wrong = {0};
	const char *member;

	lg_phase_init(phase);
	kt_obj_need(obj, "name", "topic", NULL);
	kt_obj_str(obj, "name", &phase->name);
	check_name(plan, obj, phase);
	kt_obj_str(obj, "topic", &phase->topic);
	read_load(obj, phase);
	read_size(obj, &phase->shape);
	read_key(obj, &phase->shape);
	read_headers(obj, &phase->shape);
	read_illegal(obj, &phase->illegal);
	kt_obj_bool(obj, "showRdkafkaView", &phase->show_rdkafka_view);
	read_client_properties(plan, obj, &phase->properties);
	if (json_object_get(obj->json, "partitions"))
		kt_obj_fail(obj, "partitions", KT_EUNKNOWN, "unknown member \"partitions\"; a topic that the scenario "
			    "creates is described in its member \"topics\"");
	if (kt_obj_done(obj) == 0 && lg_phase_check(phase, &member, &wrong))
		kt_obj_fail(obj, json_object_get(obj->json, member) ? member : NULL, wrong.code, "%s", wrong.text);
	return obj->err->code;
}

static void read_phases(struct lg_plan *plan, struct kt_obj *root)
{
	struct kt_arr arr;
	struct kt_obj obj;

	kt_obj_array(root, "phases", &arr);
	if (arr.json && arr.n == 0)
		kt_obj_fail(root, "phases", KT_EUSAGE, "there must be a phase");
	plan->phases = kw_alloc(&plan->arena, arr.n * sizeof *plan->phases);
	if (!plan->phases)
		no_memory(root);
	while (kt_arr_object(&arr, &obj) && read_phase(plan, &obj, &plan->phases[plan->nphases]) == 0)
		plan->nphases++;
}

/* ---- steps ---- */

static void read_feature(struct kt_obj *parent, const char *member, struct lg_step *step)
{
	struct kt_obj obj;
	int type = (int)step->type;

	step->action = LG_STEP_FEATURE;
	step->feature = "metadata.version";
	kt_obj_object(parent, member, &obj);
	kt_obj_need(&obj, "level", NULL);
	kt_obj_str(&obj, "feature", &step->feature);
	kt_obj_int(&obj, "level", INT16_MIN, INT16_MAX, &step->level);
	if (kt_obj_enum(&obj, "type", lg_upgrade_names + 1, &type))
		step->type = (enum lg_upgrade_type)(type + 1);
	kt_obj_bool(&obj, "validateOnly", &step->validate_only);
	kt_obj_done(&obj);
}

static void read_resource(struct kt_obj *parent, struct lg_step *step)
{
	static const char *const types[] = {"topic", "broker", NULL};
	static const int codes[] = {LG_RESOURCE_TOPIC, LG_RESOURCE_BROKER};
	struct kt_obj obj;
	int type = 0;

	kt_obj_object(parent, "resource", &obj);
	kt_obj_need(&obj, "type", "name", NULL);
	kt_obj_enum(&obj, "type", types, &type);
	kt_obj_str(&obj, "name", &step->resource);
	step->resource_type = codes[type];
	kt_obj_done(&obj);
}

static void read_deletes(struct lg_plan *plan, struct kt_obj *parent, struct lg_properties *changes)
{
	struct kt_arr arr;
	struct lg_property *all;
	const char *name;

	if (!kt_obj_array(parent, "delete", &arr))
		return;
	all = kw_alloc(&plan->arena, ((size_t)changes->n + arr.n) * sizeof *all);
	if (!all) {
		no_memory(parent);
		return;
	}
	if (changes->n > 0)
		memcpy(all, changes->v, (size_t)changes->n * sizeof *all);
	changes->v = all;
	while (kt_arr_str(&arr, &name))
		all[changes->n++] = (struct lg_property){name, NULL};
}

static void read_config_change(struct lg_plan *plan, struct kt_obj *parent, struct lg_step *step)
{
	struct kt_obj obj;

	step->action = LG_STEP_CONFIG;
	kt_obj_object(parent, "alterConfigs", &obj);
	kt_obj_need(&obj, "resource", NULL);
	read_resource(&obj, step);
	read_properties(plan, &obj, "set", &step->changes);
	read_deletes(plan, &obj, &step->changes);
	kt_obj_bool(&obj, "validateOnly", &step->validate_only);
	if (kt_obj_done(&obj) == 0 && step->changes.n == 0)
		kt_obj_fail(&obj, NULL, KT_EUSAGE, "neither \"set\" nor \"delete\" names a config");
}

/* {"node": 2}, and to start {"config": {NAME: text or null}} */
static void read_node(struct lg_plan *plan, struct kt_obj *parent, const char *member, struct lg_step *step)
{
	struct kt_obj obj, config;
	const char *name;

	step->action = strcmp(member, "stopNode") == 0 ? LG_STEP_STOP : LG_STEP_START;
	kt_obj_object(parent, member, &obj);
	kt_obj_need(&obj, "node", NULL);
	kt_obj_int(&obj, "node", 1, INT32_MAX, &step->node);
	if (step->action == LG_STEP_START && kt_obj_object(&obj, "config", &config)) {
		step->changes.v = kw_alloc(&plan->arena, json_object_size(config.json) * sizeof *step->changes.v);
		if (!step->changes.v) {
			no_memory(parent);
			return;
		}
		while (kt_obj_each(&config, &name)) {
			struct lg_property *change = &step->changes.v[step->changes.n++];

			*change = (struct lg_property){name, NULL};
			if (!json_is_null(json_object_get(config.json, name)))
				kt_obj_str(&config, name, &change->value);
		}
	}
	kt_obj_done(&obj);
}

static void read_error(struct kt_obj *obj, int *error)
{
	struct kt_near near;
	const char *name;

	if (!kt_obj_str(obj, "error", &name) || kw_error_code(name, error) == 0)
		return;
	kt_near_init(&near, name);
	for (int code = -1; code <= 200; code++)
		kt_near_offer(&near, kw_error_name(code));
	kt_obj_fail(obj, "error", KT_EUNKNOWN, "Kafka has no error \"%s\"%s%s%s", name,
		    near.best ? "; did you mean \"" : "", near.best ? near.best : "", near.best ? "\"?" : "");
}

static void read_expectation(struct kt_obj *parent, struct lg_step *step)
{
	struct kt_obj obj;
	struct kt_arr arr;
	const char *text;

	if (!kt_obj_object(parent, "expect", &obj))
		return;
	kt_obj_need(&obj, "error", NULL);
	read_error(&obj, &step->error);
	kt_obj_array(&obj, "message", &arr);
	while (kt_arr_str(&arr, &text)) {
		if (step->nmessages == LG_STEP_MESSAGES)
			kt_arr_fail(&arr, KT_ELIMIT, "more than %d texts", LG_STEP_MESSAGES);
		else
			step->messages[step->nmessages++] = text;
	}
	kt_obj_done(&obj);
}

static int read_step(struct lg_plan *plan, struct kt_obj *obj, struct lg_step *step)
{
	static const char *const actions[] = {"upgrade", "downgrade", "alterConfigs", "stopNode", "startNode"};
	int n = 0;

	memset(step, 0, sizeof *step);
	kt_obj_need(obj, "at", NULL);
	kt_obj_real(obj, "at", 0, 1e6, &step->at);
	kt_obj_str(obj, "name", &step->name);
	for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
		n += kt_obj_any(obj, actions[i]) != NULL;
	if (obj->err->code == 0 && n != 1)
		return kt_obj_fail(obj, NULL, KT_EUSAGE,
				   "a step is exactly one of \"upgrade\", \"downgrade\", \"alterConfigs\", "
				   "\"stopNode\" and \"startNode\"");
	if (kt_obj_any(obj, "alterConfigs")) {
		read_config_change(plan, obj, step);
	} else if (kt_obj_any(obj, "stopNode") || kt_obj_any(obj, "startNode")) {
		read_node(plan, obj, kt_obj_any(obj, "stopNode") ? "stopNode" : "startNode", step);
	} else {
		bool up = kt_obj_any(obj, "upgrade");

		step->type = up ? LG_UPGRADE : LG_SAFE_DOWNGRADE;
		read_feature(obj, up ? "upgrade" : "downgrade", step);
	}
	read_expectation(obj, step);
	return kt_obj_done(obj);
}

static void read_steps(struct lg_plan *plan, struct kt_obj *root)
{
	struct kt_arr arr;
	struct kt_obj obj;

	kt_obj_array(root, "steps", &arr);
	plan->steps = kw_alloc(&plan->arena, arr.n * sizeof *plan->steps);
	if (!plan->steps)
		no_memory(root);
	while (kt_arr_object(&arr, &obj) && read_step(plan, &obj, &plan->steps[plan->nsteps]) == 0) {
		if (plan->nsteps > 0 && plan->steps[plan->nsteps].at < plan->steps[plan->nsteps - 1].at)
			kt_obj_fail(&obj, "at", KT_ERANGE, "the steps must be in the order of time");
		plan->nsteps++;
	}
}

/* ---- the whole ---- */

static int read_plan(struct lg_plan *plan, struct kt_err *err)
{
	struct kt_obj root;
	int64_t seed = 1;

	kt_obj_root(&root, &plan->json, err);
	kt_obj_need(&root, "phases", NULL);
	kt_obj_str(&root, "name", &plan->name);
	kt_obj_str(&root, "bootstrapServer", &plan->bootstrap);
	if (kt_obj_int64(&root, "seed", 0, INT64_MAX, &seed))
		plan->seed = (uint64_t)seed;
	kt_obj_bool(&root, "verify", &plan->verify);
	read_client_properties(plan, &root, &plan->properties);
	read_topics(plan, &root);
	read_phases(plan, &root);
	read_steps(plan, &root);
	return kt_obj_done(&root);
}

int lg_plan_load(struct lg_plan *plan, const char *file, struct kt_err *err)
{
	int rc = kt_json_load(&plan->json, file, err);

	return rc ? rc : read_plan(plan, err);
}

int lg_plan_parse(struct lg_plan *plan, const char *name, const char *text, size_t n, struct kt_err *err)
{
	int rc = kt_json_parse(&plan->json, name, text, n, err);

	return rc ? rc : read_plan(plan, err);
}
