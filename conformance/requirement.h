/* The requirement register: one row per normative statement, in families.
 *
 * A family is a file requirements/FAMILY.json:
 *
 *	{"family": "records", "title": "...", "about": "...", "requirements": [
 *	  {"id": "records.crc", "level": "must", "origin": "kafka", "source": "Apache Kafka 4.4.0, UnifiedLog",
 *	   "text": "..."}]}
 */
#ifndef KASSAY_CONFORMANCE_REQUIREMENT_H
#define KASSAY_CONFORMANCE_REQUIREMENT_H

#include <stddef.h>

#include "lib/text/json.h"

enum cf_level { CF_MUST, CF_SHOULD, CF_MAY, CF_OBSERVE };
/* Who says so: one of the proposals, Kafka's behaviour, or a decision of the kit where the proposals are silent. */
enum cf_origin { CF_PROPOSAL, CF_KAFKA, CF_KIT };

extern const char *const cf_level_words[];
extern const char *const cf_origin_words[];

struct cf_requirement {
	const char *id, *source, *text;
	int level;               /* enum cf_level */
	int origin;              /* enum cf_origin */
	size_t family;           /* index in the register */
};

struct cf_family {
	const char *name, *title, *about;
	struct kt_json doc;
};

struct cf_register {
	struct cf_family *families;
	size_t nfamilies;
	struct cf_requirement *v;
	size_t n, cap;
};

/* Reads every file of the directory; the first fault ends it. cf_register_fini() may be called whatever the outcome. */
int cf_register_load(struct cf_register *reg, const char *dir, struct kt_err *err);
void cf_register_fini(struct cf_register *reg);

const struct cf_requirement *cf_requirement_find(const struct cf_register *reg, const char *id);
/* By name; NULL if there is none. */
const struct cf_family *cf_family_find(const struct cf_register *reg, const char *name);

#endif
