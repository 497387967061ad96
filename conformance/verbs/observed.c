/* observing and observed: what the target's observer was called with, through the channel that the profile names. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "conformance/verbs/verbs.h"

/* The name of the observer that writes to the channel; null in a profile whose target has it in force all the time. */
#define JOURNAL "observer.journal"

enum { POLL_MS = 20 };

const struct cf_arg cf_args_observing[] = {
	{"class", CF_ARG_STR, false, "observers to put in force; unless given that which writes to the channel"},
	{0},
};

const struct cf_arg cf_args_observed[] = {
	{"call", CF_ARG_STR, false, "only this call: configure, observe_produce, record, close"},
	{"instance", CF_ARG_STR, false, "only calls of this instance"},
	{"api", CF_ARG_STR, false, "only requests of this API"},
	{"topic", CF_ARG_STR, false, "only requests that name this topic"},
	{0},
};

/* ---- the channel ---- */

static bool is(json_t *args, const char *name, json_t *line, const char *member)
{
	const char *wanted = json_string_value(json_object_get(args, name));
	const char *got = json_string_value(json_object_get(line, member));

	return !wanted || (got && strcmp(wanted, got) == 0);
}

static bool names_topic(json_t *args, json_t *line)
{
	json_t *partitions = json_object_get(line, "partitions"), *partition;
	bool wanted = json_object_get(args, "topic") != NULL;
	size_t i;

	json_array_foreach(partitions, i, partition)
		if (is(args, "topic", partition, "topic"))
			return true;
	return !wanted;
}

/* Of the broker that the case talks to: others see requests of their own. */
static bool is_wanted(const struct cf_run *run, json_t *args, json_t *line)
{
	json_t *node = json_object_get(line, "node");

	return (!node || json_integer_value(node) == run->target->broker_id) && is(args, "call", line, "call") &&
	       is(args, "instance", line, "instance") && is(args, "api", line, "api") && names_topic(args, line);
}

/* A line that is still being written ends the list. */
static int read_lines(const struct cf_run *run, FILE *f, json_t *args, json_t *lines, struct kt_err *err)
{
	char *text = NULL;
	size_t cap = 0;
	ssize_t n;
	int number = 0;

	while (!err->code && (n = getline(&text, &cap, f)) > 0 && text[n - 1] == '\n') {
		json_error_t why;
		json_t *line = json_loadb(text, (size_t)n, JSON_REJECT_DUPLICATES, &why);

		number++;
		if (!json_is_object(line))
			kt_fail(err, KT_ESYNTAX, "%s: line %d of this case is no JSON object: %s",
				run->target->observations, number, line ? "it is another value" : why.text);
		else if (is_wanted(run, args, line))
			json_array_append(lines, line);
		json_decref(line);
	}
	free(text);
	return err->code;
}

/* What the file has gained since it had that size, as far as it is wanted. One that is not there may come to be: the
 * target makes it. */
static int read_since(const struct cf_run *run, int64_t from, json_t *args, json_t *lines, struct kt_err *err)
{
	const char *file = run->target->observations;
	FILE *f = fopen(file, "r");

	if (!f || fseeko(f, from, SEEK_SET) != 0)
		kt_fail(err, errno == ENOENT ? KT_ENET : KT_EFILE, "%s: %s", file, strerror(errno));
	else
		read_lines(run, f, args, lines, err);
	if (f)
		fclose(f);
	return err->code;
}

/* ---- observing ---- */

static int64_t size_of(const char *file)
{
	struct stat stat_;

	return stat(file, &stat_) == 0 ? (int64_t)stat_.st_size : 0;
}

/* A broker may answer an alteration before it is in force: the observer's own first line says when it is. One that was
   in force already writes none, and costs the time-out. */
static void await_configure(const struct cf_run *run, int64_t from)
{
	int64_t deadline = kc_now_ms() + run->target->profile->timeout;
	json_t *args = json_pack("{s:s}", "call", "configure"), *lines = json_array();
	struct timespec poll = {.tv_nsec = POLL_MS * 1000000L};

	while (json_array_size(lines) == 0 && kc_now_ms() < deadline) {
		struct kt_err err = {0};

		if (read_since(run, from, args, lines, &err) || json_array_size(lines) == 0)
			nanosleep(&poll, NULL);
	}
	json_decref(args);
	json_decref(lines);
}

int cf_verb_observing(struct cf_run *run, json_t *args, struct cf_outcome *out, struct kt_err *err)
{
	json_t *class = json_object_get(args, "class"), *alter;
	int64_t from = size_of(run->target->observations);
	int code;

	if (run->observed_from < 0)
		run->observed_from = from;
	if (!class)
		class = json_object_get(run->target->profile->names, JOURNAL);
	if (json_is_null(class)) {
		out->answered = true;
		out->fate = CF_NO_CONNECTION;
		out->subject = json_pack("{s:i}", "errorCode", 0);
		return 0;
	}
	alter = json_pack("{s:s, s:{s:O}}", "resource", "broker:", "set", "observer.class.name", class);
	code = cf_verb_alter(run, alter, out, err);
	json_decref(alter);
	if (code == 0 && out->answered && cf_error_code(out->subject) == 0)
		await_configure(run, from);
	return code;
}

/* ---- observed ---- */

int cf_verb_observed(struct cf_run *run, json_t *args, struct cf_outcome *out, struct kt_err *err)
{
	const char *file = run->target->observations;
	json_t *lines = json_array(), *first, *last;
	size_t n;

	out->fate = CF_NO_CONNECTION;
	if (run->observed_from < 0)
		kt_fail(err, KT_EUSAGE, "no step `observing` came before");
	else
		read_since(run, run->observed_from, args, lines, err);
	n = json_array_size(lines);
	first = n ? json_array_get(lines, 0) : json_null();
	last = n ? json_array_get(lines, n - 1) : json_null();
	if (!err->code) {
		out->answered = true;
		out->body = json_pack("{s:I, s:O, s:O, s:O}", "n", (json_int_t)n, "first", first, "last", last, "lines",
				      lines);
		out->subject = json_incref(out->body);
		out->evidence = json_pack("{s:s, s:O, s:O}", "file", file, "request", args, "response", out->body);
	}
	json_decref(lines);
	return err->code;
}
