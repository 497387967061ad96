#include "lib/text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct kt_regex {
	pcre2_code *text;     /* for UTF-8 */
	pcre2_code *bytes;    /* for all else; NULL: the pattern has characters that are no bytes, so that nothing
				 else matches */
};

enum {
	NESTED_MOST = 200,
	WAYS_MOST = 1000, WAYS_LEAST = 8,     /* a text's ways through the pattern at any one place */
	WORK_MOST = 1 << 26,                  /* that many times a way is compared with another: some tens of
						 milliseconds */
	WAY_INTS = 2 * 3,                     /* of the work space: pcre2_dfa_match() has two lists of states
						 of three ints */
	SPARE_INTS = 8,
};

/* ---- compiling ---- */

static pcre2_compile_context *new_limits(void)
{
	pcre2_compile_context *limits = pcre2_compile_context_create(NULL);

	if (!limits)
		return NULL;
	pcre2_set_parens_nest_limit(limits, NESTED_MOST);
	pcre2_set_newline(limits, PCRE2_NEWLINE_LF);
	pcre2_set_bsr(limits, PCRE2_BSR_ANYCRLF);
	return limits;
}

/* Where the letters of (?i-s) or (?i-s:...) end. */
static size_t letters_end(const char *item, size_t n)
{
	size_t end = 2;

	while (end < n && memchr("^-imnsxJU", item[end], 9))
		end++;
	return end;
}

static bool has_letter(const char *item, size_t n, char letter)
{
	return n >= 2 && item[0] == '(' && item[1] == '?' && memchr(item + 2, letter, letters_end(item, n) - 2);
}

/* Is it x{2}+ or x{1,3}+? Not \x{2}+, nor \p{L}+. */
static bool is_possessive_count(const char *item, size_t n)
{
	size_t open = n - 1;

	if (n < 5 || memcmp(item + n - 2, "}+", 2))
		return false;
	while (open > 1 && item[open - 1] != '{')
		open--;
	return open > 1 && !(open == 3 && item[0] == '\\' && memchr("pPxo", item[1], 4));
}

/* What the library would match by a match inside the match, or reads the same text for again. */
static bool is_costly(const char *item, size_t n)
{
	size_t end;

	if (n >= 3 && item[0] == ')')
		return item[n - 1] == '+';
	if (n < 2)
		return false;
	if (is_possessive_count(item, n))
		return true;
	if (n >= 7 && (memcmp(item, "[[:<:]]", 7) == 0 || memcmp(item, "[[:>:]]", 7) == 0))
		return true;    /* \b(?=\w), \b(?<=\w) */
	if (item[0] == '\\')
		return memchr("XKg", item[1], 3);
	if (item[0] != '(' || item[1] != '?')
		return item[0] == '(' && item[1] == '*';
	if (n >= 4 && memchr("P<'", item[2], 3))
		return memchr("=!>", item[3], 3);
	end = letters_end(item, n);
	return end == n || (item[end] != ':' && item[end] != ')');
}

/* A pattern as it is read. */
struct source {
	const char *pattern;
	size_t n;
	struct kt_err *err;
	bool quotes;                                  /* has \Q, in which a ( that is put in would be a letter */
	bool multiline;                               /* has (?m) */
	unsigned char opens[KT_REGEX_LONGEST + 1];    /* a group has to be put in before that byte */
	unsigned char closes[KT_REGEX_LONGEST + 1];
};

/* Is it one character, class or escape without a quantifier? Some are told not to be; that does no harm. */
static bool is_atom(const char *item, size_t n)
{
	size_t high = 0;

	if (item[0] == '[')
		return item[n - 1] == ']';
	if (item[0] == '\\' && n > 2 && memchr("pPx", item[1], 3))
		return item[2] == '{' ? memchr(item, '}', n) == item + n - 1 : n == 3 && item[1] != 'x';
	if (item[0] == '\\')
		return n == 2 && item[1] != 'c';
	while (high < n && (unsigned char)item[high] >= 0x80)
		high++;
	return high == n || (n == 1 && item[0] != ')');
}

/* What pcre2_dfa_match() repeats for x+ it counts, so that each place where a run of x may have begun is a way of its
 * own; for (?:x)+ it does not. The length of x when the item is x+ or x+?, or 0; x++, x?+ and their like are something
 * else. */
static size_t repeated(const char *item, size_t n)
{
	if (n >= 3 && item[n - 1] == '?')
		n--;
	return n >= 2 && item[n - 1] == '+' && is_atom(item, n - 1) ? n - 1 : 0;
}

static int take_item(pcre2_callout_enumerate_block *item, void *arg)
{
	struct source *source = arg;
	size_t begin = item->pattern_position, rest = source->n - begin, n = item->next_item_length, once;

	n = n < rest ? n : rest;    /* the library's reaches beyond the end for (?) there */
	if (is_costly(source->pattern + begin, n))
		return kt_fail(source->err, KT_ELIMIT, "has %.*s, which takes more than one pass over the text", (int)n,
			       source->pattern + begin);
	/* Which makes blanks and comments of parts of the pattern, and a comment at the end of what is put behind
	 * it. */
	if (has_letter(source->pattern + begin, n, 'x'))
		return kt_fail(source->err, KT_ELIMIT, "has %.*s: blanks in patterns always count", (int)n,
			       source->pattern + begin);
	source->multiline |= has_letter(source->pattern + begin, n, 'm');
	once = source->quotes ? 0 : repeated(source->pattern + begin, n);
	if (once) {
		source->opens[begin] = 1;
		source->closes[begin + once] = 1;
	}
	return 0;
}

static int library_failed(int code, size_t offset, struct kt_err *err)
{
	PCRE2_UCHAR reason[200] = "";

	pcre2_get_error_message(code, reason, sizeof reason);
	if (code == PCRE2_ERROR_HEAP_FAILED || code == PCRE2_ERROR_NOMEMORY)
		return kt_fail(err, KT_ENOMEM, "%s", (const char *)reason);
	if (code == PCRE2_ERROR_PATTERN_TOO_LARGE || code == PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP)
		return kt_fail(err, KT_ELIMIT, "%s", (const char *)reason);
	return kt_fail(err, KT_ESYNTAX, "%s (at byte %zu)", (const char *)reason, offset);
}

/* Is the pattern one by itself, and of the allowed? Compiled with a callout before each item, the library tells the
 * items. */
static int check(struct source *source, pcre2_compile_context *limits)
{
	uint32_t options = PCRE2_UTF | PCRE2_AUTO_CALLOUT | PCRE2_NEVER_BACKSLASH_C, back_reference = 0;
	PCRE2_SIZE offset;
	pcre2_code *code;
	int rc;

	if (source->n > KT_REGEX_LONGEST)
		return kt_fail(source->err, KT_ELIMIT, "is longer than %d bytes", KT_REGEX_LONGEST);
	source->quotes = memmem(source->pattern, source->n, "\\Q", 2);
	code = pcre2_compile((PCRE2_SPTR)source->pattern, source->n, options, &rc, &offset, limits);
	if (!code)
		return library_failed(rc, offset, source->err);
	pcre2_pattern_info(code, PCRE2_INFO_BACKREFMAX, &back_reference);
	rc = back_reference ? kt_fail(source->err, KT_ELIMIT,
				      "has a back reference, to group %u", (unsigned)back_reference)
			    : pcre2_callout_enumerate(code, take_item, source);
	pcre2_code_free(code);
	return rc;
}

static size_t put(char *to, size_t n, const char *text)
{
	memcpy(to + n, text, strlen(text));
	return n + strlen(text);
}

/* Searching is part of the pattern, so that there is one pass over the text and not one from each of its places. */
static pcre2_code *compile(const struct source *source, enum kt_regex_extent extent, uint32_t options,
			   pcre2_compile_context *limits, struct kt_err *err)
{
	char whole[3 * KT_REGEX_LONGEST + 32];    /* an item of two bytes becomes one of six */
	size_t n = put(whole, 0, extent == KT_REGEX_FOUND ? "(?s:.*)(?:" : "(?:");
	PCRE2_SIZE offset;
	pcre2_code *code;
	int rc;

	for (size_t i = 0; i < source->n; i++) {
		if (source->closes[i])
			n = put(whole, n, ")");
		if (source->opens[i])
			n = put(whole, n, "(?:");
		whole[n++] = source->pattern[i];
	}
	n = put(whole, n, extent == KT_REGEX_FOUND ? "\\E)" : "\\E)\\z");
	if (!source->multiline)    /* else pcre2_dfa_match() would not know the end of a line */
		options |= PCRE2_DOLLAR_ENDONLY;
	code = pcre2_compile((PCRE2_SPTR)whole, n, options | PCRE2_ANCHORED, &rc, &offset, limits);
	if (!code)
		library_failed(rc, source->n, err);
	return code;
}

int kt_regex_compile(struct kt_regex **regex, const char *pattern, size_t n, enum kt_regex_extent extent,
		     struct kt_err *err)
{
	struct kt_err why = {0};
	pcre2_compile_context *limits = new_limits();
	struct kt_regex *self = calloc(1, sizeof *self);
	struct source source = {.pattern = pattern, .n = n, .err = &why};
	struct kt_err no_bytes = {0};

	*regex = NULL;
	if (!limits || !self) {
		kt_fail(&why, KT_ENOMEM, "out of memory");
		goto out;
	}
	if (check(&source, limits))
		goto out;
	pcre2_set_parens_nest_limit(limits, NESTED_MOST + 2);    /* with the groups that are put in */
	self->text = compile(&source, extent, PCRE2_UTF, limits, &why);
	if (!self->text)
		goto out;
	self->bytes = compile(&source, extent, PCRE2_NEVER_UTF, limits, &no_bytes);
	if (no_bytes.code == KT_ENOMEM) {
		why = no_bytes;
		goto out;
	}
	*regex = self;
	self = NULL;
out:
	kt_regex_free(self);
	pcre2_compile_context_free(limits);
	return why.code ? kt_fail(err, why.code, "%s", why.text) : 0;
}

void kt_regex_free(struct kt_regex *regex)
{
	if (!regex)
		return;
	pcre2_code_free(regex->text);
	pcre2_code_free(regex->bytes);
	free(regex);
}

/* ---- matching ---- */

/* How many ways a text of n bytes may have. Each is compared with the others at each of the places. */
static size_t ways_most(size_t n)
{
	size_t ways = WAYS_MOST;

	while (ways > WAYS_LEAST && ways * ways > WORK_MOST / (n + 1))
		ways -= ways / 8;
	return ways;
}

static int match(const pcre2_code *code, const void *p, size_t n, pcre2_match_data *data, pcre2_match_context *limits,
		 int *space, size_t ints)
{
	return pcre2_dfa_match(code, p, n, 0, PCRE2_DFA_SHORTEST, data, limits, space, ints);
}

int kt_regex_matches(const struct kt_regex *regex, const void *p, size_t n)
{
	int space[WAYS_MOST * WAY_INTS + SPARE_INTS], rc = KT_ENOMEM;
	size_t ints = ways_most(n) * WAY_INTS + SPARE_INTS;
	pcre2_match_context *limits;
	pcre2_match_data *data;

	if (n > KT_REGEX_TEXT_MOST)
		return KT_ELIMIT;
	limits = pcre2_match_context_create(NULL);
	data = pcre2_match_data_create(1, NULL);
	if (!limits || !data)
		goto out;
	pcre2_set_match_limit(limits, 1);      /* none inside this one */
	rc = match(regex->text, n ? p : "", n, data, limits, space, ints);
	if (rc <= PCRE2_ERROR_UTF8_ERR1 && rc >= PCRE2_ERROR_UTF8_ERR21)
		rc = regex->bytes ? match(regex->bytes, p, n, data, limits, space, ints) : PCRE2_ERROR_NOMATCH;
	rc = rc >= 0 ? 1 : rc == PCRE2_ERROR_NOMATCH ? 0 : rc == PCRE2_ERROR_NOMEMORY ? KT_ENOMEM : KT_ELIMIT;
out:
	pcre2_match_data_free(data);
	pcre2_match_context_free(limits);
	return rc;
}
