/* DescribeConfigs: entries with their source and synonyms. Source: ConfigHelper, Kafka 4.4. */
#include <stdio.h>

#include "fakebroker/config/effective.h"
#include "fakebroker/config/parse.h"
#include "fakebroker/config/topicname.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

struct describe {
	const struct fb_configs *configs;
	enum fb_scope type;
	struct kw_str resourceName;
	int32_t node;
	struct kw_arena *arena;
	struct fb_described *entries;
	int n;                               /* so far, or KT_ENOMEM */
	size_t cap;
};

/* The values of a broker key in all layers, by layer and then by name. Those before the first one of `first` itself are
 * dropped: a listener's value says nothing of the base key, and log.retention.hours nothing of log.retention.ms unless
 * that has a value, too. */
static int broker_synonyms(struct describe *d, struct kw_str first, bool sensitive, struct fb_synonym *out, size_t max)
{
	struct fb_names names;
	size_t n = 0;

	fb_broker_names(first, &names);
	for (enum fb_source layer = FB_SRC_DYNAMIC_BROKER; layer <= FB_SRC_DEFAULT; layer++) {
		for (size_t i = 0; i < names.n && n < max; i++) {
			struct kw_str value = fb_layer(d->configs, d->node, layer, names.name[i], d->arena);
			char *name;

			if (value.n < 0 || (n == 0 && !kw_str_eq(names.name[i], first)))
				continue;
			name = kw_strndup(d->arena, names.name[i].s, (size_t)names.name[i].n);
			if (!name)
				return KT_ENOMEM;
			out[n++] = (struct fb_synonym){name, sensitive ? KW_NULL_STR : value, layer};
		}
	}
	return (int)n;
}

enum { MAX_SYNONYMS = 1 + 4 * FB_MAX_SYNONYMS };

/* The list of one key of the resource, strongest first. */
static int synonyms_of(struct describe *d, const struct fb_configdef *def, struct kw_str name, struct kw_str own,
		       struct fb_synonym *out)
{
	bool sensitive = !def || def->sensitive;
	size_t n = 0;
	int more;

	if (d->type != FB_BROKER && own.n >= 0)
		out[n++] = (struct fb_synonym){def->name, sensitive ? KW_NULL_STR : fb_canonical(def, own, d->arena),
					       d->type == FB_TOPIC ? FB_SRC_TOPIC : d->type == FB_GROUP ?
					       FB_SRC_GROUP : FB_SRC_CLIENT_METRICS};
	if (d->type == FB_BROKER)
		return broker_synonyms(d, name, sensitive, out, MAX_SYNONYMS);
	if (def->synonym) {
		more = broker_synonyms(d, kw_str(def->synonym), sensitive, out + n, MAX_SYNONYMS - n);
		return more < 0 ? more : (int)n + more;
	}
	if (d->type == FB_GROUP && def->def && (own.n < 0 || !fb_configdefs_before(d->configs->defs, "4.2")))
		out[n++] = (struct fb_synonym){def->name, sensitive ? KW_NULL_STR : kw_str(def->def), FB_SRC_DEFAULT};
	return (int)n;
}

static void add(struct describe *d, const struct fb_described *entry)
{
	if (d->n < 0)
		return;
	if ((size_t)d->n == d->cap) {
		size_t cap = d->cap ? d->cap * 2 : 64;
		struct fb_described *entries = kw_alloc(d->arena, cap * sizeof *entries);

		if (!entries) {
			d->n = KT_ENOMEM;
			return;
		}
		if (d->n)
			memcpy(entries, d->entries, (size_t)d->n * sizeof *entries);
		d->entries = entries;
		d->cap = cap;
	}
	d->entries[d->n++] = *entry;
}

static void add_key(struct describe *d, const struct fb_configdef *def, struct kw_str name)
{
	struct fb_synonym *synonyms = kw_alloc(d->arena, MAX_SYNONYMS * sizeof *synonyms);
	struct fb_described entry = {.name = name, .isSensitive = !def || def->sensitive,
				     .configType = def ? (int8_t)def->type : 0, .text = def ? def->text : NULL,
				     .synonyms = synonyms};
	struct kw_str own = d->type == FB_BROKER ? KW_NULL_STR :
			    fb_configs_dynamic(d->configs, d->type, d->resourceName, name);
	char *key = kw_strndup(d->arena, name.s, (size_t)name.n);
	int n = synonyms && key ? synonyms_of(d, def, name, own, synonyms) : KT_ENOMEM;

	if (n < 0) {
		d->n = KT_ENOMEM;
		return;
	}
	entry.nsynonyms = (size_t)n;
	entry.source = n && !fb_mutant(FB_M_SOURCE_ALWAYS_DEFAULT) ? synonyms[0].source : FB_SRC_DEFAULT;
	if (fb_mutant(FB_M_SOURCE_STATIC) && entry.source == FB_SRC_DEFAULT)
		entry.source = FB_SRC_STATIC;
	if (d->type == FB_BROKER)
		entry.readOnly = !def || def->dynamic == FB_READ_ONLY || !kw_str_is(name, def->name);
	if (!entry.isSensitive) {
		entry.value = fb_configs_get(d->configs, d->type, d->resourceName, d->node, key, d->arena, NULL);
		entry.value = fb_canonical(def, entry.value, d->arena);
	} else {
		entry.value = KW_NULL_STR;
	}
	add(d, &entry);
}

static bool wanted(struct kw_str name, const struct kw_str *keys, int32_t nkeys)
{
	for (int32_t i = 0; i < nkeys; i++) {
		if (kw_str_eq(keys[i], name))
			return true;
	}
	return nkeys < 0;
}

/* Keys that are set though no listed definition has their name: unknown ones, internal ones, listener overrides. */
static void add_unlisted(struct describe *d, const struct fb_kvs *kvs, const struct kw_str *keys, int32_t nkeys)
{
	for (size_t i = 0; kvs && i < kvs->n; i++) {
		const struct fb_configdef *def = fb_configdef_find(d->configs->defs, d->type, kvs->v[i].name);
		bool done = (def && !def->internal && kw_str_is(kvs->v[i].name, def->name)) ||
			    !wanted(kvs->v[i].name, keys, nkeys);

		for (int k = 0; !done && k < d->n; k++)
			done = kw_str_eq(d->entries[k].name, kvs->v[i].name);
		if (!done)
			add_key(d, def, kvs->v[i].name);
	}
}

static const struct fb_kvs *kvs_of(const struct fb_configs *configs, enum fb_scope type, struct kw_str name)
{
	const struct fb_resource *resource = fb_resource_find(configs, type, name);

	return resource ? &resource->kvs : NULL;
}

static void add_all(struct describe *d, const struct kw_str *keys, int32_t nkeys)
{
	struct fb_id_text id;

	for (const struct fb_configdef *def = NULL; (def = fb_configdef_next(d->configs->defs, d->type, def));) {
		if (!def->internal && wanted(kw_str(def->name), keys, nkeys))
			add_key(d, def, kw_str(def->name));
	}
	if (d->type != FB_BROKER) {
		add_unlisted(d, kvs_of(d->configs, d->type, d->resourceName), keys, nkeys);
		return;
	}
	fb_id_text(&id, d->node);
	add_unlisted(d, kvs_of(d->configs, FB_BROKER, id.str), keys, nkeys);
	add_unlisted(d, kvs_of(d->configs, FB_BROKER, kw_str("")), keys, nkeys);
	for (size_t i = 0; i < d->configs->nnodes; i++) {
		if (d->configs->nodes[i].id == d->node || d->configs->nodes[i].id == FB_ALL_NODES)
			add_unlisted(d, &d->configs->nodes[i].kvs, keys, nkeys);
	}
}

/* The BROKER resource "": what is set for all brokers, and nothing else. */
static void add_cluster_default(struct describe *d, const struct kw_str *keys, int32_t nkeys)
{
	const struct fb_kvs *kvs = kvs_of(d->configs, FB_BROKER, kw_str(""));

	for (size_t i = 0; kvs && i < kvs->n; i++) {
		struct kw_str name = kvs->v[i].name, value;
		const struct fb_configdef *def = fb_configdef_find(d->configs->defs, FB_BROKER, name);
		struct fb_synonym *synonym = kw_alloc(d->arena, sizeof *synonym);
		struct fb_described entry = {.name = name, .source = FB_SRC_DYNAMIC_DEFAULT, .synonyms = synonym,
					     .nsynonyms = 1, .isSensitive = !def || def->sensitive,
					     .configType = def ? (int8_t)def->type : 0,
					     .readOnly = !def || def->dynamic == FB_READ_ONLY};

		value = fb_layer(d->configs, d->node, FB_SRC_DYNAMIC_DEFAULT, name, d->arena);
		if (value.n < 0 || !wanted(name, keys, nkeys))
			continue;
		entry.value = entry.isSensitive ? KW_NULL_STR : fb_canonical(def, value, d->arena);
		if (!synonym) {
			d->n = KT_ENOMEM;
			return;
		}
		*synonym = (struct fb_synonym){kw_strndup(d->arena, name.s, (size_t)name.n), entry.value,
					       FB_SRC_DYNAMIC_DEFAULT};
		add(d, &entry);
	}
}

/* Client metrics before 4.0: what is set, and no word about it. */
static void add_bare(struct describe *d, const struct kw_str *keys, int32_t nkeys)
{
	const struct fb_kvs *kvs = kvs_of(d->configs, d->type, d->resourceName);

	for (size_t i = 0; kvs && i < kvs->n; i++)
		if (wanted(kvs->v[i].name, keys, nkeys))
			add(d, &(struct fb_described){.name = kvs->v[i].name, .value = kvs->v[i].value,
						      .source = FB_SRC_CLIENT_METRICS});
}

/* The loggers of a broker: of the fake there is only the root. */
static void add_loggers(struct describe *d, const struct kw_str *keys, int32_t nkeys)
{
	struct kw_str root = kw_str("root"), level = fb_configs_dynamic(d->configs, d->type, d->resourceName, root);
	struct fb_described entry = {.name = root, .value = level.n < 0 ? kw_str("INFO") : level,
				     .source = FB_SRC_LOGGER};

	if (wanted(root, keys, nkeys))
		add(d, &entry);
}

int fb_configs_describe(const struct fb_configs *configs, enum fb_scope type, struct kw_str resourceName, int32_t node,
			const struct kw_str *keys, int32_t nkeys, struct kw_arena *arena,
			struct fb_described **described)
{
	struct describe d = {.configs = configs, .type = type, .resourceName = resourceName, .node = node,
			     .arena = arena};

	/* An empty list of keys asks for all of them, like a null one. */
	if (nkeys == 0)
		nkeys = -1;
	if (type == FB_CLIENT_METRICS && fb_configdefs_before(configs->defs, "4.0"))
		add_bare(&d, keys, nkeys);
	else if (type == FB_BROKER_LOGGER)
		add_loggers(&d, keys, nkeys);
	else if (type == FB_BROKER && resourceName.n == 0)
		add_cluster_default(&d, keys, nkeys);
	else
		add_all(&d, keys, nkeys);
	for (int32_t i = 0; fb_mutant(FB_M_DESCRIBE_UNKNOWN_KEY) && d.n == 0 && i < nkeys; i++)
		add(&d, &(struct fb_described){.name = keys[i], .value = KW_NULL_STR, .source = FB_SRC_DEFAULT});
	*described = d.entries;
	return d.n;
}

/* ---- which resources there are ---- */

static int16_t refuse(const char **message, int16_t code, const char *text)
{
	*message = text;
	return code;
}

static int16_t check_id(const struct fb_config_facts *facts, struct kw_str name, const char *or_empty,
			struct kw_arena *arena, const char **message)
{
	int64_t id;

	if (!fb_parse_long(name, INT32_MIN, INT32_MAX, &id))
		return refuse(message, KW_ERR_INVALID_REQUEST,
			kw_sprintf(arena, "Broker id must be an integer, but it is: %.*s", FB_STR(name)));
	if (id != facts->self && !fb_mutant(FB_M_DESCRIBE_OTHER_BROKER))
		return refuse(message, KW_ERR_INVALID_REQUEST,
			kw_sprintf(arena, "Unexpected broker id, expected %d%s but received %.*s", facts->self,
				   or_empty, FB_STR(name)));
	return 0;
}

bool fb_describe_knows(const struct fb_config_facts *facts, int8_t resourceType)
{
	return resourceType == FB_TOPIC || resourceType == FB_BROKER || resourceType == FB_BROKER_LOGGER ||
	       resourceType == FB_CLIENT_METRICS || (resourceType == FB_GROUP && facts->groups);
}

int16_t fb_describe_check(const struct fb_config_facts *facts, int8_t resourceType, struct kw_str resourceName,
			  struct kw_arena *arena, const char **message)
{
	const char *wrong;

	*message = "";
	if (!fb_describe_knows(facts, resourceType))
		return refuse(message, KW_ERR_INVALID_REQUEST, "This most likely occurs because of a request being "
			      "malformed by the client library or the message was sent to an incompatible broker. See "
			      "the broker logs for more details.");
	switch (resourceType) {
	case FB_TOPIC:
		wrong = fb_topic_name_fault(resourceName, arena);
		if (wrong)
			return refuse(message, KW_ERR_INVALID_TOPIC_EXCEPTION, wrong);
		if (fb_mutant(FB_M_DESCRIBE_MISSING_TOPIC))
			return 0;
		return facts->topicExists(facts->arg, resourceName) ? 0 : KW_ERR_UNKNOWN_TOPIC_OR_PARTITION;
	case FB_BROKER:
		if (resourceName.n == 0)
			return 0;
		return check_id(facts, resourceName, " or empty string,", arena, message);
	case FB_BROKER_LOGGER:
		if (resourceName.n == 0)
			return refuse(message, KW_ERR_INVALID_REQUEST, "Broker id must not be empty");
		return check_id(facts, resourceName, "", arena, message);
	case FB_CLIENT_METRICS:
		return resourceName.n ? 0 : refuse(message, KW_ERR_INVALID_REQUEST,
						   "Client metrics subscription name must not be empty");
	default:
		return resourceName.n ? 0 : refuse(message, KW_ERR_INVALID_REQUEST, "Group name must not be empty");
	}
}
