/* Renderings of a run: for people, and as result.json. */
#ifndef KASSAY_LOADGEN_REPORT_H
#define KASSAY_LOADGEN_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "loadgen/run.h"
#include "loadgen/wire_fetch.h"

/* Lag above which the numbers of a phase are the generator's own. */
#define LG_LAG_LIMIT (10 * INT64_C(1000000))

/* What limited a phase below its plan: "" if nothing did. Returns buf. */
const char *lg_limit_text(const struct lg_load *load, char *buf, size_t size);

void lg_report(const struct lg_run *run, FILE *out);
/* The three latencies, as a table. */
void lg_report_latencies(const struct lg_meter *meter, FILE *out);

/* A new reference; NULL when memory is exhausted. docs/loadgen.md describes the members. */
json_t *lg_result_json(const struct lg_run *run);
/* The same of a reader alone. */
json_t *lg_fetch_json(const struct lg_reader *reader, const char *target, double seconds, bool complete);
/* The same of Fetch requests. */
json_t *lg_wire_fetch_json(const struct lg_fetch_stats *stats, const char *target);
/* Writes directory/result.json. KT_EFILE, KT_ENOMEM. */
int lg_result_write(json_t *result, const char *directory, struct kt_err *err);

#endif
