#include "conformance/runner.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct work {
	const struct cf_runner *runner;
	char name[16];               /* of this run, in names of topics */
	pthread_mutex_t lock;        /* guards all below */
	size_t next;                 /* item that the next free thread takes */
	size_t told;                 /* rows that on_row has seen */
	size_t end;                  /* items from here on run alone */
	json_t **rows;
};

static void name_run(char *name, size_t size)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	snprintf(name, size, "%06llx",
		 (unsigned long long)((uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000 +
				      (uint64_t)getpid() * 86400000) &
			 0xffffff);
}

static json_t *disabled_row(const struct cf_item *item)
{
	char reason[200];

	if (strcmp(item->disabled_by, CF_NOT_DESTRUCTIVE) == 0)
		snprintf(reason, sizeof reason, "%s", item->disabled_by);
	else
		snprintf(reason, sizeof reason, "left out by \"%.160s\"", item->disabled_by);
	return json_pack("{s:s, s:s, s:o, s:s, s:i, s:[]}", "id", item->instance.id, "verdict", "disabled", "reason",
			 cf_clean_json(reason), "alternative", "", "ms", 0, "steps");
}

json_t *cf_item_run(const struct cf_item *item, const struct cf_target *target, const char *run_name, size_t index,
		    uint64_t seed, bool strict)
{
	json_t *row = item->disabled ? disabled_row(item)
				     : cf_instance_run(&item->instance, target, run_name, index, seed);

	cf_row_describe(row, &item->instance);
	cf_policy(row, target->profile, strict);
	return row;
}

static json_t *run_item(const struct work *work, size_t i)
{
	const struct cf_runner *runner = work->runner;

	return cf_item_run(&runner->items.v[i], runner->target, work->name, i, runner->seed, runner->strict);
}

static void finish(struct work *work, size_t i, json_t *row)
{
	const struct cf_runner *runner = work->runner;

	pthread_mutex_lock(&work->lock);
	work->rows[i] = row;
	while (work->told < runner->items.n && work->rows[work->told]) {
		runner->on_row(runner->arg, work->rows[work->told], work->told + 1, runner->items.n);
		work->told++;
	}
	pthread_mutex_unlock(&work->lock);
}

static void *work_off(void *arg)
{
	struct work *work = arg;

	for (;;) {
		size_t i;

		pthread_mutex_lock(&work->lock);
		i = work->next++;
		pthread_mutex_unlock(&work->lock);
		if (i >= work->end || *work->runner->stop)
			return NULL;
		finish(work, i, run_item(work, i));
	}
}

static void run_shared(struct work *work)
{
	int jobs = work->runner->jobs, started = 0;
	pthread_t *threads = jobs > 1 ? calloc((size_t)jobs, sizeof *threads) : NULL;

	while (threads && started < jobs && pthread_create(&threads[started], NULL, work_off, work) == 0)
		started++;
	if (started == 0)
		work_off(work);
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

/* Where the items begin that run alone. */
static size_t first_alone(const struct cf_items *items)
{
	size_t i = 1;

	while (i < items->n && !items->v[i].alone)
		i++;
	return i;
}

/* The first item alone, then those that may run side by side, then the others one by one. */
json_t *cf_runner_run(struct cf_runner *runner)
{
	struct work work = {.runner = runner, .next = 1, .end = first_alone(&runner->items)};
	json_t *rows = json_array();
	size_t n = runner->items.n;

	name_run(work.name, sizeof work.name);
	pthread_mutex_init(&work.lock, NULL);
	work.rows = calloc(n + 1, sizeof(json_t *));
	if (!work.rows)
		goto out;
	if (n > 0)
		finish(&work, 0, run_item(&work, 0));
	run_shared(&work);
	for (size_t i = work.end; i < n && !*runner->stop; i++)
		finish(&work, i, run_item(&work, i));
	for (size_t i = 0; i < n && work.rows[i]; i++)
		json_array_append_new(rows, work.rows[i]);
out:
	free(work.rows);
	pthread_mutex_destroy(&work.lock);
	return rows;
}
