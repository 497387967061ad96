#include "conformance/replay_nodes.h"

#include <stdio.h>
#include <stdlib.h>

#include "kw_messages.h"

enum { SIZE_FIELD = 4, METADATA = 3 };

/* In the arena, or NULL. */
static const struct kw_MetadataResponse *decode(int version, const struct kw_slice *frame, struct kw_arena *arena)
{
	const uint8_t *p = frame->p + SIZE_FIELD;
	size_t n = frame->n - SIZE_FIELD, used;
	void *header, *body;

	if (kw_decode(&kw_msg_ResponseHeader, kw_response_header_version(METADATA, version), p, n, arena, &header,
		      &used, NULL) ||
	    kw_decode(&kw_msg_MetadataResponse, version, p + used, n - used, arena, &body, NULL, NULL))
		return NULL;
	return body;
}

const struct cf_node_pair *cf_node_pairs_find(const struct cf_node_pairs *pairs, int port_was)
{
	for (size_t i = 0; i < pairs->n; i++)
		if (pairs->v[i].port_was == port_was)
			return &pairs->v[i];
	return NULL;
}

static void learn(struct cf_node_pairs *pairs, int port_was,
		  const struct kw_MetadataResponse_MetadataResponseBroker *is)
{
	struct cf_node_pair *v;

	if (cf_node_pairs_find(pairs, port_was))
		return;
	v = realloc(pairs->v, (pairs->n + 1) * sizeof *v);
	if (!v)
		return;
	pairs->v = v;
	v = &v[pairs->n++];
	v->port_was = port_was;
	v->port = is->port;
	snprintf(v->host, sizeof v->host, "%.*s", is->host.n < 0 ? 0 : (int)is->host.n, is->host.s);
}

void cf_node_pairs_learn(struct cf_node_pairs *pairs, int version, const struct kw_slice *was,
			 const struct kw_slice *is)
{
	const struct kw_MetadataResponse *a, *b;
	struct kw_arena arena;

	kw_arena_init(&arena, 0);
	a = decode(version, was, &arena);
	b = decode(version, is, &arena);
	for (int32_t i = 0; a && b && i < a->brokers.n; i++)
		for (int32_t k = 0; k < b->brokers.n; k++)
			if (a->brokers.v[i].nodeId == b->brokers.v[k].nodeId)
				learn(pairs, a->brokers.v[i].port, &b->brokers.v[k]);
	kw_arena_fini(&arena);
}

void cf_node_pairs_fini(struct cf_node_pairs *pairs)
{
	free(pairs->v);
	*pairs = (struct cf_node_pairs){0};
}
