/* GET /metrics is text as Prometheus reads it, whatever names are in it. */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/hooks/observer_metrics.h"
#include "fakebroker/tests/control_fixture.h"

/* The name of a metric or label ends here. */
static size_t name_length(const char *p)
{
	return strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

/* From { to behind }, checking names, quotes and escapes. */
static const char *skip_labels(const char *p)
{
	do {
		p++;
		assert_true(name_length(p) > 0);
		p += name_length(p);
		assert_memory_equal(p, "=\"", 2);
		for (p += 2; *p != '"'; p++) {
			assert_true(*p && *p != '\n');
			if (*p == '\\') {
				p++;
				assert_true(*p == '\\' || *p == '"' || *p == 'n');
			}
		}
		p++;
	} while (*p == ',');
	assert_int_equal(*p, '}');
	return p + 1;
}

/* "# HELP name text" or "# TYPE name type": the name, after `kind`, must be new there. */
static void check_comment(const char *line, json_t *kind, char metric[200])
{
	snprintf(metric, 200, "%.*s", (int)name_length(line + 7), line + 7);
	assert_int_equal(line[7 + strlen(metric)], ' ');
	assert_null(json_object_get(kind, metric));
	json_object_set_new(kind, metric, json_true());
}

static void check_sample(char *line, json_t *samples, const char *metric)
{
	const char *p = line + name_length(line);
	char *end;

	assert_int_equal(strlen(metric), p - line);   /* stands below its own HELP and TYPE */
	assert_memory_equal(line, metric, strlen(metric));
	if (*p == '{')
		p = skip_labels(p);
	assert_int_equal(*p, ' ');
	strtod(p, &end);
	assert_int_equal(*end, '\0');
	line[p - line] = '\0';
	assert_null(json_object_get(samples, line));
	json_object_set_new(samples, line, json_true());
}

/* Every metric has HELP and TYPE once, before its samples, which are all different. */
static void check_metrics(char *text)
{
	json_t *helps = json_object(), *types = json_object(), *samples = json_object();
	char metric[200] = "", *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "# HELP ", 7) == 0) {
			check_comment(line, helps, metric);
		} else if (strncmp(line, "# TYPE ", 7) == 0) {
			check_comment(line, types, metric);
			assert_non_null(json_object_get(helps, metric));
			assert_true(strcmp(line + 8 + strlen(metric), "counter") == 0 ||
				    strcmp(line + 8 + strlen(metric), "gauge") == 0);
		} else {
			check_sample(line, samples, metric);
			assert_non_null(json_object_get(types, metric));
		}
	}
	assert_in_range(json_object_size(samples), 40, 1000);
	json_decref(helps);
	json_decref(types);
	json_decref(samples);
}

static void metrics_parse(void **state)
{
	struct kc_conn *conn;
	struct http http;

	(void)state;
	json_decref(http_json(&run, 200, "PUT", "/v1/observer", "{\"classes\": \"TrafficObserver\"}"));
	conn = dial_named(&run, "a\"b\\c\nd", 1);
	json_decref(talk(&run, conn, "Produce", 9, "{'acks': 1, 'topicData': [{'name': 't', 'partitionData': "
			 "[{'index': 0, 'records': {'batches': [{'records': [{'value': 'a'}]}]}}]}]}"));
	http = http_ask(&run, "GET", "/metrics", NULL);
	assert_int_equal(http.status, 200);
	assert_non_null(strstr(http.text, "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
	assert_non_null(
		strstr(http.body, "{node=\"1\",observer=\"TrafficObserver\",client_id=\"a\\\"b\\\\c\\nd\"} 1\n"));
	assert_non_null(strstr(http.body, "\nkassay_connections 1\n"));
	check_metrics(http.text + (http.body - http.text));
	http_free(&http);
	json_decref(http_json(&run, 200, "PUT", "/v1/observer", "{\"classes\": \"NoOpObserver\"}"));
	kc_free(conn);
}

/* A plugin may not take the broker's names: the list of these has all that a broker without observers shows. */
static void names_of_the_broker(void **state)
{
	struct http http = http_ask(&run, "GET", "/metrics", NULL);
	int n = 0;

	(void)state;
	for (const char *at = http.body; (at = strstr(at, "# TYPE kassay_")); n++) {
		char name[100];

		at += strlen("# TYPE kassay_");
		snprintf(name, sizeof name, "%.*s", (int)name_length(at), at);
		if (!fb_metric_is_brokers(name))
			fail_msg("%s", name);
	}
	assert_in_range(n, 10, 100);
	assert_false(fb_metric_is_brokers("traffic_errors_total"));
	http_free(&http);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_parse),
		cmocka_unit_test(names_of_the_broker),
	};

	fb_log_level(KASSAY_ERROR);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
