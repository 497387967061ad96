#include "loadgen/cost.h"

#include <stdlib.h>

#include "lib/text/opt.h"
#include "loadgen/clock.h"
#include "loadgen/commands.h"
#include "loadgen/ruler.h"

enum {
	TRIM_EVERY = 32,               /* quads between two deletions of what was produced */
	REPEATS = 1000,                /* quads that may be measured again, beside as many as there are to be */
};

/* Two variants that are compared: A and B. */
struct pair {
	struct lg_ruler *ruler;
	struct lg_cost *cost;
	const struct lg_variant *variants[2];
	uint64_t random;
};

/* Measurements of one comparison; same: A against A. */
struct quads {
	struct lg_quad *cpu, *wall, *cpu_same, *wall_same;
};

/* ---- quads ---- */

static bool is_sound(const struct lg_quad *quad)
{
	for (int i = 0; i < LG_QUAD; i++)
		if (quad->ns[i] <= 0)
			return false;
	return true;
}

/* a, b: which variants the blocks of A and of B are. */
static int try_quad(struct pair *pair, int a, int b, struct lg_quad *cpu, struct lg_quad *wall, struct kt_err *err)
{
	lg_quad_order(cpu, &pair->random);
	*wall = *cpu;
	for (int i = 0; i < LG_QUAD; i++) {
		int which = cpu->b[i] ? b : a;

		if (lg_ruler_measure(pair->ruler, pair->variants[which], pair->ruler->target->b ? which : 0,
				     &cpu->ns[i], &wall->ns[i], err))
			return err->code;
	}
	return 0;
}

/* No fault of the broker's: what was measured so far says nothing. */
static int give_up(struct lg_cost *cost, struct kt_err *err)
{
	cost->cannot_tell = true;
	return err->code;
}

/* Now and then, when a thread of the broker ends, Linux lets its CPU clock stand or go back for another process that
 * reads it: such a quad is measured again, and counted. */
static int measure_quad(struct pair *pair, int a, int b, struct lg_quad *cpu, struct lg_quad *wall, struct kt_err *err)
{
	while (try_quad(pair, a, b, cpu, wall, err) == 0) {
		if (is_sound(cpu))
			return 0;
		if (++pair->cost->repeated > pair->ruler->spec->quads + REPEATS) {
			kt_fail(err, KT_ETIMEOUT,
				"the broker's CPU clock does not go on: make \"block\" of the scenario larger");
			return give_up(pair->cost, err);
		}
	}
	return err->code;
}

/* ---- a comparison ---- */

static int judge(const struct quads *quads, size_t n, uint64_t seed, struct lg_comparison *comparison,
		 struct kt_err *err)
{
	if (lg_quads_judge(quads->cpu, n, seed, &comparison->cpu) ||
	    lg_quads_judge(quads->wall, n, seed, &comparison->wall) ||
	    lg_quads_judge(quads->cpu_same, n, seed, &comparison->cpu_same) ||
	    lg_quads_judge(quads->wall_same, n, seed, &comparison->wall_same))
		return kt_fail(err, KT_ENOMEM, "no memory");
	return 0;
}

/* A quad of the comparison and one of the same against the same in turn, so that both meet the same weather. Of two
 * brokers either gets its turn at the latter, so that both have the same to do. */
static int measure_both(struct pair *pair, size_t i, const struct quads *quads, struct kt_err *err)
{
	int same = pair->ruler->target->b && i % 2;

	if (measure_quad(pair, 0, 1, &quads->cpu[i], &quads->wall[i], err) == 0 &&
	    measure_quad(pair, same, same, &quads->cpu_same[i], &quads->wall_same[i], err) == 0 &&
	    i % TRIM_EVERY == 0)
		lg_ruler_trim(pair->ruler, err);
	return err->code;
}

static int measure_all(struct pair *pair, const struct quads *quads, size_t n, struct kt_err *err)
{
	size_t warm_up = (size_t)pair->ruler->spec->warm_up;

	for (size_t i = 0; i < warm_up + n; i++) {
		if (!lg_stopped() && measure_both(pair, i < warm_up ? i % n : i - warm_up, quads, err) && !lg_stopped())
			return err->code;
		if (lg_stopped()) {
			*err = (struct kt_err){0};
			kt_fail(err, KT_ETIMEOUT, "stopped after %zu of %zu quads", i > warm_up ? i - warm_up : 0, n);
			return give_up(pair->cost, err);
		}
	}
	return 0;
}

static int compare(struct pair *pair, struct lg_comparison *comparison, struct kt_err *err)
{
	size_t n = (size_t)pair->ruler->spec->quads;
	struct lg_quad *all = calloc(4 * n, sizeof *all);
	struct quads quads = {all, all + n, all + 2 * n, all + 3 * n};

	if (!all)
		return kt_fail(err, KT_ENOMEM, "no memory");
	if (lg_ruler_meet(pair->ruler, pair->variants, err) == 0 && measure_all(pair, &quads, n, err) == 0)
		judge(&quads, n, (uint64_t)pair->ruler->spec->seed, comparison, err);
	free(all);
	return err->code;
}

/* ---- doses ---- */

static int make_dose(int us, const char *mode, struct lg_variant *variant, struct kt_err *err)
{
	char text[16];

	snprintf(text, sizeof text, "%d", us);
	*variant = (struct lg_variant){
		.classes = "SlowObserver", .mode = mode,
		.options = json_pack("{s:s, s:s}", "SlowObserver.us", text, "SlowObserver.busy", "true"),
	};
	return variant->options ? 0 : kt_fail(err, KT_ENOMEM, "no memory");
}

static int compare_doses(struct pair *pair, struct kt_err *err)
{
	const struct lg_cost_spec *spec = pair->ruler->spec;
	struct lg_cost *cost = pair->cost;
	double x[LG_DOSES_MAX], y[LG_DOSES_MAX];
	struct lg_variant none, dose;

	make_dose(0, spec->dose_mode, &none, err);
	for (cost->n = 0; cost->n < spec->ndoses && !err->code; cost->n++) {
		struct lg_comparison *comparison = &cost->v[cost->n];

		pair->variants[0] = &none;
		pair->variants[1] = &dose;
		if (make_dose(spec->doses[cost->n], spec->dose_mode, &dose, err) == 0)
			compare(pair, comparison, err);
		x[cost->n] = spec->doses[cost->n];
		y[cost->n] = (cost->has_cpu ? comparison->cpu : comparison->wall).ns.at / 1e3;
		json_decref(dose.options);
	}
	json_decref(none.options);
	if (!err->code)
		cost->line = lg_line_fit(x, y, (size_t)cost->n);
	return err->code;
}

/* A ruler that is off by more than a tenth is none. */
static void judge_line(struct lg_cost *cost)
{
	const double tenth = 0.1;

	cost->verdict = LG_COST_PASS;
	cost->why = "";
	if (cost->line.slope > 1 - tenth && cost->line.slope < 1 + tenth && cost->line.worst < tenth)
		return;
	cost->verdict = LG_COST_FAIL;
	cost->why = "what was added is not what was measured";
}

/* ---- the whole ---- */

static void judge_comparison(const struct lg_cost_spec *spec, struct lg_cost *cost)
{
	const struct lg_comparison *one = &cost->v[0];

	cost->verdict = lg_quads_verdict(cost->has_cpu ? &one->cpu : &one->wall,
					 cost->has_cpu ? &one->cpu_same : &one->wall_same, spec->margin, &cost->why);
}

static void measure(const struct lg_cost_spec *spec, struct lg_ruler *ruler, struct lg_cost *cost, struct kt_err *err)
{
	struct pair pair = {.ruler = ruler, .cost = cost, .variants = {&spec->a, &spec->b},
			    .random = (uint64_t)spec->seed};

	cost->has_cpu = ruler->has_cpu;
	if (spec->ndoses > 0 && compare_doses(&pair, err) == 0) {
		judge_line(cost);
	} else if (spec->ndoses == 0 && compare(&pair, &cost->v[0], err) == 0) {
		cost->n = 1;
		judge_comparison(spec, cost);
	}
}

int lg_cost_run(const struct lg_cost_spec *spec, const struct lg_cost_target *target, struct lg_cost *cost,
		struct kt_err *err)
{
	struct lg_ruler ruler;
	int64_t from = lg_now();

	*cost = (struct lg_cost){.why = ""};
	if (lg_ruler_open(&ruler, spec, target, err) == 0)
		measure(spec, &ruler, cost, err);
	lg_ruler_close(&ruler, err);
	cost->cannot_tell = cost->cannot_tell && err->code == KT_ETIMEOUT;   /* and what was in force is put back */
	cost->seconds = (double)(lg_now() - from) / 1e9;
	return err->code;
}

int lg_cost_exit(const struct lg_cost *cost, const struct kt_err *err)
{
	static const int exits[] = {
#define LG_X(symbol, name, exit) [symbol] = exit,
		LG_COST_VERDICTS(LG_X)
#undef LG_X
	};

	if (err->code)
		return cost->cannot_tell ? KT_EXIT_INCOMPLETE : lg_exit_of(err);
	return exits[cost->verdict];
}
