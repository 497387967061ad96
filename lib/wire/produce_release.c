#include "lib/wire/produce_release.h"

#include <string.h>

#include "lib/text/near.h"
#include "lib/text/number.h"

const struct kw_release kw_releases[] = {
#define KW_RELEASE(name, measured, min, max, after, decompressed) {name, measured, min, max, after, decompressed},
#include "lib/wire/produce_releases.def"
#undef KW_RELEASE
};

const size_t kw_nreleases = sizeof kw_releases / sizeof *kw_releases;

const struct kw_release *kw_release_find(const char *name)
{
	for (size_t i = 0; i < kw_nreleases; i++) {
		size_t n = strlen(kw_releases[i].name);

		if (strncmp(name, kw_releases[i].name, n) == 0 && (!name[n] || name[n] == '.'))
			return &kw_releases[i];
	}
	return NULL;
}

struct kw_topic_conf kw_release_conf(const struct kw_release *release)
{
	return (struct kw_topic_conf){
		.maxMessageBytes = 1048588,
		.segmentBytes = 1073741824,
		.compression = -1,
		.beforeMaxMs = INT64_MAX,
		.afterMaxMs = release->afterMaxMs,
		.maxDecompressedMessageBytes = release->maxDecompressedMessageBytes,
	};
}

/* ---- by name ---- */

static int set_int32(const char *value, int64_t min, int32_t *out, struct kt_err *err)
{
	int64_t v;
	int code = kt_parse_int(value, min, INT32_MAX, &v, err);

	if (!code)
		*out = (int32_t)v;
	return code;
}

static int set_maxMessageBytes(struct kw_topic_conf *conf, const char *value, struct kt_err *err)
{
	return set_int32(value, 0, &conf->maxMessageBytes, err);
}

static int set_maxDecompressedMessageBytes(struct kw_topic_conf *conf, const char *value, struct kt_err *err)
{
	if (conf->maxDecompressedMessageBytes < 0)
		return kt_fail(err, KT_EVERSION, "is new in Kafka 4.4");
	return set_int32(value, 1, &conf->maxDecompressedMessageBytes, err);
}

static int set_segmentBytes(struct kw_topic_conf *conf, const char *value, struct kt_err *err)
{
	return set_int32(value, 14, &conf->segmentBytes, err);
}

static int set_before(struct kw_topic_conf *conf, const char *value, struct kt_err *err)
{
	return kt_parse_int(value, 0, INT64_MAX, &conf->beforeMaxMs, err);
}

static int set_after(struct kw_topic_conf *conf, const char *value, struct kt_err *err)
{
	return kt_parse_int(value, 0, INT64_MAX, &conf->afterMaxMs, err);
}

static int set_compression(struct kw_topic_conf *conf, const char *value, struct kt_err *err)
{
	static const char *const words[] = {"producer", "uncompressed", "gzip", "snappy", "lz4", "zstd", NULL};
	int choice = 0, code = kt_choose(value, words, &choice, err);

	if (!code)
		conf->compression = choice - 1;
	return code;
}

/* lz4's default is no level of the compressor that the others are levels of. */
static int set_level(struct kw_topic_conf *conf, int codec, const char *value, int64_t min, int64_t max, int fallback,
		     struct kt_err *err)
{
	int64_t level;
	int code = kt_parse_int(value, min, max, &level, err);

	if (!code)
		conf->levels[codec] = level == fallback ? 0 : (int)level;
	return code;
}

static int set_gzipLevel(struct kw_topic_conf *conf, const char *value, struct kt_err *err)
{
	return set_level(conf, KW_GZIP, value, -1, 9, -1, err);
}

static int set_lz4Level(struct kw_topic_conf *conf, const char *value, struct kt_err *err)
{
	return set_level(conf, KW_LZ4, value, 1, 17, 9, err);
}

static int set_zstdLevel(struct kw_topic_conf *conf, const char *value, struct kt_err *err)
{
	return set_level(conf, KW_ZSTD, value, -131072, 22, 3, err);
}

static int set_timestampType(struct kw_topic_conf *conf, const char *value, struct kt_err *err)
{
	static const char *const words[] = {"CreateTime", "LogAppendTime", NULL};
	int choice = 0, code = kt_choose(value, words, &choice, err);

	if (!code)
		conf->logAppendTime = choice == 1;
	return code;
}

static int set_cleanupPolicy(struct kw_topic_conf *conf, const char *value, struct kt_err *err)
{
	static const char *const words[] = {"delete", "compact", "compact,delete", "delete,compact", NULL};
	int choice = 0, code = kt_choose(value, words, &choice, err);

	if (!code)
		conf->compact = choice > 0;
	return code;
}

static const struct {
	const char *name;
	int (*set)(struct kw_topic_conf *conf, const char *value, struct kt_err *err);
} configs[] = {
	{"cleanup.policy", set_cleanupPolicy},
	{"compression.gzip.level", set_gzipLevel},
	{"compression.lz4.level", set_lz4Level},
	{"compression.type", set_compression},
	{"compression.zstd.level", set_zstdLevel},
	{"max.decompressed.message.bytes", set_maxDecompressedMessageBytes},
	{"max.message.bytes", set_maxMessageBytes},
	{"message.timestamp.after.max.ms", set_after},
	{"message.timestamp.before.max.ms", set_before},
	{"message.timestamp.type", set_timestampType},
	{"segment.bytes", set_segmentBytes},
};

int kw_topic_conf_set(struct kw_topic_conf *conf, const char *name, const char *value, struct kt_err *err)
{
	struct kt_near near;

	kt_near_init(&near, name);
	for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
		if (strcmp(configs[i].name, name) == 0)
			return configs[i].set(conf, value, err);
		kt_near_offer(&near, configs[i].name);
	}
	if (near.best)
		return kt_fail(err, KT_EUNKNOWN, "unknown topic configuration \"%s\"; did you mean \"%s\"?", name,
			       near.best);
	return kt_fail(err, KT_EUNKNOWN, "topic configuration \"%s\" changes no verdict", name);
}
