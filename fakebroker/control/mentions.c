#include "fakebroker/control/mentions.h"

static bool named(const char *field)
{
	return strcmp(field, "name") == 0 || strcmp(field, "topic") == 0 || strcmp(field, "topicName") == 0 ||
	       strcmp(field, "topicNames") == 0;
}

static bool value_is(const struct kw_field *field, const char *at, const struct fb_wanted_topic *want)
{
	static const struct kw_uuid none;

	if (field->type == KW_STRING && named(field->name))
		return kw_str_is(*(const struct kw_str *)(const void *)at, want->name);
	return field->type == KW_UUID && strcmp(field->name, "topicId") == 0 && !kw_uuid_eq(want->id, none) &&
	       kw_uuid_eq(*(const struct kw_uuid *)(const void *)at, want->id);
}

bool fb_mentions(const struct kw_struct *st, const void *body, const struct fb_wanted_topic *want)
{
	for (uint32_t i = 0; i < st->nfields; i++) {
		const struct kw_field *field = &st->fields[i];
		const char *at = (const char *)body + field->offset;
		const struct kw_arr *arr = (const struct kw_arr *)(const void *)at;
		size_t size = field->type == KW_STRUCT ? field->sub->size : sizeof(struct kw_str);

		if (!(field->flags & KW_F_ARRAY)) {
			if (value_is(field, at, want))
				return true;
			continue;
		}
		if (field->type != KW_STRUCT && field->type != KW_STRING)
			continue;
		for (int32_t k = 0; k < arr->n; k++) {
			const char *v = (const char *)arr->v + (size_t)k * size;

			if (field->type == KW_STRUCT ? fb_mentions(field->sub, v, want) : value_is(field, v, want))
				return true;
		}
	}
	return false;
}

struct fb_wanted_topic fb_want_topic(struct fb_cluster *cluster, const char *name)
{
	struct fb_wanted_topic want = {.name = name};
	const struct fb_topic *topic;

	pthread_rwlock_rdlock(&cluster->lock);
	topic = fb_topic_find(cluster, kw_str(name));
	if (topic)
		want.id = topic->id;
	pthread_rwlock_unlock(&cluster->lock);
	return want;
}
