#include "loadgen/load.h"

#include <stdio.h>
#include <string.h>

#include "loadgen/clock.h"

int lg_load_init(struct lg_load *load, const struct lg_plan *plan, uint32_t number, uint64_t run,
		 int32_t npartitions, struct kt_err *err)
{
	int rc;

	memset(load, 0, sizeof *load);
	load->plan = plan;
	load->phase = &plan->phases[number];
	load->number = number;
	load->run = run;
	load->npartitions = npartitions;
	load->wall_offset = lg_wall() - lg_now();
	pthread_mutex_init(&load->lock, NULL);
	lg_outcomes_init(&load->outcomes);
	rc = lg_meter_init(&load->meter, err);
	return rc ? rc : lg_ledger_new(npartitions, &load->ledger, err);
}

void lg_load_fini(struct lg_load *load)
{
	lg_ledger_free(load->ledger);
	lg_meter_fini(&load->meter);
	lg_outcomes_fini(&load->outcomes);
	pthread_mutex_destroy(&load->lock);
}

int lg_load_stamp(struct lg_load *load, int32_t partition, int64_t intended, struct lg_stamp *stamp)
{
	stamp->run = load->run;
	stamp->producer = load->number;
	stamp->topic = lg_topic_id(load->phase->topic);
	stamp->partition = partition;
	stamp->intended = intended + load->wall_offset;
	stamp->sequence = lg_ledger_open(load->ledger, partition);
	stamp->seed = lg_mix(load->plan->seed + load->number, (uint64_t)partition, (uint64_t)stamp->sequence);
	return stamp->sequence < 0 ? KT_ENOMEM : 0;
}

void lg_load_settle(struct lg_load *load, int32_t partition, int64_t sequence, enum lg_fate fate)
{
	_Atomic int64_t *counters[LG_NFATES] = {
		[LG_ACKED] = &load->counters.acked,
		[LG_REFUSED] = &load->counters.refused,
		[LG_REFUSED_WITH_BATCH] = &load->counters.refused_with_batch,
		[LG_FAILED] = &load->counters.failed,
		[LG_UNKNOWN] = &load->counters.unknown,
		[LG_NOT_SENT] = &load->counters.not_sent,
	};

	lg_ledger_settle(load->ledger, partition, sequence, fate);
	if (counters[fate])
		atomic_fetch_add_explicit(counters[fate], 1, memory_order_relaxed);
}

int64_t lg_load_end(const struct lg_load *load)
{
	return load->last_acked > load->last_sent ? load->last_acked : load->last_sent;
}

void lg_load_event(struct lg_load *load, const char *text)
{
	load->counters.events++;
	pthread_mutex_lock(&load->lock);
	snprintf(load->event, sizeof load->event, "%s", text);
	pthread_mutex_unlock(&load->lock);
}
