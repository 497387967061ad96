/* Inside control/: one rule, and how its JSON is read. */
#ifndef KASSAY_FAKEBROKER_CONTROL_RULE_H
#define KASSAY_FAKEBROKER_CONTROL_RULE_H

#include "fakebroker/control/rules.h"

enum { FB_ANY = -1 };

struct fb_rule {
	struct fb_rule *next;
	char *name;
	json_t *json;              /* as it was given */
	/* match */
	int api, version, node;    /* FB_ANY */
	char *client_id, *principal, *topic;   /* globs and a name, NULL = any */
	int64_t nth, every;        /* 0 = any */
	double probability;
	int64_t times;             /* hits after which it rests, 0 = none */
	/* action, expectation */
	struct fb_action action;
	int64_t expect_hits, expect_at_least;   /* -1 = none */
	/* what happened */
	int64_t seen, hits;        /* requests that its other conditions match; those it acted on */
};

/* Reads a rule for a cluster with these nodes. NULL on failure: the reason and its place are in json's error. */
struct fb_rule *fb_rule_read(struct kt_obj *json, const struct fb_cluster *cluster);
void fb_rule_free(struct fb_rule *rule);

#endif
