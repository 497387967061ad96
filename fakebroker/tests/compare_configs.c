/* compare_configs A B: do two brokers, node 1 of each, say the same of every configuration?
 *
 * Asked of both: DescribeConfigs of broker, all brokers, a topic, a group and a client metrics subscription, each with
 * one dynamic value of its own: type, value, source, read-only, sensitive, synonyms of every key. Then for every key
 * four values, of which most are wrong, with validateOnly: error code and message. Keys of the kit are left out. Prints
 * what differs, as "SCOPE KEY: A | B", and at the end "N alike, N differ". Exit code 0 if nothing differs, 1 if
 * something does, 3 if a broker cannot be asked.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kw_messages.h"
#include "lib/client/client.h"
#include "lib/text/err.h"

static const char topic_name[] = "compare-configs";
static int alike, differ;

enum { MAX_SCOPES = 8 };

struct side {
	struct kc_conn *conn;
	struct kw_arena arena;
	const char *refused[MAX_SCOPES];   /* what is answered where a release does not have the scope; else NULL */
};

static int64_t soon(void)
{
	return kc_now_ms() + 30000;
}

static void give_up(const struct kt_err *err)
{
	char line[1200];

	fprintf(stderr, "compare_configs: %s\n", kt_err_line(err, line, sizeof line));
	exit(3);
}

static void open_side(struct side *side, const char *address)
{
	struct kt_err err = {0};
	char host[300];
	int port;

	kw_arena_init(&side->arena, 0);
	if (kc_parse_address(address, host, sizeof host, &port, &err) < 0 ||
	    kc_connect(host, port, "compare", soon(), &side->conn, &err) < 0 ||
	    kc_negotiate(side->conn, soon(), &err) < 0)
		give_up(&err);
}

static const void *call(struct side *side, int key, const void *request)
{
	struct kt_err err = {0};
	void *response;

	if (kc_call(side->conn, key, kc_version(side->conn, key, -1), request, soon(), &side->arena, &response,
		    &err) < 0)
		give_up(&err);
	return response;
}

/* ---- what is asked ---- */

static const struct scope {
	const char *title;
	int8_t type;
	const char *resource;
	const char *name, *value;    /* a dynamic value that it gets */
} scopes[] = {
	{"broker", 4, "1", "num.io.threads", "9"},
	{"all brokers", 4, "", "log.cleaner.threads", "2"},
	{"topic", 2, topic_name, "retention.ms", "1000"},
	{"group", 32, "compare-group", "consumer.session.timeout.ms", "50000"},
	{"client metrics", 16, "compare-metrics", "interval.ms", "1000"},
};

enum { NSCOPES = sizeof scopes / sizeof *scopes };

static const char *const values[] = {"abc", "-99999999999999999999", "-3", ""};

/* The answer to one value; the strings live in the arena. */
static const struct kw_IncrementalAlterConfigsResponse_AlterConfigsResourceResponse *
set_value(struct side *side, const struct scope *scope, struct kw_str name, const char *value, bool validateOnly)
{
	struct kw_IncrementalAlterConfigsRequest_AlterableConfig config = {.name = name, .value = kw_str(value)};
	struct kw_IncrementalAlterConfigsRequest_AlterConfigsResource resource = {
		.resourceType = scope->type, .resourceName = kw_str(scope->resource), .configs = {&config, 1}};
	const struct kw_IncrementalAlterConfigsRequest request = {.resources = {&resource, 1},
								  .validateOnly = validateOnly};
	const struct kw_IncrementalAlterConfigsResponse *response = call(side, 44, &request);

	return response->responses.v;
}

static void prepare(struct side *side)
{
	struct kw_CreateTopicsRequest_CreatableTopic topic = {.name = kw_str(topic_name), .numPartitions = 1,
							      .replicationFactor = 1};
	const struct kw_CreateTopicsRequest request = {.topics = {&topic, 1}, .timeoutMs = 10000};

	call(side, 19, &request);
	for (size_t i = 0; i < NSCOPES; i++) {
		const struct kw_IncrementalAlterConfigsResponse_AlterConfigsResourceResponse *r =
			set_value(side, &scopes[i], kw_str(scopes[i].name), scopes[i].value, false);

		if (r->errorCode)
			side->refused[i] = kw_sprintf(&side->arena, "%s: %.*s", kw_error_name(r->errorCode),
						      r->errorMessage.n < 0 ? 0 : r->errorMessage.n, r->errorMessage.s);
	}
}

typedef struct kw_DescribeConfigsResponse_DescribeConfigsResourceResult entry;

struct entries {
	entry *v;
	int32_t n;
};

static struct entries describe(struct side *side, const struct scope *scope)
{
	struct kw_DescribeConfigsRequest_DescribeConfigsResource resource = {
		.resourceType = scope->type, .resourceName = kw_str(scope->resource), .configurationKeys = {NULL, -1}};
	const struct kw_DescribeConfigsRequest request = {.resources = {&resource, 1}, .includeSynonyms = true};
	const struct kw_DescribeConfigsResponse *response = call(side, 32, &request);
	const struct kw_DescribeConfigsResponse_DescribeConfigsResult *result = response->results.v;
	struct kt_err err = {0};

	if (result->errorCode) {
		kt_fail(&err, KT_EPEER, "%s cannot be described: %s", scope->title, kw_error_name(result->errorCode));
		give_up(&err);
	}
	return (struct entries){result->configs.v, result->configs.n};
}

/* A change reaches the broker that describes it a little later than the answer to it. */
static void settle(struct side *side)
{
	for (size_t i = 0; i < NSCOPES; i++) {
		for (int64_t end = soon(); !side->refused[i] && kc_now_ms() < end;) {
			struct entries entries = describe(side, &scopes[i]);
			bool there = false;

			for (int32_t k = 0; k < entries.n; k++)
				there |= kw_str_is(entries.v[k].name, scopes[i].name) &&
					 kw_str_is(entries.v[k].value, scopes[i].value);
			if (there)
				break;
		}
	}
}

/* ---- comparing ---- */

static bool is_kits(struct kw_str name)
{
	static const char *const begins[] = {"kit.", "observer.", "record.validator."};

	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if ((size_t)name.n > strlen(begins[i]) && memcmp(name.s, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

static const entry *find(struct entries entries, struct kw_str name)
{
	for (int32_t i = 0; i < entries.n; i++)
		if (kw_str_eq(entries.v[i].name, name))
			return &entries.v[i];
	return NULL;
}

static const char *show(struct side *side, const entry *e)
{
	const char *text;

	if (!e)
		return "not there";
	text = kw_sprintf(&side->arena, "%.*s type %d source %d%s%s", e->value.n < 0 ? 4 : e->value.n,
			  e->value.n < 0 ? "null" : e->value.s, e->configType, e->configSource,
			  e->readOnly ? " read-only" : "", e->isSensitive ? " sensitive" : "");
	for (int32_t i = 0; i < e->synonyms.n; i++) {
		const struct kw_DescribeConfigsResponse_DescribeConfigsSynonym *s = &e->synonyms.v[i];

		text = kw_sprintf(&side->arena, "%s %d:%.*s=%.*s", text, s->source, s->name.n, s->name.s,
				  s->value.n < 0 ? 4 : s->value.n, s->value.n < 0 ? "null" : s->value.s);
	}
	return text;
}

static void compare(const char *scope, struct kw_str name, const char *what, const char *a, const char *b)
{
	if (strcmp(a, b) == 0) {
		alike++;
		return;
	}
	differ++;
	printf("%s %.*s%s: %s | %s\n", scope, name.n, name.s, what, a, b);
}

static const char *answer(struct side *side, const struct scope *scope, struct kw_str name, const char *value)
{
	const struct kw_IncrementalAlterConfigsResponse_AlterConfigsResourceResponse *r =
		set_value(side, scope, name, value, true);

	return kw_sprintf(&side->arena, "%d %.*s", r->errorCode, r->errorMessage.n < 0 ? 0 : r->errorMessage.n,
			  r->errorMessage.n < 0 ? "" : r->errorMessage.s);
}

static void compare_refusals(struct side *a, struct side *b, const struct scope *scope, struct kw_str name)
{
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		const char *what = kw_sprintf(&a->arena, "=%s", values[i]);

		compare(scope->title, name, what, answer(a, scope, name, values[i]), answer(b, scope, name, values[i]));
	}
}

static void compare_scope(struct side *a, struct side *b, const struct scope *scope)
{
	struct entries ours = describe(a, scope), theirs = describe(b, scope);

	for (int32_t i = 0; i < ours.n; i++) {
		struct kw_str name = ours.v[i].name;

		if (is_kits(name))
			continue;
		compare(scope->title, name, "", show(a, &ours.v[i]), show(b, find(theirs, name)));
		compare_refusals(a, b, scope, name);
	}
	for (int32_t i = 0; i < theirs.n; i++)
		if (!find(ours, theirs.v[i].name))
			compare(scope->title, theirs.v[i].name, "", "not there", show(b, &theirs.v[i]));
}

int main(int argc, char **argv)
{
	struct side a, b;

	if (argc != 3) {
		fprintf(stderr, "usage: compare_configs HOST:PORT HOST:PORT\n");
		return 2;
	}
	open_side(&a, argv[1]);
	open_side(&b, argv[2]);
	prepare(&a);
	prepare(&b);
	settle(&a);
	settle(&b);
	for (size_t i = 0; i < NSCOPES; i++) {
		if (a.refused[i] || b.refused[i])
			compare(scopes[i].title, kw_str("refused"), "", a.refused[i] ? a.refused[i] : "not",
				b.refused[i] ? b.refused[i] : "not");
		else
			compare_scope(&a, &b, &scopes[i]);
	}
	kc_free(a.conn);
	kc_free(b.conn);
	kw_arena_fini(&a.arena);
	kw_arena_fini(&b.arena);
	printf("%d alike, %d differ\n", alike, differ);
	return differ > 0;
}
