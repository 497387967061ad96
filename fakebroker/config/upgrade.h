/* Features and metadata.version: what there is, which updates the controller takes (UpdateFeatures), and which
 * configurations an update would make illegal.
 *
 * Source: FeatureControlManager, QuorumController.updateFeatures and MetadataVersion of Apache Kafka 4.4; KIP-584,
 * KIP-778, KIP-1022; the configuration check is KIP-1294.
 */
#ifndef KASSAY_FAKEBROKER_CONFIG_UPGRADE_H
#define KASSAY_FAKEBROKER_CONFIG_UPGRADE_H

#include "fakebroker/config/levels.h"
#include "fakebroker/config/values.h"

/* X(symbol, name), in the order in which Kafka writes them to a new cluster's log, metadata.version first */
#define FB_FEATURES(X)                                         \
	X(FB_METADATA_VERSION,    "metadata.version")          \
	X(FB_KRAFT_VERSION,       "kraft.version")             \
	X(FB_ELR_VERSION,         "eligible.leader.replicas.version") \
	X(FB_GROUP_VERSION,       "group.version")             \
	X(FB_SHARE_VERSION,       "share.version")             \
	X(FB_STREAMS_VERSION,     "streams.version")           \
	X(FB_TRANSACTION_VERSION, "transaction.version")

enum fb_feature {
#define FB_X(sym, name) sym,
	FB_FEATURES(FB_X)
#undef FB_X
	FB_NFEATURES
};

const char *fb_feature_name(enum fb_feature feature);
/* -1 for a name that no feature has. */
int fb_feature_find(struct kw_str name);

/* One level for each feature; 0 = off (not finalized). */
struct fb_levels {
	int16_t v[FB_NFEATURES];
};

struct fb_range {
	int16_t min, max;            /* both included; max 0: the release does not have the feature */
};

/* What a release supports. */
struct fb_release {
	const char *name;            /* "4.4" */
	struct fb_range supported[FB_NFEATURES];
	int16_t level;               /* metadata.version of a cluster that it formats */
	bool namesBothLevels;        /* wording of a refused downgrade */
	bool oneByOne;               /* UpdateFeatures takes the good features of a request and answers for each */
	bool verified;               /* a running broker gave its tables: the fakebroker can pretend to be it */
};

/* NULL if there is none of that name. */
const struct fb_release *fb_release_find(const char *name);
/* index counts from 0; NULL past the end. */
const struct fb_release *fb_release_at(size_t index);
/* The least metadata.version that a cluster of the release can have. */
int16_t fb_release_least(const struct fb_release *release);
/* Is it an earlier release than `name`, a row of releases.def, from which on something is answered in another way? */
bool fb_release_before(const struct fb_release *release, const char *name);

/* The levels that a cluster starts with which release formats at a metadata.version level. */
struct fb_levels fb_levels_at(const struct fb_release *release, int16_t level);

/* ---- the cluster as the controller sees it ---- */

struct fb_feature_range {
	struct kw_str name;
	int16_t min, max;
};

/* A registered broker, fenced or not. */
struct fb_broker_view {
	int32_t id;
	bool live;                   /* its session is valid: heartbeats arrive */
	struct kw_uuid incarnationId;
	const struct fb_feature_range *features;
	size_t nfeatures;
	const struct kw_uuid *logDirs;
	size_t nlogDirs;
	bool reported;               /* it told its static configurations, perhaps none */
	bool foretold;               /* not yet, but these are what it will tell at kit.static.configs.level:
					it is ours */
	const struct fb_static_config *statics;
	size_t nstatics;
};

struct fb_cluster_view {
	struct kw_str clusterId;
	int32_t controllerId;
	const struct fb_release *release;
	struct fb_levels levels;     /* finalized */
	const struct fb_broker_view *brokers;
	size_t nbrokers;
	const struct kw_str *topics; /* all that exist */
	size_t ntopics;
	const struct fb_configs *configs;
	bool imitates;               /* kit.imitate.faults of the controller */
};

/* ---- UpdateFeatures ---- */

enum fb_upgrade_type { FB_UPGRADE = 1, FB_SAFE_DOWNGRADE = 2, FB_UNSAFE_DOWNGRADE = 3 };

struct fb_feature_update {
	struct kw_str feature;
	int16_t maxVersionLevel;
	int8_t upgradeType;          /* any number; of a v0 request: allowDowngrade ? SAFE_DOWNGRADE : UPGRADE */
};

struct fb_feature_result {
	struct kw_str feature;
	int16_t errorCode;
	const char *errorMessage;    /* NULL = null; "NONE" since 4.0 */
};

struct fb_upgrade_answer {
	int16_t errorCode;           /* 0: the new levels and the changes may be applied, unless validateOnly */
	const char *errorMessage;    /* NULL = null */
	struct fb_feature_result *results;   /* what versions 0 and 1 say of each feature; none on error */
	size_t nresults;
	struct fb_levels levels;     /* as they would be; equal to the present ones on error */
	struct fb_change *changes;   /* configurations that Kafka writes along (when ELR is switched on) */
	size_t nchanges;
};

/* Checks a request: all of Kafka's own checks first, all or nothing over the features (but see fb_release.oneByOne);
 * then every configuration of the cluster at the new metadata.version. All of answer lives in arena. 0 or KT_ENOMEM. */
int fb_upgrade_check(const struct fb_cluster_view *cluster, const struct fb_feature_update *updates, size_t n,
		     struct kw_arena *arena, struct fb_upgrade_answer *answer);

/* What Kafka writes when eligible.leader.replicas.version is switched on, and when it formats a cluster that has it:
 * one min.insync.replicas for the cluster, unless there is one, and an end to those of single brokers
 * (ConfigurationControlManager.maybeGenerateElrSafetyRecords, KIP-966). The array lives in arena. Returns the number,
 * or KT_ENOMEM. */
int fb_elr_changes(const struct fb_cluster_view *cluster, struct kw_arena *arena, struct fb_change **changes);

/* Does a cluster at this metadata.version know the static configurations of brokers (kit.static.configs.level)? */
bool fb_level_keeps_statics(const struct fb_cluster_view *cluster, int16_t level);

/* X(symbol, name) */
#define FB_LAYERS(X)                       \
	X(FB_LAYER_STATIC,  "static")      \
	X(FB_LAYER_DYNAMIC, "dynamic")     \
	X(FB_LAYER_DEFAULT, "default")     /* nobody set it; of a topic also: it inherits it */

enum fb_layer_kind {
#define FB_X(sym, name) sym,
	FB_LAYERS(FB_X)
#undef FB_X
};

/* One configuration that is illegal at a level. */
struct fb_violation {
	enum fb_scope scope;
	struct kw_str resource;      /* a broker's id in decimal, "" for all brokers */
	enum fb_layer_kind layer;
	const char *where;           /* all three: "broker 2 static", "broker 2 dynamic", "cluster default",
					"topic t", ... */
	struct kw_str name, value;
	const char *message;         /* "Invalid value 16 for configuration ..." */
};

/* "broker 2 static"; NULL when memory is exhausted. */
const char *fb_where(enum fb_scope scope, struct kw_str resource, enum fb_layer_kind layer, struct kw_arena *arena);

/* All configurations of the cluster that are illegal at level: static values that brokers reported, or will have
 * reported at that level, and the defaults of what they did not report; dynamic values of brokers, of all brokers,
 * topics, groups and client metrics subscriptions, also where others mask them; what topics inherit. Not the sensitive
 * ones. The array lives in arena. Returns the number, or KT_ENOMEM. */
int fb_violations(const struct fb_cluster_view *cluster, int16_t level, struct kw_arena *arena,
		  struct fb_violation **violations);
/* Only the static ones of one broker, which need not be registered. */
int fb_static_violations(const struct fb_cluster_view *cluster, const struct fb_broker_view *broker, int16_t level,
			 struct kw_arena *arena, struct fb_violation **violations);
/* The sensitive ones of one of our nodes, which it does not report: it has to look at them itself. Neither where nor
 * message shows the value. */
int fb_sensitive_violations(const struct fb_cluster_view *cluster, int32_t node, int16_t level, struct kw_arena *arena,
			    struct fb_violation **violations);

#endif
