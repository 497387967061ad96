/* From a configuration's text to its typed value and back, as Kafka's ConfigDef does it.
 *
 * Source: ConfigDef.parseType, ConfigDef.convertToString and the validators named below, Kafka 4.4.
 */
#ifndef KASSAY_FAKEBROKER_CONFIG_PARSE_H
#define KASSAY_FAKEBROKER_CONFIG_PARSE_H

#include "fakebroker/config/configdef.h"

/* For "%.*s". */
#define FB_STR(str) (str).n < 0 ? 4 : (int)(str).n, (str).n < 0 ? "null" : (str).n ? (str).s : ""

/* Longest text of a double that fb_double_text writes, with its NUL. */
enum { FB_DOUBLE_TEXT = 40 };

struct fb_value {
	bool null;
	int64_t l;               /* BOOLEAN (0, 1), INT, SHORT, LONG */
	double d;                /* DOUBLE */
	struct kw_str s;         /* STRING, CLASS, PASSWORD, trimmed as Java trims */
	struct kw_str *items;    /* LIST, each trimmed */
	size_t nitems;
};

/* Gives text its type. False: *message is why (NULL when memory is exhausted). */
bool fb_parse(const struct fb_configdef *def, struct kw_str text, struct kw_arena *arena, struct fb_value *value,
	      const char **message);
/* The value as DescribeConfigs prints it: numbers and booleans in their one form, lists joined by commas.
 * Null when memory is exhausted. */
struct kw_str fb_value_text(const struct fb_configdef *def, const struct fb_value *value, struct kw_arena *arena);
/* Parses and prints; text that does not parse comes back as it is. */
struct kw_str fb_canonical(const struct fb_configdef *def, struct kw_str text, struct kw_arena *arena);

/* Runs one validator on a parsed value of def. A list loses its duplicates where Kafka's validator drops them. */
bool fb_validate(const struct fb_configdef *def, const struct fb_validator *validator, struct fb_value *value,
		 struct kw_arena *arena, const char **message);

/* Kafka's "Invalid value V for configuration N: WHY"; why NULL leaves that part out. */
const char *fb_invalid(const struct fb_configdef *def, struct kw_str value, const char *why, struct kw_arena *arena);

struct kw_str fb_trim(struct kw_str text);
/* Java's Integer.parseInt and Long.parseLong within bounds: an optional sign and digits, nothing else. */
bool fb_parse_long(struct kw_str text, int64_t min, int64_t max, int64_t *l);
/* Java's Double.parseDouble, without hexadecimal numbers. */
bool fb_parse_double(struct kw_str text, double *d);
/* Java's Double.toString. Returns out. */
char *fb_double_text(double d, char out[FB_DOUBLE_TEXT]);
/* Splits at commas, dropping white space on either side of each; "" has no parts. NULL when memory is exhausted. */
struct kw_str *fb_split_list(struct kw_str text, struct kw_arena *arena, size_t *n);
/* Joins by sep. Null when memory is exhausted. */
struct kw_str fb_join(const struct kw_str *parts, size_t n, const char *sep, struct kw_arena *arena);

#endif
