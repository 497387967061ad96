/* Which broker of the target stands for which recorded one: that with the same node id, as both clusters' Metadata
 * answers say. */
#ifndef KASSAY_CONFORMANCE_REPLAY_NODES_H
#define KASSAY_CONFORMANCE_REPLAY_NODES_H

#include "lib/wire/types.h"

struct cf_node_pair {
	int port_was;            /* of the recorded broker */
	char host[256];          /* of the target's */
	int port;
};

struct cf_node_pairs {
	struct cf_node_pair *v;
	size_t n;
};

/* Learns from the frames, size first, of a recorded and a new answer of Metadata in one version. What cannot be read
 * teaches nothing. */
void cf_node_pairs_learn(struct cf_node_pairs *pairs, int version, const struct kw_slice *was,
			 const struct kw_slice *is);
/* The broker that stands for the one on a port, NULL while it is not known. */
const struct cf_node_pair *cf_node_pairs_find(const struct cf_node_pairs *pairs, int port_was);
void cf_node_pairs_fini(struct cf_node_pairs *pairs);

#endif
