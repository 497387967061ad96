#include <stdio.h>
#include <stdlib.h>

#include "lib/text/number.h"
#include "lib/text/opt.h"
#include "lib/text/table.h"
#include "loadgen/commands.h"

/* Everything but what needs reading of its own goes into these directly. */
static struct lg_plan plan;
static struct lg_topic topic;
static struct lg_phase phase;

static struct {
	const char *out;
	int engine, codec, acks;
	int64_t seed;
	bool no_verify, view, poisson, list;
	struct kt_list properties, configs;
} given = {.seed = 1};

static const char *const codecs[] = {"none", "gzip", "snappy", "lz4", "zstd", NULL};
static const char *const acks_names[] = {"all", "-1", "0", "1", NULL};
static const int acks_values[] = {-1, -1, 0, 1};

/* ---- values of a form of their own ---- */

/* The part of "A:B" before the colon, or all of "A"; *second gets the other one, which is the same if there is none. */
static const char *first_of(const char *value, const char **second)
{
	const char *colon = strchr(value, ':');

	*second = colon ? colon + 1 : value;
	return colon ? kw_strndup(&plan.arena, value, (size_t)(colon - value)) : value;
}

static int read_rate(void *arg, const char *value, struct kt_err *err)
{
	const char *second, *first = first_of(value, &second);
	int rc;

	(void)arg;
	if (!first)
		return kt_fail(err, KT_ENOMEM, "no memory");
	rc = kt_parse_real(first, 0, 1e8, &phase.rate.from, err);
	return rc ? rc : kt_parse_real(second, 0, 1e8, &phase.rate.to, err);
}

static int read_size(void *arg, const char *value, struct kt_err *err)
{
	const char *second, *first = first_of(value, &second);
	int64_t min, max;
	int rc;

	(void)arg;
	if (!first)
		return kt_fail(err, KT_ENOMEM, "no memory");
	rc = kt_parse_int(first, LG_STAMP_SIZE, LG_RECORD_MAX, &min, err);
	if (rc == 0)
		rc = kt_parse_int(second, min, LG_RECORD_MAX, &max, err);
	if (rc)
		return rc;
	phase.shape.size_min = (int32_t)min;
	phase.shape.size_max = (int32_t)max;
	return 0;
}

static int read_key(void *arg, const char *value, struct kt_err *err)
{
	(void)arg;
	if (strcmp(value, "none") == 0)
		phase.shape.key_mode = LG_KEY_NONE;
	else if (strcmp(value, "sequence") == 0)
		phase.shape.key_mode = LG_KEY_SEQUENCE;
	else if (kt_parse_int(value, 1, INT32_MAX, &phase.shape.keys, NULL) == 0)
		phase.shape.key_mode = LG_KEY_COUNT;
	else
		return kt_fail(err, KT_ETYPE, "must be none, sequence or a number of keys, not \"%s\"", value);
	return 0;
}

static int read_illegal(void *arg, const char *value, struct kt_err *err)
{
	struct lg_property part;
	double share;
	int rc = lg_property_cut(&plan.arena, value, &part, err);

	(void)arg;
	if (rc == 0)
		rc = kt_parse_real(part.value, 0, 1, &share, err);
	return rc ? rc : lg_illegal_mix_add(&phase.illegal, part.name, share, err);
}

static int read_header(void *arg, const char *value, struct kt_err *err)
{
	struct lg_property part;
	int rc = lg_property_cut(&plan.arena, value, &part, err);

	(void)arg;
	if (rc)
		return rc;
	if (phase.shape.nheaders == LG_HEADERS_MAX)
		return kt_fail(err, KT_ELIMIT, "more than %d headers", LG_HEADERS_MAX);
	if (strcmp(part.name, LG_STAMP_HEADER) == 0)
		return kt_fail(err, KT_EUSAGE, "the header %s is the load generator's own", LG_STAMP_HEADER);
	phase.shape.headers[phase.shape.nheaders++] = (struct lg_header_spec){part.name, part.value};
	return 0;
}

/* ---- options ---- */

static const struct kt_opt options[] = {
	KT_GROUP("Target"),
	KT_STR('b', "bootstrap-server", "HOST:PORT", &plan.bootstrap, "brokers to ask first, separated by commas"),
	KT_STR('t', "topic", "NAME", &phase.topic, "topic to write to; it must exist unless --partitions is given"),
	KT_INT(0, "partitions", "N", &topic.partitions, 1, 100000,
	       "create the topic with N partitions if it is missing"),
	KT_INT(0, "replication-factor", "N", &topic.replication_factor, 1, 100, "of a created topic (1)"),
	KT_LIST(0, "config", "NAME=VALUE", &given.configs, "config of a created topic; may be repeated"),
	KT_GROUP("Load"),
	KT_CALL('r', "rate", "R[:R2]", read_rate, NULL,
		"records per second, rising or falling evenly to R2; 0 or none: as fast as possible"),
	KT_REAL('d', "duration", "S", &phase.rate.seconds, 0.001, 1e6, "seconds"),
	KT_INT64('n', "records", "N", &phase.rate.count, 1, INT64_C(1) << 40,
		 "records; the load ends at whichever comes first"),
	KT_FLAG(0, "poisson", &given.poisson, "random distances between records, with the rate as their mean"),
	KT_CHOICE('e', "engine", "NAME", &given.engine, lg_engine_names,
		  "rdkafka: a real client's producer (default); wire: own requests, one batch each"),
	KT_INT(0, "batch", "N", &phase.batch, 1, 100000, "wire: records per batch (10)"),
	KT_INT(0, "in-flight", "N", &phase.in_flight, 1, 10000, "wire: requests without an answer per connection (32)"),
	KT_GROUP("Records"),
	KT_CALL('s', "size", "N[:N2]", read_size, NULL,
		"bytes of the value, drawn evenly from N to N2 (256); at least 64"),
	KT_CALL('k', "key", "none|sequence|N", read_key, NULL, "no key (default), a key per record, or one of N keys"),
	KT_CALL('H', "header", "NAME=VALUE", read_header, NULL, "header of every record; may be repeated"),
	KT_CHOICE('c', "codec", "NAME", &given.codec, codecs, "compression (none)"),
	KT_CHOICE('a', "acks", "all|-1|0|1", &given.acks, acks_names, "acknowledgements to wait for (all)"),
	KT_LIST('X', "property", "NAME=VALUE", &given.properties,
		"property of librdkafka; may be repeated. security.protocol and sasl.* hold for the kit's own "
		"requests, too"),
	KT_GROUP("Illegal records"),
	KT_CALL('i', "illegal", "NAME=SHARE", read_illegal, NULL,
		"share of records (rdkafka) or batches (wire) that are illegal in this way; may be repeated"),
	KT_FLAG(0, "list-illegal", &given.list, "print the kinds of illegal records and exit"),
	KT_FLAG(0, "show-rdkafka-view", &given.view, "also show what librdkafka reports for each kind"),
	KT_GROUP("Verification and output"),
	KT_FLAG(0, "no-verify", &given.no_verify, "do not read the records back"),
	KT_INT64(0, "seed", "N", &given.seed, 0, INT64_MAX, "seed of every random choice (1)"),
	KT_STR('o', "out", "DIR", &given.out, "write result.json and produce.hlog to this directory"),
	KT_END
};

static const struct kt_cli cli = {
	.program = "loadgen produce",
	.about = "Sends records at a set rate, reads them back and judges them. Latencies count from the time at which "
		 "each record was meant to be sent.",
	.options = options,
	.examples = "loadgen produce -b 127.0.0.1:9092 -t t --rate 1000 --duration 10 --codec lz4\n"
		    "loadgen produce -b 127.0.0.1:9092 -t t --partitions 3 --rate 100:5000 -d 30 -X linger.ms=0\n"
		    "loadgen produce -b 127.0.0.1:9092 -t t -e wire --rate 2000 -d 5 --illegal crc=0.01 --out out/crc",
	.exits = {"every record accounted for", "the verification failed, or an answer was not the expected one",
		  "wrong usage or directory", "the target cannot be reached",
		  "stopped, or the verification is incomplete"},
};

static int list_illegal(void)
{
	struct kt_table table;
	int rc;

	kt_table_init(&table, "name", "spoils", "error", "what is wrong", "refused by", NULL);
	for (size_t i = 0; i < lg_illegal_count(); i++) {
		const struct lg_illegal *illegal = lg_illegal_at(i);

		kt_table_add(&table, "%s", illegal->name);
		kt_table_add(&table, "%s", illegal->spoil_record ? "record" : "batch");
		kt_table_add(&table, "%d", illegal->code);
		kt_table_add(&table, "%s", illegal->what);
		kt_table_add(&table, "%s", illegal->who);
	}
	rc = kt_table_print(&table, stdout, kt_terminal_width(stdout));
	kt_table_fini(&table);
	return rc ? KT_EXIT_ENGINE : KT_EXIT_OK;
}

static int make_plan(struct kt_err *err)
{
	const char *member;
	int rc;

	if (!plan.bootstrap || !phase.topic)
		return kt_fail(err, KT_EUSAGE, "--%s is missing", plan.bootstrap ? "topic" : "bootstrap-server");
	phase.name = "produce";
	phase.engine = (enum lg_engine)given.engine;
	phase.codec = given.codec;
	phase.acks = acks_values[given.acks];
	phase.rate.poisson = given.poisson;
	phase.show_rdkafka_view = given.view;
	plan.seed = (uint64_t)given.seed;
	plan.verify = !given.no_verify;
	plan.phases = &phase;
	plan.nphases = 1;
	topic.name = phase.topic;
	plan.topics = &topic;
	plan.ntopics = topic.partitions > 0 ? 1 : 0;
	if (plan.ntopics == 0 && given.configs.n > 0)
		return kt_fail(err, KT_EUSAGE, "--config is of a topic that --partitions creates");
	rc = lg_properties_cut(&plan.arena, given.configs.v, given.configs.n, &topic.configs, err);
	if (rc == 0)
		rc = lg_properties_cut(&plan.arena, given.properties.v, given.properties.n, &plan.properties, err);
	for (int i = 0; i < plan.properties.n && rc == 0; i++)
		if (lg_property_owner(plan.properties.v[i].name))
			rc = kt_fail(err, KT_EUSAGE, "%s is not set by --property but by an option of its own",
				     plan.properties.v[i].name);
	return rc ? rc : lg_phase_check(&phase, &member, err);
}

int lg_cmd_produce(int argc, char **argv)
{
	struct kt_err err = {0};
	int status;

	lg_plan_init(&plan);
	lg_phase_init(&phase);
	topic.replication_factor = 1;
	if (kt_cli_begin(&cli, &argc, argv, &status)) {
		if (given.list) {
			status = list_illegal();
		} else if (make_plan(&err)) {
			kt_complain(cli.program, &err);
			status = KT_EXIT_USAGE;
		} else {
			status = lg_execute(cli.program, &plan, given.out, false);
		}
	}
	kt_list_fini(&given.properties);
	kt_list_fini(&given.configs);
	lg_plan_fini(&plan);
	return status;
}
