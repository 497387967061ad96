#include "loadgen/reconcile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/text/json.h"
#include "lib/text/table.h"

/* One line of a file. */
struct line {
	char *topic, *instance;
	int64_t start, end, records, bytes;
	int node, number;
	bool second;                /* of file b */
};

struct lines {
	struct line *v;
	size_t n, cap;
};

static const char *const names[] = {
#define LG_X(sym, name, meaning) [sym] = name,
	LG_MATCHES(LG_X)
#undef LG_X
};

const char *lg_match_name(enum lg_match match)
{
	return names[match];
}

/* ---- reading ---- */

static void lines_fini(struct lines *lines)
{
	while (lines->n > 0) {
		free(lines->v[--lines->n].topic);
		free(lines->v[lines->n].instance);
	}
	free(lines->v);
}

static struct line *add_line(struct lines *lines)
{
	if (lines->n == lines->cap) {
		size_t cap = lines->cap ? 2 * lines->cap : 256;
		struct line *grown = realloc(lines->v, cap * sizeof *grown);

		if (!grown)
			return NULL;
		lines->v = grown;
		lines->cap = cap;
	}
	lines->v[lines->n] = (struct line){0};
	return &lines->v[lines->n++];
}

/* Other members may come with later versions of the format; the version says when they change a meaning. */
static int read_members(struct kt_obj *obj, struct line *line)
{
	const char *topic = NULL, *instance = NULL;
	struct kt_obj produced;
	int version;

	kt_obj_int(obj, "v", 1, 1, &version);
	kt_obj_need(obj, "v", "node", "instance", "topic", "start", "end", "produced", NULL);
	kt_obj_int(obj, "node", 0, INT32_MAX, &line->node);
	kt_obj_str(obj, "instance", &instance);
	kt_obj_str(obj, "topic", &topic);
	kt_obj_int64(obj, "start", 0, INT64_MAX - 1, &line->start);
	kt_obj_int64(obj, "end", line->start + 1, INT64_MAX, &line->end);
	kt_obj_object(obj, "produced", &produced);
	if (obj->err->code == 0) {
		kt_obj_need(&produced, "records", "bytes", NULL);
		kt_obj_int64(&produced, "records", 0, INT64_MAX, &line->records);
		kt_obj_int64(&produced, "bytes", 0, INT64_MAX, &line->bytes);
	}
	if (obj->err->code)
		return obj->err->code;
	line->topic = strdup(topic);
	line->instance = strdup(instance);
	return line->topic && line->instance ? 0 : kt_fail(obj->err, KT_ENOMEM, "out of memory");
}

static int read_line(struct lines *lines, const char *file, const char *text, size_t n, int number, bool second,
		     struct kt_err *err)
{
	struct line *line = add_line(lines);
	struct kt_err why = {0};
	struct kt_json doc = {0};
	struct kt_obj obj;

	if (!line)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	line->number = number;
	line->second = second;
	if (kt_json_parse(&doc, file, text, n, &why) == 0) {
		kt_obj_root(&obj, &doc, &why);
		read_members(&obj, line);
	}
	kt_json_fini(&doc);
	if (why.code && err && !err->code) {
		bool another = why.code == KT_ESYNTAX || why.code == KT_EUNKNOWN;   /* no JSON, or other members */

		*err = why;
		err->line = number;
		if (another)
			snprintf(err->text, sizeof err->text, "not a row of AuditObserver: %.450s", why.text);
		kt_clean(err->text);
	}
	return why.code;
}

static int read_file(struct lines *lines, const char *file, bool second, struct kt_err *err)
{
	FILE *f = fopen(file, "r");
	char *text = NULL;
	size_t cap = 0;
	ssize_t n;
	int number = 0, rc = 0;

	if (!f)
		return kt_fail(err, KT_EFILE, "%s: %s", file, strerror(errno));
	while (rc == 0 && (n = getline(&text, &cap, f)) > 0)
		rc = read_line(lines, file, text, (size_t)n, ++number, second, err);
	if (rc == 0 && ferror(f))
		rc = kt_fail(err, KT_EFILE, "%s: %s", file, strerror(errno));
	free(text);
	fclose(f);
	return rc;
}

/* ---- comparing ---- */

static int compare_numbers(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_bucket(const void *x, const void *y)
{
	const struct line *a = x, *b = y;
	int order = strcmp(a->topic, b->topic);

	if (!order)
		order = compare_numbers(a->start, b->start);
	if (!order)
		order = compare_numbers(a->second, b->second);
	if (!order)
		order = compare_numbers(a->node, b->node);
	return order ? order : strcmp(a->instance, b->instance);
}

/* A row that is written twice, or buckets that cannot be laid side by side. Lines are sorted. */
static int check(const struct lines *lines, const char *const files[2], struct kt_err *err)
{
	for (size_t i = 0; i < lines->n; i++) {
		const struct line *line = &lines->v[i], *first = &lines->v[0];
		int64_t length = first->end - first->start;

		if (i > 0 && by_bucket(line - 1, line) == 0)
			return kt_fail(err, KT_ECORRUPT, "%s:%d: the bucket of line %d is there again",
				       files[line->second], line->number, line[-1].number);
		if (line->end - line->start != length || line->start % length != first->start % length)
			return kt_fail(err, KT_ECORRUPT, "%s:%d: the bucket is not of the same length as that of %s:%d",
				       files[line->second], line->number, files[first->second], first->number);
	}
	return 0;
}

/* False when a sum is none that there is a number for. */
static bool add(struct lg_audit_row *row, const struct line *line)
{
	int64_t *records = line->second ? &row->b : &row->a, *bytes = line->second ? &row->b_bytes : &row->a_bytes;

	row->end = line->end;
	return !__builtin_add_overflow(*records, line->records, records) &&
	       !__builtin_add_overflow(*bytes, line->bytes, bytes);
}

/* The row of a topic (and start, unless that is -1); rows come in order, so it is the last one or a new one. */
static struct lg_audit_row *row_of(struct lg_audit_row *rows, size_t *n, const struct line *line, bool topic_only)
{
	struct lg_audit_row *last = *n ? &rows[*n - 1] : NULL;

	if (last && strcmp(last->topic, line->topic) == 0 && (topic_only || last->start == line->start))
		return last;
	last = &rows[*n];
	*last = (struct lg_audit_row){.topic = strdup(line->topic), .start = line->start};
	if (!last->topic)
		return NULL;
	++*n;
	return last;
}

static enum lg_match match_of(const struct lg_audit_row *row)
{
	return row->a == row->b ? LG_EQUAL : row->a > row->b ? LG_MISSING : LG_SURPLUS;
}

static int sum(const struct lines *lines, const char *const files[2], struct lg_reconciliation *out, struct kt_err *err)
{
	size_t t = 0;

	out->buckets = calloc(lines->n + 1, sizeof *out->buckets);
	out->topics = calloc(lines->n + 1, sizeof *out->topics);
	for (size_t i = 0; i < lines->n; i++) {
		struct lg_audit_row *bucket, *topic;

		bucket = out->buckets ? row_of(out->buckets, &out->nbuckets, &lines->v[i], false) : NULL;
		topic = out->topics ? row_of(out->topics, &out->ntopics, &lines->v[i], true) : NULL;
		if (!bucket || !topic)
			return kt_fail(err, KT_ENOMEM, "out of memory");
		/* A topic has at least what each of its buckets has. */
		if (!add(bucket, &lines->v[i]) || !add(topic, &lines->v[i]))
			return kt_fail(err, KT_ERANGE, "%s:%d: the sums of topic \"%.100s\" are above 2^63-1",
				       files[lines->v[i].second], lines->v[i].number, lines->v[i].topic);
	}
	out->same = out->ntopics > 0;   /* audits that never wrote a row prove nothing */
	for (size_t i = 0; i < out->ntopics; i++) {
		out->topics[i].match = match_of(&out->topics[i]);
		out->same &= out->topics[i].match == LG_EQUAL;
		out->folded |= strcmp(out->topics[i].topic, "(other)") == 0 &&
			       (out->topics[i].a > 0 || out->topics[i].b > 0);
	}
	for (size_t i = 0; i < out->nbuckets; i++) {
		struct lg_audit_row *bucket = &out->buckets[i];

		while (strcmp(out->topics[t].topic, bucket->topic) != 0)
			t++;
		bucket->match = match_of(bucket);
		if (bucket->match != LG_EQUAL && out->topics[t].match == LG_EQUAL)
			bucket->match = LG_SHIFTED;
	}
	return 0;
}

int lg_reconcile(const char *a, const char *b, struct lg_reconciliation *out, struct kt_err *err)
{
	const char *const files[2] = {a, b};
	struct lines lines = {0};
	int rc;

	*out = (struct lg_reconciliation){0};
	rc = read_file(&lines, a, false, err);
	if (rc == 0)
		rc = read_file(&lines, b, true, err);
	if (rc == 0 && lines.n > 0)
		qsort(lines.v, lines.n, sizeof *lines.v, by_bucket);
	if (rc == 0)
		rc = check(&lines, files, err);
	if (rc == 0)
		rc = sum(&lines, files, out, err);
	lines_fini(&lines);
	return rc;
}

void lg_reconciliation_fini(struct lg_reconciliation *reconciliation)
{
	for (size_t i = 0; i < reconciliation->nbuckets; i++)
		free(reconciliation->buckets[i].topic);
	for (size_t i = 0; i < reconciliation->ntopics; i++)
		free(reconciliation->topics[i].topic);
	free(reconciliation->buckets);
	free(reconciliation->topics);
	*reconciliation = (struct lg_reconciliation){0};
}

/* ---- telling ---- */

static json_t *rows_json(const struct lg_audit_row *rows, size_t n)
{
	json_t *json = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(json,
				      json_pack("{s:s, s:I, s:I, s:{s:I, s:I}, s:{s:I, s:I}, s:s}", "topic",
						rows[i].topic, "start", (json_int_t)rows[i].start, "end",
						(json_int_t)rows[i].end, "a", "records", (json_int_t)rows[i].a, "bytes",
						(json_int_t)rows[i].a_bytes, "b", "records", (json_int_t)rows[i].b,
						"bytes", (json_int_t)rows[i].b_bytes, "match", names[rows[i].match]));
	return json;
}

json_t *lg_reconciliation_json(const struct lg_reconciliation *reconciliation)
{
	return json_pack("{s:b, s:b, s:o, s:o}", "same", reconciliation->same, "folded", reconciliation->folded,
			 "topics", rows_json(reconciliation->topics, reconciliation->ntopics), "buckets",
			 rows_json(reconciliation->buckets, reconciliation->nbuckets));
}

static void add_time(struct kt_table *table, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	char text[32];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
	kt_table_add(table, "%s.%03dZ", text, (int)(ms % 1000));
}

static void print_rows(const struct lg_audit_row *rows, size_t n, bool all, FILE *out)
{
	struct kt_table table;

	kt_table_init(&table, "topic", "from", "to", "a", "b", "difference", "match", NULL);
	for (size_t i = 0; i < n; i++) {
		if (!all && rows[i].match == LG_EQUAL)
			continue;
		kt_table_add(&table, "%s", rows[i].topic);
		add_time(&table, rows[i].start);
		add_time(&table, rows[i].end);
		kt_table_add(&table, "%lld", (long long)rows[i].a);
		kt_table_add(&table, "%lld", (long long)rows[i].b);
		kt_table_add(&table, "%lld", (long long)(rows[i].b - rows[i].a));
		kt_table_add(&table, "%s", names[rows[i].match]);
	}
	kt_table_print(&table, out, kt_terminal_width(out));
	kt_table_fini(&table);
}

void lg_reconciliation_print(const struct lg_reconciliation *reconciliation, bool all, FILE *out)
{
	size_t unequal = 0;

	for (size_t i = 0; i < reconciliation->nbuckets; i++)
		unequal += reconciliation->buckets[i].match != LG_EQUAL;
	if (reconciliation->ntopics == 0) {
		fprintf(out, "nothing to compare: neither file has a row\n");
		return;
	}
	print_rows(reconciliation->topics, reconciliation->ntopics, true, out);
	if (all ? reconciliation->nbuckets > 0 : unequal > 0) {
		fprintf(out, "\n%s\n", all ? "buckets" : "buckets that are not equal");
		print_rows(reconciliation->buckets, reconciliation->nbuckets, all, out);
	}
	if (reconciliation->folded)
		fprintf(out, "\ninconclusive: topics beyond an observer's limit are counted together, as (other); "
			"observer.AuditObserver.limit must be greater\n");
	else
		fprintf(out, "\n%s\n", reconciliation->same ? "ok" : "not the same");
}
