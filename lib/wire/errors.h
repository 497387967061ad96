/* Kafka's error codes as constants: KW_ERR_INVALID_CONFIG is 40. Their names at run time: kw_error_name() in
 * message.h. */
#ifndef KASSAY_WIRE_ERRORS_H
#define KASSAY_WIRE_ERRORS_H

enum kw_error {
#define X(name, code) KW_ERR_##name = (code),
#include "lib/wire/errors.def"
#undef X
};

#endif
