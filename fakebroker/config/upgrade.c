#include "fakebroker/config/upgrade.h"

#include <stdlib.h>

#include "fakebroker/config/message.h"
#include "fakebroker/config/parse.h"
#include "fakebroker/config/twins.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

/* Level of eligible.leader.replicas.version that needs a metadata.version (EligibleLeaderReplicasVersion). */
enum { ELR_NEEDS = 23 };

struct upgrade {
	const struct fb_cluster_view *cluster;
	struct fb_levels asked;          /* the levels as all updates of the request would have them */
	struct kw_arena *arena;
	struct fb_upgrade_answer *answer;
	const char *why;                 /* the update under check is refused */
};

static bool refuse(struct upgrade *u, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool refuse_update(struct upgrade *u, const struct fb_feature_update *update, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static bool refuse(struct upgrade *u, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	u->why = fb_vmessage(u->arena, fmt, ap);
	va_end(ap);
	return false;
}

static bool refuse_update(struct upgrade *u, const struct fb_feature_update *update, const char *fmt, ...)
{
	va_list ap;
	const char *why;

	va_start(ap, fmt);
	why = fb_vmessage(u->arena, fmt, ap);
	va_end(ap);
	return refuse(u, "Invalid update version %d for feature %.*s. %s", update->maxVersionLevel,
		FB_STR(update->feature), why ? why : "");
}

static bool refuse_range(struct upgrade *u, const struct fb_feature_update *update, const char *who, int32_t id,
			 struct fb_range range, bool known)
{
	if (!known)
		return refuse_update(u, update, "%s %d does not support this feature.", who, id);
	if (range.min == range.max)
		return refuse_update(u, update, "%s %d only supports versions %d", who, id, range.min);
	return refuse_update(u, update, "%s %d only supports versions %d-%d", who, id, range.min, range.max);
}

/* What a broker said of a feature; not known: level 0 only. */
static struct fb_range broker_range(const struct fb_broker_view *broker, struct kw_str feature, bool *known)
{
	for (size_t i = 0; i < broker->nfeatures; i++) {
		if (kw_str_eq(broker->features[i].name, feature)) {
			*known = true;
			return (struct fb_range){broker->features[i].min, broker->features[i].max};
		}
	}
	*known = false;
	return (struct fb_range){0, 0};
}

/* Levels whose range a mutant does not check. */
static bool is_unranged(const struct fb_feature_update *update, bool known)
{
	return (fb_mutant(FB_M_FEATURE_ANY) && !known) ||
	       (fb_mutant(FB_M_LEVEL_ZERO_TAKEN) && known && update->maxVersionLevel == 0) ||
	       (fb_mutant(FB_M_LEVEL_HIGH_TAKEN) && known && update->maxVersionLevel > 0);
}

static bool check_supported(struct upgrade *u, const struct fb_feature_update *update, int feature)
{
	const struct fb_cluster_view *cluster = u->cluster;
	struct fb_range range = {0, 0};
	bool known = feature >= 0 && cluster->release->supported[feature].max > 0;
	int16_t level = update->maxVersionLevel;

	if (known)
		range = cluster->release->supported[feature];
	if (is_unranged(update, known))
		return true;
	if (level < range.min || level > range.max)
		return refuse_range(u, update, "Local controller", cluster->controllerId, range, known);
	for (size_t i = 0; i < cluster->nbrokers; i++) {
		range = broker_range(&cluster->brokers[i], update->feature, &known);
		if (level < range.min || level > range.max)
			return refuse_range(u, update, "Broker", cluster->brokers[i].id, range, known);
	}
	return true;
}

static bool check_metadata_version(struct upgrade *u, int16_t from, int16_t to, bool unsafe)
{
	const char *why = unsafe ? "Unsafe metadata downgrade is not supported in this version." :
			  "Refusing to perform the requested downgrade because it might delete metadata information.";

	if (fb_mutant(unsafe ? FB_M_UNSAFE_DOWNGRADE_TAKEN : FB_M_SAFE_DOWNGRADE_TAKEN))
		return true;
	if (to < FB_LEVEL_BOOTSTRAP)
		return refuse(u, "Invalid metadata.version %d. Unable to set a metadata.version less than 3.3-IV0", to);
	if (to >= from || !fb_level_changes_metadata(to, from))
		return true;
	if (u->cluster->release->namesBothLevels)
		return refuse(u, "Unsupported metadata.version downgrade from %d to %d. %s", from, to, why);
	return refuse(u, "Invalid metadata.version %d. %s", to, why);
}

static bool check_dependencies(struct upgrade *u, const struct fb_feature_update *update, int feature)
{
	if (feature < 0)
		return u->cluster->release->oneByOne ||
			refuse_update(u, update, "Feature %.*s not found.", FB_STR(update->feature));
	if (feature == FB_ELR_VERSION && update->maxVersionLevel > 0 && u->asked.v[FB_METADATA_VERSION] < ELR_NEEDS)
		return refuse_update(u, update, "%s could not be set to %d because it depends on metadata.version "
			"level %d", fb_feature_name(FB_ELR_VERSION), update->maxVersionLevel, ELR_NEEDS);
	return true;
}

/* Source: FeatureControlManager.updateFeature. */
static bool check_update(struct upgrade *u, const struct fb_feature_update *update)
{
	int feature = fb_feature_find(update->feature);
	int16_t now = feature < 0 ? 0 : u->cluster->levels.v[feature], level = update->maxVersionLevel;
	int8_t type = update->upgradeType;

	if ((type < FB_UPGRADE && !fb_mutant(FB_M_TYPE_ZERO_TAKEN)) ||
	    (type > FB_UNSAFE_DOWNGRADE && !fb_mutant(FB_M_TYPE_HIGH_TAKEN)))
		return refuse_update(u, update, "The controller does not support the given upgrade type.");
	if (level < 0 && !fb_mutant(FB_M_LEVEL_SIGN_UNCHECKED))
		return refuse_update(u, update, "A feature version cannot be less than 0.");
	if (!check_supported(u, update, feature))
		return false;
	if (level == now && fb_mutant(FB_M_SAME_LEVEL_REFUSED))
		return refuse_update(u, update, "It has that version.");
	if (level < now && type == FB_UPGRADE && !fb_mutant(FB_M_DOWNGRADE_BY_UPGRADE))
		return refuse_update(u, update, "Can't downgrade the version of this feature without setting the "
			"upgrade type to either safe or unsafe downgrade.");
	if (level > now && type != FB_UPGRADE)
		return refuse_update(u, update, "Can't downgrade to a newer version.");
	if (feature == FB_METADATA_VERSION)
		return check_metadata_version(u, now, level, type == FB_UNSAFE_DOWNGRADE);
	if (feature == FB_KRAFT_VERSION)
		return level >= now || refuse_update(u, update, "Can't downgrade the version of this feature.");
	return check_dependencies(u, update, feature);
}

/* ---- what comes with it ---- */

struct broker_overrides {
	struct fb_change *changes;
	size_t n;
};

static bool collect_override(void *arg, const struct fb_change *value)
{
	struct broker_overrides *overrides = arg;

	if (value->resourceType != FB_BROKER || value->resourceName.n == 0)
		return true;
	if (!kw_str_is(value->name, "min.insync.replicas"))
		return true;
	if (overrides->changes) {
		overrides->changes[overrides->n] = *value;
		overrides->changes[overrides->n].value = KW_NULL_STR;
	}
	overrides->n++;
	return true;
}

int fb_elr_changes(const struct fb_cluster_view *cluster, struct kw_arena *arena, struct fb_change **changes)
{
	const struct fb_configs *configs = cluster->configs;
	struct kw_str name = kw_str("min.insync.replicas"), value;
	struct broker_overrides overrides = {0};
	size_t n = 0;

	fb_configs_each(configs, collect_override, &overrides);
	*changes = kw_alloc(arena, (1 + overrides.n) * sizeof **changes);
	if (!*changes)
		return KT_ENOMEM;
	if (fb_configs_dynamic(configs, FB_BROKER, kw_str(""), name).n < 0) {
		value = fb_configs_static(configs, cluster->controllerId, name);
		if (value.n < 0)
			value = kw_str(fb_configdef_find(fb_configs_defs(configs), FB_BROKER, name)->def);
		(*changes)[n++] = (struct fb_change){FB_BROKER, kw_str(""), name, value};
	}
	overrides = (struct broker_overrides){.changes = *changes + n};
	fb_configs_each(configs, collect_override, &overrides);
	return (int)(n + overrides.n);
}

/* ---- the rules that depend on metadata.version ---- */

/* One clause of the message; long values are cut, as there may be many. */
static const char *clause(struct upgrade *u, const struct fb_violation *violation)
{
	enum { MOST = 1000 };

	if (fb_mutant(FB_M_MV_WHERE_UNTOLD))
		return violation->message;
	return fb_message_cut(kw_sprintf(u->arena, "%s %.*s=%.*s: %s", violation->where, FB_STR(violation->name),
					 FB_STR(violation->value), violation->message), MOST, u->arena);
}

/* A string of the protocol has at most 32767 bytes. What does not fit is counted. */
static const char *list_violations(struct upgrade *u, int16_t level, const struct fb_violation *found, size_t n)
{
	enum { MOST = FB_MESSAGE_MAX - 100 };
	struct kw_str *clauses = kw_alloc(u->arena, n * sizeof *clauses), all;
	size_t shown = 0, len = 0;
	const char *more = "";

	for (; clauses && shown < n; shown++) {
		clauses[shown] = kw_str(clause(u, &found[shown]));
		len += (size_t)clauses[shown].n + 2;
		if (clauses[shown].n < 0 || len > MOST)
			break;
	}
	if (!clauses)
		return NULL;
	if (shown < n)
		more = kw_sprintf(u->arena, "; and %zu more", n - shown);
	all = fb_join(clauses, shown, "; ", u->arena);
	return kw_sprintf(u->arena, "The update failed: metadata.version %d makes these configurations illegal: "
		"%.*s%s", level, FB_STR(all), more ? more : "");
}

/* The answers before 4.0 are those of a TreeMap. */
static int by_feature(const void *a, const void *b)
{
	const struct fb_feature_result *x = a, *y = b;

	return kw_str_cmp(x->feature, y->feature);
}

/* A message about all configurations that are illegal at the metadata.version asked for; NULL if there are none, or if
 * it stays what it is. */
static int check_configs(struct upgrade *u, const char **message)
{
	int16_t level = u->asked.v[FB_METADATA_VERSION], now = u->cluster->levels.v[FB_METADATA_VERSION];
	struct fb_violation *found;
	int n;

	*message = NULL;
	if (level == now || fb_mutant(level > now ? FB_M_MV_UPGRADE_UNCHECKED : FB_M_MV_DOWNGRADE_UNCHECKED))
		return 0;
	if (fb_mutant(FB_M_MV_PRESENT_LEVEL))
		level = now;
	if (fb_mutant(FB_M_MV_NEWEST_LEVEL))
		level = u->cluster->release->supported[FB_METADATA_VERSION].max;
	n = fb_violations(u->cluster, level, u->arena, &found);
	if (n <= 0)
		return n;
	if (fb_mutant(FB_M_MV_FIRST_OFFENCE))
		n = 1;
	*message = fb_message_cap(list_violations(u, level, found, (size_t)n), u->arena);
	return *message ? 0 : KT_ENOMEM;
}

/* The entries of the request, of which the last of a repeated feature counts, at the place of the first. */
static struct fb_twins *update_twins(const struct fb_feature_update *updates, size_t n, struct kw_arena *arena)
{
	struct fb_named *names = kw_alloc(arena, n * sizeof *names);

	for (size_t i = 0; names && i < n; i++)
		names[i].name = updates[i].feature;
	return names ? fb_find_twins(names, n, arena) : NULL;
}

static bool is_one_by_one(const struct upgrade *u)
{
	return u->cluster->release->oneByOne || fb_mutant(FB_M_FEATURES_ONE_BY_ONE);
}

/* Since 4.0 the first refusal refuses all (QuorumController.updateFeatures); before, each feature is for itself. */
static void conclude(struct upgrade *u, const struct fb_feature_update *update, bool good)
{
	struct fb_feature_result *result = &u->answer->results[u->answer->nresults++];
	int feature = fb_feature_find(update->feature);

	if (!is_one_by_one(u)) {
		*result = (struct fb_feature_result){update->feature, 0, "NONE"};
		if (good)
			return;
		u->answer->errorCode = KW_ERR_INVALID_UPDATE_VERSION;
		u->answer->errorMessage = kw_sprintf(u->arena, "The update failed for all features since the "
			"following feature had an error: %s", u->why);
		u->answer->errorMessage = fb_message_cap(u->answer->errorMessage, u->arena);
		return;
	}
	*result = (struct fb_feature_result){update->feature, 0, NULL};
	if (good)
		return;
	result->errorCode = KW_ERR_INVALID_UPDATE_VERSION;
	result->errorMessage = fb_message_cap(u->why, u->arena);
	if (feature >= 0)
		u->asked.v[feature] = u->cluster->levels.v[feature];
}

static void refuse_level(struct upgrade *u, const char *message)
{
	struct fb_upgrade_answer *answer = u->answer;

	if (!is_one_by_one(u)) {
		answer->errorCode = KW_ERR_INVALID_CONFIG;
		answer->errorMessage = message;
		return;
	}
	u->asked.v[FB_METADATA_VERSION] = u->cluster->levels.v[FB_METADATA_VERSION];
	for (size_t i = 0; i < answer->nresults; i++) {
		if (kw_str_is(answer->results[i].feature, fb_feature_name(FB_METADATA_VERSION)))
			answer->results[i] = (struct fb_feature_result){answer->results[i].feature,
									KW_ERR_INVALID_CONFIG, message};
	}
}

int fb_upgrade_check(const struct fb_cluster_view *cluster, const struct fb_feature_update *updates, size_t n,
		     struct kw_arena *arena, struct fb_upgrade_answer *answer)
{
	struct upgrade u = {.cluster = cluster, .asked = cluster->levels, .arena = arena, .answer = answer};
	struct fb_twins *twins = update_twins(updates, n, arena);
	const char *message = NULL;
	int rc = 0;

	*answer = (struct fb_upgrade_answer){.levels = cluster->levels,
					     .results = kw_alloc(arena, n * sizeof *answer->results)};
	if (!twins || !answer->results)
		return KT_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		int feature = fb_feature_find(updates[i].feature);

		if (feature >= 0)
			u.asked.v[feature] = updates[i].maxVersionLevel;
	}
	for (size_t i = 0; i < n && !answer->errorCode; i++) {
		const struct fb_feature_update *update = &updates[twins[i].last];

		if (twins[i].first == i)
			conclude(&u, update, check_update(&u, update));
	}
	if (!answer->errorCode)
		rc = check_configs(&u, &message);
	if (message)
		refuse_level(&u, message);
	if (rc)
		return rc;
	if (answer->errorCode) {
		answer->nresults = 0;
		return 0;
	}
	if (cluster->release->oneByOne)
		qsort(answer->results, answer->nresults, sizeof *answer->results, by_feature);
	answer->levels = u.asked;
	if (u.asked.v[FB_ELR_VERSION] == 0 || cluster->levels.v[FB_ELR_VERSION] > 0)
		return 0;
	rc = fb_elr_changes(cluster, arena, &answer->changes);
	answer->nchanges = rc < 0 ? 0 : (size_t)rc;
	return rc < 0 ? rc : 0;
}
