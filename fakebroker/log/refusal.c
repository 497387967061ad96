#include "fakebroker/log/refusal.h"

#include <stdio.h>

#define METER(name) offsetof(struct fb_meters, name)
#define NO_METER SIZE_MAX

static const struct {
	int16_t code;
	bool foreseen;
	size_t meter;
} refusals[] = {
#define KT_X(sym, code, foreseen, meter) [sym] = {code, foreseen, meter},
	FB_REFUSALS(KT_X)
#undef KT_X
};

static void count(const struct fb_judge *judge, size_t meter)
{
	uint64_t by = meter == METER(bytesRejected) ? judge->set_size : 1;

	if (meter != NO_METER)
		*(uint64_t *)((char *)judge->a->meters + meter) += by;
}

bool fb_refuse_with(const struct fb_judge *judge, enum fb_refusal refusal, const char *reason)
{
	struct fb_verdict *v = judge->v;

	v->errorCode = refusals[refusal].code;
	v->reason = reason;
	count(judge, refusals[refusal].meter);
	if (!refusals[refusal].foreseen) {
		v->logStartOffset = judge->a->log->logStartOffset;
		count(judge, METER(failedProduceRequests));
	}
	return false;
}

bool fb_refuse_batch(const struct fb_judge *judge, enum fb_refusal refusal, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return fb_refuse_with(judge, refusal, kw_strndup(judge->arena, text, strlen(text)));
}

bool fb_refuse_no_memory(const struct fb_judge *judge)
{
	return fb_refuse_with(judge, FB_R_NO_MEMORY, "out of memory");
}
