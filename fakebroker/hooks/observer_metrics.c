#include "fakebroker/hooks/observer_metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakebroker/hooks/observer.h"
#include "fakebroker/hooks/utf8.h"

/* ---- JSON ---- */

/* Metrics of the broker itself; see also owns[]. */
static const char *const of_broker[] = {
	"connections", "invalid_magic_number_records_total", "invalid_message_crc_records_total",
	"invalid_offset_or_sequence_records_total", "no_key_compacted_topic_records_total", "bytes_rejected_total",
	"failed_produce_requests_total", "validator_records_total", "validator_seconds_total",
};

/* What the broker counts about every observer itself. */
static const struct own {
	const char *member, *name, *help;
} owns[] = {
	{"seen", "observer_exchanges_total", "Requests shown to the observer with their response"},
	{"produce_seen", "observer_produce_requests_total", "Produce requests shown to the observer before the append"},
	{"failed", "observer_failures_total", "Calls in which the observer failed"},
	{"nanoseconds", "observer_nanoseconds_total", "Time spent in the observer"},
	{"dropped", "observer_dropped_total", "Calls that were dropped because the observer's queue was full"},
};

bool fb_metric_is_brokers(const char *name)
{
	for (size_t i = 0; i < sizeof of_broker / sizeof *of_broker; i++)
		if (strcmp(name, of_broker[i]) == 0)
			return true;
	for (size_t i = 0; i < sizeof owns / sizeof *owns; i++)
		if (strcmp(name, owns[i].name) == 0)
			return true;
	return false;
}

/* `sink` must come first. */
struct json_sink {
	struct kassay_sink sink;
	json_t *metrics;
	json_t *samples;          /* of the metric that was started last, borrowed; NULL: there is none to be told */
	char *wrong;
	size_t wrong_size;
};

static bool is_name(const char *name)
{
	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz_")];
}

static json_t *json_text(const char *s)
{
	json_t *json = json_string(s);
	char *copy;

	if (json || !(copy = strdup(s)))
		return json;
	fb_utf8_mend(copy);
	json = json_string(copy);
	free(copy);
	return json;
}

static void json_metric(struct kassay_sink *sink, const char *name, const char *help)
{
	struct json_sink *self = (struct json_sink *)(void *)sink;
	const char *why = NULL;
	json_t *metric;

	self->samples = NULL;
	if (!is_name(name))
		why = "is not [a-z_]+";
	else if (fb_metric_is_brokers(name))
		why = "is the broker's";
	else if (json_object_get(self->metrics, name))
		why = "comes twice";
	if (why) {
		snprintf(self->wrong, self->wrong_size, "metric '%s' is left out: the name %s", name, why);
		return;
	}
	metric = json_pack("{s:o, s:[]}", "help", json_text(help), "samples");
	if (json_object_set_new(self->metrics, name, metric) == 0)
		self->samples = json_object_get(metric, "samples");
}

static bool is_label(const char *name)
{
	return is_name(name) && strcmp(name, "node") != 0 && strcmp(name, "observer") != 0 &&
	       strcmp(name, "value") != 0;
}

static void json_sample(struct kassay_sink *sink, const struct kassay_label *labels, size_t label_count, int64_t value)
{
	struct json_sink *self = (struct json_sink *)(void *)sink;
	json_t *sample = json_object();
	size_t i;

	for (i = 0; i < label_count; i++) {
		if (is_label(labels[i].name))
			json_object_set_new(sample, labels[i].name, json_text(labels[i].value));
		else
			snprintf(self->wrong, self->wrong_size,
				 "label '%s' is left out: the name is not [a-z_]+, or is node, observer or value",
				 labels[i].name);
	}
	json_object_set_new(sample, "value", json_integer(value));
	json_array_append_new(self->samples, sample);
}

void fb_metrics_collect(const struct kassay_observer_class *class, void *instance, json_t *metrics, char *wrong,
			size_t wrong_size)
{
	struct json_sink self = {{sizeof self.sink, json_metric, json_sample}, metrics, NULL, wrong, wrong_size};

	*wrong = '\0';
	class->collect(instance, &self.sink);
	fb_utf8_mend(wrong);
}

/* ---- Prometheus text exposition format 0.0.4 ---- */

/* Writes a label's value or a help text with the escapes of the format. */
static void put_escaped(FILE *out, const char *s, int quotes)
{
	for (; *s; s++) {
		if (*s == '\n')
			fputs("\\n", out);
		else if (*s == '\\' || (*s == '"' && quotes))
			fprintf(out, "\\%c", *s);
		else
			fputc(*s, out);
	}
}

static void put_head(FILE *out, const char *name, const char *help)
{
	size_t n = strlen(name);
	int counter = n > 6 && strcmp(name + n - 6, "_total") == 0;

	fprintf(out, "# HELP kassay_%s ", name);
	put_escaped(out, help, 0);
	fprintf(out, "\n# TYPE kassay_%s %s\n", name, counter ? "counter" : "gauge");
}

static const char *name_of(json_t *observer)
{
	return json_string_value(json_object_get(observer, "name"));
}

static void put_sample(FILE *out, const char *name, int32_t node, const char *observer, json_t *sample)
{
	const char *label;
	json_t *value;

	fprintf(out, "kassay_%s{node=\"%d\",observer=\"%s\"", name, (int)node, observer);
	json_object_foreach(sample, label, value) {
		if (!json_is_string(value))
			continue;
		fprintf(out, ",%s=\"", label);
		put_escaped(out, json_string_value(value), 1);
		fputc('"', out);
	}
	fprintf(out, "} %" JSON_INTEGER_FORMAT "\n", json_integer_value(json_object_get(sample, "value")));
}

/* One metric of all observers of all nodes: the format wants its lines together. */
static void put_metric(FILE *out, const char *name, const char *help, json_t *nodes, const int32_t *ids)
{
	size_t i, j, k;
	json_t *node, *observer, *sample;

	put_head(out, name, help);
	json_array_foreach(nodes, i, node) {
		json_array_foreach(json_object_get(node, "observers"), j, observer) {
			json_t *metric = json_object_get(json_object_get(observer, "metrics"), name);

			json_array_foreach(json_object_get(metric, "samples"), k, sample)
				put_sample(out, name, ids[i], name_of(observer), sample);
		}
	}
}

static void put_own(FILE *out, const struct own *own, json_t *nodes, const int32_t *ids)
{
	size_t i, j;
	json_t *node, *observer;

	put_head(out, own->name, own->help);
	json_array_foreach(nodes, i, node)
		json_array_foreach(json_object_get(node, "observers"), j, observer)
			fprintf(out, "kassay_%s{node=\"%d\",observer=\"%s\"} %" JSON_INTEGER_FORMAT "\n", own->name,
				(int)ids[i], name_of(observer),
				json_integer_value(json_object_get(observer, own->member)));
}

/* Every metric once, however many observers have it. */
static void put_metrics(FILE *out, json_t *nodes, const int32_t *ids)
{
	json_t *done = json_object(), *node, *observer, *metric;
	size_t i, j;
	const char *name;

	json_array_foreach(nodes, i, node) {
		json_array_foreach(json_object_get(node, "observers"), j, observer) {
			json_object_foreach(json_object_get(observer, "metrics"), name, metric) {
				if (json_object_get(done, name))
					continue;
				json_object_set_new(done, name, json_true());
				put_metric(out, name, json_string_value(json_object_get(metric, "help")), nodes, ids);
			}
		}
	}
	json_decref(done);
}

char *fb_observer_prometheus(struct fb_observer *const *observers, const int32_t *nodes, size_t n)
{
	json_t *list = json_array();
	char *text = NULL;
	size_t i, size;
	FILE *out = open_memstream(&text, &size);

	if (out) {
		for (i = 0; i < n; i++)
			json_array_append_new(list, fb_observer_json(observers[i]));
		for (i = 0; i < sizeof owns / sizeof *owns; i++)
			put_own(out, &owns[i], list, nodes);
		put_metrics(out, list, nodes);
		if (fclose(out) != 0) {
			free(text);
			text = NULL;
		}
	}
	json_decref(list);
	return text;
}
