#include "lib/wire/rules.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/wire/errors.h"

enum who { PRODUCED = 1, STORED = 2, BOTH = 3 };
enum answer { EARLY, FORESEEN, UNFORESEEN };

#define METER(name) offsetof(struct kw_meters, name)
#define NO_METER SIZE_MAX

static const struct {
	int16_t code;
	enum answer answer;
	size_t meter, at, size;
	const char *kafka, *own;
} rules[] = {
#define KW_RULE(sym, who, code, answer, meter, at, size, broken, kafka, own) \
	[sym] = {code, answer, meter, at, size, kafka, own},
#include "lib/wire/rules.def"
#undef KW_RULE
};

int kw_rule_code(enum kw_rule rule)
{
	return rules[rule].code;
}

bool kw_rule_place(enum kw_rule rule, size_t *at, size_t *size)
{
	*at = rules[rule].at;
	*size = rules[rule].size;
	return *size > 0;
}

bool kw_rule_is_unforeseen(enum kw_rule rule)
{
	return rules[rule].answer == UNFORESEEN;
}

size_t kw_rule_meter(enum kw_rule rule)
{
	return rules[rule].meter;
}

const char *kw_meter_name(size_t meter)
{
	static const struct {
		size_t meter;
		const char *name;
	} names[] = {
		{METER(invalidMagicNumberRecords), "InvalidMagicNumberRecordsPerSec"},
		{METER(invalidMessageCrcRecords), "InvalidMessageCrcRecordsPerSec"},
		{METER(invalidOffsetOrSequenceRecords), "InvalidOffsetOrSequenceRecordsPerSec"},
		{METER(noKeyCompactedTopicRecords), "NoKeyCompactedTopicRecordsPerSec"},
		{METER(bytesRejected), "BytesRejectedPerSec"},
		{METER(failedProduceRequests), "FailedProduceRequestsPerSec"},
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].meter == meter)
			return names[i].name;
	return NULL;
}

/* ---- conditions ---- */

#define NOT_HERE false

enum kw_rule kw_rule_broken(enum kw_role role, const struct kw_batch *batch, const struct kw_topic_conf *conf,
			    enum kw_rule from)
{
	enum who asked = role == KW_STORED ? STORED : PRODUCED;
	enum kw_rule end = batch->size < KW_B_RECORDS ? KW_R_NO_HEADER + 1 : KW_RULES;

#define KW_RULE(sym, who, code, answer, meter, at, size, broken, kafka, own) \
	if (sym >= from && sym < end && (who) & asked && (broken)) \
		return sym;
#include "lib/wire/rules.def"
#undef KW_RULE
	return KW_RULES;
}

/* ---- words ---- */

/* X(name in words, number) */
#define KW_RULE_NUMBERS(X)                                                                                    \
	X("length", facts->batch->length)                                                                     \
	X("magic", (int8_t)facts->batch->p[KW_B_MAGIC])                                                       \
	X("wrappedSize", (int32_t)((uint32_t)facts->batch->length + KW_B_LOG_OVERHEAD))                       \
	X("version", facts->version)                                                                          \
	X("codec", kw_rd16(facts->batch->p + KW_B_ATTRIBUTES) & KW_A_CODEC)                                   \
	X("baseOffset", facts->batch->baseOffset)                                                             \
	X("size", (int64_t)(facts->size ? facts->size : facts->batch->size))                                  \
	X("maxMessageBytes", facts->conf->maxMessageBytes)                                                    \
	X("segmentBytes", facts->conf->segmentBytes)                                                          \
	X("storedCrc", kw_rd32(facts->batch->p + KW_B_CRC))                                                   \
	X("lastOffsetDelta", facts->batch->lastOffsetDelta)                                                   \
	X("count", facts->batch->count)                                                                       \
	X("baseSequence", facts->batch->baseSequence)                                                         \
	X("producerId", facts->batch->producerId)

static int64_t number_of(const struct kw_rule_facts *facts, const char *name, size_t n)
{
#define KW_X(word, number)                                          \
	if (n == sizeof word - 1 && memcmp(name, word, n) == 0) \
		return number;
	KW_RULE_NUMBERS(KW_X)
#undef KW_X
	return 0;
}

/* Writes what stands between braces. */
static void put_fact(const struct kw_rule_facts *facts, const char *name, size_t n, char *out, size_t size)
{
	if (n == 2 && memcmp(name, "tp", 2) == 0)
		snprintf(out, size, "%s-%d", facts->topic, facts->partition);
	else
		snprintf(out, size, "%" PRId64, number_of(facts, name, n));
}

char *kw_rule_words(enum kw_rule rule, bool own, const struct kw_rule_facts *facts, char *out, size_t size)
{
	const char *words = own && rules[rule].own ? rules[rule].own : rules[rule].kafka;
	size_t at = 0;

	out[0] = '\0';
	for (const char *s = words ? words : ""; *s && at + 1 < size; s++) {
		size_t n = *s == '{' ? strcspn(s + 1, "}") : 0;

		if (n > 0)
			put_fact(facts, s + 1, n, out + at, size - at);
		else
			snprintf(out + at, size - at, "%c", *s);
		at += strlen(out + at);
		s += n ? n + 1 : 0;
	}
	return out;
}
