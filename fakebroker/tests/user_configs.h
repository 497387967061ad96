/* Configurations of a scenario file, for tests of the rules by metadata.version. */
#ifndef KASSAY_FAKEBROKER_TESTS_USER_CONFIGS_H
#define KASSAY_FAKEBROKER_TESTS_USER_CONFIGS_H

#include "fakebroker/config/user.h"
#include "fakebroker/config/values.h"

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
	"{\"name\": \"kit.secret\", \"scope\": \"broker\", \"type\": \"STRING\", \"default\": \"\", \"sensitive\": "
	"true, \"mvValidators\": {\"28\": {\"nonEmpty\": true}}},"
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

#endif
