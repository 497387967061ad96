/* Features and upgrades: what Apache Kafka 4.4.0 answered to UpdateFeatures, and the kit's check of configurations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fakebroker/tests/cluster_view.h"

#define ALL "The update failed for all features since the following feature had an error: "
#define MV "metadata.version"
#define ELR "eligible.leader.replicas.version"
#define TXN "transaction.version"

enum { U = FB_UPGRADE, SD = FB_SAFE_DOWNGRADE, UD = FB_UNSAFE_DOWNGRADE, MAX_UPDATES = 2 };

struct row {
	const char *feature;
	int16_t level;
	int8_t type;
	const char *feature2;
	int16_t level2;
	int8_t type2;
	const char *message;     /* NULL: taken */
};

static void ask(struct fixture *f, const struct row *row, struct fb_upgrade_answer *answer)
{
	const struct fb_feature_update updates[MAX_UPDATES] = {
		{kw_str(row->feature), row->level, row->type}, {kw_str(row->feature2), row->level2, row->type2}};
	size_t n = !row->feature ? 0 : !row->feature2 ? 1 : 2;

	assert_int_equal(fb_upgrade_check(&f->view, updates, n, &f->arena, answer), 0);
}

static void check_rows(struct fixture *f, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct fb_upgrade_answer answer;

		ask(f, &rows[i], &answer);
		if (!rows[i].message) {
			assert_null(answer.errorMessage);
			assert_int_equal(answer.errorCode, 0);
			continue;
		}
		assert_int_equal(answer.errorCode, 95);
		assert_string_equal(answer.errorMessage, rows[i].message);
		assert_memory_equal(&answer.levels, &f->view.levels, sizeof answer.levels);
		assert_int_equal(answer.nresults, 0);
		assert_int_equal(answer.nchanges, 0);
	}
}

/* ---- Kafka's answers ---- */

/* A node at metadata.version 33. */
static const struct row at_33[] = {
	{MV, 33, U, NULL, 0, 0, NULL},
	{MV, 1000, U, NULL, 0, 0, ALL "Invalid update version 1000 for feature metadata.version. Local controller 1 "
	 "only supports versions 7-33"},
	{MV, 34, U, NULL, 0, 0, ALL "Invalid update version 34 for feature metadata.version. Local controller 1 only "
	 "supports versions 7-33"},
	{MV, 1, SD, NULL, 0, 0, ALL "Invalid update version 1 for feature metadata.version. Local controller 1 only "
	 "supports versions 7-33"},
	{MV, 6, UD, NULL, 0, 0, ALL "Invalid update version 6 for feature metadata.version. Local controller 1 only "
	 "supports versions 7-33"},
	{MV, 0, SD, NULL, 0, 0, ALL "Invalid update version 0 for feature metadata.version. Local controller 1 only "
	 "supports versions 7-33"},
	{MV, -1, SD, NULL, 0, 0, ALL "Invalid update version -1 for feature metadata.version. A feature version cannot "
	 "be less than 0."},
	{MV, 32, U, NULL, 0, 0, ALL "Invalid update version 32 for feature metadata.version. Can't downgrade the "
	 "version of this feature without setting the upgrade type to either safe or unsafe downgrade."},
	{MV, 32, 0, NULL, 0, 0, ALL "Invalid update version 32 for feature metadata.version. The controller does not "
	 "support the given upgrade type."},
	{MV, 32, 9, NULL, 0, 0, ALL "Invalid update version 32 for feature metadata.version. The controller does not "
	 "support the given upgrade type."},
	{MV, 20, SD, NULL, 0, 0, ALL "Unsupported metadata.version downgrade from 33 to 20. Refusing to perform the "
	 "requested downgrade because it might delete metadata information."},
	{MV, 20, UD, NULL, 0, 0, ALL "Unsupported metadata.version downgrade from 33 to 20. Unsafe metadata downgrade "
	 "is not supported in this version."},
	{MV, 32, SD, NULL, 0, 0, ALL "Unsupported metadata.version downgrade from 33 to 32. Refusing to perform the "
	 "requested downgrade because it might delete metadata information."},
	{"foo", 1, U, NULL, 0, 0, ALL "Invalid update version 1 for feature foo. Local controller 1 does not "
	 "support this feature."},
	{"foo", 0, U, NULL, 0, 0, ALL "Invalid update version 0 for feature foo. Feature foo not found."},
	{"", 1, U, NULL, 0, 0, ALL "Invalid update version 1 for feature . Local controller 1 does not "
				   "support this feature."},
	{NULL, 0, 0, NULL, 0, 0, NULL},
	{MV, 33, U, MV, 33, U, NULL},
	{MV, 99, U, MV, 33, U, NULL},
	{MV, 33, U, MV, 99, U, ALL "Invalid update version 99 for feature metadata.version. Local controller 1 only "
	 "supports versions 7-33"},
	{TXN, 9, U, NULL, 0, 0, ALL "Invalid update version 9 for feature transaction.version. Local controller 1 only "
	 "supports versions 0-2"},
	{TXN, 1, SD, NULL, 0, 0, NULL},
	{"group.version", 0, SD, NULL, 0, 0, NULL},
	{"kraft.version", 1, U, NULL, 0, 0, NULL},
	{"kraft.version", 0, SD, NULL, 0, 0, NULL},
	{"kraft.version", 1, SD, NULL, 0, 0, ALL "Invalid update version 1 for feature kraft.version. Can't downgrade "
	 "to a newer version."},
	{"kraft.version", 2, U, NULL, 0, 0, ALL "Invalid update version 2 for feature kraft.version. Local controller "
	 "1 only supports versions 0-1"},
	{"share.version", 2, U, "foo", 1, U, ALL "Invalid update version 1 for feature foo. Local controller 1 does "
	 "not support this feature."},
	{"foo", 1, U, MV, 99, U, ALL "Invalid update version 1 for feature foo. Local controller 1 does not "
	 "support this feature."},
	{MV, 99, U, "foo", 1, U, ALL "Invalid update version 99 for feature metadata.version. Local controller 1 only "
	 "supports versions 7-33"},
};

static void updates_at_33(void **state)
{
	check_rows(*state, at_33, sizeof at_33 / sizeof *at_33);
}

/* A node at 21 without any other feature. */
static const struct row at_21[] = {
	{MV, 22, U, NULL, 0, 0, NULL},
	{MV, 33, U, NULL, 0, 0, NULL},
	{TXN, 2, U, NULL, 0, 0, NULL},
	{"share.version", 1, U, NULL, 0, 0, NULL},
	{"streams.version", 1, U, NULL, 0, 0, NULL},
	{"group.version", 1, U, NULL, 0, 0, NULL},
	{ELR, 1, U, NULL, 0, 0, ALL "Invalid update version 1 for feature eligible.leader.replicas.version. "
	 "eligible.leader.replicas.version could not be set to 1 because it depends on metadata.version level 23"},
	{ELR, 1, U, MV, 23, U, NULL},
	{MV, 22, SD, NULL, 0, 0, ALL "Invalid update version 22 for feature metadata.version. Can't downgrade to a "
	 "newer version."},
	{MV, 22, UD, NULL, 0, 0, ALL "Invalid update version 22 for feature metadata.version. Can't downgrade to a "
	 "newer version."},
	{MV, 21, SD, NULL, 0, 0, NULL},
};

static void updates_at_21(void **state)
{
	struct fixture *f = *state;

	f->view.levels = (struct fb_levels){.v = {[FB_METADATA_VERSION] = 21}};
	check_rows(f, at_21, sizeof at_21 / sizeof *at_21);
}

/* The lowest level that Kafka goes down to from each level, safely or unsafely. */
static const struct {
	int16_t from, lowest;
} downgrades[] = {
	{7, 7}, {8, 8}, {9, 8}, {10, 8}, {11, 11}, {12, 11}, {13, 13}, {14, 14}, {15, 15}, {16, 15}, {17, 17}, {18, 17},
	{19, 17}, {20, 17}, {21, 17}, {22, 17}, {23, 23}, {24, 23}, {25, 23}, {26, 23}, {27, 23}, {28, 23}, {29, 23},
	{30, 30}, {31, 30}, {32, 32}, {33, 33},
};

static void downgrades_as_kafka(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof downgrades / sizeof *downgrades; i++) {
		f->view.levels = fb_levels_at(f->view.release, downgrades[i].from);
		for (int16_t to = 7; to < downgrades[i].from; to++) {
			struct fb_upgrade_answer safe, unsafe;

			ask(f, &(struct row){MV, to, SD, NULL, 0, 0, NULL}, &safe);
			ask(f, &(struct row){MV, to, UD, NULL, 0, 0, NULL}, &unsafe);
			assert_int_equal(safe.errorCode, to >= downgrades[i].lowest ? 0 : 95);
			assert_int_equal(unsafe.errorCode, safe.errorCode);
		}
	}
}

/* A registered broker that cannot do the target, fenced or not. */
static void brokers_must_support(void **state)
{
	static const struct fb_feature_range only_33[] = {{{"metadata.version", 16}, 33, 33}};
	static const struct row rows[] = {
		{MV, 32, SD, NULL, 0, 0, ALL "Invalid update version 32 for feature metadata.version. Broker 61 only "
		 "supports versions 33"},
		{MV, 34, U, NULL, 0, 0, ALL "Invalid update version 34 for feature metadata.version. Local controller "
		 "1 only supports versions 7-33"},
		{TXN, 1, SD, NULL, 0, 0, ALL "Invalid update version 1 for feature transaction.version. Broker 61 does "
		 "not support this feature."},
		{TXN, 0, SD, NULL, 0, 0, NULL},
	};
	struct fixture *f = *state;

	f->brokers[0] = (struct fb_broker_view){.id = 61, .features = only_33, .nfeatures = 1};
	f->view.nbrokers = 1;
	check_rows(f, rows, sizeof rows / sizeof *rows);
}

static void results_of_a_success(void **state)
{
	struct fixture *f = *state;
	struct fb_upgrade_answer answer;

	ask(f, &(struct row){"group.version", 0, SD, TXN, 1, SD, NULL}, &answer);
	assert_int_equal(answer.nresults, 2);
	assert_true(kw_str_is(answer.results[0].feature, "group.version"));
	assert_int_equal(answer.results[0].errorCode, 0);
	assert_string_equal(answer.results[0].errorMessage, "NONE");
	assert_int_equal(answer.levels.v[FB_GROUP_VERSION], 0);
	assert_int_equal(answer.levels.v[FB_TRANSACTION_VERSION], 1);
	assert_int_equal(answer.levels.v[FB_METADATA_VERSION], 33);
}

/* Asked from Apache Kafka 3.9.0. */
static void each_feature_for_itself_in_39(void **state)
{
	struct fixture *f = *state;
	struct fb_upgrade_answer answer;

	f->view.release = fb_release_find("3.9");
	f->view.levels = fb_levels_at(f->view.release, 21);
	ask(f, &(struct row){MV, 20, SD, "foo", 1, U, NULL}, &answer);
	assert_int_equal(answer.errorCode, 0);
	assert_int_equal(answer.nresults, 2);
	assert_int_equal(answer.results[1].errorCode, 0);
	assert_null(answer.results[1].errorMessage);
	assert_int_equal(answer.results[0].errorCode, 95);
	assert_string_equal(answer.results[0].errorMessage, "Invalid update version 1 for feature foo. Local "
			    "controller 1 does not support this feature.");
	assert_int_equal(answer.levels.v[FB_METADATA_VERSION], 20);
	ask(f, &(struct row){MV, 16, SD, TXN, 0, U, NULL}, &answer);
	assert_int_equal(answer.results[0].errorCode, 95);
	assert_string_equal(answer.results[0].errorMessage, "Invalid metadata.version 16. Refusing to perform the "
			    "requested downgrade because it might delete metadata information.");
	assert_int_equal(answer.results[1].errorCode, 0);
	assert_int_equal(answer.levels.v[FB_METADATA_VERSION], 21);
}

/* From `StorageTool version-mapping` of 4.4.0, where it was asked; without kraft.version, as with fixed voters. */
static void levels_of_a_new_cluster(void **state)
{
	static const struct {
		int16_t level, transaction, group, elr, share, streams;
	} rows[] = {{7, 0, 0, 0, 0, 0},  {20, 0, 0, 0, 0, 0}, {21, 0, 0, 0, 0, 0}, {25, 2, 1, 0, 0, 0},
		    {29, 2, 1, 1, 1, 1}, {30, 2, 1, 1, 1, 1}, {31, 2, 1, 1, 2, 1}, {33, 2, 1, 1, 2, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct fb_levels levels = fb_levels_at(fb_release_find("4.4"), rows[i].level);

		assert_int_equal(levels.v[FB_METADATA_VERSION], rows[i].level);
		assert_int_equal(levels.v[FB_KRAFT_VERSION], 0);
		assert_int_equal(levels.v[FB_TRANSACTION_VERSION], rows[i].transaction);
		assert_int_equal(levels.v[FB_GROUP_VERSION], rows[i].group);
		assert_int_equal(levels.v[FB_ELR_VERSION], rows[i].elr);
		assert_int_equal(levels.v[FB_SHARE_VERSION], rows[i].share);
		assert_int_equal(levels.v[FB_STREAMS_VERSION], rows[i].streams);
	}
	assert_int_equal(fb_levels_at(fb_release_find("4.1"), 27).v[FB_STREAMS_VERSION], 0);
	assert_null(fb_release_find("3.0"));
	assert_string_equal(fb_release_at(0)->name, "3.9");
	assert_null(fb_release_at(6));
	for (size_t i = 1; fb_release_at(i); i++)   /* which fb_release_before() goes by */
		assert_true(fb_release_at(i)->level > fb_release_at(i - 1)->level);
	assert_true(fb_release_before(fb_release_at(0), "4.0"));
	assert_false(fb_release_before(fb_release_find("4.0"), "4.0"));
}

/* ---- ELR ---- */

/* Asked from Apache Kafka 4.4.0: the cluster gets a value, the brokers lose theirs. */
static void elr_moves_min_insync_replicas(void **state)
{
	struct fixture *f = *state;
	struct fb_upgrade_answer answer;

	f->view.levels = fb_levels_at(f->view.release, 24);
	set(f, FB_BROKER, "1", "min.insync.replicas", "2");
	set(f, FB_BROKER, "2", "min.insync.replicas", "3");
	set(f, FB_TOPIC, "t", "min.insync.replicas", "4");
	ask(f, &(struct row){ELR, 1, U, NULL, 0, 0, NULL}, &answer);
	assert_int_equal(answer.nchanges, 3);
	assert_true(kw_str_is(answer.changes[0].resourceName, ""));
	assert_true(kw_str_is(answer.changes[0].value, "1"));
	assert_true(kw_str_is(answer.changes[1].resourceName, "1"));
	assert_int_equal(answer.changes[1].value.n, -1);
	assert_true(kw_str_is(answer.changes[2].resourceName, "2"));
	/* A value that the cluster has stays; a static one of the controller becomes the cluster's. */
	set(f, FB_BROKER, "", "min.insync.replicas", "3");
	ask(f, &(struct row){ELR, 1, U, NULL, 0, 0, NULL}, &answer);
	assert_int_equal(answer.nchanges, 2);
	set(f, FB_BROKER, "", "min.insync.replicas", NULL);
	assert_int_equal(fb_configs_set_static(f->configs, 1, kw_str("min.insync.replicas"), kw_str("5"), NULL), 0);
	ask(f, &(struct row){ELR, 1, U, NULL, 0, 0, NULL}, &answer);
	assert_true(kw_str_is(answer.changes[0].value, "5"));
	f->view.levels.v[FB_ELR_VERSION] = 1;
	ask(f, &(struct row){ELR, 0, SD, NULL, 0, 0, NULL}, &answer);
	assert_int_equal(answer.nchanges, 0);
}

/* ---- configurations ---- */

static void add_broker(struct fixture *f, int32_t id, const struct fb_static_config *statics, size_t n)
{
	static const struct fb_feature_range all[] = {{{"metadata.version", 16}, 7, 33}};

	f->brokers[f->view.nbrokers++] = (struct fb_broker_view){.id = id, .features = all, .nfeatures = 1,
								 .reported = true, .statics = statics, .nstatics = n};
}

static void upgrade_names_every_offender(void **state)
{
	static const struct fb_static_config two[] = {{{"kit.rises", 9}, {"16", 2}, false}};
	static const struct kw_str topics[] = {{"a", 1}, {"b", 1}};
	struct fixture *f = *state;
	struct fb_upgrade_answer answer;

	f->view.levels = fb_levels_at(f->view.release, 27);
	f->view.topics = topics;
	f->view.ntopics = 2;
	add_broker(f, 1, NULL, 0);
	add_broker(f, 2, two, 1);
	set(f, FB_BROKER, "", "kit.rises", "17");
	set(f, FB_BROKER, "1", "kit.rises", "18");
	set(f, FB_BROKER, "2", "kit.rises", "2048");
	ask(f, &(struct row){MV, 28, U, NULL, 0, 0, NULL}, &answer);
	assert_int_equal(answer.errorCode, 40);
	assert_string_equal(answer.errorMessage,
		"The update failed: metadata.version 28 makes these configurations illegal: "
		"broker 2 static kit.rises=16: Invalid value 16 for configuration kit.rises: Value must be at least "
		"1024 (rule of level 28); "
		"cluster default kit.rises=17: Invalid value 17 for configuration kit.rises: Value must be at least "
		"1024 (rule of level 28); "
		"broker 1 dynamic kit.rises=18: Invalid value 18 for configuration kit.rises: Value must be at least "
		"1024 (rule of level 28)");
	assert_memory_equal(&answer.levels, &f->view.levels, sizeof answer.levels);
	/* 29: topics inherit the cluster's 17, except one that has its own. */
	set(f, FB_TOPIC, "b", "kit.inherits", "4096");
	set(f, FB_BROKER, "1", "kit.rises", NULL);
	f->view.nbrokers = 1;
	ask(f, &(struct row){MV, 29, U, NULL, 0, 0, NULL}, &answer);
	assert_int_equal(answer.errorCode, 40);
	assert_string_equal(answer.errorMessage,
		"The update failed: metadata.version 29 makes these configurations illegal: "
		"cluster default kit.rises=17: Invalid value 17 for configuration kit.rises: Value must be at least "
		"1024 (rule of level 28); "
		"topic a default kit.inherits=17: Invalid value 17 for configuration kit.inherits: Value must be at "
		"least 2048 (rule of level 29)");
	set(f, FB_BROKER, "", "kit.rises", NULL);
	ask(f, &(struct row){MV, 30, U, NULL, 0, 0, NULL}, &answer);
	assert_int_equal(answer.errorCode, 0);
	assert_int_equal(answer.levels.v[FB_METADATA_VERSION], 30);
}

static void defaults_count_and_secrets_do_not(void **state)
{
	static const struct fb_static_config good[] = {{{"kit.default", 11}, {"6", 1}, false},
						       {{"kit.secret", 10}, {NULL, -1}, true}};
	struct fixture *f = *state;
	struct fb_upgrade_answer answer;

	f->view.levels = fb_levels_at(f->view.release, 30);
	add_broker(f, 1, good, 2);
	ask(f, &(struct row){MV, 31, U, NULL, 0, 0, NULL}, &answer);
	assert_int_equal(answer.errorCode, 0);
	add_broker(f, 2, good, 0);
	ask(f, &(struct row){MV, 31, U, NULL, 0, 0, NULL}, &answer);
	assert_int_equal(answer.errorCode, 40);
	assert_string_equal(answer.errorMessage,
		"The update failed: metadata.version 31 makes these configurations illegal: broker 2 default "
		"kit.default=5: Invalid value 5 for configuration kit.default: Value must be at least 6 "
		"(rule of level 31)");
	/* A broker that told nothing is not held against its defaults. A dynamic value does not cure a static one. */
	f->brokers[1].reported = false;
	ask(f, &(struct row){MV, 31, U, NULL, 0, 0, NULL}, &answer);
	assert_int_equal(answer.errorCode, 0);
	f->brokers[1].reported = true;
	set(f, FB_BROKER, "2", "kit.default", "7");
	ask(f, &(struct row){MV, 31, U, NULL, 0, 0, NULL}, &answer);
	assert_int_equal(answer.errorCode, 40);
}

static void downgrade_is_checked_too(void **state)
{
	static const struct kw_str topics[] = {{"t", 1}};
	struct fixture *f = *state;
	struct fb_upgrade_answer answer;

	f->view.levels = fb_levels_at(f->view.release, 28);
	f->view.topics = topics;
	f->view.ntopics = 1;
	set(f, FB_TOPIC, "t", "kit.falls", "16");
	ask(f, &(struct row){MV, 27, SD, NULL, 0, 0, NULL}, &answer);
	assert_int_equal(answer.errorCode, 40);
	assert_string_equal(answer.errorMessage,
		"The update failed: metadata.version 27 makes these configurations illegal: topic t kit.falls=16: "
		"Invalid value 16 for configuration kit.falls: Value must be at least 1024 (rule of level 25)");
	/* Other features are none of its business, and Kafka's own checks come first. */
	ask(f, &(struct row){TXN, 1, SD, NULL, 0, 0, NULL}, &answer);
	assert_int_equal(answer.errorCode, 0);
	ask(f, &(struct row){MV, 22, SD, NULL, 0, 0, NULL}, &answer);
	assert_int_equal(answer.errorCode, 95);
	ask(f, &(struct row){MV, 27, SD, "foo", 1, U, NULL}, &answer);
	assert_int_equal(answer.errorCode, 95);
	set(f, FB_TOPIC, "t", "kit.falls", NULL);
	ask(f, &(struct row){MV, 27, SD, NULL, 0, 0, NULL}, &answer);
	assert_int_equal(answer.errorCode, 0);
}

static void jbod_is_cured_by_the_upgrade(void **state)
{
	static const struct fb_static_config jbod[] = {{{"log.dirs", 8}, {"/a,/b", 5}, false}};
	struct fixture *f = *state;
	struct fb_upgrade_answer answer;

	f->view.levels = fb_levels_at(f->view.release, 15);
	add_broker(f, 1, jbod, 1);
	ask(f, &(struct row){MV, 16, U, NULL, 0, 0, NULL}, &answer);
	assert_int_equal(answer.errorCode, 40);
	ask(f, &(struct row){MV, 17, U, NULL, 0, 0, NULL}, &answer);
	assert_int_equal(answer.errorCode, 0);
}

static void one_by_one_refuses_the_level_only(void **state)
{
	static const struct fb_static_config jbod[] = {{{"log.dirs", 8}, {"/a,/b", 5}, false}};
	struct fixture *f = *state;
	struct fb_upgrade_answer answer;

	f->view.release = fb_release_find("3.9");
	f->view.levels = fb_levels_at(f->view.release, 15);
	add_broker(f, 1, jbod, 1);
	ask(f, &(struct row){MV, 16, U, "kraft.version", 0, U, NULL}, &answer);
	assert_int_equal(answer.errorCode, 0);
	assert_int_equal(answer.results[1].errorCode, 40);
	assert_non_null(strstr(answer.results[1].errorMessage,
			       "broker 1 static log.dirs=/a,/b: Multiple log directories"));
	assert_int_equal(answer.results[0].errorCode, 0);
	assert_int_equal(answer.levels.v[FB_METADATA_VERSION], 15);
}

/* A string of the protocol has at most 32767 bytes. */
static void many_offenders_fit_into_one_message(void **state)
{
	struct fixture *f = *state;
	struct fb_upgrade_answer answer;
	char name[16];

	f->view.levels = fb_levels_at(f->view.release, 27);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof name, "%d", i + 2);
		set(f, FB_BROKER, name, "kit.rises", "1");
	}
	ask(f, &(struct row){MV, 28, U, NULL, 0, 0, NULL}, &answer);
	assert_int_equal(answer.errorCode, 40);
	assert_in_range(strlen(answer.errorMessage), 32000, 32767);
	assert_string_equal(strrchr(answer.errorMessage, ';'), "; and 739 more");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(updates_at_33, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(updates_at_21, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(downgrades_as_kafka, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(brokers_must_support, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(results_of_a_success, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(each_feature_for_itself_in_39, view_setup, view_teardown),
		cmocka_unit_test(levels_of_a_new_cluster),
		cmocka_unit_test_setup_teardown(elr_moves_min_insync_replicas, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(upgrade_names_every_offender, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(defaults_count_and_secrets_do_not, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(downgrade_is_checked_too, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(jbod_is_cured_by_the_upgrade, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(one_by_one_refuses_the_level_only, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(many_offenders_fit_into_one_message, view_setup, view_teardown),
	};

	return cmocka_run_group_tests_name("upgrade", tests, NULL, NULL);
}
