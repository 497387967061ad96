/* A structure that is filled member by member, so that not all of it need be cleared before. */
#ifndef KASSAY_TEXT_MEMBERS_H
#define KASSAY_TEXT_MEMBERS_H

#include <stddef.h>

/* Stands beside what fills a structure: `last` is its last member, and there is an initialiser for each, in their
 * order. When one is added at the end this does not compile any more; of one elsewhere, or in the padding at the end,
 * -Wmissing-field-initializers tells. */
#define KT_ALL_MEMBERS(type, last, ...)                                                                         \
	_Static_assert(sizeof((type){__VA_ARGS__}) - offsetof(type, last) - sizeof(((type *)0)->last) <         \
			       _Alignof(type),                                                                  \
		       #type " has a member that is not set")

#endif
