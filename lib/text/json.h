/* Strict JSON documents whose every error names file, line and member.
 *
 * A document is what RFC 8259 allows and no more (no comments, no trailing commas), an object or array at the top, with
 * no member twice, of at most 64 MiB. It keeps its text, so that an error can name the line although the parser
 * (jansson) keeps no positions.
 *
 * Members are read by asking for them:
 *
 *	kt_obj_root(&obj, &doc, &err);
 *	kt_obj_need(&obj, "id", NULL);
 *	kt_obj_int(&obj, "id", 1, 999, &node->id);
 *	kt_obj_str(&obj, "rack", &node->rack);
 *	kt_obj_array(&obj, "disks", &disks);
 *	while (kt_arr_object(&disks, &disk))
 *		read_disk(&disk, node);
 *	return kt_obj_done(&obj);
 *
 * Every member is optional unless kt_obj_need() names it: a getter leaves the value as it was when the member is absent
 * and tells by its result. The first failure sticks in err; later getters find nothing, so one look at the end is
 * enough. What no getter asked for is an error, so a misspelt member is never ignored:
 *
 *	scenario.json:12: $.nodes[1].rak: unknown member "rak"; did you mean "rack"?
 */
#ifndef KASSAY_TEXT_JSON_H
#define KASSAY_TEXT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/text/err.h"

/* ---- documents ---- */

struct kt_json {
	json_t *root;
	char *text;           /* n bytes and a NUL */
	size_t n;
	char name[256];       /* for err->file, cut off if longer */
};

/* Reads a file, or parses the n bytes at text and calls them name. Errors: KT_EFILE, KT_ELIMIT, KT_ESYNTAX, KT_ENOMEM.
 * kt_json_fini() may be called whatever the outcome. */
int kt_json_load(struct kt_json *doc, const char *file, struct kt_err *err);
int kt_json_parse(struct kt_json *doc, const char *name, const char *text, size_t n, struct kt_err *err);
void kt_json_fini(struct kt_json *doc);

/* Writes json (flags as of json_dumps()) beside the file and renames it, so that a reader sees all of it or nothing.
 * What is no regular file, as a pipe, a device or a symbolic link, is written to. json may be NULL, for one that could
 * not be made. Errors: KT_EFILE. */
int kt_json_write(const char *file, const json_t *json, size_t flags, struct kt_err *err);

/* Paths are "$", "$.nodes[0].id", "$.configs["log.dirs"]": a name that is no identifier is a JSON string in
 * brackets. */

/* Line of the member or element that path names, or of the innermost part of path that exists; 0 for a document that
 * was not parsed. */
int kt_json_line(const struct kt_json *doc, const char *path);

/* Fails with file, path and line, for what turns out wrong only after reading. doc may be NULL. Returns code. */
int kt_json_fail(const struct kt_json *doc, const char *path, struct kt_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
int kt_json_vfail(const struct kt_json *doc, const char *path, struct kt_err *err, int code, const char *fmt,
		  va_list ap) __attribute__((format(printf, 5, 0)));

/* ---- objects ---- */

enum { KT_OBJ_MEMBERS = 48 };

struct kt_obj {
	const struct kt_json *doc;
	json_t *json;                         /* NULL when opening failed */
	struct kt_err *err;
	void *iter;                           /* of kt_obj_each */
	bool any_name;                        /* kt_obj_each was used: no member is unknown */
	size_t nasked;
	const char *asked[KT_OBJ_MEMBERS];    /* names that were asked for */
	char path[256];
};

struct kt_arr {
	const struct kt_json *doc;
	json_t *json;                         /* NULL reads like an empty array */
	struct kt_err *err;
	size_t n, next;                       /* elements in all, and read so far */
	char path[256];
};

/* Opens json, which must be an object (NULL is none) and stays the caller's. doc serves to find lines and may be NULL.
 * err must not be NULL: it remembers the first failure. */
void kt_obj_open(struct kt_obj *obj, const struct kt_json *doc, json_t *json, const char *path, struct kt_err *err);
/* The top of a document. */
void kt_obj_root(struct kt_obj *obj, const struct kt_json *doc, struct kt_err *err);

/* Each of these names, NULL at the end, must be a member. */
void kt_obj_need(struct kt_obj *obj, ...) __attribute__((sentinel));

/* The getters. Result: is the member present and right? Names must outlive obj; at most KT_OBJ_MEMBERS are asked of one
 * object. null is a wrong type for all but kt_obj_any(). */
bool kt_obj_bool(struct kt_obj *obj, const char *name, bool *v);
/* Whole numbers from min to max; 1.5, 1.0 and 1e3 are not. */
bool kt_obj_int(struct kt_obj *obj, const char *name, int min, int max, int *v);
bool kt_obj_int64(struct kt_obj *obj, const char *name, int64_t min, int64_t max, int64_t *v);
/* Any number from min to max; an infinite bound means none. */
bool kt_obj_real(struct kt_obj *obj, const char *name, double min, double max, double *v);
/* *s lives as long as the document; it holds no NUL byte and is valid UTF-8. */
bool kt_obj_str(struct kt_obj *obj, const char *name, const char **s);
/* *v becomes the index in names, which ends with NULL. */
bool kt_obj_enum(struct kt_obj *obj, const char *name, const char *const *names, int *v);
/* When absent, sub reads like an empty object and arr like an empty array. */
bool kt_obj_object(struct kt_obj *obj, const char *name, struct kt_obj *sub);
bool kt_obj_array(struct kt_obj *obj, const char *name, struct kt_arr *arr);
/* A borrowed value of any type, NULL if absent. */
json_t *kt_obj_any(struct kt_obj *obj, const char *name);
/* The members one after the other, in the order of the text, for objects whose names are data. A getter may be called
 * on the name inside the loop. */
bool kt_obj_each(struct kt_obj *obj, const char **name);

/* Fails at a member, or at the object itself when name is NULL. Returns code. */
int kt_obj_fail(struct kt_obj *obj, const char *name, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Gives file, line and a full path to an error that another reader of the member's value left in err: that reader's
 * path is taken as relative to the member. Returns err->code. */
int kt_obj_place(struct kt_obj *obj, const char *name);
/* Fails if a member was not asked for. Returns 0 or the code of the first failure. */
int kt_obj_done(struct kt_obj *obj);

/* ---- arrays ---- */

/* The next element; false at the end or after a failure. */
bool kt_arr_object(struct kt_arr *arr, struct kt_obj *obj);
bool kt_arr_array(struct kt_arr *arr, struct kt_arr *sub);
bool kt_arr_str(struct kt_arr *arr, const char **s);
bool kt_arr_int(struct kt_arr *arr, int min, int max, int *v);
json_t *kt_arr_any(struct kt_arr *arr);

/* Fails at the element that was read last. Returns code. */
int kt_arr_fail(struct kt_arr *arr, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
