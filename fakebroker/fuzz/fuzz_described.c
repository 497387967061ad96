/* What kafka-configs.sh --describe prints: values lie in the text, under a heading of their scope, or a fault has its
 * line. */
#include "fakebroker/describe_output.h"
#include "lib/text/fuzz/fuzz.h"

FUZZ_TARGET

struct seen {
	const char *p, *end;
	int headings, line;
};

static void check_slice(const struct seen *seen, struct kw_str str)
{
	FUZZ_CHECK(str.n <= 0 || (str.s >= seen->p && str.s + str.n <= seen->end));
}

static int heading(void *arg, enum fb_scope scope, struct kw_str resource, bool all, struct kt_err *err)
{
	struct seen *seen = arg;

	(void)err;
	check_slice(seen, resource);
	FUZZ_CHECK(scope == FB_BROKER || scope == FB_TOPIC || scope == FB_GROUP || scope == FB_CLIENT_METRICS);
	FUZZ_CHECK(!all || scope != FB_BROKER || resource.n);
	seen->headings++;
	return 0;
}

static int value(void *arg, const struct fb_output_value *value, struct kt_err *err)
{
	struct seen *seen = arg;

	(void)err;
	check_slice(seen, value->resource);
	check_slice(seen, value->name);
	check_slice(seen, value->value);
	FUZZ_CHECK(seen->headings && value->line > seen->headings && value->line >= seen->line);
	FUZZ_CHECK(!value->isStatic || (value->scope == FB_BROKER && value->resource.n));
	seen->line = value->line;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct seen seen = {(const char *)p, (const char *)p + n, 0, 0};
	const struct fb_output_ops ops = {value, heading, &seen};
	struct kt_err err = {0};
	int code = fb_output_read("described.txt", (const char *)p, n, &ops, &err);

	FUZZ_CHECK(code == err.code && (code == 0 || err.text[0]));
	FUZZ_CHECK(code == 0 || code == KT_EUNKNOWN || err.line >= 1);
	return 0;
}
