/* Our codec against Kafka's own: compare_codec SAMPLES SEED CLASS-PATH-3.9 CLASS-PATH-4.4, in the sources' root.
 *
 * For every message and version of a release: a random message of ours goes to Kafka, which must read all of its bytes,
 * make the same bytes of it again, the same JSON, and the same bytes of our JSON; a random message of Kafka's comes
 * here likewise. Damaged messages are read by both or by none, and alike (by 4.4; 3.9 took more). Rows of golden.def
 * are made again. Every difference is a line; the last line counts message-versions and rows.
 * Exit code 0, or 1 if anything differs, 2 for wrong usage, 3 if Java cannot run.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/text/base64.h"
#include "lib/wire/plan.h"
#include "lib/wire/tests/length_sites.h"
#include "lib/wire/tests/oracle.h"
#include "lib/wire/tests/random_message.h"

/* ---- what is left out ---- */

static const struct {
	const char *name;
	int version;
} kit_only[] = {   /* lib/wire/schema/kit */
	{"BrokerRegistrationRequest", 5},
	{"BrokerRegistrationResponse", 5},
	{"RegisterBrokerRecord", 5},
};

/* Share groups were early access in 3.9; 4.x changed these within version 0, and its form is ours. */
static const char *const changed_since_39[] = {"ReadShareGroupStateSummaryResponse", "ShareGroupMetadataValue"};

/* Tagged fields that 4.x added to existing versions: unknown tags to 3.9, so that its JSON is without them. */
static const struct {
	const char *message, *field;
} tagged_since_39[] = {
	{"ConsumerGroupCurrentMemberAssignmentValue", "assignmentEpochs"},
	{"ConsumerGroupMetadataValue", "metadataHash"},
	{"ConsumerGroupTargetAssignmentMetadataValue", "assignmentTimestamp"},
	{"OffsetCommitValue", "topicId"},
	{"RemoteLogSegmentMetadataRecord", "txnIndexEmpty"},
	{"RemoteLogSegmentMetadataSnapshotRecord", "txnIndexEmpty"},
	{"TransactionLogValue", "previousProducerId"},
	{"TransactionLogValue", "nextProducerId"},
	{"TransactionLogValue", "nextProducerEpoch"},
	{"TransactionLogValue", "clientTransactionVersion"},
};

/* ---- one release ---- */

static struct {
	size_t passed, failed;
	size_t damaged, read;        /* messages; those of them that can still be read */
	uint64_t *seen;              /* of each message, a bit for each version that was compared */
} total;

struct run {
	struct oracle oracle;
	int release;                 /* 39 or 44 */
	int samples;
	struct random_source src;
	struct kw_arena arena;       /* of one sample */
	const struct kw_msg *msg;
	int version;                 /* ours */
	const char *name;            /* the release's */
	int their_version;
	int sample;
	size_t differences;          /* in this version */
	size_t dropped;              /* members that this sample lost, as the release does not know them */
};

__attribute__((format(printf, 2, 3)))
static void differ(struct run *run, const char *fmt, ...)
{
	va_list ap;

	run->differences++;
	printf("%s v%d, sample %d: ", run->name, run->version, run->sample);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static char *hex(struct run *run, const struct kw_buf *buf)
{
	char *text = kw_alloc(&run->arena, 2 * buf->n + 1);

	for (size_t i = 0; i < buf->n; i++)
		snprintf(text + 2 * i, 3, "%02x", buf->p[i]);
	return text;
}

static bool is_since_39(const struct run *run, const char *field)
{
	for (size_t i = 0; i < sizeof tagged_since_39 / sizeof tagged_since_39[0]; i++)
		if (run->release == 39 && strcmp(tagged_since_39[i].message, run->msg->name) == 0 &&
		    strcmp(tagged_since_39[i].field, field) == 0)
			return true;
	return false;
}

/* The JSON of our message as the release prints it: 3.9 under its own names and without later tagged fields, and both
 * without the content of records, for which Kafka's converters always write an empty string. */
static void as_release(struct run *run, const struct kw_struct *st, json_t *json, bool blank_records)
{
	for (uint32_t i = 0; i < st->nfields; i++) {
		const struct kw_field *field = &st->fields[i];
		json_t *value = json_object_get(json, field->name), *element;
		size_t k;

		if (!value)
			continue;
		if (is_since_39(run, field->name)) {
			json_object_del(json, field->name);
			run->dropped++;
			continue;
		}
		if (field->type == KW_STRUCT && json_is_array(value))
			json_array_foreach(value, k, element)
				as_release(run, field->sub, element, blank_records);
		else if (field->type == KW_STRUCT && json_is_object(value))
			as_release(run, field->sub, value, blank_records);
		else if (field->type == KW_RECORDS && blank_records && json_is_string(value))
			json_string_set(value, "");
		if (field->alias && run->release == 39) {
			json_object_set(json, field->alias, value);
			json_object_del(json, field->name);
		}
	}
}

/* The bytes of a struct in hex, or NULL after a difference. */
static const char *encoded(struct run *run, const void *in, const char *what)
{
	struct kt_err err = {0};
	struct kw_buf buf = {0};
	const char *text = NULL;

	if (kw_encode(run->msg, run->version, in, &buf, &err) < 0)
		differ(run, "%s is not encoded: %s: %s", what, err.path, err.text);
	else
		text = hex(run, &buf);
	kw_buf_fini(&buf);
	return text;
}

static json_t *converted(struct run *run, const void *in, bool blank_records)
{
	struct kt_err err = {0};
	json_t *json = kw_to_json(run->msg, run->version, in, &err);

	if (json)
		as_release(run, run->msg->root, json, blank_records);
	else
		differ(run, "no JSON of it: %s: %s", err.path, err.text);
	return json;
}

static void same_bytes(struct run *run, const char *what, const char *ours, const char *theirs)
{
	if (ours && strcmp(ours, theirs) != 0)
		differ(run, "%s: ours %s, Kafka's %s", what, ours, theirs);
}

static void same_json(struct run *run, const char *what, json_t *ours, const char *theirs)
{
	json_t *json = json_loads(theirs, JSON_ALLOW_NUL, NULL);
	char *text;

	if (ours && (!json || !json_equal(ours, json))) {
		text = json_dumps(ours, JSON_COMPACT);
		differ(run, "%s: ours %s, Kafka's %s", what, text, theirs);
		free(text);
	}
	json_decref(json);
}

/* A message of ours at Kafka. */
static void send_sample(struct run *run)
{
	struct oracle *oracle = &run->oracle;
	const void *in;
	const char *bytes;
	json_t *json;
	char *text;

	run->src.unknown_tags = run->sample % 2;
	in = random_message(&run->src, run->msg, run->version, &run->arena);
	bytes = encoded(run, in, "our message");
	if (!bytes)
		return;
	if (!oracle_ask(oracle, "decode\t%s\t%d\t%s", run->name, run->their_version, bytes)) {
		differ(run, "Kafka does not read %s: %s", bytes, oracle->words[0]);
		return;
	}
	if (strtoul(oracle->words[0], NULL, 10) != strlen(bytes) / 2)
		differ(run, "Kafka reads %s of %zu bytes", oracle->words[0], strlen(bytes) / 2);
	same_bytes(run, "our message, encoded", bytes, oracle->words[1]);
	json = converted(run, in, true);
	same_json(run, "our message, converted", json, oracle->words[2]);
	json_decref(json);
	if (run->src.unknown_tags || run->dropped || !(json = converted(run, in, false)))
		return;
	text = json_dumps(json, JSON_COMPACT);
	if (oracle_ask(oracle, "encode\t%s\t%d\t%d\t%s", run->name, run->their_version, run->their_version, text))
		same_bytes(run, "our JSON, encoded", bytes, oracle->words[0]);
	else
		differ(run, "Kafka does not take %s: %s", text, oracle->words[0]);
	free(text);
	json_decref(json);
}

static void take_json(struct run *run, const char *theirs)
{
	struct kt_err err = {0};
	json_t *json = json_loads(theirs, JSON_ALLOW_NUL, NULL), *back;
	void *out;

	if (!json || kw_from_json(run->msg, run->version, json, &run->arena, &out, &err) < 0) {
		differ(run, "Kafka's JSON %s is not taken: %s: %s", theirs, err.path, err.text);
	} else {
		back = converted(run, out, true);
		same_json(run, "Kafka's JSON, taken", back, theirs);
		json_decref(back);
	}
	json_decref(json);
}

/* A message of Kafka's here. */
static void receive_sample(struct run *run)
{
	struct oracle *oracle = &run->oracle;
	struct kt_err err = {0};
	const char *theirs;
	size_t n, used;
	uint8_t *bytes;
	json_t *json;
	void *out;

	if (!oracle_ask(oracle, "random\t%s\t%d\t%u\t%s", run->name, run->their_version,
			random_below(&run->src, UINT32_MAX), run->sample % 2 ? "true" : "false")) {
		differ(run, "Kafka makes no random message: %s", oracle->words[0]);
		return;
	}
	theirs = oracle->words[0];
	n = strlen(theirs) / 2;
	bytes = kw_alloc(&run->arena, n);
	kt_hex_decode(theirs, 2 * n, bytes);
	if (kw_decode(run->msg, run->version, bytes, n, &run->arena, &out, &used, &err) < 0) {
		differ(run, "%s is not read: %s: %s", theirs, err.path, err.text);
		return;
	}
	if (used != n)
		differ(run, "%zu of %zu bytes are read", used, n);
	same_bytes(run, "Kafka's message, encoded", encoded(run, out, "Kafka's message"), theirs);
	json = converted(run, out, true);
	same_json(run, "Kafka's message, converted", json, oracle->words[1]);
	json_decref(json);
	if (run->sample % 2 == 0)
		take_json(run, oracle->words[1]);
}

static size_t damage(struct run *run, uint8_t *p, size_t n)
{
	static const uint8_t likely[] = {0, 1, 2, 3, 0x7f, 0x80, 0x81, 0xfe, 0xff};

	if (random_below(&run->src, 8) == 0)
		n = random_below(&run->src, (uint32_t)n);
	for (uint32_t k = random_below(&run->src, 3); n && k < 3; k++)
		p[random_below(&run->src, (uint32_t)n)] = random_below(&run->src, 3) == 0
			? (uint8_t)random_below(&run->src, 256) : likely[random_below(&run->src, sizeof likely)];
	return n;
}

/* Both read a damaged message: the same, but for strings that are not UTF-8, which Java changes. */
static void same_reading(struct run *run, const char *bytes, const void *out, size_t used)
{
	struct oracle *oracle = &run->oracle;
	json_t *json = converted(run, out, true);
	char *text = json_dumps(json, JSON_COMPACT);

	total.read++;
	if (strtoul(oracle->words[0], NULL, 10) != used)
		differ(run, "damaged %s: %zu bytes are read, by Kafka %s", bytes, used, oracle->words[0]);
	if (!strstr(text, "{\"hex\":")) {
		if (strcmp(oracle->words[1], "not encoded") != 0)
			same_bytes(run, "damaged, encoded", encoded(run, out, "damaged"), oracle->words[1]);
		same_json(run, "damaged, converted", json, oracle->words[2]);
	}
	free(text);
	json_decref(json);
}

/* A tag that the kit uses in a version of its own is out of place in earlier versions here, but unknown to Kafka. */
static bool kit_adds_to(const char *name)
{
	for (size_t i = 0; i < sizeof kit_only / sizeof kit_only[0]; i++)
		if (strcmp(kit_only[i].name, name) == 0)
			return true;
	return false;
}

/* A damaged message at both. */
static void compare_damaged(struct run *run, const struct kw_buf *buf)
{
	struct oracle *oracle = &run->oracle;
	struct kt_err err = {0};
	const char *bytes = hex(run, buf);
	size_t used;
	void *out;
	int code = kw_decode(run->msg, run->version, buf->p, buf->n, &run->arena, &out, &used, &err);

	total.damaged++;
	if (oracle_ask(oracle, "decode\t%s\t%d\t%s", run->name, run->their_version, bytes) != (code == 0))
		differ(run, "damaged %s: Kafka: %s, here: %s %s", bytes, oracle->words[0], err.path, err.text);
	else if (code == 0)
		same_reading(run, bytes, out, used);
}

/* One of its lengths is a lie: a negative number, none, all that is left, one more, or a large number. */
static void lying_sample(struct run *run, const struct length_sites *sites, const struct kw_buf *buf)
{
	const struct length_site *site = &sites->v[random_below(&run->src, (uint32_t)sites->n)];
	int64_t left = (int64_t)(buf->n - site->end);
	const int64_t values[] = {-2, -1, 0, left, left + 1, INT16_MAX, INT32_MAX};
	int64_t value = values[random_below(&run->src, sizeof values / sizeof values[0])];
	struct kw_buf lie = {0};
	size_t prefix_end;

	lie.p = length_site_edit(site, buf->p, buf->n, value, random_below(&run->src, 2), &lie.n, &prefix_end);
	compare_damaged(run, &lie);
	free(lie.p);
}

static void damaged_sample(struct run *run)
{
	struct length_sites sites;
	struct kw_buf buf = {0};

	run->src.unknown_tags = true;
	length_sites_find(&sites, run->msg, run->version,
			  random_message(&run->src, run->msg, run->version, &run->arena), &buf, &run->arena);
	if (sites.n)
		lying_sample(run, &sites, &buf);
	if (buf.n) {
		buf.n = damage(run, buf.p, buf.n);
		compare_damaged(run, &buf);
	}
	kw_buf_fini(&buf);
}

static void compare_version(struct run *run)
{
	run->differences = 0;
	for (run->sample = 0; run->sample < run->samples; run->sample++) {
		run->dropped = 0;
		send_sample(run);
		receive_sample(run);
		if (run->release == 44 && !kit_adds_to(run->msg->name))
			damaged_sample(run);
		kw_arena_reset(&run->arena);
	}
	total.seen[run->msg->id] |= UINT64_C(1) << run->version;
	if (run->differences)
		total.failed++;
	else
		total.passed++;
}

static bool is_left_out(const struct run *run, const char *name)
{
	for (size_t i = 0; i < sizeof changed_since_39 / sizeof changed_since_39[0]; i++)
		if (run->release == 39 && strcmp(changed_since_39[i], name) == 0)
			return true;
	return false;
}

static int fail_release(const struct run *run, const char *name, const char *why)
{
	total.failed++;
	printf("Kafka %.1f: %s %s\n", run->release / 10.0, name, why);
	return 0;
}

/* "NAME:lowest-highest", as the release lists it: the versions compared, 0 if the message is left out or missing. */
static int compare_message(struct run *run, const char *word)
{
	int low, high;
	char name[128];

	if (sscanf(word, "%127[^:]:%d-%d", name, &low, &high) != 3)
		return fail_release(run, word, "cannot be understood");
	if (is_left_out(run, name)) {
		printf("Kafka %.1f: %s is left out: early access, changed since\n", run->release / 10.0, name);
		return 0;
	}
	run->name = name;
	run->msg = kw_msg_find(name);
	if (!run->msg)
		return fail_release(run, name, "is not known");
	/* To 3.9 the record type was the version of a coordinator record's key; the bytes are the same. */
	if (run->release == 39 && run->msg->kind == KW_COORDINATOR_KEY) {
		run->version = 0;
		run->their_version = run->msg->key;
		compare_version(run);
		return 1;
	}
	for (run->version = low; run->version <= high; run->version++) {
		run->their_version = run->version;
		if (kw_in(run->msg->versions, run->version))
			compare_version(run);
		else
			fail_release(run, name, "has a version that is not known");
	}
	return high - low + 1;
}

/* ---- golden rows ---- */

static const struct {
	int release;
	const char *what;
	bool header;
	const char *name;
	int version, json_version;
	const char *json, *bytes;
} golden[] = {
#define X(release, what, header, msg, version, json_version, json, bytes) \
	{release, what, header, #msg, version, json_version, json, bytes},
#include "lib/wire/tests/golden.def"
#undef X
};

static void compare_golden(struct run *run)
{
	struct oracle *oracle = &run->oracle;

	for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
		const struct kw_msg *msg = kw_msg_find(golden[i].name);
		const char *client = msg->kind == KW_REQUEST ? ", \"clientId\": \"kit\"" : "", *theirs;
		bool ok;

		if (golden[i].release != run->release)
			continue;
		if (golden[i].header)
			ok = oracle_ask(oracle, "frame\t%s\t%d\t{\"requestApiKey\": %d, \"requestApiVersion\": %d, "
					"\"correlationId\": 7%s}\t%s", msg->name, golden[i].version, msg->key,
					golden[i].version, client, golden[i].json);
		else
			ok = oracle_ask(oracle, "encode\t%s\t%d\t%d\t%s", msg->name, golden[i].version,
					golden[i].json_version, golden[i].json);
		theirs = ok ? oracle->words[0] : "an error";
		if (ok ? golden[i].bytes && strcmp(golden[i].bytes, theirs) == 0 : !golden[i].bytes) {
			total.passed++;
			continue;
		}
		total.failed++;
		printf("golden row \"%s\" is %s of Kafka: %s\n", golden[i].what, theirs, oracle->words[0]);
	}
}

/* ---- all of it ---- */

static void compare_release(int release, const char *class_path, int samples, uint64_t seed)
{
	struct run run = {.release = release, .samples = samples, .src = {.state = seed}};
	size_t messages = 0, versions = 0, n;
	char **names;

	kw_arena_init(&run.arena, 0);
	oracle_open(&run.oracle, class_path);
	oracle_ask(&run.oracle, "list");
	n = run.oracle.nwords;
	names = calloc(n, sizeof *names);
	for (size_t i = 0; i < n; i++)
		names[i] = strdup(run.oracle.words[i]);
	for (size_t i = 0; i < n; i++) {
		int compared = compare_message(&run, names[i]);

		messages += compared > 0;
		versions += (size_t)compared;
		free(names[i]);
	}
	free(names);
	compare_golden(&run);
	oracle_close(&run.oracle);
	kw_arena_fini(&run.arena);
	printf("Kafka %.1f: %zu messages in %zu versions, %zu random messages each way\n", release / 10.0, messages,
	       versions, versions * (size_t)samples);
}

/* Every version that the kit knows was in one of the releases, or is its own. */
static void check_seen(void)
{
	for (size_t i = 0; i < kw_msg_count(); i++) {
		const struct kw_msg *msg = kw_msg_at(i);

		for (int v = msg->versions.min; v <= msg->versions.max; v++) {
			bool known = total.seen[msg->id] >> v & 1;

			for (size_t k = 0; k < sizeof kit_only / sizeof kit_only[0]; k++)
				if (v == kit_only[k].version && strcmp(msg->name, kit_only[k].name) == 0) {
					printf("%s v%d is the kit's own\n", msg->name, v);
					known = true;
				}
			if (!known) {
				total.failed++;
				printf("%s v%d is in no release\n", msg->name, v);
			}
		}
	}
}

int main(int argc, char **argv)
{
	int samples = argc == 5 ? (int)strtol(argv[1], NULL, 10) : 0;
	uint64_t seed = argc == 5 ? strtoull(argv[2], NULL, 10) : 0;

	if (samples < 1 || seed == 0) {
		fprintf(stderr, "usage: compare_codec SAMPLES SEED CLASS-PATH-3.9 CLASS-PATH-4.4 (numbers from 1)\n");
		return 2;
	}
	total.seen = calloc(kw_msg_count(), sizeof *total.seen);
	if (!total.seen)
		return 3;
	printf("%d samples, seed %" PRIu64 "\n", samples, seed);
	compare_release(39, argv[3], samples, seed);
	compare_release(44, argv[4], samples, seed);
	check_seen();
	free(total.seen);
	printf("%zu damaged messages, %zu of them readable\n", total.damaged, total.read);
	printf("%zu passed, %zu failed\n", total.passed, total.failed);
	return total.failed ? 1 : 0;
}
