/* Validators that look at how large a record is. */
#include "fakebroker/hooks/builtin_validators.h"

/* ---- NonEmptyValue ---- */

struct non_empty_value {
	bool tombstones;
};

const struct kassay_option fb_non_empty_value_options[] = {
	{"tombstones", "true", "false: refuse a null value as well"},
	{0},
};

int fb_non_empty_value_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	struct non_empty_value *self;
	bool tombstones;

	if (fb_option_bool(host, "tombstones", true, &tombstones, why) < 0)
		return -1;
	self = fb_validator_alloc(sizeof *self, why);
	if (!self)
		return -1;
	self->tombstones = tombstones;
	*instance = self;
	return 0;
}

int fb_non_empty_value(void *instance, const struct kassay_record *record, struct kassay_verdict *verdict)
{
	const struct non_empty_value *self = instance;

	if (record->value.size > 0 || (record->value.size < 0 && self->tombstones))
		return KASSAY_OK;
	return fb_validator_refuse(verdict, "NonEmptyValue: the value is %s",
				   record->value.size < 0 ? "null" : "empty");
}

/* ---- MaxRecordSize ---- */

struct max_record_size {
	int64_t bytes;
};

const struct kassay_option fb_max_record_size_options[] = {
	{"bytes", NULL, "the most bytes of a record: key, value, headers and their lengths, before compression"},
	{0},
};

int fb_max_record_size_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	struct max_record_size *self;
	int64_t bytes;

	if (fb_option_number(host, "bytes", 0, INT32_MAX, -1, &bytes, why) < 0)
		return -1;
	self = fb_validator_alloc(sizeof *self, why);
	if (!self)
		return -1;
	self->bytes = bytes;
	*instance = self;
	return 0;
}

int fb_max_record_size(void *instance, const struct kassay_record *record, struct kassay_verdict *verdict)
{
	const struct max_record_size *self = instance;

	if (record->record_size <= self->bytes)
		return KASSAY_OK;
	return fb_validator_refuse(verdict, "MaxRecordSize: the record has %d bytes, at most %lld are allowed",
			 (int)record->record_size, (long long)self->bytes);
}
