/* What an observer's collect() may say, and what is left out of it so that Prometheus can read the rest. */
#include "fakebroker/hooks/observer_metrics.h"

#include <stdarg.h>
#include <string.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

struct said {
	const char *name, *help, *label, *value;
};

static void collect(void *instance, struct kassay_sink *sink)
{
	for (const struct said *said = instance; said->name; said++) {
		const struct kassay_label label = {said->label, said->value};

		sink->metric(sink, said->name, said->help);
		sink->sample(sink, &label, said->label != NULL, 7);
	}
}

static const struct kassay_observer_class class = {.struct_size = sizeof class, .name = "Talks", .collect = collect};

/* What came of one, as JSON, and what was said to be wrong. */
static void check(struct said said, const char *json, const char *wrong)
{
	struct said all[] = {said, {0}};
	json_t *metrics = json_object();
	char got[300], *text;

	fb_metrics_collect(&class, all, metrics, got, sizeof got);
	text = json_dumps(metrics, JSON_COMPACT | JSON_SORT_KEYS);
	assert_string_equal(text, json);
	assert_string_equal(got, wrong);
	free(text);
	json_decref(metrics);
}

static void names(void **state)
{
	(void)state;
	check((struct said){"queue_bytes", "bytes", "topic", "a\"b"},
	      "{\"queue_bytes\":{\"help\":\"bytes\",\"samples\":[{\"topic\":\"a\\\"b\",\"value\":7}]}}", "");
	check((struct said){"observer_exchanges_total", "x", NULL, NULL}, "{}",
	      "metric 'observer_exchanges_total' is left out: the name is the broker's");
	check((struct said){"connections", "x", NULL, NULL}, "{}",
	      "metric 'connections' is left out: the name is the broker's");
	check((struct said){"Bytes", "x", NULL, NULL}, "{}", "metric 'Bytes' is left out: the name is not [a-z_]+");
	check((struct said){"", "x", NULL, NULL}, "{}", "metric '' is left out: the name is not [a-z_]+");
	check((struct said){"b\xff", "x", NULL, NULL}, "{}", "metric 'b?' is left out: the name is not [a-z_]+");
}

static void labels(void **state)
{
	static const char *const taken[] = {"value", "node", "observer", "le\"", "", NULL};
	char wrong[200];

	(void)state;
	for (size_t i = 0; taken[i]; i++) {
		snprintf(wrong, sizeof wrong,
			 "label '%s' is left out: the name is not [a-z_]+, or is node, observer or value", taken[i]);
		check((struct said){"a", "x", taken[i], "b"}, "{\"a\":{\"help\":\"x\",\"samples\":[{\"value\":7}]}}",
		      wrong);
	}
}

static void bytes_that_are_no_text(void **state)
{
	(void)state;
	check((struct said){"a", "x\xff", "topic", "\xc3"},
	      "{\"a\":{\"help\":\"x?\",\"samples\":[{\"topic\":\"?\",\"value\":7}]}}", "");
}

static void a_metric_comes_once(void **state)
{
	struct said twice[] = {{"a", "x", NULL, NULL}, {"a", "y", NULL, NULL}, {0}};
	json_t *metrics = json_object(), *samples;
	char wrong[300];

	(void)state;
	fb_metrics_collect(&class, twice, metrics, wrong, sizeof wrong);
	samples = json_object_get(json_object_get(metrics, "a"), "samples");
	assert_int_equal(json_array_size(samples), 1);
	assert_string_equal(wrong, "metric 'a' is left out: the name comes twice");
	json_decref(metrics);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(labels),
		cmocka_unit_test(bytes_that_are_no_text),
		cmocka_unit_test(a_metric_comes_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
