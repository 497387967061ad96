/* What a step of a case can do: one row per verb, each in a file of verbs/. */
#ifndef KASSAY_CONFORMANCE_VERB_H
#define KASSAY_CONFORMANCE_VERB_H

#include "lib/text/json.h"

struct cf_run;

enum cf_arg_type { CF_ARG_STR, CF_ARG_INT, CF_ARG_BOOL, CF_ARG_OBJECT, CF_ARG_ARRAY, CF_ARG_EDITS, CF_ARG_ANY };

/* A member of a verb's object. */
struct cf_arg {
	const char *name;
	enum cf_arg_type type;
	bool need;
	const char *help;
};

/* How the answer to a step came about. */
enum cf_fate {
	CF_KEPT,              /* a request behind it on the same connection was answered */
	CF_CLOSED,            /* the peer closed or reset the connection */
	CF_SILENT,            /* still open, but it answers nothing any more */
	CF_UNASKED,           /* a frame came on it that answers no request */
	CF_NO_CONNECTION,     /* the step judges none */
};

/* What a verb found out. All JSON is owned. */
struct cf_outcome {
	bool answered;
	enum cf_fate fate;
	json_t *body;         /* whole answer, NULL if there is none */
	json_t *subject;      /* what the expectation is matched against; part of body or of its own */
	json_t *evidence;     /* object: request, response, what was found out on the way */
};

/* Frees what it has, and leaves it empty. */
static inline void cf_outcome_fini(struct cf_outcome *out)
{
	json_decref(out->body);
	json_decref(out->subject);
	json_decref(out->evidence);
	*out = (struct cf_outcome){0};
}

/* args are expanded and of the right types. Fills out; an error means that the question could not be put: KT_ENET,
 * KT_ECLOSED, KT_ETIMEOUT and KT_EPEER make the case inconclusive, KT_EABSENT unsupported, any other an error. With
 * KT_ECORRUPT (link.h) the step fails: an answer on the way to it cannot be read. */
typedef int cf_verb_fn(struct cf_run *run, json_t *args, struct cf_outcome *out, struct kt_err *err);

struct cf_verb {
	const char *name;
	const struct cf_arg *args;     /* ends with a NULL name */
	cf_verb_fn *run;
	bool need_expect;              /* a step without expectation asks nothing */
	const char *help;
};

/* Ends with a NULL name. */
extern const struct cf_verb cf_verbs[];

/* Are all members known, those that are needed there, and of the right type? A string that is a variable passes for any
 * type unless expanded is set. obj is the verb's object. */
int cf_args_check(const struct cf_verb *verb, struct kt_obj *obj, bool expanded);

#endif
