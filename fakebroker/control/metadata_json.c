/* The metadata log as JSON: each record as Kafka's DumpLogSegments shows it. */
#include <ctype.h>

#include "fakebroker/cluster/cluster.h"
#include "fakebroker/control/endpoints.h"
#include "fakebroker/control/listing.h"

/* "RegisterBrokerRecord" becomes "REGISTER_BROKER_RECORD" (MetadataRecordType). */
static void type_name(const char *name, char out[64])
{
	size_t n = 0;

	for (size_t i = 0; name[i] && n < 62; i++) {
		if (i && isupper((unsigned char)name[i]))
			out[n++] = '_';
		out[n++] = (char)toupper((unsigned char)name[i]);
	}
	out[n] = '\0';
}

static int list(void *arg, const struct fb_metadata_record *record)
{
	json_t *data = kw_to_json(record->msg, record->version, record->data, NULL), *json;
	char type[64];
	int added;

	type_name(record->msg->name, type);
	json = json_pack("{s:I, s:I, s:b, s:s, s:i, s:o}", "offset", (json_int_t)record->offset, "timestamp",
			 (json_int_t)record->timestamp, "control", record->control, "type",
			 record->control ? kw_control_name(record->type) : type, "version", record->version, "data",
			 data);
	added = fb_listing_add(arg, json);
	return added > 0 ? 0 : added < 0 ? added : 1;
}

json_t *fb_metadata_json(struct fb_cluster *cluster, int64_t from, int64_t limit)
{
	struct fb_metadata_log *log = &cluster->metadata;
	struct fb_listing listing = {.rows = json_array(), .limit = (size_t)limit};
	json_t *json = NULL;
	int code;

	pthread_rwlock_rdlock(&cluster->lock);
	code = fb_metadata_each(log, from, list, &listing);
	if (code >= 0)
		json = json_pack("{s:I, s:I, s:O}", "logStartOffset", (json_int_t)log->start, "logEndOffset",
				 (json_int_t)log->end, "records", listing.rows);
	pthread_rwlock_unlock(&cluster->lock);
	json_decref(listing.rows);
	return json;
}
