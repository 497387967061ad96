#include "conformance/setup.h"

#include <stdio.h>
#include <string.h>

#include "conformance/globs.h"

int cf_setup_load(struct cf_setup *setup, const char *data, const char *profile, const char *program)
{
	char defaults[PATH_MAX + 32];
	struct kt_err err = {0};
	int status;

	memset(setup, 0, sizeof *setup);
	status = cf_load_or_complain(&setup->suite, data, program);
	if (status)
		return status;
	snprintf(defaults, sizeof defaults, "%s/profiles/default.json", setup->suite.data.dir);
	if (cf_profile_load(&setup->profile, defaults, profile, &err) == 0 &&
	    cf_globs_check_profile(&setup->profile, &setup->suite, &err) == 0)
		return 0;
	kt_complain(program, &err);
	return KT_EXIT_USAGE;
}

int cf_setup_target(struct cf_setup *setup, const char *bootstrap, const char *program)
{
	struct kt_err err = {0};

	if (!bootstrap)
		bootstrap = setup->profile.bootstrap;
	if (!bootstrap) {
		fprintf(stderr, "%s: which broker? Give --bootstrap-server HOST:PORT\n", program);
		return KT_EXIT_USAGE;
	}
	if (cf_target_probe(&setup->target, bootstrap, &setup->profile, &err) == 0)
		return 0;
	kt_complain(program, &err);
	return err.code == KT_EUSAGE || err.code == KT_ESYNTAX || err.code == KT_ERANGE
	       ? KT_EXIT_USAGE : KT_EXIT_ENGINE;
}

void cf_setup_fini(struct cf_setup *setup)
{
	cf_target_fini(&setup->target);
	cf_profile_fini(&setup->profile);
	cf_suite_fini(&setup->suite);
}
