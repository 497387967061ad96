/* Every ordered pair of levels with every upgrade type: a cluster formatted at the first is asked for the second.
 * Predicted from two tables: where Kafka 4.4.0 takes a downgrade, and which configurations are illegal where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fakebroker/tests/cluster_view.h"

enum { FIRST = 7, LAST = 33, NLEVELS = LAST - FIRST + 1, INVALID_CONFIG = 40, INVALID_UPDATE_VERSION = 95 };

/* The lowest level to which a Kafka 4.4.0 at this one takes a downgrade, safe and unsafe alike; itself: to none. Asked
 * of a node that was formatted at 7 and moved up level by level. */
static const struct {
	int16_t from, lowest;
} downgrades[] = {
	{7, 7},   {8, 8},   {9, 8},   {10, 8},  {11, 11}, {12, 11}, {13, 13}, {14, 14}, {15, 15},
	{16, 15}, {17, 17}, {18, 17}, {19, 17}, {20, 17}, {21, 17}, {22, 17}, {23, 23}, {24, 23},
	{25, 23}, {26, 23}, {27, 23}, {28, 23}, {29, 23}, {30, 30}, {31, 30}, {32, 32}, {33, 33},
};

/* What is illegal from one level to another, and how it is named. */
static const struct {
	const char *clause;
	int16_t first, last;
} offences[] = {
	{"broker 1 static kit.rises=16: ", 28, LAST},
	{"broker 2 static kit.rises=0: ", 25, LAST},
	{"broker 1 default kit.default=5: ", 31, LAST},
	{"broker 2 default kit.default=5: ", 31, LAST},
	{"topic falling kit.falls=10: ", 25, 27},
	{"broker 3 dynamic kit.rises=100: ", 28, LAST},
	{"topic inheriting kit.inherits=2000: ", 29, LAST},
};

/* What never is. */
static const char *const innocent[] = {"kit.secret", "broker 3 static", "broker 3 default", "topic plain", "broker 4"};

static const struct fb_feature_range all_levels[] = {{{"metadata.version", 16}, FIRST, LAST}};
static const struct fb_static_config first[] = {{{"kit.rises", 9}, {"16", 2}, false}};
static const struct fb_static_config second[] = {{{"kit.rises", 9}, {"0", 1}, false}};
static const struct fb_static_config third[] = {{{"kit.default", 11}, {"7", 1}, false},
						{{"kit.secret", 10}, {NULL, -1}, true}};

static int walk_setup(void **state)
{
	static struct kw_str topics[3];
	struct fixture *f;

	if (view_setup(state) < 0)
		return -1;
	f = *state;
	for (int i = 0; i < 4; i++)
		f->brokers[i] =
			(struct fb_broker_view){.id = i + 1, .features = all_levels, .nfeatures = 1, .reported = i < 3};
	f->brokers[0].statics = first;
	f->brokers[1].statics = second;
	f->brokers[2].statics = third;
	f->brokers[0].nstatics = f->brokers[1].nstatics = 1;
	f->brokers[2].nstatics = 2;
	f->view.nbrokers = 4;
	topics[0] = kw_str("falling");
	topics[1] = kw_str("inheriting");
	topics[2] = kw_str("plain");
	f->view.topics = topics;
	f->view.ntopics = 3;
	set(f, FB_TOPIC, "falling", "kit.falls", "10");
	set(f, FB_TOPIC, "inheriting", "kit.inherits", "2000");
	set(f, FB_BROKER, "3", "kit.rises", "100");
	return 0;
}

static bool is_illegal(int16_t level)
{
	bool illegal = false;

	for (size_t i = 0; i < sizeof offences / sizeof *offences; i++)
		illegal |= level >= offences[i].first && level <= offences[i].last;
	return illegal;
}

static int predict(int from, int to, int type)
{
	if (to < from && (type == FB_UPGRADE || to < downgrades[from - FIRST].lowest))
		return INVALID_UPDATE_VERSION;
	if (to > from && type != FB_UPGRADE)
		return INVALID_UPDATE_VERSION;
	return to != from && is_illegal((int16_t)to) ? INVALID_CONFIG : 0;
}

/* All offenders, and only they. */
static void check_message(const char *message, int to)
{
	char begin[100];

	snprintf(begin, sizeof begin,
		 "The update failed: metadata.version %d makes these configurations illegal: ", to);
	if (strncmp(message, begin, strlen(begin)) != 0)
		fail_msg("to %d: %s", to, message);
	for (size_t i = 0; i < sizeof offences / sizeof *offences; i++) {
		bool due = to >= offences[i].first && to <= offences[i].last;

		if ((strstr(message, offences[i].clause) != NULL) != due)
			fail_msg("to %d, %s is %s: %s", to, offences[i].clause, due ? "missing" : "named", message);
	}
	for (size_t i = 0; i < sizeof innocent / sizeof *innocent; i++)
		if (strstr(message, innocent[i]))
			fail_msg("to %d, %s is named: %s", to, innocent[i], message);
}

static void check_pair(struct fixture *f, int from, int to, int type)
{
	const struct fb_feature_update update = {kw_str("metadata.version"), (int16_t)to, (int8_t)type};
	int expected = predict(from, to, type);
	struct fb_upgrade_answer answer;

	assert_int_equal(fb_upgrade_check(&f->view, &update, 1, &f->arena, &answer), 0);
	if (answer.errorCode != expected)
		fail_msg("from %d to %d with type %d: expected %d, got %d (%s)", from, to, type, expected,
			 answer.errorCode, answer.errorMessage ? answer.errorMessage : "");
	assert_int_equal(answer.levels.v[FB_METADATA_VERSION], expected ? from : to);
	if (expected == INVALID_CONFIG)
		check_message(answer.errorMessage, to);
}

static void every_pair_is_as_predicted(void **state)
{
	struct fixture *f = *state;
	int asked = 0;

	for (int from = FIRST; from <= LAST; from++) {
		assert_int_equal(downgrades[from - FIRST].from, from);
		f->view.levels = fb_levels_at(f->view.release, (int16_t)from);
		for (int to = FIRST; to <= LAST; to++)
			for (int type = FB_UPGRADE; type <= FB_UNSAFE_DOWNGRADE; type++, asked++)
				check_pair(f, from, to, type);
		kw_arena_reset(&f->arena);
	}
	assert_int_equal(asked, NLEVELS * NLEVELS * 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_pair_is_as_predicted, walk_setup, view_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
