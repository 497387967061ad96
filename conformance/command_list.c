/* list, show, requirements, lint: what the suite holds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/command.h"
#include "conformance/globs.h"
#include "conformance/lint.h"
#include "conformance/mutants.h"
#include "conformance/result.h"
#include "lib/text/near.h"
#include "lib/text/table.h"
#include "lib/wire/edit.h"

static void complain(void *arg, const struct kt_err *err)
{
	kt_complain(arg, err);
}

int cf_load_or_complain(struct cf_suite *suite, const char *data, const char *program)
{
	struct kt_err err = {0};

	if (cf_suite_load(suite, data, complain, (void *)(uintptr_t)program, &err) == 0)
		return 0;
	if (!err.file[0])
		kt_complain(program, &err);
	return KT_EXIT_USAGE;
}

/* ---- list ---- */

static struct {
	const char *data;
	struct kt_list only, skip;
	bool json, edits;
} list_given;

static const struct kt_opt list_options[] = {
	KT_LIST(0, "only", "GLOB", &list_given.only, "cases whose id fits; may be given again"),
	KT_LIST(0, "skip", "GLOB", &list_given.skip, "but not those"),
	KT_FLAG(0, "edits", &list_given.edits, "the edits of frames and batches in place of the cases"),
	KT_FLAG(0, "json", &list_given.json, "print JSON"),
	CF_DATA_OPTION(&list_given.data),
	KT_END
};

static const struct kt_cli list_cli = {
	.program = "conformance list", .about = "The cases of the suite, or the edits that they use.",
	.options = list_options,
	.examples = "  conformance list --only 'records.codec.*'",
	.exits = {[KT_EXIT_USAGE] = "wrong usage, or a file is not right; a glob fits no case"},
};

static bool listed(const struct cf_instance *instance)
{
	return (list_given.only.n == 0 || cf_globs_fit(&list_given.only, instance)) &&
	       !cf_globs_fit(&list_given.skip, instance);
}

static void list_json(const struct cf_suite *suite)
{
	json_t *out = json_array();

	for (size_t i = 0; i < suite->ninstances; i++) {
		const struct cf_instance *instance = &suite->instances[i];

		if (listed(instance))
			json_array_append_new(out, json_pack("{s:s, s:s, s:s, s:o}", "id", instance->id, "title",
							     instance->cas->title, "level",
							     cf_level_words[cf_case_level(instance->cas)],
							     "file", cf_clean_json(instance->cas->file)));
	}
	json_dumpf(out, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(out);
}

static void list_table(const struct cf_suite *suite)
{
	struct kt_table table;

	kt_table_init(&table, "case", "level", "origin", "title", NULL);
	for (size_t i = 0; i < suite->ninstances; i++) {
		const struct cf_instance *instance = &suite->instances[i];

		if (!listed(instance))
			continue;
		kt_table_add(&table, "%s", instance->id);
		kt_table_add(&table, "%s", cf_level_words[cf_case_level(instance->cas)]);
		kt_table_add(&table, "%s", cf_origin_words[cf_case_heaviest(instance->cas)->origin]);
		kt_table_add(&table, "%s", instance->cas->title);
	}
	kt_table_print(&table, stdout, kt_terminal_width(stdout));
	kt_table_fini(&table);
}

static void list_edits(void)
{
	const char *name, *members, *help;
	json_t *out = json_array();
	struct kt_table table;

	kt_table_init(&table, "edit", "members", "what it does", NULL);
	for (size_t i = 0; kw_edit_row(i, &name, &members, &help); i++) {
		kt_table_add(&table, "%s", name);
		kt_table_add(&table, "%s", members);
		kt_table_add(&table, "%s", help);
		json_array_append_new(out,
				      json_pack("{s:s, s:s, s:s}", "edit", name, "members", members, "help", help));
	}
	if (list_given.json)
		json_dumpf(out, stdout, JSON_INDENT(1));
	else
		kt_table_print(&table, stdout, kt_terminal_width(stdout));
	kt_table_fini(&table);
	json_decref(out);
}

int cf_command_list(int argc, char **argv)
{
	struct cf_suite suite;
	struct kt_err err = {0};
	int status;

	if (!kt_cli_begin(&list_cli, &argc, argv, &status))
		return status;
	if (list_given.edits) {
		list_edits();
		return KT_EXIT_OK;
	}
	status = cf_load_or_complain(&suite, list_given.data, list_cli.program);
	if (status == 0 && (cf_globs_check(&list_given.only, "--only", &suite, &err) ||
			    cf_globs_check(&list_given.skip, "--skip", &suite, &err))) {
		kt_complain(list_cli.program, &err);
		status = KT_EXIT_USAGE;
	}
	if (status == 0 && list_given.json)
		list_json(&suite);
	else if (status == 0)
		list_table(&suite);
	cf_suite_fini(&suite);
	kt_list_fini(&list_given.only);
	kt_list_fini(&list_given.skip);
	return status;
}

/* ---- show ---- */

static const char *show_data;

static const struct kt_opt show_options[] = {
	CF_DATA_OPTION(&show_data),
	KT_END
};

static const struct kt_cli show_cli = {
	.program = "conformance show", .args = "ID", .min_args = 1, .max_args = 1, .options = show_options,
	.about = "A case as it is written, with the requirements that it proves.",
	.examples = "  conformance show records.crc.mismatch",
	.exits = {[KT_EXIT_USAGE] = "wrong usage, there is no such case, or a file is not right"},
};

/* Also by the id of an instance ("...@v9"). */
static const struct cf_case *find(const struct cf_suite *suite, const char *id)
{
	struct kt_near near;

	kt_near_init(&near, id);
	for (size_t i = 0; i < suite->ninstances; i++) {
		if (strcmp(suite->instances[i].id, id) == 0 || strcmp(suite->instances[i].cas->id, id) == 0)
			return suite->instances[i].cas;
		kt_near_offer(&near, suite->instances[i].cas->id);
	}
	fprintf(stderr, "conformance show: unknown case \"%s\"%s%s%s\n", id, near.best ? "; did you mean \"" : "",
		near.best ? near.best : "", near.best ? "\"?" : "");
	return NULL;
}

static void print_case(const struct cf_case *cas)
{
	printf("%s\n%s\n\n", cas->id, cas->title);
	for (size_t i = 0; i < cas->nrequirements; i++) {
		const struct cf_requirement *row = cas->requirements[i];

		printf("%s  %s\n    %s\n    %s: %s\n", cf_level_words[row->level], row->id, row->text,
		       cf_origin_words[row->origin], row->source);
	}
	for (size_t i = 0; i < cas->nneeds; i++)
		printf("needs  %s\n", cas->needs[i]);
	putchar('\n');
	kt_put_clean(stdout, cas->file);
	putchar('\n');
	kt_put_clean_lines(stdout, cas->doc.text);
}

int cf_command_show(int argc, char **argv)
{
	const struct cf_case *cas;
	struct cf_suite suite;
	int status;

	if (!kt_cli_begin(&show_cli, &argc, argv, &status))
		return status;
	status = cf_load_or_complain(&suite, show_data, show_cli.program);
	if (status == 0) {
		cas = find(&suite, argv[1]);
		if (cas)
			print_case(cas);
		else
			status = KT_EXIT_USAGE;
	}
	cf_suite_fini(&suite);
	return status;
}

/* ---- requirements ---- */

static struct {
	const char *data;
	bool json;
} requirements_given;

static const struct kt_opt requirements_options[] = {
	KT_FLAG(0, "json", &requirements_given.json, "print JSON"),
	CF_DATA_OPTION(&requirements_given.data),
	KT_END
};

static const struct kt_cli requirements_cli = {
	.program = "conformance requirements",
	.options = requirements_options,
	.about = "What a broker must, should or may do, who says so, and how many cases prove it. Origin is "
		 "\"proposal\" for the words of a proposal, \"kafka\" for what Apache Kafka does, \"kit\" for a "
		 "decision of this kit where a proposal is silent.",
	.exits = {[KT_EXIT_USAGE] = "wrong usage, or a file is not right"},
};

static int proofs(const struct cf_suite *suite, const struct cf_requirement *row)
{
	int n = 0;

	for (size_t i = 0; i < suite->ncases; i++)
		for (size_t k = 0; k < suite->cases[i]->nrequirements; k++)
			n += suite->cases[i]->requirements[k] == row;
	return n;
}

static void requirements_json(const struct cf_suite *suite)
{
	json_t *out = json_array();

	for (size_t i = 0; i < suite->reg.n; i++) {
		const struct cf_requirement *row = &suite->reg.v[i];

		json_array_append_new(out,
				      json_pack("{s:s, s:s, s:s, s:s, s:s, s:i}", "id", row->id, "level",
						cf_level_words[row->level], "origin", cf_origin_words[row->origin],
						"source", row->source, "text", row->text, "cases", proofs(suite, row)));
	}
	json_dumpf(out, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(out);
}

static void requirements_table(const struct cf_suite *suite)
{
	struct kt_table table;

	kt_table_init(&table, "requirement", "level", "origin", "cases", "text", NULL);
	for (size_t i = 0; i < suite->reg.n; i++) {
		const struct cf_requirement *row = &suite->reg.v[i];

		kt_table_add(&table, "%s", row->id);
		kt_table_add(&table, "%s", cf_level_words[row->level]);
		kt_table_add(&table, "%s", cf_origin_words[row->origin]);
		kt_table_add(&table, "%d", proofs(suite, row));
		kt_table_add(&table, "%s", row->text);
	}
	kt_table_print(&table, stdout, kt_terminal_width(stdout));
	kt_table_fini(&table);
}

int cf_command_requirements(int argc, char **argv)
{
	struct cf_suite suite;
	int status;

	if (!kt_cli_begin(&requirements_cli, &argc, argv, &status))
		return status;
	status = cf_load_or_complain(&suite, requirements_given.data, requirements_cli.program);
	if (status == 0 && requirements_given.json)
		requirements_json(&suite);
	else if (status == 0)
		requirements_table(&suite);
	cf_suite_fini(&suite);
	return status;
}

/* ---- lint ---- */

static const char *lint_data;

static const struct kt_opt lint_options[] = {
	CF_DATA_OPTION(&lint_data),
	KT_END
};

static const struct kt_cli lint_cli = {
	.program = "conformance lint", .options = lint_options,
	.about = "Reads every case and requirement and says what is wrong, file by file. No target is needed.",
	.exits = {[KT_EXIT_OK] = "nothing found", [KT_EXIT_VERDICT] = "something is not right",
		  [KT_EXIT_USAGE] = "no cases are there"},
};

static void finding(void *arg, const char *where, const char *text)
{
	(void)arg;
	printf("%s: %s\n", where, text);
}

static size_t lint_mutants(const struct cf_suite *suite)
{
	struct cf_mutant_book book;
	struct kt_err err = {0};
	char dir[PATH_MAX];
	size_t found = 1;

	cf_path(dir, sizeof dir, "%s/mutants", suite->data.dir);
	if (cf_mutant_book_load(&book, dir, &err) == 0)
		found = cf_mutant_book_lint(&book, suite, finding, NULL);
	else
		finding(NULL, err.file, err.text);
	cf_mutant_book_fini(&book);
	return found;
}

int cf_command_lint(int argc, char **argv)
{
	struct cf_suite suite;
	size_t found;
	int status;

	if (!kt_cli_begin(&lint_cli, &argc, argv, &status))
		return status;
	if (cf_load_or_complain(&suite, lint_data, lint_cli.program)) {
		status = suite.data.dir[0] ? KT_EXIT_VERDICT : KT_EXIT_USAGE;
		cf_suite_fini(&suite);
		return status;
	}
	found = cf_lint(&suite, finding, NULL);
	found += lint_mutants(&suite);
	printf("%zu cases, %zu instances, %zu requirements: %zu findings\n", suite.ncases, suite.ninstances,
	       suite.reg.n, found);
	cf_suite_fini(&suite);
	return found ? KT_EXIT_VERDICT : KT_EXIT_OK;
}
