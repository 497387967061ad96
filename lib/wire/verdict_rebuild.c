/* Stage K, when the stored batch cannot be the one that was sent: Kafka's LogValidator.buildRecordsAndAssignOffsets and
 * MemoryRecordsBuilder. What does not survive it: record attributes, the batch's unused attribute bits and delete
 * horizon, and header keys that are not UTF-8. */
#include <inttypes.h>

#include "lib/wire/java_utf8.h"
#include "lib/wire/record_time.h"
#include "lib/wire/verdict_steps.h"

enum { NO_TIMESTAMP = -1, NEGATIVE_TIMESTAMP = 1 };

struct rebuild {
	const struct kw_batch *batch;
	int64_t baseTimestamp;
	int64_t bad;              /* the timestamp that cannot be written */
	struct kw_buf records;
	struct kw_arena *arena;
};

static int put_record(void *arg, int32_t index, const struct kw_record *record)
{
	struct rebuild *rebuild = arg;
	int64_t timestamp = kw_record_time(rebuild->batch, record);
	struct kw_record copy = *record;

	if (timestamp < 0 && timestamp != NO_TIMESTAMP) {
		rebuild->bad = timestamp;
		return NEGATIVE_TIMESTAMP;
	}
	if (index == 0)
		rebuild->baseTimestamp = timestamp;
	copy.attributes = 0;
	copy.offsetDelta = index;
	copy.timestampDelta = kw_wrap_sub(timestamp, rebuild->baseTimestamp);
	if (kw_record_recode_keys(&copy, rebuild->arena) < 0)
		return KT_ENOMEM;
	kw_record_put(&rebuild->records, &copy);
	return rebuild->records.failed;
}

static bool encode(const struct kw_judge *judge, struct rebuild *rebuild)
{
	struct kw_walk_opts opts = kw_judge_walk_opts(judge->leader, false);
	enum kw_walk why;
	int code = kw_batch_walk(rebuild->batch, &opts, put_record, rebuild, &why, NULL);
	const char *reason = kw_batch_unwritable(rebuild->batch);

	if (code == NEGATIVE_TIMESTAMP)
		return kw_refuse_batch(judge, KW_R_NOT_REBUILT, "Invalid negative timestamp %" PRId64, rebuild->bad);
	if (code)
		return kw_refuse_no_memory(judge);
	return !reason || kw_refuse_with(judge, KW_R_NOT_REBUILT, reason);
}

static void put_header(const struct kw_leader *leader, const struct rebuild *rebuild, int target,
		       const struct kw_records_facts *facts, struct kw_append_plan *plan)
{
	const struct kw_batch *batch = rebuild->batch;
	bool logAppendTime = leader->conf->logAppendTime;
	int attributes = target | (batch->attributes & KW_A_TRANSACTIONAL) | (logAppendTime ? KW_A_LOG_APPEND_TIME : 0);
	uint8_t *header = plan->header;

	memcpy(header, batch->p, KW_B_RECORDS);
	kw_wr32(header + KW_B_LENGTH, (uint32_t)(KW_B_RECORDS - KW_B_LOG_OVERHEAD + plan->body.n));
	kw_wr16(header + KW_B_ATTRIBUTES, (uint16_t)attributes);
	kw_wr64(header + KW_B_BASE_TIMESTAMP, (uint64_t)rebuild->baseTimestamp);
	kw_wr64(header + KW_B_MAX_TIMESTAMP, (uint64_t)(logAppendTime ? leader->now : facts->maxTimestamp));
	plan->deltaOfMax = logAppendTime ? 0 : facts->indexOfMax;
}

/* Takes the compressed records into the plan, if the batch may be that large. */
static bool keep(const struct kw_judge *judge, const struct kw_buf *body, struct kw_append_plan *plan)
{
	size_t size = KW_B_RECORDS + body->n;
	uint8_t *p;

	if (size > (size_t)judge->leader->conf->maxMessageBytes)
		return kw_refuse(judge, KW_R_REBUILT_TOO_LARGE, NULL, size);
	p = kw_alloc(judge->arena, body->n);
	if (!p)
		return kw_refuse_no_memory(judge);
	memcpy(p, body->p, body->n);
	plan->body = (struct kw_slice){p, body->n};
	plan->rebuilt = true;
	return true;
}

bool kw_rebuild(const struct kw_judge *judge, const struct kw_batch *batch, int target,
		const struct kw_records_facts *facts, struct kw_append_plan *plan)
{
	struct rebuild rebuild = {.batch = batch, .arena = judge->arena};
	const struct kw_deflate_opts opts = {.level = judge->leader->conf->levels[target]};
	struct kw_buf body = {0};
	bool good = encode(judge, &rebuild);

	if (good && kw_compress_as(target, &opts, rebuild.records.p, rebuild.records.n, &body, NULL) < 0)
		good = kw_refuse_no_memory(judge);
	good = good && keep(judge, &body, plan);
	if (good) {
		put_header(judge->leader, &rebuild, target, facts, plan);
		kw_plan_seal(plan);
	}
	kw_buf_fini(&body);
	kw_buf_fini(&rebuild.records);
	return good;
}
