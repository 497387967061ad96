/* diff: two brokers, and requests made by chance: where do they differ? */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conformance/command.h"
#include "conformance/diff/known.h"
#include "conformance/diff/shrink.h"
#include "conformance/diff/side.h"
#include "conformance/evidence.h"
#include "conformance/result.h"
#include "conformance/seed.h"
#include "lib/text/file.h"

#define PROGRAM "conformance diff"

enum { MOST_QUESTIONS = 120, MOST_SHOWN = 20 };

static const char *const families[] = {"produce", NULL};

static struct {
	const char *a, *b, *out, *data;
	int64_t seed;
	int count, family;
} given = {.seed = -1, .count = 1000};

static const struct kt_opt options[] = {
	KT_GROUP("Brokers"),
	KT_STR(0, "a", "HOST:PORT", &given.a, "the reference (required)"),
	KT_STR(0, "b", "HOST:PORT", &given.b, "the one that is held against it (required)"),
	KT_GROUP("Requests"),
	KT_CHOICE(0, "family", "NAME", &given.family, families, "what is sent: produce (produce)"),
	KT_INT64(0, "seed", "N", &given.seed, 0, INT64_MAX, "the same seed sends the same (random)"),
	KT_INT(0, "count", "N", &given.count, 1, 10000000, "so many requests (1000)"),
	CF_DATA_OPTION(&given.data),
	KT_GROUP("Output"),
	KT_STR(0, "out", "DIR", &given.out, "a case for each difference, as the reference answers it"),
	KT_END
};

static const struct kt_cli cli = {
	.program = PROGRAM, .options = options,
	.about = "Sends the same Produce requests, mostly wrong ones, to two brokers and compares the answers, what "
		 "became of the connection, and what was appended. What differs is made smaller until nothing can be "
		 "left out, and printed. Both brokers get the same topics, under names made up for the run, and lose "
		 "them at the end.",
	.examples = "  conformance diff --a localhost:9092 --b localhost:9192 --seed 1 --count 5000 --out out/diff",
	.exits = {
		[KT_EXIT_OK] = "no difference, or known ones only",
		[KT_EXIT_VERDICT] = "they differ",
		[KT_EXIT_USAGE] = "wrong usage or file; both are one broker",
		[KT_EXIT_ENGINE] = "a broker cannot be reached",
		[KT_EXIT_INCOMPLETE] = "interrupted",
	},
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

struct session {
	struct cf_side a, b;
	struct cf_known known;
	bool old;                  /* both serve Produce 0 to 2 */
	int newest;                /* version of Produce that both list: of a newer one they could only differ */
	int sent, shown;
	struct kt_err err;         /* a broker that is gone */
};

/* ---- one request ---- */

/* Asks both. False when they cannot be asked; without memory for a mutation too. */
static bool ask(struct session *session, json_t *mutation, json_t **a, json_t **b)
{
	*a = *b = NULL;
	if (cf_side_ask(&session->a, mutation, a, &session->err) ||
	    cf_side_ask(&session->b, mutation, b, &session->err)) {
		json_decref(*a);
		*a = NULL;
		return false;
	}
	return true;
}

static bool renew(struct session *session, json_t *mutation)
{
	json_t *kinds = mutation ? json_pack("[O]", json_object_get(mutation, "topic")) : NULL;
	bool ok = cf_side_renew(&session->a, kinds, &session->err) == 0 &&
		  cf_side_renew(&session->b, kinds, &session->err) == 0;

	json_decref(kinds);
	return ok;
}

static bool is_too_new(const struct session *session, json_t *mutation)
{
	return json_integer_value(json_object_get(mutation, "version")) > session->newest;
}

static bool differs(void *arg, json_t *mutation)
{
	struct session *session = arg;
	json_t *a, *b;
	bool differ = false;

	if (interrupted || session->err.code || is_too_new(session, mutation) || !renew(session, mutation))
		return false;
	if (ask(session, mutation, &a, &b))
		differ = !json_equal(a, b);
	/* Something that cannot be sent is nothing to look at. */
	else if (session->err.code == KT_EUSAGE)
		session->err = (struct kt_err){0};
	json_decref(a);
	json_decref(b);
	return differ;
}

/* ---- what is told ---- */

static void print_json(const char *what, json_t *json)
{
	char *text = json_dumps(json, JSON_COMPACT);

	printf("  %-10s ", what);
	kt_put_clean(stdout, text ? text : "");
	printf("\n");
	free(text);
}

/* ---- as a case ---- */

/* By id a case cannot name its topic; the version before it answers alike. */
enum { LAST_BY_NAME = 12 };

static json_t *case_body(json_t *mutation)
{
	json_t *data = json_array(), *partition;
	size_t i;

	json_array_foreach(json_object_get(mutation, "partitions"), i, partition)
		json_array_append_new(data, json_pack("{s:O, s:{s:O}}", "index", json_object_get(partition, "index"),
						      "records", "batches", json_object_get(partition, "batches")));
	return json_pack("{s:O, s:i, s:[{s:s, s:o}]}", "acks", json_object_get(mutation, "acks"), "timeoutMs", 5000,
			 "topicData", "name", "$topic", "partitionData", data);
}

/* A case can ask for a connection that is kept or closed, and for no other. */
static const char *case_connection(const char *fate)
{
	return strcmp(fate, "kept") == 0 || strcmp(fate, "closed") == 0 ? fate : "any";
}

/* The reference's answer is the right one. */
static json_t *case_expect(json_t *reference)
{
	json_t *rows = json_array(), *partition;
	size_t i;

	if (!json_is_true(json_object_get(reference, "answered"))) {
		json_decref(rows);
		return json_pack("{s:s, s:s}", "answer", json_is_string(json_object_get(reference, "answered"))
				 ? "any" : "none", "connection", case_connection(cf_text(reference, "connection")));
	}
	json_array_foreach(json_object_get(reference, "partitions"), i, partition)
		json_array_append_new(rows, json_pack("{s:O, s:O, s:O}", "index", json_object_get(partition, "index"),
						      "errorCode", json_object_get(partition, "errorCode"),
						      "baseOffset", json_object_get(partition, "baseOffset")));
	return json_pack("{s:{s:[{s:o}]}}", "body", "responses", "partitionResponses", rows);
}

static json_t *as_case(json_t *mutation, json_t *reference, const char *id)
{
	json_int_t version = json_integer_value(json_object_get(mutation, "version"));
	json_t *topic = json_pack("{s:i, s:o}", "partitions", CF_DIFF_PARTITIONS, "configs",
				  cf_diff_configs(cf_text(mutation, "topic")));

	return json_pack("{s:s, s:s, s:[s], s:{s:o}, s:[{s:{s:s, s:I, s:s, s:s, s:o}, s:o}]}", "id", id, "title",
			 "What the reference answers, found by conformance diff", "requirements", "records.to-be-named",
			 "topics", "topic", topic, "steps", "send", "api", "Produce", "version",
			 version > LAST_BY_NAME ? (json_int_t)LAST_BY_NAME : version, "to", "leader", "topic", "$topic",
			 "body", case_body(mutation), "expect", case_expect(reference));
}

static void write_case(struct session *session, json_t *mutation, json_t *reference)
{
	char id[64], path[PATH_MAX];
	json_t *json;

	snprintf(id, sizeof id, "records.diff-%lld-%d", (long long)given.seed, session->sent);
	cf_path(path, sizeof path, "%s/%s.json", given.out, id + strlen("records."));
	json = as_case(mutation, reference, id);
	if (kt_json_write(path, json, JSON_INDENT(2), &session->err) == 0)
		printf("  case       %s, for `conformance replay %s -b %s`\n", path, path, given.b);
	json_decref(json);
}

/* ---- the run ---- */

/* As small as it gets; as it was when it takes what went before it. */
static void show(struct session *session, json_t *mutation, json_t *first_a, json_t *first_b)
{
	json_t *small = cf_shrink(mutation, differs, session, MOST_QUESTIONS), *a = NULL, *b = NULL;
	bool alone = renew(session, small) && ask(session, small, &a, &b) && !json_equal(a, b);

	printf("\nrequest %d of seed %lld%s:\n", session->sent, (long long)given.seed,
	       alone ? "" : ", which alone, on empty logs, is answered alike");
	session->shown++;
	print_json("request", alone ? small : mutation);
	print_json("a", alone ? a : first_a);
	print_json("b", alone ? b : first_b);
	if (given.out && alone)
		write_case(session, small, a);
	json_decref(a);
	json_decref(b);
	json_decref(small);
	if (session->err.code == KT_OK)
		renew(session, NULL);
}

/* After a known difference, too, the two logs may no longer be alike. */
static void differ(struct session *session, json_t *mutation, json_t *a, json_t *b)
{
	if (cf_known_find(&session->known, mutation, a, b))
		renew(session, mutation);
	else
		show(session, mutation, a, b);
}

/* False when it cannot go on. */
static bool send_one(struct session *session, struct cf_dice *dice, int64_t now_ms)
{
	json_t *mutation = cf_mutation(dice, now_ms, session->old), *a, *b;
	bool sent;

	if (is_too_new(session, mutation))
		json_object_set_new(mutation, "version", json_integer(session->newest));
	sent = ask(session, mutation, &a, &b);
	if (!sent && session->err.code == KT_EUSAGE) {
		session->err = (struct kt_err){0};   /* an edit that finds nothing to edit: another one */
		json_decref(mutation);
		return true;
	}
	if (sent) {
		session->sent++;
		if (!json_equal(a, b))
			differ(session, mutation, a, b);
		json_decref(a);
		json_decref(b);
	}
	json_decref(mutation);
	return session->err.code == KT_OK;
}

static void run(struct session *session)
{
	struct cf_dice dice = {(uint64_t)given.seed};
	bool progress = isatty(STDERR_FILENO);
	int64_t now_ms = (int64_t)time(NULL) * 1000;

	while (session->sent < given.count && session->shown < MOST_SHOWN && !interrupted)
		if (!send_one(session, &dice, now_ms))
			break;
		else if (progress && session->sent % 50 == 0)
			fprintf(stderr, "\r%d of %d", session->sent, given.count);
	if (progress)
		fputs("\r\033[K", stderr);
}

static int tell(struct session *session)
{
	if (session->err.code) {
		kt_complain(PROGRAM, &session->err);
		return session->err.code == KT_EFILE ? KT_EXIT_USAGE : KT_EXIT_ENGINE;
	}
	printf("%s%d requests of seed %lld: %d different", session->shown ? "\n" : "", session->sent,
	       (long long)given.seed, session->shown);
	cf_known_print(&session->known, stdout);
	printf(session->old ? "; Produce 0 to 2 among them\n" : "\n");
	if (session->shown == MOST_SHOWN)
		printf("ended after %d differences\n", MOST_SHOWN);
	if (interrupted)
		return KT_EXIT_INCOMPLETE;
	return session->shown ? KT_EXIT_VERDICT : KT_EXIT_OK;
}

static int open_all(struct session *session, struct kt_err *err)
{
	struct cf_data data;
	char prefix[64];
	int a, b;

	snprintf(prefix, sizeof prefix, "kassay-diff-%lld-%d", (long long)given.seed, (int)getpid());
	if (cf_data_find(&data, given.data, err) || cf_known_load(&session->known, data.dir, err) ||
	    (given.out && kt_file_make_dir(given.out, err)))
		return KT_EXIT_USAGE;
	if (cf_side_open(&session->a, "a", given.a, prefix, err) ||
	    cf_side_open(&session->b, "b", given.b, prefix, err))
		return err->code == KT_ESYNTAX || err->code == KT_ERANGE ? KT_EXIT_USAGE : KT_EXIT_ENGINE;
	session->old = cf_side_serves_old(&session->a) && cf_side_serves_old(&session->b);
	if ((a = cf_side_newest(&session->a, err)) < 0 || (b = cf_side_newest(&session->b, err)) < 0)
		return KT_EXIT_ENGINE;
	session->newest = a < b ? a : b;
	renew(session, NULL);
	*err = session->err;
	return err->code == KT_EUSAGE ? KT_EXIT_USAGE : err->code ? KT_EXIT_ENGINE : 0;
}

int cf_command_diff(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
	struct session session = {0};
	struct kt_err err = {0};
	int status;

	if (!kt_cli_begin(&cli, &argc, argv, &status))
		return status;
	if (!given.a || !given.b) {
		fprintf(stderr, "%s: needs --a and --b\n", PROGRAM);
		return KT_EXIT_USAGE;
	}
	if (given.seed < 0)
		given.seed = cf_random_seed();
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	status = open_all(&session, &err);
	if (status) {
		kt_complain(PROGRAM, &err);
	} else {
		run(&session);
		status = tell(&session);
	}
	cf_side_close(&session.a);
	cf_side_close(&session.b);
	cf_known_free(&session.known);
	return status;
}
