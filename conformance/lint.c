#include "conformance/lint.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conformance/capability.h"
#include "conformance/profile.h"
#include "conformance/vars.h"
#include "lib/text/near.h"
#include "lib/wire/batch.h"

/* What every instance has; see set_variables() in instance.c. */
static const char *const own_variables[] = {"run", "broker", "brokerId", "newBroker", "clusterId", "controllerId",
					    "principal", "level", "minLevel", "maxLevel", "version"};

struct lint {
	const struct cf_suite *suite;
	const struct cf_case *cas;
	json_t *names;               /* of the default profile */
	cf_finding_fn *fn;
	void *arg;
	size_t found;
};

__attribute__((format(printf, 3, 4)))
static void find(struct lint *lint, const char *where, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	lint->fn(lint->arg, where, text);
	lint->found++;
}

/* cases/records/crc.mismatch.json holds records.crc.mismatch. */
static void check_place(struct lint *lint)
{
	const struct cf_case *cas = lint->cas;
	char end[220];
	size_t n, m;

	snprintf(end, sizeof end, "/%s/%s.json", cas->family, cas->id + strlen(cas->family) + 1);
	n = strlen(cas->file);
	m = strlen(end);
	if (n < m || strcmp(cas->file + n - m, end) != 0)
		find(lint, cas->file, "the case %s belongs in cases%s", cas->id, end);
	if (!cf_family_find(&lint->suite->reg, cas->family))
		find(lint, cas->file, "no requirements/%s.json describes the family", cas->family);
}

/* It says how much a failure matters, so readers look for it first. */
static void check_order(struct lint *lint)
{
	const struct cf_requirement *heaviest = cf_case_heaviest(lint->cas), *first = lint->cas->requirements[0];

	if (heaviest != first)
		find(lint, lint->cas->file, "the requirement that weighs most, %s (%s), comes behind %s (%s)",
		     heaviest->id, cf_level_words[heaviest->level], first->id, cf_level_words[first->level]);
}

static bool has_strict(const struct cf_step *step)
{
	for (size_t i = 0; i < step->nalternatives; i++)
		if (step->alternatives[i].grade == CF_STRICT)
			return true;
	return step->nalternatives == 0;
}

static bool has_question(const struct cf_steps *steps)
{
	for (size_t i = 0; i < steps->n; i++)
		if (steps->v[i].nalternatives)
			return true;
	return false;
}

/* A case that moves what others see has to run alone. */
static bool disturbs(const struct cf_step *step)
{
	const char *resource = json_string_value(json_object_get(step->args, "resource"));

	if (strcmp(step->verb->name, "level") == 0)
		return true;
	return strcmp(step->verb->name, "alter") == 0 && resource && strncmp(resource, "broker:", 7) == 0 &&
	       !json_is_true(json_object_get(step->args, "validateOnly")) && json_object_get(step->args, "set");
}

static int note_variable(void *arg, const char *name)
{
	(void)name;
	*(bool *)arg = true;
	return 0;
}

/* "steps[0].send.body.topics[1]: text", with the line. */
__attribute__((format(printf, 3, 4)))
static void find_at(struct lint *lint, const char *path, const char *fmt, ...)
{
	char where[PATH_MAX + 600], text[400];
	va_list ap;

	snprintf(where, sizeof where, "%s:%d: %s", lint->cas->file, kt_json_line(&lint->cas->doc, path), path);
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	find(lint, where, "%s", text);
}

static void build_batches(struct lint *lint, const char *path, json_t *batches)
{
	char full[512];
	struct kw_buf out = {0};
	struct kt_err err = {0};
	bool varies = false;

	cf_each_variable(batches, note_variable, &varies);
	if (varies)
		return;
	if (kw_batches_from_json(batches, &out, &err)) {
		snprintf(full, sizeof full, "%s.%s", path, err.path);
		find_at(lint, full, "%s", err.text);
	}
	kw_buf_fini(&out);
}

/* Builds what is found under "batches" at any depth, for a misspelt member shows only then. Those that hold variables
 * cannot be built before a run. */
static void check_batches(struct lint *lint, json_t *json, const char *path)
{
	const char *name;
	json_t *value;
	size_t i;

	json_array_foreach(json, i, value) {
		char below[256];

		snprintf(below, sizeof below, "%s[%zu]", path, i);
		check_batches(lint, value, below);
	}
	json_object_foreach(json, name, value) {
		char below[256];

		snprintf(below, sizeof below, "%s.%s", path, name);
		if (strcmp(name, "batches") == 0 && json_is_array(value))
			build_batches(lint, path, value);
		else
			check_batches(lint, value, below);
	}
}

static const struct kw_field *field_named(const struct kw_struct *st, const char *name)
{
	for (uint32_t i = 0; i < st->nfields; i++)
		if (strcmp(st->fields[i].name, name) == 0 ||
		    (st->fields[i].alias && strcmp(st->fields[i].alias, name) == 0))
			return &st->fields[i];
	return NULL;
}

static void unknown_member(struct lint *lint, const struct kw_struct *st, const char *name, const char *path)
{
	struct kt_near near;

	kt_near_init(&near, name);
	for (uint32_t i = 0; i < st->nfields; i++)
		kt_near_offer(&near, st->fields[i].name);
	find_at(lint, path, near.best ? "%s has no such field; did you mean \"%s\"?" : "%s has no such field", st->name,
		near.best);
}

/* Are the members of a request's body fields of it, in any version? A misspelt one would show only in a run. */
static void check_body(struct lint *lint, const struct kw_struct *st, json_t *body, const char *path)
{
	const struct kw_field *field;
	char below[256];
	const char *name;
	json_t *value;
	size_t i;

	json_array_foreach(body, i, value) {
		snprintf(below, sizeof below, "%s[%zu]", path, i);
		check_body(lint, st, value, below);
	}
	json_object_foreach(body, name, value) {
		snprintf(below, sizeof below, "%s.%s", path, name);
		field = field_named(st, name);
		if (!field)
			unknown_member(lint, st, name, below);
		else if (field->sub)
			check_body(lint, field->sub, value, below);
	}
}

/* request: {"api", "body"}, of `send` and, several, of `race`. */
static void check_request(struct lint *lint, json_t *request, const char *path)
{
	const char *name = json_string_value(json_object_get(request, "api"));
	int api = name ? kw_api_key(name) : -1;
	char below[256];

	if (api < 0) {
		snprintf(below, sizeof below, "%s.api", path);
		find_at(lint, below, "there is no such request");
		return;
	}
	snprintf(below, sizeof below, "%s.body", path);
	check_body(lint, kw_request(api)->root, json_object_get(request, "body"), below);
}

static void check_requests(struct lint *lint, const struct cf_step *step)
{
	char path[120];
	json_t *request;
	size_t i;

	snprintf(path, sizeof path, "%s.%s", step->path, step->verb->name);
	if (strcmp(step->verb->name, "send") == 0)
		check_request(lint, step->args, path);
	if (strcmp(step->verb->name, "race") != 0)
		return;
	json_array_foreach(json_object_get(step->args, "requests"), i, request) {
		snprintf(path, sizeof path, "%s.race.requests[%zu]", step->path, i);
		check_request(lint, request, path);
	}
}

static void check_steps(struct lint *lint)
{
	const struct cf_case *cas = lint->cas;

	if (!has_question(&cas->steps))
		find(lint, cas->file, "no step expects anything");
	for (size_t i = 0; i < cas->steps.n; i++) {
		const struct cf_step *step = &cas->steps.v[i];
		char path[80];

		if (!has_strict(step))
			find(lint, cas->file, "%s: no alternative is strict: what is the right answer?", step->path);
		snprintf(path, sizeof path, "%s.%s", step->path, step->verb->name);
		check_batches(lint, step->args, path);
		check_requests(lint, step);
		if (disturbs(step) && !cas->exclusive)
			find(lint, cas->file,
			     "%s: changes what other cases see, and the case is not exclusive", step->path);
	}
}

/* What decides whether, when and how a topic is compacted: left to the broker's defaults, a right one that has others
 * would be blamed. */
static const char *const compaction_configs[] = {
	"cleanup.policy", "segment.ms", "segment.jitter.ms", "min.cleanable.dirty.ratio", "min.compaction.lag.ms",
	"max.compaction.lag.ms", "delete.retention.ms", "compression.type", "message.timestamp.type",
	"message.timestamp.before.max.ms", "message.timestamp.after.max.ms",
};

static bool compacts(const struct cf_case *cas)
{
	for (size_t i = 0; i < cas->steps.n; i++)
		if (strcmp(cas->steps.v[i].verb->name, "compact") == 0)
			return true;
	return false;
}

static void check_topics(struct lint *lint)
{
	const struct cf_case *cas = lint->cas;
	const char *topic;
	json_t *spec;

	if (!compacts(cas))
		return;
	json_object_foreach(cas->topics, topic, spec)
		for (size_t i = 0; i < sizeof compaction_configs / sizeof *compaction_configs; i++)
			if (!json_object_get(json_object_get(spec, "configs"), compaction_configs[i]))
				find(lint, cas->file, "topics.%s is compacted, and leaves %s to the broker's default",
				     topic, compaction_configs[i]);
}

static int check_variable(void *arg, const char *name)
{
	struct lint *lint = arg;
	const struct cf_steps *steps = &lint->cas->steps;

	for (size_t i = 0; i < sizeof own_variables / sizeof *own_variables; i++)
		if (strcmp(own_variables[i], name) == 0)
			return 0;
	if (json_object_get(lint->cas->topics, name) || json_object_get(lint->names, name))
		return 0;
	for (size_t i = 0; i < steps->n; i++)
		if (json_object_get(steps->v[i].capture, name))
			return 0;
	find(lint, lint->cas->file, "nothing sets the variable $%s", name);
	return 0;
}

static void check_requirements(struct lint *lint)
{
	const struct cf_register *reg = &lint->suite->reg;

	for (size_t i = 0; i < reg->n; i++) {
		bool proved = false;

		for (size_t c = 0; c < lint->suite->ncases && !proved; c++)
			for (size_t k = 0; k < lint->suite->cases[c]->nrequirements; k++)
				proved |= lint->suite->cases[c]->requirements[k] == &reg->v[i];
		if (!proved)
			find(lint, reg->families[reg->v[i].family].doc.name, "no case proves %s", reg->v[i].id);
	}
}

size_t cf_lint(const struct cf_suite *suite, cf_finding_fn *fn, void *arg)
{
	struct lint lint = {.suite = suite, .fn = fn, .arg = arg};
	char defaults[PATH_MAX + 32];
	struct cf_profile profile;
	struct kt_err err = {0};

	snprintf(defaults, sizeof defaults, "%s/profiles/default.json", suite->data.dir);
	if (cf_profile_load(&profile, defaults, NULL, &err))
		find(&lint, defaults, "%s", err.text);
	lint.names = profile.names;
	for (size_t i = 0; i < suite->ncases; i++) {
		lint.cas = suite->cases[i];
		check_place(&lint);
		check_order(&lint);
		check_steps(&lint);
		check_topics(&lint);
		cf_each_variable(lint.cas->doc.root, check_variable, &lint);
	}
	check_requirements(&lint);
	cf_profile_fini(&profile);
	return lint.found;
}
