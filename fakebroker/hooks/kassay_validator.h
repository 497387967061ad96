/* Record validators for the fakebroker: the interface of a plugin.
 *
 * The broker shows every record that a client produces to a chain of validators before it appends the batch, after
 * Kafka's own checks of key and timestamp. One refused record refuses its whole batch. This is KIP-729 (Custom
 * validation of records on the broker prior to log append) in C: BrokerRecordValidator.validateRecord is validate()
 * below, a class that `record.validator.classes` names is a struct kassay_validator_class, and an entry of that
 * list is `path/plugin.so#Name`.
 *
 * A plugin is a shared object that exports one constant, `kassay_validator`, and links to nothing of kassay's:
 *
 *	static const struct kassay_validator_class even = {
 *		.struct_size = sizeof even, .name = "EvenLength", .help = "no odd lengths", .validate = validate,
 *	};
 *	static const struct kassay_validator_class *const classes[] = { &even, NULL };
 *	const struct kassay_validator_plugin kassay_validator = {
 *		KASSAY_VALIDATOR_ABI, sizeof(struct kassay_validator_plugin), classes,
 *	};
 *
 *	cc -std=c11 -shared -fPIC $(pkg-config --cflags kassay) -o even.so even.c
 *
 * Shape of the interface. Everything is seen through const structures that start with their own size, so a field is
 * read like a field and costs nothing; only lists (headers) are behind a function, because their elements could not
 * grow otherwise and most validators never look at them. Later releases only add members at the end. A plugin that
 * wants to use a member which was added later compares struct_size with the member's offset first; the host does
 * the same with the plugin's structures. KASSAY_VALIDATOR_ABI changes only when that is not enough, and then the
 * host refuses to load.
 *
 * Threads. There may be many instances at a time: the broker makes a chain for every topic, since a topic's config
 * may differ from the broker's, and makes it anew when a config changes. create() and close() of one instance are
 * called once, each from any thread. validate() is called from several threads at once on the same instance, one
 * for each event loop of the broker; what an instance changes there must be atomic or locked. The call holds up all
 * requests of its event loop.
 *
 * Ownership. What the host passes belongs to the host. A record, with all that it points to, lives until validate()
 * returns; strings that option() and config() return live until create() returns. The host structure lives until
 * close() returns. The instance belongs to the plugin.
 *
 * Trust. A plugin runs inside the broker with the broker's memory: a wild pointer takes the broker down. Nothing is
 * isolated, so load only what you would link in. A record's bytes come from a client and may be anything.
 *
 * The header stands alone in C11 and C++.
 */
#ifndef KASSAY_VALIDATOR_H
#define KASSAY_VALIDATOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the same text in kassay_validator.h and kassay_observer.h ---- */
#ifndef KASSAY_HOST_TYPES
#define KASSAY_HOST_TYPES

/* Text that need not be UTF-8 and is not NUL-terminated: print it with "%.*s". size is -1 for null, which is not
 * the same as empty; data is then NULL. */
struct kassay_str {
	const char *data;
	int32_t size;
};

struct kassay_bytes {
	const uint8_t *data;
	int32_t size;            /* -1: null */
};

/* Room for a message from the plugin, NUL-terminated UTF-8: snprintf(why->text, why->size, ...). Empty at the call. */
struct kassay_text {
	char *text;
	size_t size;             /* at least 256, terminator included */
};

/* One setting that a class understands; for lists, and so that a misspelt one is noticed. An array of them ends with a
 * NULL name. */
struct kassay_option {
	const char *name;        /* the end of the config's name */
	const char *fallback;    /* what holds when it is not set, for people to read; NULL: must be set */
	const char *help;        /* one line */
};

enum kassay_level { KASSAY_DEBUG, KASSAY_INFO, KASSAY_WARN, KASSAY_ERROR };

/* What the broker does for an instance. Every function takes the structure it was found in. */
struct kassay_host {
	size_t struct_size;
	/* Writes one line, without a newline, to the broker's log. From any thread at any time. */
	void (*log)(const struct kassay_host *host, enum kassay_level level, const char *line);
	/* The value of an option of this class, NULL if it is not set. Only inside create(). */
	const char *(*option)(const struct kassay_host *host, const char *name);
	/* The value of any config of the broker, by its whole name, NULL if it is not set. Only inside create(). */
	const char *(*config)(const struct kassay_host *host, const char *name);
};

#endif
/* ---- end of the same text ---- */

#define KASSAY_VALIDATOR_ABI 1u

struct kassay_header {
	struct kassay_str key;
	struct kassay_bytes value;
};

/* One record, complete and decompressed, with the place it was sent to. */
struct kassay_record {
	size_t struct_size;
	const char *topic;            /* NUL-terminated */
	int32_t partition;
	int32_t index;                /* in its batch, from 0: batch_index of the response's record_errors */
	struct kassay_bytes key;      /* size -1: the record has no key */
	struct kassay_bytes value;    /* size -1: a tombstone */
	int64_t timestamp;            /* ms since 1970, as the client sent it; -1: none */
	int32_t offsetDelta;          /* from the batch's base offset; no offset is assigned yet */
	int32_t header_count;
	int32_t codec;                /* of the batch: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd */
	int32_t record_size;          /* encoded bytes before compression, length prefix included */
	/* Header i of 0..header_count-1, in the order they were sent; keys may repeat. Null key and value for
	 * another i. */
	struct kassay_header (*header)(const struct kassay_record *record, int32_t i);
};

/* What validate() returns; any other number counts as KASSAY_FAILED. */
enum {
	KASSAY_OK = 0,
	KASSAY_REFUSE = 1,            /* the record is bad: verdict says why */
	KASSAY_FAILED = -1,           /* the validator is broken: the record is refused with "validator NAME failed" */
};

/* Filled by validate() for KASSAY_REFUSE. */
struct kassay_verdict {
	size_t struct_size;
	/* Goes to the client as this record's error message; what does not fit is cut, bytes that are not UTF-8
	 * become '?'. Left empty it becomes "refused by NAME". For KASSAY_FAILED it goes to the broker's log
	 * instead. */
	struct kassay_text why;
	/* A Kafka error code; INVALID_RECORD (87) at the call. As in Kafka's LogValidator, INVALID_TIMESTAMP (32)
	 * makes the batch's error 32 and every other code is answered as 87. */
	int16_t error;
};

struct kassay_validator_class {
	size_t struct_size;
	const char *name;             /* [A-Za-z0-9_.-]+, unique in the plugin */
	const char *help;             /* one line */
	/* Option x of class C is the config `record.validator.C.x`. NULL: not told, so any name is good. The option
	 * `topics` exists for every class and is the host's: validate() is then called for records of those topics
	 * only. */
	const struct kassay_option *options;
	/* Makes an instance; *instance is what the other functions get. Returns 0, or -1 with the reason in *why: the
	 * broker then does not use the list. NULL: there is no state and instances are NULL. */
	int (*create)(const struct kassay_host *host, void **instance, struct kassay_text *why);
	/* Judges one record. Must be set. */
	int (*validate)(void *instance, const struct kassay_record *record, struct kassay_verdict *verdict);
	/* Frees the instance; no validate() is running then or comes later. May be NULL. */
	void (*close)(void *instance);
};

struct kassay_validator_plugin {
	uint32_t abi;                 /* KASSAY_VALIDATOR_ABI */
	uint32_t struct_size;
	const struct kassay_validator_class *const *classes;   /* NULL-terminated */
};

/* What the plugin defines. */
extern const struct kassay_validator_plugin kassay_validator;

#ifdef __cplusplus
}
#endif

#endif
