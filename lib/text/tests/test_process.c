/* Processes told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/text/process.h"

static void the_same_and_others(void **state)
{
	char self[KT_PROCESS_TEXT], again[KT_PROCESS_TEXT], parent[KT_PROCESS_TEXT], boot[37];
	unsigned long long namespace, start;
	int pid;

	(void)state;
	assert_int_equal(kt_process_text(getpid(), self, NULL), 0);
	assert_int_equal(kt_process_text(getpid(), again, NULL), 0);
	assert_string_equal(self, again);
	assert_int_equal(sscanf(self, "%36s %llu %d %llu", boot, &namespace, &pid, &start), 4);
	assert_int_equal(strlen(boot), 36);
	assert_int_equal(pid, getpid());
	assert_true(namespace > 0 && start > 0);
	assert_int_equal(kt_process_text(getppid(), parent, NULL), 0);
	assert_string_not_equal(self, parent);
	assert_memory_equal(self, parent, 36);
}

/* A name with blanks and brackets moves no field. */
static void a_name_that_looks_like_fields(void **state)
{
	char before[KT_PROCESS_TEXT], behind[KT_PROCESS_TEXT];

	(void)state;
	assert_int_equal(kt_process_text(getpid(), before, NULL), 0);
	prctl(PR_SET_NAME, "a) R 1 2 (b", 0UL, 0UL, 0UL);
	assert_int_equal(kt_process_text(getpid(), behind, NULL), 0);
	assert_string_equal(before, behind);
}

static void nobody_has_that_pid(void **state)
{
	char text[KT_PROCESS_TEXT] = "before";
	struct kt_err err = {0};
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(kt_process_text(child, text, &err), KT_ESYS);
	assert_string_equal(text, "");
	assert_non_null(strstr(err.text, "/stat cannot be read"));
	assert_int_equal(kt_process_text(child, text, NULL), KT_ESYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_and_others),
		cmocka_unit_test(a_name_that_looks_like_fields),
		cmocka_unit_test(nobody_has_that_pid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
