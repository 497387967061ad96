/* --list: what there is, for people and for programs. */
#include <stdio.h>
#include <string.h>

#include "fakebroker/control/rules.h"
#include "fakebroker/hooks/plugin.h"
#include "fakebroker/mutants.h"
#include "fakebroker/request.h"
#include "fakebroker/start.h"
#include "lib/text/table.h"

/* What a list is of. */
struct source {
	const struct fb_settings *settings;
	const struct fb_release *release;
};

static json_t *apis(const struct source *from)
{
	json_t *rows = json_array();
	const struct fb_api *api;

	for (size_t i = 0; (api = fb_api_at(i)); i++) {
		struct fb_api_versions range = fb_api_versions_in(from->release, api);
		char versions[32], listeners[32];

		snprintf(versions, sizeof versions, "%d-%d", range.min, range.max);
		snprintf(listeners, sizeof listeners, "%s%s%s", api->listeners & FB_ON_BROKER ? "broker" : "",
			 api->listeners == (FB_ON_BROKER | FB_ON_CONTROLLER) ? " " : "",
			 api->listeners & FB_ON_CONTROLLER ? "controller" : "");
		json_array_append_new(rows,
				      json_pack("{s:i, s:s, s:s, s:s}", "key", api->key, "name", kw_api_name(api->key),
						"versions", versions, "listeners", listeners));
	}
	return rows;
}

static json_t *releases(const struct source *from)
{
	json_t *rows = json_array();
	const struct fb_release *release;

	(void)from;
	for (size_t i = 0; (release = fb_release_at(i)); i++) {
		char levels[32];

		snprintf(levels, sizeof levels, "%d-%d", fb_release_least(release),
			 release->supported[FB_METADATA_VERSION].max);
		json_array_append_new(rows,
				      json_pack("{s:s, s:s, s:s}", "name", release->name, "metadataVersions", levels,
						"tables", release->verified ? "verified" : "not measured"));
	}
	return rows;
}

static json_t *options_text(const struct kassay_option *options)
{
	char text[1024] = "";
	size_t n = 0;

	for (; options && options->name && n < sizeof text - 1; options++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? " " : "", options->name);
	return json_string(text);
}

static void add_class(void *rows, const union fb_class *class)
{
	json_array_append_new(rows, json_pack("{s:s, s:o, s:s}", "name", class->head.name, "options",
					      options_text(class->head.options), "help",
					      class->head.help ? class->head.help : ""));
}

static json_t *classes(enum fb_hook_kind kind, const struct fb_settings *settings)
{
	json_t *rows = json_array();

	fb_class_each(kind, NULL, add_class, rows);
	for (size_t i = 0; i < settings->plugins.n; i++)
		fb_class_each(kind, settings->plugins.v[i], add_class, rows);
	return rows;
}

static json_t *validators(const struct source *from)
{
	return classes(FB_HOOK_VALIDATOR, from->settings);
}

static json_t *observers(const struct source *from)
{
	return classes(FB_HOOK_OBSERVER, from->settings);
}

static json_t *actions(const struct source *from)
{
	json_t *rows = json_array();

	(void)from;
#define X(sym, name, help) json_array_append_new(rows, json_pack("{s:s, s:s}", "name", name, "help", help));
	FB_ACTIONS(X)
#undef X
	return rows;
}

static json_t *mutants(const struct source *from)
{
	json_t *rows = json_array();

	(void)from;
	for (int i = 0; i < FB_NMUTANTS; i++)
		json_array_append_new(rows, json_pack("{s:s, s:s, s:s}", "name", fb_mutants[i].name, "breaks",
						      fb_mutants[i].breaks, "place", fb_mutants[i].place));
	return rows;
}

static json_t *faults(const struct source *from)
{
	json_t *rows = json_array();

	(void)from;
	for (int i = 1; i < FB_NFAULTS; i++) {
		const struct fb_fault_row *row = &fb_faults[i];
		char sent[256], kafka[256];

		snprintf(sent, sizeof sent, "%s: %s", row->api, row->sent);
		snprintf(kafka, sizeof kafka, "%s; %s", row->does, fb_fate_text(row->fate));
		json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s}", "name", row->name, "sent", sent, "kafka",
						      kafka, "releases", row->releases));
	}
	return rows;
}

static int print_table(json_t *rows)
{
	struct kt_table table = {0};
	json_t *row, *value;
	const char *name;
	size_t i;

	json_array_foreach(rows, i, row) {
		const char *heads[KT_TABLE_COLUMNS] = {NULL};
		size_t n = 0;

		if (i == 0) {
			json_object_foreach(row, name, value)
				heads[n++] = name;
			kt_table_init(&table, heads[0], heads[1], heads[2], heads[3], NULL);
		}
		json_object_foreach(row, name, value) {
			if (json_is_integer(value))
				kt_table_add(&table, "%lld", (long long)json_integer_value(value));
			else
				kt_table_add(&table, "%s", json_string_value(value));
		}
	}
	kt_table_print(&table, stdout, kt_terminal_width(stdout));
	kt_table_fini(&table);
	return KT_EXIT_OK;
}

int fb_list(const struct fb_settings *settings)
{
	static const struct {
		json_t *(*make)(const struct source *);
		const char *use;             /* told behind the table: how to get what it lists */
	} lists[] = {
		[FB_LIST_APIS] = {apis, NULL},
		[FB_LIST_RELEASES] = {releases, "--release NAME, of those that are verified"},
		[FB_LIST_VALIDATORS] = {validators, "of all topics: --set record.validator.classes=NAME,... --set "
						    "record.validator.NAME.OPTION=VALUE; or configurations of a topic"},
		[FB_LIST_OBSERVERS] = {observers, "--set observer.class.name=NAME,... --set "
						  "observer.NAME.OPTION=VALUE; or PUT /v1/observer"},
		[FB_LIST_ACTIONS] = {actions, "\"action\" of a rule: in the scenario, or PUT /v1/rules/NAME"},
		[FB_LIST_MUTANTS] = {mutants, "--mutant NAME"},
		[FB_LIST_FAULTS] = {faults, "all of them: --set kit.imitate.faults=true; of one broker: --node-set "
					    "ID:kit.imitate.faults=true"},
	};
	int status = KT_EXIT_OK;
	struct source from = {.settings = settings};
	struct kt_err err = {0};
	json_t *rows;

	if (fb_choose_release(settings, &from.release, &err) < 0) {
		kt_complain("fakebroker", &err);
		return KT_EXIT_USAGE;
	}
	for (size_t i = 0; i < settings->plugins.n; i++) {
		if (fb_plugin_check(settings->plugins.v[i], &err) == 0)
			continue;
		kt_complain("fakebroker", &err);
		return KT_EXIT_USAGE;
	}
	rows = lists[settings->list].make(&from);
	if (settings->json) {
		json_dumpf(rows, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		status = print_table(rows);
		if (lists[settings->list].use)
			printf("\n%s\n", lists[settings->list].use);
	}
	json_decref(rows);
	return status;
}
