/* The chain of record validators that the broker runs over what clients produce (KIP-729, `record.validator.classes`).
 *
 * The caller walks a batch, whole and decompressed, and calls fb_chain_validate() for every record that passed Kafka's
 * own checks; it collects the rejections into the partition's record_errors. Only CLIENT-origin data records are shown.
 */
#ifndef KASSAY_FAKEBROKER_HOOKS_VALIDATORS_H
#define KASSAY_FAKEBROKER_HOOKS_VALIDATORS_H

#include <jansson.h>

#include "fakebroker/hooks/env.h"
#include "lib/text/err.h"
#include "lib/wire/batch.h"

#define FB_VALIDATOR_PREFIX "record.validator."

struct fb_chain;

/* Makes the chain of a comma-separated list of entries: the name of a built-in validator, the name of a class in
 * one of env's plugins, or `path/plugin.so#Name`. Blanks around entries are ignored. Options are the configs
 * `record.validator.NAME.OPTION`; NAME of a plugin's class is the part after '#'. An empty or blank list gives
 * NULL, which every function here takes for the chain that accepts everything. *out is set on success only, to a
 * chain with one reference. KT_EUNKNOWN (err names the nearest built-in validator), KT_EPLUGIN (file, symbol, ABI,
 * or create() failed), KT_EUSAGE (an entry is empty, or a name comes twice), KT_ENOMEM. */
int fb_chain_new(const char *classes, const struct fb_hook_env *env, struct fb_chain **out, struct kt_err *err);

/* A chain may be used by any number of threads; whoever uses it holds a reference. To exchange it: under a lock of the
 * caller, take a reference of the pointer's target or replace the pointer. The last unref closes the validators. */
struct fb_chain *fb_chain_ref(struct fb_chain *chain);
void fb_chain_unref(struct fb_chain *chain);

/* The list that the chain was made of, as it was written; "" for NULL. Lives as long as the chain. */
const char *fb_chain_classes(const struct fb_chain *chain);

/* Where a batch was sent. */
struct fb_batch_place {
	const char *topic;
	int32_t partition;
	int codec;                /* enum kw_codec */
	int64_t baseTimestamp;    /* of the batch: a record's timestamp is this plus its delta */
	/* Of the chain's time limit: begins as 0. */
	int64_t deadline_ns;      /* by fb_hook_now(), from the first record on */
	bool late;                /* it has passed: no further record is shown */
};

/* A record's own timestamp. Wraps as Kafka's long does: the delta is whatever a client sent. */
static inline int64_t fb_record_timestamp(const struct fb_batch_place *place, const struct kw_record *record)
{
	return (int64_t)((uint64_t)place->baseTimestamp + (uint64_t)record->timestampDelta);
}

enum { FB_MOST_RETIRED = 4 };

struct fb_rejection {
	int16_t error;            /* KW_ERR_INVALID_TIMESTAMP, or KW_ERR_INVALID_RECORD for any other code of
				     a validator */
	const char *validator;    /* its name; lives as long as the chain */
	char text[1024];          /* for record_errors; UTF-8, never empty */
};

/* Shows one record to the validators, in list order, until one refuses. Returns 0 if all accept, or 1 with *out filled.
 * index is the record's number in its batch.
 *
 * With `record.validator.timeout.ms` above 0, validators run on workers (workers.h), on a copy of the record, and have
 * so much time for a whole batch. The record at which it is over is refused as if the validator that has it had failed,
 * and the others of the batch are not shown. That validator's worker is retired; with FB_MOST_RETIRED of them the
 * validator fails every record without being called, which is said in the log and by fb_chain_json(). */
int fb_chain_validate(struct fb_chain *chain, struct fb_batch_place *place, int32_t index,
		      const struct kw_record *record, struct fb_rejection *out);

struct fb_validator_stats {
	const char *name;                /* lives as long as the chain */
	uint64_t seen, refused, failed;  /* records; refused and failed are apart */
	uint64_t nanoseconds;            /* spent in validate(), or waiting for it */
	int retired;                     /* workers that were not back in time */
};

size_t fb_chain_size(const struct fb_chain *chain);
/* Counters of validator i. They are read one by one, so they may be some records apart, but seen is never less than
 * refused + failed. */
void fb_chain_stats(const struct fb_chain *chain, size_t i, struct fb_validator_stats *out);
/* [{"name", "seen", "refused", "failed", "nanoseconds", "retiredWorkers"}], new reference; [] for NULL. */
json_t *fb_chain_json(const struct fb_chain *chain);

/* Is `config`, a whole name that starts with FB_VALIDATOR_PREFIX, misspelt? KT_EUNKNOWN with the nearest name in err if
 * a class in the chain, a built-in one or one of the plugins (as in fb_hook_env) has that NAME and no such OPTION.
 * Every option is known of a class that lists none, and of one that is not known. */
int fb_chain_check_option(const struct fb_chain *chain, const char *const *plugins, const char *config,
			  struct kt_err *err);
/* Is `config`, likewise, an option of one of the validators that are made of `classes`? As fb_observer_has_option(). */
int fb_chain_has_option(const char *classes, const char *const *plugins, const char *config, struct kt_err *err);

/* The built-in validators in the order of validators.def, NULL-terminated. */
extern const struct kassay_validator_class *const fb_validators[];

#endif
