/* fakebroker: a scriptable Kafka cluster in one process. */
#include <errno.h>
#include <malloc.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fakebroker/check.h"
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/control/rules.h"
#include "fakebroker/thread.h"
#include "lib/text/address.h"

enum {
	HANG_S = 5,                  /* from the signal on: that requests under way have to end */
};

/* What a log lets go it takes again at once, so that it stays with the process: giving it back, as the C library does
 * until it has seen a larger piece go, costs more page faults than all else that is done with it. */
static void keep_freed_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 32 << 20);   /* the most that it takes */
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

static int exit_of(const struct kt_err *err)
{
	return err->code == KT_ENOMEM || err->code == KT_ESYS ? KT_EXIT_ENGINE : KT_EXIT_USAGE;
}

static int write_port_file(const char *file, const char *bootstrap, const char *controller, const char *control,
			   struct kt_err *err)
{
	json_t *json = json_pack("{s:s, s:s, s:s, s:i}", "bootstrap", bootstrap, "controller", controller, "control",
				 control, "pid", (int)getpid());
	int code = kt_json_write(file, json, JSON_COMPACT, err);

	json_decref(json);
	return code;
}

static int announce(const struct fb_broker_process *process, const struct fb_settings *settings, struct kt_err *err)
{
	const struct fb_node *node = fb_cluster_node(process->cluster, FB_CONTROLLER_ID);
	char *bootstrap = fb_bootstrap(process->cluster);
	char controller[KT_ADDRESS_MAX];
	int code = 0;

	if (!bootstrap)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	kt_address(controller, sizeof controller, node->host, node->port);
	if (settings->port_file)
		code = write_port_file(settings->port_file, bootstrap, controller, process->cluster->control_url, err);
	if (!code)
		printf("ready bootstrap=%s controller=%s control=%s\n", bootstrap, controller,
		       process->cluster->control_url);
	free(bootstrap);
	return code;
}

static sem_t asked_to_end;
static volatile sig_atomic_t asked_by;

/* A thread of ours is inside a validator or observer that does not return, or a write to a pipe that nobody reads, and
 * nothing can end it. */
static void give_up(void)
{
	static const char text[] =
		"fakebroker: a validator, an observer or the pipe of --record hangs: ending without it\n";
	ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);

	(void)n;
	_exit(KT_EXIT_ENGINE);
}

/* Every second from the signal on. It interrupts the main thread where that waits for who reads the port file and began
 * to just after the signal. */
static void on_second(int sig)
{
	static volatile sig_atomic_t seconds;

	(void)sig;
	if (++seconds == HANG_S)
		give_up();
	alarm(1);
}

static void on_signal(int sig)
{
	if (asked_by)
		return;
	asked_by = sig;
	alarm(1);
	sem_post(&asked_to_end);
}

/* Until catch_signals() the two that end a broker do so at once, whatever hangs: a hook, or a pipe of which the other
 * end is missing. */
static void prepare_signals(void)
{
	struct sigaction action = {.sa_handler = on_second};
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&action.sa_mask);
	sigaction(SIGALRM, &action, NULL);   /* without SA_RESTART, which signal() would set */
	fb_main_signals(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* From now on they wake the main thread, or interrupt it where it waits for who reads the port file. */
static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sem_init(&asked_to_end, 0, 0);
	sigemptyset(&action.sa_mask);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
}

static int judge_expectations(struct fb_cluster *cluster)
{
	char text[4096];

	if (fb_rules_unmet(cluster->rules, text, sizeof text) == 0)
		return KT_EXIT_OK;
	fprintf(stderr, "fakebroker: expectations not met: %s\n", text);
	return KT_EXIT_VERDICT;
}

static int run(const struct fb_settings *settings)
{
	struct fb_broker_process process;
	struct kt_err err = {0};
	int status = KT_EXIT_OK;

	keep_freed_memory();
	prepare_signals();
	if (fb_start(&process, settings, &err) < 0)
		goto fail;
	catch_signals();
	if (fb_serve(&process, &err) < 0)
		goto fail;
	/* Nor is it an error if the signal comes while it waits for who reads the port file. */
	if (!asked_by && announce(&process, settings, &err) < 0 && !asked_by)
		goto fail;
	/* Nobody would know that it serves; kt_finish_stdout() says why. */
	if (fflush(stdout) != 0 && errno != EPIPE && !asked_by) {
		status = KT_EXIT_ENGINE;
		goto out;
	}
	while (sem_wait(&asked_to_end) < 0)
		;
	fb_log_line(KASSAY_INFO, "signal %d: shutting down", (int)asked_by);
	fb_stop_serving(&process);
	alarm(0);
	status = judge_expectations(process.cluster);
	goto out;
fail:
	kt_complain("fakebroker", &err);
	status = exit_of(&err);
out:
	fb_stop(&process);
	return status;
}

static int check(const struct fb_settings *settings)
{
	struct fb_check found;
	struct kt_err err = {0};
	int status;

	if (fb_check(&found, settings, &err) == 0) {
		status = fb_check_print(&found, settings->json);
	} else {
		kt_complain("fakebroker", &err);
		status = exit_of(&err);
	}
	fb_check_fini(&found);
	return status;
}

int main(int argc, char **argv)
{
	struct fb_settings settings;
	int status;

	if (!fb_settings_read(&settings, argc, argv, &status))
		return status;
	fb_log_level((enum kassay_level)settings.log_level);
	if (settings.list != FB_LIST_NONE)
		status = fb_list(&settings);
	else
		status = settings.check ? check(&settings) : run(&settings);
	return kt_finish_stdout("fakebroker", status);
}
