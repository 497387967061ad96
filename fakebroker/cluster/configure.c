/* What follows when a configuration changes: the topics' values, their validator chains. */
#include <stdio.h>
#include <stdlib.h>

#include "fakebroker/cluster/metadata_records.h"
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/mutants.h"
#include "lib/wire/produce_release.h"

/* Configuration as the validators of a topic see it: the topic's own value, then that of a broker. In Kafka each
 * partition follows the static values of the broker that leads it. Here a topic has one configuration and one chain of
 * validators for all of its partitions, after the preferred leader of the first, whoever leads now. */
struct lookup {
	struct fb_cluster *cluster;
	struct kw_str topic;       /* null: one that has no values of its own */
	int32_t node;
	struct kw_arena arena;
};

static void lookup_init(struct lookup *lookup, struct fb_cluster *cluster, struct kw_str topic, int32_t node)
{
	*lookup = (struct lookup){.cluster = cluster, .topic = topic, .node = node};
	kw_arena_init(&lookup->arena, 0);
}

static struct kw_str value(const struct lookup *lookup, const char *name, struct kw_arena *arena)
{
	const struct fb_configs *configs = lookup->cluster->configs;
	struct kw_str v = fb_configs_get(configs, FB_TOPIC, lookup->topic, lookup->node, name, arena, NULL);

	if (v.n < 0 && lookup->topic.n >= 0)
		v = fb_configs_dynamic(configs, FB_TOPIC, lookup->topic, kw_str(name));
	return v.n >= 0 ? v : fb_configs_get(configs, FB_BROKER, KW_NULL_STR, lookup->node, name, arena, NULL);
}

static const char *config(void *arg, const char *name)
{
	struct lookup *lookup = arg;
	struct kw_str v = value(lookup, name, &lookup->arena);

	return v.n < 0 ? NULL : kw_strndup(&lookup->arena, v.s, (size_t)v.n);
}

static int64_t number(const struct lookup *lookup, const char *name, int64_t fallback)
{
	return fb_configs_long(lookup->cluster->configs, FB_TOPIC, lookup->topic, lookup->node, name, fallback);
}

/* Contains the word, between commas and blanks. */
static bool list_has(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = list; (p = strstr(p, word)); p += n)
		if ((p == list || strchr(", ", p[-1])) && (!p[n] || strchr(", ", p[n])))
			return true;
	return false;
}

static void read_retention(struct lookup *lookup, struct fb_retention *retention)
{
	const char *policy = config(lookup, "cleanup.policy");

	retention->deletes = policy && list_has(policy, "delete");
	retention->ms = number(lookup, "retention.ms", 604800000);
	retention->bytes = number(lookup, "retention.bytes", -1);
}

static void read_compaction(struct lookup *lookup, const struct kw_topic_conf *conf, struct fb_compaction *compaction)
{
	compaction->compacts = conf->compact;
	compaction->deleteRetentionMs = number(lookup, "delete.retention.ms", 86400000);
	compaction->minLagMs = number(lookup, "min.compaction.lag.ms", 0);
	compaction->record_max = conf->maxDecompressedMessageBytes;
}

/* LogConfig.maxSegmentMs: a compacted topic's segments end in time to be compacted. */
static int64_t read_segment_ms(const struct lookup *lookup, bool compacts)
{
	int64_t ms = number(lookup, "segment.ms", 604800000), lag = number(lookup, "max.compaction.lag.ms", INT64_MAX);

	return compacts && lag > 0 && lag < ms ? lag : ms;
}

/* In what the release has no configuration for, it is as it always was there. */
static void read_conf(struct lookup *lookup, struct kw_topic_conf *conf)
{
	const char *policy = config(lookup, "cleanup.policy"), *type = config(lookup, "message.timestamp.type");
	const char *codec = config(lookup, "compression.type");
	static const char *const levels[] = {"compression.gzip.level", "compression.lz4.level",
					     "compression.zstd.level"};

	*conf = kw_release_conf(kw_release_find(lookup->cluster->release->name));
	conf->maxMessageBytes = (int32_t)number(lookup, "max.message.bytes", conf->maxMessageBytes);
	conf->maxDecompressedMessageBytes =
		(int32_t)number(lookup, "max.decompressed.message.bytes", conf->maxDecompressedMessageBytes);
	conf->segmentBytes = (int32_t)number(lookup, "segment.bytes", conf->segmentBytes);
	conf->segmentBytes = (int32_t)number(lookup, "internal.segment.bytes", conf->segmentBytes);
	conf->beforeMaxMs = number(lookup, "message.timestamp.before.max.ms", conf->beforeMaxMs);
	conf->afterMaxMs = number(lookup, "message.timestamp.after.max.ms", conf->afterMaxMs);
	conf->compact = policy && list_has(policy, "compact");
	conf->logAppendTime = type && strcmp(type, "LogAppendTime") == 0;
	if (codec && strcmp(codec, "uncompressed") == 0)
		conf->compression = KW_NONE;
	else if (codec && strcmp(codec, "producer") != 0)
		conf->compression = kw_codec_find(codec);
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
		const char *level = config(lookup, levels[i]);

		if (level)
			kw_topic_conf_set(conf, levels[i], level, NULL);
	}
}

/* ---- validators ---- */

static const char classes_name[] = FB_VALIDATOR_PREFIX "classes";

struct key {
	struct kw_buf text;
	struct kw_str topic;
};

static bool is_of_validators(struct kw_str name)
{
	return name.n >= (int32_t)strlen(FB_VALIDATOR_PREFIX) &&
	       memcmp(name.s, FB_VALIDATOR_PREFIX, strlen(FB_VALIDATOR_PREFIX)) == 0;
}

/* An option that the chain of a topic, null for any, might have. */
static bool is_option(const struct fb_change *v, struct kw_str topic)
{
	bool ours = v->resourceType == FB_BROKER || (v->resourceType == FB_TOPIC && kw_str_eq(v->resourceName, topic));

	return ours && is_of_validators(v->name) && !kw_str_is(v->name, classes_name);
}

static bool add_option(void *arg, const struct fb_change *v)
{
	struct key *key = arg;

	if (!is_option(v, key->topic))
		return true;
	kw_put_u8(&key->text, (uint8_t)v->resourceType);
	kw_put(&key->text, v->resourceName.s, (size_t)v->resourceName.n);
	kw_put_u8(&key->text, '/');
	kw_put(&key->text, v->name.s, (size_t)v->name.n);
	kw_put_u8(&key->text, '=');
	if (v->value.n > 0)
		kw_put(&key->text, v->value.s, (size_t)v->value.n);
	kw_put_u8(&key->text, '\n');
	return true;
}

/* A text that differs whenever the chain would: the class list and every dynamic option. NULL without memory. */
static char *chain_key(const struct lookup *lookup, const char *classes)
{
	struct key key = {.topic = lookup->topic};
	char *text;

	kw_buf_init(&key.text, 0);
	kw_put(&key.text, classes, strlen(classes));
	kw_put_u8(&key.text, '\n');
	fb_configs_each(lookup->cluster->configs, add_option, &key);
	kw_put_u8(&key.text, '\0');
	text = key.text.failed ? NULL : strdup((char *)key.text.p);
	kw_buf_fini(&key.text);
	return text;
}

struct option_check {
	const struct lookup *lookup;
	const struct fb_chain *chain;
	struct kt_err *err;
	int code;
};

static bool check_option(void *arg, const struct fb_change *v)
{
	struct option_check *check = arg;
	char *name;

	if (!is_option(v, check->lookup->topic))
		return true;
	name = strndup(v->name.s, (size_t)v->name.n);
	if (name)
		check->code = fb_chain_check_option(check->chain, check->lookup->cluster->plugins, name, check->err);
	else
		check->code = kt_fail(check->err, KT_ENOMEM, "out of memory");
	free(name);
	return !check->code;
}

/* Static options were looked at when they were set. */
static int check_options(const struct lookup *lookup, const struct fb_chain *chain, struct kt_err *err)
{
	struct option_check check = {lookup, chain, err, 0};

	fb_configs_each(lookup->cluster->configs, check_option, &check);
	return check.code;
}

/* What a topic's configuration comes to, before the topic has it. */
struct outcome {
	struct fb_topic *topic;
	struct kw_topic_conf conf;
	struct fb_retention retention;
	struct fb_compaction compaction;
	int64_t segmentMs;
	struct fb_chain *chain;
	char *key;                 /* NULL: the topic has that chain already, and keeps it */
};

static void discard(struct outcome *outcome)
{
	fb_chain_unref(outcome->chain);
	free(outcome->key);
}

static void install_segments(const struct outcome *outcome)
{
	for (int32_t i = 0; i < outcome->topic->npartitions; i++) {
		struct fb_partition *partition = &outcome->topic->partitions[i];

		pthread_mutex_lock(&partition->lock);
		partition->log.segmentBytes = (size_t)outcome->conf.segmentBytes;
		partition->log.segmentMs = outcome->segmentMs;
		pthread_mutex_unlock(&partition->lock);
	}
}

static void install(struct outcome *outcome)
{
	struct fb_topic *topic = outcome->topic;

	topic->conf = outcome->conf;
	topic->retention = outcome->retention;
	topic->compaction = outcome->compaction;
	install_segments(outcome);
	if (!outcome->key)
		return;
	fb_chain_unref(topic->chain);
	free(topic->chain_key);
	topic->chain = outcome->chain;
	topic->chain_key = outcome->key;
}

/* Does a mutant keep the topic's present validators, whatever the list is now? */
static bool keeps_chain(const struct fb_topic *topic, const char *classes)
{
	return topic->chain_key &&
	       (fb_mutant(FB_M_LIST_FIXED) || (fb_mutant(FB_M_LIST_STAYS) && (!classes || !*classes)));
}

/* anew: also where the key says that it would be the same, which does not tell static options. */
static int make_chain(struct lookup *lookup, struct outcome *outcome, bool anew, struct kt_err *err)
{
	struct fb_hook_env env = {config, fb_hook_line, lookup, lookup->cluster->plugins};
	const char *classes = config(lookup, classes_name);
	const char *present = outcome->topic->chain_key;
	bool stays;
	int code = 0;

	if (keeps_chain(outcome->topic, classes) && !anew)
		return 0;
	outcome->key = chain_key(lookup, classes ? classes : "");
	if (!outcome->key)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	stays = !anew && present && strcmp(outcome->key, present) == 0;
	if (!stays) {
		code = fb_chain_new(classes ? classes : "", &env, &outcome->chain, err);
		if (!code)
			code = check_options(lookup, outcome->chain, err);
	}
	if (code) {
		fb_chain_unref(outcome->chain);
		outcome->chain = NULL;
	}
	if (code == KT_EUNKNOWN && fb_mutant(FB_M_UNKNOWN_VALIDATOR_TAKEN))
		return 0;
	if (code && fb_mutant(FB_M_REFUSED_LIST_CLEARS)) {
		fb_chain_unref(outcome->topic->chain);
		outcome->topic->chain = NULL;
	}
	if (code || stays) {
		free(outcome->key);
		outcome->key = NULL;
	}
	return code;
}

/* On failure there is nothing to discard. */
static int work_out(struct fb_cluster *cluster, struct fb_topic *topic, bool anew, struct outcome *outcome,
		    struct kt_err *err)
{
	struct lookup lookup;
	int code;

	*outcome = (struct outcome){.topic = topic};
	lookup_init(&lookup, cluster, kw_str(topic->name), topic->replicas[0]);
	read_conf(&lookup, &outcome->conf);
	read_retention(&lookup, &outcome->retention);
	read_compaction(&lookup, &outcome->conf, &outcome->compaction);
	outcome->segmentMs = read_segment_ms(&lookup, outcome->compaction.compacts);
	code = make_chain(&lookup, outcome, anew, err);
	kw_arena_fini(&lookup.arena);
	return code;
}

int fb_topic_configure(struct fb_cluster *cluster, struct fb_topic *topic, struct kt_err *err)
{
	struct outcome outcome;
	int code = work_out(cluster, topic, false, &outcome, err);

	if (!code)
		install(&outcome);
	return code;
}

static int check_validators(struct fb_cluster *cluster, int32_t node, struct kt_err *err)
{
	struct fb_hook_env env = {config, NULL, NULL, cluster->plugins};
	struct fb_chain *chain = NULL;
	struct lookup lookup;
	const char *classes;
	int code;

	lookup_init(&lookup, cluster, KW_NULL_STR, node);
	env.arg = &lookup;
	classes = config(&lookup, classes_name);
	code = fb_chain_new(classes ? classes : "", &env, &chain, err);
	if (!code)
		code = check_options(&lookup, chain, err);
	fb_chain_unref(chain);
	kw_arena_fini(&lookup.arena);
	return code;
}

int fb_cluster_validators_check(struct fb_cluster *cluster, int32_t *node, struct kt_err *err)
{
	int code = 0;

	for (size_t i = 0; i + 1 < cluster->nnodes && !code; i++) {
		*node = cluster->nodes[i].id;
		code = check_validators(cluster, *node, err);
	}
	return code;
}

/* ---- changes ---- */

static bool touches(const struct fb_change *changes, size_t n, const struct fb_topic *topic)
{
	for (size_t i = 0; i < n; i++)
		if (changes[i].resourceType == FB_BROKER ||
		    (changes[i].resourceType == FB_TOPIC && kw_str_is(changes[i].resourceName, topic->name)))
			return true;
	return false;
}

/* Do the changes concern the validators of topics that have none of their own? */
static bool touches_all(const struct fb_change *changes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (changes[i].resourceType == FB_BROKER && is_of_validators(changes[i].name))
			return true;
	return false;
}

/* The values that changes would overwrite. Names are copied, too: those of a replacing request lie in the very values
 * that it deletes. NULL without memory. */
static struct fb_change *present(struct fb_cluster *cluster, const struct fb_change *changes, size_t n,
				 struct kw_arena *arena)
{
	struct fb_change *old = kw_alloc(arena, n * sizeof *old);

	for (size_t i = 0; old && i < n; i++) {
		struct kw_str v = fb_configs_dynamic(cluster->configs, (enum fb_scope)changes[i].resourceType,
						     changes[i].resourceName, changes[i].name);

		old[i] = (struct fb_change){changes[i].resourceType, kw_str_dup(arena, changes[i].resourceName),
					    kw_str_dup(arena, changes[i].name), kw_str_dup(arena, v)};
	}
	return arena->failed ? NULL : old;
}

/* Works out all topics before any is touched, so that one that cannot have its validators changes none. */
static int reconfigure(struct fb_cluster *cluster, const struct fb_change *changes, size_t n, bool anew, bool keep,
		       struct kt_err *err)
{
	struct outcome *outcomes = calloc(cluster->ntopics + 1, sizeof *outcomes);
	size_t done = 0;
	int32_t node;
	int code = outcomes ? 0 : kt_fail(err, KT_ENOMEM, "out of memory");

	if (!code && touches_all(changes, n))
		code = fb_cluster_validators_check(cluster, &node, err);
	for (size_t i = 0; i < cluster->ntopics && !code; i++) {
		if (!touches(changes, n, cluster->topics[i]))
			continue;
		code = work_out(cluster, cluster->topics[i], anew, &outcomes[done], err);
		if (!code)
			done++;
	}
	for (size_t i = 0; i < done; i++) {
		if (code || !keep)
			discard(&outcomes[i]);
		else
			install(&outcomes[i]);
	}
	free(outcomes);
	return code;
}

static int apply(struct fb_cluster *cluster, const struct fb_change *changes, size_t n, bool keep, struct kt_err *err)
{
	int32_t written = cluster->metadata.nrecords;
	struct kw_arena arena;
	struct fb_change *old;
	int code;

	kw_arena_init(&arena, 0);
	fb_write_configs(cluster, changes, n);   /* before: their strings may lie in what they change */
	old = present(cluster, changes, n, &arena);
	/* Whether it is too much for a batch is judged for the whole request. */
	code = old && fb_metadata_fits(&cluster->metadata) != KT_ENOMEM ? 0 : KT_ENOMEM;
	if (!code)
		code = fb_configs_apply(cluster->configs, changes, n);
	if (code)
		kt_fail(err, code, "out of memory");
	else
		code = reconfigure(cluster, old, n, false, keep, err);
	if (old && (code || !keep))
		fb_configs_apply(cluster->configs, old, n);
	if (code || !keep)
		fb_metadata_rewind(&cluster->metadata, written);
	kw_arena_fini(&arena);
	return code;
}

int fb_topics_reconfigure(struct fb_cluster *cluster, bool validators, struct kt_err *err)
{
	struct fb_change all = {FB_BROKER, kw_str(""), kw_str(classes_name), KW_NULL_STR};

	return reconfigure(cluster, &all, 1, validators, true, err);
}

int fb_cluster_configure(struct fb_cluster *cluster, const struct fb_change *changes, size_t n, struct kt_err *err)
{
	return apply(cluster, changes, n, true, err);
}

int fb_cluster_configure_check(struct fb_cluster *cluster, const struct fb_change *changes, size_t n,
			       struct kt_err *err)
{
	return apply(cluster, changes, n, false, err);
}
