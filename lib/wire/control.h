/* Control batches: what a broker itself writes into a log, marked by KW_A_CONTROL in the batch's attributes. The key of
 * their one record has a version and a type, the value is a message of that type.
 *
 * Source: Kafka's ControlRecordType, EndTransactionMarker, ControlRecordUtils (releases 3.9.0 and 4.4.0); KIP-98,
 * KIP-595, KIP-630, KIP-853.
 */
#ifndef KASSAY_WIRE_CONTROL_H
#define KASSAY_WIRE_CONTROL_H

#include "lib/wire/batch.h"
#include "lib/wire/message.h"

/* X(symbol, type, Kafka's name, message in the value, is its version written before it) */
#define KW_CONTROLS(X)                                                              \
	X(KW_CONTROL_ABORT, 0, "ABORT", EndTxnMarker, true)                         \
	X(KW_CONTROL_COMMIT, 1, "COMMIT", EndTxnMarker, true)                       \
	X(KW_CONTROL_LEADER_CHANGE, 2, "LEADER_CHANGE", LeaderChangeMessage, false) \
	X(KW_CONTROL_SNAPSHOT_HEADER, 3, "SNAPSHOT_HEADER", SnapshotHeaderRecord, false) \
	X(KW_CONTROL_SNAPSHOT_FOOTER, 4, "SNAPSHOT_FOOTER", SnapshotFooterRecord, false) \
	X(KW_CONTROL_KRAFT_VERSION, 5, "KRAFT_VERSION", KRaftVersionRecord, false)  \
	X(KW_CONTROL_KRAFT_VOTERS, 6, "KRAFT_VOTERS", VotersRecord, false)

enum kw_control {
#define KW_X(sym, type, name, message, prefixed) sym = (type),
	KW_CONTROLS(KW_X)
#undef KW_X
};

/* "COMMIT"; NULL for a type that Kafka does not have: its consumers skip such records. And back; -1 if unknown. */
const char *kw_control_name(int type);
int kw_control_find(const char *name);
/* The message in the value, or NULL for an unknown type. */
const struct kw_msg *kw_control_message(int type);

/* Reads the key. A version above 0 is read as 0, as Kafka does; *version may be NULL. KT_ECORRUPT with Kafka's words
 * when it is null, shorter than 4 bytes, or has a negative version. */
int kw_control_read_key(struct kw_bytes key, int *version, int *type, struct kt_err *err);
/* Reads the value, into the arena as kw_decode does. *version gets that of the value, which may be newer than the
 * messages that the kit knows: then it is read as the newest of them. Like Kafka, whatever follows is ignored.
 * KT_EUNKNOWN for an unknown type, KT_ECORRUPT, KT_ETRUNC. */
int kw_control_read_value(int type, struct kw_bytes value, struct kw_arena *arena, int *version, void **out,
			  struct kt_err *err);

/* Appends a control batch of one record; `in` is the struct of the type's message, e.g. struct kw_EndTxnMarker. The
 * control bit is added to spec's attributes, for ABORT and COMMIT also the transactional one. A version field in `in`
 * is written as given. What else Kafka's builder asks is the caller's to see to: a producer id and epoch in a marker,
 * a leader epoch in the others. KT_EUNKNOWN for an unknown type; otherwise as kw_encode and kw_batch_build. */
int kw_control_build(const struct kw_batch_spec *spec, int type, int version, const void *in, struct kw_buf *out,
		     struct kt_err *err);

#endif
