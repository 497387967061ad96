/* capture: batches of a live broker into a file, as they are. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/command.h"
#include "kw_messages.h"
#include "lib/client/cluster.h"
#include "lib/client/login.h"
#include "lib/wire/record_time.h"
#include "lib/wire/set.h"

#define PROGRAM "conformance capture"

/* The last version that names topics. */
enum { FETCH = 1, FETCH_BY_NAME = 12 };
enum { TIMEOUT_MS = 10000, APPEARS_MS = 3000, WAIT_MS = 500, ANSWER_MAX = 64 << 20, TOPIC_MAX = 249 };

static struct {
	const char *bootstrap, *topic, *out;
	int partition, batches;
	int64_t offset;
} given = {.batches = 1, .offset = -1};

static const struct kt_opt options[] = {
	KT_STR('b', "bootstrap-server", "HOST:PORT", &given.bootstrap, "a broker of the cluster"),
	KT_STR(0, "topic", "NAME", &given.topic, "whose batches (required)"),
	KT_INT(0, "partition", "N", &given.partition, 0, INT32_MAX, "of that partition (0)"),
	KT_INT64(0, "offset", "N", &given.offset, 0, INT64_MAX, "from the batch on that holds this offset (required)"),
	KT_INT(0, "batches", "K", &given.batches, 1, INT32_MAX, "so many (1)"),
	KT_STR(0, "out", "FILE", &given.out, "file to write, - for standard output (required)"),
	KT_END
};

static const struct kt_cli cli = {
	.program = PROGRAM, .options = options,
	.about = "Fetches batches from the leader of a partition and writes their bytes to a file without reading more "
		 "of them than where one ends. Batches that are broken come as they are; conformance inspect "
		 "--stored shows them.",
	.examples = "  conformance capture --bootstrap-server localhost:9092 --topic orders --offset 42 "
		    "--out orders-42.batches\n"
		    "  conformance inspect --stored orders-42.batches",
	.exits = {
		[KT_EXIT_OK] = "the batches are in the file",
		[KT_EXIT_USAGE] = "wrong usage, or a file that cannot be written",
		[KT_EXIT_ENGINE] = "the broker cannot be reached, or refuses",
		[KT_EXIT_INCOMPLETE] = "there are fewer batches",
	},
};

static const struct kw_FetchRequest *make_request(int64_t offset, int version, struct kw_arena *arena)
{
	struct kw_FetchRequest *request = kw_new(&kw_msg_FetchRequest, arena);
	struct kw_FetchRequest_FetchTopic *topic = kw_new_array(&kw_FetchRequest_FetchTopic_struct, 1, arena);
	struct kw_FetchRequest_FetchPartition *partition =
		kw_new_array(&kw_FetchRequest_FetchPartition_struct, 1, arena);

	if (!request || !topic || !partition)
		return NULL;
	request->maxWaitMs = WAIT_MS;
	request->minBytes = 1;
	request->maxBytes = ANSWER_MAX;
	if (version >= 7)
		request->sessionEpoch = -1;
	request->topics.v = topic;
	request->topics.n = 1;
	topic->topic = kw_str(given.topic);
	topic->partitions.v = partition;
	topic->partitions.n = 1;
	partition->partition = given.partition;
	partition->fetchOffset = offset;
	partition->partitionMaxBytes = ANSWER_MAX;
	return request;
}

/* The partition's part of the answer, in the arena. */
static int fetch(struct kc_cluster *cluster, int64_t offset, struct kw_arena *arena,
		 const struct kw_FetchResponse_PartitionData **out, struct kt_err *err)
{
	int64_t now = kc_now_ms(), deadline = now + TIMEOUT_MS;
	const struct kw_FetchRequest *request;
	const struct kw_FetchResponse *response;
	struct kc_conn *conn;
	void *answer;
	int version;

	if (kc_cluster_leader(cluster, given.topic, given.partition, now + APPEARS_MS, deadline, &conn, err))
		return err->code;
	version = kc_version(conn, FETCH, FETCH_BY_NAME);
	if (version < 0)
		return kt_fail(err, KT_EVERSION, "the broker serves no version of Fetch up to %d", FETCH_BY_NAME);
	request = make_request(offset, version, arena);
	if (!request)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	if (kc_call(conn, FETCH, version, request, deadline, arena, &answer, err))
		return err->code;
	response = answer;
	if (response->errorCode || response->responses.n != 1 || response->responses.v[0].partitions.n != 1)
		return kt_fail(err, KT_EPEER, "Fetch was answered with %s", kw_error_name(response->errorCode));
	*out = &response->responses.v[0].partitions.v[0];
	if ((*out)->errorCode)
		return kt_fail(err, KT_EPEER, "%s-%d at offset %lld: %s", given.topic, given.partition,
			       (long long)offset, kw_error_name((*out)->errorCode));
	return 0;
}

/* Where the entry behind this one begins. */
static int64_t next_offset(const struct kw_entry *entry)
{
	struct kw_batch batch;

	if (entry->magic == 2 && kw_batch_parse(entry->p, entry->size, &batch, NULL) == 0)
		return kw_next_offset(&batch);
	return kw_wrap_add(entry->offset, 1);
}

/* The file is made when there is something to write, so that a capture that fails early leaves an older file alone. */
static int open_out(FILE **f, struct kt_err *err)
{
	if (!*f)
		*f = strcmp(given.out, "-") == 0 ? stdout : fopen(given.out, "wb");
	return *f ? 0 : kt_fail(err, KT_EFILE, "%s: %s", given.out, strerror(errno));
}

/* Writes whole entries until there are enough; what cannot be told apart is written as it is and ends the capture. */
static int write_set(const struct kw_records *records, FILE *f, int *left, int64_t *offset)
{
	struct kw_set set = {.p = records->p, .n = records->n > 0 ? (size_t)records->n : 0};
	struct kw_entry entry;
	int code = 0, n = 0;

	while (*left > 0 && (code = kw_set_next(&set, &entry, NULL)) > 0) {
		fwrite(entry.p, 1, entry.size, f);
		*offset = next_offset(&entry);
		(*left)--;
		n++;
	}
	if (*left > 0 && code == KT_ECORRUPT) {
		fwrite(set.p + set.at, 1, set.n - set.at, f);
		*left = 0;
		n++;
	}
	return n;
}

static int capture(struct kc_cluster *cluster, FILE **f, struct kt_err *err)
{
	int left = given.batches, got = 1;
	int64_t offset = given.offset;

	while (left > 0 && got > 0) {
		const struct kw_FetchResponse_PartitionData *partition = NULL;
		int64_t from = offset;
		struct kw_arena arena;

		kw_arena_init(&arena, 0);
		got = 0;
		if (fetch(cluster, offset, &arena, &partition, err) == 0 && open_out(f, err) == 0)
			got = write_set(&partition->records, *f, &left, &offset);
		kw_arena_fini(&arena);
		if (err->code)
			return err->code == KT_EFILE ? KT_EXIT_USAGE : KT_EXIT_ENGINE;
		/* A broken last offset must not send us round in circles. */
		if (offset <= from && left > 0)
			break;
	}
	if (left > 0)
		fprintf(stderr, "%s: %s-%d has %d batches from offset %lld on, not %d\n", PROGRAM, given.topic,
			given.partition, given.batches - left, (long long)given.offset, given.batches);
	return left > 0 ? KT_EXIT_INCOMPLETE : KT_EXIT_OK;
}

static int capture_to_file(struct kt_err *err)
{
	static const struct kc_login nobody = {.how = "capture has none to give: name a listener without"};
	struct kc_cluster *cluster = NULL;
	int status = KT_EXIT_ENGINE;
	FILE *f = NULL;

	if (kc_cluster_open(given.bootstrap, "kassay-conformance", &nobody, kc_now_ms() + TIMEOUT_MS, &cluster,
			    err) == 0)
		status = capture(cluster, &f, err);
	else if (err->code == KT_ESYNTAX)
		status = KT_EXIT_USAGE;
	if (f && (fflush(f) || ferror(f))) {
		kt_fail(err, KT_EFILE, "%s: %s", given.out, strerror(errno));
		status = KT_EXIT_USAGE;
	}
	if (f && f != stdout)
		fclose(f);
	kc_cluster_free(cluster);
	return status;
}

int cf_command_capture(int argc, char **argv)
{
	struct kt_err err = {0};
	struct stat st;
	int status;

	if (!kt_cli_begin(&cli, &argc, argv, &status))
		return status;
	if (!given.bootstrap || !given.topic || !given.out || given.offset < 0) {
		fprintf(stderr, "%s: needs --bootstrap-server, --topic, --offset and --out\n", PROGRAM);
		return KT_EXIT_USAGE;
	}
	if (strlen(given.topic) > TOPIC_MAX) {
		fprintf(stderr, "%s: --topic: a topic's name has at most %d bytes\n", PROGRAM, TOPIC_MAX);
		return KT_EXIT_USAGE;
	}
	if (stat(given.out, &st) == 0 && S_ISDIR(st.st_mode)) {
		kt_fail(&err, KT_EFILE, "%s: is a directory, not a file", given.out);
		status = KT_EXIT_USAGE;
	} else {
		status = capture_to_file(&err);
	}
	if (err.code)
		kt_complain(PROGRAM, &err);
	return status;
}
