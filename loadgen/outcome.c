#include "loadgen/outcome.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <string.h>

#include "lib/wire/message.h"

void lg_outcomes_init(struct lg_outcomes *outcomes)
{
	memset(outcomes, 0, sizeof *outcomes);
	pthread_mutex_init(&outcomes->lock, NULL);
}

void lg_outcomes_fini(struct lg_outcomes *outcomes)
{
	pthread_mutex_destroy(&outcomes->lock);
}

static struct lg_outcome *row(struct lg_outcomes *outcomes, const struct lg_illegal *illegal, int code, bool expected)
{
	for (int i = 0; i < outcomes->n; i++) {
		struct lg_outcome *outcome = &outcomes->v[i];

		if (outcome->illegal == illegal && outcome->code == code && outcome->expected == expected)
			return outcome;
	}
	if (outcomes->n == LG_OUTCOMES_MAX)
		return NULL;
	outcomes->v[outcomes->n] = (struct lg_outcome){.illegal = illegal, .code = code, .expected = expected};
	return &outcomes->v[outcomes->n++];
}

void lg_outcomes_add(struct lg_outcomes *outcomes, const struct lg_illegal *illegal, int code, bool expected,
		     const char *text)
{
	struct lg_outcome *outcome;

	pthread_mutex_lock(&outcomes->lock);
	outcomes->unexpected += !expected;
	outcome = row(outcomes, illegal, code, expected);
	if (outcome && outcome->count++ == 0)
		snprintf(outcome->text, sizeof outcome->text, "%s", text ? text : "");
	pthread_mutex_unlock(&outcomes->lock);
}

const char *lg_code_name(int code)
{
	return code < -1 ? rd_kafka_err2name((rd_kafka_resp_err_t)code) : kw_error_name(code);
}
