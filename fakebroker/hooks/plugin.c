#include "fakebroker/hooks/plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "fakebroker/hooks/observer.h"
#include "fakebroker/hooks/validators.h"
#include "lib/text/near.h"

union table {
	struct {
		uint32_t abi, struct_size;
	} head;
	struct kassay_validator_plugin validator;
	struct kassay_observer_plugin observer;
};

/* Sizes are those of the first release of the ABI, up to their last members then: before what comes behind these is
 * read, struct_size says whether a plugin has it. */
#define THROUGH(type, member) (offsetof(type, member) + sizeof((type){0}.member))
static const struct kind {
	const char *what, *symbol;
	uint32_t abi;
	size_t table_size, class_size;
} kinds[] = {
	[FB_HOOK_VALIDATOR] = {"validator", "kassay_validator", KASSAY_VALIDATOR_ABI,
			       THROUGH(struct kassay_validator_plugin, classes),
			       THROUGH(struct kassay_validator_class, close)},
	[FB_HOOK_OBSERVER] = {"observer", "kassay_observer", KASSAY_OBSERVER_ABI,
			      THROUGH(struct kassay_observer_plugin, classes),
			      THROUGH(struct kassay_observer_class, close)},
};

/* Class i of a plugin's table, or of the built-in ones if table is NULL; NULL behind the last. */
static const union fb_class *class_at(enum fb_hook_kind kind, const union table *table, size_t i)
{
	if (kind == FB_HOOK_VALIDATOR)
		return (const union fb_class *)(table ? table->validator.classes : fb_validators)[i];
	return (const union fb_class *)(table ? table->observer.classes : fb_observers)[i];
}

static const union fb_class *class_named(enum fb_hook_kind kind, const union table *table, const char *name,
					 struct kt_near *near)
{
	const union fb_class *class;
	size_t i;

	for (i = 0; (class = class_at(kind, table, i)); i++) {
		if (strcmp(class->head.name, name) == 0)
			return class;
		kt_near_offer(near, class->head.name);
	}
	return NULL;
}

static int unknown_name(enum fb_hook_kind kind, const char *name, const char *where, const struct kt_near *near,
			struct kt_err *err)
{
	if (near->best)
		return kt_fail(err, KT_EUNKNOWN, "no %s '%s'%s, did you mean '%s'", kinds[kind].what, name, where,
			       near->best);
	return kt_fail(err, KT_EUNKNOWN, "no %s '%s'%s", kinds[kind].what, name, where);
}

/* ---- plugin files ---- */

static const char name_chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

static int check_class(enum fb_hook_kind kind, const char *file, const union fb_class *class, struct kt_err *err)
{
	if (class->head.struct_size < kinds[kind].class_size)
		return kt_fail(err, KT_EPLUGIN, "plugin %s: a class of %zu bytes, at least %zu are needed", file,
			       class->head.struct_size, kinds[kind].class_size);
	/* The name becomes part of configs, of JSON and of metrics. */
	if (!class->head.name || !*class->head.name || class->head.name[strspn(class->head.name, name_chars)])
		return kt_fail(err, KT_EPLUGIN, "plugin %s: a class without a name, or with a wrong one", file);
	if (kind == FB_HOOK_VALIDATOR ? !class->validator.validate : !class->observer.record)
		return kt_fail(err, KT_EPLUGIN, "plugin %s: class %s has no function %s", file, class->head.name,
			       kind == FB_HOOK_VALIDATOR ? "validate" : "record");
	return 0;
}

static int check_table(enum fb_hook_kind kind, const char *file, const union table *table, struct kt_err *err)
{
	const struct kind *k = &kinds[kind];
	size_t i;
	int rc = 0;

	if (table->head.abi != k->abi)
		return kt_fail(err, KT_EPLUGIN, "plugin %s has %s ABI %u, this broker has %u", file, k->what,
			       table->head.abi, k->abi);
	if (table->head.struct_size < k->table_size)
		return kt_fail(err, KT_EPLUGIN, "plugin %s: %s has %u bytes, at least %zu are needed", file, k->symbol,
			       table->head.struct_size, k->table_size);
	if (kind == FB_HOOK_VALIDATOR ? !table->validator.classes : !table->observer.classes)
		return kt_fail(err, KT_EPLUGIN, "plugin %s: %s has no list of classes", file, k->symbol);
	for (i = 0; rc == 0 && class_at(kind, table, i); i++)
		rc = check_class(kind, file, class_at(kind, table, i), err);
	return rc;
}

static int open_file(const char *file, void **handle, struct kt_err *err)
{
	char path[PATH_MAX];

	/* dlopen() searches the library path for a name without a slash. */
	if (snprintf(path, sizeof path, "%s%s", strchr(file, '/') ? "" : "./", file) >= (int)sizeof path)
		return kt_fail(err, KT_EPLUGIN, "the name of plugin %.80s... is too long", file);
	*handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!*handle)
		return kt_fail(err, KT_EPLUGIN, "plugin %s cannot be loaded: %s", file, dlerror());
	return 0;
}

/* Fills out, or leaves it empty. */
static int find_in_file(enum fb_hook_kind kind, const char *file, const char *name, struct fb_class_ref *out,
			struct kt_err *err)
{
	const union table *table;
	struct kt_near near;
	char where[128];
	int rc = open_file(file, &out->handle, err);

	if (rc < 0)
		return rc;
	kt_near_init(&near, name);
	snprintf(where, sizeof where, " in plugin %s", file);
	table = dlsym(out->handle, kinds[kind].symbol);
	if (!table)
		rc = kt_fail(err, KT_EUNKNOWN, "no %s '%s': plugin %s has no symbol %s", kinds[kind].what, name, file,
			     kinds[kind].symbol);
	else if ((rc = check_table(kind, file, table, err)) == 0) {
		out->class = class_named(kind, table, name, &near);
		if (!out->class)
			rc = unknown_name(kind, name, where, &near, err);
	}
	if (rc < 0)
		fb_class_release(out);
	return rc;
}

/* Looks for a plain name in the plugins of the command line. KT_EUNKNOWN, without a text, if none has it. */
static int find_in_plugins(enum fb_hook_kind kind, const char *name, const struct fb_hook_env *env,
			   struct fb_class_ref *out, struct kt_err *err)
{
	size_t i;
	int rc = KT_EUNKNOWN;

	for (i = 0; rc == KT_EUNKNOWN && env->plugins && env->plugins[i]; i++) {
		struct kt_err why = {0};

		rc = find_in_file(kind, env->plugins[i], name, out, &why);
		if (rc < 0 && rc != KT_EUNKNOWN)
			kt_fail(err, rc, "%s", why.text);
	}
	return rc;
}

int fb_class_find(enum fb_hook_kind kind, const char *entry, const struct fb_hook_env *env, struct fb_class_ref *out,
		  struct kt_err *err)
{
	const char *hash = strrchr(entry, '#');
	struct kt_near near;
	char file[PATH_MAX];
	int rc;

	*out = (struct fb_class_ref){0};
	if (hash) {
		snprintf(file, sizeof file, "%.*s", (int)(hash - entry), entry);
		return find_in_file(kind, file, hash + 1, out, err);
	}
	kt_near_init(&near, entry);
	out->class = class_named(kind, NULL, entry, &near);
	if (out->class)
		return 0;
	rc = find_in_plugins(kind, entry, env, out, err);
	return rc == KT_EUNKNOWN ? unknown_name(kind, entry, "", &near, err) : rc;
}

int fb_plugin_check(const char *file, struct kt_err *err)
{
	const union table *table;
	void *handle;
	int rc = open_file(file, &handle, err), kind, found = 0;

	if (rc < 0)
		return rc;
	for (kind = FB_HOOK_VALIDATOR; rc == 0 && kind <= FB_HOOK_OBSERVER; kind++) {
		table = dlsym(handle, kinds[kind].symbol);
		if (table) {
			found = 1;
			rc = check_table((enum fb_hook_kind)kind, file, table, err);
		}
	}
	if (!found)
		rc = kt_fail(err, KT_EPLUGIN, "plugin %s has neither symbol %s nor %s", file,
			     kinds[FB_HOOK_VALIDATOR].symbol, kinds[FB_HOOK_OBSERVER].symbol);
	dlclose(handle);
	return rc;
}

void fb_class_each(enum fb_hook_kind kind, const char *file, void (*each)(void *arg, const union fb_class *class),
		   void *arg)
{
	const union table *table = NULL;
	const union fb_class *class;
	void *handle = NULL;
	size_t i;

	if (file && open_file(file, &handle, NULL) < 0)
		return;
	if (file)
		table = dlsym(handle, kinds[kind].symbol);
	if (!file || (table && check_table(kind, file, table, NULL) == 0))
		for (i = 0; (class = class_at(kind, table, i)); i++)
			each(arg, class);
	if (file)
		dlclose(handle);
}

void fb_class_release(struct fb_class_ref *ref)
{
	if (ref->handle)
		dlclose(ref->handle);
	*ref = (struct fb_class_ref){0};
}
