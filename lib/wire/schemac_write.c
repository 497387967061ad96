/* schemac: writes C structs and field tables. */
#include "lib/wire/schemac.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static struct strct *find_struct(struct msg *m, const char *name)
{
	struct strct *s = schemac_find(m, name);

	if (s)
		return s;
	schemac_file = m->file;
	schemac_die("struct %s is not defined", name);
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
		schemac_file = m->file;
		schemac_die("struct %s contains itself", s->name);
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
		const char *type = f->type.prim >= 0 ? schemac_prims[f->type.prim].ctype : sub;

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
		schemac_file = m->file;
		schemac_die("field %s: default \"%s\" is not a number", f->name, f->def);
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
	bool text = f->type.prim == SCHEMAC_STRING && !f->type.array;
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
	fprintf(c, "%d, %s, %d%s%s%s%s%s, ", f->tag,
		f->type.prim < 0 ? "KW_STRUCT" : schemac_prims[f->type.prim].constant, 0,
		f->type.array ? " | KW_F_ARRAY" : "", f->ignorable ? " | KW_F_IGNORABLE" : "",
		f->key ? " | KW_F_KEY" : "", f->never_compact ? " | KW_F_NEVER_COMPACT" : "",
		default_null(f) ? " | KW_F_DEFAULT_NULL" : "");
	fprintf(c, "offsetof(struct %s, %s)},\n", sname, lower(f->name));
}

/* The members of a struct that are not zero by default. A nullable struct that is there by default points to its
 * constant. */
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
		} else if (f->type.prim == SCHEMAC_STRING && !f->type.array) {
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

static bool has_text(struct msg *m, const struct field *f)
{
	const struct strct *s = f->type.prim < 0 ? find_struct(m, f->type.base) : NULL;

	for (int i = 0; s && i < s->n; i++)
		if (has_text(m, &s->f[i]))
			return true;
	return f->type.prim == SCHEMAC_STRING;
}

/* Returns how many there are. */
static int emit_texts(FILE *c, struct msg *m, const char *name, const struct strct *s)
{
	int n = 0;

	for (int i = 0; i < s->n; i++)
		if (has_text(m, &s->f[i])) {
			if (n++ == 0)
				fprintf(c, "static const uint8_t %s_texts[] = {", name);
			fprintf(c, "%d, ", i);
		}
	if (n)
		fprintf(c, "};\n");
	return n;
}

static void emit_tables(FILE *c, struct msg *m, struct strct *s, int *id)
{
	char name[256];
	int texts;

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
	texts = emit_texts(c, m, name, s);
	fprintf(c, "const struct kw_struct %s_struct = {\"%s\", ", name, s->name);
	if (s->n)
		fprintf(c, "%s_fields, %d, ", name, s->n);
	else
		fprintf(c, "NULL, 0, ");
	fprintf(c, "sizeof(struct %s), offsetof(struct %s, unknownTags), %d, %d, ", name, name, (*id)++, texts);
	fprintf(c, "%s%s, &%s_defaults};\n", texts ? name : "NULL", texts ? "_texts" : "", name);
}

static void finish(FILE *f)
{
	bool failed = ferror(f) != 0;

	if (fclose(f) || failed)
		schemac_die("cannot be written");
}

void schemac_put_header(FILE *h, struct msg *msgs, int n)
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

void schemac_put_source(FILE *c, struct msg *msgs, int n)
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
