/* Kafka's error codes as constants: FB_INVALID_CONFIG is 40. */
#ifndef KASSAY_FAKEBROKER_CONFIG_ERRORS_H
#define KASSAY_FAKEBROKER_CONFIG_ERRORS_H

enum fb_error_code {
#define X(name, code) FB_##name = (code),
#include "lib/wire/errors.def"
#undef X
};

#endif
