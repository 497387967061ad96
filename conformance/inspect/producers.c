/* The snapshot of a partition's producers. */
#include <inttypes.h>

#include "conformance/inspect/indexes.h"
#include "kw_messages.h"

/* Source: ProducerStateManager.readSnapshot (Kafka 4.4.0): version, CRC-32C of what follows it, producers. */
enum { SNAPSHOT_VERSION = 1, CRC_AT = 2, PRODUCERS_AT = 6 };

static void show_producer(struct cf_inspector *inspector, const struct kw_ProducerSnapshot_ProducerEntry *entry)
{
	struct cf_place nowhere = {.none = true};
	char name[40], text[240], open[60] = "";

	snprintf(name, sizeof name, "producer %" PRId64, entry->producerId);
	if (entry->currentTxnFirstOffset >= 0)
		snprintf(open, sizeof open, ", a transaction open since offset %" PRId64, entry->currentTxnFirstOffset);
	snprintf(text, sizeof text, "epoch %d, last sequence %d at offset %" PRId64 "%s", entry->epoch,
		 entry->lastSequence, entry->lastOffset, open);
	cf_tree_leaf(&inspector->tree, &nowhere, name,
		     json_pack("{sisisIsIsI}", "epoch", entry->epoch, "lastSequence", entry->lastSequence, "lastOffset",
			       (json_int_t)entry->lastOffset, "timestamp", (json_int_t)entry->timestamp,
			       "currentTxnFirstOffset", (json_int_t)entry->currentTxnFirstOffset),
		     text, false);
}

static void check_snapshot(struct cf_inspector *inspector, const struct cf_beside *beside,
			   const struct kw_ProducerSnapshot *snapshot, size_t used)
{
	const struct kw_slice *bytes = &beside->bytes;
	uint32_t computed = kw_crc32c(0, bytes->p + PRODUCERS_AT, bytes->n - PRODUCERS_AT);
	char text[120];

	if (snapshot->crc != computed) {
		snprintf(text, sizeof text, "crc says %08x, the bytes behind it have %08x", snapshot->crc, computed);
		cf_beside_fault(inspector, beside, CRC_AT, 4, text);
	}
	if (CRC_AT + used < bytes->n)
		cf_beside_fault(inspector, beside, CRC_AT + used, bytes->n - CRC_AT - used,
				"bytes behind the last producer");
}

static void show_snapshot(struct cf_inspector *inspector, const struct cf_beside *beside, struct kw_arena *arena)
{
	const struct kw_slice *bytes = &beside->bytes;
	struct cf_place place = {0, bytes->n, false, bytes->n == 0};
	struct kw_ProducerSnapshot *snapshot = NULL;
	int version = bytes->n >= CRC_AT ? (int16_t)kw_rd16(bytes->p) : -1;
	struct kt_err err = {0};
	size_t used = 0;
	void *decoded;
	char text[120];

	if (version != SNAPSHOT_VERSION)
		kt_fail(&err, KT_EVERSION, "version is %d, Kafka knows 1 only", version);
	else if (kw_decode(&kw_msg_ProducerSnapshot, version, bytes->p + CRC_AT, bytes->n - CRC_AT, arena, &decoded,
			   &used, &err) == 0)
		snapshot = decoded;
	snprintf(text, sizeof text, "producers in front of offset %" PRId64 ": %d", beside->first_offset,
		 snapshot ? snapshot->producerEntries.n : 0);
	cf_tree_open(&inspector->tree, &place, beside->name, text);
	for (int32_t i = 0; snapshot && i < snapshot->producerEntries.n && beside->entries; i++)
		show_producer(inspector, &snapshot->producerEntries.v[i]);
	if (snapshot)
		check_snapshot(inspector, beside, snapshot, used);
	else
		cf_beside_fault(inspector, beside, err.code == KT_EVERSION ? 0 : CRC_AT + err.offset,
		      err.code == KT_EVERSION ? 2 : 1, err.text);
	cf_tree_close(&inspector->tree);
}

void cf_inspect_producers(struct cf_inspector *inspector, const struct cf_beside *beside)
{
	struct kw_arena arena;

	kw_arena_init(&arena, KW_INFLATE_MAX);
	show_snapshot(inspector, beside, &arena);
	kw_arena_fini(&arena);
}
