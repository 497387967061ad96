#include "fakebroker/settings.h"

#include <string.h>

#include "fakebroker/hooks/kassay_validator.h"

static const char *const lists[] = {"apis", "releases", "validators", "observers", "actions", "mutants", "faults",
				    NULL};
static const char *const levels[] = {"debug", "info", "warn", "error", NULL};

static struct fb_settings given = {
	.port = 9092, .host = "127.0.0.1", .threads = 1, .seed = 1, .log_level = KASSAY_WARN, .list = FB_LIST_NONE,
};

static const struct kt_opt options[] = {
	KT_GROUP("Cluster"),
	KT_INT(0, "nodes", "N", &given.nodes, 1, 100,
	       "brokers, with ids 1..N; the controller is 1000 (1, or as the scenario says)"),
	KT_STR(0, "release", "R", &given.release,
	       "Apache Kafka release to pretend to be, 3.9, 4.1 or 4.4: its configurations, features and API "
	       "versions (4.4)"),
	KT_STR(0, "metadata-version", "V", &given.metadata_version,
	       "level of metadata.version at the start: 29 or 4.2-IV1 (the newest: 33, 4.4-IV2)"),
	KT_LIST(0, "properties", "[ID:]FILE", &given.properties,
		"static configuration, a server.properties: of all nodes, or of node ID. Given more than once, a file "
		"without ID is of the node that its node.id names"),
	KT_LIST(0, "set", "NAME=VALUE", &given.set, "static configuration of all nodes; stronger than --properties"),
	KT_LIST(0, "node-set", "ID:NAME=VALUE", &given.node_set,
		"static configuration of one broker; stronger than --set, which the controller has, too"),
	KT_LIST(0, "plugin", "FILE.so", &given.plugins, "validators and observers of the file have plain names"),
	KT_GROUP("Addresses"),
	KT_STR(0, "host", "ADDR", &given.host, "address to listen on (127.0.0.1)"),
	KT_STR(0, "advertise", "ADDR", &given.advertise, "address that clients are told (that of --host)"),
	KT_INT('p', "port", "P", &given.port, 0, 65535,
	       "port of the first node, the others follow; 0 = any free ones (9092)"),
	KT_INT(0, "controller-port", "P", &given.controller_port, 0, 65535, "port of the controller listener (any)"),
	KT_INT(0, "control-port", "P", &given.control_port, 0, 65535, "port of the control HTTP API (any)"),
	KT_STR(0, "port-file", "FILE", &given.port_file,
	       "written when ready: {\"bootstrap\", \"controller\", \"control\", \"pid\"}"),
	KT_GROUP("Running"),
	KT_INT(0, "threads", "N", &given.threads, 1, 64, "event loops; with 1 everything happens in one order (1)"),
	KT_FLAG(0, "lax", &given.lax,
		"store what is produced without judging it: any bytes, if the request can be read and leads to a "
		"partition. A whole batch of magic 2 gets base offset and leader epoch and takes up lastOffsetDelta + "
		"1 offsets; from where there is none, the rest of the record set is kept untouched and takes up one "
		"offset. Neither sequences nor transactions are followed"),
	KT_STR(0, "record", "FILE", &given.record, "every byte received and sent, as a pcap file: for Wireshark, "
	       "inspect, replay. A pipe whose reader falls behind holds up the broker"),
	KT_INT64(0, "seed", "N", &given.seed, 0, INT64_MAX, "for rules with a probability (1)"),
	KT_LIST(0, "mutant", "NAME", &given.mutants,
		"break the broker on purpose, to test those who test it; may be given again"),
	KT_CHOICE(0, "log-level", "L", &given.log_level, levels, "debug, info, warn or error, to stderr (warn)"),
	KT_GROUP("Checking"),
	KT_FLAG(0, "check", &given.check,
		"do not start: say which configurations are illegal at --metadata-version (exit code 1), or what is "
		"wrong with the files (2). The nodes are those of the scenario, or else those of the files"),
	KT_LIST(0, "describe-output", "FILE", &given.described,
		"what kafka-configs.sh --describe printed: the configuration of a running cluster, for --check"),
	KT_GROUP("Lists"),
	KT_CHOICE(0, "list", "WHAT", &given.list, lists,
		  "apis, releases, validators, observers, actions, mutants or faults"),
	KT_FLAG(0, "json", &given.json, "the list, or what --check finds, as JSON"),
	KT_END
};

static const struct kt_cli cli = {
	.program = "fakebroker",
	.args = "[SCENARIO.json]",
	.max_args = 1,
	.about = "Starts a scriptable Kafka cluster in one process. It answers as Apache Kafka 4.4 does, and "
		 "implements record validators (KIP-729), configuration rules that depend on metadata.version "
		 "(KIP-1294) and observers (KIP-388). When it serves, it prints a line that begins with \"ready\"; "
		 "SIGTERM or SIGINT ends it.",
	.options = options,
	.examples = "  fakebroker --nodes 3\n"
		    "  fakebroker fixtures/scenarios/demo.json --port 0 --port-file /tmp/ports.json\n"
		    "  fakebroker --set record.validator.classes=NonEmptyValue "
		    "--set observer.class.name=TrafficObserver\n"
		    "  fakebroker scenario.json --check\n"
		    "  fakebroker --check --metadata-version 4.3 --properties node1/server.properties "
		    "--properties node2/server.properties\n"
		    "  fakebroker --record session.pcap\n",
	.exits = {
		[KT_EXIT_OK] = "ended by a signal, every expectation of the scenario met; or --check found nothing",
		[KT_EXIT_VERDICT] = "an expectation of a rule was not met; or --check found illegal configurations",
		[KT_EXIT_USAGE] = "wrong option, scenario, configuration, plugin, or a busy port",
		[KT_EXIT_ENGINE] = "out of memory or threads; the output cannot be written; or a validator, an "
				   "observer or the pipe of --record hung at the end",
	},
};

/* Clients that are told "any address" cannot connect. */
static bool is_any(const char *host)
{
	return !*host || strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

static int judge(const struct fb_settings *settings, struct kt_err *err)
{
	if (settings->json && settings->list == FB_LIST_NONE && !settings->check)
		return kt_fail(err, KT_EUSAGE, "--json is for --list and --check");
	if (settings->described.n && !settings->check)
		return kt_fail(err, KT_EUSAGE, "--describe-output is for --check");
	if (is_any(settings->advertise))
		return kt_fail(err, KT_EUSAGE,
			       "--host %s needs --advertise: the address that clients are told", settings->host);
	return 0;
}

bool fb_settings_read(struct fb_settings *settings, int argc, char **argv, int *status)
{
	struct kt_err err = {0};

	if (!kt_cli_begin(&cli, &argc, argv, status))
		return false;
	*settings = given;
	settings->scenario = argc > 1 ? argv[1] : NULL;
	if (!settings->advertise)
		settings->advertise = settings->host;
	if (judge(settings, &err) == 0)
		return true;
	kt_complain(cli.program, &err);
	*status = KT_EXIT_USAGE;
	return false;
}
