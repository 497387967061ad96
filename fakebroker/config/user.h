/* Configurations that a scenario file defines, with validators that depend on metadata.version (KIP-1294):
 *
 *	"configs": [
 *		{ "name": "kit.int.min", "scope": "broker", "type": "INT", "default": "4096", "dynamic": "cluster-wide",
 *		  "validator": { "atLeast": 0 },
 *		  "mvValidators": { "25": { "atLeast": 1 }, "4.2-IV0": { "atLeast": 1024 } } },
 *		{ "name": "log.segment.bytes", "scope": "broker", "mvValidators": { "30": { "atLeast": 1048576 } } }
 *	]
 *
 * A name that is known takes mvValidators only, and only if it has none. docs/configuration.md tells all members.
 */
#ifndef KASSAY_FAKEBROKER_CONFIG_USER_H
#define KASSAY_FAKEBROKER_CONFIG_USER_H

#include "fakebroker/config/configdef.h"
#include "lib/text/json.h"

/* Adds the definitions of the array, before defs is in use. Returns 0 or the code of the array's error, which then
 * names file, line and member. */
int fb_configdefs_add_json(struct fb_configdefs *defs, struct kt_arr *configs);

#endif
