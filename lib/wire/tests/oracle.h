/* Kafka's own codec in a child process: fixtures/oracle/KafkaCodec.java, which describes the line protocol. */
#ifndef KASSAY_WIRE_TESTS_ORACLE_H
#define KASSAY_WIRE_TESTS_ORACLE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct oracle {
	pid_t pid;
	FILE *to, *from;
	char *line;              /* of the last answer */
	size_t cap;
	const char **words;      /* of the last answer; "ok" or "no" is not among them */
	size_t nwords, capwords;
};

/* Starts it with a class path of a release's jars. What fails ends this program with a message. */
void oracle_open(struct oracle *oracle, const char *class_path);
void oracle_close(struct oracle *oracle);
/* Sends a line and waits for the answer: true for "ok". After "no", words[0] is the reason. */
bool oracle_ask(struct oracle *oracle, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
