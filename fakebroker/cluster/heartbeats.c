/* Sessions of registered brokers: who is heard from, and who is fenced.
 *
 * Source: BrokerHeartbeatManager and BrokerHeartbeatTracker of Apache Kafka 4.4. As there, a session that is over
 * counts from when the controller looks for it (fb_sessions_expire()); a heartbeat before that goes on with it.
 */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/cluster/metadata_records.h"
#include "fakebroker/mutants.h"
#include "kw_messages.h"

static bool silent(const struct fb_cluster *cluster, const struct fb_broker *broker)
{
	int64_t timeout = fb_configs_long(cluster->configs, FB_BROKER, KW_NULL_STR, FB_CONTROLLER_ID,
					  "broker.session.timeout.ms", 9000);

	return broker->contact_ns && fb_now_ns() - broker->contact_ns > timeout * 1000000 &&
	       !fb_mutant(FB_M_SILENCE_UNSEEN);
}

bool fb_broker_in_session(const struct fb_cluster *cluster, const struct fb_broker *broker)
{
	if (broker->fenced && fb_release_before(cluster->release, "4.0"))
		return false;
	return broker->own || (broker->contact_ns && !silent(cluster, broker));
}

static void set_fenced(struct fb_cluster *cluster, struct fb_broker *broker, bool fenced, const char *why)
{
	if (broker->fenced == fenced)
		return;
	broker->fenced = fenced;
	fb_write_fencing(cluster, broker);
	fb_wrote(cluster);
	fb_log_line(KASSAY_INFO, "broker %d is %s: %s", broker->view.id, fenced ? "fenced" : "unfenced", why);
}

/* Kafka writes it also of a broker that is fenced already. */
static void expire(struct fb_cluster *cluster, struct fb_broker *broker)
{
	broker->fenced = true;
	broker->contact_ns = 0;
	fb_write_fencing(cluster, broker);
	fb_wrote(cluster);
	fb_log_line(KASSAY_INFO,
		    "broker %d is fenced: no heartbeat came within broker.session.timeout.ms", broker->view.id);
}

static bool any_over(struct fb_cluster *cluster)
{
	bool over = false;

	pthread_rwlock_rdlock(&cluster->lock);
	for (size_t i = 0; i < cluster->nbrokers && !over; i++)
		over = !cluster->brokers[i]->own && silent(cluster, cluster->brokers[i]);
	pthread_rwlock_unlock(&cluster->lock);
	return over;
}

/* Nobody is held up where there is nothing to do. */
void fb_sessions_expire(struct fb_cluster *cluster)
{
	if (!any_over(cluster))
		return;
	pthread_rwlock_wrlock(&cluster->lock);
	for (size_t i = 0; i < cluster->nbrokers; i++)
		if (!cluster->brokers[i]->own && silent(cluster, cluster->brokers[i]))
			expire(cluster, cluster->brokers[i]);
	pthread_rwlock_unlock(&cluster->lock);
}

/* BrokerHeartbeatManager.calculateNextBrokerState. A foreign broker leads nothing, so it may always go at once. One of
 * our own that runs is not ended by words. */
void fb_broker_beat(struct fb_cluster *cluster, struct fb_broker *broker, const struct kw_BrokerHeartbeatRequest *beat,
		    struct kw_BrokerHeartbeatResponse *answer)
{
	bool caughtUp = beat->currentMetadataOffset >= broker->epoch;

	answer->isCaughtUp = caughtUp;
	answer->isFenced = false;
	if (broker->own)
		return;
	broker->contact_ns = fb_now_ns();
	if (beat->wantShutDown && !fb_mutant(FB_M_SHUTDOWN_UNFENCED))
		set_fenced(cluster, broker, true, "it shuts down");
	else if (beat->wantFence && !fb_mutant(FB_M_FENCE_IGNORED))
		set_fenced(cluster, broker, true, "it asked for it");
	else if ((caughtUp || fb_mutant(FB_M_BEHIND_UNFENCED)) && !fb_mutant(FB_M_NEVER_UNFENCED))
		set_fenced(cluster, broker, false, "it is caught up");
	answer->isFenced = broker->fenced;
	answer->shouldShutDown = beat->wantShutDown && !fb_mutant(FB_M_SHUTDOWN_DENIED);
	if (beat->wantShutDown && fb_mutant(FB_M_SHUTDOWN_ENDS_SESSION))
		broker->contact_ns = 0;
}
