/* What the files validator_*.c share: the functions that validators.def names, and how they refuse. */
#ifndef KASSAY_FAKEBROKER_HOOKS_BUILTIN_VALIDATORS_H
#define KASSAY_FAKEBROKER_HOOKS_BUILTIN_VALIDATORS_H

#include <stdbool.h>
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

/* How JSON is read that a client sent. jansson refuses whole numbers beyond 64 bits, which are good JSON, unless it may
 * read them as reals. */
#define FB_JSON_FLAGS (JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL)

/* Which part of a record a validator looks at, and what it says of one that is null or empty: the options `part`,
 * `nulls` and `empty`. */
enum fb_part { FB_PART_VALUE = 1, FB_PART_KEY = 2, FB_PART_BOTH = 3 };
struct fb_parts {
	enum fb_part part;
	bool nulls, empty;        /* good, unseen; refused otherwise */
};
#define FB_PART_OPTIONS(empty_)                                                 \
	{"part", "value", "what to look at: value, key or both"},               \
	{"nulls", "true", "false: refuse what is null, a tombstone for one"},   \
	{"empty", (empty_), "true: accept what is empty, unseen; false: refuse it"}
/* empty: the fallback of that option, as in FB_PART_OPTIONS. */
int fb_option_parts(const struct kassay_host *host, bool empty, struct fb_parts *out, struct kassay_text *why);

/* Judges a key or value, `what`, that is not empty. */
typedef int fb_check_bytes_fn(const void *self, struct kassay_bytes bytes, const char *what,
			      struct kassay_verdict *verdict);
/* Key before value; name is the validator's. */
int fb_check_parts(const struct fb_parts *parts, const char *name, const struct kassay_record *record,
		   fb_check_bytes_fn *check, const void *self, struct kassay_verdict *verdict);

#endif
