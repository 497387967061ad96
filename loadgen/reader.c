#include "loadgen/reader.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadgen/clock.h"
#include "loadgen/outcome.h"
#include "loadgen/rdclient.h"

enum { BATCH = 1000 };

struct reader_topic {
	const char *name;
	uint32_t id;
	rd_kafka_topic_t *rkt;
	int32_t npartitions;
	struct lg_reader_partition *partitions;
};

struct lg_reader {
	struct lg_reader_opts opts;
	lg_ledger_of *ledger_of;
	void *arg;
	rd_kafka_t *rk;
	rd_kafka_queue_t *queue;
	int ntopics;
	struct reader_topic *topics;
	pthread_t thread;
	bool started;
	atomic_bool done;
	_Atomic int64_t records;
	_Atomic int64_t advanced;         /* lg_now() of the last record or end of partition */
	pthread_mutex_t lock;             /* of target, position, finished and trouble of all partitions */
	struct kh_hist latency;
};

/* ---- set-up ---- */

int lg_reader_new(const struct lg_reader_opts *opts, lg_ledger_of *ledger_of, void *arg, struct lg_reader **out,
		  struct kt_err *err)
{
	struct lg_reader *reader = calloc(1, sizeof *reader);
	rd_kafka_conf_t *conf;

	*out = reader;
	if (!reader)
		return kt_fail(err, KT_ENOMEM, "no memory for a reader");
	reader->opts = *opts;
	reader->ledger_of = ledger_of;
	reader->arg = arg;
	pthread_mutex_init(&reader->lock, NULL);
	if (kh_init_latency(&reader->latency, err) ||
	    !(conf = lg_rd_conf(opts->plan->bootstrap, &opts->plan->properties, NULL, err)))
		return err->code;
	if (lg_rd_set(conf, "enable.partition.eof", "true", err) ||
	    lg_rd_set(conf, "auto.offset.reset", "error", err) ||
	    lg_rd_set(conf, "fetch.wait.max.ms", "100", err)) {
		rd_kafka_conf_destroy(conf);
		return err->code;
	}
	reader->rk = lg_rd_new(RD_KAFKA_CONSUMER, conf, err);
	if (!reader->rk)
		return err->code;
	reader->queue = rd_kafka_queue_new(reader->rk);
	return 0;
}

int lg_reader_add(struct lg_reader *reader, const char *topic, int32_t npartitions, struct kt_err *err)
{
	struct reader_topic *topics = realloc(reader->topics, (size_t)(reader->ntopics + 1) * sizeof *topics);
	struct reader_topic *added;

	if (!topics)
		return kt_fail(err, KT_ENOMEM, "no memory for topic %s", topic);
	reader->topics = topics;
	added = &topics[reader->ntopics];
	*added = (struct reader_topic){.name = topic, .id = lg_topic_id(topic), .npartitions = npartitions};
	added->partitions = calloc((size_t)npartitions, sizeof *added->partitions);
	added->rkt = rd_kafka_topic_new(reader->rk, topic, NULL);
	reader->ntopics++;
	if (!added->partitions || !added->rkt)
		return kt_fail(err, KT_ENOMEM, "no memory for %d partitions of topic %s", (int)npartitions, topic);
	for (int32_t i = 0; i < npartitions; i++)
		added->partitions[i] = (struct lg_reader_partition){.topic = topic, .partition = i, .target = -1};
	return 0;
}

static struct lg_reader_partition *find(struct lg_reader *reader, const char *topic, int32_t partition)
{
	int t = 0;

	while (strcmp(reader->topics[t].name, topic) != 0)
		t++;
	return &reader->topics[t].partitions[partition];
}

void lg_reader_set_begin(struct lg_reader *reader, const char *topic, int32_t partition, int64_t begin)
{
	struct lg_reader_partition *at = find(reader, topic, partition);

	at->begin = at->position = begin;
}

/* ---- one record ---- */

/* The stamp lies in the value, or in a header when the value could not carry it. */
static enum lg_payload_state read_stamp(const rd_kafka_message_t *message, struct lg_stamp *stamp, size_t *wrong)
{
	rd_kafka_headers_t *headers;
	const void *value = NULL;
	size_t n = 0;

	if (rd_kafka_message_headers(message, &headers) == 0 &&
	    rd_kafka_header_get_last(headers, LG_STAMP_HEADER, &value, &n) == 0 && value)
		return lg_payload_read(value, n, stamp, wrong);
	return lg_payload_read(message->payload, message->payload ? message->len : 0, stamp, wrong);
}

static void note_damage(struct lg_reader_partition *partition, const rd_kafka_message_t *message, const char *what,
			size_t wrong)
{
	partition->corrupt++;
	if (!partition->damage[0])
		snprintf(partition->damage, sizeof partition->damage,
			 "offset %lld: %s (%zu bytes, wrong from byte %zu)", (long long)message->offset, what,
			 message->len, wrong);
}

static void judge(struct lg_reader *reader, struct reader_topic *topic, struct lg_reader_partition *partition,
		  const rd_kafka_message_t *message)
{
	struct lg_ledger *ledger;
	struct lg_stamp stamp;
	size_t wrong;
	enum lg_payload_state state = read_stamp(message, &stamp, &wrong);

	if (state == LG_PAYLOAD_FOREIGN || (reader->opts.run && state == LG_PAYLOAD_INTACT &&
					    stamp.run != reader->opts.run)) {
		partition->foreign++;
		return;
	}
	ledger = reader->ledger_of ? reader->ledger_of(reader->arg, stamp.producer, topic->id) : NULL;
	if (state == LG_PAYLOAD_CORRUPT) {
		note_damage(partition, message, "the bytes differ from what was sent", wrong);
	} else if (stamp.partition != partition->partition || stamp.topic != topic->id) {
		note_damage(partition, message, "the record was sent to another partition", 0);
		state = LG_PAYLOAD_CORRUPT;
	}
	if (state == LG_PAYLOAD_INTACT)
		kh_record(&reader->latency, lg_wall() - stamp.intended);
	if (ledger && state == LG_PAYLOAD_INTACT)
		lg_ledger_see(ledger, partition->partition, stamp.sequence);
	else if (ledger)
		lg_ledger_see_corrupt(ledger, partition->partition);
	else
		partition->stray += state == LG_PAYLOAD_CORRUPT;
}

static struct reader_topic *topic_of(struct lg_reader *reader, const rd_kafka_topic_t *rkt)
{
	for (int i = 0; i < reader->ntopics; i++)
		if (strcmp(reader->topics[i].name, rd_kafka_topic_name(rkt)) == 0)
			return &reader->topics[i];
	return NULL;
}

static void set_trouble(struct lg_reader *reader, struct lg_reader_partition *partition, const char *text)
{
	pthread_mutex_lock(&reader->lock);
	if (!partition->trouble[0])
		snprintf(partition->trouble, sizeof partition->trouble, "%s", text);
	pthread_mutex_unlock(&reader->lock);
}

/* librdkafka has a code of its own for what it does not do about an offset that the broker refuses. */
static void refuse(struct lg_reader *reader, struct lg_reader_partition *partition, const rd_kafka_message_t *message)
{
	char text[sizeof partition->trouble];

	if (message->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
	    message->err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE) {
		snprintf(text, sizeof text, "%s (%d) at offset %lld",
			 lg_code_name(RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE), RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE,
			 (long long)partition->position);
		partition->out_of_range = true;
		set_trouble(reader, partition, text);
	} else {
		set_trouble(reader, partition, rd_kafka_message_errstr(message));
	}
}

static void move_to(struct lg_reader *reader, struct lg_reader_partition *partition, int64_t position)
{
	pthread_mutex_lock(&reader->lock);
	partition->position = position;
	partition->finished = partition->target >= 0 && position >= partition->target;
	pthread_mutex_unlock(&reader->lock);
	atomic_store(&reader->advanced, lg_now());
}

static void take(struct lg_reader *reader, const rd_kafka_message_t *message)
{
	struct reader_topic *topic = message->rkt ? topic_of(reader, message->rkt) : NULL;
	struct lg_reader_partition *partition;

	if (!topic || message->partition < 0 || message->partition >= topic->npartitions)
		return;
	partition = &topic->partitions[message->partition];
	if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
		move_to(reader, partition, message->offset);
	} else if (message->err) {
		refuse(reader, partition, message);
	} else {
		partition->records++;
		partition->bytes += (int64_t)(message->len + message->key_len);
		judge(reader, topic, partition, message);
		atomic_fetch_add(&reader->records, 1);
		move_to(reader, partition, message->offset + 1);
	}
}

/* ---- the thread ---- */

/* How many records may be read now under the bound. */
static size_t allowance(const struct lg_reader *reader, int64_t began)
{
	size_t most = BATCH;
	double due;

	if (reader->opts.most > 0 && reader->opts.most - atomic_load(&reader->records) < BATCH)
		most = (size_t)(reader->opts.most - atomic_load(&reader->records));
	if (reader->opts.rate <= 0)
		return most;
	due = (double)(lg_now() - began) / 1e9 * reader->opts.rate - (double)atomic_load(&reader->records);
	return due < 0 ? 0 : due > (double)most ? most : (size_t)due;
}

static void *read_on(void *arg)
{
	struct lg_reader *reader = arg;
	rd_kafka_message_t *messages[BATCH];
	int64_t began = lg_now();

	while (!atomic_load(&reader->done)) {
		size_t n = allowance(reader, began);
		ssize_t got;

		if (n == 0) {
			lg_pause(LG_MS);
			continue;
		}
		got = rd_kafka_consume_batch_queue(reader->queue, 50, messages, n);
		for (ssize_t i = 0; i < got; i++) {
			take(reader, messages[i]);
			rd_kafka_message_destroy(messages[i]);
		}
		rd_kafka_poll(reader->rk, 0);
	}
	return NULL;
}

int lg_reader_start(struct lg_reader *reader, struct kt_err *err)
{
	atomic_store(&reader->advanced, lg_now());
	for (int t = 0; t < reader->ntopics; t++)
		for (int32_t p = 0; p < reader->topics[t].npartitions; p++)
			if (rd_kafka_consume_start_queue(reader->topics[t].rkt, p,
							 reader->topics[t].partitions[p].begin, reader->queue))
				return kt_fail(err, KT_EUSAGE, "cannot read %s-%d: %s", reader->topics[t].name,
					       (int)p, rd_kafka_err2str(rd_kafka_last_error()));
	if (pthread_create(&reader->thread, NULL, read_on, reader))
		return kt_fail(err, KT_ESYS, "cannot start a thread");
	reader->started = true;
	return 0;
}

void lg_reader_set_target(struct lg_reader *reader, const char *topic, int32_t partition, int64_t target)
{
	struct lg_reader_partition *at = find(reader, topic, partition);

	pthread_mutex_lock(&reader->lock);
	at->target = target;
	at->finished = at->position >= target && at->begin <= target;   /* behind the end the broker has to say so */
	pthread_mutex_unlock(&reader->lock);
}

static bool all_finished(struct lg_reader *reader, bool *trouble)
{
	bool all = true;

	if (reader->opts.most > 0 && atomic_load(&reader->records) >= reader->opts.most)
		return true;
	pthread_mutex_lock(&reader->lock);
	for (size_t i = 0; i < lg_reader_count(reader); i++) {
		const struct lg_reader_partition *partition = lg_reader_at(reader, i);

		all = all && partition->finished;
		*trouble = *trouble || partition->trouble[0];
	}
	pthread_mutex_unlock(&reader->lock);
	return all;
}

bool lg_reader_wait(struct lg_reader *reader, int idle_ms, bool stoppable)
{
	bool trouble = false;

	atomic_store(&reader->advanced, lg_now());
	while (!all_finished(reader, &trouble)) {
		if (trouble || (stoppable && lg_stopped()) ||
		    lg_now() - atomic_load(&reader->advanced) > idle_ms * LG_MS)
			return false;
		lg_pause(5 * LG_MS);
	}
	return true;
}

void lg_reader_stop(struct lg_reader *reader)
{
	if (!reader->started)
		return;
	atomic_store(&reader->done, true);
	pthread_join(reader->thread, NULL);
	reader->started = false;
	for (int t = 0; t < reader->ntopics; t++)
		for (int32_t p = 0; p < reader->topics[t].npartitions; p++)
			rd_kafka_consume_stop(reader->topics[t].rkt, p);
}

void lg_reader_free(struct lg_reader *reader)
{
	if (!reader)
		return;
	lg_reader_stop(reader);
	for (int t = 0; t < reader->ntopics; t++) {
		if (reader->topics[t].rkt)
			rd_kafka_topic_destroy(reader->topics[t].rkt);
		free(reader->topics[t].partitions);
	}
	free(reader->topics);
	if (reader->queue)
		rd_kafka_queue_destroy(reader->queue);
	if (reader->rk)
		rd_kafka_destroy(reader->rk);
	kh_fini(&reader->latency);
	pthread_mutex_destroy(&reader->lock);
	free(reader);
}

/* ---- results ---- */

size_t lg_reader_count(const struct lg_reader *reader)
{
	size_t n = 0;

	for (int t = 0; t < reader->ntopics; t++)
		n += (size_t)reader->topics[t].npartitions;
	return n;
}

const struct lg_reader_partition *lg_reader_at(const struct lg_reader *reader, size_t i)
{
	int t = 0;

	while (i >= (size_t)reader->topics[t].npartitions)
		i -= (size_t)reader->topics[t++].npartitions;
	return &reader->topics[t].partitions[i];
}

int64_t lg_reader_records(const struct lg_reader *reader)
{
	return atomic_load(&reader->records);
}

const struct kh_hist *lg_reader_latency(const struct lg_reader *reader)
{
	return &reader->latency;
}
