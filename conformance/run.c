#include "conformance/run.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "conformance/vars.h"
#include "lib/wire/errors.h"

/* Where the correlation id of a request ends, behind size, API key and version. */
enum { CORRELATION_END = 12 };
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
	if (row) {
		snprintf(link->host, sizeof link->host, "%s", json_string_value(json_object_get(row, "host")));
		link->port = (int)json_integer_value(json_object_get(row, "port"));
		found = true;
	} else {
		kt_fail(err, KT_ENET, "Metadata names no broker");
	}
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
	if (code == 0) {
		snprintf(link->host, sizeof link->host, "%s", json_string_value(json_object_get(answer, "host")));
		link->port = (int)json_integer_value(json_object_get(answer, "port"));
	} else if (err->code == KT_OK) {
		kt_fail(err, KT_ENET, "FindCoordinator for \"%s\" was answered with %s", id,
			cf_error_text(answer, why, sizeof why));
	}
	json_decref(answer);
	return err->code == KT_OK;
}

static bool controller_of(struct cf_run *run, struct cf_link *link, struct kt_err *err)
{
	*link = cf_target_controller(run->target);
	if (!run->target->can[CF_CAN_CONTROLLER].present)
		kt_fail(err, KT_EUNKNOWN, "controller: %s", run->target->can[CF_CAN_CONTROLLER].evidence);
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

/* Everything the peer may do is told by the outcome; the fate is judged when the step is done. */
static int take_answer(struct cf_link *link, int api, int version, int32_t sent, struct cf_outcome *out,
		       struct kt_err *err)
{
	struct kt_err why = {0};
	int32_t got = 0;

	switch (cf_link_receive(link, api, version, out->evidence, &got, &out->body, &why)) {
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
		out->answered = true;
		json_object_set_new(out->evidence, "unreadable", json_sprintf("%s: %s", why.path, why.text));
		return 0;
	}
	out->answered = true;
	if (got != sent) {
		json_object_set_new(out->evidence, "unreadable",
				    json_sprintf("correlation id %d, sent was %d", got, sent));
		json_decref(out->body);
		out->body = NULL;
	}
	return 0;
}

/* The correlation id that the answer to a frame has: whatever stands in its place. */
static int32_t correlation_of(const struct kw_buf *frame, int32_t fallback)
{
	return frame->n >= CORRELATION_END ? (int32_t)kw_rd32(frame->p + CORRELATION_END - 4) : fallback;
}

int cf_run_exchange_edited(struct cf_link *link, int api, int version, json_t *body, json_t *tags, json_t *edits,
			   bool silent, struct cf_outcome *out, struct kt_err *err)
{
	struct kt_err why = {0};
	bool bad_edits = false;
	struct kw_buf frame;
	int32_t sent;

	out->evidence = json_pack("{s:s, s:i, s:O}", "api", kw_api_name(api), "version", version, "request", body);
	kw_buf_init(&frame, 0);
	if (cf_link_encode(link, api, version, body, tags, &frame, &sent, err)) {
		/* Whatever is wrong with the body is wrong with the case. */
		if (err->code != KT_ENOMEM)
			err->code = KT_EUSAGE;
		goto out;
	}
	if (cf_link_send_edited(link, &frame, edits, out->evidence, &bad_edits, &why) == 0 && !silent)
		take_answer(link, api, version, edits ? correlation_of(&frame, sent) : sent, out, err);
	if (bad_edits) {
		why.code = why.code == KT_ENOMEM ? KT_ENOMEM : KT_EUSAGE;
		*err = why;
	}
	if (out->body)
		json_object_set(out->evidence, "response", out->body);
	out->subject = json_incref(out->body);
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
