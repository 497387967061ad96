/* A JAAS entry: words of bounded size, every option with a name; or a fault whose text has no control characters. */
#include "lib/text/fuzz/fuzz.h"
#include "lib/text/jaas.h"

FUZZ_TARGET

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct kt_err err = {0};
	struct kt_jaas jaas;
	size_t total = 0;

	if (kt_jaas_parse(&jaas, (const char *)p, n, &err)) {
		FUZZ_CHECK(err.text[0]);
		for (const char *s = err.text; *s; s++)
			FUZZ_CHECK((unsigned char)*s >= ' ');
	} else {
		FUZZ_CHECK(strlen(jaas.module) <= n);
		for (size_t i = 0; i < jaas.n; i++) {
			total += strlen(jaas.v[i].name) + strlen(jaas.v[i].value);
			FUZZ_CHECK(kt_jaas_find(&jaas, jaas.v[i].name));
		}
		FUZZ_CHECK(total <= n);
	}
	kt_jaas_fini(&jaas);
	return 0;
}
