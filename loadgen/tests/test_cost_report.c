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

/* Whoever reads the verdict alone learns that B may have drawn the better process. */
static void two_brokers_of_which_one_is_cheaper(void **state)
{
	static const char line[] = "\npass: service time per request at most 5.00 % more: B was 20.00 % cheaper: start "
				   "both anew and measure again, one process of each is one draw\n";
	json_t *json;

	(void)state;
	cost.v[0].wall.share = (struct lg_interval){.at = -0.2, .low = -0.31, .high = -0.12};
	says(line, true);
	json = lg_cost_json(&spec, &target, &cost);
	assert_non_null(strstr(json_string_value(json_object_get(json, "why")), "B was 20.00 % cheaper"));
	json_decref(json);
	cost.v[0].wall.share.high = 0.01;
	says("\npass: service time per request at most 5.00 % more\n", true);
	cost.has_cpu = true;   /* the verdict's measure */
	cost.v[0].wall.share.high = -0.12;
	says("cheaper", false);
	cost.v[0].cpu.share = cost.v[0].wall.share;
	says("\npass: CPU per request at most 5.00 % more: B was 20.00 % cheaper", true);
	/* within one process it is B's doing */
	target = (struct lg_cost_target){0};
	spec.a.classes = "TrafficObserver";
	spec.b.classes = "NoOpObserver";
	says("\npass: CPU per request at most 5.00 % more\n", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(one_quad_and_several, make),
		cmocka_unit_test_setup(two_brokers_of_which_one_is_cheaper, make),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
