/* Kafka's messages: descriptors, and one interpreter each for decode, encode and JSON.
 *
 * A descriptor (struct kw_msg) is generated from lib/wire/schema/NAME by schemac; the C struct of a message is
 * struct kw_NAME in "kw_messages.h" (generated), with Kafka's field names in lowerCamel. Versions are Kafka's; a
 * message knows the union of the versions of Kafka 3.9 and 4.4.
 */
#ifndef KASSAY_WIRE_MESSAGE_H
#define KASSAY_WIRE_MESSAGE_H

#include <jansson.h>

#include "lib/text/err.h"
#include "lib/wire/arena.h"
#include "lib/wire/buf.h"
#include "lib/wire/types.h"

enum kw_type {
	KW_BOOL, KW_INT8, KW_INT16, KW_UINT16, KW_INT32, KW_UINT32, KW_INT64, KW_FLOAT64,
	KW_UUID, KW_STRING, KW_BYTES, KW_RECORDS, KW_STRUCT,
};

/* A range of versions; empty when min > max. */
struct kw_range {
	int16_t min, max;
};

enum {
	KW_F_ARRAY = 1,       /* array of the type */
	KW_F_IGNORABLE = 2,   /* silently dropped where the version lacks it */
	KW_F_KEY = 4,         /* Kafka's mapKey */
	KW_F_NEVER_COMPACT = 8, /* never compact, even in flexible versions (header client id) */
	KW_F_DEFAULT_NULL = 16,
};

struct kw_struct;

struct kw_field {
	const char *name;            /* lowerCamel */
	const char *alias;           /* older input name or NULL */
	const struct kw_struct *sub; /* KW_STRUCT */
	const char *def_str;         /* default of a string, or NULL for "" */
	int64_t def_int;             /* default of a number or bool */
	struct kw_range versions, nullable, tagged;
	int16_t tag;                 /* -1 = never tagged */
	uint8_t type;                /* enum kw_type */
	uint8_t flags;
	uint32_t offset;             /* in the C struct */
};

struct kw_struct {
	const char *name;            /* Kafka's struct name */
	const struct kw_field *fields;
	uint32_t nfields;
	uint32_t size;               /* of the C struct */
	uint32_t tags_offset;        /* of its struct kw_tags */
	uint32_t id;                 /* dense, for the plans */
	uint32_t ntexts;             /* fields that are strings, or hold some at whatever depth: their numbers */
	const uint8_t *texts;
	const void *defaults;        /* a C struct with every field at its default */
};

enum kw_kind {
	KW_REQUEST, KW_RESPONSE, KW_HEADER, KW_METADATA_RECORD, KW_COORDINATOR_KEY, KW_COORDINATOR_VALUE, KW_DATA,
};

struct kw_msg {
	const char *name;            /* "ProduceRequest" */
	const char *alias;           /* an older release's name, or NULL */
	const struct kw_struct *root;
	enum kw_kind kind;
	int16_t key;                 /* API key or record type, -1 if none */
	struct kw_range versions, flexible;
	uint32_t listeners;          /* of a request: 1 broker, 2 controller */
	uint32_t id;                 /* its place in kw_msg_at() */
};

/* ---- the catalogue ---- */

/* All messages, in no particular order; i is below kw_msg_count(). Descriptors are constants. */
const struct kw_msg *kw_msg_at(size_t i);
size_t kw_msg_count(void);
/* By name ("ProduceRequest"), or NULL. */
const struct kw_msg *kw_msg_find(const char *name);
/* Request or response of an API key, or NULL. */
const struct kw_msg *kw_request(int api_key);
const struct kw_msg *kw_response(int api_key);
/* "Produce" for 0; NULL for an unknown key. And back: -1 for an unknown name (exact case). */
const char *kw_api_name(int api_key);
int kw_api_key(const char *name);
/* "CORRUPT_MESSAGE" for 2; "UNKNOWN_ERROR_CODE" for a number that Kafka does not have. And back, 0 or KT_EUNKNOWN. */
const char *kw_error_name(int code);
int kw_error_code(const char *name, int *code);
/* A refusal for people, "INVALID_CONFIG (40): words"; nothing follows the code where the message is null or empty. As
 * much as fits, without control characters. Returns buf. */
const char *kw_error_text(int code, struct kw_str message, char *buf, size_t size);

/* ---- frame headers ----
 * Request header: version 0 (ControlledShutdown v0), 1, or 2 (flexible); response header 0 or 1; ApiVersions always
 * answers with response header 0 (KIP-511). Of an API or version that is not known: that of an inflexible one. */
int kw_request_header_version(int api_key, int api_version);
int kw_response_header_version(int api_key, int api_version);

/* ---- decode ---- */

/* No message takes more than its struct and so many bytes of arena for each byte of input: an array's count is held
 * against the least bytes of its elements, but each level of nesting can claim the bytes that are left once more. */
enum { KW_DECODE_PER_BYTE = 200 };

/* Decodes [p, p+n) as `msg` version `version`. The result, in the arena, is struct kw_<name>; strings and records point
 * into p, which may be NULL when n is 0. *used, if given, gets the bytes read: trailing bytes are the caller's to
 * judge. Errors: KT_EVERSION, KT_ETRUNC, KT_ECORRUPT, KT_ELIMIT, KT_ENOMEM, with field path and offset in err. */
int kw_decode(const struct kw_msg *msg, int version, const uint8_t *p, size_t n, struct kw_arena *arena, void **out,
	      size_t *used, struct kt_err *err);

/* Gives a message that was decoded the strings that a Java program reads: what is not UTF-8 becomes U+FFFD (see
 * java_utf8.h). 0 or KT_ENOMEM; what is replaced is in the arena. */
int kw_recode_strings(const struct kw_msg *msg, void *message, struct kw_arena *arena);

/* ---- encode ---- */

/* A struct of the message with every field at its default. NULL when memory is exhausted. A nullable struct that is not
 * null by default is a constant that all share: replace it, do not change it. */
void *kw_new(const struct kw_msg *msg, struct kw_arena *arena);
/* n elements of an array of structs with every field at its default:
 * kw_new_array(&kw_ProduceRequest_TopicProduceData_struct, 2, arena). NULL when memory is exhausted. */
void *kw_new_array(const struct kw_struct *st, int32_t n, struct kw_arena *arena);
/* Sets one struct to its defaults. */
void kw_set_defaults(const struct kw_struct *st, void *out);
/* Appends the encoding. A field that the version lacks, is not ignorable and not at its default is KT_EVERSION; a null
 * where the version forbids it is KT_ETYPE. */
int kw_encode(const struct kw_msg *msg, int version, const void *in, struct kw_buf *buf, struct kt_err *err);

/* ---- JSON: Kafka's JsonConverter form, records serialized ---- */

/* A new reference, or NULL with err: KT_EVERSION as from kw_encode, KT_ENOMEM. Unknown tagged fields are not in it. A
 * float that is no number is the string "NaN", "Infinity" or "-Infinity", and is taken as such. */
json_t *kw_to_json(const struct kw_msg *msg, int version, const void *in, struct kt_err *err);
/* Unknown and duplicate members, wrong types and out-of-range numbers are errors with the path in err->path. Missing
 * members take their default (in Kafka's own converter they are errors: this is our leniency for hand-written input).
 * Strings and bytes may also be given as {"hex": "00ff"} or {"text": "..."}. Records also as {"batches": [...]}, see
 * batch.h. Result as from kw_decode, all in the arena. */
int kw_from_json(const struct kw_msg *msg, int version, json_t *json, struct kw_arena *arena, void **out,
		 struct kt_err *err);

/* uuid as Kafka prints it: 22 characters of URL-safe base64 and a NUL. */
void kw_uuid_text(struct kw_uuid id, char out[23]);
/* And back: the n characters at s. 0 or KT_ESYNTAX. */
int kw_uuid_parse(const char *s, size_t n, struct kw_uuid *id);
/* A fresh version 4 uuid whose text does not begin with '-', as Kafka's Uuid.randomUuid. */
void kw_uuid_random(struct kw_uuid *id);

#endif
