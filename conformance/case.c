#include "conformance/case.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/capability.h"
#include "conformance/vars.h"
#include "lib/text/near.h"
#include "lib/wire/message.h"

/* ---- the members of a case ---- */

/* At least two words of lower case, digits and dashes, with dots between. */
static bool is_slug(const char *id)
{
	bool dot = false, begin = true;

	for (const char *s = id; *s; s++) {
		if (*s == '.' && begin)
			return false;
		if (!islower((unsigned char)*s) && !isdigit((unsigned char)*s) && *s != '.' && *s != '-')
			return false;
		begin = *s == '.';
		dot |= begin;
	}
	return dot && !begin;
}

static int read_id(struct cf_case *cas, struct kt_obj *obj)
{
	size_t n;

	if (!kt_obj_str(obj, "id", &cas->id))
		return obj->err->code;
	if (!is_slug(cas->id) || strlen(cas->id) > 100)
		return kt_obj_fail(obj, "id", KT_ESYNTAX,
				   "must be words of a-z, 0-9 and \"-\" with dots between, at most 100 characters");
	n = strcspn(cas->id, ".");
	if (n >= sizeof cas->family)
		return kt_obj_fail(obj, "id", KT_ELIMIT, "the family's name is too long");
	memcpy(cas->family, cas->id, n);
	return 0;
}

/* What the requirements of a case are looked up in. */
struct lookup {
	const struct cf_register *reg;   /* NULL: they are not */
	bool foreign;                    /* those that it does not have are left out */
};

static int unknown_requirement(struct kt_arr *arr, const struct cf_register *reg, const char *id)
{
	struct kt_near near;

	kt_near_init(&near, id);
	for (size_t i = 0; i < reg->n; i++)
		kt_near_offer(&near, reg->v[i].id);
	if (near.best)
		return kt_arr_fail(arr, KT_EUNKNOWN, "unknown requirement \"%s\"; did you mean \"%s\"?", id, near.best);
	return kt_arr_fail(arr, KT_EUNKNOWN, "unknown requirement \"%s\"", id);
}

static int read_requirements(struct cf_case *cas, struct kt_obj *obj, const struct lookup *lookup)
{
	struct kt_arr arr;
	const char *id;

	cas->unregistered = true;
	if (!lookup->reg) {
		kt_obj_any(obj, "requirements");
		return 0;
	}
	if (!lookup->foreign)
		kt_obj_need(obj, "requirements", NULL);
	if (!kt_obj_array(obj, "requirements", &arr))
		return obj->err->code;
	cas->requirements = calloc(arr.n + 1, sizeof *cas->requirements);
	if (!cas->requirements)
		return kt_obj_fail(obj, NULL, KT_ENOMEM, "out of memory");
	while (kt_arr_str(&arr, &id)) {
		const struct cf_requirement *row = cf_requirement_find(lookup->reg, id);

		if (row)
			cas->requirements[cas->nrequirements++] = row;
		else if (!lookup->foreign)
			return unknown_requirement(&arr, lookup->reg, id);
	}
	if (arr.n == 0 && !lookup->foreign)
		return kt_obj_fail(obj, "requirements", KT_EUSAGE, "a case proves at least one requirement");
	cas->unregistered = cas->nrequirements == 0 || cas->nrequirements < arr.n;
	return obj->err->code;
}

static int read_needs(struct cf_case *cas, struct kt_obj *obj)
{
	struct kt_arr arr;
	const char *name;

	if (!kt_obj_array(obj, "needs", &arr))
		return obj->err->code;
	cas->needs = calloc(arr.n + 1, sizeof *cas->needs);
	if (!cas->needs)
		return kt_obj_fail(obj, NULL, KT_ENOMEM, "out of memory");
	while (kt_arr_str(&arr, &name)) {
		struct kt_err why = {0};

		if (cf_need_check(name, &why))
			return kt_arr_fail(&arr, why.code, "%s", why.text);
		cas->needs[cas->nneeds++] = name;
	}
	return obj->err->code;
}

/* {"Produce": [3, 9]} */
static int read_versions(struct cf_case *cas, struct kt_obj *obj)
{
	struct kt_obj versions;
	struct kt_arr arr;
	const char *name;

	cas->api = -1;
	if (!kt_obj_object(obj, "versions", &versions))
		return obj->err->code;
	if (json_object_size(versions.json) != 1)
		return kt_obj_fail(obj, "versions", KT_EUSAGE, "names one API");
	kt_obj_each(&versions, &name);
	cas->api = kw_api_key(name);
	if (cas->api < 0)
		return kt_obj_fail(&versions, name, KT_EUNKNOWN, "unknown API \"%s\"", name);
	if (!kt_obj_array(&versions, name, &arr))
		return obj->err->code;
	cas->versions = calloc(arr.n + 1, sizeof *cas->versions);
	if (!cas->versions)
		return kt_obj_fail(obj, NULL, KT_ENOMEM, "out of memory");
	while (kt_arr_int(&arr, kw_request(cas->api)->versions.min, kw_request(cas->api)->versions.max,
			  &cas->versions[cas->nversions]))
		cas->nversions++;
	if (obj->err->code == KT_OK && cas->nversions == 0)
		return kt_obj_fail(&versions, name, KT_EUSAGE, "names no version");
	return obj->err->code;
}

static int read_topics(struct cf_case *cas, struct kt_obj *obj)
{
	struct kt_obj topics, topic, configs;
	const char *name, *config, *value;
	int partitions;

	if (!kt_obj_object(obj, "topics", &topics))
		return obj->err->code;
	cas->topics = topics.json;
	while (kt_obj_each(&topics, &name)) {
		if (!kt_obj_object(&topics, name, &topic))
			break;
		kt_obj_int(&topic, "partitions", 1, 100, &partitions);
		kt_obj_object(&topic, "configs", &configs);
		while (kt_obj_each(&configs, &config))
			kt_obj_str(&configs, config, &value);
		kt_obj_done(&topic);
	}
	return obj->err->code;
}

/* [23, 29]: the case walks metadata.version and stays inside. */
static int read_levels(struct cf_case *cas, struct kt_obj *obj)
{
	struct kt_arr arr;

	cas->min_level = cas->max_level = -1;
	if (!kt_obj_array(obj, "levels", &arr))
		return obj->err->code;
	if (arr.n != 2)
		return kt_obj_fail(obj, "levels", KT_EUSAGE, "must be the lowest and the highest level");
	if (kt_arr_int(&arr, 1, 32767, &cas->min_level))
		kt_arr_int(&arr, cas->min_level, 32767, &cas->max_level);
	return obj->err->code;
}

static int read_case(struct cf_case *cas, struct kt_obj *obj, const struct lookup *lookup)
{
	struct kt_arr steps, cleanup;

	kt_obj_need(obj, "id", "title", "steps", NULL);
	if (read_id(cas, obj) || read_requirements(cas, obj, lookup) || read_needs(cas, obj) ||
	    read_versions(cas, obj) || read_topics(cas, obj) || read_levels(cas, obj))
		return obj->err->code;
	kt_obj_str(obj, "title", &cas->title);
	kt_obj_str(obj, "note", &cas->note);
	kt_obj_bool(obj, "exclusive", &cas->exclusive);
	kt_obj_bool(obj, "destructive", &cas->destructive);
	kt_obj_array(obj, "steps", &steps);
	kt_obj_array(obj, "cleanup", &cleanup);
	if (cf_steps_read(&cas->steps, &steps) || cf_steps_read(&cas->cleanup, &cleanup))
		return obj->err->code;
	if (steps.n == 0)
		return kt_obj_fail(obj, "steps", KT_EUSAGE, "a case has at least one step");
	return kt_obj_done(obj);
}

static int check_variables(const struct cf_case *cas, struct kt_err *err)
{
	struct kt_err found = {0};
	char path[sizeof found.path];

	if (cf_vars_check(cas->doc.root, &found) == 0)
		return 0;
	snprintf(path, sizeof path, "$.%.250s", found.path);
	return kt_json_fail(&cas->doc, path, err, found.code, "%s", found.text);
}

/* text is NULL for a file. */
static int load(const char *name, const char *text, const struct lookup *lookup, struct cf_case **out,
		struct kt_err *err)
{
	struct cf_case *cas = calloc(1, sizeof *cas);
	struct kt_obj obj;

	*out = NULL;
	if (!cas || !(cas->file = strdup(name))) {
		cf_case_free(cas);
		return kt_fail(err, KT_ENOMEM, "out of memory");
	}
	if ((text ? kt_json_parse(&cas->doc, name, text, strlen(text), err)
		  : kt_json_load(&cas->doc, name, err)) == 0) {
		kt_obj_root(&obj, &cas->doc, err);
		if (read_case(cas, &obj, lookup) == 0)
			check_variables(cas, err);
	}
	if (err->code) {
		cf_case_free(cas);
		return err->code;
	}
	*out = cas;
	return 0;
}

int cf_case_load(const char *file, const struct cf_register *reg, struct cf_case **out, struct kt_err *err)
{
	return load(file, NULL, &(struct lookup){.reg = reg}, out, err);
}

int cf_case_load_foreign(const char *file, const struct cf_register *reg, struct cf_case **out, struct kt_err *err)
{
	return load(file, NULL, &(struct lookup){.reg = reg, .foreign = true}, out, err);
}

int cf_case_parse(const char *name, const char *text, struct cf_case **out, struct kt_err *err)
{
	return load(name, text, &(struct lookup){0}, out, err);
}

void cf_case_free(struct cf_case *cas)
{
	if (!cas)
		return;
	cf_steps_fini(&cas->steps);
	cf_steps_fini(&cas->cleanup);
	kt_json_fini(&cas->doc);
	free(cas->requirements);
	free(cas->needs);
	free(cas->versions);
	free(cas->file);
	free(cas);
}

const struct cf_requirement *cf_case_heaviest(const struct cf_case *cas)
{
	const struct cf_requirement *heaviest = NULL;

	for (size_t i = 0; i < cas->nrequirements; i++)
		if (!heaviest || cas->requirements[i]->level < heaviest->level)
			heaviest = cas->requirements[i];
	return heaviest;
}

int cf_case_level(const struct cf_case *cas)
{
	return cas->unregistered ? CF_MUST : cf_case_heaviest(cas)->level;
}

/* ---- instances ---- */

static void make_instance(struct cf_instance *instance, const struct cf_case *cas, int version)
{
	instance->cas = cas;
	instance->version = version;
	if (version >= 0)
		snprintf(instance->id, sizeof instance->id, "%s@v%d", cas->id, version);
	else
		snprintf(instance->id, sizeof instance->id, "%s", cas->id);
}

int cf_case_instances(const struct cf_case *cas, struct cf_instance **v, size_t *n)
{
	size_t count = cas->nversions ? cas->nversions : 1;
	struct cf_instance *grown = realloc(*v, (*n + count) * sizeof *grown);

	if (!grown)
		return KT_ENOMEM;
	*v = grown;
	for (size_t i = 0; i < count; i++)
		make_instance(&grown[(*n)++], cas, cas->nversions ? cas->versions[i] : -1);
	return 0;
}

/* ---- the suite ---- */

static const struct cf_case *find_case(const struct cf_suite *suite, const char *id)
{
	for (size_t i = 0; i < suite->ncases; i++)
		if (strcmp(suite->cases[i]->id, id) == 0)
			return suite->cases[i];
	return NULL;
}

static int add_case(struct cf_suite *suite, const char *file, struct kt_err *err)
{
	const struct cf_case *other;
	struct cf_case *cas;

	if (cf_case_load(file, &suite->reg, &cas, err))
		return err->code;
	other = find_case(suite, cas->id);
	if (other) {
		kt_json_fail(&cas->doc, "$.id", err, KT_EUSAGE, "%s has the id \"%s\" too", other->file, cas->id);
		cf_case_free(cas);
		return err->code;
	}
	suite->cases[suite->ncases++] = cas;
	if (cf_case_instances(cas, &suite->instances, &suite->ninstances))
		return kt_fail(err, KT_ENOMEM, "out of memory");
	return 0;
}

static int load_cases(struct cf_suite *suite, cf_complain_fn *complain, void *arg, struct kt_err *err)
{
	char dir[PATH_MAX + 16];
	struct cf_files files;

	snprintf(dir, sizeof dir, "%s/cases", suite->data.dir);
	if (cf_files_find(&files, dir, err))
		goto out;
	suite->cases = calloc(files.n + 1, sizeof *suite->cases);
	if (!suite->cases) {
		kt_fail(err, KT_ENOMEM, "out of memory");
		goto out;
	}
	for (size_t i = 0; i < files.n; i++) {
		struct kt_err one = {0};

		if (add_case(suite, files.v[i], &one) == 0)
			continue;
		if (complain)
			complain(arg, &one);
		if (err->code == KT_OK)
			*err = one;
	}
out:
	cf_files_fini(&files);
	return err->code;
}

int cf_suite_load(struct cf_suite *suite, const char *data_option, cf_complain_fn *complain, void *arg,
		  struct kt_err *err)
{
	char dir[PATH_MAX + 16];

	memset(suite, 0, sizeof *suite);
	if (cf_data_find(&suite->data, data_option, err))
		return err->code;
	snprintf(dir, sizeof dir, "%s/requirements", suite->data.dir);
	if (cf_register_load(&suite->reg, dir, err)) {
		if (complain)
			complain(arg, err);
		return err->code;
	}
	return load_cases(suite, complain, arg, err);
}

void cf_suite_fini(struct cf_suite *suite)
{
	for (size_t i = 0; i < suite->ncases; i++)
		cf_case_free(suite->cases[i]);
	free(suite->cases);
	free(suite->instances);
	cf_register_fini(&suite->reg);
	memset(suite, 0, sizeof *suite);
}
