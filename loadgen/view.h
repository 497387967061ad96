/* What librdkafka tells its application when a broker refuses a batch for one illegal record in it. */
#ifndef KASSAY_LOADGEN_VIEW_H
#define KASSAY_LOADGEN_VIEW_H

#include "loadgen/load.h"

enum { LG_VIEW_RECORDS = 3, LG_VIEW_ILLEGAL = 1 };   /* legal, illegal, legal */

struct lg_view {
	const struct lg_illegal *illegal;
	bool made;                /* false: librdkafka never builds such a batch */
	struct {
		int code;         /* of the delivery report */
		char text[160];
	} records[LG_VIEW_RECORDS];
};

/* Sends a batch of three records for each kind in the phase's mix, settled in the phase's ledger and counted as sent.
 * Fills views, of which there must be one per kind. */
int lg_rdkafka_view(struct lg_load *load, struct lg_view *views, struct kt_err *err);

#endif
