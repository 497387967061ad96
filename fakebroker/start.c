#include "fakebroker/start.h"

#include <stdio.h>
#include <stdlib.h>

#include "fakebroker/cluster/log_line.h"
#include "fakebroker/configure.h"
#include "fakebroker/control/recorder.h"
#include "fakebroker/control/rules.h"
#include "fakebroker/hooks/plugin.h"
#include "fakebroker/hooks/workers.h"
#include "fakebroker/mutants.h"
#include "fakebroker/session.h"
#include "lib/text/address.h"

enum { RECORDED_BYTES = 64 * 1024 * 1024 };

/* ---- ports ---- */

static void recording_failed(const char *text)
{
	fb_log_line(KASSAY_ERROR, "--record %s", text);
}

static void recording_waits(const char *file)
{
	fb_log_line(KASSAY_WARN, "--record %s: nobody reads this pipe yet; starting when somebody does", file);
}

/* As often as what happens by itself may be due, but no less than once a second and no more than every 10 ms. */
static int tick_ms(const struct fb_cluster *cluster)
{
	static const char *const intervals[] = {
		"transaction.abort.timed.out.transaction.cleanup.interval.ms", "log.retention.check.interval.ms",
		"producer.id.expiration.check.interval.ms",
	};
	int64_t session = fb_configs_long(cluster->configs, FB_BROKER, KW_NULL_STR, FB_CONTROLLER_ID,
					  "broker.session.timeout.ms", 9000);
	/* Of a session, as Kafka looks for those that are over. */
	int64_t least = session / 4 < 1000 ? session / 4 : 1000;

	for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
		int64_t ms = fb_configs_long(cluster->configs, FB_BROKER, KW_NULL_STR, 1, intervals[i], least);

		least = ms < least ? ms : least;
	}
	return least < 10 ? 10 : (int)least;
}

static void on_tick(void *arg)
{
	fb_cluster_tick(arg, false);
}

static void on_warning(void *arg, const char *text)
{
	(void)arg;
	fb_log_line(KASSAY_WARN, "%s", text);
}

static int open_ports(struct fb_broker_process *process, const struct fb_settings *settings, struct kt_err *err)
{
	struct fb_cluster *cluster = process->cluster;
	const struct fb_server_ops ops = {
		.handle = fb_dispatch, .again = fb_dispatch_again, .drop = fb_dispatch_drop, .began = fb_session_began,
		.ended = fb_session_ended, .tick = on_tick, .warn = on_warning, .arg = cluster,
	};
	struct fb_server_opts opts = {
		.threads = settings->threads,
		.tick_ms = tick_ms(cluster),
		.max_frame = (int32_t)fb_configs_long(cluster->configs, FB_BROKER, KW_NULL_STR, 1,
						      "socket.request.max.bytes", 104857600),
	};
	int code;

	if (settings->record &&
	    fb_capture_new(settings->record, recording_waits, recording_failed, &process->capture, err) < 0)
		return err->code;
	opts.capture = process->capture;
	code = fb_server_new(&opts, &ops, &process->server, err);
	cluster->server = process->server;
	for (size_t i = 0; !code && i < cluster->nnodes; i++) {
		struct fb_node *node = &cluster->nodes[i];
		int port = node->controller ? settings->controller_port : settings->port ? settings->port + (int)i : 0;

		if (port > 65535)
			return kt_fail(err, KT_ERANGE,
				       "--port %d leaves no port for broker %d", settings->port, node->id);
		snprintf(node->host, sizeof node->host, "%s", settings->advertise);
		code = fb_server_listen(process->server, settings->host, port, node, &node->port, err);
	}
	return code;
}

static int open_control(struct fb_broker_process *process, const struct fb_settings *settings, struct kt_err *err)
{
	char url[330], address[KT_ADDRESS_MAX];
	int code = fb_control_new(process->cluster, settings->host, settings->control_port, &process->control,
				  &process->control_port, err);

	if (code)
		return code;
	kt_address(address, sizeof address, settings->advertise, process->control_port);
	snprintf(url, sizeof url, "http://%s", address);
	process->cluster->control_url = strdup(url);
	if (!process->cluster->control_url)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	return fb_cluster_set_static(process->cluster, FB_ALL_NODES, kw_str("kit.control.url"), kw_str(url), NULL, err);
}

/* ---- the whole ---- */

/* Of --metadata-version, or else of the scenario. */
static int choose_level(const struct fb_broker_process *process, const struct fb_settings *settings,
			const struct fb_release *release, int16_t *level, struct kt_err *err)
{
	const struct fb_range *range = &release->supported[FB_METADATA_VERSION];
	const char *version = settings->metadata_version;
	int16_t least = fb_release_least(release);
	const struct kt_json *doc = version ? NULL : &process->scenario.doc;

	if (!version)
		version = process->scenario.metadataVersion;
	*level = version ? fb_level_find(version) : release->level;
	if (*level >= least && *level <= range->max)
		return 0;
	return kt_json_fail(doc, doc ? "$.metadataVersion" : "--metadata-version", err, KT_ERANGE,
			    "release %s has no metadata.version %s; levels are %d (%s) to %d (%s)", release->name,
			    version, least, fb_level_name(least), range->max, fb_level_name(range->max));
}

static int choose_nodes(const struct fb_broker_process *process, const struct fb_settings *settings, int *nodes,
			struct kt_err *err)
{
	int needed = settings->scenario ? process->scenario.nodes : 1;

	*nodes = settings->nodes ? settings->nodes : needed;
	if (*nodes < needed)
		return kt_fail(err, KT_ERANGE, "--nodes %d, but %s has %d nodes", *nodes, settings->scenario, needed);
	return 0;
}

int fb_choose_release(const struct fb_settings *settings, const struct fb_release **release, struct kt_err *err)
{
	const char *name = settings->release ? settings->release : "4.4";
	const struct fb_release *other;
	char names[64] = "";
	size_t n = 0;

	*release = fb_release_find(name);
	if (*release && (*release)->verified)
		return 0;
	for (size_t i = 0; (other = fb_release_at(i)) && n < sizeof names; i++)
		if (other->verified)
			n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", other->name);
	return kt_fail(err, KT_EUNKNOWN, "--release %s: releases to choose from are %s", name, names);
}

static int make_cluster(struct fb_broker_process *process, const struct fb_settings *settings, struct kt_err *err)
{
	const struct fb_release *release;
	int16_t level = 0;
	int nodes = 0;
	int code = fb_choose_release(settings, &release, err);

	if (!code && settings->scenario)
		code = fb_scenario_load(&process->scenario, settings->scenario, err);
	if (!code)
		code = choose_level(process, settings, release, &level, err);
	if (!code)
		code = choose_nodes(process, settings, &nodes, err);
	return code ? code : fb_cluster_new(release, level, nodes, &process->cluster, err);
}

static int add_hooks(struct fb_broker_process *process, const struct fb_settings *settings, struct kt_err *err)
{
	struct fb_cluster *cluster = process->cluster;

	process->plugins = calloc(settings->plugins.n + 1, sizeof *process->plugins);
	cluster->lax = settings->lax;
	cluster->rules = fb_rules_new(cluster, (uint64_t)settings->seed);
	cluster->recorder = fb_recorder_new(FB_RECORDED_REQUESTS, RECORDED_BYTES);
	if (!process->plugins || !cluster->rules || !cluster->recorder)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	for (size_t i = 0; i < settings->plugins.n; i++) {
		int code = fb_plugin_check(settings->plugins.v[i], err);

		if (code)
			return code;
		process->plugins[i] = settings->plugins.v[i];
	}
	cluster->plugins = process->plugins;
	return 0;
}

static int keep_refused(struct fb_cluster *cluster, struct kt_err *err)
{
	static const char *const words[] = {"full", "metadata", "none"};   /* enum fb_refused_keep */
	enum fb_refused_keep keep = FB_KEEP_FULL;
	struct kw_arena arena;
	struct kw_str word;

	kw_arena_init(&arena, 0);
	word = fb_configs_get(cluster->configs, FB_BROKER, KW_NULL_STR, cluster->nodes[0].id, "kit.refused.records",
			      &arena, NULL);
	while (keep < FB_KEEP_NONE && !kw_str_is(word, words[keep]))
		keep++;
	kw_arena_fini(&arena);
	cluster->refused = fb_refused_new(keep);
	return cluster->refused ? 0 : kt_fail(err, KT_ENOMEM, "out of memory");
}

/* Without ports, for --check: addresses that nobody will be told. */
static void pretend_ports(struct fb_cluster *cluster)
{
	for (size_t i = 0; i < cluster->nnodes; i++) {
		snprintf(cluster->nodes[i].host, sizeof cluster->nodes[i].host, "127.0.0.1");
		cluster->nodes[i].port = 1;
	}
}

static int open_all_ports(struct fb_broker_process *process, const struct fb_settings *settings, struct kt_err *err)
{
	int code;

	if (settings->check) {
		pretend_ports(process->cluster);
		return 0;
	}
	code = open_ports(process, settings, err);
	return code ? code : open_control(process, settings, err);
}

static void blame_violation(struct fb_broker_process *process, struct kt_err *err)
{
	const struct fb_violation *v;
	struct kw_arena arena;
	int32_t node;

	kw_arena_init(&arena, 0);
	v = fb_cluster_violation(process->cluster, &node, &arena);
	if (v)
		fb_scenario_blame(&process->scenario, node, v->name,
				  v->layer == FB_LAYER_DEFAULT ? KW_NULL_STR : v->value, err);
	kw_arena_fini(&arena);
}

/* name: a list of classes, of which the node's cannot be had. */
static void blame_classes(struct fb_broker_process *process, int32_t node, const char *name, struct kt_err *err)
{
	struct kw_str value = fb_configs_static(process->cluster->configs, node, kw_str(name));

	if (value.n >= 0)
		fb_scenario_blame(&process->scenario, node, kw_str(name), value, err);
}

static int check_validators(struct fb_broker_process *process, struct kt_err *err)
{
	int32_t node;

	if (fb_cluster_validators_check(process->cluster, &node, err) < 0)
		blame_classes(process, node, "record.validator.classes", err);
	return err->code;
}

int fb_check_classes(struct fb_broker_process *process, struct kt_err *err)
{
	int32_t node;

	if (check_validators(process, err) == 0 && fb_cluster_observe_check(process->cluster, NULL, &node, err) < 0)
		blame_classes(process, node, "observer.class.name", err);
	return err->code;
}

/* The brokers join and get what they are configured with. Without observers they serve all the same, but who asks is
 * told. */
static int bring_up(struct fb_broker_process *process, const struct fb_settings *settings, struct kt_err *err)
{
	struct fb_cluster *cluster = process->cluster;

	if (fb_cluster_format(cluster, err) < 0)
		return err->code;
	if (fb_cluster_join(cluster, err) < 0) {
		blame_violation(process, err);
		return err->code;
	}
	if (check_validators(process, err) < 0)
		return err->code;
	if (settings->scenario &&
	    fb_scenario_populate(&process->scenario, cluster, cluster->levels.v[FB_METADATA_VERSION], err) < 0)
		return err->code;
	return settings->check ? fb_check_classes(process, err) :
				 fb_cluster_observe(cluster, NULL, NULL, NULL, false, err);
}

/* Nobody shall have a mutant, or a store that takes anything, without knowing. */
static int mutate(const struct fb_settings *settings, struct kt_err *err)
{
	int code = fb_mutants_switch(settings->mutants.v, settings->mutants.n, err);

	for (int i = 0; !code && i < FB_NMUTANTS; i++)
		if (fb_mutant((enum fb_mutant)i))
			fb_log_line(KASSAY_WARN, "mutant %s: %s", fb_mutants[i].name, fb_mutants[i].breaks);
	if (!code && settings->lax)
		fb_log_line(KASSAY_WARN, "--lax: what is produced is stored unjudged");
	return code;
}

int fb_prepare(struct fb_broker_process *process, const struct fb_settings *settings, struct kt_err *err)
{
	int code;

	memset(process, 0, sizeof *process);
	code = mutate(settings, err);
	if (!code)
		code = make_cluster(process, settings, err);
	if (!code)
		code = add_hooks(process, settings, err);
	return code || !settings->scenario ? code : fb_scenario_configure(&process->scenario, process->cluster, err);
}

int fb_read_listeners(struct fb_cluster *cluster, struct kt_err *err)
{
	int code = 0;

	for (size_t i = 0; i + 1 < cluster->nnodes && !code; i++)
		code = fb_auth_init(&cluster->nodes[i].auth, cluster->configs, cluster->nodes[i].id, err);
	return code;
}

int fb_start(struct fb_broker_process *process, const struct fb_settings *settings, struct kt_err *err)
{
	int code = fb_prepare(process, settings, err);

	if (!code)
		code = fb_configure(process->cluster, settings, err);
	if (!code)
		code = fb_read_listeners(process->cluster, err);
	if (!code)
		code = keep_refused(process->cluster, err);
	if (!code)
		code = open_all_ports(process, settings, err);
	return code ? code : bring_up(process, settings, err);
}

int fb_serve(struct fb_broker_process *process, struct kt_err *err)
{
	int code = fb_control_serve(process->control, err);

	return code ? code : fb_server_start(process->server, err);
}

void fb_stop_serving(struct fb_broker_process *process)
{
	fb_control_stop(process->control);
	process->control = NULL;
	fb_server_stop(process->server);
}

void fb_stop(struct fb_broker_process *process)
{
	fb_control_stop(process->control);
	fb_server_free(process->server);
	fb_capture_free(process->capture);
	if (process->cluster) {
		fb_cluster_close_observers(process->cluster);
		fb_rules_free(process->cluster->rules);
		fb_recorder_free(process->cluster->recorder);
		fb_refused_free(process->cluster->refused);
	}
	fb_workers_stop();
	fb_cluster_free(process->cluster);
	fb_scenario_fini(&process->scenario);
	free(process->plugins);
}

char *fb_bootstrap(const struct fb_cluster *cluster)
{
	struct kw_buf buf;
	char *text;

	kw_buf_init(&buf, 0);
	for (size_t i = 0; i + 1 < cluster->nnodes; i++) {
		char address[KT_ADDRESS_MAX];

		kt_address(address, sizeof address, cluster->nodes[i].host, cluster->nodes[i].port);
		if (i)
			kw_put_u8(&buf, ',');
		kw_put(&buf, address, strlen(address));
	}
	kw_put_u8(&buf, '\0');
	text = buf.failed ? NULL : strdup((char *)buf.p);
	kw_buf_fini(&buf);
	return text;
}
