#include "conformance/pcap/answer.h"

enum { SIZE_FIELD = 4, CORRELATION = 4, API_VERSIONS = 18, UNSUPPORTED_VERSION = 35 };

int cf_answer_version(int api, int version, const struct kw_slice *frame)
{
	bool unsupported = api == API_VERSIONS && frame->n >= SIZE_FIELD + CORRELATION + 2 &&
			   kw_rd16(frame->p + SIZE_FIELD + CORRELATION) == UNSUPPORTED_VERSION;

	return unsupported ? 0 : version;
}

bool cf_answer_known(int api, int version)
{
	const struct kw_msg *msg = kw_response(api);

	return msg && version >= msg->versions.min && version <= msg->versions.max;
}

int cf_answer_map(struct kw_map *map, int api, int version, const struct kw_slice *frame)
{
	map->base = frame->p + SIZE_FIELD;
	return kw_map_response(map, api, version, frame->p + SIZE_FIELD, frame->n - SIZE_FIELD, NULL, NULL);
}

int cf_answer_error(const struct kw_map *map, const struct kw_span *span)
{
	static const char name[] = "errorcode";
	size_t n = strlen(span->path);

	if (span->type != KW_INT16 || span->end - span->start != 2 || n < sizeof name - 1 ||
	    strcasecmp(span->path + n - (sizeof name - 1), name) != 0)
		return 0;
	return (int16_t)kw_rd16(map->base + span->start);
}
