/* Variables in the JSON of a case.
 *
 * A string that is "$name" as a whole becomes the variable's value, of whatever type; "${name}" inside a longer string
 * becomes its text. "$$" is one dollar sign. A dollar sign before anything but a letter, "{" or "$" stands for itself,
 * so that regular expressions need no care; before a letter inside a longer string it is an error, because a variable
 * was most likely meant. In names of members only "${name}" is replaced, since operators begin with a dollar sign too.
 */
#ifndef KASSAY_CONFORMANCE_VARS_H
#define KASSAY_CONFORMANCE_VARS_H

#include <jansson.h>

#include "lib/text/err.h"

/* A new value that shares nothing with json, though it may with vars. NULL with KT_EUNKNOWN for a variable that is not
 * set, KT_ESYNTAX for a dollar sign that is not used as above. */
json_t *cf_expand(json_t *json, json_t *vars, struct kt_err *err);

/* Are all dollar signs in json used as above? KT_ESYNTAX, with the path relative to json. */
int cf_vars_check(json_t *json, struct kt_err *err);

/* Calls fn for each variable that json uses, with its name. Stops at the first result that is not 0 and returns it. */
int cf_each_variable(json_t *json, int (*fn)(void *arg, const char *name), void *arg);

/* The value at a path like "topics[0].name" or "topics[name=t].partitions[0]", where [member=text] is the first element
 * whose member has this text or number; "" is json itself. NULL if there is none. Borrowed. */
json_t *cf_at(json_t *json, const char *path);

/* Puts one more step in front of an error's path, on the way back from the place of the fault. err may be NULL. */
void cf_err_under(struct kt_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
