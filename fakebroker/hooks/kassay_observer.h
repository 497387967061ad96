/* Observers for the fakebroker: the interface of a plugin.
 *
 * The broker shows an observer every request that it could parse, together with what it answered, for auditing: who
 * moved how much data to and from which topic, and how long it took. This is KIP-388 (Observer interface,
 * KAFKA-7596) in C: Observer.configure is create(), record and close are the functions below, and an entry of
 * `observer.class.name` is `path/plugin.so#Name`. observe_produce() is the second callback that LinkedIn's Kafka
 * has (observeProduceRequest): a Produce request before it is appended.
 *
 * A plugin is a shared object that exports one constant, `kassay_observer`, and links to nothing of kassay's:
 *
 *	static const struct kassay_observer_class slow_requests = {
 *		.struct_size = sizeof slow_requests, .name = "SlowRequests", .help = "logs requests above a limit",
 *		.create = create, .record = record, .close = close_observer,
 *	};
 *	static const struct kassay_observer_class *const classes[] = { &slow_requests, NULL };
 *	const struct kassay_observer_plugin kassay_observer = {
 *		KASSAY_OBSERVER_ABI, sizeof(struct kassay_observer_plugin), classes,
 *	};
 *
 *	cc -std=c11 -shared -fPIC $(pkg-config --cflags kassay) -o slow.so slow.c
 *
 * Shape of the interface. Everything is seen through const structures that start with their own size, so a field is
 * read like a field and costs nothing; only the list of partitions is behind a function, because its elements could
 * not grow otherwise. Later releases only add members at the end. A plugin that wants to use a member which was
 * added later compares struct_size with the member's offset first; the host does the same with the plugin's
 * structures. KASSAY_OBSERVER_ABI changes only when that is not enough, and then the host refuses to load.
 *
 * When. record() is called once per request, after the response is built and before it is written; for acks=0, and
 * where the connection is gone or is closed instead, there is none and has_response is 0. Errors are shown like
 * successes. observe_produce() of a request always returns before record() of the same request is called. Requests
 * that cannot be parsed are not shown.
 *
 * Threads. There may be many instances at a time, one for each node of the broker. create() and close() of one
 * instance are called once, each from any thread. record(), observe_produce() and collect() are called from several
 * threads at once on the same instance; what an instance changes there must be atomic or locked. record() holds up
 * the requests of its event loop while it runs, unless the broker's `observer.mode` is queued: then exchanges are
 * copied, one thread of the broker's calls record() and observe_produce(), in the order of the requests, and nobody
 * waits.
 *
 * Failure. An observer cannot change a response or delay it beyond its own run time. A failing create() is logged
 * and replaced by NoOpObserver; a failing record() is counted and logged at a bounded rate.
 *
 * Ownership. What the host passes belongs to the host. An exchange, with all that it points to, lives until the
 * callback returns; strings that option() and config() return live until create() returns. The host structure lives
 * until close() returns. The instance belongs to the plugin.
 *
 * Trust. A plugin runs inside the broker with the broker's memory: a wild pointer takes the broker down. Nothing is
 * isolated, so load only what you would link in. Names in an exchange come from clients and may be any bytes.
 *
 * The header stands alone in C11 and C++.
 */
#ifndef KASSAY_OBSERVER_H
#define KASSAY_OBSERVER_H

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

#define KASSAY_OBSERVER_ABI 1u

/* Which way a partition's records went. */
enum kassay_direction {
	KASSAY_NO_RECORDS,            /* neither: the partition of a request that carries no records */
	KASSAY_PRODUCED,              /* from a client into the broker: Produce */
	KASSAY_CONSUMED,              /* from the broker to a client: Fetch */
};

enum {
	/* Messages older than version 2 and compressed: their record count was found by inflating and counting. */
	KASSAY_COUNTED = 1,
	/* An idempotent producer sent the batch again: answered as a success, but not appended a second time. */
	KASSAY_DUPLICATE = 2,
	/* The record set ends within a batch, as a fetch may. bytes has that part, records only the whole batches. */
	KASSAY_PARTIAL = 4,
};

/* One topic-partition of a request and its response. */
struct kassay_partition {
	size_t struct_size;
	struct kassay_str topic;      /* null when the client named it by an id that the broker does not know */
	int32_t partition;
	int32_t direction;            /* enum kassay_direction */
	int64_t bytes;                /* of the record set as it is on the wire, compressed */
	int64_t records;              /* from the batch headers (version 2), or counted */
	int32_t codec;                /* of the first batch: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd; -1: no batch */
	uint32_t flags;               /* KASSAY_COUNTED | KASSAY_DUPLICATE | KASSAY_PARTIAL */
	/* What the response says about the partition, or would have said had the client wanted one (acks=0). For
	 * KASSAY_PRODUCED, 0 means that the records were accepted; always 0 in observe_produce(). */
	int16_t error;
};

/* A request and what the broker answers to it. */
struct kassay_exchange {
	size_t struct_size;
	uint64_t id;                  /* counts the requests of this node: joins observe_produce() and record() */
	int32_t node;
	struct kassay_str listener;   /* name of the listener, e.g. PLAINTEXT */
	struct kassay_str principal;  /* as Kafka prints it: User:ANONYMOUS */
	struct kassay_str address;    /* of the client, without a port */
	struct kassay_str clientId;   /* null is not empty */
	int16_t apiKey;
	int16_t apiVersion;
	int32_t correlationId;
	const char *api;              /* Kafka's name of the API ("Produce"), NUL-terminated */
	int64_t request_bytes;        /* whole frame, length prefix included */
	int64_t response_bytes;       /* whole frame, length prefix included; 0 without a response */
	int64_t queue_ns;             /* from the read of the request's last byte to the start of its handling */
	int64_t service_ns;           /* from there to the built response, waiting (fetch, acks=all) included */
	int32_t throttleTimeMs;       /* as the response says; 0 when it has none */
	int32_t has_response;         /* 0: acks=0, a connection that is closed instead, or observe_produce() */
	int16_t error;                /* first error code of the response at any level, 0 if there is none */
	int32_t error_count;          /* error codes of the response, at all levels, that are not 0 */
	int32_t partition_count;      /* of Produce and Fetch; 0 for every other API */
	/* Partition i of 0..partition_count-1; NULL for any other i. */
	const struct kassay_partition *(*partition)(const struct kassay_exchange *exchange, int32_t i);
};

struct kassay_label {
	const char *name;             /* [a-z_]+; not node, observer or value, which are the host's */
	const char *value;            /* NUL-terminated; any bytes */
};

/* Where collect() puts an observer's numbers, a metric with all its samples at a time. The broker shows them in its
 * JSON and, with the prefix `kassay_`, to Prometheus. */
struct kassay_sink {
	size_t struct_size;
	/* Starts a metric. name is [a-z_]+, comes once, is none of the broker's own, and ends in _total for a counter;
	 * help is one line. What is named otherwise is left out, and the broker's log says so once. */
	void (*metric)(struct kassay_sink *sink, const char *name, const char *help);
	/* One sample of the metric that was started last. */
	void (*sample)(struct kassay_sink *sink, const struct kassay_label *labels, size_t label_count, int64_t value);
};

struct kassay_observer_class {
	size_t struct_size;
	const char *name;             /* [A-Za-z0-9_.-]+, unique in the plugin */
	const char *help;             /* one line */
	/* Option x of class C is the config `observer.C.x`. NULL: not told, so any name is good. */
	const struct kassay_option *options;
	/* Makes and configures an instance; *instance is what the other functions get. Returns 0, or -1 with the
	 * reason in *why. NULL: there is no state and instances are NULL. */
	int (*create)(const struct kassay_host *host, void **instance, struct kassay_text *why);
	/* A request with its response. Returns 0, or -1 with the reason in *why. Must be set. */
	int (*record)(void *instance, const struct kassay_exchange *exchange, struct kassay_text *why);
	/* A Produce request that passed authorisation and is about to be appended; response_bytes, service_ns and
	 * all error codes are 0. Returns like record(). May be NULL. */
	int (*observe_produce)(void *instance, const struct kassay_exchange *exchange, struct kassay_text *why);
	/* Reports numbers. May be NULL. */
	void (*collect)(void *instance, struct kassay_sink *sink);
	/* Ends and frees the instance, within timeout_ms if it can. No other call is running then or comes later.
	 * The host does not wait longer than that; an instance that is late keeps its memory. May be NULL. */
	void (*close)(void *instance, int64_t timeout_ms);
};

struct kassay_observer_plugin {
	uint32_t abi;                 /* KASSAY_OBSERVER_ABI */
	uint32_t struct_size;
	const struct kassay_observer_class *const *classes;   /* NULL-terminated */
};

/* What the plugin defines. */
extern const struct kassay_observer_plugin kassay_observer;

#ifdef __cplusplus
}
#endif

#endif
