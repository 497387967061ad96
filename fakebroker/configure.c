#include "fakebroker/configure.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/text/number.h"

/* ---- files ---- */

/* The id in front of a colon; -1 if text does not begin with one. */
static int32_t id_prefix(const char *text, const char **rest)
{
	const char *colon = strchr(text, ':');
	char digits[12] = "";
	int64_t id;

	if (colon && colon - text < (ptrdiff_t)sizeof digits)
		snprintf(digits, sizeof digits, "%.*s", (int)(colon - text), text);
	if (kt_parse_int(digits, 0, INT32_MAX, &id, NULL) < 0)
		return -1;
	*rest = colon + 1;
	return (int32_t)id;
}

/* Kafka's list: names and commas. */
static bool has_role(const char *roles, const char *role)
{
	size_t n = strlen(role);

	while (*roles) {
		size_t len;

		roles += strspn(roles, ", \t");
		len = strcspn(roles, ", \t");
		if (len == n && memcmp(roles, role, n) == 0)
			return true;
		roles += len;
	}
	return false;
}

static void read_roles(struct fb_properties *file)
{
	const struct kt_prop *roles = kt_props_find(&file->props, "process.roles");

	file->broker = !roles || has_role(roles->value, "broker");
	file->controller = roles && has_role(roles->value, "controller");
}

/* -1: it does not say. */
static int read_id(struct fb_properties *file, int32_t *id, struct kt_err *err)
{
	const struct kt_prop *prop = kt_props_find(&file->props, "node.id");
	int64_t number;

	*id = -1;
	if (!prop)
		prop = kt_props_find(&file->props, "broker.id");
	if (!prop)
		return 0;
	if (kt_parse_int(prop->value, 0, INT32_MAX, &number, NULL) < 0) {
		kt_fail(err, KT_ERANGE, "%s=%s is no id of a node", prop->name, prop->value);
		err->line = prop->line;
		snprintf(err->file, sizeof err->file, "%s", file->file);
		return KT_ERANGE;
	}
	*id = (int32_t)number;
	return 0;
}

static int load(struct fb_properties *file, const char *given, bool by_id, bool only, struct kt_err *err)
{
	int32_t id, named;
	int code;

	file->file = given;
	id = id_prefix(given, &file->file);
	code = kt_props_load(&file->props, file->file, err);
	if (code)
		return code;
	read_roles(file);
	file->node = id;
	if (id >= 0 || (only && !by_id))
		return 0;
	code = read_id(file, &named, err);
	if (code)
		return code;
	if (named < 0 && !only)
		return kt_fail(err, KT_EUSAGE,
			       "--properties %s: which node's? It has no node.id; say ID:%s", given, given);
	file->node = named;
	return 0;
}

int fb_properties_load(struct fb_properties_files *files, const struct kt_list *given, bool by_id, struct kt_err *err)
{
	files->n = 0;
	files->v = calloc(given->n + 1, sizeof *files->v);
	if (!files->v)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	for (size_t i = 0; i < given->n; i++) {
		struct fb_properties *file = &files->v[files->n++];

		if (load(file, given->v[i], by_id, given->n == 1, err) < 0)
			return err->code;
		for (size_t k = 0; k < i; k++)
			if (files->v[k].node == file->node)
				return kt_fail(err, KT_EUSAGE,
					       "--properties: both %s and %s are of node %d", files->v[k].file,
					       file->file, file->node);
	}
	return 0;
}

void fb_properties_fini(struct fb_properties_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		kt_props_fini(&files->v[i].props);
	free(files->v);
}

/* ---- each value ---- */

static int each_property(const struct fb_properties *file, fb_given_fn *take, void *arg, struct kt_err *err)
{
	int code = 0;

	for (size_t i = 0; !code && i < file->props.n; i++) {
		const struct kt_prop *prop = &file->props.v[i];
		const struct fb_given given = {file->node, kw_str(prop->name), prop->value, file->file, prop->line,
					       "--properties"};

		code = take(arg, &given, err);
	}
	return code;
}

/* NAME=VALUE, the end of what the option was given. */
static int option(const char *name, const char *given, const char *text, int32_t node, fb_given_fn *take, void *arg,
		  struct kt_err *err)
{
	const char *equals = strchr(text, '=');
	struct kt_err why = {0};
	char shown[300];
	int code;

	if (!equals || equals == text)
		return kt_fail(err, KT_EUSAGE, "%s %s: NAME=VALUE is expected", name, given);
	snprintf(shown, sizeof shown, "%s %s", name, given);
	code = take(arg, &(struct fb_given){node, {text, (int32_t)(equals - text)}, equals + 1, NULL, 0, shown}, &why);
	return code ? kt_fail(err, code, "%s: %s", shown, why.text) : 0;
}

static int node_option(const char *given, fb_given_fn *take, void *arg, struct kt_err *err)
{
	const char *rest;
	int32_t id = id_prefix(given, &rest);

	if (id < 0)
		return kt_fail(err, KT_EUSAGE, "--node-set %s: ID:NAME=VALUE is expected", given);
	return option("--node-set", given, rest, id, take, arg, err);
}

int fb_given_each(const struct fb_properties_files *files, const struct fb_settings *settings, fb_given_fn *take,
		  void *arg, struct kt_err *err)
{
	int code = 0;

	for (size_t i = 0; !code && i < files->n; i++)
		code = each_property(&files->v[i], take, arg, err);
	for (size_t i = 0; !code && i < settings->set.n; i++)
		code = option("--set", settings->set.v[i], settings->set.v[i], FB_ALL_NODES, take, arg, err);
	for (size_t i = 0; !code && i < settings->node_set.n; i++)
		code = node_option(settings->node_set.v[i], take, arg, err);
	return code;
}

const char *fb_given_where(const char *file, int line, const char *option, char *text, size_t size)
{
	if (file)
		snprintf(text, size, "%s:%d", file, line);
	else
		snprintf(text, size, "%s", option);
	return text;
}

/* ---- setting them ---- */

static int at_file(const struct fb_given *given, int code, struct kt_err *err)
{
	if (code && given->file) {
		err->line = given->line;
		snprintf(err->file, sizeof err->file, "%s", given->file);
	}
	return code;
}

int fb_given_check(struct fb_cluster *cluster, const struct fb_given *given, struct kt_err *err)
{
	if (given->node == FB_ALL_NODES ||
	    (given->node != FB_CONTROLLER_ID && fb_cluster_node(cluster, given->node)))
		return 0;
	return at_file(given, kt_fail(err, KT_ERANGE, "there is no broker %d; brokers are 1 to %d", given->node,
				      (int)cluster->nnodes - 1), err);
}

static int set(void *arg, const struct fb_given *given, struct kt_err *err)
{
	struct fb_cluster *cluster = arg;
	int code = fb_given_check(cluster, given, err);
	char where[300];

	if (code)
		return code;
	code = fb_cluster_set_static(cluster, given->node, given->name, kw_str(given->value),
				     fb_given_where(given->file, given->line, given->option, where, sizeof where),
				     err);
	return at_file(given, code, err);
}

int fb_configure(struct fb_cluster *cluster, const struct fb_settings *settings, struct kt_err *err)
{
	struct fb_properties_files files;
	int code = fb_properties_load(&files, &settings->properties, false, err);

	if (!code)
		code = fb_given_each(&files, settings, set, cluster, err);
	fb_properties_fini(&files);
	return code;
}
