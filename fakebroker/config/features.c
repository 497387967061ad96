/* The features, and which release supports which of their levels. */
#include <assert.h>

#include "fakebroker/config/upgrade.h"

static const char *const names[FB_NFEATURES] = {
#define FB_X(sym, name) [sym] = name,
	FB_FEATURES(FB_X)
#undef FB_X
};

const char *fb_feature_name(enum fb_feature feature)
{
	return names[feature];
}

int fb_feature_find(struct kw_str name)
{
	for (int i = 0; i < FB_NFEATURES; i++) {
		if (kw_str_is(name, names[i]))
			return i;
	}
	return -1;
}

static const struct fb_release releases[] = {
#define FB_RELEASE(name_, mv_min, mv_max, kraft, elr, group, share, streams, transaction, level_, both_, each_,        \
		   verified_)                                                                                          \
	{.name = (name_), .level = (level_), .namesBothLevels = (both_), .oneByOne = (each_), .verified = (verified_), \
	 .supported = {[FB_METADATA_VERSION] = {mv_min, mv_max}, [FB_KRAFT_VERSION] = {0, kraft},                      \
		       [FB_ELR_VERSION] = {0, elr}, [FB_GROUP_VERSION] = {0, group}, [FB_SHARE_VERSION] = {0, share},  \
		       [FB_STREAMS_VERSION] = {0, streams}, [FB_TRANSACTION_VERSION] = {0, transaction}}},
#include "fakebroker/config/releases.def"
#undef FB_RELEASE
};

enum { NRELEASES = sizeof releases / sizeof *releases };

const struct fb_release *fb_release_at(size_t index)
{
	return index < NRELEASES ? &releases[index] : NULL;
}

int16_t fb_release_least(const struct fb_release *release)
{
	int16_t least = release->supported[FB_METADATA_VERSION].min;

	return least < FB_LEVEL_BOOTSTRAP ? FB_LEVEL_BOOTSTRAP : least;
}

const struct fb_release *fb_release_find(const char *name)
{
	for (size_t i = 0; i < NRELEASES; i++) {
		if (strcmp(releases[i].name, name) == 0)
			return &releases[i];
	}
	return NULL;
}

bool fb_release_before(const struct fb_release *release, const char *name)
{
	const struct fb_release *other = fb_release_find(name);

	assert(other);
	return release < other;   /* rows of one table, which rises */
}

/* The metadata.version from which on a new cluster has a level of a feature (FeatureVersion.bootstrapMetadataVersion).
 * Not kraft.version: a quorum of fixed voters, as the kit's, starts without it. */
static const struct {
	enum fb_feature feature;
	int16_t level, from;
} bootstrap[] = {
	{FB_GROUP_VERSION, 1, 22},
	{FB_TRANSACTION_VERSION, 2, 24},
	{FB_ELR_VERSION, 1, 26},
	{FB_SHARE_VERSION, 1, 28},
	{FB_STREAMS_VERSION, 1, 29},
	{FB_SHARE_VERSION, 2, 31},
};

struct fb_levels fb_levels_at(const struct fb_release *release, int16_t level)
{
	struct fb_levels levels = {.v = {[FB_METADATA_VERSION] = level}};

	for (size_t i = 0; i < sizeof bootstrap / sizeof *bootstrap; i++) {
		if (level >= bootstrap[i].from && bootstrap[i].level <= release->supported[bootstrap[i].feature].max)
			levels.v[bootstrap[i].feature] = bootstrap[i].level;
	}
	return levels;
}
