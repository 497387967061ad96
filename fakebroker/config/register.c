#include "fakebroker/config/register.h"

#include "fakebroker/config/message.h"
#include "fakebroker/config/mvrules.h"
#include "fakebroker/config/parse.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"
#include "lib/wire/message.h"

/* 3.0-IV1 */
enum { FIRST_LEVEL = 1 };

struct registration {
	const struct fb_cluster_view *cluster;
	const struct fb_register_view *request;
	struct kw_arena *arena;
	struct fb_register_answer *answer;
	enum fb_fault fault;         /* of a listener, that Kafka falls over */
	bool nomem;
};

static bool refuse(struct registration *r, int16_t code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static bool refuse(struct registration *r, int16_t code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	r->answer->errorCode = code;
	r->answer->reason = fb_vmessage(r->arena, fmt, ap);
	va_end(ap);
	return false;
}

static bool no_memory(struct registration *r)
{
	r->nomem = true;
	return false;
}

static const struct fb_broker_view *registered(const struct registration *r)
{
	for (size_t i = 0; i < r->cluster->nbrokers; i++) {
		if (r->cluster->brokers[i].id == r->request->brokerId)
			return &r->cluster->brokers[i];
	}
	return NULL;
}

static bool check_cluster(struct registration *r)
{
	if (fb_mutant(FB_M_CLUSTER_ID_UNCHECKED) ||
	    (fb_mutant(FB_M_CLUSTER_ID_EMPTY_TAKEN) && r->request->clusterId.n <= 0))
		return true;
	return kw_str_eq(r->request->clusterId, r->cluster->clusterId) ||
	       refuse(r, KW_ERR_INCONSISTENT_CLUSTER_ID, "Expected cluster ID %.*s, but got cluster ID %.*s",
			FB_STR(r->cluster->clusterId), FB_STR(r->request->clusterId));
}

static bool check_duplicate(struct registration *r)
{
	const struct fb_broker_view *broker = registered(r);

	r->answer->amends = broker && !fb_mutant(FB_M_EPOCH_ALWAYS_NEW) &&
			    kw_uuid_eq(broker->incarnationId, r->request->incarnationId);
	if (broker && broker->live && !r->answer->amends && !fb_mutant(FB_M_LIVE_BROKER_REPLACED))
		return refuse(r, KW_ERR_DUPLICATE_BROKER_REGISTRATION, "Another broker is registered with that broker "
			"id. If the broker was recently restarted this should self-resolve once the heartbeat "
			"manager expires the broker's session.");
	return true;
}

static bool check_zk(struct registration *r)
{
	return !r->request->isMigratingZkBroker || fb_mutant(FB_M_ZOOKEEPER_TAKEN) ||
	       refuse(r, KW_ERR_BROKER_ID_NOT_REGISTERED, "Controller does not support registering ZK brokers.");
}

/* The first hundred ids mean something else than a directory (DirectoryId.reserved). */
static bool reserved(struct kw_uuid id)
{
	for (size_t i = 0; i < 15; i++) {
		if (id.b[i])
			return false;
	}
	return id.b[15] < 100;
}

/* Who has the directory at this place in the list of all registered ones. */
static int32_t owner_of(const struct fb_cluster_view *cluster, int32_t self, size_t at)
{
	for (size_t i = 0; i < cluster->nbrokers; i++) {
		const struct fb_broker_view *broker = &cluster->brokers[i];

		if (broker->id == self)
			continue;
		if (at < broker->nlogDirs)
			return broker->id;
		at -= broker->nlogDirs;
	}
	return -1;
}

static struct kw_str uuid_str(const struct kw_uuid *id)
{
	return (struct kw_str){(const char *)id->b, sizeof id->b};
}

/* Names of all directories: those of other registered brokers, *nowned of them, then those of the request. */
static struct fb_named *directories(struct registration *r, size_t *nowned)
{
	size_t n = 0, total = r->request->nlogDirs;
	struct fb_named *names;

	for (size_t i = 0; i < r->cluster->nbrokers; i++)
		total += r->cluster->brokers[i].nlogDirs;
	names = kw_alloc(r->arena, total * sizeof *names);
	if (!names)
		return NULL;
	for (size_t i = 0; i < r->cluster->nbrokers; i++) {
		const struct fb_broker_view *broker = &r->cluster->brokers[i];

		for (size_t k = 0; broker->id != r->request->brokerId && k < broker->nlogDirs; k++)
			names[n++].name = uuid_str(&broker->logDirs[k]);
	}
	*nowned = n;
	for (size_t k = 0; k < r->request->nlogDirs; k++)
		names[n++].name = uuid_str(&r->request->logDirs[k]);
	return names;
}

static bool check_directories(struct registration *r)
{
	const struct fb_register_view *request = r->request;
	struct fb_twins *twins;
	struct fb_named *names;
	size_t nowned = 0;
	char text[23];

	if (r->cluster->levels.v[FB_METADATA_VERSION] < FB_LEVEL_DIRECTORIES)
		return true;
	if (request->nlogDirs == 0 && !fb_mutant(FB_M_NO_DIRS_TAKEN))
		return refuse(r, KW_ERR_INVALID_REGISTRATION, "No directories specified in request");
	for (size_t i = 0; i < request->nlogDirs; i++) {
		if (reserved(request->logDirs[i]) && !fb_mutant(FB_M_RESERVED_DIR_TAKEN))
			return refuse(r, KW_ERR_INVALID_REGISTRATION, "Reserved directory ID in request");
	}
	names = directories(r, &nowned);
	twins = names ? fb_find_twins(names, nowned + request->nlogDirs, r->arena) : NULL;
	if (!twins)
		return no_memory(r);
	for (size_t i = nowned; i < nowned + request->nlogDirs; i++) {
		if (twins[i].last != i && !fb_mutant(FB_M_DIR_TWICE_TAKEN))
			return refuse(r, KW_ERR_INVALID_REGISTRATION, "Duplicate directory ID in request");
	}
	for (size_t i = 0; i < request->nlogDirs; i++) {
		size_t first = twins[nowned + i].first;

		if (first >= nowned)
			continue;
		kw_uuid_text(request->logDirs[i], text);
		return refuse(r, KW_ERR_INVALID_REGISTRATION, "Broker %d is already registered with directory %s",
			owner_of(r->cluster, request->brokerId, first), text);
	}
	return true;
}

struct fb_twins *fb_listener_twins(const struct fb_register_view *request, struct kw_arena *arena)
{
	struct fb_named *named = kw_alloc(arena, request->nlisteners * sizeof *named);

	if (!named)
		return NULL;
	for (size_t i = 0; i < request->nlisteners; i++)
		named[i] = (struct fb_named){0, request->listeners[i].name};
	return fb_find_twins(named, request->nlisteners, arena);
}

static enum fb_fault listener_fault(const struct fb_listener_view *listener)
{
	enum { PROTOCOLS = 4 };           /* PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL */

	if (listener->securityProtocol < 0 || listener->securityProtocol >= PROTOCOLS)
		return FB_F_PROTOCOL;
	if (listener->host.n <= 0)
		return FB_F_EMPTY_HOST;
	if (listener->port == 0)
		return FB_F_PORT_ZERO;
	return listener->name.n <= 0 ? FB_F_EMPTY_NAME : FB_NO_FAULT;
}

static const char *listener_reason(const struct registration *r, const struct fb_listener_view *listener)
{
	switch (listener_fault(listener)) {
	case FB_F_PROTOCOL:
		return kw_sprintf(r->arena, "Unknown security protocol %d in listener %.*s", listener->securityProtocol,
				  FB_STR(listener->name));
	case FB_F_EMPTY_HOST: return "Cannot serialize empty host in ListenerInfo.";
	case FB_F_PORT_ZERO:  return "Cannot serialize ephemeral port 0 in ListenerInfo.";
	default:              return "Broker listeners must be named.";
	}
}

/* Kafka loses its controller over a listener that cannot be written down. The kit refuses it, with Kafka's reason in
 * the log, unless it is to imitate that. Source: ListenerInfo, BrokerRegistration. */
static bool check_listeners(struct registration *r)
{
	const struct fb_twins *twins = fb_listener_twins(r->request, r->arena);

	r->nomem |= !twins;
	for (size_t i = 0; twins && i < r->request->nlisteners; i++) {
		const struct fb_listener_view *listener = &r->request->listeners[i];
		enum fb_fault fault = listener_fault(listener);

		if (!fault || !fb_fault_since(fault, r->cluster->release->name) || twins[i].last != i ||
		    fb_mutant(FB_M_LISTENER_UNCHECKED))
			continue;
		if (!r->cluster->imitates)
			return refuse(r, KW_ERR_INVALID_REGISTRATION, "%s", listener_reason(r, listener));
		r->fault = fault;
		if (fault != FB_F_EMPTY_NAME)   /* which is found when the record is applied */
			return refuse(r, KW_ERR_UNKNOWN_SERVER_ERROR, "%s", listener_reason(r, listener));
	}
	return !r->nomem;
}

/* After all checks. */
static bool apply_listeners(struct registration *r)
{
	return !r->fault || refuse(r, KW_ERR_UNKNOWN_SERVER_ERROR, "Broker listeners must be named.");
}

static bool check_range(struct registration *r, struct kw_str name, int16_t min, int16_t max)
{
	int feature = fb_feature_find(name);
	int16_t level = feature < 0 ? 0 : r->cluster->levels.v[feature];

	if ((level >= min || fb_mutant(FB_M_RANGE_MIN_UNCHECKED)) &&
	    (level <= max || fb_mutant(FB_M_RANGE_MAX_UNCHECKED)))
		return true;
	if (feature < 0 && fb_mutant(FB_M_UNKNOWN_FEATURE_TAKEN))
		return true;
	return refuse(r, KW_ERR_UNSUPPORTED_VERSION, "Unable to register because the broker does not support finalized "
		"version %d of %.*s. The broker wants a version between %d and %d, inclusive.", level, FB_STR(name),
		min, max);
}

static bool mentions(const struct fb_register_view *request, enum fb_feature feature)
{
	for (size_t i = 0; i < request->nfeatures; i++) {
		if (kw_str_is(request->features[i].name, fb_feature_name(feature)))
			return true;
	}
	return false;
}

/* A broker does not have what it does not mention. */
static bool check_unmentioned(struct registration *r)
{
	struct fb_named missing[FB_NFEATURES];
	size_t n = 0, finalized = 0;

	for (int i = 0; i < FB_NFEATURES; i++) {
		finalized += r->cluster->levels.v[i] > 0;
		if (r->cluster->levels.v[i] > 0 && !mentions(r->request, (enum fb_feature)i))
			missing[n++] = (struct fb_named){i, kw_str(fb_feature_name((enum fb_feature)i))};
	}
	fb_java_order(missing, n, finalized);
	return n == 0 || check_range(r, missing[0].name, 0, 0);
}

static bool check_features(struct registration *r)
{
	for (size_t i = 0; i < r->request->nfeatures; i++) {
		const struct fb_feature_range *range = &r->request->features[i];

		if (!check_range(r, range->name, range->min, range->max))
			return false;
	}
	if (fb_release_before(r->cluster->release, "4.0"))   /* who says nothing can do 3.0-IV1 */
		return mentions(r->request, FB_METADATA_VERSION) ||
		       check_range(r, kw_str(fb_feature_name(FB_METADATA_VERSION)), FIRST_LEVEL, FIRST_LEVEL);
	if (!mentions(r->request, FB_METADATA_VERSION) && !fb_mutant(FB_M_METADATA_VERSION_OPTIONAL))
		return refuse(r, KW_ERR_INVALID_REGISTRATION, "Request features do not contain 'metadata.version'");
	return check_unmentioned(r);
}

/* Does a mutant want to know every reported configuration, and its value? */
static bool has_unknown_static(const struct registration *r)
{
	for (size_t i = 0; i < r->request->nstatics; i++) {
		const struct fb_static_config *config = &r->request->statics[i];

		if ((fb_mutant(FB_M_MV_UNKNOWN_STATIC_REFUSED) &&
		     !fb_configdef_find(fb_configs_defs(r->cluster->configs), FB_BROKER, config->name)) ||
		    (fb_mutant(FB_M_MV_SENSITIVE_REFUSED) && config->value.n < 0))
			return true;
	}
	return false;
}

/* Below the level that knows static configurations, a broker is taken without them; it registers again when the level
 * is reached. A request of a version that cannot carry them says nothing about them. */
static bool check_statics(struct registration *r)
{
	const struct fb_cluster_view *cluster = r->cluster;
	int16_t level = cluster->levels.v[FB_METADATA_VERSION];
	struct fb_broker_view broker = {.id = r->request->brokerId, .reported = true, .statics = r->request->statics,
					.nstatics = r->request->nstatics};
	struct fb_violation *found;
	const char *reason = NULL;
	int n;

	r->answer->keepsStatics = r->request->version >= FB_STATICS_VERSION && fb_level_keeps_statics(cluster, level);
	if (fb_mutant(FB_M_MV_OLD_VERSION_REFUSED) && r->request->version < FB_STATICS_VERSION)
		return refuse(r, KW_ERR_INVALID_REGISTRATION, "no static configurations");
	if (!r->answer->keepsStatics || fb_mutant(FB_M_MV_REGISTER_UNCHECKED))
		return true;
	if (!r->request->nstatics && fb_mutant(FB_M_MV_NO_STATICS_REFUSED))
		return refuse(r, KW_ERR_INVALID_REGISTRATION, "no static configurations");
	if (has_unknown_static(r))
		return refuse(r, KW_ERR_INVALID_REGISTRATION, "an unknown static configuration");
	if (fb_mutant(FB_M_MV_REGISTER_NEWEST))
		level = cluster->release->supported[FB_METADATA_VERSION].max;
	n = fb_static_violations(cluster, &broker, level, r->arena, &found);
	if (n == 0)
		return true;
	for (int i = 0; i < n; i++)
		reason = kw_sprintf(r->arena, "%s%s%s %.*s=%.*s: %s", reason ? reason : "", reason ? "; " : "",
			found[i].where, FB_STR(found[i].name), FB_STR(found[i].value), found[i].message);
	if (!reason)
		return no_memory(r);
	return refuse(r, KW_ERR_INVALID_REGISTRATION,
		      "metadata.version %d makes these configurations illegal: %s", level,
		reason);
}

int fb_register_check(const struct fb_cluster_view *cluster, const struct fb_register_view *request,
		      struct kw_arena *arena, struct fb_register_answer *answer)
{
	static bool (*const checks[])(struct registration *r) = {
		check_cluster, check_duplicate, check_zk, check_directories, check_listeners, check_features,
		check_statics, apply_listeners};
	struct registration r = {.cluster = cluster, .request = request, .arena = arena, .answer = answer};

	*answer = (struct fb_register_answer){0};
	for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
		if (checks[fb_mutant(FB_M_CHECKS_BACKWARD) ? sizeof checks / sizeof *checks - 1 - i : i](&r))
			continue;
		answer->amends = answer->keepsStatics = false;
		if (answer->errorCode == KW_ERR_UNKNOWN_SERVER_ERROR)
			answer->fault = r.fault;
		break;
	}
	return r.nomem ? KT_ENOMEM : 0;
}
