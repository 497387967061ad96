/* Text in XML and HTML. */
#ifndef KASSAY_CONFORMANCE_XML_H
#define KASSAY_CONFORMANCE_XML_H

#include <stdio.h>

/* Writes s so that it is text, or the inside of a quoted attribute. Control characters that XML cannot hold become
 * "?". */
void cf_xml_put(FILE *out, const char *s);

#endif
