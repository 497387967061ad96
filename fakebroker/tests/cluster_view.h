/* A cluster as the controller sees it, for the tests of upgrades and registrations: Apache Kafka 4.4's features, one
 * controller with id 1, cluster id "cluster". */
#ifndef KASSAY_FAKEBROKER_TESTS_CLUSTER_VIEW_H
#define KASSAY_FAKEBROKER_TESTS_CLUSTER_VIEW_H

#include "fakebroker/config/user.h"
#include "fakebroker/config/upgrade.h"

enum { MAX_BROKERS = 4 };

struct fixture {
	struct fb_configdefs *defs;
	struct fb_configs *configs;
	struct kw_arena arena;
	struct fb_cluster_view view;
	struct fb_broker_view brokers[MAX_BROKERS];
};

/* Keys that invite mistakes: one whose bound rises, one whose bound falls, one with a default that becomes illegal, one
 * secret, and one of topics that inherit from brokers. */
static const char user_configs[] =
	"{\"configs\": ["
	"{\"name\": \"kit.rises\", \"scope\": \"broker\", \"type\": \"INT\", \"default\": \"4096\","
	" \"dynamic\": \"cluster-wide\", \"mvValidators\": {\"25\": {\"atLeast\": 1}, \"28\": {\"atLeast\": 1024}}},"
	"{\"name\": \"kit.falls\", \"scope\": \"topic\", \"type\": \"INT\", \"default\": \"4096\","
	" \"mvValidators\": {\"25\": {\"atLeast\": 1024}, \"28\": {\"atLeast\": 1}}},"
	"{\"name\": \"kit.default\", \"scope\": \"broker\", \"type\": \"INT\", \"default\": \"5\","
	" \"dynamic\": \"cluster-wide\", \"mvValidators\": {\"31\": {\"atLeast\": 6}}},"
	"{\"name\": \"kit.secret\", \"scope\": \"broker\", \"type\": \"STRING\", \"default\": \"\", \"sensitive\": true,"
	" \"mvValidators\": {\"28\": {\"nonEmpty\": true}}},"
	"{\"name\": \"kit.inherits\", \"scope\": \"topic\", \"type\": \"INT\", \"default\": \"4096\","
	" \"synonym\": \"kit.rises\", \"mvValidators\": {\"29\": {\"atLeast\": 2048}}}"
	"]}";

static int add_user_configs(struct fb_configdefs *defs)
{
	struct kt_err err = {0};
	struct kt_json doc;
	struct kt_obj top;
	struct kt_arr configs;
	int rc = kt_json_parse(&doc, "user", user_configs, sizeof user_configs - 1, &err);

	if (rc == 0) {
		kt_obj_root(&top, &doc, &err);
		kt_obj_array(&top, "configs", &configs);
		rc = fb_configdefs_add_json(defs, &configs);
	}
	kt_json_fini(&doc);
	return rc;
}

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
