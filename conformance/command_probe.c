/* probe: what a target can do. */
#include <stdio.h>
#include <string.h>

#include "conformance/command.h"
#include "conformance/report/report.h"
#include "conformance/setup.h"
#include "lib/text/table.h"

#define PROGRAM "conformance probe"

static struct {
	const char *bootstrap, *profile, *data, *write;
	bool json;
} given;

static const struct kt_opt options[] = {
	KT_STR('b', "bootstrap-server", "HOST:PORT", &given.bootstrap, "a broker of the cluster"),
	KT_STR(0, "profile", "FILE", &given.profile, "names and addresses to ask with"),
	KT_FLAG(0, "json", &given.json, "print everything that was found, API versions and features included"),
	KT_STR(0, "write", "FILE", &given.write, "write a profile that claims what was found"),
	CF_DATA_OPTION(&given.data),
	KT_END
};

static const struct kt_cli cli = {
	.program = PROGRAM, .options = options,
	.about = "Asks a broker what it can do, with requests that change nothing, and says which answer tells.",
	.examples = "  conformance probe --bootstrap-server localhost:9092\n"
		    "  conformance probe --bootstrap-server localhost:9092 --write my-broker.json",
	.exits = {
		[KT_EXIT_OK] = "the target was asked",
		[KT_EXIT_USAGE] = "wrong usage, a profile that is not right, or a file that cannot be written",
		[KT_EXIT_ENGINE] = "the target cannot be reached, or the program itself failed",
	},
};

static void print_table(const struct cf_target *target)
{
	bool missed[CF_NCAPABILITIES];
	struct kt_table table;
	char address[KT_ADDRESS_MAX], hint[400];

	printf("broker %d of %d at ", target->broker_id, target->brokers);
	kt_put_clean(stdout, kt_address(address, sizeof address, target->host, target->port));
	printf(", cluster ");
	kt_put_clean(stdout, target->cluster_id);
	printf("\n%s%s\n", target->note, target->note[0] ? "\n" : "");
	kt_table_init(&table, "capability", "", "evidence", NULL);
	for (int i = 0; i < CF_NCAPABILITIES; i++) {
		kt_table_add(&table, "%s", cf_capability_name((enum cf_capability)i));
		kt_table_add(&table, "%s", target->can[i].present ? "yes" : "no");
		kt_table_add(&table, "%s", target->can[i].evidence);
		missed[i] = true;
	}
	kt_table_print(&table, stdout, kt_terminal_width(stdout));
	kt_table_fini(&table);
	cf_target_hint(target, missed, hint, sizeof hint);
	if (*hint)
		printf("\n%s\n", hint);
}

static int write_profile(const struct cf_target *target, const char *bootstrap)
{
	json_t *profile = json_pack("{s:s}", "bootstrap", bootstrap), *claims = json_object();
	struct kt_err err = {0};

	for (int i = 0; i < CF_NCAPABILITIES; i++)
		json_object_set_new(claims, cf_capability_name((enum cf_capability)i),
				    json_boolean(target->can[i].present));
	json_object_set_new(profile, "capabilities", claims);
	if (kt_json_write(given.write, profile, JSON_INDENT(1), &err)) {
		kt_complain(PROGRAM, &err);
	} else {
		kt_put_clean(stderr, given.write);
		fprintf(stderr, ": a profile that claims these %d capabilities, present or absent; run with --profile ",
			CF_NCAPABILITIES);
		kt_put_clean(stderr, given.write);
		fputc('\n', stderr);
	}
	json_decref(profile);
	return err.code ? KT_EXIT_USAGE : KT_EXIT_OK;
}

static int print(const struct cf_target *target)
{
	json_t *json;
	bool ok;

	if (!given.json) {
		print_table(target);
		return KT_EXIT_OK;
	}
	json = cf_target_json(target);
	ok = cf_write_json(stdout, json);
	json_decref(json);
	return ok ? KT_EXIT_OK : KT_EXIT_ENGINE;
}

int cf_command_probe(int argc, char **argv)
{
	struct cf_setup setup;
	int status;

	if (!kt_cli_begin(&cli, &argc, argv, &status))
		return status;
	status = cf_setup_load(&setup, given.data, given.profile, PROGRAM);
	if (status == 0)
		status = cf_setup_target(&setup, given.bootstrap, PROGRAM);
	if (status == 0)
		status = print(&setup.target);
	if (status == 0 && given.write)
		status = write_profile(&setup.target, given.bootstrap ? given.bootstrap : setup.profile.bootstrap);
	cf_setup_fini(&setup);
	return status;
}
