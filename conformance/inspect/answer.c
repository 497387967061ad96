/* What a release of Kafka would answer to the producer of a batch. */
#include <inttypes.h>
#include <stdlib.h>

#include "conformance/inspect/inspect.h"
#include "lib/wire/errors.h"
#include "lib/wire/message.h"
#include "lib/wire/verdict.h"

enum { ERRORS_SHOWN = 5 };

static const struct cf_place nowhere = {.none = true};

/* What is asked, and what came of it. */
struct answer {
	struct cf_inspector *inspector;
	const struct cf_asked *asked;
	struct kw_records records;
	int version;
	struct kw_meters meters;
	struct kw_verdict v;
	struct kw_arena arena;
};

static void say(struct answer *answer, const char *name, const char *text)
{
	cf_tree_leaf(&answer->inspector->tree, &nowhere, name, json_string(text), text, false);
}

/* ---- the verdict ---- */

static void judge(struct answer *answer)
{
	const struct cf_asked *asked = answer->asked;
	struct kw_leader leader = {
		.topic = asked->topic,
		.partition = asked->partition,
		.conf = &asked->conf,
		.now = asked->now,
		.meters = &answer->meters,
	};
	struct kw_append_plan *plan;
	bool whole = false;

	kw_verdict_init(&answer->v);
	if (!kw_verdict_shape(answer->version, &answer->records, &answer->arena, &answer->v, &whole))
		return;
	if (answer->version <= KW_OLD_PRODUCE)
		kw_verdict_old(&leader, &answer->records, &answer->arena, &plan, &answer->v);
	else
		kw_verdict_check(&leader, &answer->records, &answer->arena, &plan, &answer->v);
}

/* ---- what is shown of it ---- */

static void say_code(struct answer *answer)
{
	char name[40], text[120];

	snprintf(name, sizeof name, "Kafka %s answers", answer->asked->release->name);
	snprintf(text, sizeof text, "%s (%d)%s", kw_error_name(answer->v.errorCode), answer->v.errorCode,
		 answer->v.errorCode ? "" : ", as far as the bytes decide");
	cf_tree_leaf(&answer->inspector->tree, &nowhere, name, json_integer(answer->v.errorCode), text, false);
}

static void say_record_errors(struct answer *answer)
{
	const struct kw_verdict *v = &answer->v;
	char name[40];

	for (int32_t i = 0; i < v->nrecordErrors && i < ERRORS_SHOWN; i++) {
		snprintf(name, sizeof name, "record_errors, %d", v->recordErrors[i].batchIndex);
		say(answer, name, v->recordErrors[i].batchIndexErrorMessage.s);
	}
	if (v->nrecordErrors > ERRORS_SHOWN) {
		snprintf(name, sizeof name, "and %d more", v->nrecordErrors - ERRORS_SHOWN);
		say(answer, "record_errors", name);
	}
}

static void say_meters(struct answer *answer)
{
	const uint64_t *meters = (const uint64_t *)&answer->meters;
	char text[300] = "";

	for (size_t at = 0; at < sizeof answer->meters; at += sizeof *meters) {
		uint64_t by = meters[at / sizeof *meters];

		if (by)
			snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s +%" PRIu64, *text ? ", " : "",
				 kw_meter_name(at), by);
	}
	say(answer, "meters that move", *text ? text : "none");
}

/* What is taken for granted, or cannot be known from bytes. */
static void say_assumptions(struct answer *answer, bool rebased)
{
	const struct kw_records *records = &answer->records;
	struct kw_batch batch;
	char text[300];

	snprintf(text, sizeof text, "Produce %d%s%s", answer->version, rebased ? ", with baseOffset 0" : "",
		 answer->asked->configured ? "" : ", a topic that nobody configured");
	if (kw_batch_parse(records->p, (size_t)records->n, &batch, NULL) == 0 && batch.magic == 2 &&
	    batch.producerId >= 0)
		snprintf(text + strlen(text), sizeof text - strlen(text),
			 "; epoch and sequence (%s) that the partition's producer state expects",
			 batch.attributes & KW_A_TRANSACTIONAL ? "45, 47, and 48 outside of a transaction" : "45, 47");
	say(answer, "taken for granted", text);
}

static void show(struct answer *answer, bool rebased)
{
	say_code(answer);
	if (!answer->asked->detailed || (!answer->v.errorCode && !answer->inspector->records))
		return;
	if (answer->v.errorMessage && answer->version >= 8)
		say(answer, "error_message", answer->v.errorMessage);
	say_record_errors(answer);
	if (answer->v.reason && answer->v.reason != answer->v.errorMessage)
		say(answer, "its log says", answer->v.reason);
	if (answer->v.errorCode)
		say_meters(answer);
	say_assumptions(answer, rebased);
}

/* The request's, if there is one; else the newest that carries such batches. */
static int version_for(const struct cf_inspector *inspector, int magic)
{
	const struct kw_release *release = inspector->asked->release;

	if (inspector->in_produce)
		return inspector->version;
	return magic < 2 && release->minVersion <= KW_OLD_PRODUCE ? KW_OLD_PRODUCE : release->maxVersion;
}

/* A version that the release does not serve. */
static int show_closed(struct answer *answer, char *why, size_t size)
{
	const struct kw_release *release = answer->asked->release;
	char name[40];

	snprintf(name, sizeof name, "Kafka %s answers", release->name);
	cf_tree_leaf(&answer->inspector->tree, &nowhere, name, json_null(), "nothing: it closes the connection", false);
	snprintf(why, size, "Kafka %s serves Produce %d to %d, not %d", release->name, release->minVersion,
		 release->maxVersion, answer->version);
	return KW_ERR_UNSUPPORTED_VERSION;
}

int cf_inspect_answer(struct cf_inspector *inspector, const struct kw_slice *batches, int magic, char *why, size_t size)
{
	const struct cf_asked *asked = inspector->asked;
	struct answer answer = {
		.inspector = inspector,
		.asked = asked,
		.records = {.p = batches->p, .n = (int32_t)(batches->n < INT32_MAX ? batches->n : INT32_MAX)},
		.version = version_for(inspector, magic),
	};
	bool rebase = inspector->role == KW_STORED && magic == 2 && kw_rd64(batches->p) != 0;
	uint8_t *copy = rebase ? malloc(batches->n) : NULL;

	*why = '\0';
	if (answer.version < asked->release->minVersion || answer.version > asked->release->maxVersion) {
		free(copy);
		return show_closed(&answer, why, size);
	}
	if (rebase && !copy) {
		say(&answer, "answer", "could not be judged: out of memory");
		inspector->incomplete = true;
		return KW_ERR_NONE;
	}
	/* It is not under the CRC. */
	if (rebase) {
		memcpy(copy, batches->p, batches->n);
		kw_wr64(copy + KW_B_BASE_OFFSET, 0);
		answer.records.p = copy;
	}
	kw_arena_init(&answer.arena, KW_INFLATE_MAX);
	judge(&answer);
	show(&answer, rebase);
	if (answer.v.nrecordErrors > 0)
		snprintf(why, size, "record %d: %s", answer.v.recordErrors[0].batchIndex,
			 answer.v.recordErrors[0].batchIndexErrorMessage.s);
	else if (answer.v.reason)
		snprintf(why, size, "%s", answer.v.reason);
	kw_arena_fini(&answer.arena);
	free(copy);
	return answer.v.errorCode;
}
