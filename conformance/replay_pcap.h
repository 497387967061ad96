/* The requests of a capture once more. */
#ifndef KASSAY_CONFORMANCE_REPLAY_PCAP_H
#define KASSAY_CONFORMANCE_REPLAY_PCAP_H

#include "conformance/pcap/pcap.h"

/* Sends every request of the capture, on a connection of its own for each recorded one, to the broker with the node id
 * of the recorded one as far as Metadata has told, else to bootstrap; in the order in which the recorded answers were
 * complete, so that a fetch that waited for records comes after them. Waits for each answer and prints to stdout how it
 * differs. port: of the recorded broker, 0 = to be found by content. timeout_ms: for an answer, until the first was
 * waited for in vain; then a sixth of it. A connection on which an answer did not come is used no more. Returns the
 * exit code: KT_EXIT_VERDICT when a request fared otherwise or its answer has other error codes, KT_EXIT_INCOMPLETE
 * when not all could be sent, or the capture is not whole, which is told. Of KT_EXIT_USAGE (the file, the address) and
 * KT_EXIT_ENGINE (no connection, or not a single answer) err says why. */
int cf_replay_pcap(const struct kw_slice *file, const char *bootstrap, int port, int timeout_ms,
		   struct kt_err *err);

#endif
