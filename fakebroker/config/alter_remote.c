/* Topics with remote storage (KIP-405). Source: LogConfig.validateTopicLogConfigValues of Kafka 4.4; its order. */
#include "fakebroker/config/alter.h"
#include "fakebroker/config/parse.h"

enum { UNLIMITED = -1, LIKE_RETENTION = -2, LIKE_LOCAL = -1 };

struct limit {
	const char *name, *local_name, *lag_name;
	int64_t total, local, lag;
};

static struct limit read_limit(struct fb_alter *alter, const struct fb_kvs *merged, const char *name, const char *local,
			       const char *lag)
{
	return (struct limit){name, local, lag, fb_alter_number(alter, merged, name),
			      fb_alter_number(alter, merged, local), fb_alter_number(alter, merged, lag)};
}

/* What is kept locally is a part of all that is kept. */
static bool check_local(struct fb_alter *alter, const struct limit *limit)
{
	if (limit->total == UNLIMITED || limit->local == LIKE_RETENTION)
		return true;
	if (limit->local == UNLIMITED)
		return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "Invalid value -1 for configuration %s: Value must not "
			"be -1 as %s value is set as %lld.", limit->local_name, limit->name, (long long)limit->total);
	if (limit->local > limit->total)
		return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "Invalid value %lld for configuration %s: Value must "
			"not be more than %s property value: %lld",
			(long long)limit->local, limit->local_name, limit->name,
			(long long)limit->total);
	return true;
}

/* What is not copied yet has to be kept locally. */
static bool check_lag(struct fb_alter *alter, const struct limit *limit)
{
	int64_t kept = limit->local == LIKE_RETENTION ? limit->total : limit->local;

	if (limit->lag == LIKE_LOCAL || kept == UNLIMITED || limit->lag <= kept)
		return true;
	return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "Invalid value %lld for configuration %s: Value must not exceed "
		"%s (effective value: %lld)",
		(long long)limit->lag, limit->lag_name, limit->local_name, (long long)kept);
}

static bool check_read_only(struct fb_alter *alter, const struct limit *limit)
{
	if (limit->local == LIKE_RETENTION || limit->local == limit->total)
		return true;
	return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "When `remote.log.copy.disable` is set to true, the `%s` and "
		"`%s` must be set to the identical value because there will be no more logs copied to the "
		"remote storage.",
		limit->local_name, limit->name);
}

static bool check_policy(struct fb_alter *alter, const struct fb_kvs *merged)
{
	struct kw_str policy = fb_alter_value(alter, merged, "cleanup.policy"), *parts;
	const struct fb_configdef *def = fb_configdef_find(alter->configs->defs, FB_TOPIC, kw_str("cleanup.policy"));
	size_t n = 0;

	parts = fb_java_split(fb_canonical(def, policy, alter->arena), alter->arena, &n);
	if (!parts)
		return fb_refuse_memory(alter);
	if (n == 0 || (n == 1 && (parts[0].n == 0 || kw_str_is(parts[0], "delete"))))
		return true;
	return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "Remote log storage only supports topics with "
		"cleanup.policy=delete or cleanup.policy being an empty list.");
}

static bool check_enabled(struct fb_alter *alter, const struct fb_kvs *merged)
{
	struct limit bytes = read_limit(alter, merged, "retention.bytes", "local.retention.bytes",
					"remote.copy.lag.bytes");
	struct limit ms = read_limit(alter, merged, "retention.ms", "local.retention.ms", "remote.copy.lag.ms");

	if (!fb_configs_bool(alter->configs, FB_BROKER, KW_NULL_STR, alter->facts->self,
			     "remote.log.storage.system.enable", false))
		return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "Tiered Storage functionality is disabled in the "
			"broker. Topic cannot be configured with remote log storage.");
	if (!check_policy(alter, merged) || !check_local(alter, &bytes) || !check_local(alter, &ms) ||
	    !check_lag(alter, &bytes) || !check_lag(alter, &ms))
		return false;
	return !fb_alter_number(alter, merged, "remote.log.copy.disable") ||
	       (check_read_only(alter, &bytes) && check_read_only(alter, &ms));
}

bool fb_alter_check_remote(struct fb_alter *alter, const struct fb_kvs *merged)
{
	const struct fb_configdef *def = fb_configdef_find(alter->configs->defs, FB_TOPIC,
							   kw_str("remote.storage.enable"));

	if (fb_alter_number(alter, merged, "remote.storage.enable"))
		return check_enabled(alter, merged);
	if (!fb_config_long(def, fb_kvs_get(alter->existing, kw_str(def->name)), 0) ||
	    fb_alter_number(alter, merged, "remote.log.delete.on.disable"))
		return true;
	return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "It is invalid to disable remote storage without deleting "
		"remote data. If you want to keep the remote data and turn to read only, please set "
		"`remote.storage.enable=true,remote.log.copy.disable=true`. If you want to disable remote storage and "
		"delete all remote data, please set `remote.storage.enable=false,remote.log.delete.on.disable=true`.");
}
