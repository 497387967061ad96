/* What lies in a file, as a tree with the place of each field, and what is wrong with it. */
#ifndef KASSAY_CONFORMANCE_INSPECT_INSPECT_H
#define KASSAY_CONFORMANCE_INSPECT_INSPECT_H

#include "conformance/inspect/tree.h"
#include "lib/text/opt.h"
#include "lib/wire/check.h"
#include "lib/wire/produce_release.h"

/* The leader whose answer to a producer is shown. */
struct cf_asked {
	const struct kw_release *release;
	struct kw_topic_conf conf;
	bool configured;         /* not all of conf is the release's default */
	char topic[256];
	int32_t partition;
	int64_t now;             /* ms since the epoch, by its clock */
	bool detailed;           /* all of the answer, and of stored batches too; else the code, and of
				    produced ones only */
};

/* release NULL: the newest. configs: NAME=VALUE. now -1: the present. KT_EUSAGE, KT_EUNKNOWN, KT_ERANGE, ... */
int cf_asked_init(struct cf_asked *asked, const char *release, const struct kt_list *configs, int64_t now,
		  struct kt_err *err);
/* Topic and partition of texts: those of the folder, if it is one of a partition (orders-0), else topic and 0. */
void cf_asked_of_file(struct cf_asked *asked, const char *file);

struct cf_inspector {
	struct cf_tree tree;
	bool records;            /* show records, not only batches */
	bool cut_is_fine;        /* the last batch of a set may be cut off, as in a fetch response */
	enum kw_role role;
	const struct cf_asked *asked;   /* NULL = nobody */
	bool in_produce;         /* batches lie in a Produce request, of this version: */
	int version;
	bool incomplete;         /* bytes were not there, so that not all could be judged */
	size_t batches, nrecords, faults;   /* seen so far */
	char first[400];         /* the first fault in one sentence, "" = none */
	char note[300];          /* what else the last line says, without control characters; "" = nothing */
	/* Called now and then with the bytes that are done, NULL = not. */
	void (*progress)(void *arg, size_t done, size_t all);
	void *progress_arg;
};

/* Shows the batches and messages of a record set. bytes is the whole file or frame, the set is [at, at + n) of it, and
 * places count in it. first_offset: offsets must not be smaller, -1 = any. */
void cf_inspect_set(struct cf_inspector *inspector, const struct kw_slice *bytes, size_t at, size_t n,
		    int64_t first_offset);

/* Shows what the leader that is asked answers to the producer of `batches`, which begin with an entry of that magic,
 * and returns the error code. Of a stored batch the base offset is taken for 0. why gets its reason, cut, "" = none. */
int cf_inspect_answer(struct cf_inspector *inspector, const struct kw_slice *batches, int magic,
		      char *why, size_t size);

/* Shows where a broker that recovers its log would cut the segment off. first_offset: as the segment's name says, -1 =
 * unknown. */
void cf_inspect_recovery(struct cf_inspector *inspector, const struct kw_slice *bytes, int64_t first_offset);

/* Shows a request frame or the response frame of an API and version (request: api -1). bytes may begin with the size
 * field or with the header. */
void cf_inspect_frame(struct cf_inspector *inspector, const struct kw_slice *bytes, int api, int version);
/* Does it look like a request frame, with or without its size? */
bool cf_is_request(const struct kw_slice *bytes);

/* Shows all batches and frames in a JSON document of the kit's: a case, an incident, a result. Returns how many there
 * were; KT_E... with err when one of them cannot be built. */
int cf_inspect_document(struct cf_inspector *inspector, json_t *document, struct kt_err *err);

/* A fault that the inspector counts and shows. `where` is "batch 3" or a field's path, "" = none. */
void cf_inspect_fault(struct cf_inspector *inspector, const struct cf_place *place, const struct kw_slice *bytes,
		      const char *where, const char *text, int code);

#endif
