/* schemac: compiles the .msg files of lib/wire/schema into C structs (kw_messages.h) and field tables (kw_tables.c).
 *
 * The text form is described in docs/messages.md. Every error names file and line.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static const struct { const char *schema, *ctype, *constant; } prims[] = {
	{"bool", "bool", "KW_BOOL"},
	{"int8", "int8_t", "KW_INT8"},
	{"int16", "int16_t", "KW_INT16"},
	{"uint16", "uint16_t", "KW_UINT16"},
	{"int32", "int32_t", "KW_INT32"},
	{"uint32", "uint32_t", "KW_UINT32"},
	{"int64", "int64_t", "KW_INT64"},
	{"float64", "double", "KW_FLOAT64"},
	{"uuid", "struct kw_uuid", "KW_UUID"},
	{"string", "struct kw_str", "KW_STRING"},
	{"bytes", "struct kw_bytes", "KW_BYTES"},
	{"records", "struct kw_records", "KW_RECORDS"},
};
enum { NPRIMS = sizeof prims / sizeof prims[0], P_STRING = 9 };

static const struct { const char *word, *constant; } kinds[] = {
	{"request", "KW_REQUEST"}, {"response", "KW_RESPONSE"}, {"header", "KW_HEADER"},
	{"metadata", "KW_METADATA_RECORD"}, {"coordinator-key", "KW_COORDINATOR_KEY"},
	{"coordinator-value", "KW_COORDINATOR_VALUE"}, {"data", "KW_DATA"},
};

static const char *cur_file;
static int cur_line;

__attribute__((noreturn, format(printf, 1, 2)))
static void die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "schemac: %s:%d: ", cur_file, cur_line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static int number(const char **s)
{
	char *end;
	long v = strtol(*s, &end, 10);

	if (end == *s || v < 0 || v > 32767)
		die("a number of 0 to 32767 is expected at \"%s\"", *s);
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
			die("bad version range \"%s\"", s);
	} else if (*p)
		die("bad version range \"%s\"", s);
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
	for (int i = 0; i < NPRIMS; i++)
		if (strcmp(prims[i].schema, s) == 0)
			t.prim = i;
	if (t.prim < 0 && !isupper((unsigned char)*s))
		die("unknown type \"%s\"", s);
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
		die("unknown attribute \"%s\"", a);
	else if (n == 4 && memcmp(a, "null", 4) == 0)
		f->nullable = parse_range(v);
	else if (n == 3 && memcmp(a, "tag", 3) == 0) {
		f->tag = number(&v);
		if (*v++ != ':')
			die("tag=N:RANGE is expected, not \"%s\"", a);
		f->tagged = parse_range(v);
	} else if (n == 7 && memcmp(a, "default", 7) == 0)
		f->def = v;
	else if (n == 8 && memcmp(a, "flexible", 8) == 0 && strcmp(v, "none") == 0)
		f->never_compact = true;
	else if (n == 5 && memcmp(a, "alias", 5) == 0)
		f->alias = v;
	else if (!(n == 6 && memcmp(a, "entity", 6) == 0))
		die("unknown attribute \"%s\"", a);
}

static struct strct *look_up(struct msg *m, const char *name)
{
	for (int i = 0; i < m->ns; i++)
		if (strcmp(m->s[i].name, name) == 0)
			return &m->s[i];
	return NULL;
}

static struct strct *add_struct(struct msg *m, const char *name)
{
	if (m->ns == MAX_STRUCTS)
		die("more than %d structs in one message", MAX_STRUCTS);
	if (look_up(m, name))
		die("struct %s is defined twice", name);
	m->s[m->ns].name = name;
	return &m->s[m->ns++];
}

static struct field *add_field(struct strct *st, char **w, int n)
{
	struct field *f;

	if (n < 3)
		die("a field is: Name type versions [attributes]");
	if (st->n == MAX_FIELDS)
		die("more than %d fields in struct %s", MAX_FIELDS, st->name);
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
		die("\"%s\" needs a value", w[0]);
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
			die("unknown kind \"%s\"", w[1]);
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
		die("unknown line \"%s\"", w[0]);
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
			die("too many words");
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
		die("cannot be opened");
	rewind(f);
	text = calloc(1, (size_t)size + 1);
	if (!text)
		die("out of memory");
	if (fread(text, 1, (size_t)size, f) != (size_t)size)
		die("cannot be read");
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
			die("struct needs a name");
		at[1] = add_struct(m, w[1]);
		return;
	}
	if (depth >= MAX_DEPTH - 1 || !at[depth])
		die("this indentation has no struct above it");
	f = add_field(at[depth], w, n);
	at[depth + 1] = NULL;
	/* A common struct comes later in the file; an inline one has its fields right below. */
	if (f->type.prim < 0 && next && depth_of(next) > depth && !look_up(m, f->type.base))
		at[depth + 1] = add_struct(m, f->type.base);
}

/* m is zeroed and keeps m->text, which is cut up. */
static void parse_text(struct msg *m)
{
	struct strct *at[MAX_DEPTH] = {NULL};
	char *line, *next = m->text, *w[MAX_WORDS];
	bool header = true;

	m->key = -1;
	m->versions = m->flexible = (struct range){0, -1};
	while ((line = strsep(&next, "\n"))) {
		int depth = depth_of(line), n;

		cur_line++;
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
		die("the lines \"message\" and \"kind\" are missing");
}

static void parse_file(struct msg *m, const char *path)
{
	cur_file = m->file = path;
	cur_line = 0;
	m->text = read_file(path);
	parse_text(m);
}

/* ---- output ---- */

static struct strct *find_struct(struct msg *m, const char *name)
{
	struct strct *s = look_up(m, name);

	if (s)
		return s;
	cur_file = m->file;
	die("struct %s is not defined", name);
}

static const char *lower(const char *name)
{
	static char buf[128];

	snprintf(buf, sizeof buf, "%s", name);
	buf[0] = (char)tolower((unsigned char)buf[0]);
	return buf;
}

static void struct_name(char *buf, size_t size, const struct msg *m, const struct strct *s)
{
	if (s == &m->s[0])
		snprintf(buf, size, "kw_%s", m->name);
	else
		snprintf(buf, size, "kw_%s_%s", m->name, s->name);
}

static bool default_null(const struct field *f)
{
	return f->def && strcmp(f->def, "null") == 0;
}

/* A struct that can be null; kw_is_pointer in plan.h. */
static bool is_pointer(const struct field *f)
{
	return f->type.prim < 0 && !f->type.array && f->nullable.min <= f->nullable.max;
}

static void emit_struct(FILE *h, struct msg *m, struct strct *s)
{
	char name[256], sub[256];

	if (s->emitted)
		return;
	if (s->open) {
		cur_file = m->file;
		die("struct %s contains itself", s->name);
	}
	s->open = true;
	for (int i = 0; i < s->n; i++)
		if (s->f[i].type.prim < 0)
			emit_struct(h, m, find_struct(m, s->f[i].type.base));
	s->emitted = true;
	struct_name(name, sizeof name, m, s);
	fprintf(h, "struct %s {\n", name);
	for (int i = 0; i < s->n; i++) {
		const struct field *f = &s->f[i];
		const char *type = f->type.prim >= 0 ? prims[f->type.prim].ctype : sub;

		if (f->type.prim < 0) {
			char n[240];
			struct_name(n, sizeof n, m, find_struct(m, f->type.base));
			snprintf(sub, sizeof sub, "struct %s", n);
		}
		if (f->type.array)
			fprintf(h, "\tstruct { %s *v; int32_t n; } %s;\n", type, lower(f->name));
		else if (is_pointer(f))
			fprintf(h, "\t%s *%s;   /* NULL = null */\n", type, lower(f->name));
		else
			fprintf(h, "\t%s %s;\n", type, lower(f->name));
	}
	fprintf(h, "\tstruct kw_tags unknownTags;\n};\n");
}

static long long default_number(const struct msg *m, const struct field *f)
{
	char *end;
	long long v;

	if (!f->def || default_null(f) || strcmp(f->def, "false") == 0)
		return 0;
	if (strcmp(f->def, "true") == 0)
		return 1;
	v = strtoll(f->def, &end, 0);
	if (*end) {
		cur_file = m->file;
		die("field %s: default \"%s\" is not a number", f->name, f->def);
	}
	return v;
}

static void emit_range(FILE *c, const struct msg *m, struct range r)
{
	int max = r.max > m->versions.max ? m->versions.max : r.max;

	if (r.min > max)
		fprintf(c, "{0, -1}, ");
	else
		fprintf(c, "{%d, %d}, ", r.min, max);
}

static void emit_field(FILE *c, struct msg *m, const char *sname, const struct field *f)
{
	bool text = f->type.prim == P_STRING && !f->type.array;
	char sub[256] = "";

	fprintf(c, "\t{\"%s\", ", lower(f->name));
	if (f->alias)
		fprintf(c, "\"%s\", ", lower(f->alias));
	else
		fprintf(c, "NULL, ");
	if (f->type.prim < 0) {
		struct_name(sub, sizeof sub, m, find_struct(m, f->type.base));
		fprintf(c, "&%s_struct, ", sub);
	} else
		fprintf(c, "NULL, ");
	if (text && f->def && !default_null(f))
		fprintf(c, "\"%s\", 0, ", f->def);
	else
		fprintf(c, "NULL, %lld, ", text ? 0 : default_number(m, f));
	emit_range(c, m, f->versions);
	emit_range(c, m, f->nullable);
	emit_range(c, m, f->tagged);
	fprintf(c, "%d, %s, %d%s%s%s%s%s, ", f->tag, f->type.prim < 0 ? "KW_STRUCT" : prims[f->type.prim].constant, 0,
		f->type.array ? " | KW_F_ARRAY" : "", f->ignorable ? " | KW_F_IGNORABLE" : "",
		f->key ? " | KW_F_KEY" : "", f->never_compact ? " | KW_F_NEVER_COMPACT" : "",
		default_null(f) ? " | KW_F_DEFAULT_NULL" : "");
	fprintf(c, "offsetof(struct %s, %s)},\n", sname, lower(f->name));
}

/* The members of a struct that are not zero by default. A nullable struct that is there by default points to its constant. */
static void emit_members(FILE *c, struct msg *m, const struct strct *s)
{
	char sub[256];

	for (int i = 0; i < s->n; i++) {
		const struct field *f = &s->f[i];

		if (f->type.prim < 0)
			struct_name(sub, sizeof sub, m, find_struct(m, f->type.base));
		if (is_pointer(f)) {
			if (!default_null(f))
				fprintf(c, ".%s = (struct %s *)&%s_defaults, ", lower(f->name), sub, sub);
		} else if (f->type.prim < 0 && !f->type.array) {
			fprintf(c, ".%s = {", lower(f->name));
			emit_members(c, m, find_struct(m, f->type.base));
			fprintf(c, ".unknownTags = {NULL, 0}}, ");
		} else if (default_null(f)) {
			fprintf(c, ".%s = {.n = -1}, ", lower(f->name));
		} else if (f->type.prim == P_STRING && !f->type.array) {
			fprintf(c, ".%s = {\"%s\", %zu}, ", lower(f->name), f->def ? f->def : "",
				f->def ? strlen(f->def) : 0);
		} else if (f->def) {
			fprintf(c, ".%s = %lld, ", lower(f->name), default_number(m, f));
		}
	}
}

static void emit_defaults(FILE *c, struct msg *m, const char *sname, const struct strct *s)
{
	fprintf(c, "static const struct %s %s_defaults = {", sname, sname);
	emit_members(c, m, s);
	fprintf(c, ".unknownTags = {NULL, 0}};\n");
}

static void emit_tables(FILE *c, struct msg *m, struct strct *s, int *id)
{
	char name[256];

	if (!s->emitted)
		return;
	s->emitted = false;
	for (int i = 0; i < s->n; i++)
		if (s->f[i].type.prim < 0)
			emit_tables(c, m, find_struct(m, s->f[i].type.base), id);
	struct_name(name, sizeof name, m, s);
	emit_defaults(c, m, name, s);
	if (s->n) {
		fprintf(c, "static const struct kw_field %s_fields[] = {\n", name);
		for (int i = 0; i < s->n; i++)
			emit_field(c, m, name, &s->f[i]);
		fprintf(c, "};\n");
	}
	fprintf(c, "const struct kw_struct %s_struct = {\"%s\", ", name, s->name);
	if (s->n)
		fprintf(c, "%s_fields, %d, ", name, s->n);
	else
		fprintf(c, "NULL, 0, ");
	fprintf(c, "sizeof(struct %s), offsetof(struct %s, unknownTags), %d, &%s_defaults};\n", name, name, (*id)++, name);
}

static FILE *create(const char *dir, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	f = fopen(path, "w");
	cur_file = name;
	cur_line = 0;
	if (!f)
		die("cannot be written");
	return f;
}

static void finish(FILE *f)
{
	if (fclose(f))
		die("cannot be written");
}

static void emit_header(FILE *h, struct msg *msgs, int n)
{
	fprintf(h, "/* Made by schemac from lib/wire/schema. */\n#ifndef KW_MESSAGES_H\n#define KW_MESSAGES_H\n\n"
		   "#include \"lib/wire/message.h\"\n\n");
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < msgs[i].ns; k++)
			emit_struct(h, &msgs[i], &msgs[i].s[k]);
		for (int k = 0; k < msgs[i].ns; k++) {
			char name[256];
			struct_name(name, sizeof name, &msgs[i], &msgs[i].s[k]);
			fprintf(h, "extern const struct kw_struct %s_struct;\n", name);
		}
		fprintf(h, "extern const struct kw_msg kw_msg_%s;\n\n", msgs[i].name);
	}
	fprintf(h, "#endif\n");
	finish(h);
}

static void emit_source(FILE *c, struct msg *msgs, int n)
{
	int id = 0;

	fprintf(c, "/* Made by schemac from lib/wire/schema. */\n"
		   "#include \"kw_messages.h\"\n#include \"lib/wire/plan.h\"\n\n");
	for (int i = 0; i < n; i++) {
		struct msg *m = &msgs[i];

		for (int k = 0; k < m->ns; k++)
			emit_tables(c, m, &m->s[k], &id);
		fprintf(c, "const struct kw_msg kw_msg_%s = {\"%s\", ", m->name, m->name);
		if (m->alias)
			fprintf(c, "\"%s\", ", m->alias);
		else
			fprintf(c, "NULL, ");
		fprintf(c, "&kw_%s_struct, %s, %d, ", m->name, m->kind, m->key);
		emit_range(c, m, m->versions);
		emit_range(c, m, m->flexible);
		fprintf(c, "%u, %d};\n\n", m->listeners, i);
	}
	fprintf(c, "const struct kw_msg *const kw_all_messages[] = {\n");
	for (int i = 0; i < n; i++)
		fprintf(c, "\t&kw_msg_%s,\n", msgs[i].name);
	fprintf(c, "};\nconst size_t kw_all_messages_n = %d;\n", n);
	finish(c);
}

int main(int argc, char **argv)
{
	struct msg *msgs;
	int n = argc - 3;

	if (argc < 4 || strcmp(argv[1], "-o") != 0) {
		fprintf(stderr, "usage: schemac -o DIR FILE.msg...\n");
		return 2;
	}
	cur_file = argv[2];
	msgs = calloc((size_t)n, sizeof *msgs);
	if (!msgs)
		die("out of memory");
	for (int i = 0; i < n; i++)
		parse_file(&msgs[i], argv[i + 3]);
	emit_header(create(argv[2], "kw_messages.h"), msgs, n);
	emit_source(create(argv[2], "kw_tables.c"), msgs, n);
	for (int i = 0; i < n; i++)
		free(msgs[i].text);
	free(msgs);
	return 0;
}
