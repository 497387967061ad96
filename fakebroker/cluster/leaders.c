/* Leaders and replicas in sync: what becomes of the partitions when one of our brokers goes or comes.
 *
 * Whoever runs catches up at once; there are no followers that could lag. Every change is written as Kafka's controller
 * writes it, where those of one broker come in the order of topic ids, and here by name. From
 * eligible.leader.replicas.version 1 on the last replica leaves the ISR, too, and is an eligible leader (KIP-966).
 * Source: PartitionChangeBuilder and ReplicationControlManager of Apache Kafka 4.4; checked against its log.
 */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/cluster/metadata_records.h"

/* From here on the leader keeps its epoch when a follower leaves the ISR (3.6-IV0). */
enum { LEVEL_KEEPS_EPOCH = 12 };

static bool contains(const struct fb_ids *ids, int32_t id)
{
	for (int32_t i = 0; i < ids->n; i++)
		if (ids->v[i] == id)
			return true;
	return false;
}

static void append(struct fb_ids *ids, int32_t id)
{
	ids->v[ids->n++] = id;
}

static void take_out(struct fb_ids *ids, int32_t id)
{
	int32_t n = 0;

	for (int32_t i = 0; i < ids->n; i++)
		if (ids->v[i] != id)
			ids->v[n++] = ids->v[i];
	ids->n = n;
}

static struct fb_ids replicas_of(const struct fb_partition *partition)
{
	const struct fb_topic *topic = partition->topic;

	return (struct fb_ids){topic->replicas + partition->index * topic->replicationFactor, topic->replicationFactor};
}

bool fb_partition_is_at(const struct fb_partition *partition, int32_t id)
{
	struct fb_ids replicas = replicas_of(partition);

	return contains(&replicas, id);
}

static int32_t min_isr(const struct fb_cluster *cluster, const struct fb_topic *topic)
{
	int64_t n = fb_configs_long(cluster->configs, FB_TOPIC, kw_str(topic->name), FB_CONTROLLER_ID,
				    "min.insync.replicas", 1);

	return n < topic->replicationFactor ? (int32_t)n : topic->replicationFactor;
}

/* The ISR is as it shall be; eligible is who else has all that was acknowledged. */
static void settle_eligible(const struct fb_cluster *cluster, struct fb_partition *partition,
			    struct fb_partition_change *change)
{
	if (partition->isr.n < min_isr(cluster, partition->topic) || partition->elr.n == 0)
		return;
	partition->elr.n = 0;
	change->elr = true;
}

/* The leader, as long as it may; or the first replica that may. */
static int32_t choose(const struct fb_cluster *cluster, const struct fb_partition *partition)
{
	const struct fb_ids *electable = partition->isr.n ? &partition->isr : &partition->elr,
			    replicas = replicas_of(partition);

	if (fb_node_runs(cluster, partition->leader) && contains(electable, partition->leader))
		return partition->leader;
	for (int32_t i = 0; i < replicas.n; i++)
		if (fb_node_runs(cluster, replicas.v[i]) && contains(electable, replicas.v[i]))
			return replicas.v[i];
	return FB_NO_LEADER;
}

static void begin_epoch(struct fb_partition *partition, int32_t leader, struct fb_partition_change *change)
{
	partition->leader = leader;
	partition->leaderEpoch++;
	change->leader = true;
	if (fb_epochs_begin(&partition->epochs, partition->leaderEpoch, partition->log.logEndOffset) < 0)
		fb_log_line(KASSAY_ERROR, "no memory to remember epoch %d of %s-%d", partition->leaderEpoch,
			    partition->topic->name, partition->index);
}

/* One that was only eligible is all of the ISR. */
static void elect(const struct fb_cluster *cluster, struct fb_partition *partition, struct fb_partition_change *change)
{
	int32_t leader = choose(cluster, partition);

	if (leader == partition->leader)
		return;
	begin_epoch(partition, leader, change);
	if (leader == FB_NO_LEADER)
		return;
	if (!contains(&partition->isr, leader)) {
		append(&partition->isr, leader);
		take_out(&partition->elr, leader);
		change->isr = change->elr = true;
		settle_eligible(cluster, partition, change);
	}
	change->lastKnown = partition->lastKnown != FB_NO_LEADER;
	partition->lastKnown = FB_NO_LEADER;
}

/* Who led last is remembered when nobody is left. */
static void shrink(const struct fb_cluster *cluster, struct fb_partition *partition, int32_t id,
		   struct fb_partition_change *change)
{
	bool elr = cluster->levels.v[FB_ELR_VERSION] > 0;

	if (!elr && partition->isr.n == 1)
		return;
	take_out(&partition->isr, id);
	change->isr = true;
	if (elr && partition->isr.n < min_isr(cluster, partition->topic)) {
		append(&partition->elr, id);
		change->elr = true;
	}
	settle_eligible(cluster, partition, change);
	if (partition->isr.n > 0)
		return;
	change->lastKnown = partition->lastKnown != partition->leader;
	partition->lastKnown = partition->leader;
}

static void leave(struct fb_cluster *cluster, struct fb_partition *partition, int32_t id)
{
	struct fb_partition_change change = {0};

	if (!contains(&partition->isr, id))
		return;
	pthread_mutex_lock(&partition->lock);
	shrink(cluster, partition, id, &change);
	elect(cluster, partition, &change);
	if (change.isr && !change.leader && cluster->levels.v[FB_METADATA_VERSION] < LEVEL_KEEPS_EPOCH)
		begin_epoch(partition, partition->leader, &change);
	pthread_mutex_unlock(&partition->lock);
	fb_write_partition_change(cluster, partition, &change);
}

static void lead_again(struct fb_cluster *cluster, struct fb_partition *partition)
{
	struct fb_partition_change change = {0};

	if (partition->leader != FB_NO_LEADER)
		return;
	pthread_mutex_lock(&partition->lock);
	elect(cluster, partition, &change);
	pthread_mutex_unlock(&partition->lock);
	fb_write_partition_change(cluster, partition, &change);
}

static void catch_up(struct fb_cluster *cluster, struct fb_partition *partition)
{
	struct fb_ids replicas = replicas_of(partition);
	struct fb_partition_change change = {0};

	pthread_mutex_lock(&partition->lock);
	for (int32_t i = 0; i < replicas.n; i++) {
		if (!fb_node_runs(cluster, replicas.v[i]) || contains(&partition->isr, replicas.v[i]))
			continue;
		append(&partition->isr, replicas.v[i]);
		change.isr = true;
		change.elr = change.elr || contains(&partition->elr, replicas.v[i]);
		take_out(&partition->elr, replicas.v[i]);
	}
	if (change.isr)
		settle_eligible(cluster, partition, &change);
	pthread_mutex_unlock(&partition->lock);
	fb_write_partition_change(cluster, partition, &change);
}

void fb_partition_begin(const struct fb_cluster *cluster, struct fb_partition *partition)
{
	struct fb_ids replicas = replicas_of(partition);

	for (int32_t i = 0; i < replicas.n; i++)
		if (fb_node_runs(cluster, replicas.v[i]))
			append(&partition->isr, replicas.v[i]);
	partition->lastKnown = FB_NO_LEADER;
	partition->leader = partition->isr.n ? partition->isr.v[0] : FB_NO_LEADER;
}

bool fb_broker_leads(const struct fb_cluster *cluster, int32_t id)
{
	for (size_t i = 0; i < cluster->ntopics; i++)
		for (int32_t p = 0; p < cluster->topics[i]->npartitions; p++)
			if (cluster->topics[i]->partitions[p].leader == id)
				return true;
	return false;
}

void fb_broker_leaves(struct fb_cluster *cluster, int32_t id)
{
	for (size_t i = 0; i < cluster->ntopics; i++)
		for (int32_t p = 0; p < cluster->topics[i]->npartitions; p++)
			leave(cluster, &cluster->topics[i]->partitions[p], id);
}

void fb_leaderless_elect(struct fb_cluster *cluster)
{
	for (size_t i = 0; i < cluster->ntopics; i++)
		for (int32_t p = 0; p < cluster->topics[i]->npartitions; p++)
			lead_again(cluster, &cluster->topics[i]->partitions[p]);
}

/* Each leader tells the controller (AlterPartition) of those that caught up. */
void fb_replicas_catch_up(struct fb_cluster *cluster)
{
	for (size_t n = 0; n + 1 < cluster->nnodes; n++) {
		for (size_t i = 0; i < cluster->ntopics; i++)
			for (int32_t p = 0; p < cluster->topics[i]->npartitions; p++)
				if (cluster->topics[i]->partitions[p].leader == cluster->nodes[n].id)
					catch_up(cluster, &cluster->topics[i]->partitions[p]);
		fb_wrote(cluster);
	}
}
