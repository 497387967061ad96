/* What a broker notices of a segment when it recovers its log after it was not stopped cleanly. */
#include <inttypes.h>

#include "conformance/inspect/inspect.h"

/* Source: LogSegment.recover and FileLogInputStream, asked of Kafka 4.4.0. It cuts a segment off at a batch with a
 * wrong CRC, at one that is not whole, and at zeros; with a right CRC, counts and lengths of records may lie, and so
 * may a magic above 2, which is not under the CRC. At an offset in front of the segment's it does not cut: the broker
 * does not start. */
struct recovery {
	const struct kw_slice *bytes;
	int64_t first_offset; /* -1 = unknown */
	size_t at, number;    /* of the batch */
	char why[240];	      /* "" = it is kept */
	bool fatal;
};

/* A file's reader takes any magic: below 2 for a message, else for a batch. */
static bool is_right(const struct kw_entry *entry)
{
	if (entry->magic < 2)
		return kw_rd32(entry->p + KW_L_CRC) == kw_legacy_crc(entry->p, entry->size);
	return entry->size >= KW_B_RECORDS && kw_rd32(entry->p + KW_B_CRC) == kw_batch_crc(entry->p, entry->size);
}

/* The batch at recovery->at; false ends the recovery. */
static bool recover(struct recovery *recovery)
{
	struct kt_err err = {0};
	struct kw_entry entry;

	if (recovery->at == recovery->bytes->n)
		return false;
	if (kw_entry_parse(recovery->bytes->p + recovery->at, recovery->bytes->n - recovery->at, &entry, &err)) {
		snprintf(recovery->why, sizeof recovery->why, "%.200s", err.text);
		return false;
	}
	if (!is_right(&entry)) {
		snprintf(recovery->why, sizeof recovery->why, "its crc is wrong");
		return false;
	}
	if (entry.offset < recovery->first_offset) {
		recovery->fatal = true;
		snprintf(recovery->why, sizeof recovery->why,
			 "offset %" PRId64 " is in front of the segment's, %" PRId64, entry.offset,
			 recovery->first_offset);
		return false;
	}
	recovery->at += entry.size;
	recovery->number++;
	return true;
}

void cf_inspect_recovery(struct cf_inspector *inspector, const struct kw_slice *bytes, int64_t first_offset)
{
	struct recovery recovery = {.bytes = bytes, .first_offset = first_offset};
	struct cf_place place = {.none = true};
	char text[400];

	while (recover(&recovery))
		;
	if (!recovery.why[0]) {
		snprintf(text, sizeof text, "keeps all %zu bytes", bytes->n);
	} else {
		snprintf(text, sizeof text, "%s byte %zu (batch %zu): %s",
			 recovery.fatal ? "fails, and the broker does not start, at" : "cuts the segment at",
			 recovery.at, recovery.number, recovery.why);
		place = (struct cf_place){recovery.at, bytes->n - recovery.at, false, false};
	}
	cf_tree_leaf(&inspector->tree, &place, "log recovery", json_string(text), text, false);
}
