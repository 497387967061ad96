/* Requests to the control API, one a line of "METHOD TARGET BODY", each on the same cluster. */
#include <event2/http.h>
#include <event2/keyvalq_struct.h>

#include "fakebroker/control/endpoints.h"
#include "fakebroker/control/rules.h"
#include "fakebroker/fuzz/checked_start.h"

FUZZ_TARGET

static void check(const struct fb_ask *ask, struct fb_answer *answer)
{
	char *text;

	if (answer->wait) {
		FUZZ_CHECK(answer->count >= 1 && answer->timeout_ms >= 0 && answer->timeout_ms <= 30000);
		fb_answer_waited(answer, false);
		FUZZ_CHECK(answer->status == 408);
	}
	FUZZ_CHECK(answer->status == 200 || (answer->status >= 400 && answer->status <= 408));
	FUZZ_CHECK(!answer->json != !answer->text);
	FUZZ_CHECK(answer->status == 200 || answer->status == 408 || json_object_get(answer->json, "error"));
	text = answer->json ? json_dumps(answer->json, JSON_INDENT(2)) : NULL;
	FUZZ_CHECK(text || strcmp(ask->path, "/metrics") == 0);
	if (answer->status == 200 && strncmp(ask->path, "/v1/partitions/t/", 17) == 0)   /* there is one partition */
		FUZZ_CHECK(strtoll(ask->path + 17, NULL, 10) == 0);
	free(text);
	json_decref(answer->json);
	free(answer->text);
}

/* As control.c takes a request apart. */
static void ask(struct fb_cluster *cluster, const char *method, const char *target, const char *body)
{
	struct evhttp_uri *uri = evhttp_uri_parse_with_flags(target, EVHTTP_URI_NONCONFORMANT);
	const char *path = uri ? evhttp_uri_get_path(uri) : NULL, *query = uri ? evhttp_uri_get_query(uri) : NULL;
	struct evkeyvalq params = {0};
	struct fb_answer answer = {.status = 200};
	struct fb_ask one = {
		.cluster = cluster, .method = method, .params = &params,
		.path = path ? evhttp_uridecode(path, 0, NULL) : NULL,
	};
	bool plugin = strchr(body, '#') || strstr(body, "\\u");   /* of whatever file that names */

	if (query)
		evhttp_parse_query_str(query, &params);
	if (one.path && (!*body || kt_json_parse(&one.body, "body", body, strlen(body), NULL) == 0) && !plugin) {
		fb_endpoint(&one, &answer);
		check(&one, &answer);
	}
	kt_json_fini(&one.body);
	free(one.path);
	if (params.tqh_last)
		evhttp_clear_headers(&params);
	if (uri)
		evhttp_uri_free(uri);
}

static void ask_all(struct fb_cluster *cluster, char *text)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		const char *method = strsep(&line, " "), *target = line ? strsep(&line, " ") : NULL;

		if (target)
			ask(cluster, method, target, line ? line : "");
	}
}

/* Whatever was appended is there, in rising order, and can be searched. */
static void check_log(struct fb_cluster *cluster)
{
	struct fb_log *log = &fb_topic_find(cluster, kw_str("t"))->partitions[0].log;
	int64_t end = 0;
	struct kw_arena arena;
	struct fb_read read;
	size_t bytes = 0;

	for (size_t i = log->first; i < log->n; i++) {
		const struct fb_entry *entry = &log->entries[i];

		FUZZ_CHECK(entry->baseOffset >= end && entry->lastOffset >= entry->baseOffset);
		end = entry->lastOffset + 1;
		bytes += entry->size;
		FUZZ_CHECK(fb_log_find(log, entry->lastOffset) == i);
	}
	FUZZ_CHECK(end <= log->logEndOffset && bytes == log->bytes);
	fb_log_by_time(log, 0);
	fb_log_max_time(log);
	kw_arena_init(&arena, 0);
	/* A read ends where a segment does. */
	for (size_t at = log->first; at < log->n; at += read.nframes) {
		size_t size = fb_log_segment(log, at).bytes;

		FUZZ_CHECK(fb_log_read(log, log->entries[at].baseOffset, INT64_MAX, INT32_MAX, true, &arena,
				       &read) == 0);
		FUZZ_CHECK(read.nframes > 0 && (size > INT32_MAX || (size_t)read.records.n == size));
		for (size_t i = 0; i < read.nframes; i++)
			fb_frame_unref(read.frames[i]);
	}
	kw_arena_fini(&arena);
}

static void make_topic(struct fb_cluster *cluster)
{
	struct fb_topic *topic;

	FUZZ_CHECK(fb_topic_create(cluster, kw_str("t"), 1, 1, NULL, &topic, NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static struct fb_broker_process process;
	char *text = fuzz_text(p, n);
	struct kt_err err = {0};

	if (!process.cluster)
		FUZZ_CHECK(checked_start(&process, NULL, &err) == 0);
	make_topic(process.cluster);
	ask_all(process.cluster, text);
	check_log(process.cluster);
	fb_topic_delete(process.cluster, fb_topic_find(process.cluster, kw_str("t")));
	fb_rules_free(process.cluster->rules);
	process.cluster->rules = fb_rules_new(process.cluster, 1);
	FUZZ_CHECK(process.cluster->rules && fb_cluster_observe(process.cluster, NULL, NULL, NULL, false, &err) == 0);
	free(text);
	return 0;
}
