/* Static configuration as the command line gives it: --properties, --set and --node-set. */
#ifndef KASSAY_FAKEBROKER_CONFIGURE_H
#define KASSAY_FAKEBROKER_CONFIGURE_H

#include "fakebroker/cluster/cluster.h"
#include "fakebroker/settings.h"
#include "lib/text/props.h"

/* A --properties file. */
struct fb_properties {
	const char *file;
	int32_t node;                /* FB_ALL_NODES, or the node that the option or its node.id names */
	bool broker, controller;     /* process.roles; a broker where it says nothing */
	struct kt_props props;
};

struct fb_properties_files {
	struct fb_properties *v;
	size_t n;
};

/* Reads them. A file without ID is of all nodes when it is the only one, unless `by_id`; else its node.id (or
 * broker.id) says whose it is. fini may be called whatever the outcome. */
int fb_properties_load(struct fb_properties_files *files, const struct kt_list *given, bool by_id, struct kt_err *err);
void fb_properties_fini(struct fb_properties_files *files);

/* One static value. */
struct fb_given {
	int32_t node;                /* or FB_ALL_NODES */
	struct kw_str name;
	const char *value;
	const char *file;            /* NULL: an option */
	int line;
	const char *option;          /* with its argument, "--set a=b" */
};

/* "server.properties:4", or the option; cut off at size. Returns text. */
const char *fb_given_where(const char *file, int line, const char *option, char *text, size_t size);

/* Is it of all nodes, or of a broker of the cluster? KT_ERANGE if not, with the place of a file. The controller has the
 * configuration of all nodes. */
int fb_given_check(struct fb_cluster *cluster, const struct fb_given *given, struct kt_err *err);

/* Takes a value; a negative result ends it. */
typedef int fb_given_fn(void *arg, const struct fb_given *given, struct kt_err *err);

/* Calls take() for all of them, weakest first: --properties, --set, --node-set. */
int fb_given_each(const struct fb_properties_files *files, const struct fb_settings *settings, fb_given_fn *take,
		  void *arg, struct kt_err *err);

/* Sets them, up to the first that is wrong. */
int fb_configure(struct fb_cluster *cluster, const struct fb_settings *settings, struct kt_err *err);

#endif
