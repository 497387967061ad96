/* Topics of a case: made before its steps, taken away afterwards. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "conformance/run.h"
#include "conformance/vars.h"

enum { READY_WAIT = 15000, POLL = 20, LAST_BY_NAME = 12 };

static void pause_ms(int ms)
{
	struct timespec ts = {.tv_nsec = ms * 1000000L};

	nanosleep(&ts, NULL);
}

static json_t *config_rows(json_t *configs, json_t *vars, struct kt_err *err)
{
	json_t *expanded = configs ? cf_expand(configs, vars, err) : json_object(), *rows, *value;
	const char *name;

	if (!expanded)
		return NULL;
	rows = json_array();
	json_object_foreach(expanded, name, value)
		json_array_append_new(rows, json_pack("{s:s, s:O}", "name", name, "value", value));
	json_decref(expanded);
	return rows;
}

/* The broker under test leads all partitions, so that one request can name several topics. A target that takes no
 * manual assignment may place them as it likes. */
static json_t *request(struct cf_run *run, const char *name, json_t *configs, int partitions, bool assign)
{
	json_t *assignments = json_array();

	for (int i = 0; assign && i < partitions; i++)
		json_array_append_new(assignments, json_pack("{s:i, s:[i]}", "partitionIndex", i, "brokerIds",
							     run->target->broker_id));
	return json_pack("{s:[{s:s, s:i, s:i, s:o, s:O}], s:i, s:b}", "topics", "name", name, "numPartitions",
			 assign ? -1 : partitions, "replicationFactor", -1, "assignments", assignments, "configs",
			 configs, "timeoutMs", 10000, "validateOnly", 0);
}

static int create_once(struct cf_run *run, const char *name, json_t *configs, int partitions, bool assign,
		       struct kt_err *err)
{
	struct cf_link *link = cf_run_link(run, "broker", NULL, err);
	json_t *answer = NULL, *row;
	char why[400];

	if (!link ||
	    cf_link_ask(link, "CreateTopics", CF_LATEST, request(run, name, configs, partitions, assign), &answer, err))
		return err->code;
	row = cf_at(answer, "topics[0]");
	if (cf_error_code(row) == 0)
		json_array_append_new(run->topics, json_string(name));
	else
		kt_fail(err, KT_ENET, "topic %s cannot be created: %s", name, cf_error_text(row, why, sizeof why));
	json_decref(answer);
	return err->code;
}

/* *led: how many of its partitions, from the first one on, are known to have one leader. */
static int create(struct cf_run *run, const char *name, json_t *spec, int *led, struct kt_err *err)
{
	json_t *configs = config_rows(json_object_get(spec, "configs"), run->vars, err);
	json_t *given = json_object_get(spec, "partitions");
	int partitions = given ? (int)json_integer_value(given) : 1;
	struct kt_err first = {0};

	*led = partitions;
	if (configs && create_once(run, name, configs, partitions, true, &first)) {
		create_once(run, name, configs, partitions, false, err);
		*led = 1;
	}
	json_decref(configs);
	return err->code;
}

/* The leader serves a partition a moment after Metadata names it, each for itself. */
static bool serves(struct cf_run *run, const char *name, int partitions)
{
	struct kt_err err = {0};
	struct cf_link *link = cf_run_link(run, "leader", name, &err);
	json_t *asked, *answer = NULL, *row;
	bool ok = true;
	size_t i;

	if (!link)
		return false;
	asked = json_array();
	for (int index = 0; index < partitions; index++)
		json_array_append_new(asked, json_pack("{s:i, s:i, s:I}", "partitionIndex", index, "currentLeaderEpoch",
						       -1, "timestamp", (json_int_t)-1));
	if (cf_link_ask(link, "ListOffsets", 4,
			json_pack("{s:i, s:i, s:[{s:s, s:o}]}", "replicaId", -1, "isolationLevel", 0, "topics", "name",
				  name, "partitions", asked), &answer, &err))
		return false;
	json_array_foreach(cf_at(answer, "topics[0].partitions"), i, row)
		ok = ok && cf_error_code(row) == 0;
	json_decref(answer);
	return ok;
}

static void learn_id(struct cf_run *run, const char *name)
{
	struct kt_err err = {0};
	struct cf_link *link = cf_run_link(run, "broker", NULL, &err);
	json_t *answer = NULL, *id;

	if (!link || cf_link_ask(link, "Metadata", CF_LATEST,
				 json_pack("{s:[{s:s}], s:b}", "topics", "name", name, "allowAutoTopicCreation", 0),
				 &answer, &err))
		return;
	id = cf_at(answer, "topics[0].topicId");
	if (id)
		json_object_set(run->topic_ids, name, id);
	json_decref(answer);
}

static int await(struct cf_run *run, const char *name, int partitions, struct kt_err *err)
{
	int64_t deadline = kc_now_ms() + cf_profile_wait(run->target->profile, READY_WAIT);

	while (!serves(run, name, partitions)) {
		if (kc_now_ms() > deadline)
			return kt_fail(err, KT_ETIMEOUT, "topic %s has no leader that serves it", name);
		pause_ms(POLL);
	}
	learn_id(run, name);
	return 0;
}

int cf_topics_create(struct cf_run *run, struct kt_err *err)
{
	const char *variable, *base = json_string_value(json_object_get(run->vars, "run"));
	json_t *spec, *created = json_object(), *led;
	int partitions;

	json_object_foreach(run->instance->cas->topics, variable, spec) {
		char name[200];

		snprintf(name, sizeof name, "%s-%s", base, variable);
		if (create(run, name, spec, &partitions, err))
			goto out;
		json_object_set_new(created, name, json_integer(partitions));
		cf_run_set(run, variable, json_string(name));
	}
	json_object_foreach(created, variable, led)
		if (await(run, variable, (int)json_integer_value(led), err))
			goto out;
out:
	json_decref(created);
	return err->code;
}
