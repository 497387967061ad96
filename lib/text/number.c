#include "lib/text/number.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int out_of_range(const char *min, const char *max, const char *v, struct kt_err *err)
{
	if (!*max)
		return kt_fail(err, KT_ERANGE, "must be at least %s, not %s", min, v);
	if (!*min)
		return kt_fail(err, KT_ERANGE, "must be at most %s, not %s", max, v);
	return kt_fail(err, KT_ERANGE, "must be %s to %s, not %s", min, max, v);
}

int kt_check_int(int64_t v, int64_t min, int64_t max, struct kt_err *err)
{
	char from[32] = "", to[32] = "", got[32];

	if (v >= min && v <= max)
		return 0;
	if (v < min || (min != INT64_MIN && min != INT_MIN))
		snprintf(from, sizeof from, "%" PRId64, min);
	if (v > max || (max != INT64_MAX && max != INT_MAX))
		snprintf(to, sizeof to, "%" PRId64, max);
	snprintf(got, sizeof got, "%" PRId64, v);
	return out_of_range(from, to, got, err);
}

int kt_check_real(double v, double min, double max, struct kt_err *err)
{
	char from[32] = "", to[32] = "", got[32];

	if (v >= min && v <= max)
		return 0;
	if (isfinite(min))
		snprintf(from, sizeof from, "%g", min);
	if (isfinite(max))
		snprintf(to, sizeof to, "%g", max);
	snprintf(got, sizeof got, "%g", v);
	return out_of_range(from, to, got, err);
}

int kt_parse_int(const char *s, int64_t min, int64_t max, int64_t *v, struct kt_err *err)
{
	const char *digits = s + (*s == '-' || *s == '+');
	long long got;
	int rc;

	if (!*digits || digits[strspn(digits, "0123456789")])
		return kt_fail(err, KT_ETYPE, "must be a whole number, not \"%s\"", s);
	errno = 0;
	got = strtoll(s, NULL, 10);
	if (errno == ERANGE)
		return kt_fail(err, KT_ERANGE, "\"%s\" is beyond 64 bits", s);
	rc = kt_check_int(got, min, max, err);
	if (rc == 0)
		*v = got;
	return rc;
}

int kt_parse_real(const char *s, double min, double max, double *v, struct kt_err *err)
{
	char *end;
	double got = strtod(s, &end);
	int rc;

	if (!*s || *end || strspn(s, "+-.0123456789eE") != strlen(s))
		return kt_fail(err, KT_ETYPE, "must be a number, not \"%s\"", s);
	if (!isfinite(got))
		return kt_fail(err, KT_ERANGE, "\"%s\" is beyond a double", s);
	rc = kt_check_real(got, min, max, err);
	if (rc == 0)
		*v = got;
	return rc;
}
