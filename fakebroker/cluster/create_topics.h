/* Topics come into being: what Kafka's controller makes of a CreateTopics request, whoever sends it, a client or a
 * broker on behalf of one. All under the cluster's lock, for writing.
 *
 * Source: ControllerApis.createTopics, ReplicationControlManager.createTopics and StripedReplicaPlacer; asked of Kafka
 * 4.4.0.
 */
#ifndef KASSAY_FAKEBROKER_CLUSTER_CREATE_TOPICS_H
#define KASSAY_FAKEBROKER_CLUSTER_CREATE_TOPICS_H

#include "fakebroker/cluster/cluster.h"
#include "kw_messages.h"

struct fb_creation {
	struct fb_cluster *cluster;
	const struct fb_node *node;      /* who was asked */
	struct kw_arena *arena;          /* for the answer */
	int16_t forced;                  /* what all are answered with instead, or 0; nothing is made then */
	const char *why;                 /* goes with it, or NULL */
	enum fb_fault fault;             /* set: what Kafka's controller does besides */
};

/* Makes the topics, unless validateOnly, writes them as one batch, and answers. Topics are judged each for itself, but
 * all are refused that are together more than the controller writes at once. False without memory: nothing is made. */
bool fb_topics_create(struct fb_creation *creation, const struct kw_CreateTopicsRequest *body,
		      struct kw_CreateTopicsResponse *response);

/* Could a topic have the name, beside those that there are? 0, or Kafka's code and *message, in arena: no legal name;
 * one that exists; one that differs from an existing one only in '.' and '_', which names of metrics do not. */
int16_t fb_topic_judge_name(struct fb_cluster *cluster, struct kw_str name, struct kw_arena *arena,
			    const char **message);

#endif
