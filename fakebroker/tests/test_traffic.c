/* TrafficObserver, and what is exported of it. */
#include "fakebroker/tests/hook_fixtures.h"

#include "fakebroker/hooks/traffic_table.h"
#include "fakebroker/tests/show_exchange.h"

/* ---- helpers ---- */

static struct fb_observer *make(const struct setting *settings)
{
	struct fixture fixture = FIXTURE(settings);
	struct fb_hook_env env = fixture_env(&fixture);
	struct fb_observer *observer;
	struct kt_err err = {0};

	env.log = NULL;
	assert_int_equal(fb_observer_new("TrafficObserver", &env, &observer, &err), 0);
	assert_int_equal(err.code, 0);
	return observer;
}

static struct kassay_str str(const char *s)
{
	return fb_hook_str(kw_str(s));
}

static struct fb_exchange exchange_of(int16_t key, const char *api, const char *client_id)
{
	struct fb_exchange exchange;

	exchange_init(&exchange);
	exchange.view.apiKey = key;
	exchange.view.api = api;
	exchange.view.principal = str("User:alice");
	exchange.view.address = str("10.0.0.1");
	exchange.view.clientId = str(client_id);
	exchange.view.has_response = 1;
	return exchange;
}

static struct kassay_partition partition_of(const char *topic, int direction, int64_t records, int64_t bytes,
					    int16_t error)
{
	struct kassay_partition partition;

	fb_partition_init(&partition);
	partition.topic = str(topic);
	partition.direction = direction;
	partition.records = records;
	partition.bytes = bytes;
	partition.error = error;
	return partition;
}

static void record(struct fb_observer *observer, struct fb_exchange *exchange, struct kassay_partition *partitions,
		   int32_t n)
{
	exchange->partitions = partitions;
	exchange->view.partition_count = n;
	show_exchange(observer, exchange, false);
}

/* Sum of the samples of a metric that have all of the labels, "name=value,name=value"; "" takes all. */
static json_int_t sum(struct fb_observer *observer, const char *metric, const char *labels)
{
	json_t *json = fb_observer_json(observer), *metrics, *found, *sample;
	json_int_t total = 0;
	size_t i;

	metrics = json_object_get(json_array_get(json_object_get(json, "observers"), 0), "metrics");
	found = json_object_get(metrics, metric);
	if (!found)
		fail_msg("no metric %s", metric);
	json_array_foreach(json_object_get(found, "samples"), i, sample) {
		char copy[256], *save = NULL, *label;
		int all = 1;

		snprintf(copy, sizeof copy, "%s", labels);
		for (label = strtok_r(copy, ",", &save); label; label = strtok_r(NULL, ",", &save)) {
			char *equals = strchr(label, '=');
			const char *value;

			*equals = '\0';
			value = json_string_value(json_object_get(sample, label));
			all &= value && strcmp(value, equals + 1) == 0;
		}
		if (all)
			total += json_integer_value(json_object_get(sample, "value"));
	}
	json_decref(json);
	return total;
}

/* ---- counting ---- */

static void test_produce(void **state)
{
	struct fb_observer *observer = make(NULL);
	struct fb_exchange exchange = exchange_of(0, "Produce", "app-1");
	struct kassay_partition partitions[] = {
		partition_of("orders", KASSAY_PRODUCED, 10, 1000, 0),
		partition_of("orders", KASSAY_PRODUCED, 7, 700, 87),
		partition_of("orders", KASSAY_PRODUCED, 3, 300, 0),
		partition_of("audit", KASSAY_PRODUCED, 1, 90, 0),
	};

	(void)state;
	partitions[2].flags = KASSAY_DUPLICATE;
	exchange.view.request_bytes = 2200;
	exchange.view.response_bytes = 120;
	exchange.view.queue_ns = 5;
	exchange.view.service_ns = 50;
	exchange.view.throttleTimeMs = 4;
	exchange.view.error = 87;
	exchange.view.error_count = 1;
	record(observer, &exchange, partitions, 4);
	exchange.view.has_response = 0;
	exchange.view.response_bytes = 0;
	exchange.view.error_count = exchange.view.error = 0;
	record(observer, &exchange, partitions, 1);

	assert_int_equal(sum(observer, "traffic_topic_records_total",
			     "topic=orders,direction=produced,outcome=accepted"), 20);
	assert_int_equal(sum(observer, "traffic_topic_records_total",
			     "topic=orders,direction=produced,outcome=refused"), 7);
	assert_int_equal(sum(observer, "traffic_topic_records_total", "topic=orders,outcome=duplicate"), 3);
	assert_int_equal(sum(observer, "traffic_topic_record_bytes_total", "topic=orders,outcome=accepted"), 2000);
	assert_int_equal(sum(observer, "traffic_topic_record_bytes_total", "topic=audit"), 90);
	assert_int_equal(sum(observer, "traffic_topic_requests_total", "topic=orders"), 2);
	assert_int_equal(sum(observer, "traffic_topic_requests_total", "topic=audit"), 1);
	assert_int_equal(sum(observer, "traffic_topic_errors_total", "topic=orders"), 1);
	assert_int_equal(sum(observer, "traffic_topic_records_total", "direction=consumed"), 0);
	assert_int_equal(sum(observer, "traffic_principal_records_total", "principal=User:alice,outcome=accepted"), 21);
	assert_int_equal(sum(observer, "traffic_address_record_bytes_total", "address=10.0.0.1,outcome=refused"), 700);
	assert_int_equal(sum(observer, "traffic_client_id_requests_total", "client_id=app-1"), 2);
	assert_int_equal(sum(observer, "traffic_api_request_bytes_total", "api=Produce"), 4400);
	assert_int_equal(sum(observer, "traffic_api_response_bytes_total", "api=Produce"), 120);
	assert_int_equal(sum(observer, "traffic_api_queue_nanoseconds_total", "api=Produce"), 10);
	assert_int_equal(sum(observer, "traffic_api_service_nanoseconds_total", "api=Produce"), 100);
	assert_int_equal(sum(observer, "traffic_api_throttle_milliseconds_total", "api=Produce"), 8);
	assert_int_equal(sum(observer, "traffic_flow_records_total",
			     "principal=User:alice,client_id=app-1,topic=audit,outcome=accepted"), 1);
	assert_int_equal(sum(observer, "traffic_errors_total", "api=Produce,error=INVALID_RECORD"), 1);
	fb_observer_unref(observer);
}

static void test_fetch(void **state)
{
	struct fb_observer *observer = make(NULL);
	struct fb_exchange exchange = exchange_of(1, "Fetch", "app-2");
	struct kassay_partition partitions[] = {
		partition_of("orders", KASSAY_CONSUMED, 4, 512, 0),
		partition_of("orders", KASSAY_CONSUMED, 0, 0, 1),
		partition_of("orders", KASSAY_CONSUMED, 2, 300, 0),
	};

	(void)state;
	partitions[2].flags = KASSAY_PARTIAL;
	exchange.view.error = 1;
	exchange.view.error_count = 1;
	record(observer, &exchange, partitions, 3);
	assert_int_equal(sum(observer, "traffic_topic_records_total", "topic=orders,direction=consumed"), 6);
	assert_int_equal(sum(observer, "traffic_topic_record_bytes_total", "topic=orders,direction=consumed"), 812);
	assert_int_equal(sum(observer, "traffic_topic_records_total", "direction=produced"), 0);
	assert_int_equal(sum(observer, "traffic_errors_total", "api=Fetch,error=OFFSET_OUT_OF_RANGE"), 1);
	fb_observer_unref(observer);
}

static void test_errors_without_partitions(void **state)
{
	struct fb_observer *observer = make(NULL);
	struct fb_exchange exchange = exchange_of(19, "CreateTopics", NULL);

	(void)state;
	exchange.view.error = 36;
	exchange.view.error_count = 3;
	record(observer, &exchange, NULL, 0);
	exchange.view.error = 12345;
	exchange.view.error_count = 1;
	record(observer, &exchange, NULL, 0);
	assert_int_equal(sum(observer, "traffic_errors_total", "api=CreateTopics,error=TOPIC_ALREADY_EXISTS"), 3);
	assert_int_equal(sum(observer, "traffic_errors_total", "error=UNKNOWN_ERROR_CODE"), 1);
	assert_int_equal(sum(observer, "traffic_errors_total", ""), 4);
	assert_int_equal(sum(observer, "traffic_client_id_errors_total", "client_id=(none)"), 4);
	fb_observer_unref(observer);
}

/* ---- bounds ---- */

static void test_names_beyond_the_limit_are_counted_together(void **state)
{
	static const struct setting settings[] = {{"observer.TrafficObserver.limit", "10"}, {0}};
	struct fb_observer *observer = make(settings);
	char name[16];
	int i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		struct fb_exchange exchange;
		struct kassay_partition partition;

		snprintf(name, sizeof name, "name-%d", i % 500);
		exchange = exchange_of(0, "Produce", name);
		partition = partition_of(name, KASSAY_PRODUCED, 1, 100, 0);
		record(observer, &exchange, &partition, 1);
	}
	assert_int_equal(sum(observer, "traffic_topic_records_total", ""), 1000);
	assert_int_equal(sum(observer, "traffic_topic_records_total", "topic=name-9"), 2);
	assert_int_equal(sum(observer, "traffic_topic_records_total", "topic=name-10"), 0);
	assert_int_equal(sum(observer, "traffic_topic_records_total", "topic=(other)"), 980);
	assert_int_equal(sum(observer, "traffic_client_id_requests_total", "client_id=(other)"), 980);
	assert_int_equal(sum(observer, "traffic_flow_records_total",
			     "principal=(other),client_id=(other),topic=(other)"), 980);
	fb_observer_unref(observer);
}

/* Once for a topic, however often the request names it, and once for all that have no room. */
static void test_a_request_counts_once(void **state)
{
	static const struct setting settings[] = {{"observer.TrafficObserver.limit", "1"}, {0}};
	struct fb_observer *observer = make(settings);
	struct fb_exchange exchange = exchange_of(1, "Fetch", "app");
	struct kassay_partition partitions[] = {
		partition_of("a", KASSAY_CONSUMED, 1, 10, 0), partition_of("b", KASSAY_CONSUMED, 2, 20, 0),
		partition_of("c", KASSAY_CONSUMED, 4, 40, 3), partition_of("a", KASSAY_CONSUMED, 8, 80, 0),
		partition_of("b", KASSAY_CONSUMED, 16, 160, 0),
	};

	(void)state;
	record(observer, &exchange, partitions, 5);
	record(observer, &exchange, partitions, 1);
	record(observer, &exchange, partitions + 1, 1);
	record(observer, &exchange, partitions + 1, 2);
	assert_int_equal(sum(observer, "traffic_topic_requests_total", "topic=a"), 2);
	assert_int_equal(sum(observer, "traffic_topic_requests_total", "topic=(other)"), 3);
	assert_int_equal(sum(observer, "traffic_flow_requests_total", "topic=a"), 2);
	assert_int_equal(sum(observer, "traffic_flow_requests_total", "topic=(other)"), 3);
	assert_int_equal(sum(observer, "traffic_topic_records_total", "topic=a"), 10);
	assert_int_equal(sum(observer, "traffic_topic_records_total", "topic=(other)"), 30);
	assert_int_equal(sum(observer, "traffic_topic_errors_total", "topic=(other)"), 2);
	assert_int_equal(sum(observer, "traffic_client_id_requests_total", "client_id=app"), 4);
	assert_int_equal(sum(observer, "traffic_client_id_record_bytes_total", "client_id=app"), 400);
	fb_observer_unref(observer);
}

/* ---- what is remembered is of the one it is remembered for ---- */

static void produce_one(struct fb_observer *observer, const char *principal, const char *address, const char *client_id,
			const char *topic)
{
	struct fb_exchange exchange = exchange_of(0, "Produce", client_id);
	struct kassay_partition partition = partition_of(topic, KASSAY_PRODUCED, 1, 10, 0);

	exchange.view.principal = str(principal);
	exchange.view.address = str(address);
	record(observer, &exchange, &partition, 1);
}

/* A connection's memory may be that of one before, so that all but the name is as it was. */
static void test_each_name_tells_clients_apart(void **state)
{
	struct fb_observer *observer = make(NULL);
	char address[] = "10.0.0.1";

	(void)state;
	for (int i = 0; i < 3; i++) {
		address[7] = '1';
		produce_one(observer, "User:alice", address, "app-1", "orders");
		produce_one(observer, "User:bob", address, "app-1", "orders");
		produce_one(observer, "User:bob", address, "app-2", "orders");
		address[7] = '2';
		produce_one(observer, "User:bob", address, "app-2", "orders");
	}
	assert_int_equal(sum(observer, "traffic_principal_requests_total", "principal=User:alice"), 3);
	assert_int_equal(sum(observer, "traffic_principal_requests_total", "principal=User:bob"), 9);
	assert_int_equal(sum(observer, "traffic_client_id_requests_total", "client_id=app-1"), 6);
	assert_int_equal(sum(observer, "traffic_client_id_requests_total", "client_id=app-2"), 6);
	assert_int_equal(sum(observer, "traffic_address_requests_total", "address=10.0.0.1"), 9);
	assert_int_equal(sum(observer, "traffic_address_requests_total", "address=10.0.0.2"), 3);
	assert_int_equal(sum(observer, "traffic_flow_requests_total", "principal=User:alice,client_id=app-1"), 3);
	assert_int_equal(sum(observer, "traffic_flow_requests_total", "principal=User:bob,client_id=app-1"), 3);
	assert_int_equal(sum(observer, "traffic_flow_requests_total", "principal=User:bob,client_id=app-2"), 6);
	fb_observer_unref(observer);
}

static void test_principals_with_one_client_id(void **state)
{
	struct fb_observer *observer = make(NULL);

	(void)state;
	for (int i = 0; i < 3; i++) {
		produce_one(observer, "User:alice", "10.0.0.1", "app", "orders");
		produce_one(observer, "User:bob", "10.99.99.99", "app", "orders");
	}
	assert_int_equal(sum(observer, "traffic_flow_records_total", "principal=User:alice,topic=orders"), 3);
	assert_int_equal(sum(observer, "traffic_flow_records_total", "principal=User:bob,topic=orders"), 3);
	assert_int_equal(sum(observer, "traffic_topic_records_total", "topic=orders"), 6);
	fb_observer_unref(observer);
}

/* There are 64 places, and these APIs of a client have one. */
static void test_apis_of_one_place(void **state)
{
	struct fb_observer *observer = make(NULL);
	struct fb_exchange fetch = exchange_of(1, "Fetch", "app");
	struct fb_exchange describe = exchange_of(65, "DescribeTransactions", "app");

	(void)state;
	for (int i = 0; i < 3; i++) {
		record(observer, &fetch, NULL, 0);
		record(observer, &describe, NULL, 0);
		record(observer, &describe, NULL, 0);
	}
	assert_int_equal(sum(observer, "traffic_api_requests_total", "api=Fetch"), 3);
	assert_int_equal(sum(observer, "traffic_api_requests_total", "api=DescribeTransactions"), 6);
	fb_observer_unref(observer);
}

/* Two client ids fill their table before any has a flow: those of the next two have rows, though they have none. */
static void test_clients_beyond_the_limit_keep_their_flows(void **state)
{
	static const struct setting settings[] = {{"observer.TrafficObserver.limit", "2"}, {0}};
	struct fb_observer *observer = make(settings);
	struct fb_exchange first = exchange_of(18, "ApiVersions", "a"), second = exchange_of(18, "ApiVersions", "b");

	(void)state;
	record(observer, &first, NULL, 0);
	record(observer, &second, NULL, 0);
	for (int i = 0; i < 3; i++) {
		produce_one(observer, "User:alice", "10.0.0.1", "c", "orders");
		produce_one(observer, "User:alice", "10.0.0.1", "d", "orders");
		produce_one(observer, "User:alice", "10.0.0.1", "d", "orders");
	}
	assert_int_equal(sum(observer, "traffic_client_id_requests_total", "client_id=(other)"), 9);
	assert_int_equal(sum(observer, "traffic_flow_records_total", "client_id=c"), 3);
	assert_int_equal(sum(observer, "traffic_flow_records_total", "client_id=d"), 6);
	assert_int_equal(sum(observer, "traffic_flow_records_total", "client_id=(other)"), 0);
	fb_observer_unref(observer);
}

/* Neither is a client without an id one that has no row, nor a topic without a name one that nothing is known of. */
static void test_no_name_is_not_no_row(void **state)
{
	static const struct setting settings[] = {{"observer.TrafficObserver.limit", "1"}, {0}};
	struct fb_observer *observer = make(settings);
	struct fb_exchange fills = exchange_of(0, "Produce", "(none)"), other = exchange_of(0, "Produce", "c");
	struct fb_exchange none = exchange_of(0, "Produce", NULL);

	(void)state;
	record(observer, &fills, NULL, 0);
	record(observer, &other, NULL, 0);
	record(observer, &none, NULL, 0);
	assert_int_equal(sum(observer, "traffic_client_id_requests_total", "client_id=(none)"), 2);
	assert_int_equal(sum(observer, "traffic_client_id_requests_total", "client_id=(other)"), 1);
	produce_one(observer, "User:bob", "10.0.0.1", "c", "");
	assert_int_equal(sum(observer, "traffic_topic_records_total", "topic="), 1);
	assert_int_equal(sum(observer, "traffic_flow_records_total", "principal=User:bob,client_id=c,topic="), 1);
	fb_observer_unref(observer);
}

/* More clients of one topic than there are places for what is remembered of both. */
static void test_more_flows_than_places(void **state)
{
	enum { CLIENTS = 300 };
	struct fb_observer *observer = make(NULL);
	char name[32];

	(void)state;
	for (int i = 0; i < 2 * CLIENTS; i++) {
		snprintf(name, sizeof name, "app-%d", i % CLIENTS);
		produce_one(observer, "User:alice", "10.0.0.1", name, "orders");
	}
	for (int i = 0; i < CLIENTS; i++) {
		snprintf(name, sizeof name, "client_id=app-%d", i);
		assert_int_equal(sum(observer, "traffic_flow_records_total", name), 2);
	}
	assert_int_equal(sum(observer, "traffic_topic_records_total", "topic=orders"), 2 * CLIENTS);
	fb_observer_unref(observer);
}

/* ---- the table ---- */

static struct fb_traffic_row *row_of(struct fb_traffic_table *table, const char *name, int32_t size)
{
	struct kassay_str part = {name, size};
	struct fb_traffic_key key = fb_traffic_key(&part, 1);

	return fb_traffic_row(table, &key);
}

static void test_names_are_made_presentable(void **state)
{
	struct fb_traffic_table table;
	struct fb_traffic_row *row;
	char longer[400];

	(void)state;
	assert_int_equal(fb_traffic_table_init(&table, 1, 100), 0);
	row = row_of(&table, "a\xff", 2);
	assert_string_equal(row->names, "a?");
	assert_ptr_equal(row_of(&table, "a?", 2), row);
	assert_ptr_equal(row_of(&table, "a\xff", 2), row);
	assert_ptr_equal(row_of(&table, "a\0", 2), row);
	assert_ptr_not_equal(row_of(&table, "a", 1), row);
	row = row_of(&table, NULL, -1);
	assert_string_equal(row->names, "(none)");
	assert_ptr_equal(row_of(&table, "(none)", 6), row);
	assert_ptr_not_equal(row_of(&table, "", 0), row);
	assert_string_equal(row_of(&table, NULL, 0)->names, "");
	assert_ptr_equal(row_of(&table, "(other)", 7), &table.rows[0]);
	memset(longer, 'x', sizeof longer);
	row = row_of(&table, longer, 400);
	assert_int_equal(strlen(row->names), 249);
	assert_ptr_equal(row_of(&table, longer, 249), row);
	assert_ptr_not_equal(row_of(&table, longer, 248), row);
	fb_traffic_table_fini(&table);
}

static void test_full_table(void **state)
{
	struct fb_traffic_table table;
	struct fb_traffic_row *first;
	char name[16];
	int i;

	(void)state;
	assert_int_equal(fb_traffic_table_init(&table, 1, 1), 0);
	first = row_of(&table, "one", 3);
	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof name, "n%d", i);
		assert_ptr_equal(row_of(&table, name, (int32_t)strlen(name)), &table.rows[0]);
	}
	assert_ptr_equal(row_of(&table, "one", 3), first);
	assert_ptr_equal(row_of(&table, "\xff", 1), &table.rows[0]);
	assert_int_equal(table.n - table.aliases, 2);
	fb_traffic_table_fini(&table);
}

/* However many spellings of one name somebody makes up, it is one name. */
static void test_unpresentable_names_take_no_room(void **state)
{
	struct fb_traffic_table table;
	struct fb_traffic_row *row;

	(void)state;
	assert_int_equal(fb_traffic_table_init(&table, 1, 2), 0);
	row = row_of(&table, "\x80\x80", 2);
	for (int i = 0x8080; i < 0xc000; i++) {
		const char name[] = {(char)(0x80 | (i >> 8) % 0x40), (char)(0x80 | i % 0x40), '\0'};

		assert_ptr_equal(row_of(&table, name, 2), row);
	}
	assert_string_equal(row_of(&table, "good", 4)->names, "good");
	assert_ptr_equal(row_of(&table, "third", 5), &table.rows[0]);
	assert_string_equal(row->names, "??");
	fb_traffic_table_fini(&table);
}

/* ---- several threads ---- */

static void *produce(void *arg)
{
	struct fb_exchange exchange = exchange_of(0, "Produce", "app");
	struct kassay_partition partition = partition_of("orders", KASSAY_PRODUCED, 3, 30, 0);
	int i;

	for (i = 0; i < 2000; i++)
		record(arg, &exchange, &partition, 1);
	return NULL;
}

static void test_threads(void **state)
{
	struct fb_observer *observer = make(NULL);
	pthread_t threads[4];
	int i;

	(void)state;
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, produce, observer), 0);
	for (i = 0; i < 20; i++)
		assert_true(sum(observer, "traffic_topic_records_total", "") % 3 == 0);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(sum(observer, "traffic_topic_records_total", "topic=orders,outcome=accepted"), 24000);
	assert_int_equal(sum(observer, "traffic_api_requests_total", "api=Produce"), 8000);
	fb_observer_unref(observer);
}

/* ---- Prometheus ---- */

static int count(const char *text, const char *part)
{
	int n = 0;

	while ((text = strstr(text, part)) != NULL) {
		text += strlen(part);
		n++;
	}
	return n;
}

static void test_prometheus(void **state)
{
	struct fb_observer *observers[] = {make(NULL), make(NULL)};
	const int32_t nodes[] = {1, 2};
	struct kassay_partition partition = partition_of("a\"\\\nb", KASSAY_PRODUCED, 2, 20, 0);
	struct fb_exchange exchange = exchange_of(0, "Produce", "x");
	char *text;

	(void)state;
	record(observers[0], &exchange, &partition, 1);
	record(observers[1], &exchange, &partition, 1);
	text = fb_observer_prometheus(observers, nodes, 2);
	assert_non_null(strstr(text, "# TYPE kassay_observer_exchanges_total counter\n"
				     "kassay_observer_exchanges_total{node=\"1\",observer=\"TrafficObserver\"} 1\n"
				     "kassay_observer_exchanges_total{node=\"2\",observer=\"TrafficObserver\"} 1\n"));
	assert_non_null(strstr(text, "# HELP kassay_traffic_topic_records_total "
				     "Records, by the headers of their batches, by topic\n"
				     "# TYPE kassay_traffic_topic_records_total counter\n"
				     "kassay_traffic_topic_records_total{node=\"1\",observer=\"TrafficObserver\","
				     "topic=\"a\\\"\\\\\\nb\",direction=\"produced\",outcome=\"accepted\"} 2\n"
				     "kassay_traffic_topic_records_total{node=\"2\","));
	assert_int_equal(count(text, "# TYPE kassay_traffic_topic_records_total "), 1);
	free(text);
	fb_observer_unref(observers[0]);
	fb_observer_unref(observers[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_produce),
		cmocka_unit_test(test_fetch),
		cmocka_unit_test(test_errors_without_partitions),
		cmocka_unit_test(test_names_beyond_the_limit_are_counted_together),
		cmocka_unit_test(test_a_request_counts_once),
		cmocka_unit_test(test_each_name_tells_clients_apart),
		cmocka_unit_test(test_principals_with_one_client_id),
		cmocka_unit_test(test_apis_of_one_place),
		cmocka_unit_test(test_clients_beyond_the_limit_keep_their_flows),
		cmocka_unit_test(test_no_name_is_not_no_row),
		cmocka_unit_test(test_more_flows_than_places),
		cmocka_unit_test(test_names_are_made_presentable),
		cmocka_unit_test(test_full_table),
		cmocka_unit_test(test_unpresentable_names_take_no_room),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_prometheus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
