/* Validators that know schemas: of bare Avro, and of the wire format of schema registries. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "fakebroker/hooks/avro_value.h"
#include "fakebroker/hooks/builtin_validators.h"
#include "fakebroker/hooks/schema_folder.h"

/* ---- AvroSchema ---- */

struct avro {
	struct fb_parts parts;
	size_t n;
	struct fb_avro_schema *schemas[];
};

const struct kassay_option fb_avro_schema_options[] = {
	{"schemas", NULL, "files with an Avro schema in JSON, comma-separated; one of them must fit"},
	FB_PART_OPTIONS("false"),
	{0},
};

static int read_schemas(struct avro *self, const char *list, struct kassay_text *why)
{
	char file[4096];
	int rc;

	while ((rc = fb_list_next(&list, file, sizeof file)) != 0) {
		if (rc < 0 || !*file) {
			snprintf(why->text, why->size, "option schemas has an entry that is %s",
				 *file ? "too long" : "empty");
			return -1;
		}
		if (fb_avro_read(file, &self->schemas[self->n], why) < 0)
			return -1;
		self->n++;
	}
	return 0;
}

int fb_avro_schema_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	const char *list;
	struct fb_parts parts;
	struct avro *self;

	if (fb_option_text(host, "schemas", &list, why) < 0 || fb_option_parts(host, false, &parts, why) < 0)
		return -1;
	self = fb_validator_alloc(sizeof *self + fb_list_entries(list) * sizeof *self->schemas, why);
	if (!self)
		return -1;
	self->parts = parts;
	if (read_schemas(self, list, why) < 0) {
		fb_avro_schema_close(self);
		return -1;
	}
	*instance = self;
	return 0;
}

static int check_avro(const void *self, struct kassay_bytes bytes, const char *what, struct kassay_verdict *verdict)
{
	const struct avro *avro = self;
	char text[512];
	struct kassay_text why = {text, sizeof text};

	for (size_t i = 0; i < avro->n; i++)
		if (fb_avro_check(avro->schemas[i], bytes.data, (size_t)bytes.size, &why))
			return KASSAY_OK;
	if (avro->n > 1)
		return fb_validator_refuse(verdict,
					   "AvroSchema: the %s is of none of the %zu schemas; not %s: %s", what,
					   avro->n, fb_avro_name(avro->schemas[avro->n - 1]), text);
	return fb_validator_refuse(verdict, "AvroSchema: the %s is not of schema %s: %s", what,
				   fb_avro_name(avro->schemas[0]), text);
}

int fb_avro_schema(void *instance, const struct kassay_record *record, struct kassay_verdict *verdict)
{
	const struct avro *self = instance;

	return fb_check_parts(&self->parts, "AvroSchema", record, check_avro, self, verdict);
}

void fb_avro_schema_close(void *instance)
{
	struct avro *self = instance;

	while (self->n > 0)
		fb_avro_free(self->schemas[--self->n]);
	free(self);
}

/* ---- the wire format: a zero byte, the schema's number in four bytes, the payload ---- */

enum { HEADER = 5 };

/* False, with the verdict told, if there is none. */
static bool read_header(const char *name, struct kassay_bytes bytes, const char *what, uint32_t *id,
			struct kassay_verdict *verdict)
{
	const uint8_t *p = bytes.data;

	if (bytes.size < HEADER) {
		fb_validator_refuse(verdict, "%s: the %s has %d bytes, too few for a schema's number", name, what,
				    (int)bytes.size);
		return false;
	}
	if (p[0] != 0) {
		fb_validator_refuse(verdict, "%s: the %s begins with byte 0x%02x, not with 0x00", name, what, p[0]);
		return false;
	}
	*id = (uint32_t)p[1] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 8 | p[4];
	return true;
}

/* ---- SchemaId ---- */

struct schema_id {
	struct fb_parts parts;
	struct fb_schema_ids ids;
};

const struct kassay_option fb_schema_id_options[] = {
	{"ids", "", "numbers of the schemas that are allowed, comma-separated"},
	{"ids.file", "", "a file with such numbers, one a line, # begins a comment; besides ids, or instead"},
	FB_PART_OPTIONS("false"),
	{0},
};

int fb_schema_id_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	const char *list = host->option(host, "ids"), *file = host->option(host, "ids.file");
	struct fb_parts parts;
	struct schema_id *self;

	if (!list && !file) {
		snprintf(why->text, why->size, "one of the options ids and ids.file must be set");
		return -1;
	}
	if (fb_option_parts(host, false, &parts, why) < 0)
		return -1;
	self = fb_validator_alloc(sizeof *self, why);
	if (!self)
		return -1;
	self->parts = parts;
	if ((list && fb_schema_ids_list(&self->ids, list, why) < 0) ||
	    (file && fb_schema_ids_file(&self->ids, file, why) < 0)) {
		fb_schema_id_close(self);
		return -1;
	}
	fb_schema_ids_sort(&self->ids);
	*instance = self;
	return 0;
}

static int check_id(const void *self, struct kassay_bytes bytes, const char *what, struct kassay_verdict *verdict)
{
	const struct schema_id *schema_id = self;
	uint32_t id;

	if (!read_header("SchemaId", bytes, what, &id, verdict))
		return KASSAY_REFUSE;
	if (fb_schema_ids_have(&schema_id->ids, id))
		return KASSAY_OK;
	return fb_validator_refuse(verdict, "SchemaId: schema %u is not allowed for the %s", (unsigned)id, what);
}

int fb_schema_id(void *instance, const struct kassay_record *record, struct kassay_verdict *verdict)
{
	const struct schema_id *self = instance;

	return fb_check_parts(&self->parts, "SchemaId", record, check_id, self, verdict);
}

void fb_schema_id_close(void *instance)
{
	struct schema_id *self = instance;

	free(self->ids.v);
	free(self);
}

/* ---- PayloadSchema ---- */

struct payload_schema {
	struct fb_parts parts;
	struct fb_schema_folder folder;
};

const struct kassay_option fb_payload_schema_options[] = {
	{"schemas", NULL, "a folder of schemas, ID.avsc for Avro and ID.json for JSON, or a file with lines ID = FILE"},
	FB_PART_OPTIONS("false"),
	{0},
};

int fb_payload_schema_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	struct payload_schema *self;
	struct fb_parts parts;
	const char *path;

	if (fb_option_text(host, "schemas", &path, why) < 0 || fb_option_parts(host, false, &parts, why) < 0)
		return -1;
	self = fb_validator_alloc(sizeof *self, why);
	if (!self)
		return -1;
	self->parts = parts;
	if (fb_schema_folder_read(&self->folder, path, why) < 0) {
		fb_payload_schema_close(self);
		return -1;
	}
	*instance = self;
	return 0;
}

static int check_json(struct kassay_bytes payload, const char *what, uint32_t id, struct kassay_verdict *verdict)
{
	json_error_t error;
	json_t *json = json_loadb((const char *)payload.data, (size_t)payload.size, FB_JSON_FLAGS, &error);

	if (!json)
		return fb_validator_refuse(verdict, "PayloadSchema: the %s is not JSON, as schema %u wants it: %s (at "
					   "byte %d of the payload)", what, (unsigned)id, error.text, error.position);
	json_decref(json);
	return KASSAY_OK;
}

static int check_payload(const void *self, struct kassay_bytes bytes, const char *what, struct kassay_verdict *verdict)
{
	const struct payload_schema *payload_schema = self;
	const struct fb_numbered_schema *schema;
	struct kassay_bytes payload;
	char text[512];
	struct kassay_text why = {text, sizeof text};
	uint32_t id;

	if (!read_header("PayloadSchema", bytes, what, &id, verdict))
		return KASSAY_REFUSE;
	payload = (struct kassay_bytes){bytes.data + HEADER, bytes.size - HEADER};
	schema = fb_schema_folder_find(&payload_schema->folder, id);
	if (!schema)
		return fb_validator_refuse(verdict,
					   "PayloadSchema: there is no schema %u for the %s", (unsigned)id, what);
	if (!schema->avro)
		return check_json(payload, what, id, verdict);
	if (fb_avro_check(schema->avro, payload.data, (size_t)payload.size, &why))
		return KASSAY_OK;
	return fb_validator_refuse(verdict, "PayloadSchema: the %s is not of schema %u, %s: %s", what, (unsigned)id,
				   fb_avro_name(schema->avro), text);
}

int fb_payload_schema(void *instance, const struct kassay_record *record, struct kassay_verdict *verdict)
{
	const struct payload_schema *self = instance;

	return fb_check_parts(&self->parts, "PayloadSchema", record, check_payload, self, verdict);
}

void fb_payload_schema_close(void *instance)
{
	struct payload_schema *self = instance;

	fb_schema_folder_fini(&self->folder);
	free(self);
}
