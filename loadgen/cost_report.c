/* What a measurement of costs says, for people and as JSON. */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "lib/text/opt.h"
#include "lib/wire/compress.h"
#include "loadgen/cost.h"

static const char *const verdicts[] = {
#define LG_X(symbol, name, exit) [symbol] = name,
	LG_COST_VERDICTS(LG_X)
#undef LG_X
};

/* ---- the machine ---- */

struct machine {
	char system[140], processor[128], date[32];
	long processors;
	double load;                 /* average of the last minute; the measurement's own is in it */
};

static void look_at(struct machine *machine)
{
	char line[256];
	time_t now = time(NULL);
	struct utsname system = {0};
	struct tm utc;
	FILE *f = fopen("/proc/cpuinfo", "r");

	*machine = (struct machine){.processor = "unknown", .processors = sysconf(_SC_NPROCESSORS_ONLN), .load = -1};
	uname(&system);
	snprintf(machine->system, sizeof machine->system, "%s %s", system.sysname, system.release);
	getloadavg(&machine->load, 1);
	gmtime_r(&now, &utc);
	strftime(machine->date, sizeof machine->date, "%Y-%m-%dT%H:%M:%SZ", &utc);
	while (f && fgets(line, sizeof line, f)) {
		if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(machine->processor, sizeof machine->processor, "%.100s", strchr(line, ':') + 2);
			break;
		}
	}
	if (f)
		fclose(f);
	kt_clean(machine->processor);
}

/* ---- words ---- */

static void print_effect(FILE *out, const char *what, const struct lg_effect *effect)
{
	fprintf(out, "  %-23s %9.2f %9.2f  %+8.3f [%+.3f, %+.3f]  %+7.2f %% [%+.2f, %+.2f]\n", what, effect->a / 1e3,
		effect->b / 1e3,
		effect->ns.at / 1e3, effect->ns.low / 1e3, effect->ns.high / 1e3, effect->share.at * 100,
		effect->share.low * 100, effect->share.high * 100);
}

static void print_head(FILE *out)
{
	fprintf(out, "  %-23s %9s %9s  %-26s  %s\n", "us per request", "A", "B", "B - A [95 %]", "B / A - 1 [95 %]");
}

/* two: brokers, each of which was held against itself. */
static void print_comparison(FILE *out, bool has_cpu, bool two, const struct lg_comparison *comparison)
{
	if (has_cpu) {
		print_effect(out, "CPU", &comparison->cpu);
		print_effect(out, two ? "CPU, against itself" : "CPU, A against A", &comparison->cpu_same);
	}
	print_effect(out, "service", &comparison->wall);
	print_effect(out, two ? "service, against itself" : "service, A against A", &comparison->wall_same);
}

static void print_variant(FILE *out, char name, const struct lg_variant *variant)
{
	fprintf(out, "  %c: %s%s%s", name, *variant->classes ? variant->classes : "(none)", variant->mode ? ", " : "",
		variant->mode ? variant->mode : "");
	if (variant->options) {
		char *text = json_dumps(variant->options, 0);

		fprintf(out, " %s", text ? text : "");
		free(text);
	}
	fputc('\n', out);
}

static void print_doses(const struct lg_cost_spec *spec, const struct lg_cost *cost, FILE *out)
{
	fprintf(out, "  SlowObserver, %s\n", spec->dose_mode);
	fprintf(out, "  %-10s %12s  %-24s  %s\n", "dose, us", "B - A, us", "95 %", "A against A, us");
	for (int i = 0; i < cost->n; i++) {
		const struct lg_comparison *one = &cost->v[i];
		const struct lg_interval *v = cost->has_cpu ? &one->cpu.ns : &one->wall.ns;
		const struct lg_interval *same = cost->has_cpu ? &one->cpu_same.ns : &one->wall_same.ns;

		fprintf(out, "  %-10d %12.3f  [%.3f, %.3f]      %+.3f [%+.3f, %+.3f]\n", spec->doses[i], v->at / 1e3,
			v->low / 1e3, v->high / 1e3, same->at / 1e3, same->low / 1e3, same->high / 1e3);
	}
	fprintf(out, "  slope %.3f, the point farthest from the line is off by %.1f %% of the greatest dose\n",
		cost->line.slope, cost->line.worst * 100);
}

/* The reason of the verdict. Of two brokers a pass that is due to B being cheaper says so: between two processes of the
 * same configuration a difference in either direction may be chance. */
static const char *reason(const struct lg_cost_target *target, const struct lg_cost *cost, char *text, size_t size)
{
	const struct lg_interval *share = cost->has_cpu ? &cost->v[0].cpu.share : &cost->v[0].wall.share;

	if (!target->b || cost->verdict != LG_COST_PASS || share->high >= 0)
		return cost->why;
	snprintf(text, size,
		 "B was %.2f %% cheaper: start both anew and measure again, one process of each is one draw",
		 -share->at * 100);
	return text;
}

void lg_cost_print(const struct lg_cost_spec *spec, const struct lg_cost_target *target, const struct lg_cost *cost,
		   FILE *out)
{
	const struct lg_requests *requests = &spec->requests;
	struct machine machine;
	char text[160];
	const char *why = reason(target, cost, text, sizeof text);

	look_at(&machine);
	fprintf(out, "%s%s%s, %d partition%s, %d record%s of %d bytes each, %s, blocks of %d, %d quads, seed %lld\n",
		spec->name ? spec->name : "", spec->name ? ": " : "",
		requests->api == LG_BLOCK_PRODUCE ? "Produce" : "Fetch", requests->partitions,
		requests->partitions > 1 ? "s" : "", requests->records, requests->records > 1 ? "s" : "",
		requests->size, kw_codec_name(requests->codec), requests->block, spec->quads, (long long)spec->seed);
	if (target->b) {
		fprintf(out, "  A: %s\n  B: %s\n", target->a, target->b);
	} else if (spec->ndoses == 0) {
		print_variant(out, 'A', &spec->a);
		print_variant(out, 'B', &spec->b);
	}
	if (spec->ndoses > 0) {
		print_doses(spec, cost, out);
	} else {
		print_head(out);
		print_comparison(out, cost->has_cpu, target->b != NULL, &cost->v[0]);
	}
	if (!cost->has_cpu && target->control)
		fprintf(out, "  no CPU time: the process of the broker is not one of this machine and pid namespace\n");
	fprintf(out, "  %.1f s, %s, %s, %ld x %s, load %.1f\n", cost->seconds, machine.date, machine.system,
		machine.processors, machine.processor, machine.load);
	if (cost->repeated)
		fprintf(out, "  %d quad%s measured again: the CPU clock could not be read\n", cost->repeated,
			cost->repeated > 1 ? "s were" : " was");
	if (spec->ndoses > 0)
		fprintf(out, "%s: slope 1 within 10 %%%s%s\n", verdicts[cost->verdict], *why ? ": " : "", why);
	else
		fprintf(out, "%s: %s per request at most %.2f %% more%s%s\n", verdicts[cost->verdict],
			cost->has_cpu ? "CPU" : "service time", spec->margin * 100, *why ? ": " : "", why);
}

/* ---- JSON ---- */

static json_t *interval_json(const struct lg_interval *interval)
{
	return json_pack("{s:f, s:f, s:f}", "at", interval->at, "low", interval->low, "high", interval->high);
}

static json_t *effect_json(const struct lg_effect *effect)
{
	return json_pack("{s:I, s:f, s:f, s:o, s:o}", "quads", (json_int_t)effect->n, "aNs", effect->a, "bNs",
			 effect->b, "differenceNs", interval_json(&effect->ns), "share", interval_json(&effect->share));
}

static json_t *comparison_json(const struct lg_cost *cost, int i)
{
	const struct lg_comparison *comparison = &cost->v[i];

	return json_pack("{s:o, s:o, s:o, s:o}", "cpu", cost->has_cpu ? effect_json(&comparison->cpu) : json_null(),
			 "cpuSame", cost->has_cpu ? effect_json(&comparison->cpu_same) : json_null(),
			 "service", effect_json(&comparison->wall), "serviceSame", effect_json(&comparison->wall_same));
}

static json_t *variant_json(const struct lg_variant *variant)
{
	return json_pack("{s:s?, s:s?, s:O?}", "classes", variant->classes, "mode", variant->mode, "options",
			 variant->options);
}

static json_t *machine_json(void)
{
	struct machine machine;

	look_at(&machine);
	return json_pack("{s:s, s:s, s:I, s:s, s:f}", "date", machine.date, "kernel", machine.system,
			 "processors", (json_int_t)machine.processors, "processor", machine.processor, "load",
			 machine.load);
}

static json_t *comparisons_json(const struct lg_cost_spec *spec, const struct lg_cost *cost)
{
	json_t *list = json_array();

	for (int i = 0; i < cost->n; i++) {
		json_t *one = comparison_json(cost, i);

		if (spec->ndoses > 0)
			json_object_set_new(one, "doseUs", json_integer(spec->doses[i]));
		json_array_append_new(list, one);
	}
	return list;
}

json_t *lg_cost_json(const struct lg_cost_spec *spec, const struct lg_cost_target *target, const struct lg_cost *cost)
{
	const struct lg_requests *requests = &spec->requests;
	char text[160];
	json_t *json = json_pack("{s:s, s:s?, s:s, s:s, s:f, s:f}", "program", "loadgen " KASSAY_VERSION, "name",
				 spec->name, "verdict", verdicts[cost->verdict], "why",
				 reason(target, cost, text, sizeof text), "margin", spec->margin, "seconds",
				 cost->seconds);

	json_object_set_new(json, "requests",
			    json_pack("{s:s, s:s, s:i, s:i, s:i, s:s, s:i, s:i}", "api",
				      requests->api == LG_BLOCK_PRODUCE ? "produce" : "fetch", "topic", requests->topic,
				      "partitions", requests->partitions, "records", requests->records, "size",
				      requests->size, "codec", kw_codec_name(requests->codec), "acks", requests->acks,
				      "block", requests->block));
	json_object_set_new(json, "warm", json_integer(spec->warm));
	json_object_set_new(json, "warmUp", json_integer(spec->warm_up));
	json_object_set_new(json, "quads", json_integer(spec->quads));
	json_object_set_new(json, "quadsRepeated", json_integer(cost->repeated));
	json_object_set_new(json, "seed", json_integer(spec->seed));
	json_object_set_new(json, "a", target->b ? json_string(target->a) : variant_json(&spec->a));
	json_object_set_new(json, "b", target->b ? json_string(target->b) : variant_json(&spec->b));
	json_object_set_new(json, "comparisons", comparisons_json(spec, cost));
	if (spec->ndoses > 0) {
		json_object_set_new(json, "doseMode", json_string(spec->dose_mode));
		json_object_set_new(json, "line", json_pack("{s:f, s:f}", "slope", cost->line.slope, "worst",
							    cost->line.worst));
	}
	json_object_set_new(json, "machine", machine_json());
	return json;
}
