#include "lib/client/cluster.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/client/login.h"
#include "lib/wire/arena.h"
#include "kw_messages.h"
#include "lib/wire/errors.h"

enum {
	METADATA = 3, DESCRIBE_QUORUM = 55,
	RETRY_MS = 20,
};

/* A connection, found by its address: a broker is the same whether it was reached by bootstrap or by its id. */
struct link {
	char host[256];
	int port;
	bool controller;         /* answers no broker's requests */
	struct kc_conn *conn;    /* or NULL */
};

struct kc_cluster {
	char *client_id;
	const struct kc_login *login;
	struct kc_node *nodes;
	size_t nnodes;
	struct link *links;      /* the bootstrap addresses first */
	size_t nlinks, nbootstrap;
};

static int fail_memory(struct kt_err *err)
{
	return kt_fail(err, KT_ENOMEM, "out of memory");
}

/* ---- connections ---- */

/* The link to an address, a new one if need be; NULL when memory runs out. */
static struct link *link_to(struct kc_cluster *cluster, const char *host, int port)
{
	struct link *grown;

	for (size_t i = 0; i < cluster->nlinks; i++) {
		if (cluster->links[i].port == port && strcmp(cluster->links[i].host, host) == 0)
			return &cluster->links[i];
	}
	grown = realloc(cluster->links, (cluster->nlinks + 1) * sizeof *grown);
	if (!grown)
		return NULL;
	cluster->links = grown;
	grown += cluster->nlinks++;
	*grown = (struct link){.port = port};
	snprintf(grown->host, sizeof grown->host, "%s", host);
	return grown;
}

/* Open as far as can be told now. */
static bool is_open(const struct link *link)
{
	return link->conn && kc_wait_close(link->conn, kc_now_ms()) == KC_OPEN;
}

/* A negotiated connection, the kept one if it is still open. */
static int connect_link(const struct kc_cluster *cluster, struct link *link, int64_t deadline, struct kc_conn **conn,
			struct kt_err *err)
{
	int rc = 0;

	if (!is_open(link)) {
		kc_free(link->conn);
		rc = kc_connect(link->host, link->port, cluster->client_id, deadline, &link->conn, err);
		if (rc == 0) {
			kc_use_login(link->conn, cluster->login);
			rc = kc_negotiate(link->conn, deadline, err);
		}
		if (rc < 0) {
			kc_free(link->conn);
			link->conn = NULL;
		}
	}
	*conn = link->conn;
	return rc;
}

static int connect_node(struct kc_cluster *cluster, const struct kc_node *node, int64_t deadline,
			struct kc_conn **conn, struct kt_err *err)
{
	struct link *link = link_to(cluster, node->host, node->port);

	return link ? connect_link(cluster, link, deadline, conn, err) : fail_memory(err);
}

void kc_cluster_drop(struct kc_cluster *cluster, struct kc_conn *conn)
{
	for (size_t i = 0; i < cluster->nlinks; i++) {
		if (cluster->links[i].conn == conn)
			cluster->links[i].conn = NULL;
	}
	kc_free(conn);
}

/* Time for one of n tries that are left. */
static int64_t share(int64_t deadline, size_t n)
{
	int64_t now = kc_now_ms();

	return deadline == INT64_MAX ? deadline : now + (deadline - now) / (int64_t)n;
}

int kc_cluster_any(struct kc_cluster *cluster, int64_t deadline, struct kc_conn **conn, struct kt_err *err)
{
	size_t left = cluster->nnodes + cluster->nbootstrap;
	struct kt_err last = {0};

	for (size_t i = 0; i < cluster->nlinks; i++) {
		if (!cluster->links[i].controller && is_open(&cluster->links[i])) {
			*conn = cluster->links[i].conn;
			return 0;
		}
	}
	for (size_t i = 0; i < cluster->nnodes; i++) {
		if (connect_node(cluster, &cluster->nodes[i], share(deadline, left--), conn, NULL) == 0)
			return 0;
	}
	for (size_t i = 0; i < cluster->nbootstrap; i++) {
		last = (struct kt_err){0};
		if (connect_link(cluster, &cluster->links[i], share(deadline, left--), conn, &last) == 0)
			return 0;
	}
	return kt_fail(err, last.code, "%s", last.text);
}

/* ---- brokers ---- */

static int take_host(struct kc_node *node, struct kw_str host, struct kt_err *err)
{
	if (host.n < 1 || (size_t)host.n >= sizeof node->host)
		return kt_fail(err, KT_EPEER, "the host name of node %d has %d bytes", (int)node->id, (int)host.n);
	snprintf(node->host, sizeof node->host, "%.*s", (int)host.n, host.s);
	return 0;
}

/* Keeps the brokers of an answer in place of those known before. */
static int take_brokers(struct kc_cluster *cluster, const struct kw_MetadataResponse *response, struct kt_err *err)
{
	size_t n = response->brokers.n > 0 ? (size_t)response->brokers.n : 0;
	struct kc_node *nodes = calloc(n + 1, sizeof *nodes);
	int rc = 0;

	if (!nodes)
		return fail_memory(err);
	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct kw_MetadataResponse_MetadataResponseBroker *broker = &response->brokers.v[i];

		nodes[i].id = broker->nodeId;
		nodes[i].port = broker->port;
		rc = take_host(&nodes[i], broker->host, err);
	}
	if (rc < 0) {
		free(nodes);
		return rc;
	}
	free(cluster->nodes);
	cluster->nodes = nodes;
	cluster->nnodes = n;
	return 0;
}

/* Asks any broker for Metadata, of one topic or (NULL) of none, and keeps the brokers. */
static int ask_metadata(struct kc_cluster *cluster, const char *topic, int64_t deadline, struct kw_arena *arena,
			const struct kw_MetadataResponse **response, struct kt_err *err)
{
	struct kw_MetadataRequest_MetadataRequestTopic one = {.name = kw_str(topic)};
	struct kw_MetadataRequest *request = kw_new(&kw_msg_MetadataRequest, arena);
	struct kc_conn *conn;
	void *decoded;
	int version, rc;

	if (!request)
		return fail_memory(err);
	rc = kc_cluster_any(cluster, deadline, &conn, err);
	if (rc < 0)
		return rc;
	version = kc_version(conn, METADATA, -1);
	if (version < 0)
		return kt_fail(err, KT_EVERSION, "the broker serves no version of Metadata that we know");
	request->topics.v = &one;
	request->topics.n = topic ? 1 : 0;
	request->allowAutoTopicCreation = version < 4;   /* cannot be forbidden before */
	rc = kc_call(conn, METADATA, version, request, deadline, arena, &decoded, err);
	if (rc < 0) {
		kc_cluster_drop(cluster, conn);
		return rc;
	}
	*response = decoded;
	return take_brokers(cluster, decoded, err);
}

int kc_cluster_refresh(struct kc_cluster *cluster, int64_t deadline, struct kt_err *err)
{
	const struct kw_MetadataResponse *response;
	struct kw_arena arena;
	int rc;

	kw_arena_init(&arena, 0);
	rc = ask_metadata(cluster, NULL, deadline, &arena, &response, err);
	kw_arena_fini(&arena);
	return rc;
}

size_t kc_cluster_nodes(const struct kc_cluster *cluster, const struct kc_node **nodes)
{
	*nodes = cluster->nodes;
	return cluster->nnodes;
}

static const struct kc_node *find_node(const struct kc_cluster *cluster, int32_t id)
{
	for (size_t i = 0; i < cluster->nnodes; i++) {
		if (cluster->nodes[i].id == id)
			return &cluster->nodes[i];
	}
	return NULL;
}

int kc_cluster_node(struct kc_cluster *cluster, int32_t id, int64_t deadline, struct kc_conn **conn,
		    struct kt_err *err)
{
	const struct kc_node *node = find_node(cluster, id);
	int rc;

	if (!node) {
		rc = kc_cluster_refresh(cluster, deadline, err);
		if (rc < 0)
			return rc;
		node = find_node(cluster, id);
	}
	if (!node)
		return kt_fail(err, KT_EUNKNOWN, "there is no broker %d", (int)id);
	return connect_node(cluster, node, deadline, conn, err);
}

/* ---- leaders ---- */

/* The leader of a partition by an answer about its topic, or else -1 and the error code that it carries. */
static int32_t leader_of(const struct kw_MetadataResponse *response, int32_t partition, int *code)
{
	const struct kw_MetadataResponse_MetadataResponseTopic *topic = response->topics.v;
	const struct kw_MetadataResponse_MetadataResponsePartition *found = NULL;

	*code = KW_ERR_UNKNOWN_TOPIC_OR_PARTITION;
	if (response->topics.n < 1)
		return -1;
	for (int32_t i = 0; i < topic->partitions.n; i++) {
		if (topic->partitions.v[i].partitionIndex == partition)
			found = &topic->partitions.v[i];
	}
	if (topic->errorCode)
		*code = topic->errorCode;
	else if (found)
		*code = found->leaderId < 0 ? KW_ERR_LEADER_NOT_AVAILABLE : 0;
	return *code == 0 ? found->leaderId : -1;
}

int kc_cluster_leader(struct kc_cluster *cluster, const char *topic, int32_t partition, int64_t appears,
		      int64_t deadline, struct kc_conn **conn, struct kt_err *err)
{
	const struct kw_MetadataResponse *response;
	struct kw_arena arena;
	int32_t leader;
	int code = 0, rc;

	for (;;) {
		kw_arena_init(&arena, 0);
		rc = ask_metadata(cluster, topic, deadline, &arena, &response, err);
		leader = rc == 0 ? leader_of(response, partition, &code) : -1;
		kw_arena_fini(&arena);
		if (rc < 0)
			return rc;
		if (code == 0)
			return kc_cluster_node(cluster, leader, deadline, conn, err);
		if ((code != KW_ERR_UNKNOWN_TOPIC_OR_PARTITION && code != KW_ERR_LEADER_NOT_AVAILABLE) ||
		    kc_now_ms() + RETRY_MS >= appears)
			return kt_fail(err, KT_EPEER, "no leader of %s-%d: %s (%d)", topic, (int)partition,
				       kw_error_name(code), code);
		poll(NULL, 0, RETRY_MS);
	}
}

/* ---- the controller ---- */

/* The id of the active controller, from an answer about the metadata partition. */
static int controller_id(const struct kw_DescribeQuorumResponse *response, int32_t *id, struct kt_err *err)
{
	struct kw_str message = response->errorMessage;
	int code = response->errorCode;
	char why[400];

	if (code == 0 && (response->topics.n < 1 || response->topics.v[0].partitions.n < 1))
		return kt_fail(err, KT_EPEER, "DescribeQuorum is answered without the metadata partition");
	if (code == 0) {
		code = response->topics.v[0].partitions.v[0].errorCode;
		message = response->topics.v[0].partitions.v[0].errorMessage;
	}
	if (code != 0)
		return kt_fail(err, KT_EPEER, "DescribeQuorum is answered with %s",
			       kw_error_text(code, message, why, sizeof why));
	*id = response->topics.v[0].partitions.v[0].leaderId;
	return 0;
}

/* Where the active controller listens, by such an answer. */
static int controller_node(const struct kw_DescribeQuorumResponse *response, struct kc_node *node, struct kt_err *err)
{
	int rc = controller_id(response, &node->id, err);

	for (int32_t i = 0; rc == 0 && i < response->nodes.n; i++) {
		const struct kw_DescribeQuorumResponse_Node *voter = &response->nodes.v[i];

		if (voter->nodeId != node->id || voter->listeners.n < 1)
			continue;
		node->port = voter->listeners.v[0].port;
		return take_host(node, voter->listeners.v[0].host, err);
	}
	if (rc < 0)
		return rc;
	return kt_fail(err, KT_EPEER, "DescribeQuorum names no listener of the active controller, node %d",
		       (int)node->id);
}

/* Asks a broker for the voters of the metadata partition. */
static int ask_quorum(struct kc_conn *conn, int64_t deadline, struct kw_arena *arena, struct kc_node *node,
		      struct kt_err *err)
{
	struct kw_DescribeQuorumRequest_PartitionData partition = {.partitionIndex = 0};
	struct kw_DescribeQuorumRequest_TopicData topic = {.topicName = kw_str("__cluster_metadata"),
							   .partitions = {&partition, 1}};
	struct kw_DescribeQuorumRequest request = {.topics = {&topic, 1}};
	int version = kc_version(conn, DESCRIBE_QUORUM, -1), rc;
	void *decoded;

	if (version < 2)
		return kt_fail(err, KT_EVERSION, "brokers without DescribeQuorum 2 do not say where the controller is");
	rc = kc_call(conn, DESCRIBE_QUORUM, version, &request, deadline, arena, &decoded, err);
	return rc < 0 ? rc : controller_node(decoded, node, err);
}

int kc_cluster_controller(struct kc_cluster *cluster, int64_t deadline, struct kc_conn **conn, struct kt_err *err)
{
	struct kc_node node = {.id = -1};
	struct kw_arena arena;
	struct kc_conn *broker;
	struct link *link;
	int rc;

	rc = kc_cluster_any(cluster, deadline, &broker, err);
	if (rc < 0)
		return rc;
	kw_arena_init(&arena, 0);
	rc = ask_quorum(broker, deadline, &arena, &node, err);
	kw_arena_fini(&arena);
	if (rc < 0) {
		kc_cluster_drop(cluster, broker);
		return rc;
	}
	link = link_to(cluster, node.host, node.port);
	if (!link)
		return fail_memory(err);
	link->controller = true;
	return connect_link(cluster, link, deadline, conn, err);
}

/* ---- life ---- */

/* The bootstrap addresses become the first links. */
static int take_bootstrap(struct kc_cluster *cluster, const char *list, struct kt_err *err)
{
	char host[256];
	int port, rc;

	for (;; list++) {
		rc = kc_parse_address(list, host, sizeof host, &port, err);
		if (rc < 0)
			return rc;
		if (!link_to(cluster, host, port))
			return fail_memory(err);
		list += strcspn(list, ",");
		if (!*list)
			break;
	}
	cluster->nbootstrap = cluster->nlinks;
	return 0;
}

int kc_cluster_open(const char *bootstrap, const char *client_id, const struct kc_login *login, int64_t deadline,
		    struct kc_cluster **out, struct kt_err *err)
{
	struct kc_cluster *cluster = calloc(1, sizeof *cluster);
	int rc;

	*out = NULL;
	if (!cluster)
		return fail_memory(err);
	cluster->login = login;
	if (client_id && !(cluster->client_id = strdup(client_id)))
		rc = fail_memory(err);
	else
		rc = take_bootstrap(cluster, bootstrap, err);
	if (rc == 0)
		rc = kc_cluster_refresh(cluster, deadline, err);
	if (rc < 0)
		kc_cluster_free(cluster);
	else
		*out = cluster;
	return rc;
}

void kc_cluster_free(struct kc_cluster *cluster)
{
	if (!cluster)
		return;
	for (size_t i = 0; i < cluster->nlinks; i++)
		kc_free(cluster->links[i].conn);
	free(cluster->links);
	free(cluster->nodes);
	free(cluster->client_id);
	free(cluster);
}
