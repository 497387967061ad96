/* What a measurement of costs says, of measurements that are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "loadgen/cost.h"

static struct lg_cost_spec spec;
static struct lg_cost_target target;
static struct lg_cost cost;

static int make(void **state)
{
	(void)state;
	lg_cost_spec_init(&spec);
	spec.margin = 0.05;
	target = (struct lg_cost_target){.a = "one:9092", .b = "other:9092"};
	cost = (struct lg_cost){.n = 1, .verdict = LG_COST_PASS, .why = ""};
	return 0;
}

static void says(const char *line, bool due)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	lg_cost_print(&spec, &target, &cost, out);
	fclose(out);
	if (!strstr(text, line) == due)
		fail_msg("\"%s\" %s in \"%s\"", line, due ? "is not" : "is", text);
	free(text);
}

static void one_quad_and_several(void **state)
{
	(void)state;
	says("measured again", false);
	cost.repeated = 1;
	says("\n  1 quad was measured again: ", true);
	cost.repeated = 2;
	says("\n  2 quads were measured again: ", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(one_quad_and_several, make),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
