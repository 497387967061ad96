/* Finding the class that an entry of `record.validator.classes` or `observer.class.name` names: built in, or in a
 * plugin file. */
#ifndef KASSAY_FAKEBROKER_HOOKS_PLUGIN_H
#define KASSAY_FAKEBROKER_HOOKS_PLUGIN_H

#include "fakebroker/hooks/env.h"
#include "fakebroker/hooks/kassay_observer.h"
#include "lib/text/err.h"

/* The two kinds of classes begin alike; seen through the union, `head` is the beginning of either. */
union fb_class {
	struct {
		size_t struct_size;
		const char *name, *help;
		const struct kassay_option *options;
	} head;
	struct kassay_validator_class validator;
	struct kassay_observer_class observer;
};

enum fb_hook_kind { FB_HOOK_VALIDATOR, FB_HOOK_OBSERVER };

struct fb_class_ref {
	const union fb_class *class;
	void *handle;             /* of dlopen; NULL for a built-in class */
};

/* Finds the class of an entry: NAME, which is built in or in one of env's plugins, or FILE#NAME. A file without a
 * slash is one in the current directory. KT_EUNKNOWN: no such name (err tells the nearest), or the file has no
 * classes of this kind; KT_EPLUGIN: the file cannot be used. */
int fb_class_find(enum fb_hook_kind kind, const char *entry, const struct fb_hook_env *env, struct fb_class_ref *out,
		  struct kt_err *err);
/* Calls each() for every class of a plugin file, which is loaded only for the call, or with NULL for the built-in ones.
 * A file that cannot be used has none. */
void fb_class_each(enum fb_hook_kind kind, const char *file, void (*each)(void *arg, const union fb_class *class),
		   void *arg);
/* Unloads the file that a class came from, unless others use it. Nothing of the class may be used then. */
void fb_class_release(struct fb_class_ref *ref);

/* Can this plugin file be used, for either kind? 0, or KT_EPLUGIN with the reason. */
int fb_plugin_check(const char *file, struct kt_err *err);

#endif
