/* The configs of validators and observers: `record.validator.CLASS.OPTION` and `observer.CLASS.OPTION`. */
#ifndef KASSAY_FAKEBROKER_HOOKS_OPTIONS_H
#define KASSAY_FAKEBROKER_HOOKS_OPTIONS_H

#include <stdbool.h>

#include "fakebroker/hooks/plugin.h"

/* Splits a comma-separated list: copies the next entry, without the blanks around it, into entry[size] and moves
 * *list on; NULL is an empty list. Returns 0 at the end, 1 for an entry, which may be empty, and -1 for one that
 * does not fit. */
int fb_list_next(const char **list, char *entry, size_t size);
/* How often fb_list_next() returns an entry of this list. */
size_t fb_list_entries(const char *list);

/* The text of a number that a macro names, so that a default stands once: in the list of options and in create(). */
#define FB_OPTION_TEXT(number) FB_OPTION_TEXT_(number)
#define FB_OPTION_TEXT_(number) #number

/* Options of the built-in classes, inside create(). Each returns 0, or -1 with the reason in *why. */

/* A whole number of min..max. fallback: what holds if it is not set; below min: it must be set. */
int fb_option_number(const struct kassay_host *host, const char *name, int64_t min, int64_t max, int64_t fallback,
		     int64_t *out, struct kassay_text *why);
/* A number of min..max; fallback: what holds if it is not set. */
int fb_option_real(const struct kassay_host *host, const char *name, double min, double max, double fallback,
		   double *out, struct kassay_text *why);
/* true or false, in any case. */
int fb_option_bool(const struct kassay_host *host, const char *name, bool fallback, bool *out,
		   struct kassay_text *why);
/* One of the NULL-terminated words: *out is its number. fallback is the number of a word. */
int fb_option_word(const struct kassay_host *host, const char *name, const char *const *words, int fallback, int *out,
		   struct kassay_text *why);
/* A text that is not empty, which must be set: *out lives until create() returns. */
int fb_option_text(const struct kassay_host *host, const char *name, const char **out, struct kassay_text *why);

/* Whose option is this? Classes are offered one by one, those in use first. */
struct fb_option_search {
	const char *name;         /* CLASS "." OPTION: a config's name without its prefix */
	const char *common;       /* an option that every class has; NULL: none */
	bool found, class_found;
	char near[128];           /* option of the class that was found; empty: none */
};

/* arg: struct fb_option_search. */
void fb_option_offer(void *arg, const union fb_class *class);
/* Offers the built-in classes and those of plugins as well (see fb_class_each). KT_EUNKNOWN with the nearest name in
 * err if the class has no such option. A class whose list of options is NULL has every one, and so has a class that
 * nobody knows. */
int fb_option_found(struct fb_option_search *search, enum fb_hook_kind kind, const char *const *plugins,
		    struct kt_err *err);
/* Where it is known which classes there will be: is search->name an option of one of those that the list of entries
 * names? KT_EUNKNOWN if not, with the name that may be meant. An entry that cannot be found has every option, for who
 * creates it tells that. */
int fb_option_of(struct fb_option_search *search, enum fb_hook_kind kind, const char *classes,
		 const char *const *plugins, struct kt_err *err);

#endif
