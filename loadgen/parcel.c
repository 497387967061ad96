#include "loadgen/parcel.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- encoding ---- */

int lg_packer_init(struct lg_packer *packer, struct lg_load *load, struct kt_err *err)
{
	size_t n = (size_t)load->phase->batch;

	*packer = (struct lg_packer){.load = load, .random = lg_mix(load->plan->seed, load->number, 1)};
	packer->drafts = calloc(n, sizeof *packer->drafts);
	packer->records = calloc(n, sizeof *packer->records);
	packer->values = calloc(n, (size_t)load->phase->shape.size_max);
	if (!packer->drafts || !packer->records || !packer->values)
		return kt_fail(err, KT_ENOMEM, "no memory for batches of %zu records", n);
	return 0;
}

void lg_packer_fini(struct lg_packer *packer)
{
	free(packer->drafts);
	free(packer->records);
	free(packer->values);
}

/* One to three indices below n, each set as likely as any other of its size. */
static void choose_bad(struct lg_packer *packer, struct lg_parcel *parcel)
{
	int left = 1 + (int)(lg_random(&packer->random) % (uint64_t)(parcel->n < LG_BAD_MAX ? parcel->n : LG_BAD_MAX));

	for (int32_t i = 0; left > 0; i++) {
		if (lg_random_unit(&packer->random) * (double)(parcel->n - i) >= left)
			continue;
		parcel->bad[parcel->nbad++] = i;
		left--;
	}
}

static int draft_records(struct lg_packer *packer, struct lg_parcel *parcel, struct kt_err *err)
{
	const struct lg_shape *shape = &packer->load->phase->shape;
	int32_t spread = lg_spread(shape, packer->load->npartitions);
	int next_bad = 0;

	for (int32_t i = 0; i < parcel->n; i++) {
		struct lg_draft *draft = &packer->drafts[i];
		struct lg_stamp stamp;

		if (lg_load_stamp(packer->load, parcel->partition, parcel->intended, &stamp)) {
			parcel->n = i;
			return kt_fail(err, KT_ENOMEM, "no memory for the ledger");
		}
		if (i == 0)
			parcel->first = stamp.sequence;
		lg_draft_make(draft, shape, &stamp, spread, packer->values + (size_t)i * (size_t)shape->size_max);
		if (next_bad < parcel->nbad && parcel->bad[next_bad] == i) {
			parcel->illegal->spoil_record(draft);
			next_bad++;
		}
		parcel->value_bytes += draft->value.n > 0 ? draft->value.n : 0;
	}
	return 0;
}

static int encode(struct lg_packer *packer, struct lg_parcel *parcel, struct kt_err *err)
{
	struct kw_batch_spec spec = kw_batch_spec_default;
	int rc;

	spec.attributes = (int16_t)packer->load->phase->codec;
	spec.baseTimestamp = packer->drafts[0].timestamp;
	for (int32_t i = 0; i < parcel->n; i++) {
		struct lg_draft *draft = &packer->drafts[i];

		packer->records[i] = (struct kw_record){
			.timestampDelta = draft->timestamp - spec.baseTimestamp, .offsetDelta = i, .key = draft->key,
			.value = draft->value, .nheaders = draft->nheaders, .headers = draft->headers,
		};
	}
	rc = kw_batch_build(&spec, packer->records, parcel->n, &parcel->batch, err);
	if (rc == 0 && parcel->illegal && parcel->illegal->spoil_batch)
		parcel->illegal->spoil_batch(parcel->batch.p, parcel->batch.n);
	return rc;
}

int lg_pack(struct lg_packer *packer, int32_t partition, int32_t n, const struct lg_illegal *illegal, int64_t intended,
	    struct lg_parcel *parcel, struct kt_err *err)
{
	int rc;

	parcel->partition = partition;
	parcel->n = n;
	parcel->illegal = illegal;
	parcel->intended = intended;
	parcel->sent = 0;
	parcel->nbad = 0;
	parcel->value_bytes = 0;
	if (illegal && illegal->spoil_record)
		choose_bad(packer, parcel);
	rc = draft_records(packer, parcel, err);
	return rc ? rc : encode(packer, parcel, err);
}

/* ---- judging ---- */

static bool lists_exactly(const struct lg_parcel *parcel,
			  const struct kw_ProduceResponse_PartitionProduceResponse *partition)
{
	if (partition->recordErrors.n != parcel->nbad)
		return false;
	for (int i = 0; i < parcel->nbad; i++)
		if (partition->recordErrors.v[i].batchIndex != parcel->bad[i])
			return false;
	return true;
}

struct text {
	char *p;
	size_t n, size;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *text, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text->p + text->n, text->size - text->n, fmt, ap);
	va_end(ap);
	if (n > 0)
		text->n = text->n + (size_t)n < text->size ? text->n + (size_t)n : text->size - 1;
}

static void add_indices(struct text *text, const char *before, const int32_t *v, int n)
{
	add(text, "%s[", before);
	for (int i = 0; i < n; i++)
		add(text, "%s%d", i > 0 ? ", " : "", (int)v[i]);
	add(text, "]");
}

/* Which records, what is said of the first one, and the message; long ones are cut. */
static void describe(const struct kw_ProduceResponse_PartitionProduceResponse *partition, struct text *text)
{
	enum { SHOWN = 8, FIRST = 160, MESSAGE = 120 };
	int n = partition->recordErrors.n < SHOWN ? partition->recordErrors.n : SHOWN;
	struct kw_str first = n > 0 ? partition->recordErrors.v[0].batchIndexErrorMessage : KW_NULL_STR;
	struct kw_str message = partition->errorMessage;
	int32_t indices[SHOWN] = {0};

	for (int i = 0; i < n; i++)
		indices[i] = partition->recordErrors.v[i].batchIndex;
	add_indices(text, "record_errors ", indices, n);
	if (first.n > 0)
		add(text, " \"%.*s\"", first.n < FIRST ? first.n : FIRST, first.s);
	if (message.n < 0)
		add(text, ", no message");
	else
		add(text, ", message \"%.*s\"%s", message.n < MESSAGE ? message.n : MESSAGE, message.s,
		    message.n > MESSAGE ? "..." : "");
}

void lg_parcel_judge(const struct lg_parcel *parcel,
		     const struct kw_ProduceResponse_PartitionProduceResponse *partition, struct lg_answer *answer)
{
	struct text text = {answer->text, 0, sizeof answer->text};
	int due = parcel->illegal ? parcel->illegal->code : 0;

	answer->text[0] = '\0';
	answer->code = partition->errorCode;
	answer->expected = answer->code == due && (due == 0 || lists_exactly(parcel, partition));
	if (answer->code)
		describe(partition, &text);
	else if (parcel->illegal)
		add(&text, "accepted");
	if (!answer->expected) {
		add(&text, "; expected %s (%d)", lg_code_name(due), due);
		if (due)
			add_indices(&text, " and record_errors ", parcel->bad, parcel->nbad);
	}
	kt_clean(answer->text);
}

/* ---- settling ---- */

static bool is_bad(const struct lg_parcel *parcel, int32_t index)
{
	for (int i = 0; i < parcel->nbad; i++)
		if (parcel->bad[i] == index)
			return true;
	return false;
}

/* Errors after which the batch may be in the log all the same. */
static bool is_unsure(int code)
{
	return code == RD_KAFKA_RESP_ERR_UNKNOWN || code == RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT ||
	       code == RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND;
}

static enum lg_fate fate_of(const struct lg_parcel *parcel, const struct lg_answer *answer, int32_t index)
{
	if (answer->code == 0)
		return LG_ACKED;
	if (parcel->illegal && answer->code == parcel->illegal->code)
		return is_bad(parcel, index) ? LG_REFUSED : LG_REFUSED_WITH_BATCH;
	/* no refusal was due, but it is one: nothing of the batch may be in the log */
	if (answer->code == RD_KAFKA_RESP_ERR_INVALID_RECORD)
		return LG_REFUSED;
	return is_unsure(answer->code) ? LG_UNKNOWN : LG_FAILED;
}

void lg_parcel_settle(const struct lg_parcel *parcel, struct lg_load *load, const struct lg_answer *answer,
		      int64_t now)
{
	if (answer->code == 0) {
		lg_meter_acked(&load->meter, parcel->intended, parcel->sent, now);
		load->last_acked = now;
	}
	if (answer->code || parcel->illegal)
		lg_outcomes_add(&load->outcomes, parcel->illegal, answer->code, answer->expected, answer->text);
	for (int32_t i = 0; i < parcel->n; i++)
		lg_load_settle(load, parcel->partition, parcel->first + i, fate_of(parcel, answer, i));
}

void lg_parcel_give_up(const struct lg_parcel *parcel, struct lg_load *load, bool expected, const char *why)
{
	lg_outcomes_add(&load->outcomes, parcel->illegal, RD_KAFKA_RESP_ERR__TRANSPORT, expected, why);
	for (int32_t i = 0; i < parcel->n; i++)
		lg_load_settle(load, parcel->partition, parcel->first + i, parcel->sent > 0 ? LG_UNKNOWN : LG_NOT_SENT);
}
