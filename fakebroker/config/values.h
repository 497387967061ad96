/* The configuration values of a cluster: what is set where, what follows from it, and which alterations are legal.
 *
 * Layers, strongest first: of a topic, group or client metrics subscription its own value, then the broker's value of
 * its synonym; of a broker its dynamic value, the dynamic cluster default, its static value (server.properties,
 * --set, --node-set), the default. Dynamic values change by applying changes, which have the shape of the metadata
 * log's ConfigRecord; a check only says which changes follow from a request.
 *
 * Nothing here locks: the owner of the cluster state guards it.
 */
#ifndef KASSAY_FAKEBROKER_CONFIG_VALUES_H
#define KASSAY_FAKEBROKER_CONFIG_VALUES_H

#include "fakebroker/config/configdef.h"
#include "fakebroker/config/faults.h"

struct fb_configs;

/* defs must outlive it. NULL when memory is exhausted. */
struct fb_configs *fb_configs_new(const struct fb_configdefs *defs);
void fb_configs_free(struct fb_configs *configs);
const struct fb_configdefs *fb_configs_defs(const struct fb_configs *configs);

/* ---- static values ---- */

#define FB_ALL_NODES (-1)

/* Sets a static value of one node, or of all nodes (a node's own one wins). Both strings are copied. An unknown name is
 * kept, as Kafka does; the caller may warn. KT_ERANGE with Kafka's message if the value does not parse or validate. */
int fb_configs_set_static(struct fb_configs *configs, int32_t node, struct kw_str name, struct kw_str value,
			  struct kt_err *err);
/* Would its value be refused? */
int fb_configs_check_static(const struct fb_configs *configs, struct kw_str name, struct kw_str value,
			    struct kt_err *err);
/* Takes away a node's own static value, if it has one. */
void fb_configs_unset_static(struct fb_configs *configs, int32_t node, struct kw_str name);
/* The static value of a node, null if it is not set there. */
struct kw_str fb_configs_static(const struct fb_configs *configs, int32_t node, struct kw_str name);

struct fb_static_config {
	struct kw_str name;
	struct kw_str value;      /* null if sensitive */
	bool sensitive;
};

/* What the node reports when it registers (BrokerRegistration v5 StaticConfigs): its static values that differ from
 * the default, by name, known names only. The array lives in arena, the strings in configs. Returns the number,
 * or KT_ENOMEM. */
int fb_configs_report(const struct fb_configs *configs, int32_t node, struct kw_arena *arena,
			 struct fb_static_config **reported);

/* ---- dynamic values ---- */

/* A ConfigRecord. */
struct fb_change {
	int8_t resourceType;         /* enum fb_scope; BROKER_LOGGER: a node's state, not in Kafka's log */
	struct kw_str resourceName;  /* BROKER: the id in decimal, "" = cluster default */
	struct kw_str name;
	struct kw_str value;         /* null deletes */
};

/* Applies changes one by one, legal or not: a log is replayed, not checked. As in Kafka, topic configurations of names
 * that are not known (any more) are skipped (SupportedConfigChecker, KAFKA-19851). Strings are copied.
 * 0 or KT_ENOMEM. */
int fb_configs_apply(struct fb_configs *configs, const struct fb_change *changes, size_t n);
/* Forgets all dynamic values of a resource (its topic was deleted). */
void fb_configs_forget(struct fb_configs *configs, enum fb_scope type, struct kw_str resourceName);
/* The dynamic value of exactly this resource, null if not set. */
struct kw_str fb_configs_dynamic(const struct fb_configs *configs, enum fb_scope type, struct kw_str resourceName,
				 struct kw_str name);
/* Calls each() for all dynamic values, ordered by type, resource and name, until it returns false. */
void fb_configs_each(const struct fb_configs *configs, bool (*each)(void *arg, const struct fb_change *value),
		     void *arg);

/* ---- effective values ---- */

/* Numbers of DescribeConfigs (ConfigSource). */
enum fb_source {
	FB_SRC_TOPIC = 1,
	FB_SRC_DYNAMIC_BROKER = 2,
	FB_SRC_DYNAMIC_DEFAULT = 3,
	FB_SRC_STATIC = 4,
	FB_SRC_DEFAULT = 5,
	FB_SRC_LOGGER = 6,
	FB_SRC_CLIENT_METRICS = 7,
	FB_SRC_GROUP = 8,
};

/* The value in force for a resource as node sees it; null if there is none. TOPIC and GROUP: resourceName may be null
 * for what a new one would get. BROKER: resourceName is ignored, node decides. source may be NULL.
 * As in Kafka, a dynamic broker value that is read-only, does not parse or validate, or is set for all brokers though
 * it must be set for each, has no effect.
 * The value may be kept in configs, in the definitions or (when converted, as log.retention.hours for retention.ms) in
 * arena; it is valid until the next change. */
struct kw_str fb_configs_get(const struct fb_configs *configs, enum fb_scope type, struct kw_str resourceName,
			     int32_t node, const char *name, struct kw_arena *arena, enum fb_source *source);
/* The same as a number; for names that are not defined or do not parse: fallback. */
int64_t fb_configs_long(const struct fb_configs *configs, enum fb_scope type, struct kw_str resourceName, int32_t node,
			const char *name, int64_t fallback);
/* The same of a broker's configuration, looked up anew only when some value has changed since; kept begins zeroed.
 * Several threads may ask with one kept at a time, as long as none changes configs meanwhile. */
struct fb_kept_long {
	_Atomic uint64_t changes;    /* that configs had seen when value was read */
	_Atomic int64_t value;
};
int64_t fb_configs_kept_long(const struct fb_configs *configs, int32_t node, const char *name, int64_t fallback,
			     struct fb_kept_long *kept);
/* The same as fb_configs_long as true or false. */
bool fb_configs_bool(const struct fb_configs *configs, enum fb_scope type, struct kw_str resourceName, int32_t node,
		     const char *name, bool fallback);

struct fb_synonym {
	const char *name;
	struct kw_str value;         /* null if sensitive */
	enum fb_source source;
};

/* One entry of DescribeConfigs. */
struct fb_described {
	struct kw_str name;
	struct kw_str value;         /* null if sensitive, or if there is no value */
	enum fb_source source;
	bool readOnly, isSensitive;
	int8_t configType;           /* enum fb_config_type, 0 = unknown */
	const char *text;            /* the definition's, or NULL */
	const struct fb_synonym *synonyms;   /* strongest first */
	size_t nsynonyms;
};

/* The entries of a resource as node answers them: all (nkeys < 0) or those named in keys, by name. What names the
 * resource is not checked here (see fb_describe_check). The array lives in arena. Returns the number, or KT_ENOMEM. */
int fb_configs_describe(const struct fb_configs *configs, enum fb_scope type, struct kw_str resourceName, int32_t node,
			const struct kw_str *keys, int32_t nkeys, struct kw_arena *arena,
			struct fb_described **described);

/* ---- checks ---- */

/* What the checks must know of the cluster. */
struct fb_config_facts {
	int32_t self;                /* id of the node that answers */
	bool controller;             /* the request came to a controller listener: no checks of a broker's own */
	int16_t level;               /* finalized metadata.version */
	bool elr;                    /* eligible.leader.replicas.version >= 1 */
	bool groups;                 /* groups can be configured */
	bool imitates, controllerImitates;   /* kit.imitate.faults of the node that answers, and of the controller */
	bool (*topicExists)(void *arg, struct kw_str name);
	bool (*nodeExists)(void *arg, int32_t id);   /* a registered broker or a controller */
	void *arg;
};

/* ConfigOperation of IncrementalAlterConfigs; any other number can arrive. */
enum fb_config_op { FB_SET = 0, FB_DELETE = 1, FB_APPEND = 2, FB_SUBTRACT = 3 };

struct fb_alter_config {
	struct kw_str name;
	int8_t configOperation;      /* ignored by the legacy call */
	struct kw_str value;         /* null possible */
};

struct fb_alter_resource {
	int8_t resourceType;         /* any number can arrive */
	struct kw_str resourceName;
	const struct fb_alter_config *configs;
	int32_t nconfigs;
};

struct fb_alter_request {
	bool legacy;                 /* AlterConfigs, which replaces all values, else IncrementalAlterConfigs */
	const struct fb_alter_resource *resources;
	int32_t nresources;
};

struct fb_alter_result {
	int8_t resourceType;
	struct kw_str resourceName;
	int16_t errorCode;           /* Kafka's number; 0: changes may be applied, unless the request is validateOnly */
	const char *errorMessage;    /* NULL = null */
	struct fb_change *changes;
	size_t nchanges;
	bool forwarded;              /* the controller looked at it */
};

struct fb_alter_answer {
	struct fb_alter_result *results;
	size_t nresults;             /* can be less than the resources: the controller answers a repeated one once */
	enum fb_fault fault;         /* what Kafka does instead of answering, or besides; results are Kafka's then */
};

/* Checks a request as Kafka does (ConfigAdminManager on the broker, unless facts->controller; then
 * ConfigurationControlManager and ControllerConfigurationValidator), and after all of that the rules that depend on
 * metadata.version, for the keys that the request touches, at their resulting values. Nothing is changed. All of answer
 * lives in arena, or is a slice of the request. 0 or KT_ENOMEM. */
int fb_alter_check(const struct fb_configs *configs, const struct fb_config_facts *facts,
		   const struct fb_alter_request *request, struct kw_arena *arena, struct fb_alter_answer *answer);

/* Refuses all that the controller looked at. */
void fb_alter_fail_forwarded(struct fb_alter_answer *answer, int16_t error, const char *message);

/* The configurations of a CreateTopics request, likewise (only the controller checks them). The last of a repeated
 * name wins. result->changes are for the new topic. 0 or KT_ENOMEM. */
int fb_create_check(const struct fb_configs *configs, const struct fb_config_facts *facts, struct kw_str topic,
		    const struct fb_alter_config *named, int32_t n, struct kw_arena *arena,
		    struct fb_alter_result *result);

/* Is there such a type of resource? */
bool fb_describe_knows(const struct fb_config_facts *facts, int8_t resourceType);
/* Whether DescribeConfigs may describe the resource: 0, or Kafka's code with *message ("" if Kafka sends that). */
int16_t fb_describe_check(const struct fb_config_facts *facts, int8_t resourceType, struct kw_str resourceName,
			  struct kw_arena *arena, const char **message);

#endif
