#include "fakebroker/hooks/validators.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakebroker/hooks/options.h"
#include "fakebroker/hooks/plugin.h"
#include "fakebroker/hooks/utf8.h"
#include "lib/wire/errors.h"

#define OPTION_TOPICS "topics"

/* One validator of a chain. */
struct link {
	struct fb_class_ref ref;
	struct fb_host host;
	void *instance;
	bool created;
	char *topics;             /* patterns, each NUL-terminated, an empty one ends them; NULL: every topic */
	atomic_uint_fast64_t seen, refused, nanoseconds;
	struct fb_failures failures;
};

struct fb_chain {
	atomic_int refs;
	char *classes;
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

int fb_chain_new(const char *classes, const struct fb_hook_env *env, struct fb_chain **out, struct kt_err *err)
{
	const char *list = classes;
	struct fb_chain *chain;
	char entry[4096];
	int rc = 0, more;

	*out = NULL;
	if (classes[strspn(classes, " \t")] == '\0')
		return 0;
	chain = calloc(1, sizeof *chain + fb_list_entries(classes) * sizeof chain->links[0]);
	if (!chain || !(chain->classes = strdup(classes))) {
		free(chain);
		return kt_fail(err, KT_ENOMEM, "out of memory");
	}
	atomic_init(&chain->refs, 1);
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

	if (i < 0 || i >= record->nheaders)
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
			.value = {record->value.p, record->value.n},
			.timestamp = fb_record_timestamp(place, record),
			.offsetDelta = record->offsetDelta,
			.header_count = record->nheaders,
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

/* Fills *out unless the record is good. */
static int run(struct link *link, const struct kassay_record *view, struct fb_rejection *out)
{
	struct kassay_verdict verdict = {sizeof verdict, {out->text, sizeof out->text}, KW_ERR_INVALID_RECORD};
	const char *name = class_of(link)->name;
	int rc;

	out->text[0] = '\0';
	rc = class_of(link)->validate(link->instance, view, &verdict);
	atomic_fetch_add_explicit(&link->seen, 1, memory_order_relaxed);
	if (rc == KASSAY_OK)
		return 0;
	out->text[sizeof out->text - 1] = '\0';
	fb_utf8_mend(out->text);
	out->validator = name;
	out->error = KW_ERR_INVALID_RECORD;
	if (rc == KASSAY_REFUSE) {
		atomic_fetch_add_explicit(&link->refused, 1, memory_order_release);
		if (verdict.error == KW_ERR_INVALID_TIMESTAMP)
			out->error = KW_ERR_INVALID_TIMESTAMP;
		if (!out->text[0])
			snprintf(out->text, sizeof out->text, "refused by %s", name);
	} else {
		fb_hook_failed(&link->failures, &link->host.env, name, out->text);
		snprintf(out->text, sizeof out->text, "validator %s failed", name);
	}
	return 1;
}

int fb_chain_validate(struct fb_chain *chain, const struct fb_batch_place *place, int32_t index,
		      const struct kw_record *record, struct fb_rejection *out)
{
	struct shown shown;
	int64_t before, after;
	size_t i;
	int rc = 0;

	if (!chain)
		return 0;
	show(&shown, place, index, record);
	before = fb_hook_now();
	for (i = 0; rc == 0 && i < chain->n; i++) {
		struct link *link = &chain->links[i];

		if (!concerns(link, place->topic))
			continue;
		rc = run(link, &shown.view, out);
		after = fb_hook_now();
		atomic_fetch_add_explicit(&link->nanoseconds, (uint64_t)(after - before), memory_order_relaxed);
		before = after;
	}
	return rc;
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
	out->name = class_of(link)->name;
}

json_t *fb_chain_json(const struct fb_chain *chain)
{
	json_t *list = json_array();
	struct fb_validator_stats stats;
	size_t i;

	for (i = 0; i < fb_chain_size(chain); i++) {
		fb_chain_stats(chain, i, &stats);
		json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:I, s:I}", "name", stats.name,
						      "seen", (json_int_t)stats.seen,
						      "refused", (json_int_t)stats.refused,
						      "failed", (json_int_t)stats.failed,
						      "nanoseconds", (json_int_t)stats.nanoseconds));
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
