/* A case: a JSON file that proves one behaviour of a broker.
 *
 * The format is described member by member in docs/conformance.md. A case gives one instance, or one for each API
 * version that it lists; instances are what runs and what has a verdict.
 */
#ifndef KASSAY_CONFORMANCE_CASE_H
#define KASSAY_CONFORMANCE_CASE_H

#include "conformance/data.h"
#include "conformance/requirement.h"
#include "conformance/step.h"

struct cf_case {
	struct kt_json doc;
	char *file;              /* as found; errors and reports show it */
	const char *id, *title, *note;
	char family[64];         /* of the id, up to the first dot */
	const struct cf_requirement **requirements;
	size_t nrequirements;
	bool unregistered;       /* it names others, too, or none */
	const char **needs;      /* capabilities */
	size_t nneeds;
	int api;                 /* that `versions` instantiates, -1 = none */
	int *versions;
	size_t nversions;
	json_t *topics;          /* variable -> {partitions, configs}, or NULL */
	int min_level, max_level;   /* of metadata.version, or -1 */
	bool exclusive;          /* changes what other cases see, so it runs alone */
	bool destructive;        /* leaves the target changed, or can harm it: runs alone, last, and only with
				    --destructive */
	struct cf_steps steps, cleanup;
};

struct cf_instance {
	const struct cf_case *cas;
	int version;             /* of cas->api, -1 = the case has none */
	char id[120];            /* "records.crc.mismatch@v9" */
};

struct cf_suite {
	struct cf_data data;
	struct cf_register reg;
	struct cf_case **cases;
	size_t ncases;
	struct cf_instance *instances;   /* sorted by id of the case, then version */
	size_t ninstances;
};

/* One case from a file. Errors carry file, line and path. */
int cf_case_load(const char *file, const struct cf_register *reg, struct cf_case **out, struct kt_err *err);
/* The same for one that is none of the suite: requirements that the register does not have are left out. */
int cf_case_load_foreign(const char *file, const struct cf_register *reg, struct cf_case **out, struct kt_err *err);
/* One from text, for cases that are made up; it proves no requirement. */
int cf_case_parse(const char *name, const char *text, struct cf_case **out, struct kt_err *err);
void cf_case_free(struct cf_case *cas);

/* The requirement that weighs most, the first of several; NULL if none is registered. */
const struct cf_requirement *cf_case_heaviest(const struct cf_case *cas);
/* How much a failure matters: the level of that requirement (enum cf_level). A must, where the register does not say
 * that it is less. */
int cf_case_level(const struct cf_case *cas);

/* Appends the instances of a case to a growing array. */
int cf_case_instances(const struct cf_case *cas, struct cf_instance **v, size_t *n);

/* Told of each case file that is not right; the others are loaded all the same. */
typedef void cf_complain_fn(void *arg, const struct kt_err *err);

/* The register and all cases. Returns the first failure. cf_suite_fini() may be called whatever the outcome. */
int cf_suite_load(struct cf_suite *suite, const char *data_option, cf_complain_fn *complain, void *arg,
		  struct kt_err *err);
void cf_suite_fini(struct cf_suite *suite);

#endif
