/* What a measurement of costs makes of what a broker tells, and of what went wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "lib/text/opt.h"
#include "loadgen/cost.h"

static void exit_codes(void **state)
{
	static const struct {
		enum kt_code code;
		bool cannot_tell;
		enum lg_cost_verdict verdict;
		int exit;
	} rows[] = {
		{KT_OK, false, LG_COST_PASS, KT_EXIT_OK},
		{KT_OK, false, LG_COST_FAIL, KT_EXIT_VERDICT},
		{KT_OK, false, LG_COST_INCONCLUSIVE, KT_EXIT_INCOMPLETE},
		/* stopped, or no answer in time */
		{KT_ETIMEOUT, true, LG_COST_PASS, KT_EXIT_INCOMPLETE},
		{KT_ETIMEOUT, false, LG_COST_PASS, KT_EXIT_ENGINE},
		{KT_ENET, false, LG_COST_PASS, KT_EXIT_ENGINE},
		{KT_EPEER, false, LG_COST_PASS, KT_EXIT_ENGINE},
		{KT_EUSAGE, false, LG_COST_PASS, KT_EXIT_USAGE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct lg_cost cost = {.cannot_tell = rows[i].cannot_tell, .verdict = rows[i].verdict};
		struct kt_err err = {.code = rows[i].code};

		if (lg_cost_exit(&cost, &err) != rows[i].exit)
			fail_msg("row %zu: %d", i, lg_cost_exit(&cost, &err));
	}
}

static pid_t known(pid_t pid, const char *text)
{
	struct lg_process process;
	json_t *status = json_pack("{s:i, s:s?}", "pid", (int)pid, "process", text);

	lg_cost_take_process(status, &process);
	json_decref(status);
	assert_string_equal(process.text, text ? text : "");
	return process.pid;
}

/* A pid alone is that of some process here, too. */
static void processes_that_are_not_here(void **state)
{
	char text[KT_PROCESS_TEXT], other[KT_PROCESS_TEXT];

	(void)state;
	assert_int_equal(kt_process_text(getpid(), text, NULL), 0);
	assert_int_equal(known(getpid(), text), getpid());
	assert_int_equal(known(getpid(), NULL), 0);
	assert_int_equal(known(getpid(), ""), 0);
	assert_int_equal(known(getppid(), text), 0);
	for (size_t i = 0; i < strlen(text); i++) {   /* another boot, namespace, pid or start */
		if (text[i] < '0' || text[i] > '9')
			continue;
		memcpy(other, text, sizeof other);
		other[i] = other[i] == '9' ? '8' : (char)(other[i] + 1);
		assert_int_equal(known(getpid(), other), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exit_codes),
		cmocka_unit_test(processes_that_are_not_here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
