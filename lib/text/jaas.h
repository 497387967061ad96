/* A JAAS entry as Kafka takes it in `sasl.jaas.config`: a login module, a control flag, options, a semicolon.
 *
 *	org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" user_alice="wonder";
 *
 * As in Kafka (JaasConfig, a StreamTokenizer): words are parted by blanks, quoted by " or ' with backslash escapes; an
 * option is NAME=VALUE; more than one entry is refused.
 */
#ifndef KASSAY_TEXT_JAAS_H
#define KASSAY_TEXT_JAAS_H

#include "lib/text/err.h"

struct kt_jaas_option {
	const char *name, *value;
};

struct kt_jaas {
	const char *module;            /* class of the login module */
	struct kt_jaas_option *v;      /* in the order of the text */
	size_t n;
	char *text;                    /* what all of it points into */
};

/* Reads n bytes. Errors: KT_ESYNTAX, KT_ENOMEM; no text of an error quotes a value, which may be a password.
 * kt_jaas_fini() may be called whatever the outcome. */
int kt_jaas_parse(struct kt_jaas *jaas, const char *text, size_t n, struct kt_err *err);
void kt_jaas_fini(struct kt_jaas *jaas);

/* The value of the last option of that name, NULL if there is none. */
const char *kt_jaas_find(const struct kt_jaas *jaas, const char *name);

#endif
