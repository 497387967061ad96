#include "fakebroker/hooks/validators.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakebroker/hooks/options.h"
#include "fakebroker/hooks/plugin.h"
#include "fakebroker/hooks/utf8.h"
#include "fakebroker/hooks/workers.h"
#include "fakebroker/mutants.h"
#include "lib/text/number.h"
#include "lib/wire/errors.h"

#define OPTION_TOPICS "topics"

enum { NS_PER_MS = 1000000 };

/* One validator of a chain. */
struct link {
	struct fb_class_ref ref;
	struct fb_host host;
	void *instance;
	bool created;
	char *topics;             /* patterns, each NUL-terminated, an empty one ends them; NULL: every topic */
	atomic_uint_fast64_t seen, refused, nanoseconds;
	atomic_int retired;       /* workers that it did not give back in time */
	struct fb_failures failures;
};

struct fb_chain {
	atomic_int refs;
	char *classes;
	int64_t timeout_ms;       /* for a batch; 0: none */
	size_t n;
	struct link links[];
};

/* ---- making and freeing ---- */

static const struct kassay_validator_class *class_of(const struct link *link)
{
	return &link->ref.class->validator;
}

/* Copies the option `topics` into the link. */
static int read_topics(struct link *link, struct kt_err *err)
{
	const char *list = link->host.host.option(&link->host.host, OPTION_TOPICS);
	size_t room;
	char *at;
	int rc = 1;

	if (!list)
		return 0;
	room = strlen(list) + 1;
	link->topics = at = calloc(1, room + 1);
	if (!at)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	while ((rc = fb_list_next(&list, at, room)) > 0 && *at)
		at += strlen(at) + 1;
	return rc == 0 ? 0 : kt_fail(err, KT_EUSAGE, "%s%s.%s has an empty entry", link->host.prefix, link->host.name,
				     OPTION_TOPICS);
}

static int create_link(struct link *link, const char *entry, const struct fb_hook_env *env, struct kt_err *err)
{
	char text[512] = "";
	struct kassay_text why = {text, sizeof text};
	const struct kassay_validator_class *class;
	int rc = fb_class_find(FB_HOOK_VALIDATOR, entry, env, &link->ref, err);

	if (rc < 0)
		return rc;
	class = class_of(link);
	fb_host_init(&link->host, env, FB_VALIDATOR_PREFIX, class->name);
	rc = read_topics(link, err);
	if (rc < 0)
		return rc;
	if (class->create && class->create(&link->host.host, &link->instance, &why) != 0) {
		fb_utf8_mend(text);
		return kt_fail(err, KT_EPLUGIN, "validator %s: %s", class->name, *text ? text : "create() failed");
	}
	link->created = true;
	fb_host_created(&link->host);
	return 0;
}

static void free_link(struct link *link)
{
	if (link->created && class_of(link)->close)
		class_of(link)->close(link->instance);
	free(link->topics);
	fb_class_release(&link->ref);
}

static void free_chain(struct fb_chain *chain)
{
	while (chain->n > 0)
		free_link(&chain->links[--chain->n]);
	free(chain->classes);
	free(chain);
}

static int check_unique(const struct fb_chain *chain, const struct link *link, struct kt_err *err)
{
	const char *name = class_of(link)->name;
	const struct link *other;

	for (other = chain->links; other < link; other++)
		if (strcmp(class_of(other)->name, name) == 0)
			return kt_fail(err, KT_EUSAGE, "validator %s is in the list twice", name);
	return 0;
}

static int read_timeout(struct fb_chain *chain, const struct fb_hook_env *env, struct kt_err *err)
{
	static const char name[] = FB_VALIDATOR_PREFIX "timeout.ms";
	const char *text = env->config ? env->config(env->arg, name) : NULL;
	struct kt_err why = {0};

	if (text && kt_parse_int(text, 0, INT64_MAX, &chain->timeout_ms, &why) < 0)
		return kt_fail(err, why.code, "%s %s", name, why.text);
	return 0;
}

int fb_chain_new(const char *classes, const struct fb_hook_env *env, struct fb_chain **out, struct kt_err *err)
{
	const char *list = classes;
	struct fb_chain *chain;
	char entry[4096];
	int rc = 0, more;

	*out = NULL;
	if (classes[strspn(classes, " \t")] == '\0') {
		if (!fb_mutant(FB_M_CHAIN_BY_DEFAULT))
			return 0;
		classes = list = "NonEmptyValue";
	}
	chain = calloc(1, sizeof *chain + fb_list_entries(classes) * sizeof chain->links[0]);
	if (!chain || !(chain->classes = strdup(classes))) {
		free(chain);
		return kt_fail(err, KT_ENOMEM, "out of memory");
	}
	atomic_init(&chain->refs, 1);
	rc = read_timeout(chain, env, err);
	while (rc == 0 && (more = fb_list_next(&list, entry, sizeof entry)) != 0) {
		struct link *link = &chain->links[chain->n++];

		if (more < 0 || !*entry)
			rc = kt_fail(err, KT_EUSAGE, "the list of validators has an entry that is %s",
				     more < 0 ? "too long" : "empty");
		else
			rc = create_link(link, entry, env, err);
		if (rc == 0)
			rc = check_unique(chain, link, err);
	}
	if (rc < 0)
		free_chain(chain);
	else
		*out = chain;
	return rc;
}

struct fb_chain *fb_chain_ref(struct fb_chain *chain)
{
	if (chain)
		atomic_fetch_add_explicit(&chain->refs, 1, memory_order_relaxed);
	return chain;
}

void fb_chain_unref(struct fb_chain *chain)
{
	if (chain && atomic_fetch_sub_explicit(&chain->refs, 1, memory_order_acq_rel) == 1)
		free_chain(chain);
}

const char *fb_chain_classes(const struct fb_chain *chain)
{
	return chain ? chain->classes : "";
}

/* ---- validating ---- */

/* The record as validators see it; `view` must come first. */
struct shown {
	struct kassay_record view;
	const struct kw_record *record;
};

static struct kassay_header shown_header(const struct kassay_record *view, int32_t i)
{
	const struct kw_record *record = ((const struct shown *)(const void *)view)->record;
	const struct kw_header *header;

	if (i < 0 || i >= view->header_count || fb_mutant(FB_M_HEADERS_HIDDEN) ||
	    (fb_mutant(FB_M_HEADERS_HIDDEN_COMPRESSED) && view->codec != KW_NONE))
		return (struct kassay_header){{NULL, -1}, {NULL, -1}};
	header = &record->headers[i];
	return (struct kassay_header){{header->key.s, header->key.n}, {header->value.p, header->value.n}};
}

static void show(struct shown *shown, const struct fb_batch_place *place, int32_t index, const struct kw_record *record)
{
	*shown = (struct shown){
		.view = {
			.struct_size = sizeof shown->view,
			.topic = place->topic,
			.partition = place->partition,
			.index = index,
			.key = {record->key.p, record->key.n},
			.value = {record->value.p,
				  record->value.n < 0 && fb_mutant(FB_M_NULL_VALUE_EMPTY) ? 0 : record->value.n},
			.timestamp = fb_record_timestamp(place, record),
			.offsetDelta = record->offsetDelta,
			.header_count = record->headers ? record->nheaders : 0,
			.codec = place->codec,
			.record_size = (int32_t)record->size,
			.header = shown_header,
		},
		.record = record,
	};
}

static bool concerns(const struct link *link, const char *topic)
{
	const char *pattern = link->topics;

	if (!pattern)
		return true;
	for (; *pattern; pattern += strlen(pattern) + 1)
		if (fnmatch(pattern, topic, 0) == 0)
			return true;
	return false;
}

/* Fills *out unless the record is good. Returns the verdict, which settle() counts if it comes in time. */
static int run(struct link *link, const struct kassay_record *view, struct fb_rejection *out)
{
	struct kassay_verdict verdict = {sizeof verdict, {out->text, sizeof out->text}, KW_ERR_INVALID_RECORD};
	const char *name = class_of(link)->name;
	int rc = KASSAY_FAILED;

	out->text[0] = '\0';
	atomic_fetch_add_explicit(&link->seen, 1, memory_order_relaxed);
	if (atomic_load_explicit(&link->retired, memory_order_relaxed) < FB_MOST_RETIRED)
		rc = class_of(link)->validate(link->instance, view, &verdict);
	if (rc == KASSAY_OK && !fb_mutant(FB_M_VERDICT_INVERTED))
		return KASSAY_OK;
	if ((rc != KASSAY_OK && fb_mutant(FB_M_VERDICT_INVERTED)) ||
	    (rc == KASSAY_FAILED && fb_mutant(FB_M_FAILURE_ACCEPTS)))
		return KASSAY_OK;
	out->text[sizeof out->text - 1] = '\0';
	fb_utf8_mend(out->text);
	out->validator = name;
	out->error = KW_ERR_INVALID_RECORD;
	if (rc != KASSAY_REFUSE)
		return KASSAY_FAILED;
	if (verdict.error == KW_ERR_INVALID_TIMESTAMP)
		out->error = KW_ERR_INVALID_TIMESTAMP;
	if (!out->text[0])
		snprintf(out->text, sizeof out->text, "refused by %s", name);
	return KASSAY_REFUSE;
}

/* Counts the verdict of link i, which filled *out. */
static int settle(struct fb_chain *chain, size_t i, int verdict, struct fb_rejection *out)
{
	struct link *link = &chain->links[i];
	const char *name = class_of(link)->name;

	if (verdict == KASSAY_OK)
		return 0;
	if (verdict == KASSAY_REFUSE) {
		atomic_fetch_add_explicit(&link->refused, 1, memory_order_release);
	} else {
		fb_hook_failed(&link->failures, &link->host.env, name, out->text);
		snprintf(out->text, sizeof out->text, "validator %s failed",
			 fb_mutant(FB_M_FAILURE_UNNAMED) ? "" : name);
	}
	return 1;
}

/* at, if not NULL, tells others meanwhile which link has the record. *which is the one that gave the verdict. */
static int show_to_all(struct fb_chain *chain, const struct fb_batch_place *place, int32_t index,
		       const struct kw_record *record, atomic_size_t *at, size_t *which, struct fb_rejection *out)
{
	struct shown shown;
	int64_t before, after;
	size_t i;
	int rc = KASSAY_OK;

	show(&shown, place, index, record);
	before = fb_hook_now();
	for (i = 0; rc == KASSAY_OK && i < chain->n; i++) {
		struct link *link = &chain->links[i];

		if (!concerns(link, place->topic))
			continue;
		if (at)
			atomic_store(at, i);
		*which = fb_mutant(FB_M_CHAIN_REVERSED) ? chain->n - 1 - i : i;
		rc = run(&chain->links[*which], &shown.view, out);
		if (fb_mutant(FB_M_CHAIN_ENDS_AFTER_FIRST))
			break;
		after = fb_hook_now();
		atomic_fetch_add_explicit(&link->nanoseconds, (uint64_t)(after - before), memory_order_relaxed);
		before = after;
	}
	return rc;
}

/* ---- with a time limit ---- */

/* All that a worker needs, should nobody wait for it any more; `job` must come first. */
struct errand {
	struct fb_job job;
	struct fb_chain *chain;   /* a reference */
	struct fb_batch_place place;
	struct kw_arena arena;    /* topic, record */
	struct kw_record record;
	int32_t index;
	struct fb_rejection rejection;
	size_t which;
	int verdict;
};

static void run_errand(struct fb_job *job)
{
	struct errand *errand = (struct errand *)(void *)job;

	errand->verdict = show_to_all(errand->chain, &errand->place, errand->index, &errand->record, &job->stage,
				      &errand->which, &errand->rejection);
}

static void free_errand(struct fb_job *job)
{
	struct errand *errand = (struct errand *)(void *)job;

	fb_chain_unref(errand->chain);
	kw_arena_fini(&errand->arena);
	free(errand);
}

static bool copy_bytes(struct kw_bytes *bytes, struct kw_arena *arena)
{
	if (bytes->n > 0)
		bytes->p = (const uint8_t *)kw_strndup(arena, (const char *)bytes->p, (size_t)bytes->n);
	return bytes->n <= 0 || bytes->p;
}

static bool copy_record(struct kw_record *record, struct kw_arena *arena)
{
	size_t n = record->headers ? (size_t)record->nheaders : 0;
	struct kw_header *headers = kw_alloc(arena, (n ? n : 1) * sizeof *headers);
	bool ok = headers && copy_bytes(&record->key, arena) && copy_bytes(&record->value, arena);

	for (size_t i = 0; ok && i < n; i++) {
		headers[i] = record->headers[i];
		if (headers[i].key.n > 0)
			headers[i].key.s = kw_strndup(arena, headers[i].key.s, (size_t)headers[i].key.n);
		ok = (headers[i].key.n <= 0 || headers[i].key.s) && copy_bytes(&headers[i].value, arena);
	}
	record->headers = n ? headers : NULL;
	return ok;
}

static struct errand *errand_new(struct fb_chain *chain, const struct fb_batch_place *place, int32_t index,
				 const struct kw_record *record)
{
	struct errand *errand = calloc(1, sizeof *errand);

	if (!errand)
		return NULL;
	errand->job = (struct fb_job){.run = run_errand, .free = free_errand};
	errand->chain = fb_chain_ref(chain);
	errand->place = *place;
	errand->index = index;
	errand->record = *record;
	kw_arena_init(&errand->arena, 0);
	errand->place.topic = kw_strndup(&errand->arena, place->topic, strlen(place->topic));
	if (!errand->place.topic || !copy_record(&errand->record, &errand->arena)) {
		free_errand(&errand->job);
		return NULL;
	}
	return errand;
}

static int fail_at(struct fb_chain *chain, size_t i, const char *why, struct fb_rejection *out)
{
	struct link *link = &chain->links[i];
	const char *name = class_of(link)->name;

	fb_hook_failed(&link->failures, &link->host.env, name, why);
	out->error = KW_ERR_INVALID_RECORD;
	out->validator = name;
	snprintf(out->text, sizeof out->text, "validator %s failed", name);
	return 1;
}

static int give_up(struct fb_chain *chain, struct fb_batch_place *place, size_t i, struct fb_rejection *out)
{
	struct link *link = &chain->links[i];
	int retired = atomic_fetch_add(&link->retired, 1) + 1;

	place->late = true;
	if (retired == FB_MOST_RETIRED)
		fb_hook_log(&link->host.env, KASSAY_ERROR,
			    "validator %s was late %d times and fails every record from now on",
			    class_of(link)->name, retired);
	return fail_at(chain, i, "no verdict in time", out);
}

static int validate_in_time(struct fb_chain *chain, struct fb_batch_place *place, int32_t index,
			    const struct kw_record *record, struct fb_rejection *out)
{
	int64_t now = fb_hook_now(), left;
	struct errand *errand;
	enum fb_job_end end;
	size_t at = 0;
	int rc;

	if (!place->deadline_ns)
		place->deadline_ns = fb_hook_deadline(now, chain->timeout_ms);
	left = (place->deadline_ns - now) / NS_PER_MS;
	errand = errand_new(chain, place, index, record);
	if (!errand)
		return fail_at(chain, 0, "out of memory", out);
	end = fb_job_do(&errand->job, left > 0 ? left : 0, &at);
	if (end == FB_JOB_GIVEN_UP)
		return give_up(chain, place, at, out);
	if (end == FB_JOB_DONE) {
		if (errand->verdict != KASSAY_OK)
			*out = errand->rejection;
		rc = settle(chain, errand->which, errand->verdict, out);
	} else {
		rc = fail_at(chain, 0, "no thread for a worker", out);
	}
	free_errand(&errand->job);
	return rc;
}

int fb_chain_validate(struct fb_chain *chain, struct fb_batch_place *place, int32_t index,
		      const struct kw_record *record, struct fb_rejection *out)
{
	size_t which = 0;
	int verdict;

	if (!chain || place->late)
		return 0;
	if (chain->timeout_ms > 0)
		return validate_in_time(chain, place, index, record, out);
	verdict = show_to_all(chain, place, index, record, NULL, &which, out);
	return settle(chain, which, verdict, out);
}

/* ---- numbers and names ---- */

size_t fb_chain_size(const struct fb_chain *chain)
{
	return chain ? chain->n : 0;
}

void fb_chain_stats(const struct fb_chain *chain, size_t i, struct fb_validator_stats *out)
{
	const struct link *link = &chain->links[i];

	/* `seen` is counted first and read last, so it is never less than the other two. */
	out->refused = atomic_load_explicit(&link->refused, memory_order_acquire);
	out->failed = atomic_load_explicit(&link->failures.count, memory_order_acquire);
	out->seen = atomic_load_explicit(&link->seen, memory_order_relaxed);
	out->nanoseconds = atomic_load_explicit(&link->nanoseconds, memory_order_relaxed);
	out->retired = atomic_load_explicit(&link->retired, memory_order_relaxed);
	out->name = class_of(link)->name;
}

json_t *fb_chain_json(const struct fb_chain *chain)
{
	json_t *list = json_array();
	struct fb_validator_stats stats;
	size_t i;

	for (i = 0; i < fb_chain_size(chain); i++) {
		fb_chain_stats(chain, i, &stats);
		json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:I, s:I, s:i}", "name", stats.name,
						      "seen", (json_int_t)stats.seen,
						      "refused", (json_int_t)stats.refused,
						      "failed", (json_int_t)stats.failed,
						      "nanoseconds", (json_int_t)stats.nanoseconds,
						      "retiredWorkers", stats.retired));
	}
	return list;
}

int fb_chain_check_option(const struct fb_chain *chain, const char *const *plugins, const char *config,
			  struct kt_err *err)
{
	struct fb_option_search search = {.name = config + strlen(FB_VALIDATOR_PREFIX), .common = OPTION_TOPICS};
	size_t i;

	for (i = 0; i < fb_chain_size(chain); i++)
		fb_option_offer(&search, chain->links[i].ref.class);
	return fb_option_found(&search, FB_HOOK_VALIDATOR, plugins, err);
}

int fb_chain_has_option(const char *classes, const char *const *plugins, const char *config, struct kt_err *err)
{
	struct fb_option_search search = {.name = config + strlen(FB_VALIDATOR_PREFIX), .common = OPTION_TOPICS};

	return fb_option_of(&search, FB_HOOK_VALIDATOR, classes, plugins, err);
}
