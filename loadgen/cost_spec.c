/* Scenarios of costs: what docs/loadgen.md describes, read strictly. */
#include <string.h>

#include "lib/wire/compress.h"
#include "loadgen/cost.h"

static const char *const apis[] = {"produce", "fetch", NULL};
static const char *const codecs[] = {"none", "gzip", "snappy", "lz4", "zstd", NULL};
static const char *const acks_names[] = {"all", "1", NULL};
static const char *const modes[] = {"inline", "queued", NULL};

void lg_cost_spec_init(struct lg_cost_spec *spec)
{
	*spec = (struct lg_cost_spec){
		.requests = {.topic = "cost", .partitions = 1, .records = 1, .size = 100, .acks = 1, .block = 64},
		.quads = 400, .warm_up = 5, .warm = 64, .seed = 1, .margin = -1, .dose_mode = modes[0],
	};
}

void lg_cost_spec_fini(struct lg_cost_spec *spec)
{
	kt_json_fini(&spec->json);
}

static void read_requests(struct kt_obj *root, struct lg_requests *requests)
{
	int api = LG_BLOCK_PRODUCE, acks = requests->acks == 1;

	kt_obj_str(root, "topic", &requests->topic);
	kt_obj_enum(root, "api", apis, &api);
	kt_obj_int(root, "partitions", 1, 1000, &requests->partitions);
	kt_obj_int(root, "records", 1, 10000, &requests->records);
	kt_obj_int(root, "size", 1, 1 << 20, &requests->size);
	kt_obj_enum(root, "codec", codecs, &requests->codec);
	kt_obj_enum(root, "acks", acks_names, &acks);
	kt_obj_int(root, "block", 1, LG_BLOCK_MAX, &requests->block);
	requests->api = (enum lg_block_api)api;
	requests->acks = acks ? 1 : -1;
}

static void read_variant(struct kt_obj *root, const char *member, struct lg_variant *variant)
{
	struct kt_obj obj, options;
	const char *name, *text;
	int mode = -1;

	if (!kt_obj_object(root, member, &obj))
		return;
	kt_obj_need(&obj, "classes", NULL);
	kt_obj_str(&obj, "classes", &variant->classes);
	if (kt_obj_enum(&obj, "mode", modes, &mode))
		variant->mode = modes[mode];
	if (kt_obj_object(&obj, "options", &options)) {
		while (kt_obj_each(&options, &name))
			kt_obj_str(&options, name, &text);
		variant->options = options.json;
	}
	kt_obj_done(&obj);
}

static void read_doses(struct kt_obj *root, struct lg_cost_spec *spec)
{
	struct kt_arr arr;
	int us, mode;

	if (kt_obj_enum(root, "doseMode", modes, &mode))
		spec->dose_mode = modes[mode];
	kt_obj_array(root, "doses", &arr);
	while (kt_arr_int(&arr, 0, 1000000, &us)) {
		if (spec->ndoses == LG_DOSES_MAX) {
			kt_obj_fail(root, "doses", KT_ELIMIT, "more than %d doses", LG_DOSES_MAX);
			return;
		}
		spec->doses[spec->ndoses++] = us;
	}
}

static int read_spec(struct lg_cost_spec *spec, struct kt_err *err)
{
	struct kt_obj root;

	kt_obj_root(&root, &spec->json, err);
	kt_obj_str(&root, "name", &spec->name);
	kt_obj_str(&root, "bootstrapServer", &spec->bootstrap);
	read_requests(&root, &spec->requests);
	kt_obj_int(&root, "quads", 20, 1000000, &spec->quads);
	kt_obj_int(&root, "warmUp", 0, 1000000, &spec->warm_up);
	if (!kt_obj_int(&root, "warm", 0, LG_BLOCK_MAX, &spec->warm))
		spec->warm = spec->requests.block;
	kt_obj_int64(&root, "seed", 0, INT64_MAX, &spec->seed);
	kt_obj_real(&root, "margin", 0, 10, &spec->margin);
	read_variant(&root, "a", &spec->a);
	read_variant(&root, "b", &spec->b);
	read_doses(&root, spec);
	if (spec->ndoses > 0 && spec->b.classes)
		kt_obj_fail(&root, "doses", KT_EUSAGE, "doses take the place of \"b\": they are SlowObserver's");
	if (spec->warm > spec->requests.block)
		kt_obj_fail(&root, "warm", KT_ERANGE, "must not be more than \"block\", %d", spec->requests.block);
	return kt_obj_done(&root);
}

int lg_cost_spec_load(struct lg_cost_spec *spec, const char *file, struct kt_err *err)
{
	int rc = kt_json_load(&spec->json, file, err);

	return rc ? rc : read_spec(spec, err);
}
