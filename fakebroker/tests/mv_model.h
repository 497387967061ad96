/* The model of test_mv_property: random definitions and values, and what is legal at which level. It shares no code
 * with the fakebroker. */
#ifndef KASSAY_FAKEBROKER_TESTS_MV_MODEL_H
#define KASSAY_FAKEBROKER_TESTS_MV_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_LEVEL = 7, MAX_LEVEL = 33, DEFS = 9, RULES = 3, VALUE = 24 };
enum { TOPIC = 2, BROKER = 4, GROUP = 32 };
enum { NO_RULE = -1 };

/* ---- dice ---- */

static uint64_t dice;

static unsigned roll(unsigned sides)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (unsigned)(dice >> 33) % sides;
}

static bool chance(unsigned percent)
{
	return roll(100) < percent;
}

/* ---- the model ---- */

struct rule {
	int level, bound;          /* at least so much, or at most so many entries; NO_RULE: nothing is asked
				      from here on */
};

struct def {
	char name[12];
	int scope;
	bool list, sensitive;
	char value[VALUE];         /* the default */
	int least;                 /* at every level; NO_RULE = any */
	struct rule rules[RULES];  /* by level */
	int nrules;
};

/* A value that may not be there. */
struct value {
	bool set;
	char text[VALUE];
};

/* Whose dynamic values there are. */
static const struct {
	int type;
	const char *name;
} resources[] = {{BROKER, ""}, {BROKER, "1"}, {TOPIC, "t0"}, {TOPIC, "t1"}, {TOPIC, "t2"}, {GROUP, "g0"},
		 {GROUP, "g1"}};

enum { CLUSTER_DEFAULT = 0, BROKER_1 = 1, FIRST_TOPIC = 2, TOPICS = 3,
       NRESOURCES = sizeof resources / sizeof *resources };
enum { NODE = 0, BROKERS = 4 };   /* our own broker, and three that register: 101 to 103 */

static struct {
	struct def defs[DEFS];
	int level;
	bool exists[NRESOURCES];
	struct value dynamic[NRESOURCES][DEFS];
	bool registered[BROKERS], reported[BROKERS];
	struct value statics[BROKERS][DEFS];
} model;

static bool is_number(const char *text, long *v)
{
	char *end;

	*v = strtol(text, &end, 10);
	return end != text && !*end;
}

static int entries(const char *text)
{
	int n = *text != '\0';

	for (; *text; text++)
		n += *text == ',';
	return n;
}

/* Type and validator, which hold at every level. */
static bool plain_legal(const struct def *def, const char *text)
{
	long v;

	return def->list || (is_number(text, &v) && (def->least == NO_RULE || v >= def->least));
}

static bool rule_legal(const struct def *def, const char *text, int level)
{
	int bound = NO_RULE;
	long v = 0;

	for (int i = 0; i < def->nrules && def->rules[i].level <= level; i++)
		bound = def->rules[i].bound;
	if (bound == NO_RULE)
		return true;
	return def->list ? entries(text) <= bound : is_number(text, &v) && v >= bound;
}

static bool legal(const struct def *def, const char *text, int level)
{
	return def->sensitive || (plain_legal(def, text) && rule_legal(def, text, level));
}

static bool broker_legal(int broker, int level)
{
	for (int d = 0; d < DEFS; d++) {
		const struct value *value = &model.statics[broker][d];

		if (model.defs[d].scope == BROKER &&
		    !legal(&model.defs[d], value->set ? value->text : model.defs[d].value, level))
			return false;
	}
	return true;
}

static bool cluster_legal(int level)
{
	for (int b = 0; b < BROKERS; b++)
		if (model.registered[b] && model.reported[b] && !broker_legal(b, level))
			return false;
	for (int r = 0; r < (int)NRESOURCES; r++) {
		for (int d = 0; d < DEFS; d++) {
			const struct def *def = &model.defs[d];
			const struct value *value = &model.dynamic[r][d];

			if (def->scope != resources[r].type || !model.exists[r])
				continue;
			if (value->set ? !legal(def, value->text, level)
				       : def->scope == TOPIC && !legal(def, def->value, level))
				return false;
		}
	}
	return true;
}

/* Where Kafka 4.4.0 takes a downgrade: inside of these. Asked of one, level by level. */
static bool may_go_down(int from, int to)
{
	static const int bands[][2] = {{8, 10}, {11, 12}, {15, 16}, {17, 22}, {23, 29}, {30, 31}};

	for (size_t i = 0; i < sizeof bands / sizeof *bands; i++)
		if (to >= bands[i][0] && from <= bands[i][1])
			return true;
	return false;
}

/* ---- making it up ---- */

static void pick_value(const struct def *def, char text[VALUE])
{
	static const char *const numbers[] = {"-1", "0", "1", "5", "10", "50", "100", "1000", "x"};
	unsigned n = roll(5), first = roll(3);
	size_t at = 0;

	text[0] = '\0';
	if (!def->list) {
		snprintf(text, VALUE, "%s", numbers[roll(sizeof numbers / sizeof *numbers)]);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, VALUE - at, "%s%c", i ? "," : "", 'a' + (int)(first + i));
}

static void pick_rules(struct def *def)
{
	static const int bounds[] = {NO_RULE, 1, 5, 10, 50, 100};
	int level = MIN_LEVEL;

	def->nrules = 1 + (int)roll(RULES);
	for (int i = 0; i < def->nrules; i++) {
		level += 1 + (int)roll(8);
		def->rules[i].level = level;
		def->rules[i].bound = def->list ? (int)roll(5) - 1 : bounds[roll(sizeof bounds / sizeof *bounds)];
	}
}

/* Brokers must be able to join, so their defaults are legal at the start. */
static void pick_def(struct def *def, int index)
{
	static const int scopes[] = {BROKER, BROKER, BROKER, BROKER, TOPIC, TOPIC, TOPIC, GROUP, GROUP};

	do {
		*def = (struct def){.scope = scopes[index], .least = chance(30) ? 0 : NO_RULE};
		snprintf(def->name, sizeof def->name, "t.%c", 'a' + index);
		def->list = def->scope != GROUP && chance(30);
		def->sensitive = def->scope == BROKER && !def->list && index == 3;
		if (def->list)
			def->least = NO_RULE;
		pick_rules(def);
		pick_value(def, def->value);
	} while (!plain_legal(def, def->value) || (def->scope == BROKER && !legal(def, def->value, model.level)));
}

static void pick_model(void)
{
	memset(&model, 0, sizeof model);
	model.level = MIN_LEVEL + (int)roll(MAX_LEVEL - MIN_LEVEL + 1);
	for (int d = 0; d < DEFS; d++)
		pick_def(&model.defs[d], d);
	for (int r = 0; r < (int)NRESOURCES; r++)
		model.exists[r] = resources[r].type != TOPIC;
	model.registered[NODE] = model.reported[NODE] = true;
	for (int d = 0; d < DEFS; d++) {
		struct value *value = &model.statics[NODE][d];

		pick_value(&model.defs[d], value->text);
		value->set = model.defs[d].scope == BROKER && !model.defs[d].sensitive && chance(50) &&
			     legal(&model.defs[d], value->text, model.level);
	}
}

static void write_def(FILE *file, const struct def *def, bool last)
{
	fprintf(file, "{\"name\": \"%s\", \"scope\": \"%s\", \"type\": \"%s\", \"default\": \"%s\"%s%s", def->name,
		def->scope == TOPIC ? "topic" : def->scope == GROUP ? "group" : "broker", def->list ? "LIST" : "INT",
		def->value, def->scope == BROKER ? ", \"dynamic\": \"cluster-wide\"" : "",
		def->sensitive ? ", \"sensitive\": true" : "");
	if (def->least != NO_RULE)
		fprintf(file, ", \"validator\": {\"atLeast\": %d}", def->least);
	fprintf(file, ", \"mvValidators\": {");
	for (int i = 0; i < def->nrules; i++) {
		fprintf(file, "%s\"%d\": {", i ? ", " : "", def->rules[i].level);
		if (def->rules[i].bound != NO_RULE)
			fprintf(file, "\"%s\": %d", def->list ? "maxEntries" : "atLeast", def->rules[i].bound);
		fprintf(file, "}");
	}
	fprintf(file, "}}%s\n", last ? "" : ",");
}

static void write_scenario(FILE *file)
{
	bool first = true;

	fprintf(file, "{\"metadataVersion\": %d, \"nodes\": [{\"id\": 1, \"config\": {", model.level);
	for (int d = 0; d < DEFS; d++) {
		if (!model.statics[NODE][d].set)
			continue;
		fprintf(file, "%s\"%s\": \"%s\"", first ? "" : ", ", model.defs[d].name, model.statics[NODE][d].text);
		first = false;
	}
	fprintf(file, "}}], \"configs\": [\n");
	for (int d = 0; d < DEFS; d++)
		write_def(file, &model.defs[d], d + 1 == DEFS);
	fprintf(file, "]}\n");
}

#endif
