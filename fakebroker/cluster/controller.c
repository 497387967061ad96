/* The controller as Kafka's is when something makes it fall over: without a leader for a time, or gone.
 *
 * Source: QuorumController.ControllerWriteEvent of Apache Kafka 4.4, which resigns after an exception that it did not
 * foresee, and ends the process when a record cannot be applied. The one voter of a quorum stands for election after
 * controller.quorum.election.timeout.ms and up to as much again; here it is half of that, so that it can be told
 * beforehand. */
#include "fakebroker/cluster/cluster.h"
#include "fakebroker/cluster/log_line.h"

enum { EPOCHS = 2, MS = 1000000 };   /* one epoch has no leader, the next begins with the election */

void fb_controller_resign(struct fb_cluster *cluster)
{
	bool stopped;
	int64_t ms;

	pthread_rwlock_wrlock(&cluster->lock);
	stopped = fb_cluster_controller(cluster)->stopped;
	ms = fb_configs_long(cluster->configs, FB_BROKER, KW_NULL_STR, FB_CONTROLLER_ID,
			     "controller.quorum.election.timeout.ms", 1000);
	ms += ms / 2;
	if (!stopped) {
		cluster->controllerEpoch += EPOCHS;
		atomic_store(&cluster->controller_back, fb_now_ns() + ms * MS);
	}
	pthread_rwlock_unlock(&cluster->lock);
	if (!stopped)
		fb_log_line(KASSAY_WARN, "the controller resigned; it leads again in %lld ms", (long long)ms);
}

void fb_controller_end(struct fb_cluster *cluster)
{
	struct fb_node *controller = fb_cluster_controller(cluster);

	pthread_rwlock_wrlock(&cluster->lock);
	controller->stopped = true;
	atomic_store(&cluster->controller_back, INT64_MAX);
	/* Before anybody starts it, who waits until it is closed. */
	fb_server_close_soon(cluster->server, controller);
	pthread_rwlock_unlock(&cluster->lock);
	fb_log_line(KASSAY_WARN, "the controller, node %d, has ended", controller->id);
}

int fb_controller_start(struct fb_cluster *cluster, struct kt_err *err)
{
	struct fb_node *controller = fb_cluster_controller(cluster);
	bool stopped;

	pthread_rwlock_rdlock(&cluster->lock);
	stopped = controller->stopped;
	pthread_rwlock_unlock(&cluster->lock);
	if (!stopped)
		return kt_fail(err, KT_EUSAGE, "the controller, node %d, runs", controller->id);
	if (fb_server_reopen(cluster->server, controller, err) < 0)
		return err->code;
	pthread_rwlock_wrlock(&cluster->lock);
	controller->stopped = false;
	cluster->controllerEpoch += EPOCHS;
	atomic_store(&cluster->controller_back, 0);
	pthread_rwlock_unlock(&cluster->lock);
	fb_log_line(KASSAY_INFO, "the controller, node %d, started", controller->id);
	fb_server_poke(cluster->server);
	return 0;
}

int64_t fb_controller_away(const struct fb_cluster *cluster)
{
	int64_t back = atomic_load_explicit(&cluster->controller_back, memory_order_acquire), left;

	if (back == 0 || back == INT64_MAX)
		return back;
	left = back - fb_now_ns();
	return left > 0 ? left : 0;
}
