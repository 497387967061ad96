/* Puts the requests of a table to a running Kafka and writes the table with its answers, a step a line: how
 * data/old_versions_kafka_3.9.0.json, data/transactions_kafka_4.4.0.json and data/reading_kafka_4.4.0.json were made.
 * The broker must be fresh. COMMAND stops and starts it where a step says {"restart": true}.
 *
 *   measure_old HOST:PORT TABLE.json [COMMAND] > ANSWERED.json */
#include <stdlib.h>

#include "fakebroker/tests/conversation.h"

int main(int argc, char **argv)
{
	struct conversation talk = {.port = 0};
	struct kt_err err = {0};
	json_t *table, *step, *answer;
	char line[1200];
	size_t i;

	if (argc < 3 || argc > 4 || kc_parse_address(argv[1], talk.host, sizeof talk.host, &talk.port, &err) < 0 ||
	    !(table = json_load_file(argv[2], JSON_REJECT_DUPLICATES, NULL))) {
		fprintf(stderr, "usage: measure_old HOST:PORT TABLE.json [COMMAND]\n");
		return 2;
	}
	printf("{\"about\": \"%s\",\n\"steps\": [\n", json_string_value(json_object_get(table, "about")));
	json_array_foreach(json_object_get(table, "steps"), i, step) {
		if (json_object_get(step, "restart")) {
			conversation_end(&talk);
			if (argc < 4 || system(argv[3]) != 0) {
				fprintf(stderr, "step %zu: the broker was not started again\n", i);
				return 3;
			}
		} else {
			answer = conversation_put(&talk, step, &err);
			if (!answer) {
				fprintf(stderr, "step %zu: %s\n", i, kt_err_line(&err, line, sizeof line));
				return 3;
			}
			if (json_object_get(step, "until"))
				json_decref(answer);
			else
				json_object_set_new(step, "answer", answer);
		}
		printf("%s", i ? ",\n" : "");
		json_dumpf(step, stdout, JSON_COMPACT);
	}
	printf("\n]}\n");
	conversation_end(&talk);
	json_decref(table);
	return 0;
}
