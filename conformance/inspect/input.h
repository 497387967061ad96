/* Files to look into: read, and recognized. */
#ifndef KASSAY_CONFORMANCE_INSPECT_INPUT_H
#define KASSAY_CONFORMANCE_INSPECT_INPUT_H

#include "lib/text/json.h"
#include "lib/wire/types.h"

/* X(symbol, word) */
#define CF_INPUTS(X)                                        \
	X(CF_IN_SEGMENT, "log segment")                     \
	X(CF_IN_SET, "record batches")                      \
	X(CF_IN_REQUEST, "request")                         \
	X(CF_IN_RESPONSE, "response")                       \
	X(CF_IN_PCAP, "capture of a network")               \
	X(CF_IN_DOCUMENT, "document of the kit")            \
	X(CF_IN_BESIDE, "beside a log segment") \
	X(CF_IN_UNKNOWN, "neither batches nor a request")

enum cf_input_kind {
#define CF_X(sym, word) sym,
	CF_INPUTS(CF_X)
#undef CF_X
};

struct cf_input {
	struct kw_slice bytes;       /* of text: those that it stands for */
	enum cf_input_kind kind;
	bool hex;                    /* it was text */
	int64_t first_offset;        /* a segment's, as its name says; -1 = it does not */
	struct kt_json document;
	void *own;                   /* to be given back */
};

const char *cf_input_word(enum cf_input_kind kind);

/* Opens a file, or "-" for standard input; of a folder of a failure its result.json. Hex is what
 * cf_hex_read() takes (inspect/hex.h). KT_EFILE, KT_ELIMIT, KT_ESYNTAX of a document or a dump. cf_input_fini() may be
 * called whatever the outcome. */
int cf_input_open(struct cf_input *input, const char *file, struct kt_err *err);
void cf_input_fini(struct cf_input *input);

#endif
