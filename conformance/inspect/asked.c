/* Which leader's answers are shown: release, topic configuration, clock. */
#include <ctype.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>

#include "conformance/inspect/inspect.h"

static int set_config(struct cf_asked *asked, const char *setting, struct kt_err *err)
{
	const char *equals = strchr(setting, '=');
	struct kt_err fault = {0};
	char name[100];

	if (!equals || equals == setting || (size_t)(equals - setting) >= sizeof name)
		return kt_fail(err, KT_EUSAGE, "--topic-config: must be NAME=VALUE, not \"%.100s\"", setting);
	snprintf(name, sizeof name, "%.*s", (int)(equals - setting), setting);
	if (kw_topic_conf_set(&asked->conf, name, equals + 1, &fault))
		return kt_fail(err, fault.code, "--topic-config %s: %.300s", name, fault.text);
	asked->configured = true;
	return 0;
}

static int find_release(struct cf_asked *asked, const char *name, struct kt_err *err)
{
	char known[100] = "";

	asked->release = name ? kw_release_find(name) : &kw_releases[kw_nreleases - 1];
	if (asked->release)
		return 0;
	for (size_t i = 0; i < kw_nreleases; i++)
		snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
			 kw_releases[i].name);
	return kt_fail(err, KT_EUNKNOWN, "--release: must be one of %s, not \"%.40s\"", known, name);
}

int cf_asked_init(struct cf_asked *asked, const char *release, const struct kt_list *configs, int64_t now,
		  struct kt_err *err)
{
	*asked = (struct cf_asked){.now = now >= 0 ? now : (int64_t)time(NULL) * 1000,
				   .detailed = release || configs->n};
	if (find_release(asked, release, err))
		return err->code;
	asked->conf = kw_release_conf(asked->release);
	cf_asked_of_file(asked, "");
	for (size_t i = 0; i < configs->n; i++)
		if (set_config(asked, configs->v[i], err))
			return err->code;
	return 0;
}

void cf_asked_of_file(struct cf_asked *asked, const char *file)
{
	char copy[PATH_MAX], *folder, *dash, *end;

	snprintf(copy, sizeof copy, "%s", file);
	folder = basename(dirname(copy));
	dash = strrchr(folder, '-');
	snprintf(asked->topic, sizeof asked->topic, "topic");
	asked->partition = 0;
	if (!dash || dash == folder || !isdigit((unsigned char)dash[1]))
		return;
	asked->partition = (int32_t)strtol(dash + 1, &end, 10);
	if (*end)
		asked->partition = 0;
	else
		snprintf(asked->topic, sizeof asked->topic, "%.*s", (int)(dash - folder), folder);
}
