/* What the files validator_*.c share: the functions that validators.def names, and how they refuse. */
#ifndef KASSAY_FAKEBROKER_HOOKS_BUILTIN_VALIDATORS_H
#define KASSAY_FAKEBROKER_HOOKS_BUILTIN_VALIDATORS_H

#include <stdlib.h>

#include "fakebroker/hooks/kassay_validator.h"
#include "fakebroker/hooks/options.h"

typedef int fb_validator_create_fn(const struct kassay_host *host, void **instance, struct kassay_text *why);
typedef int fb_validate_fn(void *instance, const struct kassay_record *record, struct kassay_verdict *verdict);
typedef void fb_validator_close_fn(void *instance);

#define X(name, help, options, create, validate, close)        \
	extern const struct kassay_option options[];           \
	fb_validator_create_fn create;                         \
	fb_validate_fn validate;                               \
	fb_validator_close_fn close;
#include "fakebroker/hooks/validators.def"
#undef X

/* Says why, in printf's way; the text should begin with the validator's name. Returns KASSAY_REFUSE. */
int fb_validator_refuse(struct kassay_verdict *verdict, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Zeroed memory for an instance, NULL with the reason in *why. */
void *fb_validator_alloc(size_t size, struct kassay_text *why);

/* Which part of a record a validator looks at: the option `part`. */
enum fb_part { FB_PART_VALUE = 1, FB_PART_KEY = 2, FB_PART_BOTH = 3 };
int fb_option_part(const struct kassay_host *host, enum fb_part *out, struct kassay_text *why);

#endif
