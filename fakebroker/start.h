/* From settings to a running cluster, and back. */
#ifndef KASSAY_FAKEBROKER_START_H
#define KASSAY_FAKEBROKER_START_H

#include "fakebroker/control/control.h"
#include "fakebroker/scenario.h"
#include "fakebroker/settings.h"

struct fb_broker_process {
	struct fb_scenario scenario;
	struct fb_cluster *cluster;
	struct fb_server *server;
	struct fb_capture *capture;    /* or NULL */
	struct fb_control *control;
	const char **plugins;          /* NULL-terminated */
	int control_port;
};

/* A cluster with its hooks and what the scenario says of definitions and static configuration; no broker has joined.
 * err must not be NULL. fb_stop() may be called whatever the outcome. */
int fb_prepare(struct fb_broker_process *process, const struct fb_settings *settings, struct kt_err *err);
/* Loads and checks everything, up to the first fault; opens the ports unless settings->check. err must not be NULL.
 * fb_stop() may be called whatever the outcome. */
int fb_start(struct fb_broker_process *process, const struct fb_settings *settings, struct kt_err *err);
/* The release to pretend to be; KT_EUNKNOWN when there is none of that name, or it is not verified. */
int fb_choose_release(const struct fb_settings *settings, const struct fb_release **release, struct kt_err *err);
/* Serves: starts the threads. */
int fb_serve(struct fb_broker_process *process, struct kt_err *err);
/* Can the validators and observers be had that the brokers are configured with? */
int fb_check_classes(struct fb_broker_process *process, struct kt_err *err);
/* What the brokers listen with: the configurations of SASL. Errors as in auth/auth.h. */
int fb_read_listeners(struct fb_cluster *cluster, struct kt_err *err);
/* Ends the threads: returns when no request is handled any more. */
void fb_stop_serving(struct fb_broker_process *process);
void fb_stop(struct fb_broker_process *process);

/* "127.0.0.1:9092,127.0.0.1:9093" in a new string for free(), NULL without memory. */
char *fb_bootstrap(const struct fb_cluster *cluster);

#endif
