/* Configuration rules that depend on metadata.version (KIP-1294, proposal "mvValidators").
 *
 * At level n, the rule with the greatest level <= n applies, and the plain validator applies always. A key without a
 * rule at or below n has none there. A default is checked like any other value. What the controller cannot see (the
 * value of a sensitive configuration) it does not check.
 */
#ifndef KASSAY_FAKEBROKER_CONFIG_MVRULES_H
#define KASSAY_FAKEBROKER_CONFIG_MVRULES_H

#include "fakebroker/config/configdef.h"

/* The rule that applies at level, or NULL. */
const struct fb_mv_rule *fb_mv_rule_at(const struct fb_configdef *def, int16_t level);

/* True if value is legal at level. value null stands for the default of def. Otherwise *message says why, e.g.
 * "Invalid value 16 for configuration kit.int.min: Value must be at least 1024 (rule of level 28)", allocated in arena.
 * Runs the plain validator, too: its message comes without a rule. */
bool fb_mv_check(const struct fb_configdef *def, int16_t level, struct kw_str value, struct kw_arena *arena,
		 const char **message);

#endif
