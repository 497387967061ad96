/* The static configuration of our own brokers: setting it, and finding what is illegal in it. */
#include <stdlib.h>

#include "fakebroker/cluster/cluster.h"
#include "fakebroker/cluster/log_line.h"

/* Is it an option that its validator or observer does not have? */
static int check_option(const struct fb_cluster *cluster, struct kw_str name, struct kt_err *err)
{
	size_t validator = strlen(FB_VALIDATOR_PREFIX), observer = strlen(FB_OBSERVER_PREFIX);
	char *text = strndup(name.s, (size_t)name.n);
	int code = 0;

	if (!text)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	if (strncmp(text, FB_VALIDATOR_PREFIX, validator) == 0)
		code = fb_chain_check_option(NULL, cluster->plugins, text, err);
	else if (strncmp(text, FB_OBSERVER_PREFIX, observer) == 0)
		code = fb_observer_check_option(cluster->plugins, text, err);
	free(text);
	return code;
}

int fb_cluster_check_static(const struct fb_cluster *cluster, struct kw_str name, struct kw_str value,
			    struct kt_err *err)
{
	int code = check_option(cluster, name, err);

	return code ? code : fb_configs_check_static(cluster->configs, name, value, err);
}

/* node.id and broker.id are one thing under two names: who sets one has the other, unless it is set, too
 * (KafkaConfig.populateSynonyms). */
static int set_other_id(struct fb_cluster *cluster, int32_t node, struct kw_str name, struct kw_str value,
			struct kt_err *err)
{
	struct kw_str other;

	if (kw_str_is(name, "node.id"))
		other = kw_str("broker.id");
	else if (kw_str_is(name, "broker.id"))
		other = kw_str("node.id");
	else
		return 0;
	if (fb_configs_static(cluster->configs, node, other).n >= 0)
		return 0;
	return fb_configs_set_static(cluster->configs, node, other, value, err);
}

int fb_cluster_set_static(struct fb_cluster *cluster, int32_t node, struct kw_str name, struct kw_str value,
			  const char *where, struct kt_err *err)
{
	int code = check_option(cluster, name, err);
	const char *near;

	if (!code)
		code = fb_configs_set_static(cluster->configs, node, name, value, err);
	if (!code)
		code = set_other_id(cluster, node, name, value, err);
	if (code || fb_configdef_find(cluster->defs, FB_BROKER, name))
		return code;
	near = fb_configdef_near(cluster->defs, FB_BROKER, name);
	fb_log_line(KASSAY_WARN, "%s%sthere is no broker configuration %.*s%s%s", where ? where : "", where ? ": " : "",
		    name.n, name.s, near ? "; did you mean " : "", near ? near : "");
	return 0;
}

/* X(name, or what it begins with): connections and the server's threads have them from when the process started. */
#define ONLY_AT_START(X)                                                 \
	X("listeners")                                                   \
	X("controller.listener.names")                                   \
	X("listener.security.protocol.map")                              \
	X("listener.name.")                                              \
	X("sasl.enabled.mechanisms")                                     \
	X("plain.sasl.jaas.config")                                      \
	X("sasl.server.max.receive.size")                                \
	X("socket.request.max.bytes")                                    \
	X("transaction.abort.timed.out.transaction.cleanup.interval.ms") \
	X("log.retention.check.interval.ms")                             \
	X("producer.id.expiration.check.interval.ms")

int fb_static_check_restart(struct kw_str name, struct kt_err *err)
{
	static const char *const names[] = {
#define X(name) name,
		ONLY_AT_START(X)
#undef X
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		size_t n = strlen(names[i]);
		bool prefix = names[i][n - 1] == '.';

		if (prefix ? (size_t)name.n > n && memcmp(name.s, names[i], n) == 0 : kw_str_is(name, names[i]))
			return kt_fail(err, KT_ERANGE, "%.*s is read when fakebroker starts and not when a broker "
				       "does; give it in the scenario or with --set", name.n, name.s);
	}
	return 0;
}

const struct fb_violation *fb_cluster_violation(struct fb_cluster *cluster, int32_t *node, struct kw_arena *arena)
{
	struct fb_cluster_view *view = fb_cluster_view(cluster, arena);
	int16_t level = cluster->levels.v[FB_METADATA_VERSION];

	for (size_t i = 0; view && i + 1 < cluster->nnodes; i++) {
		struct fb_broker_view broker = {.id = cluster->nodes[i].id, .reported = true};
		struct fb_static_config *statics;
		struct fb_violation *found;
		int n = fb_configs_report(cluster->configs, broker.id, arena, &statics);

		if (n < 0)
			return NULL;
		broker.statics = statics;
		broker.nstatics = (size_t)n;
		*node = broker.id;
		if (fb_sensitive_violations(view, broker.id, level, arena, &found) > 0 ||
		    fb_static_violations(view, &broker, level, arena, &found) > 0)
			return found;
	}
	return NULL;
}
