/* Inside of the schema compiler: a message as its .msg file describes it, read by schemac_read.c and written as C by
 * schemac_write.c. Names point into the file's text. What is wrong ends the program. */
#ifndef KASSAY_WIRE_SCHEMAC_H
#define KASSAY_WIRE_SCHEMAC_H

#include <stdbool.h>
#include <stdio.h>

enum { MAX_FIELDS = 64, MAX_STRUCTS = 48, MAX_DEPTH = 12, MAX_WORDS = 16 };

struct range {
	int min, max;   /* max 32767 = open; empty when min > max */
};

struct type {
	bool array;
	const char *base;     /* "int32" or a struct name */
	int prim;             /* index in prims, or -1 */
};

struct field {
	const char *name, *alias, *def;
	struct type type;
	struct range versions, nullable, tagged;
	int tag;
	bool ignorable, key, never_compact;
};

struct strct {
	const char *name;
	struct field f[MAX_FIELDS];
	int n;
	bool open, emitted;   /* in kw_messages.h: what it contains comes first */
};

struct msg {
	const char *file;
	char *text;           /* of the file, cut into words: all names point into it */
	const char *name, *alias;
	const char *kind;
	int key;
	unsigned listeners;
	struct range versions, flexible;
	struct strct s[MAX_STRUCTS];   /* [0] is the root */
	int ns;
};

/* Types that are no structs: their word, and what they are in C and in the tables. */
enum { SCHEMAC_STRING = 9, SCHEMAC_PRIMS = 12 };
extern const struct schemac_prim { const char *schema, *ctype, *constant; } schemac_prims[SCHEMAC_PRIMS];

/* Where the compiler is, for what it says: a file, and a line of it or 0. */
extern const char *schemac_file;
extern int schemac_line;
void schemac_die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* m is zeroed but for m->text, which is cut up. */
void schemac_parse(struct msg *m);
/* The same of a file; m->text is the caller's to free. */
void schemac_parse_file(struct msg *m, const char *path);
/* The struct of that name, or NULL. */
struct strct *schemac_find(struct msg *m, const char *name);

/* kw_messages.h and kw_tables.c of n messages. The files are closed. */
void schemac_put_header(FILE *h, struct msg *msgs, int n);
void schemac_put_source(FILE *c, struct msg *msgs, int n);

#endif
