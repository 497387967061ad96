#include "fakebroker/hooks/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/text/near.h"
#include "lib/text/number.h"

int fb_list_next(const char **list, char *entry, size_t size)
{
	const char *start = *list, *end;

	if (!start)
		return 0;
	end = strchrnul(start, ',');
	*list = *end ? end + 1 : NULL;
	start += strspn(start, " \t");
	while (end > start && strchr(" \t", end[-1]))
		end--;
	if ((size_t)(end - start) >= size)
		return -1;
	memcpy(entry, start, (size_t)(end - start));
	entry[end - start] = '\0';
	return 1;
}

size_t fb_list_entries(const char *list)
{
	size_t n = 1;

	while ((list = strchr(list, ',')) != NULL) {
		list++;
		n++;
	}
	return n;
}

static int bad(struct kassay_text *why, const char *name, const char *value, const char *wanted)
{
	if (value)
		snprintf(why->text, why->size, "option %s is '%s', but must be %s", name, value, wanted);
	else
		snprintf(why->text, why->size, "option %s is not set: it must be %s", name, wanted);
	return -1;
}

int fb_option_number(const struct kassay_host *host, const char *name, int64_t min, int64_t max, int64_t fallback,
		     int64_t *out, struct kassay_text *why)
{
	const char *value = host->option(host, name);
	char *end, wanted[96];
	long long n;

	snprintf(wanted, sizeof wanted, "a whole number of %lld to %lld", (long long)min, (long long)max);
	*out = fallback;
	if (!value)
		return fallback < min ? bad(why, name, NULL, wanted) : 0;
	errno = 0;
	n = strtoll(value, &end, 10);
	if (errno || end == value || *end || n < min || n > max)
		return bad(why, name, value, wanted);
	*out = n;
	return 0;
}

int fb_option_real(const struct kassay_host *host, const char *name, double min, double max, double fallback,
		   double *out, struct kassay_text *why)
{
	const char *value = host->option(host, name);
	char wanted[96];

	snprintf(wanted, sizeof wanted, "a number of %g to %g", min, max);
	*out = fallback;
	return !value || kt_parse_real(value, min, max, out, NULL) == 0 ? 0 : bad(why, name, value, wanted);
}

int fb_option_bool(const struct kassay_host *host, const char *name, bool fallback, bool *out, struct kassay_text *why)
{
	const char *value = host->option(host, name);

	*out = value ? strcasecmp(value, "true") == 0 : fallback;
	if (value && !*out && strcasecmp(value, "false") != 0)
		return bad(why, name, value, "true or false");
	return 0;
}

int fb_option_word(const struct kassay_host *host, const char *name, const char *const *words, int fallback, int *out,
		   struct kassay_text *why)
{
	const char *value = host->option(host, name);
	char wanted[128] = "one of";
	size_t at = strlen(wanted);

	*out = fallback;
	if (!value)
		return 0;
	for (*out = 0; words[*out]; (*out)++) {
		if (strcmp(words[*out], value) == 0)
			return 0;
		if (at < sizeof wanted)
			at += (size_t)snprintf(wanted + at, sizeof wanted - at, " %s", words[*out]);
	}
	return bad(why, name, value, wanted);
}

int fb_option_text(const struct kassay_host *host, const char *name, const char **out, struct kassay_text *why)
{
	*out = host->option(host, name);
	return *out && **out ? 0 : bad(why, name, *out, "a text that is not empty");
}

/* ---- names ---- */

void fb_option_offer(void *arg, const union fb_class *class)
{
	struct fb_option_search *search = arg;
	const struct kassay_option *option = class->head.options;
	size_t n = strlen(class->head.name);
	const char *word = search->name + n + 1;
	struct kt_near near;

	if (strncmp(search->name, class->head.name, n) != 0 || search->name[n] != '.')
		return;
	search->class_found = true;
	kt_near_init(&near, word);
	if (!option || (search->common && strcmp(word, search->common) == 0))
		search->found = true;
	for (; option && option->name; option++) {
		if (strcmp(option->name, word) == 0)
			search->found = true;
		kt_near_offer(&near, option->name);
	}
	if (search->common)
		kt_near_offer(&near, search->common);
	if (near.best)
		snprintf(search->near, sizeof search->near, "%s", near.best);
}

int fb_option_found(struct fb_option_search *search, enum fb_hook_kind kind, const char *const *plugins,
		    struct kt_err *err)
{
	fb_class_each(kind, NULL, fb_option_offer, search);
	for (; plugins && *plugins; plugins++)
		fb_class_each(kind, *plugins, fb_option_offer, search);
	if (search->found || !search->class_found)
		return 0;
	if (search->near[0])
		return kt_fail(err, KT_EUNKNOWN, "'%s' is no option, did you mean '%s'", search->name, search->near);
	return kt_fail(err, KT_EUNKNOWN, "'%s' is no option", search->name);
}

/* ---- names, where the classes are known ---- */

/* The likeliest of what has been offered: what ends as the name does goes before what is merely near. */
struct hint {
	const char *name;
	char text[300];               /* empty: none */
	bool same_end;
	size_t distance;
};

/* "limit" and "Trafic.limit" have the option "limit" at their end. */
static bool ends_with(const char *name, const char *option)
{
	size_t n = strlen(name), len = strlen(option);

	return n >= len && strcmp(name + n - len, option) == 0 && (n == len || name[n - len - 1] == '.');
}

static void offer_hint(struct hint *hint, const char *class, const char *option)
{
	bool same_end = ends_with(hint->name, option);
	struct kt_near near;
	char full[300];

	snprintf(full, sizeof full, "%s.%s", class, option);
	kt_near_init(&near, hint->name);
	kt_near_offer(&near, full);
	if (hint->same_end || (!same_end && (!near.best || (hint->text[0] && near.distance >= hint->distance))))
		return;
	hint->same_end = same_end;
	hint->distance = near.distance;
	snprintf(hint->text, sizeof hint->text, "%s", full);
}

static void offer_class(struct hint *hint, const union fb_class *class, const char *common)
{
	const struct kassay_option *option = class->head.options;

	for (; option && option->name; option++)
		offer_hint(hint, class->head.name, option->name);
	if (common)
		offer_hint(hint, class->head.name, common);
}

int fb_option_of(struct fb_option_search *search, enum fb_hook_kind kind, const char *classes,
		 const char *const *plugins, struct kt_err *err)
{
	const struct fb_hook_env env = {.plugins = plugins};
	struct hint hint = {.name = search->name};
	const char *list = classes;
	char entry[4096];
	int more;

	while (!search->found && (more = fb_list_next(&list, entry, sizeof entry)) != 0) {
		struct fb_class_ref ref;

		if (more < 0 || fb_class_find(kind, entry, &env, &ref, NULL) < 0)
			return 0;
		fb_option_offer(search, ref.class);
		offer_class(&hint, ref.class, search->common);
		fb_class_release(&ref);
	}
	if (search->found)
		return 0;
	if (hint.text[0])
		return kt_fail(err, KT_EUNKNOWN, "'%s' is no option of '%s', did you mean '%s'", search->name, classes,
			       hint.text);
	return kt_fail(err, KT_EUNKNOWN, "'%s' is no option of '%s': NAME.OPTION is expected, with a NAME of that list",
		       search->name, classes);
}
