/* Validators whose verdict has nothing to do with the record: for trying out the broker, a client or a monitor. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fakebroker/hooks/builtin_validators.h"
#include "fakebroker/hooks/validators.h"
#include "lib/wire/errors.h"

const struct kassay_option fb_no_options[] = {{0}};

int fb_no_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	(void)host, (void)why;
	*instance = NULL;
	return 0;
}

void fb_no_close(void *instance)
{
	(void)instance;
}

int fb_allow_all(void *instance, const struct kassay_record *record, struct kassay_verdict *verdict)
{
	(void)instance, (void)record, (void)verdict;
	return KASSAY_OK;
}

/* ---- RejectAll ---- */

struct reject_all {
	int16_t error;
	char text[512];
};

const struct kassay_option fb_reject_all_options[] = {
	{"text", "RejectAll: refused", "what the producer is told about each record"},
	{"error", "87", "the validator's own error code; only 32 (INVALID_TIMESTAMP) gets through, others become 87"},
	{0},
};

int fb_reject_all_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	const char *text = host->option(host, "text");
	struct reject_all *self;
	int64_t error;

	if (fb_option_number(host, "error", INT16_MIN, INT16_MAX, KW_ERR_INVALID_RECORD, &error, why) < 0)
		return -1;
	self = fb_validator_alloc(sizeof *self, why);
	if (!self)
		return -1;
	self->error = (int16_t)error;
	snprintf(self->text, sizeof self->text, "%s", text ? text : fb_reject_all_options[0].fallback);
	*instance = self;
	return 0;
}

int fb_reject_all(void *instance, const struct kassay_record *record, struct kassay_verdict *verdict)
{
	const struct reject_all *self = instance;

	(void)record;
	verdict->error = self->error;
	return fb_validator_refuse(verdict, "%s", self->text);
}

/* ---- RejectEvery, Failing: every nth ---- */

struct every {
	uint64_t n;
	atomic_uint_fast64_t seen;
};

static int every_create(const struct kassay_host *host, int64_t fallback, void **instance, struct kassay_text *why)
{
	struct every *self;
	int64_t n;

	if (fb_option_number(host, "n", 1, INT32_MAX, fallback, &n, why) < 0)
		return -1;
	self = fb_validator_alloc(sizeof *self, why);
	if (!self)
		return -1;
	self->n = (uint64_t)n;
	atomic_init(&self->seen, 0);
	*instance = self;
	return 0;
}

/* Number of this record, from 1, if it is an nth one; 0 if not. */
static uint64_t every_next(struct every *self)
{
	uint64_t seen = atomic_fetch_add_explicit(&self->seen, 1, memory_order_relaxed) + 1;

	return seen % self->n == 0 ? seen : 0;
}

const struct kassay_option fb_reject_every_options[] = {
	{"n", NULL, "refuse the nth, 2nth, 3nth, ... record that the instance sees, of all clients together"},
	{0},
};

int fb_reject_every_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	return every_create(host, 0, instance, why);
}

int fb_reject_every(void *instance, const struct kassay_record *record, struct kassay_verdict *verdict)
{
	struct every *self = instance;
	uint64_t number = every_next(self);

	(void)record;
	if (number == 0)
		return KASSAY_OK;
	return fb_validator_refuse(verdict, "RejectEvery: record %llu is one of every %llu", (unsigned long long)number,
			 (unsigned long long)self->n);
}

const struct kassay_option fb_failing_options[] = {
	{"n", "1", "fail at the nth, 2nth, 3nth, ... record that the instance sees; accept the others"},
	{"create", "false", "true: fail when the validator is made, so that the list of validators is refused"},
	{0},
};

int fb_failing_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	bool fail;

	if (fb_option_bool(host, "create", false, &fail, why) < 0)
		return -1;
	if (fail) {
		snprintf(why->text, why->size, "fails as it was told to");
		return -1;
	}
	return every_create(host, 1, instance, why);
}

int fb_failing(void *instance, const struct kassay_record *record, struct kassay_verdict *verdict)
{
	(void)record;
	if (every_next(instance) == 0)
		return KASSAY_OK;
	snprintf(verdict->why.text, verdict->why.size, "fails as it was told to");
	return KASSAY_FAILED;
}

/* ---- Slow ---- */

const struct kassay_option fb_slow_options[] = {
	{"ms", NULL, "milliseconds that each record takes"},
	{0},
};

int fb_slow_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	struct timespec *self;
	int64_t ms;

	if (fb_option_number(host, "ms", 0, INT32_MAX, -1, &ms, why) < 0)
		return -1;
	self = fb_validator_alloc(sizeof *self, why);
	if (!self)
		return -1;
	*self = (struct timespec){ms / 1000, ms % 1000 * 1000000};
	*instance = self;
	return 0;
}

int fb_slow(void *instance, const struct kassay_record *record, struct kassay_verdict *verdict)
{
	struct timespec left = *(struct timespec *)instance;

	(void)record, (void)verdict;
	while (nanosleep(&left, &left) != 0)
		;
	return KASSAY_OK;
}
