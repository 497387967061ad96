#include "loadgen/ticker.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadgen/clock.h"

struct lg_ticker {
	struct lg_load *load;
	FILE *log;
	bool progress;
	int64_t start, logged;        /* lg_now() */
	int64_t acked;                /* at the last tick */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool done;
	struct kt_err err;
};

static void show(struct lg_ticker *ticker, int64_t now)
{
	const struct lg_counters *counters = &ticker->load->counters;
	int64_t acked = counters->acked;
	double seconds = (double)(now - ticker->start) / 1e9, last = (double)(now - ticker->logged) / 1e9;

	fprintf(stderr, "\r\033[K%s  %.0f s  sent %lld  acked %lld (%.0f/s)  refused %lld  failed %lld  p99 %.2f ms",
		ticker->load->phase->name, seconds, (long long)counters->sent, (long long)acked,
		last > 0 ? (double)(acked - ticker->acked) / last : 0,
		(long long)(counters->refused + counters->refused_with_batch), (long long)counters->failed,
		(double)lg_meter_percentile(&ticker->load->meter, LG_RESPONSE, 99) / 1e6);
	ticker->acked = acked;
}

static void tick(struct lg_ticker *ticker)
{
	int64_t now = lg_now();

	if (ticker->progress)
		show(ticker, now);
	if (ticker->log)
		lg_meter_log(&ticker->load->meter, ticker->log, (double)(ticker->logged - ticker->start) / 1e9,
			     (double)(now - ticker->logged) / 1e9, &ticker->err);
	ticker->logged = now;
}

static void *keep_ticking(void *arg)
{
	struct lg_ticker *ticker = arg;

	pthread_mutex_lock(&ticker->lock);
	for (int64_t next = ticker->start + LG_SECOND; !ticker->done; next += LG_SECOND) {
		struct timespec until = {.tv_sec = next / LG_SECOND, .tv_nsec = next % LG_SECOND};
		int rc = 0;

		while (!ticker->done && rc == 0)
			rc = pthread_cond_timedwait(&ticker->wake, &ticker->lock, &until);
		tick(ticker);
	}
	pthread_mutex_unlock(&ticker->lock);
	return NULL;
}

static FILE *open_log(const struct lg_phase *phase, const char *out, struct kt_err *err)
{
	char path[1024];
	FILE *log;

	snprintf(path, sizeof path, "%s/%s.hlog", out, phase->name);
	log = fopen(path, "w");
	if (!log)
		kt_fail(err, KT_EFILE, "%s cannot be written: %s", path, strerror(errno));
	return log;
}

int lg_ticker_try(const struct lg_phase *phase, const char *out, struct kt_err *err)
{
	FILE *log = open_log(phase, out, err);

	if (log)
		fclose(log);
	return log ? 0 : KT_EFILE;
}

static int begin_log(struct lg_ticker *ticker, const char *out, struct kt_err *err)
{
	int64_t start_ms = (ticker->start + ticker->load->wall_offset) / LG_MS;

	ticker->log = open_log(ticker->load->phase, out, err);
	return ticker->log ? kh_log_begin(ticker->log, start_ms, err) : KT_EFILE;
}

int lg_ticker_start(struct lg_load *load, const char *out, bool progress, struct lg_ticker **ticker,
		    struct kt_err *err)
{
	struct lg_ticker *made = calloc(1, sizeof *made);
	pthread_condattr_t attr;
	int rc = 0;

	*ticker = NULL;
	if (!made)
		return kt_fail(err, KT_ENOMEM, "no memory");
	made->load = load;
	made->progress = progress;
	made->start = made->logged = lg_now();
	if (out)
		rc = begin_log(made, out, err);
	pthread_mutex_init(&made->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&made->wake, &attr);
	pthread_condattr_destroy(&attr);
	if (rc == 0 && pthread_create(&made->thread, NULL, keep_ticking, made))
		rc = kt_fail(err, KT_ESYS, "cannot start a thread");
	if (rc == 0) {
		*ticker = made;
		return 0;
	}
	if (made->log)
		fclose(made->log);
	free(made);
	return rc;
}

int lg_ticker_stop(struct lg_ticker *ticker, struct kt_err *err)
{
	struct kt_err failed;

	if (!ticker)
		return 0;
	pthread_mutex_lock(&ticker->lock);
	ticker->done = true;
	pthread_cond_signal(&ticker->wake);
	pthread_mutex_unlock(&ticker->lock);
	pthread_join(ticker->thread, NULL);
	if (ticker->progress)
		fprintf(stderr, "\r\033[K");
	if (ticker->log && fclose(ticker->log))
		kt_fail(&ticker->err, KT_EFILE, "cannot write the histogram log: %s", strerror(errno));
	pthread_cond_destroy(&ticker->wake);
	pthread_mutex_destroy(&ticker->lock);
	failed = ticker->err;
	free(ticker);
	if (failed.code && err->code == 0)
		*err = failed;
	return failed.code;
}
