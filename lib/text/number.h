/* Numbers as people write and read them. */
#ifndef KASSAY_TEXT_NUMBER_H
#define KASSAY_TEXT_NUMBER_H

#include <stdint.h>

#include "lib/text/err.h"

/* KT_ERANGE with "must be 0 to 65535, not 70000" unless min <= v <= max. INT_MIN, INT64_MIN and -INFINITY (INT_MAX,
 * INT64_MAX and INFINITY) are not named unless v is beyond them: "must be at least 1, not 0". */
int kt_check_int(int64_t v, int64_t min, int64_t max, struct kt_err *err);
int kt_check_real(double v, double min, double max, struct kt_err *err);

/* The whole of s as a decimal number: KT_ETYPE if it is none, KT_ERANGE. *v is set on success only. */
int kt_parse_int(const char *s, int64_t min, int64_t max, int64_t *v, struct kt_err *err);
int kt_parse_real(const char *s, double min, double max, double *v, struct kt_err *err);

#endif
