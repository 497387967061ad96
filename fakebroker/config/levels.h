/* The metadata.version levels: their numbers, names, and what they change. Source: MetadataVersion. */
#ifndef KASSAY_FAKEBROKER_CONFIG_LEVELS_H
#define KASSAY_FAKEBROKER_CONFIG_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

/* Levels at which something begins. */
enum {
	FB_NO_LEVEL = -1,            /* below all of them: no rule by metadata.version applies */
	FB_LEVEL_BOOTSTRAP = 4,      /* the least that can be formatted or set: 3.3-IV0 */
	FB_LEVEL_DIRECTORIES = 17,   /* log directories are assigned: a registration must name them */
	FB_LEVEL_CORDONED = 30,      /* cordoned.log.dirs */
};

/* Name of a level, "3.9-IV0" for 21; NULL if there is none. */
const char *fb_level_name(int16_t level);
/* The level of "21", "3.9-IV0" or "3.9" (the last of that line); -1 if there is none. */
int16_t fb_level_find(const char *text);
/* Does any level above `from`, up to `to`, change the metadata records? Then there is no way back over it. */
bool fb_level_changes_metadata(int16_t from, int16_t to);

#endif
