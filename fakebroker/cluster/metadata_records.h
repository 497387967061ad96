/* What the controller writes to the metadata log when something happens, record by record. Under the cluster's lock,
 * for writing. The caller closes the batch with fb_wrote().
 *
 * The versions are those that Kafka's controller writes at the cluster's level; the order is what the log of a
 * Kafka 4.4.0 has. Source: MetadataVersion (registerBrokerRecordVersion, partitionRecordVersion),
 * ClusterControlManager, ReplicationControlManager, ActivationRecordsGenerator.
 */
#ifndef KASSAY_FAKEBROKER_CLUSTER_METADATA_RECORDS_H
#define KASSAY_FAKEBROKER_CLUSTER_METADATA_RECORDS_H

#include "fakebroker/cluster/cluster.h"

/* Ends the batch of what was written since the last call. */
void fb_wrote(struct fb_cluster *cluster);

/* Most records that Kafka's controller writes for one request (QuorumController.MAX_RECORDS_PER_USER_OP). */
enum { FB_MAX_RECORDS = 10000 };
/* Does Kafka's controller write the open batch, which a client asked for? 0, or a code with *message, NULL for none,
 * and *fault, what the controller does besides, if it imitates faults. Nothing is taken back. */
int16_t fb_judge_batch(const struct fb_cluster *cluster, bool validateOnly, const char **message, enum fb_fault *fault);

/* Whole batches: what a new cluster begins with; configs are its first ConfigRecords. */
void fb_write_bootstrap(struct fb_cluster *cluster, const struct fb_change *configs, size_t n);
/* What follows when metadata.version was at another level. */
void fb_write_level_follows(struct fb_cluster *cluster, int16_t was);
/* kraft.version and the voters, which are in the log from 1 on (KIP-853). */
void fb_write_voters(struct fb_cluster *cluster);

void fb_write_feature(struct fb_cluster *cluster, enum fb_feature feature, int16_t level);
/* BROKER_LOGGER changes are a node's own and not written. */
void fb_write_configs(struct fb_cluster *cluster, const struct fb_change *changes, size_t n);
/* configs: the topic's own. */
void fb_write_topic(struct fb_cluster *cluster, const struct fb_topic *topic, const struct fb_change *configs,
		    size_t n);
void fb_write_topic_removal(struct fb_cluster *cluster, const struct fb_topic *topic);
/* What of a partition is not as it was. */
struct fb_partition_change {
	bool isr, leader, elr, lastKnown;
};

/* Its new state, in what has changed; nothing, when nothing has. */
void fb_write_partition_change(struct fb_cluster *cluster, const struct fb_partition *partition,
			       const struct fb_partition_change *change);
void fb_write_registration(struct fb_cluster *cluster, const struct fb_broker *broker);
void fb_write_unregistration(struct fb_cluster *cluster, const struct fb_broker *broker);
/* The broker was fenced or unfenced, as its `fenced` says. */
void fb_write_fencing(struct fb_cluster *cluster, const struct fb_broker *broker);
/* It wants to go, but leads partitions. */
void fb_write_controlled_shutdown(struct fb_cluster *cluster, const struct fb_broker *broker);
/* It told that none of its directories is cordoned, as brokers of 4.3 do with their first heartbeat; below that level
 * nothing is written. */
void fb_write_uncordoned(struct fb_cluster *cluster, const struct fb_broker *broker);

#endif
