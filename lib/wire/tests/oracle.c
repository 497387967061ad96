#include "lib/wire/tests/oracle.h"

#include <err.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void oracle_open(struct oracle *oracle, const char *class_path)
{
	int to[2], from[2];

	*oracle = (struct oracle){0};
	if (pipe(to) < 0 || pipe(from) < 0 || (oracle->pid = fork()) < 0)
		err(3, "cannot start java");
	if (oracle->pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		close(to[0]);
		close(to[1]);
		close(from[0]);
		close(from[1]);
		execlp("java", "java", "-XX:+UseSerialGC", "-cp", class_path, "fixtures/oracle/KafkaCodec.java",
		       (char *)NULL);
		err(3, "java");
	}
	close(to[0]);
	close(from[1]);
	oracle->to = fdopen(to[1], "w");
	oracle->from = fdopen(from[0], "r");
	if (!oracle->to || !oracle->from)
		err(3, "cannot start java");
}

void oracle_close(struct oracle *oracle)
{
	fclose(oracle->to);
	fclose(oracle->from);
	waitpid(oracle->pid, NULL, 0);
	free(oracle->line);
	free(oracle->words);
}

static void split(struct oracle *oracle)
{
	char *next = oracle->line;

	oracle->nwords = 0;
	strsep(&next, "\t");
	while (next) {
		if (oracle->nwords == oracle->capwords) {
			oracle->capwords = oracle->capwords ? 2 * oracle->capwords : 8;
			oracle->words = realloc(oracle->words, oracle->capwords * sizeof *oracle->words);
			if (!oracle->words)
				err(3, "answer of java");
		}
		oracle->words[oracle->nwords++] = strsep(&next, "\t");
	}
}

bool oracle_ask(struct oracle *oracle, const char *fmt, ...)
{
	va_list ap;
	ssize_t n;

	va_start(ap, fmt);
	vfprintf(oracle->to, fmt, ap);
	va_end(ap);
	fputc('\n', oracle->to);
	fflush(oracle->to);
	n = getline(&oracle->line, &oracle->cap, oracle->from);
	if (n < 3)
		errx(3, "java has ended");
	oracle->line[n - 1] = '\0';
	split(oracle);
	if (oracle->nwords == 0)
		errx(3, "java answered '%s'", oracle->line);
	return strcmp(oracle->line, "ok") == 0;
}
