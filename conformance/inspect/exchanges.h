/* The exchanges of a capture, as trees. */
#ifndef KASSAY_CONFORMANCE_INSPECT_EXCHANGES_H
#define KASSAY_CONFORMANCE_INSPECT_EXCHANGES_H

#include "conformance/inspect/inspect.h"
#include "conformance/pcap/pcap.h"

/* What of a capture to look at; the rest is counted, not judged. */
struct cf_pcap_filter {
	int port;                        /* the broker's, 0 = to be found by content */
	int connection, exchange;        /* number, 0 = any */
	int api;                         /* -1 = any */
	bool brief;                      /* a line for each exchange; all of it where something is wrong */
};

/* Shows the file. What the capture does not have is no fault, but inspector->incomplete. KT_EUNKNOWN when nothing is
 * left to show. Errors as of cf_pcap_read(). */
int cf_inspect_pcap(struct cf_inspector *inspector, const struct kw_slice *file, const struct cf_pcap_filter *filter,
		    struct kt_err *err);

#endif
