/* A fakebroker that is started for a while: a process of its own, on free ports. */
#ifndef KASSAY_CONFORMANCE_FAKE_H
#define KASSAY_CONFORMANCE_FAKE_H

#include <sys/types.h>

#include "lib/text/json.h"

enum { CF_FAKE_SAID = 4096 };

struct cf_fake {
	pid_t pid;               /* 0: none runs */
	int log;                 /* a file without a name: its standard error */
	char bootstrap[300];     /* of the first node */
	char journal[200];       /* the file of its observation channel */
	char said[CF_FAKE_SAID]; /* once it has ended: the last whole lines of that, in printable ASCII */
};

struct cf_fake_setup {
	const char *program, *scenario;
	const char *mutant;      /* NULL: none */
	int level;               /* metadata.version; 0: the scenario's */
};

/* Starts the program on free ports of the loopback device, with an observation channel and with sessions of brokers
 * that end soon; waits until it serves. It ends with the thread that started it. Errors: KT_EFILE, KT_ESYS,
 * KT_ETIMEOUT. */
int cf_fake_start(struct cf_fake *fake, const struct cf_fake_setup *setup, struct kt_err *err);
/* Ends it, and fails with KT_ESYS unless it ended as it should. */
int cf_fake_stop(struct cf_fake *fake, struct kt_err *err);

/* What `program --list mutants --json` prints: a new value, NULL with err. Its standard error is the caller's. */
json_t *cf_fake_mutants(const char *program, struct kt_err *err);

#endif
