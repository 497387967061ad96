/* schemac: reads .msg files (docs/messages.md). */
#include "lib/wire/schemac.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const struct schemac_prim schemac_prims[SCHEMAC_PRIMS] = {
	{"bool", "bool", "KW_BOOL"},
	{"int8", "int8_t", "KW_INT8"},
	{"int16", "int16_t", "KW_INT16"},
	{"uint16", "uint16_t", "KW_UINT16"},
	{"int32", "int32_t", "KW_INT32"},
	{"uint32", "uint32_t", "KW_UINT32"},
	{"int64", "int64_t", "KW_INT64"},
	{"float64", "double", "KW_FLOAT64"},
	{"uuid", "struct kw_uuid", "KW_UUID"},
	[SCHEMAC_STRING] = {"string", "struct kw_str", "KW_STRING"},
	{"bytes", "struct kw_bytes", "KW_BYTES"},
	{"records", "struct kw_records", "KW_RECORDS"},
};

static const struct { const char *word, *constant; } kinds[] = {
	{"request", "KW_REQUEST"}, {"response", "KW_RESPONSE"}, {"header", "KW_HEADER"},
	{"metadata", "KW_METADATA_RECORD"}, {"coordinator-key", "KW_COORDINATOR_KEY"},
	{"coordinator-value", "KW_COORDINATOR_VALUE"}, {"data", "KW_DATA"},
};

static int number(const char **s)
{
	char *end;
	long v = strtol(*s, &end, 10);

	if (end == *s || v < 0 || v > 32767)
		schemac_die("a number of 0 to 32767 is expected at \"%s\"", *s);
	*s = end;
	return (int)v;
}

/* "3", "3+", "3-5" or "none" */
static struct range parse_range(const char *s)
{
	struct range r = {0, -1};
	const char *p = s;

	if (strcmp(s, "none") == 0)
		return r;
	r.min = r.max = number(&p);
	if (*p == '+' && !p[1])
		r.max = 32767;
	else if (*p == '-') {
		p++;
		r.max = number(&p);
		if (*p || r.max < r.min)
			schemac_die("bad version range \"%s\"", s);
	} else if (*p)
		schemac_die("bad version range \"%s\"", s);
	return r;
}

static struct type parse_type(char *s)
{
	struct type t = {.prim = -1};

	if (strncmp(s, "[]", 2) == 0) {
		t.array = true;
		s += 2;
	}
	t.base = s;
	for (int i = 0; i < SCHEMAC_PRIMS; i++)
		if (strcmp(schemac_prims[i].schema, s) == 0)
			t.prim = i;
	if (t.prim < 0 && !isupper((unsigned char)*s))
		schemac_die("unknown type \"%s\"", s);
	return t;
}

static void parse_attribute(struct field *f, char *a)
{
	const char *v = strchr(a, '=');
	size_t n = v ? (size_t)(v - a) : strlen(a);

	if (v)
		v++;
	if (n == 9 && memcmp(a, "ignorable", 9) == 0)
		f->ignorable = true;
	else if (n == 3 && memcmp(a, "key", 3) == 0)
		f->key = true;
	else if (!v)
		schemac_die("unknown attribute \"%s\"", a);
	else if (n == 4 && memcmp(a, "null", 4) == 0)
		f->nullable = parse_range(v);
	else if (n == 3 && memcmp(a, "tag", 3) == 0) {
		f->tag = number(&v);
		if (*v++ != ':')
			schemac_die("tag=N:RANGE is expected, not \"%s\"", a);
		f->tagged = parse_range(v);
	} else if (n == 7 && memcmp(a, "default", 7) == 0)
		f->def = v;
	else if (n == 8 && memcmp(a, "flexible", 8) == 0 && strcmp(v, "none") == 0)
		f->never_compact = true;
	else if (n == 5 && memcmp(a, "alias", 5) == 0)
		f->alias = v;
	else if (!(n == 6 && memcmp(a, "entity", 6) == 0))
		schemac_die("unknown attribute \"%s\"", a);
}

struct strct *schemac_find(struct msg *m, const char *name)
{
	for (int i = 0; i < m->ns; i++)
		if (strcmp(m->s[i].name, name) == 0)
			return &m->s[i];
	return NULL;
}

static struct strct *add_struct(struct msg *m, const char *name)
{
	if (m->ns == MAX_STRUCTS)
		schemac_die("more than %d structs in one message", MAX_STRUCTS);
	if (schemac_find(m, name))
		schemac_die("struct %s is defined twice", name);
	m->s[m->ns].name = name;
	return &m->s[m->ns++];
}

static struct field *add_field(struct strct *st, char **w, int n)
{
	struct field *f;

	if (n < 3)
		schemac_die("a field is: Name type versions [attributes]");
	if (st->n == MAX_FIELDS)
		schemac_die("more than %d fields in struct %s", MAX_FIELDS, st->name);
	f = &st->f[st->n++];
	f->name = w[0];
	f->type = parse_type(w[1]);
	f->versions = parse_range(w[2]);
	f->nullable = f->tagged = (struct range){0, -1};
	f->tag = -1;
	for (int i = 3; i < n; i++)
		parse_attribute(f, w[i]);
	return f;
}

static void parse_header(struct msg *m, char **w, int n)
{
	const char *value;

	if (n < 2)
		schemac_die("\"%s\" needs a value", w[0]);
	value = w[1];
	if (strcmp(w[0], "message") == 0) {
		m->name = w[1];
		add_struct(m, w[1]);
	} else if (strcmp(w[0], "alias") == 0)
		m->alias = w[1];
	else if (strcmp(w[0], "kind") == 0) {
		for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
			if (strcmp(kinds[i].word, w[1]) == 0)
				m->kind = kinds[i].constant;
		if (!m->kind)
			schemac_die("unknown kind \"%s\"", w[1]);
	} else if (strcmp(w[0], "key") == 0)
		m->key = number(&value);
	else if (strcmp(w[0], "versions") == 0)
		m->versions = parse_range(w[1]);
	else if (strcmp(w[0], "flexible") == 0)
		m->flexible = parse_range(w[1]);
	else if (strcmp(w[0], "listeners") == 0) {
		for (int i = 1; i < n; i++)
			m->listeners |= strcmp(w[i], "broker") == 0 ? 1u : strcmp(w[i], "controller") == 0 ? 2u : 0u;
	} else
		schemac_die("unknown line \"%s\"", w[0]);
}

static int split(char *line, char **w)
{
	char *p;
	int n = 0;

	while ((p = strsep(&line, " \t\r"))) {
		if (*p == '#')
			break;
		if (*p == '\0')
			continue;
		if (n == MAX_WORDS)
			schemac_die("too many words");
		w[n++] = p;
	}
	return n;
}

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	long size;
	char *text;

	if (!f || fseek(f, 0, SEEK_END) < 0 || (size = ftell(f)) < 0)
		schemac_die("cannot be opened");
	rewind(f);
	text = calloc(1, (size_t)size + 1);
	if (!text)
		schemac_die("out of memory");
	if (fread(text, 1, (size_t)size, f) != (size_t)size)
		schemac_die("cannot be read");
	fclose(f);
	return text;
}

static int depth_of(const char *line)
{
	return (int)strspn(line, "\t");
}

/* A field or a struct; `at` has the struct whose fields stand at each depth, `next` is the line below. */
static void parse_body(struct msg *m, struct strct **at, int depth, char **w, int n, const char *next)
{
	struct field *f;

	if (depth == 0 && strcmp(w[0], "struct") == 0) {
		if (n < 2)
			schemac_die("struct needs a name");
		at[1] = add_struct(m, w[1]);
		return;
	}
	if (depth >= MAX_DEPTH - 1 || !at[depth])
		schemac_die("this indentation has no struct above it");
	f = add_field(at[depth], w, n);
	at[depth + 1] = NULL;
	/* A common struct comes later in the file; an inline one has its fields right below. */
	if (f->type.prim < 0 && next && depth_of(next) > depth && !schemac_find(m, f->type.base))
		at[depth + 1] = add_struct(m, f->type.base);
}

void schemac_parse(struct msg *m)
{
	struct strct *at[MAX_DEPTH] = {NULL};
	char *line, *next = m->text, *w[MAX_WORDS];
	bool header = true;

	m->key = -1;
	m->versions = m->flexible = (struct range){0, -1};
	while ((line = strsep(&next, "\n"))) {
		int depth = depth_of(line), n;

		schemac_line++;
		header &= !(*line == '\0' && m->name);   /* the first blank line ends it */
		n = split(line, w);
		if (n == 0)
			continue;
		if (header)
			parse_header(m, w, n);
		else
			parse_body(m, at, depth, w, n, next);
		at[0] = &m->s[0];
	}
	if (!m->name || !m->kind)
		schemac_die("the lines \"message\" and \"kind\" are missing");
}

void schemac_parse_file(struct msg *m, const char *path)
{
	schemac_file = m->file = path;
	schemac_line = 0;
	m->text = read_file(path);
	schemac_parse(m);
}
