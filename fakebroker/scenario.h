/* The scenario file: what only a fake has (nodes, rules, topics to begin with), and configuration with Kafka's
 * words. */
#ifndef KASSAY_FAKEBROKER_SCENARIO_H
#define KASSAY_FAKEBROKER_SCENARIO_H

#include "fakebroker/cluster/cluster.h"
#include "lib/text/json.h"

/* What must be known before there is a cluster. */
struct fb_scenario {
	struct kt_json doc;
	int nodes;                     /* at least 1 */
	bool namesNodes;               /* it says which there are */
	const char *metadataVersion;   /* as it was given: a number, a name, or NULL */
	char number[24];
};

/* Reads the file and the two things; fini may be called whatever the outcome. */
int fb_scenario_load(struct fb_scenario *scenario, const char *file, struct kt_err *err);
void fb_scenario_fini(struct fb_scenario *scenario);
/* Definitions, static configuration, racks: before the brokers join. */
int fb_scenario_configure(struct fb_scenario *scenario, struct fb_cluster *cluster, struct kt_err *err);
/* A static value of a node turned out wrong, or with value null the default of a definition: if the scenario sets it,
 * err gets its place. */
void fb_scenario_blame(const struct fb_scenario *scenario, int32_t node, struct kw_str name, struct kw_str value,
		       struct kt_err *err);
/* The same for a value of a topic. */
void fb_scenario_blame_topic(const struct fb_scenario *scenario, struct kw_str topic, struct kw_str name,
			     struct kw_str value, struct kt_err *err);
/* Topics, producers, rules: after they joined. level: what the topics' configurations are held against; FB_NO_LEVEL: no
 * rule by metadata.version. */
int fb_scenario_populate(struct fb_scenario *scenario, struct fb_cluster *cluster, int16_t level, struct kt_err *err);

#endif
