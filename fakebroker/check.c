#include "fakebroker/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "fakebroker/config/parse.h"
#include "fakebroker/configure.h"
#include "fakebroker/describe_output.h"
#include "lib/text/file.h"

enum { MAX_OUTPUT = 64 * 1024 * 1024 };

/* Where a value was set. */
struct place {
	enum fb_scope scope;
	struct kw_str resource;      /* "*": all brokers' static configuration */
	bool isStatic;
	struct kw_str name;
	const char *file, *option;
	int line;
	bool hidden;                 /* it was not shown */
	struct place *next;
};

struct broker {
	int32_t id;
	bool known;                  /* what it has of static configuration */
};

struct gather {
	struct fb_check *check;
	struct fb_cluster *cluster;
	struct kw_arena *arena;
	struct place *places;        /* the last first */
	struct broker *brokers;      /* each once */
	size_t nbrokers;
	const struct fb_properties_files *files;   /* that say which nodes there are; NULL: the cluster's */
	int32_t controller;          /* whose view topics inherit from */
	struct kw_str *topics;       /* of descriptions */
	size_t ntopics;
	const char *file;            /* that is being read */
	struct kt_err *err;
};

static int no_memory(struct gather *g)
{
	return kt_fail(g->err, KT_ENOMEM, "out of memory");
}

/* Room for one more behind n elements of an array in the arena, which grows at every power of two. */
static void *grown(struct gather *g, void *v, size_t n, size_t size)
{
	void *more;

	if (n & (n - 1))
		return v;
	more = kw_alloc(g->arena, (n ? 2 * n : 1) * size);
	if (more && n)
		memcpy(more, v, n * size);
	return more;
}

static int add_broker(struct gather *g, int32_t id, bool known)
{
	struct broker *brokers;

	for (size_t i = 0; i < g->nbrokers; i++) {
		if (g->brokers[i].id != id)
			continue;
		g->brokers[i].known |= known;
		return 0;
	}
	brokers = grown(g, g->brokers, g->nbrokers, sizeof *brokers);
	if (!brokers)
		return no_memory(g);
	g->brokers = brokers;
	brokers[g->nbrokers++] = (struct broker){id, known};
	return 0;
}

static int add_topic(struct gather *g, struct kw_str topic)
{
	struct kw_str *topics;

	for (size_t i = 0; i < g->ntopics; i++)
		if (kw_str_eq(g->topics[i], topic))
			return 0;
	topics = grown(g, g->topics, g->ntopics, sizeof *topics);
	if (!topics)
		return no_memory(g);
	g->topics = topics;
	topics[g->ntopics] = kw_str_dup(g->arena, topic);
	return topics[g->ntopics++].n < 0 ? no_memory(g) : 0;
}

static struct kw_str resource_of(struct gather *g, int32_t node)
{
	return node == FB_ALL_NODES ? kw_str("*") : kw_str(kw_sprintf(g->arena, "%d", node));
}

static struct place *add_place(struct gather *g, const struct place *place)
{
	struct place *copy = kw_alloc(g->arena, sizeof *copy);

	if (!copy)
		return NULL;
	*copy = *place;
	copy->name = kw_str_dup(g->arena, place->name);
	copy->resource = kw_str_dup(g->arena, place->resource);
	copy->next = g->places;
	g->places = copy;
	return copy->name.n < 0 || copy->resource.n < 0 ? NULL : copy;
}

static int add_offender(struct gather *g, const struct fb_offender *offender)
{
	struct fb_check *check = g->check;
	struct fb_offender *offenders = grown(g, check->offenders, check->noffenders, sizeof *offenders);

	if (!offenders)
		return no_memory(g);
	check->offenders = offenders;
	offenders[check->noffenders++] = *offender;
	return 0;
}

/* The strongest place of a value, which is the last one that was read; NULL if nobody is known to have set it. */
static const struct place *find_place(const struct gather *g, enum fb_scope scope, struct kw_str resource,
				      bool isStatic, struct kw_str name)
{
	for (const struct place *place = g->places; place; place = place->next)
		if (place->scope == scope && place->isStatic == isStatic && kw_str_eq(place->resource, resource) &&
		    kw_str_eq(place->name, name))
			return place;
	return NULL;
}

/* ---- static values ---- */

/* "${file:/etc/secrets:key}": what Kafka gets from a ConfigProvider when it starts. */
static bool is_provided(struct kw_str value)
{
	const char *open = memmem(value.s, (size_t)value.n, "${", 2);
	const char *colon = open ? memchr(open, ':', (size_t)(value.s + value.n - open)) : NULL;

	return colon && memchr(colon, '}', (size_t)(value.s + value.n - colon));
}

/* A value that does not even satisfy its plain validator is an offender like the others. */
static int set_static(struct gather *g, int32_t node, const struct place *place, struct kw_str value)
{
	struct kt_err why = {0};
	struct fb_offender offender = {.violation = {.scope = FB_BROKER, .resource = place->resource,
						     .layer = FB_LAYER_STATIC, .name = place->name},
				       .file = place->file, .option = place->option, .line = place->line};
	struct fb_violation *violation = &offender.violation;
	char where[300];

	if (place->hidden ||
	    fb_cluster_set_static(g->cluster, node, place->name, value,
				  fb_given_where(place->file, place->line, place->option, where, sizeof where),
				  &why) == 0)
		return 0;
	violation->where = node == FB_ALL_NODES ? "all brokers static" :
			   fb_where(FB_BROKER, place->resource, FB_LAYER_STATIC, g->arena);
	violation->value = kw_str_dup(g->arena, value);
	violation->message = kw_strndup(g->arena, why.text, strlen(why.text));
	if (why.code == KT_ENOMEM || !violation->where || violation->value.n < 0 || !violation->message)
		return no_memory(g);
	return add_offender(g, &offender);
}

/* What would not start is not judged. Files make the nodes that they name; an option must be of one that there is. */
static int check_node(const struct gather *g, const struct fb_given *given, struct kt_err *err)
{
	if (!g->files)
		return fb_given_check(g->cluster, given, err);
	if (given->node == FB_ALL_NODES || given->file)
		return 0;
	for (size_t i = 0; i < g->nbrokers; i++)
		if (g->brokers[i].id == given->node)
			return 0;
	for (size_t i = 0; i < g->files->n; i++)
		if (g->files->v[i].node == given->node)
			return 0;
	return kt_fail(err, KT_ERANGE, "there is no node %d; the files name others", given->node);
}

static int take(void *arg, const struct fb_given *given, struct kt_err *err)
{
	struct gather *g = arg;
	struct kw_str value = kw_str(given->value);
	struct place place = {.scope = FB_BROKER, .resource = resource_of(g, given->node), .isStatic = true,
			      .name = given->name, .file = given->file, .line = given->line,
			      .hidden = is_provided(value)};
	const struct place *added;

	if (check_node(g, given, err) < 0)
		return err->code;
	if (!given->file)
		place.option = kw_strndup(g->arena, given->option, strlen(given->option));
	added = add_place(g, &place);
	return added ? set_static(g, given->node, added, value) : no_memory(g);
}

static int note_nodes(struct gather *g, const struct fb_properties_files *files)
{
	for (size_t i = 0; i < files->n; i++) {
		const struct fb_properties *file = &files->v[i];

		if (file->node == FB_ALL_NODES)
			continue;
		if (file->controller && g->controller < 0)
			g->controller = file->node;
		if (file->broker && add_broker(g, file->node, true) < 0)
			return KT_ENOMEM;
	}
	return 0;
}

/* ---- descriptions ---- */

/* Checked to be one. */
static int32_t id_of(struct kw_str resource)
{
	int64_t id = 0;

	fb_parse_long(resource, 0, INT32_MAX, &id);
	return (int32_t)id;
}

static int output_heading(void *arg, enum fb_scope scope, struct kw_str resource, bool all, struct kt_err *err)
{
	struct gather *g = arg;

	(void)err;   /* it is g's */
	if (scope == FB_TOPIC)
		return add_topic(g, resource);
	return scope == FB_BROKER && resource.n ? add_broker(g, id_of(resource), all) : 0;
}

static int output_value(void *arg, const struct fb_output_value *value, struct kt_err *err)
{
	struct gather *g = arg;
	const struct fb_change change = {(int8_t)value->scope, value->resource, value->name, value->value};
	const struct place place = {.scope = value->scope, .resource = value->resource, .isStatic = value->isStatic,
				    .name = value->name, .file = g->file, .line = value->line,
				    .hidden = value->value.n < 0};
	const struct place *added = add_place(g, &place);

	(void)err;
	if (!added)
		return no_memory(g);
	if (value->isStatic)
		return set_static(g, id_of(value->resource), added, value->value);
	return !place.hidden && fb_configs_apply(g->cluster->configs, &change, 1) < 0 ? no_memory(g) : 0;
}

static int read_outputs(struct gather *g, const struct kt_list *files)
{
	const struct fb_output_ops ops = {output_value, output_heading, g};
	int code = 0;

	for (size_t i = 0; !code && i < files->n; i++) {
		char *text;
		size_t n;

		g->file = files->v[i];
		code = kt_file_read(g->file, MAX_OUTPUT, &text, &n, g->err);
		if (!code)
			code = fb_output_read(g->file, text, n, &ops, g->err);
		free(text);
	}
	return code;
}

/* ---- the cluster that all of this makes ---- */

/* Does a scenario or option say how many brokers there are? Else the files do. */
static bool names_nodes(const struct fb_check *check, const struct fb_settings *settings)
{
	return settings->nodes || check->process.scenario.namesNodes;
}

/* What is known of running brokers is weaker than the files that they are to have. */
static int gather(struct gather *g, const struct fb_settings *settings)
{
	bool by_files = !names_nodes(g->check, settings);
	struct fb_properties_files files;
	int code = fb_properties_load(&files, &settings->properties, by_files, g->err);

	if (!code)
		code = read_outputs(g, &settings->described);
	if (!code)
		code = note_nodes(g, &files);
	g->files = by_files && (files.n || g->nbrokers) ? &files : NULL;
	if (!code)
		code = fb_given_each(&files, settings, take, g, g->err);
	g->files = NULL;
	for (size_t i = 0; !code && i + 1 < g->cluster->nnodes; i++)
		if (!by_files || g->nbrokers == 0)
			code = add_broker(g, g->cluster->nodes[i].id, true);
	fb_properties_fini(&files);
	return code;
}

static int compare_ids(const void *pa, const void *pb)
{
	const struct broker *a = pa, *b = pb;

	return (a->id > b->id) - (a->id < b->id);
}

/* What the broker will report; what is set but hidden counts as sensitive. */
static int view_broker(struct gather *g, const struct broker *broker, struct fb_broker_view *view)
{
	int32_t id = broker->id;
	struct kw_str resource = resource_of(g, id);
	struct fb_static_config *reported, *statics;
	int n = fb_configs_report(g->cluster->configs, id, g->arena, &reported);
	size_t hidden = 0;

	for (const struct place *place = g->places; place; place = place->next)
		hidden += place->hidden;
	statics = n < 0 ? NULL : kw_alloc(g->arena, ((size_t)n + hidden) * sizeof *statics);
	if (!statics)
		return no_memory(g);
	if (n)
		memcpy(statics, reported, (size_t)n * sizeof *statics);
	*view = (struct fb_broker_view){.id = id, .reported = broker->known, .statics = statics, .nstatics = (size_t)n};
	for (const struct place *place = g->places; place; place = place->next) {
		bool ours = kw_str_eq(place->resource, resource) || kw_str_is(place->resource, "*");

		if (place->hidden && place->isStatic && ours &&
		    find_place(g, FB_BROKER, place->resource, true, place->name) == place)
			statics[view->nstatics++] = (struct fb_static_config){place->name, KW_NULL_STR, true};
	}
	return 0;
}

static struct fb_cluster_view *view_cluster(struct gather *g)
{
	struct fb_cluster_view *view = fb_cluster_view(g->cluster, g->arena);
	struct fb_broker_view *brokers = kw_alloc(g->arena, g->nbrokers * sizeof *brokers);

	for (size_t i = 0; view && i < view->ntopics; i++)
		if (add_topic(g, view->topics[i]) < 0)
			return NULL;
	if (!view || !brokers)
		return NULL;
	qsort(g->brokers, g->nbrokers, sizeof *g->brokers, compare_ids);
	for (size_t i = 0; i < g->nbrokers; i++)
		if (view_broker(g, &g->brokers[i], &brokers[i]) < 0)
			return NULL;
	view->brokers = brokers;
	view->nbrokers = g->nbrokers;
	view->topics = g->topics;
	view->ntopics = g->ntopics;
	if (g->controller >= 0)
		view->controllerId = g->controller;
	return view;
}

/* ---- what is illegal ---- */

static void place_in_scenario(const struct gather *g, struct fb_offender *offender)
{
	const struct fb_violation *v = &offender->violation;
	struct kt_err err = {.code = KT_ERANGE};

	if (v->scope == FB_TOPIC)
		fb_scenario_blame_topic(&g->check->process.scenario, v->resource, v->name, v->value, &err);
	else if (v->scope == FB_BROKER && v->resource.n)
		fb_scenario_blame(&g->check->process.scenario, id_of(v->resource), v->name,
				  v->layer == FB_LAYER_DEFAULT ? KW_NULL_STR : v->value, &err);
	if (!err.file[0])
		return;
	offender->file = kw_strndup(g->arena, err.file, strlen(err.file));
	offender->path = kw_strndup(g->arena, err.path, strlen(err.path));
	offender->line = err.line;
}

static void find_origin(const struct gather *g, struct fb_offender *offender)
{
	const struct fb_violation *v = &offender->violation;
	bool isStatic = v->layer == FB_LAYER_STATIC;
	const struct place *place = v->layer == FB_LAYER_DEFAULT ? NULL :
				    find_place(g, v->scope, v->resource, isStatic, v->name);

	if (!place && isStatic)
		place = find_place(g, FB_BROKER, kw_str("*"), true, v->name);
	if (!place) {
		place_in_scenario(g, offender);
		return;
	}
	offender->file = place->file;
	offender->line = place->line;
	offender->option = place->option;
}

/* Is a static value refused that stands where this default is said to? Then there is no default. */
static bool is_refused(const struct fb_check *check, const struct fb_violation *v)
{
	for (size_t i = 0; v->scope == FB_BROKER && v->layer == FB_LAYER_DEFAULT && i < check->noffenders; i++) {
		const struct fb_violation *other = &check->offenders[i].violation;

		if (other->layer == FB_LAYER_STATIC && kw_str_eq(other->name, v->name) &&
		    (kw_str_eq(other->resource, v->resource) || kw_str_is(other->resource, "*")))
			return true;
	}
	return false;
}

static int add_violations(struct gather *g, const struct fb_violation *found, int n)
{
	if (n < 0)
		return no_memory(g);
	for (int i = 0; i < n; i++) {
		struct fb_offender offender = {.violation = found[i]};

		if (is_refused(g->check, &found[i]))
			continue;
		find_origin(g, &offender);
		if (add_offender(g, &offender) < 0)
			return KT_ENOMEM;
	}
	return 0;
}

/* Each broker looks at its sensitive ones itself; the controller at all others. */
static int find_offenders(struct gather *g)
{
	struct fb_cluster_view *view = view_cluster(g);
	struct fb_violation *found = NULL;
	int code = view ? 0 : no_memory(g), n;

	for (size_t i = 0; !code && i < g->nbrokers; i++) {
		n = fb_sensitive_violations(view, g->brokers[i].id, g->check->level, g->arena, &found);
		code = add_violations(g, found, n);
	}
	if (code)
		return code;
	n = fb_violations(view, g->check->level, g->arena, &found);
	return add_violations(g, found, n);
}

static int add_unjudged(struct gather *g, enum fb_scope scope, struct kw_str resource, bool isStatic,
			struct kw_str name)
{
	struct fb_check *check = g->check;
	struct fb_unjudged *unjudged = grown(g, check->unjudged, check->nunjudged, sizeof *unjudged);
	const char *where = fb_where(scope, resource, isStatic ? FB_LAYER_STATIC : FB_LAYER_DYNAMIC, g->arena);

	if (!unjudged || !where)
		return no_memory(g);
	check->unjudged = unjudged;
	unjudged[check->nunjudged++] = (struct fb_unjudged){where, name};
	return 0;
}

/* Brokers of which nothing static is known, and hidden values of configurations that have rules. */
static int find_unjudged(struct gather *g)
{
	int code = 0;

	for (size_t i = 0; !code && i < g->nbrokers; i++)
		if (!g->brokers[i].known)
			code = add_unjudged(g, FB_BROKER, resource_of(g, g->brokers[i].id), true, KW_NULL_STR);
	for (const struct place *place = g->places; !code && place; place = place->next) {
		const struct fb_configdef *def = fb_configdef_find(g->cluster->defs, place->scope, place->name);

		if (place->hidden && def && def->nmv &&
		    find_place(g, place->scope, place->resource, place->isStatic, place->name) == place)
			code = add_unjudged(g, place->scope, place->resource, place->isStatic, place->name);
	}
	return code;
}

/* ---- the whole ---- */

int fb_check(struct fb_check *check, const struct fb_settings *settings, struct kt_err *err)
{
	struct gather g = {.check = check, .arena = &check->arena, .controller = -1, .err = err};
	bool by_files = false;

	memset(check, 0, sizeof *check);
	kw_arena_init(&check->arena, 0);
	if (fb_prepare(&check->process, settings, err) < 0)
		return err->code;
	g.cluster = check->process.cluster;
	check->level = g.cluster->levels.v[FB_METADATA_VERSION];
	if (gather(&g, settings) < 0)
		return err->code;
	by_files = !names_nodes(check, settings) && (settings->properties.n || settings->described.n);
	if (!by_files && (fb_read_listeners(g.cluster, err) < 0 || fb_cluster_format(g.cluster, err) < 0))
		return err->code;
	/* A running cluster has classes and listeners that are not here. */
	if (!by_files && fb_check_classes(&check->process, err) < 0)
		return err->code;
	if (settings->scenario && fb_scenario_populate(&check->process.scenario, g.cluster, FB_NO_LEVEL, err) < 0)
		return err->code;
	return find_offenders(&g) < 0 || find_unjudged(&g) < 0 ? err->code : 0;
}

void fb_check_fini(struct fb_check *check)
{
	fb_stop(&check->process);
	kw_arena_fini(&check->arena);
}
