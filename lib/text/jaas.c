#include "lib/text/jaas.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct reader {
	char *in, *end;            /* what is still to be read */
	char *out;                 /* where the next word goes */
	bool quoted;               /* the last word was: it is no punctuation */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static char unescaped(char c)
{
	static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
	const char *found = c ? strchr(from, c) : NULL;

	return found ? to[found - from] : c;
}

static char *read_quoted(struct reader *reader)
{
	char quote = *reader->in++, *word = reader->out;

	while (reader->in < reader->end && *reader->in != quote) {
		char c = *reader->in++;

		if (c == '\\' && reader->in < reader->end)
			c = unescaped(*reader->in++);
		*reader->out++ = c;
	}
	if (reader->in == reader->end)
		return NULL;
	reader->in++;
	*reader->out++ = '\0';
	return word;
}

/* The next word; "=" and ";" are words of their own. NULL at the end, or when a quotation does not end. */
static char *next_word(struct reader *reader)
{
	char *word;

	while (reader->in < reader->end && is_blank(*reader->in))
		reader->in++;
	reader->quoted = reader->in < reader->end && (*reader->in == '"' || *reader->in == '\'');
	if (reader->in == reader->end)
		return NULL;
	if (reader->quoted)
		return read_quoted(reader);
	word = reader->out;
	do
		*reader->out++ = *reader->in++;
	while (reader->in < reader->end && *word != '=' && *word != ';' && !is_blank(*reader->in) &&
	       !strchr("=;\"'", *reader->in));
	return word;
}

static char *take_word(struct reader *reader)
{
	char *word = next_word(reader);

	if (word && !reader->quoted)
		*reader->out++ = '\0';
	return word;
}

static bool is(const struct reader *reader, const char *word, const char *mark)
{
	return word && !reader->quoted && strcmp(word, mark) == 0;
}

static bool is_flag(const char *word)
{
	static const char *const flags[] = {"required", "requisite", "sufficient", "optional"};

	for (size_t i = 0; word && i < sizeof flags / sizeof *flags; i++)
		if (strcasecmp(word, flags[i]) == 0)
			return true;
	return false;
}

static int read_options(struct kt_jaas *jaas, struct reader *reader, struct kt_err *err)
{
	const char *name, *value;

	while ((name = take_word(reader)) && !is(reader, name, ";")) {
		struct kt_jaas_option *grown = realloc(jaas->v, (jaas->n + 1) * sizeof *grown);

		if (!grown)
			return kt_fail(err, KT_ENOMEM, "out of memory");
		jaas->v = grown;
		if (!is(reader, take_word(reader), "=") || !(value = take_word(reader)) || is(reader, value, ";"))
			return kt_fail(err, KT_ESYNTAX, "option '%s' has no value; write NAME=\"VALUE\"", name);
		jaas->v[jaas->n++] = (struct kt_jaas_option){name, value};
	}
	if (!name)
		return kt_fail(err, KT_ESYNTAX, "the JAAS entry is not terminated by a semicolon");
	if (take_word(reader) || reader->quoted)   /* quoted: it begins, though it does not end */
		return kt_fail(err, KT_ESYNTAX, "there is more than one JAAS entry");
	return 0;
}

int kt_jaas_parse(struct kt_jaas *jaas, const char *text, size_t n, struct kt_err *err)
{
	struct reader reader;
	const char *flag;

	*jaas = (struct kt_jaas){0};
	/* Every byte of the text can be a word of its own, which has a NUL behind it. */
	jaas->text = malloc(3 * n + 1);
	if (!jaas->text)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	reader = (struct reader){.in = jaas->text + 2 * n, .out = jaas->text};
	reader.end = reader.in + n;
	if (n)
		memcpy(reader.in, text, n);
	*reader.end = '\0';
	jaas->module = take_word(&reader);
	if (!jaas->module || is(&reader, jaas->module, ";"))
		return kt_fail(err, KT_ESYNTAX, "a JAAS entry begins with the class of a login module");
	flag = take_word(&reader);
	if (!is_flag(flag))
		return kt_fail(err, KT_ESYNTAX,
			       "the login module is followed by required, requisite, sufficient or optional");
	return read_options(jaas, &reader, err);
}

void kt_jaas_fini(struct kt_jaas *jaas)
{
	free(jaas->v);
	free(jaas->text);
	*jaas = (struct kt_jaas){0};
}

const char *kt_jaas_find(const struct kt_jaas *jaas, const char *name)
{
	for (size_t i = jaas->n; i > 0; i--)
		if (strcmp(jaas->v[i - 1].name, name) == 0)
			return jaas->v[i - 1].value;
	return NULL;
}
