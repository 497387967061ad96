/* Text in XML and HTML. */
#ifndef KASSAY_CONFORMANCE_XML_H
#define KASSAY_CONFORMANCE_XML_H

#include <stdio.h>

/* Writes s so that it is text, or the inside of a quoted attribute. What XML cannot hold becomes "?", and so do
 * control characters but for tabs and ends of lines, and those by which text changes its direction. */
void cf_xml_put(FILE *out, const char *s);

#endif
