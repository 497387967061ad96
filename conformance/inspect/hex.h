/* Text that stands for bytes: pairs of hex digits, or a dump as of hexdump -C, xxd and the kit's own .hex files. */
#ifndef KASSAY_CONFORMANCE_INSPECT_HEX_H
#define KASSAY_CONFORMANCE_INSPECT_HEX_H

#include "lib/wire/buf.h"

enum { CF_HEX_REPEATED_MAX = 256 << 20 /* bytes of equal lines that a dump may leave out */ };

/* Appends to buf the bytes that text stands for, and sets *is; false, and nothing is appended, when it is no such text.
 * What begins as a dump has to go on as one: KT_ESYNTAX with a line when it does not, when its offsets do not fit its
 * bytes, or when it ends behind a "*", the sign for lines that are like the one before. KT_ELIMIT for a sign for too
 * many; KT_ENOMEM. After a failure buf holds something. */
int cf_hex_read(const struct kw_slice *text, struct kw_buf *buf, bool *is, struct kt_err *err);

#endif
