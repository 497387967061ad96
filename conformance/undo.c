/* What an instance changed on the target, and how it is taken back. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "conformance/run.h"
#include "conformance/vars.h"
#include "lib/text/address.h"
#include "lib/wire/errors.h"

enum { SETTLE_WAIT = 10000, POLL = 20, BROKER = 4, DELETE = 1, UPGRADE = 1, SAFE_DOWNGRADE = 2 };
/* The last version that names topics. */
enum { DELETE_TOPICS = 20, DELETE_BY_NAME = 5 };

__attribute__((format(printf, 3, 4)))
static void note_first(char *note, size_t size, const char *fmt, ...)
{
	va_list ap;

	if (note[0])
		return;
	va_start(ap, fmt);
	vsnprintf(note, size, fmt, ap);
	va_end(ap);
}

/* ---- the level of metadata.version ---- */

int cf_level_at(struct cf_link *link)
{
	struct kt_err err = {0};
	json_t *answer = NULL;
	int min, max, level;

	if (cf_link_ask(
		    link, "ApiVersions", CF_LATEST,
		    json_pack("{s:s, s:s}", "clientSoftwareName", "kassay", "clientSoftwareVersion", KASSAY_VERSION),
		    &answer, &err))
		return -1;
	cf_feature(answer, "metadata.version", &min, &max, &level);
	json_decref(answer);
	return level;
}

static int await_level(const struct cf_run *run, struct cf_link *link, int level, struct kt_err *err)
{
	int64_t deadline = kc_now_ms() + cf_profile_wait(run->target->profile, SETTLE_WAIT);

	while (cf_level_at(link) != level) {
		struct timespec ts = {.tv_nsec = POLL * 1000000L};
		char address[KT_ADDRESS_MAX];

		if (kc_now_ms() > deadline)
			return kt_fail(err, KT_ETIMEOUT, "%s does not show metadata.version %d",
				       kt_address(address, sizeof address, link->host, link->port), level);
		nanosleep(&ts, NULL);
	}
	return 0;
}

/* Until broker and controller show it. */
static int await_level_everywhere(struct cf_run *run, struct cf_link *link, int level, struct kt_err *err)
{
	struct cf_link controller = cf_target_controller(run->target);

	if (await_level(run, link, level, err) == 0 && controller.host[0])
		await_level(run, &controller, level, err);
	cf_link_close(&controller);
	return err->code;
}

int cf_level_await(struct cf_run *run, int level, struct kt_err *err)
{
	struct cf_link *link = cf_run_link(run, "broker", NULL, err);

	return link ? await_level_everywhere(run, link, level, err) : err->code;
}

json_t *cf_features_told(json_t *answer)
{
	json_t *first = cf_at(answer, "results[0]");

	return cf_error_code(answer) || !first ? answer : first;
}

int cf_level_move(struct cf_run *run, int level, struct kt_err *err)
{
	struct cf_link *link = cf_run_link(run, "broker", NULL, err);
	json_t *answer = NULL, *told;
	char why[400];
	int now;

	if (!link)
		return err->code;
	now = cf_level_at(link);
	if (now == level)
		return 0;
	if (cf_link_ask(link, "UpdateFeatures", CF_LATEST,
			json_pack("{s:i, s:[{s:s, s:i, s:i}], s:b}", "timeoutMs", 10000, "featureUpdates", "feature",
				  "metadata.version", "maxVersionLevel", level, "upgradeType",
				  now < level ? UPGRADE : SAFE_DOWNGRADE, "validateOnly", 0),
			&answer, err))
		return err->code;
	if (run->level < 0)
		run->level = now;
	told = cf_features_told(answer);
	if (cf_error_code(told))
		kt_fail(err, KT_ENET, "metadata.version cannot be moved from %d to %d: %s", now, level,
			cf_error_text(told, why, sizeof why));
	else
		await_level_everywhere(run, link, level, err);
	json_decref(answer);
	return err->code;
}

static void restore_level(struct cf_run *run, char *note, size_t size)
{
	struct kt_err err = {0};

	if (run->level >= 0 && cf_level_move(run, run->level, &err))
		note_first(note, size, "%s", err.text);
}

/* ---- registrations, configs, topics ---- */

/* told: the part of an answer that says whether it was done. */
static void check_undone(json_t *told, const struct kt_err *err, const char *what, char *note, size_t size)
{
	char why[400];

	if (err->code)
		note_first(note, size, "%s: %s", what, err->text);
	else if (cf_error_code(told))
		note_first(note, size, "%s: %s", what, cf_error_text(told, why, sizeof why));
}

static void unregister(struct cf_run *run, json_t *id, char *note, size_t size)
{
	struct kt_err err = {0};
	struct cf_link *link = cf_run_link(run, "broker", NULL, &err);
	char what[80];
	json_t *answer = NULL;

	snprintf(what, sizeof what, "broker %d cannot be unregistered", (int)json_integer_value(id));
	if (link)
		cf_link_ask(link, "UnregisterBroker", CF_LATEST, json_pack("{s:O}", "brokerId", id), &answer, &err);
	if (cf_error_code(answer) != KW_ERR_BROKER_ID_NOT_REGISTERED)
		check_undone(answer, &err, what, note, size);
	json_decref(answer);
}

static void delete_config(struct cf_run *run, json_t *pair, char *note, size_t size)
{
	const char *resource = json_string_value(json_array_get(pair, 0)),
		   *name = json_string_value(json_array_get(pair, 1));
	struct kt_err err = {0};
	struct cf_link *link = cf_run_link(run, "broker", NULL, &err);
	char what[200];
	json_t *answer = NULL;

	snprintf(what, sizeof what, "%s of broker \"%s\" cannot be deleted", name, resource);
	if (link)
		cf_link_ask(link, "IncrementalAlterConfigs", CF_LATEST,
			    json_pack("{s:[{s:i, s:s, s:[{s:s, s:i, s:n}]}], s:b}", "resources", "resourceType", BROKER,
				      "resourceName", resource, "configs", "name", name, "configOperation", DELETE,
				      "value", "validateOnly", 0), &answer, &err);
	check_undone(cf_at(answer, "responses[0]"), &err, what, note, size);
	json_decref(answer);
}

static void delete_topic(struct cf_run *run, const char *name, char *note, size_t size)
{
	struct kt_err err = {0};
	struct cf_link *link = cf_run_link(run, "broker", NULL, &err);
	char what[260];
	json_t *answer = NULL;

	snprintf(what, sizeof what, "topic %s cannot be deleted", name);
	if (link)
		cf_link_ask(link, "DeleteTopics", cf_link_version(link, DELETE_TOPICS, CF_LATEST, DELETE_BY_NAME, &err),
			    json_pack("{s:[s], s:i}", "topicNames", name, "timeoutMs", 10000), &answer, &err);
	check_undone(cf_at(answer, "responses[0]"), &err, what, note, size);
	json_decref(answer);
}

void cf_run_undo(struct cf_run *run, char *note, size_t size)
{
	json_t *item;
	size_t i;

	json_array_foreach(run->brokers, i, item)
		unregister(run, item, note, size);
	json_array_foreach(run->configs, i, item)
		delete_config(run, item, note, size);
	json_array_foreach(run->topics, i, item)
		delete_topic(run, json_string_value(item), note, size);
	restore_level(run, note, size);   /* last: what the others had may be illegal there */
}
