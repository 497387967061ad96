#include "loadgen/ruler.h"

#include <string.h>

#include "loadgen/clock.h"

/* Its thread looks at a queue that was empty after 2 ms (docs/observers.md): a broker that has done nothing for QUIET
 * has handed over what it had. If it turns out that it has not, twice as long is waited, up to QUIET_MAX. */
#define QUIET (4 * LG_MS)
#define QUIET_MAX (256 * LG_MS)
#define PATIENCE (30 * LG_SECOND)

/* ---- clocks ---- */

static int64_t cpu_of(const struct lg_ruler *ruler, int broker)
{
	struct timespec ts = {0};

	if (ruler->has_cpu)
		clock_gettime(ruler->clocks[broker], &ts);
	return (int64_t)ts.tv_sec * LG_SECOND + ts.tv_nsec;
}

/* Waits until the process has used no CPU for so long, and returns its clock. Reading that costs the process nothing,
 * which asking it would. */
static int64_t cpu_when_quiet(const struct lg_ruler *ruler, int broker, int64_t quiet)
{
	int64_t cpu = cpu_of(ruler, broker), deadline = lg_now() + PATIENCE;

	for (int64_t still = 0; still < quiet && lg_now() < deadline && !lg_stopped(); still += LG_MS) {
		int64_t last = cpu;

		lg_pause(LG_MS);
		cpu = cpu_of(ruler, broker);
		if (cpu != last)
			still = 0;
	}
	return cpu;
}

/* ---- a block ---- */

static const char *mode_of(const struct lg_in_force *state)
{
	return state->queued ? "queued" : "inline";
}

/* Whoever else switches the broker meanwhile, as a second measurement would, makes A and B the same thing. Options are
 * not told; observers that were made anew count from 0. */
static int check_alone(const struct lg_ruler *ruler, const struct lg_in_force *state, struct kt_err *err)
{
	const char *has = state->classes ? state->classes : "", *given = ruler->now.classes;

	if (strcmp(has, given) != 0)
		return kt_fail(err, KT_EPEER, "somebody else switches the broker, too: it has \"%s\", and was given "
			       "\"%s\"", has, given);
	if (state->queued != ruler->now.queued)
		return kt_fail(err, KT_EPEER, "somebody else switches the broker, too: \"%s\" is %s, and was given %s",
			       has, mode_of(state), mode_of(&ruler->now));
	if (!state->queued && state->seen < ruler->due)
		return kt_fail(err, KT_EPEER, "somebody else switches the broker, too: \"%s\" saw %lld of %lld "
			       "requests", has, (long long)state->seen, (long long)ruler->due);
	if (state->dropped > 0)
		return kt_fail(err, KT_EPEER, "the queue of \"%s\" was full, %lld exchanges are lost: make \"block\" "
			       "of the scenario smaller, or observer.queue.entries larger", has,
			       (long long)state->dropped);
	return 0;
}

/* *done: they have seen all requests since the last switch, and their queues are empty. */
static int look(struct lg_ruler *ruler, int broker, bool *done, struct kt_err *err)
{
	struct lg_in_force state = {0};

	if (lg_cost_in_force(ruler->spec, ruler->target, ruler->blocks[broker].conn, &state, err) == 0)
		check_alone(ruler, &state, err);
	*done = !err->code && state.waiting == 0 && state.seen >= ruler->due;
	lg_in_force_fini(&state);
	return err->code;
}

/* Adds what the broker has used since its clock showed `from` until its observers are done. What it takes to answer
 * whether they are is not in it. */
static int catch_up(struct lg_ruler *ruler, int broker, int64_t from, int64_t *used, struct kt_err *err)
{
	int64_t quiet = ruler->queued ? QUIET : 0, deadline = lg_now() + PATIENCE;
	bool done;

	*used += cpu_when_quiet(ruler, broker, quiet) - from;
	if (ruler->target->what == LG_SWITCH_NONE)
		return 0;
	while (look(ruler, broker, &done, err) == 0 && !done) {
		if (lg_stopped())
			return kt_fail(err, KT_ETIMEOUT, "stopped");
		if (lg_now() > deadline)
			return kt_fail(err, KT_ETIMEOUT, "\"%s\" has not seen all of %lld requests after %d s",
				       ruler->now.classes, (long long)ruler->due, (int)(PATIENCE / LG_SECOND));
		from = cpu_of(ruler, broker);
		quiet = quiet < QUIET_MAX ? 2 * quiet : quiet;
		*used += cpu_when_quiet(ruler, broker, quiet) - from;
	}
	return err->code;
}

static int bring_about(struct lg_ruler *ruler, const struct lg_variant *variant, int broker, struct kt_err *err)
{
	if (ruler->target->what == LG_SWITCH_NONE)
		return 0;
	ruler->due = 0;
	ruler->switched = true;        /* or not, if the answer is lost */
	lg_in_force_fini(&ruler->now);
	return lg_cost_switch(ruler->spec, ruler->target, variant, ruler->blocks[broker].conn, &ruler->now, err);
}

static int send(struct lg_ruler *ruler, int broker, int n, struct kt_err *err)
{
	ruler->due += n;
	return lg_blocks_run(&ruler->blocks[broker], n, err);
}

int lg_ruler_measure(struct lg_ruler *ruler, const struct lg_variant *variant, int broker, double *cpu, double *wall,
		     struct kt_err *err)
{
	int n = ruler->spec->requests.block;
	int64_t used = 0, cpu_from, from;

	if (bring_about(ruler, variant, broker, err) || send(ruler, broker, ruler->spec->warm, err) ||
	    (ruler->queued && catch_up(ruler, broker, 0, &used, err)))
		return err->code;
	used = 0;
	cpu_from = cpu_of(ruler, broker);
	from = lg_now();
	if (send(ruler, broker, n, err))
		return err->code;
	*wall = (double)(lg_now() - from) / n;
	if (catch_up(ruler, broker, cpu_from, &used, err))
		return err->code;
	*cpu = ruler->has_cpu ? (double)used / n : 1;
	return 0;
}

int lg_ruler_meet(struct lg_ruler *ruler, const struct lg_variant *const variants[2], struct kt_err *err)
{
	ruler->queued = false;
	for (int i = 0; i < 2 && ruler->target->what == LG_SWITCH_OBSERVER; i++) {
		if (bring_about(ruler, variants[i], 0, err))
			return err->code;
		ruler->queued = ruler->queued || ruler->now.queued;
	}
	return 0;
}

/* ---- life ---- */

static int find_clock(pid_t pid, clockid_t *clock, struct kt_err *err)
{
	int code = clock_getcpuclockid(pid, clock);

	return code == 0 ? 0 : kt_fail(err, KT_EUSAGE, "no CPU time of process %d: %s", (int)pid, strerror(code));
}

static int find_clocks(struct lg_ruler *ruler, struct kt_err *err)
{
	pid_t a = ruler->target->pid_a, b = ruler->target->pid_b;

	ruler->has_cpu = a > 0 && (b > 0 || !ruler->target->b);
	if (a > 0 && find_clock(a, &ruler->clocks[0], err))
		return err->code;
	return b > 0 ? find_clock(b, &ruler->clocks[1], err) : 0;
}

int lg_ruler_open(struct lg_ruler *ruler, const struct lg_cost_spec *spec, const struct lg_cost_target *target,
		  struct kt_err *err)
{
	*ruler = (struct lg_ruler){.spec = spec, .target = target};
	if (find_clocks(ruler, err) || lg_blocks_open(&ruler->blocks[0], &spec->requests,
						      target->b ? target->a : spec->bootstrap, err))
		return err->code;
	if (target->b) {   /* a first request: if both are of one cluster, B finds that the topic is not empty */
		if (lg_blocks_run(&ruler->blocks[0], 1, err) == 0)
			lg_blocks_open(&ruler->blocks[1], &spec->requests, target->b, err);
		return err->code;
	}
	return lg_cost_in_force(spec, target, ruler->blocks[0].conn, &ruler->before, err);
}

int lg_ruler_trim(struct lg_ruler *ruler, struct kt_err *err)
{
	if (ruler->spec->requests.api == LG_BLOCK_PRODUCE && lg_blocks_trim(&ruler->blocks[0], err) == 0 &&
	    ruler->target->b)
		lg_blocks_trim(&ruler->blocks[1], err);
	return err->code;
}

void lg_ruler_close(struct lg_ruler *ruler, struct kt_err *err)
{
	struct kt_err why = {0};

	for (int i = 0; i < 2; i++)
		lg_blocks_clear(&ruler->blocks[i], &why);
	if (!err->code)
		*err = why;
	if (ruler->switched)
		lg_cost_put_back(ruler->spec, ruler->target, &ruler->before, err);
	lg_in_force_fini(&ruler->before);
	lg_in_force_fini(&ruler->now);
	lg_blocks_fini(&ruler->blocks[0]);
	lg_blocks_fini(&ruler->blocks[1]);
}
