/* Validators that look at a record's headers. */
#include <stdio.h>
#include <string.h>

#include "fakebroker/hooks/builtin_validators.h"

/* The last header of a name, which is the one that counts for Kafka's clients (Headers.lastHeader). */
static bool find_header(const struct kassay_record *record, const char *name, struct kassay_header *out)
{
	size_t n = strlen(name);
	int32_t i;

	for (i = record->header_count; i-- > 0;) {
		*out = record->header(record, i);
		if (out->key.size == (int32_t)n && memcmp(out->key.data, name, n) == 0)
			return true;
	}
	return false;
}

/* ---- RequiredHeader ---- */

struct required_header {
	bool nulls, empty;
	char names[];             /* each NUL-terminated; an empty one ends them */
};

const struct kassay_option fb_required_header_options[] = {
	{"name", NULL, "names of the headers, comma-separated"},
	{"nulls", "true", "false: refuse a header whose value is null"},
	{"empty", "true", "false: refuse a header whose value is empty"},
	{0},
};

int fb_required_header_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	struct required_header *self;
	const char *list;
	size_t room;
	char *name;
	bool nulls, empty;
	int rc;

	if (fb_option_text(host, "name", &list, why) < 0 || fb_option_bool(host, "nulls", true, &nulls, why) < 0 ||
	    fb_option_bool(host, "empty", true, &empty, why) < 0)
		return -1;
	room = strlen(list) + 1;
	self = fb_validator_alloc(sizeof *self + room + 1, why);
	if (!self)
		return -1;
	self->nulls = nulls;
	self->empty = empty;
	for (name = self->names; (rc = fb_list_next(&list, name, room)) > 0 && *name; name += strlen(name) + 1)
		;
	if (rc != 0) {
		snprintf(why->text, why->size, "option name has an empty entry");
		free(self);
		return -1;
	}
	*instance = self;
	return 0;
}

int fb_required_header(void *instance, const struct kassay_record *record, struct kassay_verdict *verdict)
{
	const struct required_header *self = instance;
	struct kassay_header header;
	const char *name;

	for (name = self->names; *name; name += strlen(name) + 1) {
		if (!find_header(record, name, &header))
			return fb_validator_refuse(verdict, "RequiredHeader: header '%s' is missing", name);
		if ((header.value.size < 0 && !self->nulls) || (header.value.size == 0 && !self->empty))
			return fb_validator_refuse(verdict, "RequiredHeader: header '%s' is %s", name,
					 header.value.size < 0 ? "null" : "empty");
	}
	return KASSAY_OK;
}

/* ---- TopicTag ---- */

struct topic_tag {
	bool required;
	char header[];
};

const struct kassay_option fb_topic_tag_options[] = {
	{"header", "topic", "name of the header"},
	{"required", "true", "false: accept records without the header"},
	{0},
};

int fb_topic_tag_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	const char *header = host->option(host, "header");
	struct topic_tag *self;
	bool required;

	if (fb_option_bool(host, "required", true, &required, why) < 0)
		return -1;
	if (!header)
		header = fb_topic_tag_options[0].fallback;
	self = fb_validator_alloc(sizeof *self + strlen(header) + 1, why);
	if (!self)
		return -1;
	self->required = required;
	memcpy(self->header, header, strlen(header) + 1);
	*instance = self;
	return 0;
}

int fb_topic_tag(void *instance, const struct kassay_record *record, struct kassay_verdict *verdict)
{
	const struct topic_tag *self = instance;
	struct kassay_header header;
	size_t n = strlen(record->topic);

	if (!find_header(record, self->header, &header)) {
		if (!self->required)
			return KASSAY_OK;
		return fb_validator_refuse(verdict, "TopicTag: header '%s' is missing", self->header);
	}
	if (header.value.size == (int32_t)n && memcmp(header.value.data, record->topic, n) == 0)
		return KASSAY_OK;
	if (header.value.size < 0)
		return fb_validator_refuse(verdict, "TopicTag: header '%s' is null", self->header);
	return fb_validator_refuse(verdict, "TopicTag: header '%s' names topic '%.*s', the record was sent to '%s'",
				   self->header, (int)header.value.size, (const char *)header.value.data,
				   record->topic);
}
