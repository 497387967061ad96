/* A cluster as the controller sees it, for the tests of upgrades and registrations: Apache Kafka 4.4's features, one
 * controller with id 1, cluster id "cluster". */
#ifndef KASSAY_FAKEBROKER_TESTS_CLUSTER_VIEW_H
#define KASSAY_FAKEBROKER_TESTS_CLUSTER_VIEW_H

#include "fakebroker/config/upgrade.h"
#include "fakebroker/tests/user_configs.h"

enum { MAX_BROKERS = 4 };

struct fixture {
	struct fb_configdefs *defs;
	struct fb_configs *configs;
	struct kw_arena arena;
	struct fb_cluster_view view;
	struct fb_broker_view brokers[MAX_BROKERS];
};

static int view_setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){.defs = fb_configdefs_new()};
	if (!f.defs || add_user_configs(f.defs))
		return -1;
	f.configs = fb_configs_new(f.defs);
	kw_arena_init(&f.arena, 0);
	f.view = (struct fb_cluster_view){.clusterId = kw_str("cluster"), .controllerId = 1, .brokers = f.brokers,
					  .release = fb_release_find("4.4"), .configs = f.configs};
	f.view.levels = fb_levels_at(f.view.release, 33);
	*state = &f;
	return 0;
}

static int view_teardown(void **state)
{
	struct fixture *f = *state;

	fb_configs_free(f->configs);
	fb_configdefs_free(f->defs);
	kw_arena_fini(&f->arena);
	return 0;
}

static void set(struct fixture *f, enum fb_scope type, const char *resource, const char *name, const char *value)
{
	const struct fb_change change = {(int8_t)type, kw_str(resource), kw_str(name), kw_str(value)};

	assert_int_equal(fb_configs_apply(f->configs, &change, 1), 0);
}

#endif
