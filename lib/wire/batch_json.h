/* What the JSON form of record batches is read with: values with the path to each, for errors; private to batch_json*.c.
 *
 * kw_bj_fail copies the path into the error object, so a function that failed need not tidy it up. All return 0 or KT_E*.
 */
#ifndef KASSAY_WIRE_BATCH_JSON_H
#define KASSAY_WIRE_BATCH_JSON_H

#include <jansson.h>

#include "lib/text/err.h"
#include "lib/wire/arena.h"
#include "lib/wire/buf.h"

enum { KW_BJ_MAX = 256 << 20 };   /* most bytes of a value and of all batches of a call */

struct kw_bj {
	struct kw_arena arena;   /* bytes of the value at hand */
	struct kt_err *err;
	char path[256];          /* of the value at hand */
	int64_t now;             /* ms, the same for the whole call */
};

/* Fails with the path at hand. */
int kw_bj_fail(struct kw_bj *bj, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Goes into a member (".name") or an element ("[index]"); kw_bj_leave with the result comes back. */
size_t kw_bj_enter(struct kw_bj *bj, const char *name);
size_t kw_bj_enter_index(struct kw_bj *bj, size_t index);
void kw_bj_leave(struct kw_bj *bj, size_t up);

/* Checks for an object with no other members than these n. */
int kw_bj_object(struct kw_bj *bj, json_t *json, const char *const *names, size_t n);
int kw_bj_int(struct kw_bj *bj, json_t *json, int64_t min, int64_t max, int64_t *v);
/* A number, "now", "now+1000" or "now-1000". */
int kw_bj_time(struct kw_bj *bj, json_t *json, int64_t *v);
/* A string of hex or base64. */
int kw_bj_coded(struct kw_bj *bj, json_t *json, bool hex, struct kw_bytes *out);

/* A member that may be missing: *v then keeps its value; bytes are null when missing or null. */
int kw_bj_get_int(struct kw_bj *bj, json_t *object, const char *name, int64_t min, int64_t max, int64_t *v);
int kw_bj_get_time(struct kw_bj *bj, json_t *object, const char *name, int64_t *v);
int kw_bj_get_bytes(struct kw_bj *bj, json_t *object, const char *name, struct kw_bytes *out);
/* Appends a member of bytes, which must not be null or missing. */
int kw_bj_put_bytes(struct kw_bj *bj, json_t *object, const char *name, struct kw_buf *out);

#endif
