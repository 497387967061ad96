/* Decodes a Produce request, a whole frame as hex on standard input, and prints what it brings. */
#include <stdio.h>
#include "kw_messages.h"
#include "lib/text/base64.h"
#include "lib/wire/set.h"

static int print_record(void *arg, int32_t index, const struct kw_item *item)
{
	(void)arg;
	printf("  record %d, offset %lld: key of %d bytes, value of %d\n", index, (long long)item->offset, item->key.n, item->value.n);
	return 0;
}

static void print_partition(struct kw_str topic, const struct kw_ProduceRequest_PartitionProduceData *data)
{
	struct kw_set set = {.p = data->records.p, .n = data->records.n > 0 ? (size_t)data->records.n : 0};
	struct kw_entry entry;
	enum kw_walk why;

	printf(" topic %.*s, partition %d\n", topic.n, topic.s, data->index);
	while (kw_set_next(&set, &entry, NULL) > 0) {
		printf("  magic %d, %zu bytes, CRC %s\n", entry.magic, entry.size, kw_entry_check(&entry, NULL) ? "wrong" : "right");
		kw_entry_walk(&entry, NULL, print_record, NULL, &why, NULL);
	}
}

static int print_request(const uint8_t *p, size_t n, struct kw_arena *arena, struct kt_err *err)
{
	int api = n < 8 ? -1 : p[4] << 8 | p[5], version = n < 8 ? -1 : p[6] << 8 | p[7];
	void *header, *body;
	size_t used;

	if (api != kw_api_key("Produce"))
		return kt_fail(err, KT_EUSAGE, "no Produce request");
	if (kw_decode(&kw_msg_RequestHeader, kw_request_header_version(api, version), p + 4, n - 4, arena, &header, &used, err) ||
	    kw_decode(&kw_msg_ProduceRequest, version, p + 4 + used, n - 4 - used, arena, &body, NULL, err))
		return err->code;
	const struct kw_str client = ((struct kw_RequestHeader *)header)->clientId;
	const struct kw_ProduceRequest *request = body;
	printf("Produce version %d from \"%.*s\", acks %d\n", version, client.n, client.s, request->acks);
	for (int32_t t = 0; t < request->topicData.n; t++)
		for (int32_t i = 0; i < request->topicData.v[t].partitionData.n; i++)
			print_partition(request->topicData.v[t].name, &request->topicData.v[t].partitionData.v[i]);
	return 0;
}

int main(void)
{
	static char hex[1 << 20], line[1280];
	static uint8_t frame[sizeof hex / 2];
	long n = kt_hex_decode(hex, fread(hex, 1, sizeof hex, stdin), frame);
	struct kt_err err = {0};
	struct kw_arena arena;

	kw_arena_init(&arena, 64 << 20);
	if (print_request(frame, n < 0 ? 0 : (size_t)n, &arena, &err))
		fprintf(stderr, "%s\n", kt_err_line(&err, line, sizeof line));
	kw_arena_fini(&arena);
	return err.code != 0;
}
