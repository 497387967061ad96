/* What the controller holds against the values of topics, groups and client metrics subscriptions.
 * Source: ControllerConfigurationValidator, LogConfig, GroupConfig, ClientMetricsConfigs, Kafka 4.4. */
#include <stdlib.h>

#include "fakebroker/config/alter.h"
#include "fakebroker/config/parse.h"
#include "fakebroker/config/topicname.h"
#include "fakebroker/config/twins.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

/* Does a mutant take the unknown key? */
static bool is_taken(struct fb_alter *alter, struct kw_str name)
{
	return fb_mutant(FB_M_UNKNOWN_KEY_TAKEN) ||
	       (fb_mutant(FB_M_UNKNOWN_KEY_CREATED) && alter->create) ||
	       (fb_mutant(FB_M_UNKNOWN_KEY_ALTERED) && !alter->create) ||
	       (fb_mutant(FB_M_BROKER_KEY_TAKEN) && fb_configdef_find(alter->configs->defs, FB_BROKER, name));
}

struct kw_str fb_alter_unknown(struct fb_alter *alter, const struct fb_kvs *merged, enum fb_scope scope)
{
	struct fb_named *names = kw_alloc(alter->arena, alter->ntouched * sizeof *names);
	size_t n = 0;

	for (size_t i = 0; names && i < alter->ntouched; i++) {
		const struct fb_change *change = &alter->touched[i];

		if ((change->value.n >= 0 || fb_mutant(FB_M_DELETE_UNKNOWN_REFUSED)) &&
		    !fb_configdef_find(alter->configs->defs, scope, change->name) && !is_taken(alter, change->name))
			names[n++].name = change->name;
	}
	fb_java_order(names, n, merged->n);
	return n ? names[0].name : KW_NULL_STR;
}

static int by_order(const void *pa, const void *pb)
{
	const struct fb_configdef *const *a = pa, *const *b = pb;

	return ((*a)->order > (*b)->order) - ((*a)->order < (*b)->order);
}

bool fb_alter_check_values(struct fb_alter *alter, const struct fb_kvs *merged, enum fb_scope scope, int16_t code)
{
	const struct fb_configdef **defs = kw_alloc(alter->arena, merged->n * sizeof *defs);
	const char *message;
	size_t n = 0;

	if (fb_mutant(FB_M_BROKER_VALUE_CODE))
		code = KW_ERR_INVALID_CONFIG;
	if (!defs)
		return fb_refuse_memory(alter);
	for (size_t i = 0; i < merged->n; i++) {
		const struct fb_configdef *def = fb_configdef_find(alter->configs->defs, scope, merged->v[i].name);

		if (def && kw_str_is(merged->v[i].name, def->name))
			defs[n++] = def;
	}
	qsort(defs, n, sizeof(*defs), by_order);
	for (size_t i = 0; i < n; i++) {
		struct kw_str value = fb_kvs_get(merged, kw_str(defs[i]->name));

		if (!fb_config_parse_check(defs[i], value, alter->arena, &message))
			return fb_refuse(alter, code, "%s", message);
	}
	return true;
}

struct kw_str fb_alter_value(struct fb_alter *alter, const struct fb_kvs *merged, const char *name)
{
	enum fb_scope scope = (enum fb_scope)alter->resource->resourceType;
	struct kw_str value = fb_kvs_get(merged, kw_str(name));

	if (value.n >= 0)
		return value;
	return fb_configs_get(alter->configs, scope, KW_NULL_STR, alter->facts->self, name, alter->arena, NULL);
}

int64_t fb_alter_number(struct fb_alter *alter, const struct fb_kvs *merged, const char *name)
{
	enum fb_scope scope = (enum fb_scope)alter->resource->resourceType;
	const struct fb_configdef *def = fb_configdef_find(alter->configs->defs, scope, kw_str(name));

	/* An earlier release may not have it. */
	return def ? fb_config_long(def, fb_alter_value(alter, merged, name), 0) : 0;
}

/* ---- topics ---- */

bool fb_alter_check_topic(struct fb_alter *alter, const struct fb_kvs *merged)
{
	struct kw_str name = alter->resource->resourceName, unknown;
	const char *wrong;
	int64_t min, max;

	if (name.n <= 0 && !fb_mutant(FB_M_TOPIC_DEFAULT_CODE))
		return fb_refuse(alter, KW_ERR_INVALID_REQUEST, "Default topic resources are not allowed.");
	wrong = fb_topic_name_fault(name, alter->arena);
	if (wrong)
		return fb_refuse(alter, KW_ERR_INVALID_TOPIC_EXCEPTION, "%s", wrong);
	unknown = fb_alter_unknown(alter, merged, FB_TOPIC);
	if (unknown.n >= 0)
		return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "Unknown topic config name: %.*s", FB_STR(unknown));
	if (!fb_alter_check_values(alter, merged, FB_TOPIC, KW_ERR_INVALID_CONFIG))
		return false;
	min = fb_alter_number(alter, merged, "min.compaction.lag.ms");
	max = fb_alter_number(alter, merged, "max.compaction.lag.ms");
	if (min > max && !fb_mutant(FB_M_LAGS_UNCHECKED))
		return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "conflict topic config setting min.compaction.lag.ms "
			"(%lld) > max.compaction.lag.ms (%lld)", (long long)min, (long long)max);
	return fb_alter_check_remote(alter, merged);
}

/* ---- groups ---- */

/* In Kafka's order. low NULL: only at most high; high NULL: only at least low. */
static const struct {
	const char *name, *low, *high;
} ranges[] = {
	{"consumer.heartbeat.interval.ms", "group.consumer.min.heartbeat.interval.ms",
	 "group.consumer.max.heartbeat.interval.ms"},
	{"consumer.session.timeout.ms", "group.consumer.min.session.timeout.ms",
	 "group.consumer.max.session.timeout.ms"},
	{"consumer.assignment.interval.ms", "group.consumer.min.assignment.interval.ms",
	 "group.consumer.max.assignment.interval.ms"},
	{"share.heartbeat.interval.ms", "group.share.min.heartbeat.interval.ms",
	 "group.share.max.heartbeat.interval.ms"},
	{"share.session.timeout.ms", "group.share.min.session.timeout.ms", "group.share.max.session.timeout.ms"},
	{"share.record.lock.duration.ms", "group.share.min.record.lock.duration.ms",
	 "group.share.max.record.lock.duration.ms"},
	{"share.delivery.count.limit", "group.share.min.delivery.count.limit", "group.share.max.delivery.count.limit"},
	{"share.partition.max.record.locks", "group.share.min.partition.max.record.locks",
	 "group.share.max.partition.max.record.locks"},
	{"share.assignment.interval.ms", "group.share.min.assignment.interval.ms",
	 "group.share.max.assignment.interval.ms"},
	{"streams.heartbeat.interval.ms", "group.streams.min.heartbeat.interval.ms",
	 "group.streams.max.heartbeat.interval.ms"},
	{"streams.session.timeout.ms", "group.streams.min.session.timeout.ms", "group.streams.max.session.timeout.ms"},
	{"streams.num.standby.replicas", NULL, "group.streams.max.standby.replicas"},
	{"streams.assignment.interval.ms", "group.streams.min.assignment.interval.ms",
	 "group.streams.max.assignment.interval.ms"},
	{"streams.task.offset.interval.ms", "group.streams.min.task.offset.interval.ms", NULL},
	{"streams.num.warmup.replicas", NULL, "group.streams.max.warmup.replicas"},
};

static int64_t limit(struct fb_alter *alter, const char *name, int64_t open)
{
	return name ? fb_configs_long(alter->configs, FB_BROKER, KW_NULL_STR, alter->facts->self, name, open) : open;
}

static bool check_ranges(struct fb_alter *alter, const struct fb_kvs *merged)
{
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
		const char *name = ranges[i].name;
		int64_t low = limit(alter, ranges[i].low, INT64_MIN), high = limit(alter, ranges[i].high, INT64_MAX), v;

		if (fb_kvs_get(merged, kw_str(name)).n < 0)
			continue;
		v = fb_alter_number(alter, merged, name);
		if (v >= low && v <= high)
			continue;
		if (!ranges[i].low || !ranges[i].high)
			return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "%s must be %s than or equal to %lld", name,
				ranges[i].low ? "greater" : "less", (long long)(ranges[i].low ? low : high));
		return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "%s must be in the range %lld to %lld inclusive.", name,
			(long long)low, (long long)high);
	}
	return true;
}

static bool check_assignor(struct fb_alter *alter, const struct fb_kvs *merged)
{
	struct kw_str name = fb_trim(fb_kvs_get(merged, kw_str("streams.assignor.name"))), all, *assignors;
	size_t n = 0;

	if (name.n < 0)
		return true;
	all = fb_configs_get(alter->configs, FB_BROKER, KW_NULL_STR, alter->facts->self, "group.streams.assignors",
			     alter->arena, NULL);
	assignors = fb_split_list(all, alter->arena, &n);
	for (size_t i = 0; assignors && i < n; i++) {
		if (kw_str_eq(assignors[i], name))
			return true;
	}
	all = assignors ? fb_join(assignors, n, ", ", alter->arena) : all;
	return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "streams.assignor.name '%.*s' is not a registered task "
		"assignor. Registered assignors are: [%.*s].", FB_STR(name), FB_STR(all));
}

static bool check_sessions(struct fb_alter *alter, const struct fb_kvs *merged)
{
	static const char *const kinds[] = {"consumer", "share", "streams"};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const char *session = kw_sprintf(alter->arena, "%s.session.timeout.ms", kinds[i]);
		const char *heartbeat = kw_sprintf(alter->arena, "%s.heartbeat.interval.ms", kinds[i]);

		if (!session || !heartbeat)
			return fb_refuse_memory(alter);
		if (fb_alter_number(alter, merged, session) <= fb_alter_number(alter, merged, heartbeat))
			return fb_refuse(alter, KW_ERR_INVALID_CONFIG,
					 "%s must be greater than %s", session, heartbeat);
	}
	return true;
}

static bool check_tags(struct fb_alter *alter, const struct fb_kvs *merged)
{
	struct kw_str tags = fb_kvs_get(merged, kw_str("streams.rack.aware.assignment.tags"));
	struct fb_named *named;
	struct fb_twins *twins;
	struct kw_str *parts;
	size_t n = 0;

	if (tags.n < 0)
		return true;
	parts = fb_split_list(tags, alter->arena, &n);
	named = kw_alloc(alter->arena, n * sizeof *named);
	for (size_t i = 0; parts && named && i < n; i++)
		named[i].name = parts[i];
	twins = parts && named ? fb_find_twins(named, n, alter->arena) : NULL;
	if (!twins)
		return fb_refuse_memory(alter);
	for (size_t i = 0; i < n; i++) {
		if (twins[i].first != i)
			return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "streams.rack.aware.assignment.tags must not "
				"contain duplicate tag keys.");
	}
	return true;
}

bool fb_alter_check_group(struct fb_alter *alter, const struct fb_kvs *merged)
{
	struct kw_str unknown, dlq;

	if (alter->resource->resourceName.n <= 0)
		return fb_refuse(alter, KW_ERR_INVALID_REQUEST, "Default group resources are not allowed.");
	unknown = fb_alter_unknown(alter, merged, FB_GROUP);
	if (unknown.n >= 0)
		return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "Unknown group config name: %.*s", FB_STR(unknown));
	if (!check_tags(alter, merged) || !fb_alter_check_values(alter, merged, FB_GROUP, KW_ERR_INVALID_CONFIG) ||
	    !check_ranges(alter, merged) || !check_assignor(alter, merged) || !check_sessions(alter, merged))
		return false;
	dlq = fb_trim(fb_kvs_get(merged, kw_str("errors.deadletterqueue.topic.name")));
	if (dlq.n >= 2 && memcmp(dlq.s, "__", 2) == 0)
		return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "errors.deadletterqueue.topic.name: DLQ topic name must "
			"not start with '__'");
	return true;
}

/* ---- client metrics ---- */

/* Is it no regular expression at all, whatever the dialect: a bracket is not closed or a backslash ends it? */
static bool unbalanced(struct kw_str pattern)
{
	int depth = 0;
	bool set = false;

	for (int32_t i = 0; i < pattern.n && depth >= 0; i++) {
		char c = pattern.s[i];

		if (c == '\\' && ++i == pattern.n)
			return true;
		if (set)
			set = c != ']';
		else if (c == '[')
			set = true;
		else
			depth += (c == '(') - (c == ')');
	}
	return depth != 0 || set;
}

static bool pattern_ok(struct kw_str item)
{
	static const char *const keys[] = {"client_instance_id", "client_id", "client_software_name",
					   "client_software_version", "client_source_address", "client_source_port"};
	const char *equals = item.n ? memchr(item.s, '=', (size_t)item.n) : NULL;
	struct kw_str key, value;

	if (!equals)
		return false;
	key = fb_trim((struct kw_str){item.s, (int32_t)(equals - item.s)});
	value = fb_trim((struct kw_str){equals + 1, (int32_t)(item.s + item.n - equals - 1)});
	if (value.n == 0 || memchr(value.s, '=', (size_t)value.n))
		return false;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		if (kw_str_is(key, keys[i]))
			return !unbalanced(value);
	}
	return false;
}

/* Before 4.0 the interval was parsed by Integer.parseInt alone, whose exception nobody foresaw. */
static bool check_plain_interval(struct fb_alter *alter, struct kw_str interval)
{
	int64_t ms;

	return interval.n < 0 || !fb_configdefs_before(alter->configs->defs, "4.0") ||
	       fb_parse_long(interval, INT32_MIN, INT32_MAX, &ms) ||
	       fb_refuse(alter, KW_ERR_UNKNOWN_SERVER_ERROR, NULL);
}

bool fb_alter_check_client_metrics(struct fb_alter *alter, const struct fb_kvs *merged)
{
	struct kw_str unknown, interval = fb_kvs_get(merged, kw_str("interval.ms")), *patterns;
	int64_t ms;
	size_t n = 0;

	if (alter->resource->resourceName.n <= 0)
		return fb_refuse(alter, KW_ERR_INVALID_REQUEST, "Subscription name can't be empty");
	unknown = fb_alter_unknown(alter, merged, FB_CLIENT_METRICS);
	if (unknown.n >= 0)
		return fb_refuse(alter, KW_ERR_INVALID_REQUEST, "Unknown client metrics configuration: %.*s",
			FB_STR(unknown));
	if (!check_plain_interval(alter, interval) ||
	    !fb_alter_check_values(alter, merged, FB_CLIENT_METRICS, KW_ERR_INVALID_CONFIG))
		return false;
	ms = fb_alter_number(alter, merged, "interval.ms");
	if (interval.n >= 0 && (ms < 100 || ms > 3600000))
		return fb_refuse(alter, KW_ERR_INVALID_REQUEST, "Invalid value %lld for interval.ms, interval must be "
			"between 100 and 3600000 (1 hour)", (long long)ms);
	patterns = fb_split_list(fb_kvs_get(merged, kw_str("match")), alter->arena, &n);
	for (size_t i = 0; patterns && i < n; i++) {
		if (!pattern_ok(patterns[i]))
			return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "Illegal client matching pattern: %.*s",
				FB_STR(patterns[i]));
	}
	return true;
}
