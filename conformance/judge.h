/* Is an outcome one of those that a step allows? */
#ifndef KASSAY_CONFORMANCE_JUDGE_H
#define KASSAY_CONFORMANCE_JUDGE_H

#include "conformance/step.h"
#include "conformance/verdict.h"

extern const char *const cf_fate_words[];   /* by enum cf_fate */

struct cf_judgement {
	enum cf_verdict verdict;
	char reason[1000];        /* why it is not a pass, else "" */
	char alternative[160];    /* name of the alternative that fits, or "" */
	const char *grade;        /* of that alternative, or NULL */
};

/* The first alternative that fits in frame and connection decides; if none does, the verdict is fail, and the reason is
 * the connection when that alone was wrong, else what the first alternative misses. If one uses a variable that is not
 * set, or that is nothing for its operator, the verdict is error, even where another fits. */
struct cf_judgement cf_judge(const struct cf_step *step, const struct cf_outcome *out, json_t *vars);

#endif
