/* The matrix: one self-contained page, a column for each result, a row for each case, the evidence behind each cell. */
#include <stdlib.h>
#include <string.h>

#include "conformance/report/report.h"
#include "conformance/report/xml.h"
#include "lib/wire/message.h"

/* The page's style and script are files of their own, put into the program by the assembler. */
#define EMBED(symbol, file)                                                                                   \
	__asm__(".section .rodata\n.global " #symbol "\n" #symbol ":\n.incbin \"" file "\"\n.byte 0\n.previous\n"); \
	extern const char symbol[]

EMBED(cf_page_css, "conformance/report/page.css");
EMBED(cf_page_js, "conformance/report/page.js");

enum { ERROR_MIN = -1, ERROR_MAX = 200 };

struct matrix {
	json_t *const *results;
	size_t n;
	json_t *families, *requirements, *cases;   /* of all results; cases: id -> a row that describes it */
};

static void put(FILE *out, const char *before, const char *text, const char *after)
{
	fputs(before, out);
	cf_xml_put(out, text);
	fputs(after, out);
}

/* ---- bringing the results together ---- */

static void collect(struct matrix *m)
{
	json_t *item;
	size_t i;

	m->families = json_object();
	m->requirements = json_object();
	m->cases = json_object();
	for (size_t r = 0; r < m->n; r++) {
		json_array_foreach(json_object_get(m->results[r], "families"), i, item)
			if (!json_object_get(m->families, cf_text(item, "family")))
				json_object_set(m->families, cf_text(item, "family"), item);
		json_object_update_missing(m->requirements, json_object_get(m->results[r], "requirements"));
		json_array_foreach(json_object_get(m->results[r], "cases"), i, item)
			if (!json_object_get(m->cases, cf_text(item, "id")))
				json_object_set(m->cases, cf_text(item, "id"), item);
	}
}

static size_t find_row(json_t *result, const char *id)
{
	json_t *rows = json_object_get(result, "cases"), *row;
	size_t i;

	json_array_foreach(rows, i, row)
		if (strcmp(cf_text(row, "id"), id) == 0)
			break;
	return i;
}

/* ---- head ---- */

static void put_counts(FILE *out, json_t *result)
{
	int counts[CF_NVERDICTS], all = 0;

	cf_result_count(result, counts);
	for (int v = 0; v < CF_NVERDICTS; v++)
		all += counts[v];
	fputs("<div class=\"bar\" aria-hidden=\"true\">", out);
	for (int v = 0; v < CF_NVERDICTS; v++)
		if (counts[v])
			fprintf(out, "<i class=\"%s\" style=\"flex:%d\"></i>", cf_verdict_word((enum cf_verdict)v),
				counts[v]);
	fprintf(out, "</div><p class=\"counts\"><b>%d</b> cases", all);
	for (int v = 0; v < CF_NVERDICTS; v++)
		if (counts[v])
			fprintf(out,
				" <span class=\"v %s\" title=\"%s\">%d %s</span>", cf_verdict_word((enum cf_verdict)v),
				cf_verdict_meaning((enum cf_verdict)v), counts[v], cf_verdict_word((enum cf_verdict)v));
	fputs("</p>", out);
}

static void put_fact(FILE *out, const char *name, const char *value)
{
	put(out, "<dt>", name, "</dt>");
	put(out, "<dd>", value, "</dd>");
}

static void put_abilities(FILE *out, json_t *target)
{
	json_t *ability;
	size_t i;

	fputs("<details><summary>Capabilities</summary><ul class=\"abilities\">", out);
	json_array_foreach(json_object_get(target, "capabilities"), i, ability) {
		bool present = json_is_true(json_object_get(ability, "present"));

		put(out, present ? "<li><b class=\"yes\">yes</b> <code>" : "<li><b class=\"no\">no</b> <code>",
		    cf_text(ability, "name"), "</code> ");
		put(out, "", cf_text(ability, "evidence"), "</li>");
	}
	fputs("</ul></details>", out);
}

static void put_versions(FILE *out, json_t *target)
{
	json_t *range;
	const char *api;

	fputs("<details><summary>API versions</summary><ul class=\"versions\">", out);
	json_object_foreach(json_object_get(target, "apis"), api, range) {
		put(out, "<li><code>", api, "</code>");
		fprintf(out, " %d\xe2\x80\x93%d</li>", (int)json_integer_value(json_array_get(range, 0)),
			(int)json_integer_value(json_array_get(range, 1)));
	}
	fputs("</ul></details>", out);
}

static void put_target(FILE *out, json_t *result)
{
	json_t *target = json_object_get(result, "target");
	char text[64];

	put(out, "<section class=\"target\"><h2>", cf_text(target, "name"), "</h2>");
	put_counts(out, result);
	fputs("<dl>", out);
	put_fact(out, "bootstrap", cf_text(target, "bootstrap"));
	put_fact(out, "cluster", cf_text(target, "clusterId"));
	snprintf(text, sizeof text, "%d", (int)json_integer_value(json_object_get(target, "metadataVersion")));
	put_fact(out, "metadata.version", text);
	put_fact(out, "started", cf_text(result, "started"));
	snprintf(text, sizeof text, "%.1f s", (double)json_integer_value(json_object_get(result, "ms")) / 1000);
	put_fact(out, "took", text);
	put_fact(out, "seed", cf_text(result, "seed"));
	put_fact(out, "kassay", cf_text(result, "kassay"));
	if (json_is_true(json_object_get(result, "strict")))
		put_fact(out, "strict", "yes");
	fputs("</dl>", out);
	if (*cf_text(result, "note"))
		put(out, "<p class=\"note\">", cf_text(result, "note"), "</p>");
	if (*cf_text(target, "note"))
		put(out, "<p class=\"note\">", cf_text(target, "note"), "</p>");
	put_abilities(out, target);
	put_versions(out, target);
	fputs("</section>", out);
}

/* ---- what to look at first ---- */

static void put_finding(FILE *out, size_t r, size_t c, json_t *row)
{
	const char *verdict = cf_text(row, "verdict");

	fprintf(out, "<li><button type=\"button\" aria-haspopup=\"dialog\" class=\"v %s\" data-r=\"%zu\" "
		"data-c=\"%zu\">%s</button> ", verdict, r, c, verdict);
	put(out, "<code>", cf_text(row, "id"), "</code> ");
	put(out, "", cf_text(row, "title"), "");
	put(out, "<span class=\"why\">", cf_text(row, "reason"), "</span></li>\n");
}

static void put_findings(FILE *out, const struct matrix *m)
{
	for (size_t r = 0; r < m->n; r++) {
		json_t *row;
		size_t c;

		if (!cf_result_red(m->results[r]))
			continue;
		put(out, "<section class=\"findings\"><h2>Not as expected on ",
		    cf_text(json_object_get(m->results[r], "target"), "name"), "</h2><ul>\n");
		json_array_foreach(json_object_get(m->results[r], "cases"), c, row)
			if (cf_row_red(row))
				put_finding(out, r, c, row);
		fputs("</ul></section>\n", out);
	}
}

static void put_legend(FILE *out)
{
	fputs("<details class=\"legend\"><summary>How to read this page</summary><dl>"
	      "<dt>verdicts</dt><dd>", out);
	for (int v = 0; v < CF_NVERDICTS; v++)
		fprintf(out, "<span class=\"v %s\">%s</span> %s<br>", cf_verdict_word((enum cf_verdict)v),
			cf_verdict_word((enum cf_verdict)v), cf_verdict_meaning((enum cf_verdict)v));
	fputs("</dd><dt>connection</dt><dd><b>kept</b>: a request behind the one in question was answered on the same "
	      "connection. <b>closed</b>: the broker closed it. <b>silent</b>: it is open, but nothing is answered any "
	      "more. <b>unasked</b>: a frame came that answers no request.</dd><dt>level</dt><dd>What a requirement "
	      "weighs. <b class=\"level\">must</b>: otherwise the case fails. <b "
	      "class=\"level\">should</b>: otherwise it passes leniently. <b class=\"level\">may</b> and <b "
	      "class=\"level\">observe</b>: recorded only.</dd>"
	      "<dt>origin</dt><dd>Who says so. <b class=\"origin\">kafka</b>: what Apache Kafka does. "
	      "<b class=\"origin\">proposal</b>: the words of a proposal (KIP). <b class=\"origin\">kit</b>: a "
	      "decision of kassay where a proposal is silent.</dd></dl></details>\n", out);
}

static void put_filters(FILE *out, const struct matrix *m)
{
	int counts[CF_NVERDICTS], sums[CF_NVERDICTS] = {0};

	for (size_t r = 0; r < m->n; r++) {
		cf_result_count(m->results[r], counts);
		for (int v = 0; v < CF_NVERDICTS; v++)
			sums[v] += counts[v];
	}
	fputs("<form id=\"filter\" role=\"search\"><label>Find <input type=\"search\" id=\"find\" placeholder=\"case, "
	      "title, requirement\" autocomplete=\"off\"></label><fieldset><legend>Show</legend>", out);
	for (int v = 0; v < CF_NVERDICTS; v++) {
		if (sums[v] == 0)
			continue;
		fprintf(out, "<label title=\"%s\"><input type=\"checkbox\" name=\"v\" value=\"%s\" checked> "
			"<span class=\"v %s\">%s</span> %d</label>", cf_verdict_meaning((enum cf_verdict)v),
			cf_verdict_word((enum cf_verdict)v), cf_verdict_word((enum cf_verdict)v),
			cf_verdict_word((enum cf_verdict)v), sums[v]);
	}
	fputs("</fieldset>", out);
	if (m->n > 1)
		fputs("<label><input type=\"checkbox\" id=\"differ\"> only rows that differ</label>", out);
	fputs("<output id=\"shown\" aria-live=\"polite\"></output></form>", out);
}

/* ---- matrix ---- */

/* What became of connections: the first thing worth telling. */
static const char *connection_of(json_t *row)
{
	const char *found = "";
	json_t *step;
	size_t i;

	json_array_foreach(json_object_get(row, "steps"), i, step) {
		const char *connection = cf_text(step, "connection");

		if (*connection && strcmp(connection, "kept") != 0)
			return connection;
		if (*connection)
			found = connection;
	}
	return found;
}

/* A narrow page has no head of the table, and shows the target's name in the cell. */
static void put_cell_start(FILE *out, const struct matrix *m, size_t r, const char *class)
{
	fprintf(out, "<td class=\"%s\"", class);
	if (m->n > 1)
		put(out, " data-target=\"", cf_text(json_object_get(m->results[r], "target"), "name"), "\"");
	fputc('>', out);
}

static void put_cell(FILE *out, const struct matrix *m, size_t r, const char *id)
{
	size_t i = find_row(m->results[r], id);
	json_t *row = json_array_get(json_object_get(m->results[r], "cases"), i);
	const char *verdict = cf_text(row, "verdict");

	if (!row) {
		put_cell_start(out, m, r, "none");
		fputs("not run</td>", out);
		return;
	}
	put_cell_start(out, m, r, "");
	fprintf(out, "<button type=\"button\" aria-haspopup=\"dialog\" class=\"v %s\" data-r=\"%zu\" "
		"data-c=\"%zu\" data-v=\"%s\">%s", verdict, r, i, verdict, verdict);
	if (*connection_of(row))
		put(out, "<small>", connection_of(row), "</small>");
	put(out, "</button><span class=\"why\">", cf_text(row, "reason"), "</span></td>");
}

static void put_case_row(FILE *out, const struct matrix *m, json_t *cas)
{
	put(out, "<tr class=\"case\"><th scope=\"row\"><code>", cf_text(cas, "id"), "</code><span>");
	put(out, "", cf_text(cas, "title"), "</span></th>");
	for (size_t r = 0; r < m->n; r++)
		put_cell(out, m, r, cf_text(cas, "id"));
	fputs("</tr>\n", out);
}

static void put_requirement_row(FILE *out, const struct matrix *m, const char *id)
{
	json_t *requirement = json_object_get(m->requirements, id);

	fprintf(out, "<tr class=\"req\"><th colspan=\"%zu\" scope=\"rowgroup\">", m->n + 1);
	put(out, "<span class=\"level\">", cf_text(requirement, "level"), "</span> ");
	put(out, "<span class=\"text\">", cf_text(requirement, "text"), "</span> ");
	put(out, "<span class=\"source\"><code>", id, "</code> ");
	put(out, "<b class=\"origin\">", cf_text(requirement, "origin"), "</b> ");
	put(out, "", cf_text(requirement, "source"), "</span></th></tr>\n");
}

static const char *first_requirement(json_t *cas)
{
	const char *id = json_string_value(json_array_get(json_object_get(cas, "requirements"), 0));

	return id ? id : "";
}

/* Cases that prove the same requirement first stand under its text. */
static void put_family(FILE *out, const struct matrix *m, const char *name)
{
	json_t *family = json_object_get(m->families, name), *done = json_object(), *cas, *other;
	const char *id, *other_id;

	put(out, "<section class=\"family\" id=\"family-", name, "\">");
	put(out, "<h2>", family ? cf_text(family, "title") : name, "</h2>");
	put(out, "<p>", cf_text(family, "about"), "</p><table><thead><tr><th scope=\"col\">case</th>");
	for (size_t r = 0; r < m->n; r++)
		put(out, "<th scope=\"col\">", cf_text(json_object_get(m->results[r], "target"), "name"), "</th>");
	fputs("</tr></thead>\n", out);
	json_object_foreach(m->cases, id, cas) {
		const char *requirement = first_requirement(cas);

		if (strcmp(cf_text(cas, "family"), name) != 0 || json_object_get(done, requirement))
			continue;
		json_object_set_new(done, requirement, json_true());
		fputs("<tbody>", out);
		if (*requirement)
			put_requirement_row(out, m, requirement);
		json_object_foreach(m->cases, other_id, other)
			if (strcmp(cf_text(other, "family"), name) == 0 &&
			    strcmp(first_requirement(other), requirement) == 0)
				put_case_row(out, m, other);
		fputs("</tbody>", out);
	}
	fputs("</table></section>\n", out);
	json_decref(done);
}

static void put_families(FILE *out, const struct matrix *m)
{
	json_t *done = json_object(), *cas;
	const char *id;

	json_object_foreach(m->cases, id, cas) {
		const char *family = cf_text(cas, "family");

		if (json_object_get(done, family))
			continue;
		json_object_set_new(done, family, json_true());
		put_family(out, m, family);
	}
	json_decref(done);
}

/* ---- data for the script ---- */

/* "<" is the only character of JSON that could end the script element. */
static int put_script_json(const char *buffer, size_t size, void *data)
{
	FILE *out = data;

	for (size_t i = 0; i < size; i++)
		if (buffer[i] == '<' ? fputs("\\u003c", out) == EOF : fputc(buffer[i], out) == EOF)
			return -1;
	return 0;
}

static json_t *script_result(json_t *result)
{
	return json_pack("{s:O, s:O, s:O*}", "target", json_object_get(result, "target"), "cases",
			 json_object_get(result, "cases"), "repeat", json_object_get(result, "repeat"));
}

/* Error number, as text, to its name. */
static json_t *error_names(void)
{
	json_t *out = json_object();
	char number[8];

	for (int code = ERROR_MIN; code <= ERROR_MAX; code++) {
		if (strcmp(kw_error_name(code), "UNKNOWN_ERROR_CODE") == 0)
			continue;
		snprintf(number, sizeof number, "%d", code);
		json_object_set_new(out, number, json_string(kw_error_name(code)));
	}
	return out;
}

static void put_data(FILE *out, const struct matrix *m)
{
	json_t *list = json_array(), *data;

	for (size_t r = 0; r < m->n; r++)
		json_array_append_new(list, script_result(m->results[r]));
	data = json_pack("{s:O, s:o, s:o}", "requirements", m->requirements, "results", list, "errors", error_names());
	fputs("<script type=\"application/json\" id=\"data\">", out);
	json_dump_callback(data, put_script_json, out, JSON_COMPACT);
	fputs("</script>\n", out);
	json_decref(data);
}

bool cf_write_html_matrix(FILE *out, json_t *const *results, size_t n)
{
	struct matrix m = {.results = results, .n = n};

	collect(&m);
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
	      "<link rel=\"icon\" href=\"data:,\"><title>kassay conformance</title>\n<style>", out);
	fputs(cf_page_css, out);
	fputs("</style></head>\n<body><header><h1>Kafka broker conformance</h1><div class=\"targets\">", out);
	for (size_t r = 0; r < n; r++)
		put_target(out, results[r]);
	fputs("</div>\n", out);
	put_findings(out, &m);
	put_legend(out);
	put_filters(out, &m);
	fputs("</header>\n<main>", out);
	put_families(out, &m);
	fputs("</main>\n<dialog id=\"evidence\" aria-labelledby=\"evidence-title\">"
	      "<div id=\"evidence-body\"></div></dialog>\n", out);
	put_data(out, &m);
	fputs("<script>", out);
	fputs(cf_page_js, out);
	fputs("</script></body></html>\n", out);
	json_decref(m.families);
	json_decref(m.requirements);
	json_decref(m.cases);
	return ferror(out) == 0;
}

bool cf_write_html(FILE *out, json_t *result)
{
	return cf_write_html_matrix(out, &result, 1);
}
