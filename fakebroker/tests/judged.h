/* What the tests of validators share: chains made of settings, and single records judged. */
#ifndef KASSAY_FAKEBROKER_TESTS_JUDGED_H
#define KASSAY_FAKEBROKER_TESTS_JUDGED_H

#include "fakebroker/tests/hook_fixtures.h"

#include "fakebroker/hooks/validators.h"
#include "lib/wire/errors.h"

static struct fb_batch_place orders = {
	.topic = "orders", .partition = 3, .codec = KW_ZSTD, .baseTimestamp = 1000,
};

static inline struct fb_chain *make(const char *classes, const struct setting *settings)
{
	struct fixture fixture = FIXTURE(settings);
	struct fb_hook_env env = fixture_env(&fixture);
	struct fb_chain *chain;
	struct kt_err err = {0};

	/* The chain outlives the fixture. */
	env.log = NULL;
	if (fb_chain_new(classes, &env, &chain, &err) != 0)
		fail_msg("%s: %s", classes, err.text);
	return chain;
}

static inline void assert_refused(const char *classes, const struct setting *settings, int code, const char *text)
{
	struct fixture fixture = FIXTURE(settings);
	struct fb_hook_env env = fixture_env(&fixture);
	struct fb_chain *chain;
	struct kt_err err = {0};

	assert_int_equal(fb_chain_new(classes, &env, &chain, &err), code);
	assert_null(chain);
	assert_string_equal(err.text, text);
}

/* Text of the rejection, or NULL: of one record of a chain that is made for it. */
static inline const char *judge(const char *classes, const struct setting *settings, const struct kw_record *record)
{
	static struct fb_rejection rejection;
	struct fb_chain *chain = make(classes, settings);
	int rc = fb_chain_validate(chain, &orders, 0, record, &rejection);

	fb_chain_unref(chain);
	if (rc == 0)
		return NULL;
	assert_int_equal(rejection.error, KW_ERR_INVALID_RECORD);
	return rejection.text;
}

static inline const char *judge_value(const char *classes, const struct setting *settings, const char *value)
{
	struct kw_record record = {.key = {NULL, -1}, .value = bytes_of(value)};

	return judge(classes, settings, &record);
}

static inline const char *judge_key(const char *classes, const struct setting *settings, const char *key)
{
	struct kw_record record = {.key = bytes_of(key), .value = {NULL, -1}};

	return judge(classes, settings, &record);
}

#endif
