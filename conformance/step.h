/* A step of a case: a verb with its arguments, what may come back, and what to keep of it. */
#ifndef KASSAY_CONFORMANCE_STEP_H
#define KASSAY_CONFORMANCE_STEP_H

#include "conformance/verb.h"

enum cf_grade { CF_STRICT, CF_LENIENT, CF_OBSERVED };
enum cf_answer { CF_ANSWER_SOME, CF_ANSWER_NONE, CF_ANSWER_ANY };
enum cf_connection { CF_WANT_KEPT, CF_WANT_CLOSED, CF_WANT_ANY };

extern const char *const cf_grade_words[];
extern const char *const cf_answer_words[];
extern const char *const cf_connection_words[];

/* One way in which the target may answer. Everything that is given must hold; patterns are not expanded yet. */
struct cf_alternative {
	const char *name;
	int grade;               /* enum cf_grade */
	int answer;              /* enum cf_answer */
	int connection;          /* enum cf_connection */
	json_t *error;           /* of errorCode: "NAME", ["A", "B"] or {"$not": "NAME"}; NULL = not looked at */
	json_t *message;         /* pattern of errorMessage */
	json_t *body;            /* pattern of the whole subject */
	json_t *json;            /* as it was written */
};

struct cf_step {
	const struct cf_verb *verb;
	json_t *args, *capture;  /* capture: variable -> path in the subject, or NULL */
	struct cf_alternative *alternatives;
	size_t nalternatives;
	int within;              /* ms; > 0: try again until it is as expected or the time is up */
	char path[40];           /* "$.steps[2]" */
};

struct cf_steps {
	struct cf_step *v;
	size_t n;
};

/* Reads all elements of arr. */
int cf_steps_read(struct cf_steps *steps, struct kt_arr *arr);
void cf_steps_fini(struct cf_steps *steps);

/* The pattern of errorCode for the short form of `error`; a new value. KT_EUNKNOWN, KT_ETYPE. */
json_t *cf_error_pattern(json_t *error, struct kt_err *err);

#endif
