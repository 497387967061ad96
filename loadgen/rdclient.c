#include "loadgen/rdclient.h"

#include <string.h>

#include "loadgen/tsan.h"

static void drop_log(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
	(void)rk;
	(void)level;
	(void)facility;
	(void)text;
}

int lg_rd_set(rd_kafka_conf_t *conf, const char *name, const char *value, struct kt_err *err)
{
	char text[256];

	if (rd_kafka_conf_set(conf, name, value, text, sizeof text) != RD_KAFKA_CONF_OK)
		return kt_fail(err, KT_EUSAGE, "librdkafka: %s", text);
	return 0;
}

static int set_all(rd_kafka_conf_t *conf, const struct lg_properties *properties, struct kt_err *err)
{
	int rc = 0;

	for (int i = 0; properties && i < properties->n && rc == 0; i++)
		rc = lg_rd_set(conf, properties->v[i].name, properties->v[i].value, err);
	return rc;
}

static bool has(const struct lg_properties *properties, const char *name)
{
	for (int i = 0; properties && i < properties->n; i++)
		if (strcmp(properties->v[i].name, name) == 0)
			return true;
	return false;
}

/* Who gives a name means PLAIN, which is all that the kit's own requests can do; librdkafka would take Kerberos. */
static int set_mechanism(rd_kafka_conf_t *conf, const struct lg_properties *plan, const struct lg_properties *phase,
			 struct kt_err *err)
{
	return has(plan, "sasl.username") || has(phase, "sasl.username") ?
	       lg_rd_set(conf, "sasl.mechanism", "PLAIN", err) : 0;
}

rd_kafka_conf_t *lg_rd_conf(const char *bootstrap, const struct lg_properties *plan,
			    const struct lg_properties *phase, struct kt_err *err)
{
	static const struct lg_property defaults[] = {
		{"client.id", "kassay-loadgen"},
		/* librdkafka's five minutes would make a run against a dead broker hang */
		{"message.timeout.ms", "30000"},
		{"socket.nagle.disable", "true"},
	};
	const struct lg_properties kit = {(int)(sizeof defaults / sizeof defaults[0]), (struct lg_property *)defaults};
	rd_kafka_conf_t *conf = rd_kafka_conf_new();

	lg_tsan_threads();
	rd_kafka_conf_set_log_cb(conf, drop_log);
	if (set_all(conf, &kit, err) || lg_rd_set(conf, "bootstrap.servers", bootstrap, err) ||
	    set_mechanism(conf, plan, phase, err) || set_all(conf, plan, err) || set_all(conf, phase, err)) {
		rd_kafka_conf_destroy(conf);
		return NULL;
	}
	return conf;
}

rd_kafka_t *lg_rd_new(rd_kafka_type_t type, rd_kafka_conf_t *conf, struct kt_err *err)
{
	char text[256];
	rd_kafka_t *rk = rd_kafka_new(type, conf, text, sizeof text);

	if (!rk) {
		rd_kafka_conf_destroy(conf);
		kt_fail(err, KT_EUSAGE, "librdkafka: %s", text);
	}
	return rk;
}

static rd_kafka_headers_t *make_headers(const struct lg_draft *draft)
{
	rd_kafka_headers_t *headers = rd_kafka_headers_new((size_t)draft->nheaders);

	for (int32_t i = 0; i < draft->nheaders; i++)
		rd_kafka_header_add(headers, draft->headers[i].key.s, draft->headers[i].key.n,
				    draft->headers[i].value.p, draft->headers[i].value.n);
	return headers;
}

static size_t length(struct kw_bytes bytes)
{
	return bytes.n < 0 ? 0 : (size_t)bytes.n;
}

rd_kafka_resp_err_t lg_rd_produce(rd_kafka_t *rk, rd_kafka_topic_t *rkt, const struct lg_draft *draft, void *opaque)
{
	rd_kafka_headers_t *headers = draft->nheaders > 0 ? make_headers(draft) : NULL;
	rd_kafka_vu_t args[] = {
		{.vtype = RD_KAFKA_VTYPE_RKT, .u.rkt = rkt},
		{.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = draft->stamp.partition},
		{.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
		{.vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = {(void *)draft->value.p, length(draft->value)}},
		{.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {(void *)draft->key.p, length(draft->key)}},
		{.vtype = RD_KAFKA_VTYPE_TIMESTAMP, .u.i64 = draft->timestamp},
		{.vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = opaque},
		{.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers},
	};
	size_t nargs = sizeof args / sizeof args[0] - (headers ? 0 : 1);
	rd_kafka_error_t *error = rd_kafka_produceva(rk, args, nargs);
	rd_kafka_resp_err_t code = rd_kafka_error_code(error);

	if (error && headers)
		rd_kafka_headers_destroy(headers);
	rd_kafka_error_destroy(error);
	return code;
}
