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

/* Number of this record, from 1, if it is an nth one; 0 if not. */
static uint64_t every_next(struct every *self)
{
	uint64_t seen = atomic_fetch_add_explicit(&self->seen, 1, memory_order_relaxed) + 1;

	return seen % self->n == 0 ? seen : 0;
}

struct reject_every {
	struct every every;       /* n 0: by share */
	double share;
	uint64_t seed;
};

const struct kassay_option fb_reject_every_options[] = {
	{"n", "", "refuse the nth, 2nth, 3nth, ... record that the instance sees, of all clients together"},
	{"share", "", "instead of n: refuse each record with this probability, 0 to 1"},
	{"seed", "0", "with share: the same seed refuses the same records, by their number"},
	{0},
};

int fb_reject_every_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	bool by_share = host->option(host, "share") != NULL;
	struct reject_every *self;
	int64_t n = 0, seed;
	double share;

	if ((host->option(host, "n") != NULL) == by_share) {
		snprintf(why->text, why->size, "one of the options n and share must be set");
		return -1;
	}
	if ((!by_share && fb_option_number(host, "n", 1, INT32_MAX, 0, &n, why) < 0) ||
	    fb_option_real(host, "share", 0, 1, 0, &share, why) < 0 ||
	    fb_option_number(host, "seed", 0, INT64_MAX, 0, &seed, why) < 0)
		return -1;
	self = fb_validator_alloc(sizeof *self, why);
	if (!self)
		return -1;
	self->every.n = (uint64_t)n;
	atomic_init(&self->every.seen, 0);
	self->share = share;
	self->seed = (uint64_t)seed;
	*instance = self;
	return 0;
}

/* The nth of the numbers in 0 <= x < 1 that a seed stands for: splitmix64. */
static double drawn(uint64_t seed, uint64_t n)
{
	uint64_t x = seed + n * 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

static int reject_share(struct reject_every *self, struct kassay_verdict *verdict)
{
	uint64_t number = atomic_fetch_add_explicit(&self->every.seen, 1, memory_order_relaxed) + 1;

	if (drawn(self->seed, number) >= self->share)
		return KASSAY_OK;
	return fb_validator_refuse(verdict, "RejectEvery: record %llu is of the share %g", (unsigned long long)number,
				   self->share);
}

int fb_reject_every(void *instance, const struct kassay_record *record, struct kassay_verdict *verdict)
{
	struct reject_every *self = instance;
	uint64_t number;

	(void)record;
	if (self->every.n == 0)
		return reject_share(self, verdict);
	number = every_next(&self->every);
	if (number == 0)
		return KASSAY_OK;
	return fb_validator_refuse(verdict, "RejectEvery: record %llu is one of every %llu", (unsigned long long)number,
				   (unsigned long long)self->every.n);
}

const struct kassay_option fb_failing_options[] = {
	{"n", "1", "fail at the nth, 2nth, 3nth, ... record that the instance sees; accept the others"},
	{"create", "false", "true: fail when the validator is made, so that the list of validators is refused"},
	{0},
};

int fb_failing_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	struct every *self;
	int64_t n;
	bool fail;

	if (fb_option_bool(host, "create", false, &fail, why) < 0 ||
	    fb_option_number(host, "n", 1, INT32_MAX, 1, &n, why) < 0)
		return -1;
	if (fail) {
		snprintf(why->text, why->size, "fails as it was told to");
		return -1;
	}
	self = fb_validator_alloc(sizeof *self, why);
	if (!self)
		return -1;
	self->n = (uint64_t)n;
	atomic_init(&self->seen, 0);
	*instance = self;
	return 0;
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
