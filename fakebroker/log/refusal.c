#include "fakebroker/log/refusal.h"

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

bool fb_refuse_batch(const struct fb_append *a, enum fb_refusal refusal, const char *reason, struct fb_verdict *v)
{
	size_t meter = refusals[refusal].meter;

	v->errorCode = refusals[refusal].code;
	v->reason = reason;
	if (!refusals[refusal].foreseen) {
		v->logStartOffset = a->log->logStartOffset;
		a->meters->failedProduceRequests++;
	}
	if (meter != NO_METER)
		++*(uint64_t *)((char *)a->meters + meter);
	return false;
}
