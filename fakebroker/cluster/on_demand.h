/* Topics that a broker has made because a client asked for them, or for a coordinator.
 *
 * Source: AutoTopicCreationManager, and the configurations that the coordinators give their topics; asked of Kafka
 * 4.4.0.
 */
#ifndef KASSAY_FAKEBROKER_CLUSTER_ON_DEMAND_H
#define KASSAY_FAKEBROKER_CLUSTER_ON_DEMAND_H

#include "fakebroker/cluster/cluster.h"

/* Kafka's Topic.isInternal. */
bool fb_topic_is_internal(struct kw_str name);

/* Asks the controller for n topics, of legal names that differ, as the node would have them: with its num.partitions
 * and default.replication.factor, an internal one as it is configured for that. Which are refused is logged. Nothing
 * happens while the controller does not lead: whoever asked asks again. Internal topics get fewer replicas than they
 * are to have where there are fewer brokers, which is the kit's: Kafka refuses. Under the cluster's lock, for
 * writing. */
void fb_topics_on_demand(struct fb_cluster *cluster, const struct fb_node *node, const struct kw_str *names, int32_t n);

#endif
