/* What a broken rule answers and counts. */
#include <stdio.h>

#include "lib/wire/verdict_steps.h"

static void count(const struct kw_leader *leader, size_t meter, size_t by)
{
	if (meter != SIZE_MAX)
		*(uint64_t *)((char *)leader->meters + meter) += by;
}

bool kw_verdict_refuse(const struct kw_leader *leader, enum kw_rule rule, size_t set_size, const char *reason,
		       struct kw_verdict *v)
{
	size_t meter = kw_rule_meter(rule);

	v->rule = (int)rule;
	v->errorCode = (int16_t)kw_rule_code(rule);
	v->reason = reason;
	count(leader, meter, meter == offsetof(struct kw_meters, bytesRejected) ? set_size : 1);
	if (kw_rule_is_unforeseen(rule)) {
		v->logStartOffset = leader->logStartOffset;
		count(leader, offsetof(struct kw_meters, failedProduceRequests), 1);
	}
	return false;
}

bool kw_refuse_with(const struct kw_judge *judge, enum kw_rule rule, const char *reason)
{
	return kw_verdict_refuse(judge->leader, rule, judge->set_size, reason, judge->v);
}

bool kw_refuse_batch(const struct kw_judge *judge, enum kw_rule rule, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return kw_refuse_with(judge, rule, kw_strndup(judge->arena, text, strlen(text)));
}

bool kw_refuse(const struct kw_judge *judge, enum kw_rule rule, const struct kw_batch *batch, size_t size)
{
	const struct kw_leader *leader = judge->leader;
	const struct kw_rule_facts facts = {
		.batch = batch,
		.conf = leader->conf,
		.topic = leader->topic,
		.partition = leader->partition,
		.size = size,
	};
	char text[1024];

	kw_rule_words(rule, false, &facts, text, sizeof text);
	return kw_refuse_with(judge, rule, kw_strndup(judge->arena, text, strlen(text)));
}

bool kw_refuse_no_memory(const struct kw_judge *judge)
{
	return kw_refuse_with(judge, KW_R_NO_MEMORY, "out of memory");
}
