#include "fakebroker/hooks/builtin_validators.h"

#include <stdarg.h>
#include <stdio.h>

#include "fakebroker/hooks/validators.h"

/* A class for each row, and the list of them. */
#define X(name_, help_, options_, create_, validate_, close_)                  \
	static const struct kassay_validator_class class_##name_ = {          \
		.struct_size = sizeof(struct kassay_validator_class),         \
		.name = #name_, .help = (help_), .options = (options_),       \
		.create = (create_), .validate = (validate_), .close = (close_), \
	};
#include "fakebroker/hooks/validators.def"
#undef X

const struct kassay_validator_class *const fb_validators[] = {
#define X(name_, help_, options_, create_, validate_, close_) &class_##name_,
#include "fakebroker/hooks/validators.def"
#undef X
	NULL,
};

int fb_validator_refuse(struct kassay_verdict *verdict, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(verdict->why.text, verdict->why.size, fmt, ap);
	va_end(ap);
	return KASSAY_REFUSE;
}

void *fb_validator_alloc(size_t size, struct kassay_text *why)
{
	void *instance = calloc(1, size);

	if (!instance)
		snprintf(why->text, why->size, "out of memory");
	return instance;
}

void fb_free_instance(void *instance)
{
	free(instance);
}

int fb_option_parts(const struct kassay_host *host, bool empty, struct fb_parts *out, struct kassay_text *why)
{
	static const char *const words[] = {"value", "key", "both", NULL};
	int word;

	if (fb_option_word(host, "part", words, 0, &word, why) < 0 ||
	    fb_option_bool(host, "nulls", true, &out->nulls, why) < 0 ||
	    fb_option_bool(host, "empty", empty, &out->empty, why) < 0)
		return -1;
	out->part = (enum fb_part)(word + 1);
	return 0;
}

static int check_part(const struct fb_parts *parts, const char *name, struct kassay_bytes bytes, const char *what,
		      fb_check_bytes_fn *check, const void *self, struct kassay_verdict *verdict)
{
	if (bytes.size > 0)
		return check(self, bytes, what, verdict);
	if (bytes.size < 0 ? parts->nulls : parts->empty)
		return KASSAY_OK;
	return fb_validator_refuse(verdict, "%s: the %s is %s", name, what, bytes.size < 0 ? "null" : "empty");
}

int fb_check_parts(const struct fb_parts *parts, const char *name, const struct kassay_record *record,
		   fb_check_bytes_fn *check, const void *self, struct kassay_verdict *verdict)
{
	int rc = KASSAY_OK;

	if (parts->part & FB_PART_KEY)
		rc = check_part(parts, name, record->key, "key", check, self, verdict);
	if (rc == KASSAY_OK && parts->part & FB_PART_VALUE)
		rc = check_part(parts, name, record->value, "value", check, self, verdict);
	return rc;
}
