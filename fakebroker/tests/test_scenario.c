/* Scenario files: tests/scenarios/NAME.json is good, or NAME.error beside it is the line that tells what is wrong. */
#include <dirent.h>
#include <unistd.h>

#include "fakebroker/cluster/log_line.h"
#include "fakebroker/control/rules.h"
#include "fakebroker/tests/running.h"
#include "lib/text/file.h"

#define FOLDER "fakebroker/tests/scenarios"

/* As `fakebroker FILE --check` does. Empty if it is good. */
static void check(const char *file, char line[1200])
{
	struct fb_settings settings = {.scenario = file, .host = "127.0.0.1", .advertise = "127.0.0.1", .threads = 1,
				       .check = true};
	struct fb_broker_process process;
	struct kt_err err = {0};

	line[0] = '\0';
	if (fb_start(&process, &settings, &err) < 0)
		kt_err_line(&err, line, 1200);
	fb_stop(&process);
}

/* The error that is wanted, without the newline; "" for a good one. */
static void wanted_of(const char *file, char wanted[1200])
{
	char name[300], *text;
	size_t n;

	wanted[0] = '\0';
	snprintf(name, sizeof name, "%.*s.error", (int)(strlen(file) - strlen(".json")), file);
	if (access(name, F_OK) < 0)
		return;
	assert_int_equal(kt_file_read(name, 4096, &text, &n, NULL), 0);
	snprintf(wanted, 1200, "%.*s", (int)strcspn(text, "\n"), text);
	free(text);
}

static void each_file_is_judged(void **state)
{
	char line[1200], wanted[1200];
	struct dirent *entry;
	int n = 0, wrong = 0;
	DIR *dir;

	(void)state;
	assert_int_equal(chdir(FOLDER), 0);   /* so that messages have short names */
	dir = opendir(".");
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		const char *dot = strrchr(entry->d_name, '.');

		if (!dot || strcmp(dot, ".json") != 0)
			continue;
		n++;
		check(entry->d_name, line);
		wanted_of(entry->d_name, wanted);
		if (strcmp(line, wanted) == 0)
			continue;
		wrong++;
		print_error("%s\n     got %s\n  wanted %s\n", entry->d_name, line, wanted);
	}
	closedir(dir);
	assert_int_equal(wrong, 0);
	assert_in_range(n, 80, 1000);
}

/* What the good one says is what the cluster then is. */
static void members_take_effect(void **state)
{
	struct fb_settings settings = {.scenario = "good-full.json", .check = true};
	struct fb_broker_process process;
	const struct fb_topic *orders, *payments;
	struct fb_cluster *cluster;
	struct kw_arena arena;
	struct kt_err err = {0};
	json_t *slow;

	(void)state;
	kw_arena_init(&arena, 0);
	assert_int_equal(fb_start(&process, &settings, &err), 0);
	cluster = process.cluster;
	assert_int_equal(cluster->nnodes, 3);
	assert_int_equal(cluster->levels.v[FB_METADATA_VERSION], 29);
	assert_string_equal(cluster->nodes[0].rack, "a");
	assert_string_equal(cluster->nodes[1].rack, "b");
	assert_int_equal(fb_configs_long(cluster->configs, FB_BROKER, KW_NULL_STR, 1, "num.partitions", 0), 1);
	assert_int_equal(fb_configs_long(cluster->configs, FB_BROKER, KW_NULL_STR, 2, "num.partitions", 0), 3);
	assert_true(
		kw_str_is(fb_configs_get(cluster->configs, FB_BROKER, KW_NULL_STR, 1, "kit.x", &arena, NULL), "4096"));
	orders = fb_topic_find(cluster, kw_str("orders"));
	payments = fb_topic_find(cluster, kw_str("payments"));
	assert_int_equal(orders->npartitions, 3);
	assert_int_equal(orders->replicationFactor, 2);
	assert_true(orders->conf.compact);
	assert_null(orders->chain);
	assert_int_equal(payments->npartitions, 1);
	assert_string_equal(fb_chain_classes(payments->chain), "NonEmptyValue");
	slow = fb_rules_get(cluster->rules, "slow");
	assert_int_equal(json_integer_value(json_object_get(json_object_get(slow, "action"), "delay")), 20);
	json_decref(slow);
	fb_stop(&process);
	kw_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_file_is_judged),
		cmocka_unit_test(members_take_effect),
	};

	fb_log_level(KASSAY_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
