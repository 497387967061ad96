/* Property files: names once each, by line, in UTF-8 of bounded size; or a fault with its line. */
#include "lib/text/fuzz/fuzz.h"
#include "lib/text/props.h"

FUZZ_TARGET

static void check(const struct kt_props *props, int lines, size_t n)
{
	size_t total = 0;

	for (size_t i = 0; i < props->n; i++) {
		const struct kt_prop *prop = &props->v[i];

		total += strlen(prop->name) + strlen(prop->value);
		FUZZ_CHECK(prop->line >= 1 && prop->line <= lines);
		FUZZ_CHECK(i == 0 || props->v[i - 1].line < prop->line);
		FUZZ_CHECK(prop->earlier < prop->line);
		FUZZ_CHECK(kt_props_find(props, prop->name) == prop);
	}
	FUZZ_CHECK(total <= 2 * n);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct kt_err err = {0};
	struct kt_props props;
	int lines = 1;

	for (size_t i = 0; i < n; i++)
		lines += p[i] == '\n' || p[i] == '\r';
	if (kt_props_parse(&props, "fuzz.properties", (const char *)p, n, &err))
		FUZZ_CHECK(err.line >= 1 && err.line <= lines && err.text[0]);
	else
		check(&props, lines, n);
	kt_props_fini(&props);
	return 0;
}
