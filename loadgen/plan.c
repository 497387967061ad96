#include "loadgen/plan.h"

#include <string.h>

const char *const lg_engine_names[] = {[LG_RDKAFKA] = "rdkafka", [LG_WIRE] = "wire", NULL};
const char *const lg_upgrade_names[] = {
	"unknown", [LG_UPGRADE] = "upgrade", [LG_SAFE_DOWNGRADE] = "safe", [LG_UNSAFE_DOWNGRADE] = "unsafe", NULL,
};

void lg_plan_init(struct lg_plan *plan)
{
	memset(plan, 0, sizeof *plan);
	plan->verify = true;
	plan->seed = 1;
	kw_arena_init(&plan->arena, 64 << 20);
}

void lg_plan_fini(struct lg_plan *plan)
{
	kc_login_fini(&plan->login);
	kw_arena_fini(&plan->arena);
	kt_json_fini(&plan->json);
}

void lg_phase_init(struct lg_phase *phase)
{
	memset(phase, 0, sizeof *phase);
	phase->acks = -1;
	phase->batch = LG_PHASE_BATCH;
	phase->in_flight = LG_PHASE_IN_FLIGHT;
	phase->shape.size_min = phase->shape.size_max = 256;
}

const char *lg_property_owner(const char *name)
{
	static const char *const owners[][2] = {
		{"acks", "acks"}, {"request.required.acks", "acks"}, {"compression.codec", "codec"},
		{"compression.type", "codec"}, {"bootstrap.servers", "bootstrapServer"},
		{"metadata.broker.list", "bootstrapServer"},
	};

	for (size_t i = 0; i < sizeof owners / sizeof owners[0]; i++)
		if (strcmp(owners[i][0], name) == 0)
			return owners[i][1];
	return NULL;
}

static int check_illegal(const struct lg_phase *phase, const struct lg_illegal *illegal, struct kt_err *err)
{
	if (phase->engine == LG_RDKAFKA && !illegal->spoil_record)
		return kt_fail(err, KT_EUSAGE, "%s spoils a whole batch, which only the engine wire can do",
			       illegal->name);
	if (strcmp(illegal->name, "missing-header") == 0 && phase->shape.nheaders == 0)
		return kt_fail(err, KT_EUSAGE, "missing-header needs headers that legal records have");
	if (strcmp(illegal->name, "null-key") == 0 && phase->shape.key_mode == LG_KEY_NONE)
		return kt_fail(err, KT_EUSAGE, "null-key needs keys that legal records have");
	if (phase->acks == 0)
		return kt_fail(err, KT_EUSAGE, "with acks=0 no answer tells whether an illegal record was refused");
	return 0;
}

int lg_phase_check(const struct lg_phase *phase, const char **member, struct kt_err *err)
{
	struct lg_schedule schedule;
	int rc;

	*member = "duration";
	rc = lg_schedule_init(&schedule, &phase->rate, 0, err);
	*member = "illegal";
	for (int i = 0; i < phase->illegal.n && rc == 0; i++)
		rc = check_illegal(phase, phase->illegal.v[i].illegal, err);
	if (rc)
		return rc;
	*member = "properties";
	if (phase->engine == LG_WIRE && phase->properties.n > 0)
		return kt_fail(err, KT_EUSAGE, "the engine wire does not use librdkafka: it has no properties");
	*member = "showRdkafkaView";
	if (phase->show_rdkafka_view && phase->illegal.n == 0)
		return kt_fail(err, KT_EUSAGE, "librdkafka's view is shown of illegal records, and the phase has none");
	*member = NULL;
	return 0;
}

int lg_property_cut(struct kw_arena *arena, const char *text, struct lg_property *property, struct kt_err *err)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text)
		return kt_fail(err, KT_ESYNTAX, "must be NAME=VALUE, not \"%s\"", text);
	property->name = kw_strndup(arena, text, (size_t)(equals - text));
	property->value = equals + 1;
	return property->name ? 0 : kt_fail(err, KT_ENOMEM, "no memory");
}

int lg_properties_cut(struct kw_arena *arena, const char *const *texts, size_t n, struct lg_properties *properties,
		      struct kt_err *err)
{
	int rc = 0;

	properties->v = kw_alloc(arena, n * sizeof *properties->v);
	if (!properties->v)
		return kt_fail(err, KT_ENOMEM, "no memory");
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = lg_property_cut(arena, texts[i], &properties->v[properties->n++], err);
	return rc;
}
