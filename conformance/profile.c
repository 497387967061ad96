#include "conformance/profile.h"

#include <stdlib.h>
#include <string.h>

#include "lib/client/client.h"

enum { TIMEOUT = 5000, PREFIX_MAX = 60 };

static int read_claims(struct cf_profile *profile, struct kt_obj *obj)
{
	struct kt_obj claims;

	kt_obj_object(obj, "capabilities", &claims);
	for (int i = 0; i < CF_NCAPABILITIES; i++) {
		bool present;

		if (kt_obj_bool(&claims, cf_capability_name((enum cf_capability)i), &present))
			profile->claims[i] = present ? CF_CLAIMS_PRESENT : CF_CLAIMS_ABSENT;
	}
	return kt_obj_done(&claims);
}

static int read_names(struct cf_profile *profile, struct kt_obj *obj, bool known_only)
{
	struct kt_obj names;
	const char *name;

	kt_obj_object(obj, "names", &names);
	while (kt_obj_each(&names, &name)) {
		json_t *value = kt_obj_any(&names, name);

		if (!json_is_string(value) && !json_is_null(value))
			return kt_obj_fail(&names, name, KT_ETYPE, "must be a string or null");
		if (known_only && !json_object_get(profile->names, name))
			return kt_obj_fail(&names, name, KT_EUNKNOWN,
					   "no case uses a name \"%s\"; profiles/default.json lists all", name);
		json_object_set(profile->names, name, value);
	}
	return kt_obj_done(&names);
}

static int read_disabled(struct cf_profile *profile, struct kt_obj *obj)
{
	struct kt_arr arr;
	const char *glob;

	if (!kt_obj_array(obj, "disabled", &arr))
		return obj->err->code;
	profile->disabled = calloc(arr.n + 1, sizeof *profile->disabled);
	if (!profile->disabled)
		return kt_obj_fail(obj, NULL, KT_ENOMEM, "out of memory");
	while (kt_arr_str(&arr, &glob))
		profile->disabled[profile->ndisabled++] = glob;
	return obj->err->code;
}

static int read_failures(struct cf_profile *profile, struct kt_obj *obj)
{
	struct kt_obj row;
	struct kt_arr arr;

	if (!kt_obj_array(obj, "expectedFailures", &arr))
		return obj->err->code;
	profile->failures = calloc(arr.n + 1, sizeof *profile->failures);
	if (!profile->failures)
		return kt_obj_fail(obj, NULL, KT_ENOMEM, "out of memory");
	while (kt_arr_object(&arr, &row)) {
		struct cf_expected_failure *failure = &profile->failures[profile->nfailures++];

		kt_obj_need(&row, "case", "message", "why", NULL);
		kt_obj_str(&row, "case", &failure->glob);
		kt_obj_str(&row, "message", &failure->message);
		kt_obj_str(&row, "why", &failure->why);
		if (kt_obj_done(&row))
			break;
	}
	return obj->err->code;
}

static int read_login(struct cf_profile *profile, struct kt_obj *obj)
{
	const char *user, *password;
	struct kt_obj login;

	if (!kt_obj_object(obj, "login", &login))
		return obj->err->code;
	kt_obj_need(&login, "username", "password", NULL);
	if (kt_obj_str(&login, "username", &user) && kt_obj_str(&login, "password", &password)) {
		kc_login_set(&profile->login, "security.protocol", "sasl_plaintext", obj->err);
		kc_login_set(&profile->login, "sasl.username", user, obj->err);
		kc_login_set(&profile->login, "sasl.password", password, obj->err);
	}
	return kt_obj_done(&login);
}

/* Of a broker or a controller; host and port of the latter are kept. */
static int read_address(struct kt_obj *obj, const char *name, const char **text, char host[KT_HOST_MAX], int *port)
{
	struct kt_err why = {0};

	if (!kt_obj_str(obj, name, text) || kc_parse_address(*text, host, KT_HOST_MAX, port, &why) == 0)
		return obj->err->code;
	return kt_obj_fail(obj, name, why.code, "%s", why.text);
}

/* Names of topics begin with it, and are long enough without. */
static int read_prefix(struct kt_obj *obj, const char **prefix)
{
	static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	if (kt_obj_str(obj, "topicPrefix", prefix) &&
	    (strlen(*prefix) > PREFIX_MAX || (*prefix)[strspn(*prefix, legal)]))
		return kt_obj_fail(obj, "topicPrefix", KT_ERANGE,
				   "must be at most %d of the characters that names of topics have", PREFIX_MAX);
	return obj->err->code;
}

static int read_profile(struct cf_profile *profile, struct kt_json *doc, bool user, struct kt_err *err)
{
	char host[KT_HOST_MAX];
	struct kt_obj obj;
	int port;

	kt_obj_root(&obj, doc, err);
	kt_obj_str(&obj, "name", &profile->name);
	read_address(&obj, "bootstrap", &profile->bootstrap, host, &port);
	read_address(&obj, "controller", &profile->controller, profile->controller_host, &profile->controller_port);
	kt_obj_str(&obj, "observations", &profile->observations);
	read_prefix(&obj, &profile->topicPrefix);
	kt_obj_int(&obj, "timeoutMs", 100, 600000, &profile->timeout);
	if (read_login(profile, &obj) || read_claims(profile, &obj) || read_names(profile, &obj, user) ||
	    read_disabled(profile, &obj) || read_failures(profile, &obj))
		return err->code;
	return kt_obj_done(&obj);
}

int cf_profile_load(struct cf_profile *profile, const char *defaults, const char *file, struct kt_err *err)
{
	memset(profile, 0, sizeof *profile);
	profile->timeout = TIMEOUT;
	profile->topicPrefix = "kassay-";
	profile->names = json_object();
	profile->login.how = "\"login\" in a --profile gives it";
	if (kt_json_load(&profile->defaults, defaults, err) || read_profile(profile, &profile->defaults, false, err))
		return err->code;
	if (file && kt_json_load(&profile->doc, file, err) == 0)
		read_profile(profile, &profile->doc, true, err);
	return err->code;
}

void cf_profile_fini(struct cf_profile *profile)
{
	kc_login_fini(&profile->login);
	json_decref(profile->names);
	free(profile->disabled);
	free(profile->failures);
	kt_json_fini(&profile->defaults);
	kt_json_fini(&profile->doc);
	memset(profile, 0, sizeof *profile);
}
