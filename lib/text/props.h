/* Java property files, as Kafka reads server.properties (java.util.Properties.load of a byte stream): the bytes are
 * ISO 8859-1; # and ! begin comments; name and value are parted by =, : or blanks; a backslash at the end of a line
 * continues it; \t \n \r \f \uXXXX are escapes, any other escaped character stands for itself. Blanks at the end of a
 * value belong to it. (Not followed: Java makes an empty property of a lone backslash that ends the file.)
 */
#ifndef KASSAY_TEXT_PROPS_H
#define KASSAY_TEXT_PROPS_H

#include "lib/text/err.h"

struct kt_prop {
	const char *name, *value;   /* UTF-8, may be "" */
	int line;                   /* where it begins */
	int earlier;                /* line of an earlier property of this name, which this one replaces; 0 = none */
};

struct kt_props {
	struct kt_prop *v;          /* by line, each name once: the last one wins, as in Java */
	size_t n;
	char *text;                 /* what the names and values point into */
};

/* Reads a file, or the n bytes at text that are called `file` in errors. At most 16 MiB. Errors: KT_EFILE, KT_ELIMIT,
 * KT_ENOMEM, KT_ESYNTAX (a malformed \u escape; a NUL, which Java takes and we do not), with file and line.
 * kt_props_fini() may be called whatever the outcome. */
int kt_props_load(struct kt_props *props, const char *file, struct kt_err *err);
int kt_props_parse(struct kt_props *props, const char *file, const char *text, size_t n, struct kt_err *err);
void kt_props_fini(struct kt_props *props);

/* NULL if there is none. */
const struct kt_prop *kt_props_find(const struct kt_props *props, const char *name);

#endif
