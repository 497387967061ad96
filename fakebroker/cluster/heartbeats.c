/* Sessions of registered brokers: who is heard from, and who is fenced.
 *
 * Source: BrokerHeartbeatManager and BrokerHeartbeatTracker of Apache Kafka 4.4. Kafka's controller looks for silent
 * brokers now and then and fences them; here a broker is fenced by being asked about when its time is over, which
 * nobody can tell apart: it leads nothing.
 */
#include "fakebroker/cluster/cluster.h"
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/mutants.h"
#include "kw_messages.h"

bool fb_broker_in_session(const struct fb_cluster *cluster, const struct fb_broker *broker)
{
	int64_t timeout = fb_configs_long(cluster->configs, FB_BROKER, KW_NULL_STR, FB_CONTROLLER_ID,
					  "broker.session.timeout.ms", 9000);

	return broker->own || (broker->contact_ns && (fb_now_ns() - broker->contact_ns <= timeout * 1000000 ||
						       fb_mutant(FB_M_SILENCE_UNSEEN)));
}

bool fb_broker_fenced(const struct fb_cluster *cluster, const struct fb_broker *broker)
{
	return (broker->fenced && !fb_mutant(FB_M_FENCED_LISTED)) || !fb_broker_in_session(cluster, broker);
}

static void set_fenced(struct fb_cluster *cluster, struct fb_broker *broker, bool fenced, const char *why)
{
	if (broker->fenced == fenced)
		return;
	broker->fenced = fenced;
	cluster->metadata_offset++;
	fb_log_line(KASSAY_INFO, "broker %d is %s: %s", broker->view.id, fenced ? "fenced" : "unfenced", why);
}

/* BrokerHeartbeatManager.calculateNextBrokerState. A foreign broker leads nothing, so it may always go at once. One of our
 * own that runs is not ended by words. */
void fb_broker_beat(struct fb_cluster *cluster, struct fb_broker *broker, const struct kw_BrokerHeartbeatRequest *beat,
		    struct kw_BrokerHeartbeatResponse *answer)
{
	bool caughtUp = beat->currentMetadataOffset >= broker->epoch;

	answer->isCaughtUp = caughtUp;
	answer->isFenced = false;
	if (broker->own)
		return;
	if (!fb_broker_in_session(cluster, broker))
		set_fenced(cluster, broker, true, "no heartbeat came within broker.session.timeout.ms");
	broker->contact_ns = fb_now_ns();
	if (beat->wantShutDown && !fb_mutant(FB_M_SHUTDOWN_UNFENCED))
		set_fenced(cluster, broker, true, "it shuts down");
	else if (beat->wantFence && !fb_mutant(FB_M_FENCE_IGNORED))
		set_fenced(cluster, broker, true, "it asked for it");
	else if ((caughtUp || fb_mutant(FB_M_BEHIND_UNFENCED)) && !fb_mutant(FB_M_NEVER_UNFENCED))
		set_fenced(cluster, broker, false, "it is caught up");
	broker->inControlledShutdown = beat->wantShutDown;
	answer->isFenced = broker->fenced;
	answer->shouldShutDown = beat->wantShutDown && !fb_mutant(FB_M_SHUTDOWN_DENIED);
	if (beat->wantShutDown && fb_mutant(FB_M_SHUTDOWN_ENDS_SESSION))
		broker->contact_ns = 0;
}
