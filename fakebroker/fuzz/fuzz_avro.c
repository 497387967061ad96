/* A number of a schema, then bytes: what passes for a value of that schema is one to libavro, too, to the last byte.
 * Then the same bytes as a record's value, which PayloadSchema and AvroSchema judge. */
#include <avro.h>

#include "fakebroker/hooks/avro_value.h"
#include "fakebroker/hooks/validators.h"
#include "lib/text/fuzz/fuzz.h"
#include "lib/wire/errors.h"

FUZZ_TARGET

#define FOLDER "fixtures/schemas/registry"
#define MEMORY_MAX (64u << 20)

#define NODE "{\"type\": \"record\", \"name\": \"Node\", \"fields\": [{\"name\": \"name\", \"type\": \"string\"}," \
	     " {\"name\": \"nodes\", \"type\": {\"type\": \"array\", \"items\": \"Node\"}}]}"

static const char *const texts[] = {
	"[\"null\", \"boolean\", \"int\", \"long\", \"float\", \"double\", \"bytes\", \"string\"]",
	NODE,
	"{\"type\": \"map\", \"values\": {\"type\": \"array\", \"items\": [\"null\", \"bytes\"]}}",
	"{\"type\": \"array\", \"items\": \"null\"}",
	"{\"type\": \"array\", \"items\": {\"type\": \"fixed\", \"name\": \"F\", \"size\": 3}}",
	"{\"type\": \"array\", \"items\": {\"type\": \"enum\", \"name\": \"E\", \"symbols\": [\"A\", \"B\"]}}",
};

enum { SCHEMAS = sizeof texts / sizeof texts[0] };

static size_t in_use;

/* libavro may take some memory for what was found to be a value, but no more. */
static void *take(void *arg, void *p, size_t old, size_t size)
{
	(void)arg;
	in_use += size - old;
	FUZZ_CHECK(in_use <= MEMORY_MAX);
	if (size == 0) {
		free(p);
		return NULL;
	}
	return realloc(p, size);
}

static void ask_libavro(avro_value_iface_t *iface, const uint8_t *p, size_t n)
{
	avro_reader_t reader = avro_reader_memory((const char *)p, (int64_t)n);
	avro_value_t value;
	char byte;

	FUZZ_CHECK(avro_generic_value_new(iface, &value) == 0);
	FUZZ_CHECK(avro_value_read(reader, &value) == 0);
	FUZZ_CHECK(avro_read(reader, &byte, 1) != 0);
	avro_value_decref(&value);
	avro_reader_free(reader);
}

static void check(const struct fb_avro_schema *schema, avro_value_iface_t *iface, const uint8_t *p, size_t n)
{
	char text[512] = "", *at;
	struct kassay_text why = {text, sizeof text};

	if (fb_avro_check(schema, p, n, &why)) {
		ask_libavro(iface, p, n);
		return;
	}
	at = strstr(text, "(at byte ");
	FUZZ_CHECK(at && strtoull(at + 9, NULL, 10) <= n);
}

static const char *config(void *arg, const char *name)
{
	(void)arg;
	if (strcmp(name, "record.validator.PayloadSchema.schemas") == 0)
		return FOLDER;
	return strcmp(name, "record.validator.AvroSchema.schemas") == 0 ? "fixtures/schemas/order.avsc" : NULL;
}

static void judge(struct fb_chain *chain, const uint8_t *p, size_t n)
{
	struct fb_batch_place place = {.topic = "t"};
	const struct kw_record record = {.key = {NULL, -1}, .value = {p, (int32_t)n}};
	struct fb_rejection rejection;

	if (fb_chain_validate(chain, &place, 0, &record, &rejection))
		FUZZ_CHECK(rejection.error == KW_ERR_INVALID_RECORD && rejection.text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static struct fb_avro_schema *schemas[SCHEMAS];
	static avro_value_iface_t *ifaces[SCHEMAS];
	static struct fb_chain *payload, *bare;
	char reason[256];
	struct kassay_text why = {reason, sizeof reason};
	const struct fb_hook_env env = {.config = config};

	if (!payload) {
		avro_set_allocator(take, NULL);
		FUZZ_CHECK(fb_chain_new("PayloadSchema", &env, &payload, NULL) == 0);
		FUZZ_CHECK(fb_chain_new("AvroSchema", &env, &bare, NULL) == 0);
	}
	for (int i = 0; i < SCHEMAS && !schemas[i]; i++) {
		avro_schema_t schema;

		FUZZ_CHECK(fb_avro_parse(texts[i], strlen(texts[i]), &schemas[i], &why) == 0);
		FUZZ_CHECK(avro_schema_from_json_length(texts[i], strlen(texts[i]), &schema) == 0);
		ifaces[i] = avro_generic_class_from_schema(schema);
		FUZZ_CHECK(ifaces[i]);
	}
	if (n == 0)
		return 0;
	check(schemas[p[0] % SCHEMAS], ifaces[p[0] % SCHEMAS], p + 1, n - 1);
	judge(payload, p, n);
	judge(bare, p, n);
	return 0;
}
