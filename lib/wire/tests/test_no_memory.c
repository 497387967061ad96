/* Memory that runs out is told as that, wherever it does: every one of a function's calls is made to fail once, in
 * turn. So is zlib's inflate(), which takes memory of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>
#include <zlib.h>

#include "kw_messages.h"
#include "lib/wire/batch.h"
#include "lib/wire/control.h"
#include "lib/wire/convert.h"
#include "lib/wire/legacy.h"
#include "lib/wire/tests/failing_malloc.h"

int __real_inflate(z_streamp z, int flush);
int __wrap_inflate(z_streamp z, int flush);

int __wrap_inflate(z_streamp z, int flush)
{
	return failing_malloc_runs_out() ? Z_MEM_ERROR : __real_inflate(z, flush);
}

/* Lets every call that `run` makes fail. Each time it says so, in its code and in err. At least `least` calls there
 * are. */
static void exhaust(int (*run)(int codec, struct kt_err *err), int codec, long least)
{
	for (long calls = 0; ; calls++) {
		struct kt_err err = {0};
		bool enough;
		int code;

		failing_malloc_left = calls;
		code = run(codec, &err);
		enough = failing_malloc_left >= 0;
		failing_malloc_left = -1;
		if (enough) {
			assert_int_equal(code, 0);
			assert_true(calls >= least);
			return;
		}
		if (code != KT_ENOMEM || err.code != KT_ENOMEM)
			fail_msg("codec %d, call %ld: %d and %d: %s", codec, calls, code, err.code, err.text);
	}
}

static struct kw_header headers[40];
static struct kw_record records[20];
static struct kw_legacy messages[20];
static struct kw_buf sets[3][KW_ZSTD + 1];      /* by magic and codec */

static int set_up(void **state)
{
	struct kw_batch_spec spec = kw_batch_spec_default;
	static const uint8_t value[100] = "memory";

	(void)state;
	for (int i = 0; i < 40; i++)
		headers[i] = (struct kw_header){kw_str("k"), {value, 1}};
	for (int i = 0; i < 20; i++) {
		records[i] = (struct kw_record){.offsetDelta = i, .key = {value, 3}, .value = {value, 100},
						.nheaders = i == 7 ? 40 : 0, .headers = headers};
		messages[i] = (struct kw_legacy){.offset = i, .key = {value, 3}, .value = {value, 100}};
	}
	for (int codec = KW_NONE; codec <= KW_ZSTD; codec++) {
		spec.attributes = (int16_t)codec;
		assert_int_equal(kw_batch_build(&spec, records, 20, &sets[2][codec], NULL), 0);
		for (int8_t magic = 0; magic < 2 && codec != KW_ZSTD; magic++) {
			struct kw_legacy_spec old = {.magic = magic, .codec = (int8_t)codec};

			assert_int_equal(kw_legacy_build(&old, messages, 20, &sets[magic][codec], NULL), 0);
		}
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < 3 * (KW_ZSTD + 1); i++)
		kw_buf_fini(&sets[0][0] + i);
	return 0;
}

/* ---- reading ---- */

static int walk_batch(int codec, struct kt_err *err)
{
	struct kw_batch batch;
	enum kw_walk why;
	int code;

	assert_int_equal(kw_batch_parse(sets[2][codec].p, sets[2][codec].n, &batch, NULL), 0);
	code = kw_batch_walk(&batch, NULL, NULL, NULL, &why, err);
	assert_int_equal(why, code ? KW_WALK_LIMIT : KW_WALK_END);
	return code;
}

static int walk_message(int codec, struct kt_err *err)
{
	struct kw_legacy message;
	enum kw_walk why;
	int code;

	assert_int_equal(kw_legacy_parse(sets[1][codec].p, sets[1][codec].n, &message, NULL), 0);
	code = kw_legacy_walk(&message, NULL, NULL, NULL, &why, err);
	assert_int_equal(why, code ? KW_WALK_LIMIT : KW_WALK_END);
	return code;
}

static void no_fault_of_the_records(void **state)
{
	(void)state;
	for (int codec = KW_NONE; codec <= KW_ZSTD; codec++)
		exhaust(walk_batch, codec, codec == KW_NONE ? 2 : 3);   /* headers twice, and what is inflated */
	for (int codec = KW_GZIP; codec <= KW_LZ4; codec++)
		exhaust(walk_message, codec, 1);
}

/* ---- writing ---- */

static int build_batch(int codec, struct kt_err *err)
{
	struct kw_batch_spec spec = kw_batch_spec_default;
	struct kw_buf out = {0};
	int code;

	spec.attributes = (int16_t)codec;
	code = kw_batch_build(&spec, records, 20, &out, err);
	kw_buf_fini(&out);
	return code;
}

static int build_messages(int codec, struct kt_err *err)
{
	struct kw_legacy_spec spec = {.magic = 1, .codec = (int8_t)codec};
	struct kw_buf out = {0};
	int code = kw_legacy_build(&spec, messages, 20, &out, err);

	kw_buf_fini(&out);
	return code;
}

static int convert_down(int codec, struct kt_err *err)
{
	struct kw_buf out = {0};
	int code = kw_convert_down(sets[2][codec].p, sets[2][codec].n, 1, 0, NULL, &out, err);

	kw_buf_fini(&out);
	return code;
}

static int convert_up(int codec, struct kt_err *err)
{
	struct kw_convert_up to = {.magic = 2, .codec = -1};
	struct kw_buf out = {0};
	int code = kw_convert_up(sets[0][codec].p, sets[0][codec].n, &to, NULL, &out, err);

	kw_buf_fini(&out);
	return code;
}

static void no_set_too_large(void **state)
{
	(void)state;
	for (int codec = KW_NONE; codec <= KW_ZSTD; codec++)
		exhaust(build_batch, codec, 4);
	for (int codec = KW_NONE; codec <= KW_LZ4; codec++) {
		exhaust(build_messages, codec, 3);
		exhaust(convert_down, codec, 3);
		exhaust(convert_up, codec, 4);
	}
}

static int encode_request(int version, struct kt_err *err)
{
	struct kw_MetadataRequest_MetadataRequestTopic topics[40] = {0};
	struct kw_MetadataRequest request = {.topics = {topics, 40}};
	struct kw_buf out = {0};
	int code;

	for (int i = 0; i < 40; i++)
		topics[i].name = kw_str("a topic of a long name");
	code = kw_encode(&kw_msg_MetadataRequest, version, &request, &out, err);
	kw_buf_fini(&out);
	return code;
}

static int build_marker(int type, struct kt_err *err)
{
	const struct kw_EndTxnMarker marker = {0};
	struct kw_buf out = {0};
	int code = kw_control_build(&kw_batch_spec_default, type, 0, &marker, &out, err);

	kw_buf_fini(&out);
	return code;
}

static void no_message_too_large(void **state)
{
	(void)state;
	assert_int_equal(encode_request(9, NULL), 0);   /* the plan is there from now on */
	exhaust(encode_request, 9, 3);
	assert_int_equal(build_marker(1, NULL), 0);
	exhaust(build_marker, 1, 2);
}

static int build_from_json(int codec, struct kt_err *err)
{
	char text[300];
	struct kw_buf out = {0};
	json_t *json;
	int code;

	snprintf(text, sizeof text,
		 "[{\"magic\": %d, \"codec\": \"%s\", \"records\": [{\"value\": {\"size\": 400}, \"repeat\": 9}]}]",
		 codec > KW_ZSTD ? 1 : 2, kw_codec_name(codec % (KW_ZSTD + 1)));
	json = json_loads(text, 0, NULL);
	code = kw_batches_from_json(json, &out, err);
	json_decref(json);
	kw_buf_fini(&out);
	return code;
}

static void no_json_too_large(void **state)
{
	(void)state;
	for (int codec = KW_NONE; codec <= KW_ZSTD + 1 + KW_LZ4; codec++)
		exhaust(build_from_json, codec, 4);
}

/* The other reason stays told apart. */
static void a_maximum_is_no_lack_of_memory(void **state)
{
	struct kw_buf out;

	(void)state;
	for (int codec = KW_NONE; codec <= KW_ZSTD; codec++) {
		struct kw_batch_spec spec = kw_batch_spec_default;
		struct kt_err err = {0};

		spec.attributes = (int16_t)codec;
		kw_buf_init(&out, 64);
		assert_int_equal(kw_batch_build(&spec, records, 20, &out, &err), KT_ELIMIT);
		assert_int_equal(err.code, KT_ELIMIT);
		kw_buf_fini(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_fault_of_the_records),
		cmocka_unit_test(no_set_too_large),
		cmocka_unit_test(no_message_too_large),
		cmocka_unit_test(no_json_too_large),
		cmocka_unit_test(a_maximum_is_no_lack_of_memory),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
