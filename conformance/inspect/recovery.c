/* What a broker notices of a segment when it recovers its log after it was not stopped cleanly. */
#include <inttypes.h>

#include "conformance/inspect/inspect.h"

/* Source: LogSegment.recover. Asked of Kafka 4.4.0: the segment was cut at a batch with a wrong CRC, at one that is cut off,
 * at zeros behind the last one and at a magic of 7; counts, lengths of records and offsets that lie stayed, with a right CRC. */
void cf_inspect_recovery(struct cf_inspector *inspector, const struct kw_slice *bytes)
{
	struct kw_set set = {.p = bytes->p, .n = bytes->n};
	struct cf_place place = {.none = true};
	struct kw_entry entry;
	struct kt_err err = {0};
	char text[400];
	size_t number = 0;
	int code;

	while ((code = kw_set_next(&set, &entry, &err)) > 0 && kw_entry_check(&entry, &err) == 0)
		number++;
	if (code == 0)
		snprintf(text, sizeof text, "keeps all %zu bytes", bytes->n);
	else
		snprintf(text, sizeof text, "cuts the segment at byte %zu (batch %zu): %.240s", entry.at, number, err.text);
	if (code != 0)
		place = (struct cf_place){entry.at, bytes->n - entry.at, false, false};
	cf_tree_leaf(&inspector->tree, &place, "log recovery", json_string(text), text, false);
}
