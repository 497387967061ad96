#include "loadgen/meter.h"

#include <string.h>

const char *lg_latency_tag(enum lg_latency latency)
{
	static const char *const tags[] = {
#define LG_X(symbol, tag, text) tag,
		LG_LATENCIES(LG_X)
#undef LG_X
	};
	return tags[latency];
}

const char *lg_latency_text(enum lg_latency latency)
{
	static const char *const texts[] = {
#define LG_X(symbol, tag, text) text,
		LG_LATENCIES(LG_X)
#undef LG_X
	};
	return texts[latency];
}

int lg_meter_init(struct lg_meter *meter, struct kt_err *err)
{
	int rc;

	memset(meter, 0, sizeof *meter);
	pthread_mutex_init(&meter->lock, NULL);
	rc = kh_init_latency(&meter->spare, err);
	for (int i = 0; i < LG_NLATENCIES && rc == 0; i++) {
		rc = kh_init_latency(&meter->total[i], err);
		if (rc == 0)
			rc = kh_init_latency(&meter->interval[i], err);
	}
	return rc;
}

void lg_meter_fini(struct lg_meter *meter)
{
	for (int i = 0; i < LG_NLATENCIES; i++) {
		kh_fini(&meter->total[i]);
		kh_fini(&meter->interval[i]);
	}
	kh_fini(&meter->spare);
	pthread_mutex_destroy(&meter->lock);
}

static void record(struct lg_meter *meter, enum lg_latency latency, int64_t ns)
{
	kh_record(&meter->total[latency], ns);
	kh_record(&meter->interval[latency], ns);
}

void lg_meter_sent(struct lg_meter *meter, int64_t intended, int64_t sent)
{
	pthread_mutex_lock(&meter->lock);
	record(meter, LG_LAG, sent - intended);
	pthread_mutex_unlock(&meter->lock);
}

void lg_meter_acked(struct lg_meter *meter, int64_t intended, int64_t sent, int64_t acked)
{
	pthread_mutex_lock(&meter->lock);
	record(meter, LG_SERVICE, acked - sent);
	record(meter, LG_RESPONSE, acked - intended);
	pthread_mutex_unlock(&meter->lock);
}

int lg_meter_log(struct lg_meter *meter, FILE *out, double begin, double length, struct kt_err *err)
{
	int rc = 0;

	for (int i = 0; i < LG_NLATENCIES && rc == 0; i++) {
		struct kh_hist full;

		pthread_mutex_lock(&meter->lock);
		full = meter->interval[i];
		meter->interval[i] = meter->spare;
		pthread_mutex_unlock(&meter->lock);
		rc = kh_log_interval(out, lg_latency_tag((enum lg_latency)i), begin, length, &full, err);
		kh_reset(&full);
		meter->spare = full;
	}
	return rc;
}

int64_t lg_meter_percentile(struct lg_meter *meter, enum lg_latency latency, double percentile)
{
	int64_t value;

	pthread_mutex_lock(&meter->lock);
	value = kh_percentile(&meter->total[latency], percentile);
	pthread_mutex_unlock(&meter->lock);
	return value;
}
