#include "fakebroker/config/levels.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	int16_t level;
	const char *name;
	bool changes;
} levels[] = {
#define FB_LEVEL(level, name, changes) {level, name, changes},
#include "fakebroker/config/levels.def"
#undef FB_LEVEL
};

enum { NLEVELS = sizeof levels / sizeof *levels };

const char *fb_level_name(int16_t level)
{
	for (size_t i = 0; i < NLEVELS; i++) {
		if (levels[i].level == level)
			return levels[i].name;
	}
	return NULL;
}

int16_t fb_level_find(const char *text)
{
	size_t n = strlen(text);
	int16_t found = -1;
	char *end;
	long number = strtol(text, &end, 10);

	for (size_t i = 0; i < NLEVELS; i++) {
		bool line = strncmp(levels[i].name, text, n) == 0 && levels[i].name[n] == '-';

		if (line || strcmp(levels[i].name, text) == 0 || (n && !*end && number == levels[i].level))
			found = levels[i].level;
	}
	return found;
}

bool fb_level_changes_metadata(int16_t from, int16_t to)
{
	for (size_t i = 0; i < NLEVELS; i++) {
		if (levels[i].level > from && levels[i].level <= to && levels[i].changes)
			return true;
	}
	return false;
}
