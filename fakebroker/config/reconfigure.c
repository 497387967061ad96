/* Broker values that make no sense together, or not after what is in force.
 * Source: KafkaConfig.validateValues, and the validateReconfiguration of the parts that DynamicBrokerConfig tells of a
 * change (DynamicThreadPool, LogCleaner, DynamicLogConfig, DynamicMetricsReporters, ConnectionQuotas), Kafka 4.4. */
#include "fakebroker/config/alter.h"
#include "fakebroker/config/effective.h"
#include "fakebroker/config/message.h"
#include "fakebroker/config/parse.h"
#include "lib/wire/errors.h"

struct reconfigure {
	struct fb_alter *alter;
	const struct fb_kvs *merged;    /* dynamic values of the resource as they would be */
	bool perBroker;
};

/* The value in force of a broker key, now or as it would be. */
static struct kw_str text_of(const struct reconfigure *r, const char *name, bool after)
{
	struct fb_alter *alter = r->alter;
	struct kw_str key = kw_str(name), changed = after ? fb_kvs_get(r->merged, key) : KW_NULL_STR;
	enum fb_source changes = r->perBroker ? FB_SRC_DYNAMIC_BROKER : FB_SRC_DYNAMIC_DEFAULT;

	for (enum fb_source layer = FB_SRC_DYNAMIC_BROKER; layer <= FB_SRC_DEFAULT; layer++) {
		struct kw_str value = after && layer == changes ? changed :
				      fb_layer(alter->configs, alter->facts->self, layer, key, alter->arena);

		if (value.n >= 0)
			return value;
	}
	return KW_NULL_STR;
}

static int64_t number_of(const struct reconfigure *r, const char *name, bool after, int64_t fallback)
{
	return fb_config_long(fb_configdef_find(r->alter->configs->defs, FB_BROKER, kw_str(name)),
			      text_of(r, name, after), fallback);
}

static int64_t after(const struct reconfigure *r, const char *name)
{
	return number_of(r, name, true, 0);
}

static bool refuse(const struct reconfigure *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool refuse_part(const struct reconfigure *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(const struct reconfigure *r, const char *fmt, ...)
{
	va_list ap;
	const char *message;

	va_start(ap, fmt);
	message = fb_vmessage(r->alter->arena, fmt, ap);
	va_end(ap);
	return message ? fb_refuse(r->alter, KW_ERR_INVALID_REQUEST, "%s", message) : fb_refuse_memory(r->alter);
}

/* What a part of the broker throws arrives like this. */
static bool refuse_part(const struct reconfigure *r, const char *fmt, ...)
{
	va_list ap;
	const char *message;

	va_start(ap, fmt);
	message = fb_vmessage(r->alter->arena, fmt, ap);
	va_end(ap);
	return refuse(r, "Invalid value org.apache.kafka.common.config.ConfigException: %s for configuration Invalid "
		"dynamic configuration", message ? message : "");
}

/* ---- KafkaConfig ---- */

/* Java's words for a string without the colon that it should have. */
static bool refuse_entry(const struct reconfigure *r, const char *name, struct kw_str entry)
{
	return refuse(r, "Error parsing configuration property '%s': begin 0, end -1, length %d", name, entry.n);
}

/* The last colon of an entry; NULL if there is none. */
static const char *colon_of(struct kw_str entry)
{
	return entry.n > 0 ? memrchr(entry.s, ':', (size_t)entry.n) : NULL;
}

static bool check_overrides(const struct reconfigure *r)
{
	static const char name[] = "max.connections.per.ip.overrides";
	size_t n = 0;
	struct kw_str *entries = fb_split_list(text_of(r, name, true), r->alter->arena, &n);

	for (size_t i = 0; entries && i < n; i++) {
		const char *colon = colon_of(entries[i]);
		struct kw_str count;
		int64_t v;

		if (!colon)
			return refuse_entry(r, name, entries[i]);
		count = fb_trim((struct kw_str){colon + 1, (int32_t)(entries[i].s + entries[i].n - colon - 1)});
		if (!fb_parse_long(count, INT32_MIN, INT32_MAX, &v))
			return refuse(r, "For input string: \"%.*s\"", FB_STR(count));
	}
	if (n == 0 && after(r, "max.connections.per.ip") == 0)
		return refuse(r, "requirement failed: max.connections.per.ip can be set to zero only if "
			"max.connections.per.ip.overrides property is set.");
	return true;
}

static bool check_protocol_map(const struct reconfigure *r)
{
	static const char name[] = "listener.security.protocol.map";
	static const char *const protocols[] = {"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"};
	size_t n = 0;
	struct kw_str *entries = fb_split_list(text_of(r, name, true), r->alter->arena, &n);

	for (size_t i = 0; entries && i < n; i++) {
		const char *colon = colon_of(entries[i]);
		struct kw_str protocol;
		size_t known = 0;

		if (!colon)
			return refuse_entry(r, name, entries[i]);
		protocol = fb_trim((struct kw_str){colon + 1, (int32_t)(entries[i].s + entries[i].n - colon - 1)});
		while (known < 4 && !kw_str_is(protocol, protocols[known]))
			known++;
		if (known == 4)
			return refuse(r, "Invalid security protocol `%.*s` defined in %s", FB_STR(protocol), name);
	}
	return true;
}

static bool contains(const struct reconfigure *r, const char *name, struct kw_str wanted)
{
	size_t n = 0;
	struct kw_str *entries = fb_split_list(text_of(r, name, true), r->alter->arena, &n);

	for (size_t i = 0; entries && i < n; i++) {
		if (kw_str_eq(entries[i], wanted))
			return true;
	}
	return false;
}

/* A controller listens where its quorum expects it. */
static bool check_listeners(const struct reconfigure *r)
{
	size_t n = 0;
	struct kw_str *entries = fb_split_list(text_of(r, "listeners", true), r->alter->arena, &n);

	if (!contains(r, "process.roles", kw_str("controller")))
		return true;
	for (size_t i = 0; entries && i < n; i++) {
		const char *end = entries[i].n ? memmem(entries[i].s, (size_t)entries[i].n, "://", 3) : NULL;

		if (end && contains(r, "controller.listener.names",
				    (struct kw_str){entries[i].s, (int32_t)(end - entries[i].s)}))
			return true;
	}
	return refuse(r, "requirement failed: controller.listener.names must contain at least one value appearing in "
		"the 'listeners' configuration when running the KRaft controller role");
}

static bool check_roll(const struct reconfigure *r)
{
	int64_t retention = number_of(r, "log.retention.ms", true, 1);

	if (number_of(r, "log.roll.ms", true, 1) < 1)
		return refuse(r, "requirement failed: log.roll.ms must be greater than or equal to 1");
	if (number_of(r, "log.roll.jitter.ms", true, 0) < 0)
		return refuse(r, "requirement failed: log.roll.jitter.ms must be greater than or equal to 0");
	if (retention == 0)
		return refuse(r, "requirement failed: log.retention.ms must be unlimited (-1) or, greater than or "
			"equal to 1");
	return true;
}

static bool check_dedupe(const struct reconfigure *r)
{
	int64_t threads = after(r, "log.cleaner.threads");

	if (threads == 0)
		return refuse(r, "/ by zero");
	if (after(r, "log.cleaner.dedupe.buffer.size") / threads <= 1024 * 1024)
		return refuse(r, "requirement failed: log.cleaner.dedupe.buffer.size must be at least 1MB per "
			"cleaner thread.");
	return true;
}

static bool check_assignment_intervals(const struct reconfigure *r)
{
	static const char *const kinds[] = {"consumer", "share", "streams"};
	struct kw_arena *arena = r->alter->arena;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const char *name = kw_sprintf(arena, "group.%s.assignment.interval.ms", kinds[i]);
		const char *max = kw_sprintf(arena, "group.%s.max.assignment.interval.ms", kinds[i]);
		const char *min = kw_sprintf(arena, "group.%s.min.assignment.interval.ms", kinds[i]);

		if (!name || !max || !min)
			return fb_refuse_memory(r->alter);
		if (after(r, name) > after(r, max))
			return refuse(r, "%s must be less than or equal to %s", name, max);
		if (after(r, name) < after(r, min))
			return refuse(r, "%s must be greater than or equal to %s", name, min);
	}
	return true;
}

static bool check_cordoned(const struct reconfigure *r)
{
	struct kw_arena *arena = r->alter->arena;
	size_t n = 0, ndirs = 0, nmissing = 0;
	struct kw_str *dirs, *cordoned = fb_split_list(text_of(r, "cordoned.log.dirs", true), arena, &n), all;

	all = text_of(r, "log.dirs", true);
	dirs = fb_split_list(all.n >= 0 ? all : text_of(r, "log.dir", true), arena, &ndirs);
	if (!cordoned || !dirs)
		return fb_refuse_memory(r->alter);
	for (size_t i = 0; i < n; i++) {
		size_t at = 0;

		if (kw_str_is(cordoned[i], "*"))
			return n == 1 || refuse(r, "requirement failed: When cordoned.log.dirs is set to *, it must "
						"not contain other values");
		while (at < ndirs && !kw_str_eq(dirs[at], cordoned[i]))
			at++;
		if (at == ndirs)
			cordoned[nmissing++] = cordoned[i];
	}
	if (!nmissing)
		return true;
	all = fb_join(cordoned, nmissing, ",", arena);
	return refuse(r, "requirement failed: All entries in cordoned.log.dirs must be present in log.dirs or "
		"log.dir. Missing entries : %.*s", FB_STR(all));
}

/* ---- the parts ---- */

static bool check_thread_pools(const struct reconfigure *r)
{
	static const char *const pools[] = {
		"background.threads", "num.io.threads", "num.network.threads", "num.recovery.threads.per.data.dir",
		"num.replica.fetchers", "remote.log.reader.threads", "remote.log.manager.copier.thread.pool.size",
		"remote.log.manager.expiration.thread.pool.size", "remote.log.manager.follower.thread.pool.size"};

	for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
		const struct fb_configdef *def = fb_configdef_find(r->alter->configs->defs, FB_BROKER,
								   kw_str(pools[i]));
		int64_t old = number_of(r, pools[i], false, 0), new = after(r, pools[i]);
		const char *why = new < old / 2 ? "should be at least half the current value" :
				  new > old * 2 ? "should not be greater than double the current value" : NULL;

		if (!def || def->dynamic == FB_READ_ONLY)
			continue;   /* in this release */
		if (new < 1)
			return refuse_part(r, "Dynamic thread count update validation failed for %s=%lld, value "
				"should be at least 1", pools[i], (long long)new);
		if (why)
			return refuse_part(r, "Dynamic thread count update validation failed for %s=%lld, value %s "
				"%lld", pools[i], (long long)new, why, (long long)old);
	}
	return true;
}

static bool check_cleaner(const struct reconfigure *r)
{
	int64_t old = number_of(r, "log.cleaner.threads", false, 1), new = after(r, "log.cleaner.threads");

	if (new < old / 2)
		return refuse_part(r, "Log cleaner threads cannot be reduced to less than half the current value %lld",
			(long long)old);
	if (new > old * 2)
		return refuse_part(r, "Log cleaner threads cannot be increased to more than double the current value "
			"%lld", (long long)old);
	return true;
}

/* The retention in force in milliseconds or bytes, below which the local one must stay. */
static int64_t retention_of(const struct reconfigure *r, bool bytes)
{
	int64_t v = number_of(r, bytes ? "log.retention.bytes" : "log.retention.ms", true, INT64_MIN);

	if (v == INT64_MIN)
		v = number_of(r, "log.retention.minutes", true, -1) >= 0 ? after(r, "log.retention.minutes") * 60000 :
									    after(r, "log.retention.hours") * 3600000;
	return v < 0 ? -1 : v;
}

static bool check_local_retention(const struct reconfigure *r, bool bytes)
{
	const char *unit = bytes ? "bytes" : "ms";
	int64_t total = retention_of(r, bytes), local, lag;

	local = after(r, bytes ? "log.local.retention.bytes" : "log.local.retention.ms");
	lag = after(r, bytes ? "log.remote.copy.lag.bytes" : "log.remote.copy.lag.ms");
	if (local == -1 && total != -1)
		return refuse_part(r, "Invalid value -1 for configuration log.local.retention.%s: Value must not be "
			"-1 as log.retention.%s value is set as %lld.", unit, unit, (long long)total);
	if (local > total && total != -1)
		return refuse_part(r, "Invalid value %lld for configuration log.local.retention.%s: Value must not "
			"be more than log.retention.%s property value: %lld", (long long)local, unit, unit,
			(long long)total);
	local = local == -2 ? total : local;
	if (lag > local && local != -1)
		return refuse_part(r, "Invalid value %lld for configuration log.remote.copy.lag.%s: Value must not "
			"exceed log.local.retention.%s (effective value: %lld)", (long long)lag, unit, unit,
			(long long)local);
	return true;
}

static bool check_retention(const struct reconfigure *r)
{
	return check_local_retention(r, false) && check_local_retention(r, true);
}

/* Reporters are classes, and only Kafka's own ones can be there. */
static bool check_reporters(const struct reconfigure *r)
{
	static const char package[] = "org.apache.kafka.";
	struct kw_str reporters = fb_kvs_get(r->merged, kw_str("metric.reporters")), *classes;
	size_t n = 0;

	classes = fb_split_list(reporters, r->alter->arena, &n);
	for (size_t i = 0; classes && i < n; i++) {
		if (classes[i].n < (int32_t)sizeof package || memcmp(classes[i].s, package, sizeof package - 1) != 0)
			return refuse_part(r, "Validation of dynamic config update of Set(metric.reporters) failed "
				"with class class kafka.server.DynamicMetricsReporters");
	}
	return true;
}

static bool check_creation_rate(const struct reconfigure *r)
{
	return after(r, "max.connection.creation.rate") > 0 || refuse_part(r, "Invalid max.connection.creation.rate 0");
}

bool fb_alter_check_reconfiguration(struct fb_alter *alter, const struct fb_kvs *merged)
{
	static bool (*const checks[])(const struct reconfigure *r) = {
		check_overrides, check_protocol_map, check_roll, check_dedupe, check_assignment_intervals,
		check_cordoned, check_listeners, check_thread_pools, check_cleaner, check_retention, check_reporters,
		check_creation_rate};
	const struct reconfigure r = {alter, merged, alter->resource->resourceName.n > 0};

	for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
		if (!checks[i](&r))
			return false;
	}
	return true;
}
