#include "conformance/diff/shrink.h"

#include <string.h>

enum { LAST_OLD = 2 };   /* the versions of Produce up to it have rules of their own */

struct shrinker {
	cf_differs_fn *differs;
	void *arg;
	int left;                  /* questions that may still be asked */
	bool smaller;              /* since the pass began */
	json_t *best;
};

/* Takes the candidate; keeps it if the difference is still there. */
static bool try(struct shrinker *s, json_t *candidate)
{
	bool better = s->left-- > 0 && s->differs(s->arg, candidate);

	if (better) {
		json_decref(s->best);
		s->best = candidate;
		s->smaller = true;
	} else {
		json_decref(candidate);
	}
	return better;
}

static bool is_old(const struct shrinker *s)
{
	return json_integer_value(json_object_get(s->best, "version")) <= LAST_OLD;
}

/* ---- one step smaller ---- */

/* The value inside of root that the path of keys and indexes leads to. */
struct path {
	const char *key[8];        /* NULL: the index counts */
	size_t index[8];
	int n;
};

static json_t *walk(json_t *root, const struct path *path)
{
	for (int i = 0; i < path->n; i++)
		root = path->key[i] ? json_object_get(root, path->key[i]) : json_array_get(root, path->index[i]);
	return root;
}

static struct path below(const struct path *path, const char *key, size_t index)
{
	struct path next = *path;

	next.key[next.n] = key;
	next.index[next.n++] = index;
	return next;
}

/* Tries to remove each element of an array, as long as `least` stay. */
static void thin_out(struct shrinker *s, const struct path *path, size_t least)
{
	size_t i = 0;

	while (s->left > 0 && i < json_array_size(walk(s->best, path)) &&
	       json_array_size(walk(s->best, path)) > least) {
		json_t *candidate = json_deep_copy(s->best);

		json_array_remove(walk(candidate, path), i);
		if (!try(s, candidate))
			i++;
	}
}

/* Tries to remove each member of an object but those that it cannot be without. */
static void strip(struct shrinker *s, const struct path *path, const char *keep)
{
	static const char *const members[] = {
		"codec", "edits", "crc", "headers", "timestampDelta", "attributes", "offsetDelta", "lastOffsetDelta",
		"maxTimestamp",
		"producerId", "producerEpoch", "baseSequence", "count", "length", "baseOffset", "partitionLeaderEpoch",
		"snappyFraming", "lz4Checksum", "magic", "key", "value", "offset",
	};

	for (size_t i = 0; i < sizeof members / sizeof *members && s->left > 0; i++) {
		json_t *candidate;

		if (!json_object_get(walk(s->best, path), members[i]) || (keep && strcmp(keep, members[i]) == 0))
			continue;
		candidate = json_deep_copy(s->best);
		json_object_del(walk(candidate, path), members[i]);
		try(s, candidate);
	}
}

static void plainer(struct shrinker *s, const char *member, json_t *value)
{
	json_t *candidate;

	if (json_equal(json_object_get(s->best, member), value)) {
		json_decref(value);
		return;
	}
	candidate = json_deep_copy(s->best);
	json_object_set_new(candidate, member, value);
	try(s, candidate);
}

static void shrink_batch(struct shrinker *s, const struct path *batch)
{
	struct path records = below(batch, "records", 0), edits = below(batch, "edits", 0);
	/* Without it a message becomes a batch, or gets a time: that of the moment in which it is encoded. */
	const char *keep = is_old(s) ? "magic" : NULL;

	thin_out(s, &edits, 0);
	thin_out(s, &records, 1);
	strip(s, batch, keep);
	for (size_t i = 0; i < json_array_size(walk(s->best, &records)); i++) {
		struct path record = below(&records, NULL, i);

		strip(s, &record, keep);
	}
}

static void pass(struct shrinker *s)
{
	struct path root = {.n = 0}, partitions = below(&root, "partitions", 0);

	thin_out(s, &partitions, 1);
	plainer(s, "topic", json_string("plain"));
	plainer(s, "acks", json_integer(-1));
	plainer(s, "version", json_integer(is_old(s) ? LAST_OLD : 12));
	for (size_t p = 0; p < json_array_size(walk(s->best, &partitions)); p++) {
		struct path partition = below(&partitions, NULL, p), batches = below(&partition, "batches", 0);

		thin_out(s, &batches, 0);
		for (size_t b = 0; b < json_array_size(walk(s->best, &batches)); b++) {
			struct path batch = below(&batches, NULL, b);

			shrink_batch(s, &batch);
		}
	}
}

json_t *cf_shrink(json_t *mutation, cf_differs_fn *differs, void *arg, int most)
{
	struct shrinker s = {.differs = differs, .arg = arg, .left = most, .best = json_incref(mutation)};

	if (!differs(arg, mutation))
		return s.best;
	do {
		s.smaller = false;
		pass(&s);
	} while (s.smaller && s.left > 0);
	return s.best;
}
