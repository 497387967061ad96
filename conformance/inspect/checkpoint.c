/* Text files of a partition's folder: where leader epochs begin, and which topic it is. */
#include <inttypes.h>
#include <stdlib.h>

#include "conformance/inspect/indexes.h"
#include "lib/wire/message.h"

enum { FAULTS_MAX = 8 };

/* ---- leader epochs ---- */

struct epoch {
	int64_t epoch, start;
	size_t at, size; /* its line */
};

struct epochs {
	struct cf_inspector *inspector;
	const struct cf_beside *beside;
	struct epoch *v;
	size_t n;
};

/* The next line of the text, at *at. False at the end. */
static bool next_line(const struct kw_slice *bytes, size_t *at, size_t *size)
{
	const uint8_t *end;

	if (*at >= bytes->n)
		return false;
	end = memchr(bytes->p + *at, '\n', bytes->n - *at);
	*size = end ? (size_t)(end - bytes->p) - *at : bytes->n - *at;
	return true;
}

/* "EPOCH START", or one number if start is NULL. */
static bool read_numbers(const struct kw_slice *bytes, size_t at, size_t size, int64_t *first, int64_t *second)
{
	char line[60], *end;

	if (size == 0 || size >= sizeof line)
		return false;
	memcpy(line, bytes->p + at, size);
	line[size] = '\0';
	*first = strtoll(line, &end, 10);
	if (end == line)
		return false;
	if (second) {
		if (*end != ' ')
			return false;
		*second = strtoll(end + 1, &end, 10);
	}
	return *end == '\0';
}

/* Version, number of entries, entries. Returns the place of what is wrong, SIZE_MAX = nothing. */
static size_t read_epochs(struct epochs *epochs)
{
	const struct kw_slice *bytes = &epochs->beside->bytes;
	size_t at = 0, size = 0;
	int64_t version, count;

	if (!next_line(bytes, &at, &size) || !read_numbers(bytes, at, size, &version, NULL) || version != 0)
		return at;
	at += size + 1;
	if (!next_line(bytes, &at, &size) || !read_numbers(bytes, at, size, &count, NULL) || count < 0 ||
	    (uint64_t)count > bytes->n)
		return at;
	epochs->v = calloc((size_t)count + 1, sizeof *epochs->v);
	for (at += size + 1; epochs->v && next_line(bytes, &at, &size); at += size + 1) {
		struct epoch *epoch = &epochs->v[epochs->n];

		if (epochs->n == (size_t)count || !read_numbers(bytes, at, size, &epoch->epoch, &epoch->start))
			return at;
		epoch->at = at;
		epoch->size = size;
		epochs->n++;
	}
	return epochs->n == (size_t)count ? SIZE_MAX : at;
}

static void check_epochs(struct epochs *epochs)
{
	for (size_t i = 1; i < epochs->n; i++) {
		const struct epoch *epoch = &epochs->v[i];

		if (epoch->epoch <= epoch[-1].epoch || epoch->start <= epoch[-1].start)
			cf_beside_fault(epochs->inspector, epochs->beside, epoch->at, epoch->size,
			      "epochs and their first offsets must rise");
	}
}

/* Every batch is of the last epoch that begins at or in front of it. */
static void check_batches(struct epochs *epochs, const struct cf_segment *segment)
{
	size_t faults = 0, e = 0;
	char text[200];

	for (size_t i = 0; i < segment->n && faults < FAULTS_MAX; i++) {
		const struct cf_batch_place *batch = &segment->v[i];

		while (e + 1 < epochs->n && epochs->v[e + 1].start <= batch->first)
			e++;
		if (batch->leaderEpoch < 0 || epochs->v[e].start > batch->first ||
		    epochs->v[e].epoch == batch->leaderEpoch)
			continue;
		snprintf(text, sizeof text,
			 "says epoch %" PRId64 " for offset %" PRId64 ", the batch there (byte %zu of the segment) has "
			 "partitionLeaderEpoch %d",
			 epochs->v[e].epoch, batch->first, batch->at, batch->leaderEpoch);
		cf_beside_fault(epochs->inspector, epochs->beside, epochs->v[e].at, epochs->v[e].size, text);
		faults++;
	}
}

void cf_inspect_epochs(struct cf_inspector *inspector, const struct cf_beside *beside, const struct cf_segment *segment)
{
	struct epochs epochs = {.inspector = inspector, .beside = beside};
	struct cf_place place = {0, beside->bytes.n, false, beside->bytes.n == 0}, nowhere = {.none = true};
	size_t wrong = read_epochs(&epochs);
	char name[40], text[80];

	snprintf(text, sizeof text, "leader epochs: %zu", epochs.n);
	cf_tree_open(&inspector->tree, &place, beside->name, text);
	for (size_t i = 0; i < epochs.n && beside->entries; i++) {
		snprintf(name, sizeof name, "epoch %" PRId64, epochs.v[i].epoch);
		snprintf(text, sizeof text, "from offset %" PRId64 " on", epochs.v[i].start);
		cf_tree_leaf(&inspector->tree, &nowhere, name, json_integer(epochs.v[i].start), text, false);
	}
	if (wrong != SIZE_MAX)
		cf_beside_fault(inspector, beside, wrong, wrong < beside->bytes.n,
		      "not what Kafka writes: a 0, the number of lines that follow, "
		      "and lines of epoch and first offset");
	check_epochs(&epochs);
	if (segment && epochs.n > 0)
		check_batches(&epochs, segment);
	cf_tree_close(&inspector->tree);
	free(epochs.v);
}

/* ---- partition.metadata ---- */

void cf_inspect_partition(struct cf_inspector *inspector, const struct cf_beside *beside)
{
	static const char version[] = "version: 0", topic_id[] = "topic_id: ";
	const struct kw_slice *bytes = &beside->bytes;
	struct cf_place place = {0, bytes->n, false, bytes->n == 0};
	size_t at = 0, size = 0, n = sizeof topic_id - 1;
	struct kw_uuid id;
	char text[23];

	cf_tree_open(&inspector->tree, &place, beside->name, "topic of the partition");
	if (!next_line(bytes, &at, &size) || size != sizeof version - 1 || memcmp(bytes->p, version, size) != 0) {
		cf_beside_fault(inspector, beside, 0, size, "the first line is not \"version: 0\"");
	} else {
		at += size + 1;
		if (!next_line(bytes, &at, &size) || size < n || memcmp(bytes->p + at, topic_id, n) != 0 ||
		    kw_uuid_parse((const char *)bytes->p + at + n, size - n, &id)) {
			cf_beside_fault(inspector, beside, at < bytes->n ? at : bytes->n, at < bytes->n ? size : 0,
			      "the second line is not \"topic_id: \" and an id");
		} else {
			kw_uuid_text(id, text);
			cf_tree_leaf(&inspector->tree, &(struct cf_place){at + n, size - n, false, false}, "topic id",
				     json_string(text), text, false);
		}
	}
	cf_tree_close(&inspector->tree);
}
