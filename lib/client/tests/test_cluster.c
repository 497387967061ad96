#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "lib/client/cluster.h"
#include "lib/client/tests/peer.h"
#include "lib/wire/arena.h"
#include "lib/wire/buf.h"
#include "lib/wire/errors.h"
#include "kw_messages.h"

enum { PATIENCE = 20000 };

/* ApiVersions 5: no error; Metadata 0-1, DescribeQuorum 0-2. And without DescribeQuorum. */
#define VERSIONS "\0\0" "\3" "\0\3\0\0\0\1\0" "\0\x37\0\0\0\2\0" "\0\0\0\0" "\0"
#define VERSIONS_OLD "\0\0" "\2" "\0\3\0\0\0\1\0" "\0\0\0\0" "\0"
/* The first steps of every connection. */
#define NEGOTIATE {PEER_READ, 0, 0}, {PEER_ANSWER, PEER_BYTES(VERSIONS)}
/* An answer that is filled in once the ports are known. */
#define ANSWER {PEER_READ, 0, 0}, {PEER_ANSWER, 0, 0}

static struct peer peers[2];
static struct kc_cluster *cluster;
static struct kc_conn *conn;
static struct kt_err err;
static char bootstrap[128];

/* ---- answers ---- */

struct answer {
	unsigned char bytes[256];
	size_t n;
};

/* What the ANSWERs of a script say, one after the other. */
static struct answer answers[4];

static void encode(struct answer *answer, const struct kw_msg *msg, int version, const void *response)
{
	bool flexible = version >= msg->flexible.min && version <= msg->flexible.max;
	struct kw_buf buf;

	kw_buf_init(&buf, sizeof answer->bytes);
	if (flexible)
		kw_put_u8(&buf, 0);   /* no tags in the header */
	assert_int_equal(kw_encode(msg, version, response, &buf, NULL), 0);
	memcpy(answer->bytes, buf.p, buf.n);
	answer->n = buf.n;
	kw_buf_fini(&buf);
}

/* Metadata 1: brokers 1 and 2 are the two peers; of topic t the given error, and partition 0 with its leader. */
static void say_metadata(struct answer *answer, int topic_error, int leader)
{
	struct kw_MetadataResponse_MetadataResponseBroker brokers[2] = {
		{.nodeId = 1, .host = kw_str("127.0.0.1"), .port = peers[0].port, .rack = KW_NULL_STR},
		{.nodeId = 2, .host = kw_str("127.0.0.1"), .port = peers[1].port, .rack = KW_NULL_STR},
	};
	struct kw_MetadataResponse_MetadataResponsePartition partition = {.leaderId = leader};
	struct kw_MetadataResponse_MetadataResponseTopic topic = {
		.errorCode = (int16_t)topic_error, .name = kw_str("t"), .partitions = {&partition, 1},
	};
	struct kw_MetadataResponse response = {.brokers = {brokers, 2}, .topics = {&topic, 1}};

	topic.topicAuthorizedOperations = response.clusterAuthorizedOperations = INT32_MIN;
	encode(answer, &kw_msg_MetadataResponse, 1, &response);
}

/* DescribeQuorum 2: the active controller is node `leader`; node 9 listens at the second peer. Errors have these
 * words. */
static void say_quorum(struct answer *answer, int error, const char *words, int leader)
{
	struct kw_DescribeQuorumResponse_Listener listener = {
		.name = kw_str("CONTROLLER"), .host = kw_str("127.0.0.1"), .port = (uint16_t)peers[1].port,
	};
	struct kw_DescribeQuorumResponse_Node node = {.nodeId = 9, .listeners = {&listener, 1}};
	struct kw_DescribeQuorumResponse_PartitionData partition = {
		.errorCode = (int16_t)error, .errorMessage = kw_str(words), .leaderId = leader,
	};
	struct kw_DescribeQuorumResponse_TopicData topic = {.topicName = kw_str("__cluster_metadata"),
							    .partitions = {&partition, 1}};
	struct kw_DescribeQuorumResponse response = {.errorMessage = KW_NULL_STR, .topics = {&topic, 1},
						     .nodes = {&node, 1}};

	encode(answer, &kw_msg_DescribeQuorumResponse, 2, &response);
}

/* ---- frame of the tests ---- */

static void fill_in(struct peer_step *step)
{
	for (size_t i = 0; step->what != PEER_END; step++) {
		if (step->what != PEER_ANSWER || step->p)
			continue;
		step->p = answers[i].bytes;
		step->n = answers[i++].n;
	}
}

/* Opens the ports of both peers, so that answers can name them. */
static void listen_both(void)
{
	peer_listen(&peers[0]);
	peer_listen(&peers[1]);
	snprintf(bootstrap, sizeof bootstrap, "127.0.0.1:%d", peers[0].port);
	err = (struct kt_err){0};
}

/* Starts the peers and opens the cluster. */
static void open_cluster(const struct peer_step *const *first, const struct peer_step *const *second)
{
	peer_start(&peers[0], first);
	peer_start(&peers[1], second);
	assert_int_equal(kc_cluster_open(bootstrap, "tester", NULL, kc_now_ms() + PATIENCE, &cluster, &err), 0);
}

static void finish(void)
{
	kc_cluster_free(cluster);
	cluster = NULL;
	for (int i = 0; i < 2; i++) {
		peer_join(&peers[i]);
		peer_fini(&peers[i]);
	}
}

static const struct peer_step *const nobody[] = {NULL};

/* ---- tests ---- */

static void nodes_are_found_and_kept(void **state)
{
	static struct peer_step one[] = {NEGOTIATE, ANSWER, {PEER_READ_END, 0, 0}, {0}};
	static const struct peer_step two[] = {NEGOTIATE, {PEER_READ_END, 0, 0}, {0}};
	static const struct peer_step *const first[] = {one, NULL}, *const second[] = {two, NULL};
	const struct kc_node *nodes;
	struct kc_conn *same;

	(void)state;
	listen_both();
	say_metadata(&answers[0], 0, 1);
	fill_in(one);
	open_cluster(first, second);
	assert_int_equal(kc_cluster_nodes(cluster, &nodes), 2);
	assert_int_equal(nodes[1].id, 2);
	assert_int_equal(nodes[1].port, peers[1].port);
	assert_string_equal(nodes[1].host, "127.0.0.1");
	assert_int_equal(kc_cluster_any(cluster, kc_now_ms() + PATIENCE, &conn, &err), 0);
	assert_int_equal(kc_cluster_node(cluster, 1, kc_now_ms() + PATIENCE, &same, &err), 0);
	assert_ptr_equal(same, conn);
	assert_int_equal(kc_cluster_node(cluster, 2, kc_now_ms() + PATIENCE, &conn, &err), 0);
	assert_ptr_not_equal(same, conn);
	assert_int_equal(kc_version(conn, 55, -1), 2);
	assert_int_equal(kc_cluster_node(cluster, 2, kc_now_ms() + PATIENCE, &same, &err), 0);
	assert_ptr_equal(same, conn);
	finish();
}

static void an_unknown_node_is_asked_for_again(void **state)
{
	static struct peer_step one[] = {
		NEGOTIATE, ANSWER, ANSWER, {PEER_READ_END, 0, 0}, {0},
	};
	static const struct peer_step *const first[] = {one, NULL};

	(void)state;
	listen_both();
	say_metadata(&answers[0], 0, 1);
	say_metadata(&answers[1], 0, 1);
	fill_in(one);
	open_cluster(first, nobody);
	assert_int_equal(kc_cluster_node(cluster, 7, kc_now_ms() + PATIENCE, &conn, &err), KT_EUNKNOWN);
	assert_string_equal(err.text, "there is no broker 7");
	finish();
}

static void a_leader_is_waited_for(void **state)
{
	static struct peer_step one[] = {
		NEGOTIATE, ANSWER, ANSWER, ANSWER,
		ANSWER, {PEER_READ_END, 0, 0}, {0},
	};
	static const struct peer_step two[] = {NEGOTIATE, {PEER_READ_END, 0, 0}, {0}};
	static const struct peer_step *const first[] = {one, NULL}, *const second[] = {two, NULL};
	struct kc_conn *node;

	(void)state;
	listen_both();
	say_metadata(&answers[0], 0, 1);
	say_metadata(&answers[1], 3, 1);
	say_metadata(&answers[2], 0, -1);
	say_metadata(&answers[3], 0, 2);
	fill_in(one);
	open_cluster(first, second);
	assert_int_equal(kc_cluster_leader(cluster, "t", 0, kc_now_ms() + PATIENCE, kc_now_ms() + PATIENCE, &conn,
					   &err), 0);
	assert_int_equal(kc_cluster_node(cluster, 2, kc_now_ms() + PATIENCE, &node, &err), 0);
	assert_ptr_equal(conn, node);
	finish();
	assert_int_equal(peers[0].nframes, 5);
}

static void no_leader_is_an_error(void **state)
{
	static struct peer_step one[] = {
		NEGOTIATE, ANSWER, ANSWER, {PEER_READ_END, 0, 0}, {0},
	};
	static const struct peer_step *const first[] = {one, NULL};

	(void)state;
	listen_both();
	say_metadata(&answers[0], 0, 1);
	say_metadata(&answers[1], 29, 1);
	fill_in(one);
	open_cluster(first, nobody);
	assert_int_equal(kc_cluster_leader(cluster, "t", 0, kc_now_ms() + PATIENCE, kc_now_ms() + PATIENCE, &conn,
					   &err), KT_EPEER);
	assert_string_equal(err.text, "no leader of t-0: TOPIC_AUTHORIZATION_FAILED (29)");
	err = (struct kt_err){0};
	assert_int_equal(kc_cluster_leader(cluster, "t", 0, kc_now_ms() + 20, kc_now_ms() + 20, &conn, &err),
			 KT_ETIMEOUT);
	finish();
}

static void dead_bootstrap_addresses_are_passed_over(void **state)
{
	static struct peer_step one[] = {NEGOTIATE, ANSWER, {PEER_READ_END, 0, 0}, {0}};
	static const struct peer_step *const first[] = {one, NULL};
	struct peer dead;

	(void)state;
	peer_bind(&dead);
	listen_both();
	snprintf(bootstrap, sizeof bootstrap, "127.0.0.1:%d,127.0.0.1:%d", dead.port, peers[0].port);
	say_metadata(&answers[0], 0, 1);
	fill_in(one);
	open_cluster(first, nobody);
	finish();
	snprintf(bootstrap, sizeof bootstrap, "127.0.0.1:%d", dead.port);
	assert_int_equal(kc_cluster_open(bootstrap, NULL, NULL, kc_now_ms() + PATIENCE, &cluster, &err), KT_ENET);
	assert_null(cluster);
	assert_non_null(strstr(err.text, "Connection refused"));
	peer_fini(&dead);
	err = (struct kt_err){0};
	assert_int_equal(kc_cluster_open("a:1,b", NULL, NULL, 0, &cluster, &err), KT_ESYNTAX);
	assert_string_equal(err.text, "\"b\" is no address; write host:port or [::1]:port");
}

static void closed_connections_are_replaced(void **state)
{
	static struct peer_step one[] = {NEGOTIATE, ANSWER, {PEER_READ_END, 0, 0}, {0}};
	static const struct peer_step closes[] = {NEGOTIATE, {PEER_AWAIT, 0, 0}, {PEER_CLOSE, 0, 0}, {0}};
	static const struct peer_step stays[] = {NEGOTIATE, {PEER_READ_END, 0, 0}, {0}};
	static const struct peer_step *const first[] = {one, NULL}, *const second[] = {closes, stays, NULL};

	(void)state;
	listen_both();
	say_metadata(&answers[0], 0, 1);
	fill_in(one);
	open_cluster(first, second);
	assert_int_equal(kc_cluster_node(cluster, 2, kc_now_ms() + PATIENCE, &conn, &err), 0);
	sem_post(&peers[1].go);
	assert_int_equal(kc_wait_close(conn, kc_now_ms() + PATIENCE), KC_CLOSED);
	assert_int_equal(kc_cluster_node(cluster, 2, kc_now_ms() + PATIENCE, &conn, &err), 0);
	assert_int_equal(kc_fate(conn), KC_OPEN);
	assert_int_equal(kc_version(conn, 3, -1), 1);
	kc_cluster_drop(cluster, conn);
	finish();
}

static void the_controller_is_found_by_its_quorum(void **state)
{
	static struct peer_step one[] = {
		NEGOTIATE, ANSWER, ANSWER, ANSWER,
		{PEER_READ_END, 0, 0}, {0},
	};
	static const struct peer_step two[] = {NEGOTIATE, {PEER_READ_END, 0, 0}, {0}};
	static const struct peer_step *const first[] = {one, NULL}, *const second[] = {two, NULL};
	struct kc_conn *broker;

	(void)state;
	listen_both();
	say_metadata(&answers[0], 0, 1);
	say_quorum(&answers[1], 0, NULL, 9);
	say_quorum(&answers[2], 0, NULL, 8);
	fill_in(one);
	open_cluster(first, second);
	assert_int_equal(kc_cluster_controller(cluster, kc_now_ms() + PATIENCE, &conn, &err), 0);
	assert_int_equal(kc_cluster_any(cluster, kc_now_ms() + PATIENCE, &broker, &err), 0);
	assert_ptr_not_equal(conn, broker);
	assert_int_equal(kc_cluster_controller(cluster, kc_now_ms() + PATIENCE, &conn, &err), KT_EPEER);
	assert_string_equal(err.text, "DescribeQuorum names no listener of the active controller, node 8");
	finish();
}

static void a_quorum_may_be_refused(void **state)
{
	static struct peer_step one[] = {
		NEGOTIATE, ANSWER, ANSWER, {PEER_READ_END, 0, 0}, {0},
	};
	static const struct peer_step *const first[] = {one, NULL};

	(void)state;
	listen_both();
	say_metadata(&answers[0], 0, 1);
	say_quorum(&answers[1], KW_ERR_CLUSTER_AUTHORIZATION_FAILED, "Not for you.", -1);
	fill_in(one);
	open_cluster(first, nobody);
	assert_int_equal(kc_cluster_controller(cluster, kc_now_ms() + PATIENCE, &conn, &err), KT_EPEER);
	assert_string_equal(err.text,
			    "DescribeQuorum is answered with CLUSTER_AUTHORIZATION_FAILED (31): Not for you.");
	finish();
}

static void a_quorum_may_be_out_of_sight(void **state)
{
	static struct peer_step one[] = {
		{PEER_READ, 0, 0}, {PEER_ANSWER, PEER_BYTES(VERSIONS_OLD)}, ANSWER,
		{PEER_READ_END, 0, 0}, {0},
	};
	static const struct peer_step *const first[] = {one, NULL};

	(void)state;
	listen_both();
	say_metadata(&answers[0], 0, 1);
	fill_in(one);
	open_cluster(first, nobody);
	assert_int_equal(kc_cluster_controller(cluster, kc_now_ms() + PATIENCE, &conn, &err), KT_EVERSION);
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_found_and_kept),
		cmocka_unit_test(an_unknown_node_is_asked_for_again),
		cmocka_unit_test(a_leader_is_waited_for),
		cmocka_unit_test(no_leader_is_an_error),
		cmocka_unit_test(dead_bootstrap_addresses_are_passed_over),
		cmocka_unit_test(closed_connections_are_replaced),
		cmocka_unit_test(the_controller_is_found_by_its_quorum),
		cmocka_unit_test(a_quorum_may_be_refused),
		cmocka_unit_test(a_quorum_may_be_out_of_sight),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
