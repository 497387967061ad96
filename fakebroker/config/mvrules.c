#include "fakebroker/config/mvrules.h"

#include "fakebroker/config/levels.h"
#include "fakebroker/config/parse.h"
#include "fakebroker/mutants.h"

const struct fb_mv_rule *fb_mv_rule_at(const struct fb_configdef *def, int16_t level)
{
	const struct fb_mv_rule *rule = NULL;

	if (fb_mutant(FB_M_MV_IGNORED))
		return NULL;
	if (fb_mutant(FB_M_MV_RULE_STARTS_LATE))
		level--;
	for (size_t i = 0; i < def->nmv && def->mv[i].level <= level; i++)
		if (!fb_mutant(FB_M_MV_RULE_OF_LEVEL_ALONE) || def->mv[i].level == level)
			rule = &def->mv[i];
	if (def->nmv && fb_mutant(FB_M_MV_FIRST_RULE_ONLY) && rule)
		return &def->mv[0];
	if (def->nmv && fb_mutant(FB_M_MV_LAST_RULE_ALWAYS))
		return &def->mv[def->nmv - 1];
	return rule || !def->nmv || !fb_mutant(FB_M_MV_FIRST_RULE_BEFORE) ? rule : &def->mv[0];
}

/* The text of a rule with the name of the level in place of "{}". */
static const char *fill(const char *text, int16_t level, struct kw_arena *arena)
{
	const char *at = strstr(text, "{}"), *name = fb_level_name(level);

	if (!at)
		return text;
	return kw_sprintf(arena, "%.*s%s%s", (int)(at - text), text, name ? name : "", at + 2);
}

bool fb_mv_check(const struct fb_configdef *def, int16_t level, struct kw_str text, struct kw_arena *arena,
		 const char **message)
{
	const struct fb_mv_rule *rule = fb_mv_rule_at(def, level);
	struct fb_value value;

	if (text.n < 0 && (def->sensitive || !def->def))
		return true;
	if (text.n < 0)
		text = kw_str(def->def);
	if (!fb_parse(def, text, arena, &value, message) ||
	    !fb_validate(def, &def->validator, &value, arena, message))
		return false;
	if (!rule || fb_validate(def, &rule->validator, &value, arena, message))
		return true;
	if (fb_mutant(FB_M_MV_LEVEL_UNTOLD))
		*message = "Value is not legal";
	else if (rule->message)
		*message = fill(rule->message, level, arena);
	else if (*message)
		*message = kw_sprintf(arena, "%s (rule of level %d)", *message, rule->level);
	return false;
}
