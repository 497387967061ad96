/* What the command line asks for. */
#ifndef KASSAY_FAKEBROKER_SETTINGS_H
#define KASSAY_FAKEBROKER_SETTINGS_H

#include "lib/text/opt.h"

enum fb_list_kind {
	FB_LIST_NONE = -1, FB_LIST_APIS, FB_LIST_RELEASES, FB_LIST_VALIDATORS, FB_LIST_OBSERVERS, FB_LIST_ACTIONS,
	FB_LIST_MUTANTS, FB_LIST_FAULTS
};

struct fb_settings {
	const char *scenario;          /* file, or NULL */
	int nodes;                     /* 0 = as the scenario says, else 1 */
	int port, controller_port, control_port;
	const char *host, *advertise;  /* advertise NULL = host */
	const char *port_file;
	const char *release;           /* NULL = the newest */
	const char *metadata_version;
	struct kt_list properties;     /* [ID:]FILE */
	struct kt_list set, node_set, plugins, mutants;
	struct kt_list described;      /* files, for check */
	const char *record;            /* file, or NULL */
	int threads;
	int64_t seed;
	int log_level;                 /* enum kassay_level */
	bool check, json, lax;
	int list;                      /* enum fb_list_kind */
};

/* Fills settings from argv. False: print nothing more and exit with *status. */
bool fb_settings_read(struct fb_settings *settings, int argc, char **argv, int *status);
/* Prints a table or JSON of what --list names. */
int fb_list(const struct fb_settings *settings);

#endif
