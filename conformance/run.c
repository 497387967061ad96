#include "conformance/run.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "conformance/vars.h"
#include "lib/wire/errors.h"

/* FindCoordinator: the last version with one key, and its type for a transactional id. */
enum { FIND_BY_KEY = 3, TRANSACTION = 1, COORDINATOR_MS = 10000, RETRY_MS = 50 };

/* splitmix64 */
uint64_t cf_random(struct cf_run *run)
{
	uint64_t z = run->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

void cf_run_set(struct cf_run *run, const char *name, json_t *value)
{
	json_object_set_new(run->vars, name, value);
}

/* ---- links ---- */

static struct cf_link *keep_link(struct cf_run *run, const struct cf_link *wanted, struct kt_err *err)
{
	struct cf_link *link = NULL;

	for (size_t i = 0; i < run->nlinks && !link; i++)
		if (run->links[i].port == wanted->port && strcmp(run->links[i].host, wanted->host) == 0)
			link = &run->links[i];
	if (!link) {
		if (run->nlinks == CF_LINKS) {
			kt_fail(err, KT_ELIMIT, "a case speaks to at most %d addresses", CF_LINKS);
			return NULL;
		}
		link = &run->links[run->nlinks++];
		*link = *wanted;
	}
	link->evidence = run->asked;
	run->used = link;
	return cf_link_open(link, err) ? NULL : link;
}

static bool leader_of(struct cf_run *run, const char *topic, struct cf_link *link, struct kt_err *err)
{
	struct cf_link broker = cf_target_broker(run->target);
	json_t *metadata = NULL, *row;
	char path[64];
	bool found = false;

	*link = broker;
	broker.evidence = run->asked;
	if (run->target->brokers < 2)
		return true;
	if (cf_link_ask(&broker, "Metadata", 4, json_pack("{s:[{s:s}], s:b}", "topics", "name", topic,
							  "allowAutoTopicCreation", 0), &metadata, err))
		goto out;
	snprintf(path, sizeof path, "brokers[nodeId=%d]",
		 (int)json_integer_value(cf_at(metadata, "topics[0].partitions[partitionIndex=0].leaderId")));
	row = cf_at(metadata, path);
	if (!row)
		row = cf_at(metadata, "brokers[0]");
	if (row)
		found = cf_node_address(row, link->host, &link->port, err) == 0;
	else
		kt_fail(err, KT_ENET, "Metadata names no broker");
out:
	cf_link_close(&broker);
	json_decref(metadata);
	return found;
}

/* Asks until there is one: Kafka makes the topic that transactions are kept in when it is first asked. */
static bool coordinator_of(struct cf_run *run, const char *id, struct cf_link *link, struct kt_err *err)
{
	int64_t deadline = kc_now_ms() + COORDINATOR_MS;
	json_t *answer = NULL;
	int code = KW_ERR_COORDINATOR_NOT_AVAILABLE;
	char why[400];

	*link = cf_target_broker(run->target);
	link->evidence = run->asked;
	while (code == KW_ERR_COORDINATOR_NOT_AVAILABLE && kc_now_ms() < deadline) {
		json_decref(answer);
		answer = NULL;
		if (cf_link_ask(link, "FindCoordinator", FIND_BY_KEY,
				json_pack("{s:s, s:i}", "key", id, "keyType", TRANSACTION), &answer, err))
			break;
		code = cf_error_code(answer);
		if (code == KW_ERR_COORDINATOR_NOT_AVAILABLE)
			poll(NULL, 0, RETRY_MS);
	}
	cf_link_close(link);
	if (code == 0)
		cf_node_address(answer, link->host, &link->port, err);
	else if (err->code == KT_OK)
		kt_fail(err, KT_ENET, "FindCoordinator for \"%s\" was answered with %s", id,
			cf_error_text(answer, why, sizeof why));
	json_decref(answer);
	return err->code == KT_OK;
}

static bool controller_of(struct cf_run *run, struct cf_link *link, struct kt_err *err)
{
	*link = cf_target_controller(run->target);
	if (!run->target->can[CF_CAN_CONTROLLER].present)
		kt_fail(err, KT_EABSENT, "controller: %s", run->target->can[CF_CAN_CONTROLLER].evidence);
	return err->code == KT_OK;
}

static bool find_link(struct cf_run *run, const char *to, const char *of, struct cf_link *link, struct kt_err *err)
{
	if (!to || strcmp(to, "broker") == 0) {
		*link = cf_target_broker(run->target);
		return true;
	}
	if (strcmp(to, "controller") == 0)
		return controller_of(run, link, err);
	if (strcmp(to, "leader") != 0 && strcmp(to, "coordinator") != 0)
		kt_fail(err, KT_EUSAGE,
			"to is \"broker\", \"leader\", \"coordinator\" or \"controller\", not \"%s\"", to);
	else if (!of)
		kt_fail(err, KT_EUSAGE, "to \"leader\" needs \"topic\", to \"coordinator\" needs \"transactionalId\"");
	else
		return *to == 'l' ? leader_of(run, of, link, err) : coordinator_of(run, of, link, err);
	return false;
}

struct cf_link *cf_run_link(struct cf_run *run, const char *to, const char *of, struct kt_err *err)
{
	struct cf_link link;

	return find_link(run, to, of, &link, err) ? keep_link(run, &link, err) : NULL;
}

int cf_run_version(struct cf_run *run, struct cf_link *link, int api, json_t *args, int max, struct kt_err *err)
{
	json_t *given = json_object_get(args, "version");
	const struct cf_instance *instance = run->instance;

	if (json_is_integer(given))
		return cf_link_version(link, api, (int)json_integer_value(given), -1, err);
	if (given && (!json_is_string(given) || strcmp(json_string_value(given), "latest") != 0))
		return kt_fail(err, KT_EUSAGE, "version is a number or \"latest\"");
	if (!given && instance->version >= 0 && instance->cas->api == api)
		return cf_link_version(link, api, instance->version, -1, err);
	return cf_link_version(link, api, CF_LATEST, max, err);
}

/* ---- exchanges ---- */

int cf_run_take_answer(struct cf_link *link, int api, int version, struct cf_outcome *out, struct kt_err *err)
{
	struct kt_err why = {0};
	int32_t correlation;
	int code = api < 0 ? cf_link_receive_any(link, out->evidence, &correlation, &why)
			   : cf_link_receive(link, api, version, out->evidence, &out->body, &why);

	switch (code) {
	case KT_OK:
		break;
	case KT_ECLOSED:
	case KT_ENET:
	case KT_ETIMEOUT:
		return 0;
	case KT_ENOMEM:
		*err = why;
		return why.code;
	default:
		json_object_set_new(out->evidence, "unreadable", json_string(why.text));
	}
	out->answered = true;
	if (out->body)
		json_object_set(out->evidence, "response", out->body);
	out->subject = json_incref(out->body);
	return 0;
}

int cf_run_exchange_edited(struct cf_link *link, int api, int version, json_t *body, json_t *tags, json_t *edits,
			   bool silent, struct cf_outcome *out, struct kt_err *err)
{
	struct kt_err why = {0};
	bool bad_edits = false;
	struct kw_buf frame;

	out->evidence = json_pack("{s:s, s:i, s:O}", "api", kw_api_name(api), "version", version, "request", body);
	kw_buf_init(&frame, 0);
	if (cf_link_encode(link, api, version, body, tags, &frame, err))
		goto out;
	if (cf_link_send_edited(link, &frame, edits, out->evidence, &bad_edits, &why) == 0 && !silent)
		cf_run_take_answer(link, api, version, out, err);
	if (bad_edits) {
		why.code = why.code == KT_ENOMEM ? KT_ENOMEM : KT_EUSAGE;
		*err = why;
	}
out:
	kw_buf_fini(&frame);
	json_decref(body);
	return err->code;
}

int cf_run_exchange(struct cf_link *link, int api, int version, json_t *body, json_t *tags, bool silent,
		    struct cf_outcome *out, struct kt_err *err)
{
	return cf_run_exchange_edited(link, api, version, body, tags, NULL, silent, out, err);
}
