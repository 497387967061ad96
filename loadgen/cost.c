#include "loadgen/cost.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "loadgen/clock.h"
#include "loadgen/schedule.h"

enum {
	TRIM_EVERY = 32,               /* quads between two deletions of what was produced */
	REPEATS = 1000,                /* quads that may be measured again, beside as many as there are to be */
};

struct meter {
	const struct lg_cost_spec *spec;
	const struct lg_cost_target *target;
	struct lg_in_force before;
	struct lg_blocks blocks[2];    /* one broker: only the first */
	clockid_t clocks[2];           /* of the processes' CPU time */
	bool has_cpu;
	uint64_t random;
	int repeated;                  /* quads that were measured again */
	const struct lg_variant *state;        /* what the broker was last switched to */
	bool switched;
};

/* Measurements of one comparison; same: A against A. */
struct quads {
	struct lg_quad *cpu, *wall, *cpu_same, *wall_same;
};

static int64_t read_clock(clockid_t id)
{
	struct timespec ts = {0};

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * LG_SECOND + ts.tv_nsec;
}

/* ---- a block ---- */

/* Whoever else switches the broker meanwhile, as a second measurement would, makes A and B the same thing. */
static int check_alone(struct meter *meter, struct lg_blocks *blocks, struct kt_err *err)
{
	struct lg_in_force now = {0};

	if (lg_cost_in_force(meter->spec, meter->target, blocks->conn, &now, err) == 0 &&
	    (!now.classes || strcmp(now.classes, meter->state->classes) != 0))
		kt_fail(err, KT_EPEER, "somebody else switches the broker, too: it has \"%s\", and was given \"%s\"",
			now.classes ? now.classes : "", meter->state->classes);
	lg_in_force_fini(&now);
	return err->code;
}

static int bring_about(struct meter *meter, const struct lg_variant *variant, struct lg_blocks *blocks,
		       struct kt_err *err)
{
	if (meter->target->what == LG_SWITCH_NONE || meter->state == variant)
		return 0;
	if (meter->state && check_alone(meter, blocks, err))
		return err->code;
	meter->state = variant;
	meter->switched = true;        /* or not, if the answer is lost */
	return lg_cost_switch(meter->spec, meter->target, variant, blocks->conn, err);
}

/* ns per request. */
static int measure(struct meter *meter, const struct lg_variant *variant, double *cpu, double *wall, struct kt_err *err)
{
	int broker = meter->target->b && variant == &meter->spec->b;
	struct lg_blocks *blocks = &meter->blocks[broker];
	int n = meter->spec->requests.block;
	int64_t cpu_from = 0, from;

	if (bring_about(meter, variant, blocks, err) ||
	    (meter->spec->warm > 0 && lg_blocks_run(blocks, meter->spec->warm, err)))
		return err->code;
	if (meter->has_cpu)
		cpu_from = read_clock(meter->clocks[broker]);
	from = lg_now();
	if (lg_blocks_run(blocks, n, err))
		return err->code;
	*wall = (double)(lg_now() - from) / n;
	*cpu = 1;
	if (meter->has_cpu)
		*cpu = (double)(read_clock(meter->clocks[broker]) - cpu_from) / n;
	return 0;
}

static bool is_sound(const struct lg_quad *quad)
{
	for (int i = 0; i < LG_QUAD; i++)
		if (quad->ns[i] <= 0)
			return false;
	return true;
}

static int try_quad(struct meter *meter, const struct lg_variant *a, const struct lg_variant *b, bool same,
		    struct lg_quad *cpu, struct lg_quad *wall, struct kt_err *err)
{
	lg_quad_order(cpu, &meter->random);
	*wall = *cpu;
	for (int i = 0; i < LG_QUAD; i++) {
		bool is_b = cpu->b[i] && !same;

		if (measure(meter, is_b ? b : a, &cpu->ns[i], &wall->ns[i], err))
			return err->code;
	}
	return 0;
}

/* same: all four blocks are of a. Now and then, when a thread of the broker ends, Linux lets its CPU clock stand or go
 * back for another process that reads it: such a quad is measured again, and counted. */
static int measure_quad(struct meter *meter, const struct lg_variant *a, const struct lg_variant *b, bool same,
			struct lg_quad *cpu, struct lg_quad *wall, struct kt_err *err)
{
	while (try_quad(meter, a, b, same, cpu, wall, err) == 0) {
		if (is_sound(cpu))
			return 0;
		if (++meter->repeated > meter->spec->quads + REPEATS)
			return kt_fail(err, KT_ETIMEOUT,
				       "the broker's CPU clock does not go on: make \"block\" of the scenario larger");
	}
	return err->code;
}

static int trim(struct meter *meter, struct kt_err *err)
{
	if (meter->spec->requests.api != LG_BLOCK_PRODUCE)
		return 0;
	if (lg_blocks_trim(&meter->blocks[0], err) == 0 && meter->target->b)
		lg_blocks_trim(&meter->blocks[1], err);
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
static int measure_both(struct meter *meter, const struct lg_variant *a, const struct lg_variant *b, size_t i,
			const struct quads *quads, struct kt_err *err)
{
	const struct lg_variant *same = meter->target->b && i % 2 ? b : a;

	if (measure_quad(meter, a, b, false, &quads->cpu[i], &quads->wall[i], err) == 0 &&
	    measure_quad(meter, same, same, true, &quads->cpu_same[i], &quads->wall_same[i], err) == 0 &&
	    i % TRIM_EVERY == 0)
		trim(meter, err);
	return err->code;
}

static int compare(struct meter *meter, const struct lg_variant *a, const struct lg_variant *b,
		   struct lg_comparison *comparison, struct kt_err *err)
{
	size_t n = (size_t)meter->spec->quads;
	struct lg_quad *all = calloc(4 * n, sizeof *all);
	struct quads quads = {all, all + n, all + 2 * n, all + 3 * n};

	if (!all)
		return kt_fail(err, KT_ENOMEM, "no memory");
	for (size_t i = 0; i < (size_t)meter->spec->warm_up && !err->code && !lg_stopped(); i++)
		measure_both(meter, a, b, i % n, &quads, err);
	for (size_t i = 0; i < n && !err->code; i++)
		if (lg_stopped())
			kt_fail(err, KT_ETIMEOUT, "stopped after %zu of %zu quads", i, n);
		else
			measure_both(meter, a, b, i, &quads, err);
	if (!err->code)
		judge(&quads, n, (uint64_t)meter->spec->seed, comparison, err);
	free(all);
	return err->code;
}

/* ---- doses ---- */

static int make_dose(int us, struct lg_variant *variant, struct kt_err *err)
{
	char text[16];

	snprintf(text, sizeof text, "%d", us);
	*variant = (struct lg_variant){
		.classes = "SlowObserver", .mode = "inline",
		.options = json_pack("{s:s, s:s}", "SlowObserver.us", text, "SlowObserver.busy", "true"),
	};
	return variant->options ? 0 : kt_fail(err, KT_ENOMEM, "no memory");
}

static int compare_doses(struct meter *meter, struct lg_cost *cost, struct kt_err *err)
{
	double x[LG_DOSES_MAX], y[LG_DOSES_MAX];
	struct lg_variant none;

	make_dose(0, &none, err);
	for (cost->n = 0; cost->n < meter->spec->ndoses && !err->code; cost->n++) {
		struct lg_comparison *comparison = &cost->v[cost->n];
		struct lg_variant dose;

		if (make_dose(meter->spec->doses[cost->n], &dose, err) == 0)
			compare(meter, &none, &dose, comparison, err);
		x[cost->n] = meter->spec->doses[cost->n];
		y[cost->n] = (meter->has_cpu ? comparison->cpu : comparison->wall).ns.at / 1e3;
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

static int find_clock(pid_t pid, clockid_t *clock, struct kt_err *err)
{
	int code = clock_getcpuclockid(pid, clock);

	return code == 0 ? 0 : kt_fail(err, KT_EUSAGE, "no CPU time of process %d: %s", (int)pid, strerror(code));
}

/* Of a broker on another machine there is none. */
static int find_clocks(struct meter *meter, struct kt_err *err)
{
	pid_t a = meter->target->pid_a, b = meter->target->pid_b;

	meter->has_cpu = a > 0 && (b > 0 || !meter->target->b);
	if (a > 0 && find_clock(a, &meter->clocks[0], err))
		return err->code;
	return b > 0 ? find_clock(b, &meter->clocks[1], err) : 0;
}

static int open_target(struct meter *meter, struct kt_err *err)
{
	const struct lg_cost_target *target = meter->target;

	if (find_clocks(meter, err) || lg_blocks_open(&meter->blocks[0], &meter->spec->requests,
						      target->b ? target->a : meter->spec->bootstrap, err))
		return err->code;
	if (target->b)
		return lg_blocks_open(&meter->blocks[1], &meter->spec->requests, target->b, err);
	return lg_cost_in_force(meter->spec, target, meter->blocks[0].conn, &meter->before, err);
}

static void judge_comparison(const struct meter *meter, struct lg_cost *cost)
{
	const struct lg_comparison *one = &cost->v[0];

	cost->verdict = lg_quads_verdict(meter->has_cpu ? &one->cpu : &one->wall,
					 meter->has_cpu ? &one->cpu_same : &one->wall_same, meter->spec->margin,
					 &cost->why);
}

int lg_cost_run(const struct lg_cost_spec *spec, const struct lg_cost_target *target, struct lg_cost *cost,
		struct kt_err *err)
{
	struct meter meter = {.spec = spec, .target = target, .random = (uint64_t)spec->seed};
	int64_t from = lg_now();

	*cost = (struct lg_cost){.why = ""};
	if (open_target(&meter, err) == 0) {
		cost->has_cpu = meter.has_cpu;
		if (spec->ndoses > 0 && compare_doses(&meter, cost, err) == 0) {
			judge_line(cost);
		} else if (spec->ndoses == 0 && compare(&meter, &spec->a, &spec->b, &cost->v[0], err) == 0) {
			cost->n = 1;
			judge_comparison(&meter, cost);
		}
	}
	if (meter.switched)
		lg_cost_put_back(spec, target, &meter.before, err);
	lg_in_force_fini(&meter.before);
	cost->repeated = meter.repeated;
	cost->seconds = (double)(lg_now() - from) / 1e9;
	lg_blocks_fini(&meter.blocks[0]);
	lg_blocks_fini(&meter.blocks[1]);
	return err->code;
}
