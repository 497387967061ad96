/* Who is the target, and what can it do? Everything here is asked with requests that change nothing. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conformance/result.h"
#include "conformance/target.h"
#include "conformance/vars.h"
#include "lib/text/address.h"

enum { METADATA = 3, BROKER = 4, BROKER_REGISTRATION = 62, UPDATE_FEATURES = 57, STATIC_CONFIGS_VERSION = 5 };

__attribute__((format(printf, 4, 5)))
static void found(struct cf_target *target, enum cf_capability capability, bool present, const char *fmt, ...)
{
	struct cf_ability *ability = &target->can[capability];
	va_list ap;

	ability->present = present;
	va_start(ap, fmt);
	vsnprintf(ability->evidence, sizeof ability->evidence, fmt, ap);
	va_end(ap);
	kt_clean(ability->evidence);
}

/* ---- who it is ---- */

/* The one at the address that was given, which may have another name here: then the only one with that port, or the
 * only one. NULL if that cannot be told. */
static json_t *broker_at(json_t *brokers, const char *host, int port)
{
	json_t *same_port = NULL, *row;
	size_t i, n = 0;

	json_array_foreach(brokers, i, row) {
		if (json_integer_value(json_object_get(row, "port")) != port)
			continue;
		if (strcmp(cf_text(row, "host"), host) == 0)
			return row;
		same_port = row;
		n++;
	}
	if (n == 1)
		return same_port;
	return json_array_size(brokers) == 1 ? json_array_get(brokers, 0) : NULL;
}

static int choose_broker(struct cf_target *target, struct kt_err *err)
{
	json_t *brokers = json_object_get(target->metadata, "brokers");
	json_t *given = broker_at(brokers, target->host, target->port), *chosen = given;
	char was[KT_ADDRESS_MAX], is[KT_ADDRESS_MAX];

	target->brokers = (int)json_array_size(brokers);
	if (!chosen)
		chosen = json_array_get(brokers, 0);
	if (!chosen)
		return 0;
	kt_address(was, sizeof was, target->host, target->port);
	target->broker_id = (int)json_integer_value(json_object_get(chosen, "nodeId"));
	if (cf_node_address(chosen, target->host, &target->port, err))
		return err->code;
	if (!given)
		snprintf(target->note, sizeof target->note,
			 "Metadata lists %d brokers and none at %s: what was asked is broker %d at %s.",
			 target->brokers, was, target->broker_id,
			 kt_address(is, sizeof is, target->host, target->port));
	kt_clean(target->note);
	return 0;
}

/* What takes registrations of brokers but has no Metadata for clients is a controller. */
static int refuse_controller(const struct cf_target *target, struct kt_err *err)
{
	char address[KT_ADDRESS_MAX];
	int min, max;

	if (cf_target_lists(target->apis, METADATA, &min, &max) ||
	    !cf_target_lists(target->apis, BROKER_REGISTRATION, &min, &max))
		return 0;
	return kt_fail(err, KT_EUSAGE, "%s is the listener of a controller: it serves BrokerRegistration and no "
		       "Metadata; give the address of a broker",
		       kt_address(address, sizeof address, target->host, target->port));
}

static int probe_broker(struct cf_target *target, struct kt_err *err)
{
	struct cf_link link = cf_target_broker(target);

	if (cf_link_ask(&link, "ApiVersions", CF_LATEST,
			json_pack("{s:s, s:s}", "clientSoftwareName", "kassay", "clientSoftwareVersion",
				  KASSAY_VERSION),
			&target->apis, err) ||
	    refuse_controller(target, err) ||
	    cf_link_ask(&link, "Metadata", CF_LATEST, json_pack("{s:[], s:b}", "topics", "allowAutoTopicCreation", 0),
			&target->metadata, err) ||
	    choose_broker(target, err))
		goto out;
	target->cluster_id = cf_text(target->metadata, "clusterId");
	cf_feature(target->apis, "metadata.version", &target->min_level, &target->max_level, &target->level);
out:
	cf_link_close(&link);
	return err->code;
}

/* ---- the controller ---- */

static bool take_listener(struct cf_target *target, json_t *quorum, struct kt_err *err)
{
	json_t *leader = cf_at(quorum, "topics[0].partitions[0].leaderId"), *listener;
	char path[64];

	snprintf(path, sizeof path, "nodes[nodeId=%d].listeners[0]", (int)json_integer_value(leader));
	listener = cf_at(quorum, path);
	if (!listener)
		kt_fail(err, KT_ENET, "DescribeQuorum names no listener of the leader");
	else
		cf_node_address(listener, target->controller_host, &target->controller_port, err);
	target->controller_id = (int)json_integer_value(leader);
	return err->code == KT_OK;
}

/* What refuses an answer to DescribeQuorum, the whole or its partition; NULL if nothing does. */
static json_t *refusal_of(json_t *quorum)
{
	json_t *partition = cf_at(quorum, "topics[0].partitions[0]");

	return cf_error_code(quorum) ? quorum : cf_error_code(partition) ? partition : NULL;
}

static void find_controller(struct cf_target *target)
{
	struct cf_link link = cf_target_broker(target);
	json_t *quorum = NULL;
	struct kt_err err = {0};
	char why[400];

	if (target->profile->controller) {
		memcpy(target->controller_host, target->profile->controller_host, sizeof target->controller_host);
		target->controller_port = target->profile->controller_port;
		found(target, CF_CAN_CONTROLLER, true, "the profile names %s", target->profile->controller);
	} else if (cf_link_ask(&link, "DescribeQuorum", 2,
			       json_pack("{s:[{s:s, s:[{s:i}]}]}", "topics", "topicName", "__cluster_metadata",
					 "partitions", "partitionIndex", 0), &quorum, &err)) {
		found(target, CF_CAN_CONTROLLER, false, "DescribeQuorum version 2: %s", err.text);
	} else if (refusal_of(quorum)) {
		found(target, CF_CAN_CONTROLLER, false, "DescribeQuorum answered %s",
		      cf_error_text(refusal_of(quorum), why, sizeof why));
	} else if (!take_listener(target, quorum, &err)) {
		found(target, CF_CAN_CONTROLLER, false, "%s", err.text);
	} else {
		found(target, CF_CAN_CONTROLLER, true, "DescribeQuorum names node %d at %s", target->controller_id,
		      kt_address(why, sizeof why, target->controller_host, target->controller_port));
	}
	json_decref(quorum);
	cf_link_close(&link);
}

static void probe_registration(struct cf_target *target)
{
	int min, max;

	if (!cf_target_lists(target->controller_apis, BROKER_REGISTRATION, &min, &max)) {
		found(target, CF_CAN_REGISTRATION, false,
		      "the controller's ApiVersions does not list BrokerRegistration");
		found(target, CF_CAN_STATIC_CONFIGS, false,
		      "the controller's ApiVersions does not list BrokerRegistration");
		return;
	}
	found(target, CF_CAN_REGISTRATION, true, "the controller lists BrokerRegistration %d to %d", min, max);
	found(target, CF_CAN_STATIC_CONFIGS, max >= STATIC_CONFIGS_VERSION,
	      "the controller lists BrokerRegistration %d to %d", min, max);
}

static void probe_controller(struct cf_target *target)
{
	struct cf_link link;
	char address[KT_ADDRESS_MAX];
	struct kt_err err = {0};

	find_controller(target);
	if (!target->can[CF_CAN_CONTROLLER].present) {
		found(target, CF_CAN_REGISTRATION, false, "there is no controller listener to ask");
		found(target, CF_CAN_STATIC_CONFIGS, false, "there is no controller listener to ask");
		return;
	}
	link = cf_target_controller(target);
	if (cf_link_ask(&link, "ApiVersions", CF_LATEST,
			json_pack("{s:s, s:s}", "clientSoftwareName", "kassay", "clientSoftwareVersion",
				  KASSAY_VERSION),
			&target->controller_apis, &err))
		found(target, CF_CAN_CONTROLLER, false, "%s does not answer ApiVersions: %s",
		      kt_address(address, sizeof address, target->controller_host, target->controller_port), err.text);
	cf_link_close(&link);
	probe_registration(target);
}

/* ---- configuration ---- */

/* Would a topic with this config be created? *answer gets the result's text. */
static bool topic_takes(struct cf_link *link, const char *prefix, const char *name, const char *value, char *answer,
			size_t size)
{
	char topic[128], text[300];
	json_t *created = NULL;
	struct kt_err err = {0};
	bool ok = false;

	snprintf(topic, sizeof topic, "%sprobe", prefix);
	if (cf_link_ask(link, "CreateTopics", CF_LATEST,
			json_pack("{s:[{s:s, s:i, s:i, s:[], s:[{s:s, s:s}]}], s:i, s:b}", "topics", "name", topic,
				  "numPartitions", 1, "replicationFactor", 1, "assignments", "configs", "name", name,
				  "value", value, "timeoutMs", 5000, "validateOnly", 1), &created, &err)) {
		snprintf(answer, size, "CreateTopics: %.300s", err.text);
	} else {
		ok = cf_error_code(cf_at(created, "topics[0]")) == 0;
		snprintf(answer, size, "CreateTopics with %s answered %s", name,
			 cf_error_text(cf_at(created, "topics[0]"), text, sizeof text));
	}
	json_decref(created);
	return ok;
}

/* A target that takes any name says nothing by taking ours. */
static void probe_topic_configs(struct cf_target *target, struct cf_link *link)
{
	const char *topic_config = json_string_value(json_object_get(target->profile->names, "mv.topic-config"));
	char answer[360];

	if (topic_takes(link, target->profile->topicPrefix, "kassay.no.such.config", "1", answer, sizeof answer)) {
		found(target, CF_CAN_VALIDATORS, false, "the target takes topic configs of any name");
		found(target, CF_CAN_MV_TOPIC_CONFIG, false, "the target takes topic configs of any name");
		return;
	}
	found(target, CF_CAN_VALIDATORS,
	      topic_takes(link, target->profile->topicPrefix, "record.validator.classes", "", answer, sizeof answer),
	      "%s", answer);
	if (topic_config)
		found(target, CF_CAN_MV_TOPIC_CONFIG,
		      topic_takes(link, target->profile->topicPrefix, topic_config, "4096", answer, sizeof answer),
		      "%s", answer);
	else
		found(target, CF_CAN_MV_TOPIC_CONFIG, false, "the profile names no such config");
}

static json_t *broker_config(json_t *described, const char *name)
{
	char path[200];

	snprintf(path, sizeof path, "results[0].configs[name=%s]", name);
	return cf_at(described, path);
}

static void lists_config(struct cf_target *target, enum cf_capability capability, json_t *described, const char *name)
{
	if (!name)
		found(target, capability, false, "the profile names no such config");
	else if (!broker_config(described, name))
		found(target, capability, false,
		      "DescribeConfigs of broker %d does not list %s", target->broker_id, name);
	else
		found(target, capability, true, "DescribeConfigs of broker %d lists %s", target->broker_id, name);
}

/* The profile names the file of the observation channel, or a fakebroker on this machine does. */
static void find_observations(struct cf_target *target, json_t *described)
{
	static const char config[] = "observer.JournalObserver.file";
	const char *given = target->profile->observations;
	const char *own = json_string_value(json_object_get(broker_config(described, config), "value"));
	const char *slash = own ? strrchr(own, '/') : NULL;
	char dir[sizeof target->observations];

	snprintf(target->observations, sizeof target->observations, "%s", given ? given : own ? own : "");
	snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - own) : 1, slash ? own : ".");
	if (given) {
		found(target, CF_CAN_OBSERVATIONS, true, "the profile names %s", given);
	} else if (!own) {
		found(target, CF_CAN_OBSERVATIONS, false,
		      "the profile names no file, and DescribeConfigs of broker %d does not list %s", target->broker_id,
		      config);
	} else if (access(dir, R_OK | X_OK) != 0) {
		found(target, CF_CAN_OBSERVATIONS, false, "%s is %s, which is not here", config, own);
	} else {
		found(target, CF_CAN_OBSERVATIONS, true, "DescribeConfigs of broker %d lists %s: %s", target->broker_id,
		      config, own);
	}
}

/* Its own answer or, as text, why there is none. */
static json_t *describe_broker(struct cf_target *target, struct cf_link *link, struct kt_err *err)
{
	json_t *described = NULL;
	char broker[16], why[400];

	snprintf(broker, sizeof broker, "%d", target->broker_id);
	if (cf_link_ask(link, "DescribeConfigs", CF_LATEST,
			json_pack("{s:[{s:i, s:s, s:n}]}", "resources", "resourceType", BROKER, "resourceName", broker,
				  "configurationKeys"), &described, err) == 0 &&
	    cf_error_code(cf_at(described, "results[0]")))
		kt_fail(err, KT_EPEER, "%s", cf_error_text(cf_at(described, "results[0]"), why, sizeof why));
	return described;
}

static void probe_broker_configs(struct cf_target *target, struct cf_link *link)
{
	static const enum cf_capability asked[] = {CF_CAN_MV_CONFIG, CF_CAN_OBSERVER, CF_CAN_CONTROL,
						   CF_CAN_OBSERVATIONS};
	struct kt_err err = {0};
	json_t *described = describe_broker(target, link, &err);
	const char *url;

	if (err.code) {
		for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
			found(target, asked[i], false, "DescribeConfigs of broker %d: %s", target->broker_id, err.text);
		json_decref(described);
		return;
	}
	lists_config(target, CF_CAN_MV_CONFIG, described,
		     json_string_value(json_object_get(target->profile->names, "mv.broker-config")));
	lists_config(target, CF_CAN_OBSERVER, described, "observer.class.name");
	lists_config(target, CF_CAN_CONTROL, described, "kit.control.url");
	find_observations(target, described);
	url = json_string_value(json_object_get(broker_config(described, "kit.control.url"), "value"));
	snprintf(target->control_url, sizeof target->control_url, "%s", url ? url : "");
	if (!target->control_url[0] && target->can[CF_CAN_CONTROL].present)
		found(target, CF_CAN_CONTROL, false, "kit.control.url has no value");
	json_decref(described);
}

static void probe_features(struct cf_target *target)
{
	int min, max, elr;

	if (target->level < 0)
		found(target, CF_CAN_FEATURES, false, "ApiVersions names no finalized metadata.version");
	else if (!cf_target_lists(target->apis, UPDATE_FEATURES, &min, &max))
		found(target, CF_CAN_FEATURES, false, "ApiVersions does not list UpdateFeatures");
	else
		found(target, CF_CAN_FEATURES, true,
		      "metadata.version %d is finalized, %d to %d are supported", target->level,
		      target->min_level, target->max_level);
	cf_feature(target->apis, "eligible.leader.replicas.version", &min, &max, &elr);
	if (elr >= 1)
		found(target, CF_CAN_ELR, true,
		      "ApiVersions names level %d of eligible.leader.replicas.version as finalized", elr);
	else
		found(target, CF_CAN_ELR, false, "ApiVersions names no finalized eligible.leader.replicas.version");
}

int cf_target_probe(struct cf_target *target, const char *bootstrap, const struct cf_profile *profile,
		    struct kt_err *err)
{
	struct cf_link link;

	memset(target, 0, sizeof *target);
	target->profile = profile;
	target->cluster_id = "";
	target->broker_id = target->controller_id = target->level = target->min_level = target->max_level = -1;
	if (kc_parse_address(bootstrap, target->host, sizeof target->host, &target->port, err) ||
	    probe_broker(target, err))
		return err->code;
	link = cf_target_broker(target);
	if (cf_link_open(&link, err))
		return err->code;
	found(target, CF_CAN_BROKERS, target->brokers > 1, "Metadata lists %d broker%s", target->brokers,
	      target->brokers == 1 ? "" : "s");
	probe_controller(target);
	probe_features(target);
	probe_topic_configs(target, &link);
	probe_broker_configs(target, &link);
	cf_link_close(&link);
	return 0;
}
