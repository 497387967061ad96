/* Kafka's validators (ConfigDef.Range, ValidString, ValidList, ...) on a parsed value, with their words. */
#include <ctype.h>
#include <stdio.h>

#include "fakebroker/config/levels.h"
#include "fakebroker/config/message.h"
#include "fakebroker/config/parse.h"
#include "fakebroker/config/twins.h"
#include "fakebroker/mutants.h"

struct call {
	const struct fb_configdef *def;
	const struct fb_validator *validator;
	struct fb_value *value;
	struct kw_arena *arena;
	const char **message;
};

static bool refuse(const struct call *call, struct kw_str shown, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static bool refuse_plain(const struct call *call, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "Invalid value SHOWN for configuration NAME: ..." */
static bool refuse(const struct call *call, struct kw_str shown, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	*call->message = fb_invalid(call->def, shown, fmt ? fb_vmessage(call->arena, fmt, ap) : NULL, call->arena);
	va_end(ap);
	return false;
}

static bool refuse_plain(const struct call *call, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	*call->message = fb_vmessage(call->arena, fmt, ap);
	va_end(ap);
	return false;
}

static struct kw_str shown(const struct call *call)
{
	return fb_value_text(call->def, call->value, call->arena);
}

/* A bound as Java prints it: whole numbers without a fraction. */
static const char *bound(const struct call *call, int64_t l, double d)
{
	char buf[FB_DOUBLE_TEXT];

	if (call->def->type == FB_DOUBLE && d != (double)l)
		return kw_sprintf(call->arena, "%s", fb_double_text(d, buf));
	return kw_sprintf(call->arena, "%lld", (long long)l);
}

static bool below(const struct call *call)
{
	const struct fb_validator *v = call->validator;

	return v->has_min && (call->def->type == FB_DOUBLE ? call->value->d < v->dmin : call->value->l < v->lmin);
}

static bool above(const struct call *call)
{
	const struct fb_validator *v = call->validator;

	return v->has_max && (call->def->type == FB_DOUBLE ? call->value->d > v->dmax : call->value->l > v->lmax);
}

static bool check_range(const struct call *call)
{
	const struct fb_validator *v = call->validator;

	if (call->value->null)
		return refuse(call, KW_NULL_STR, "Value must be non-null");
	if (below(call) && !fb_mutant(FB_M_RANGE_UNCHECKED))
		return refuse(call, shown(call), "Value must be at least %s", bound(call, v->lmin, v->dmin));
	if (above(call))
		return refuse(call, shown(call), "Value must be no more than %s", bound(call, v->lmax, v->dmax));
	return true;
}

static bool check_range_or(const struct call *call)
{
	const struct fb_validator *v = call->validator;

	if (call->value->null)
		return refuse(call, KW_NULL_STR, "Value must be non-null");
	if (call->value->l == v->other || (!below(call) && !above(call)))
		return true;
	return refuse(call, shown(call), "Value must be between %lld and %lld or equal to %lld", (long long)v->lmin,
		(long long)v->lmax, (long long)v->other);
}

static bool named(const struct fb_validator *validator, struct kw_str word)
{
	for (const char *const *name = validator->names; *name; name++) {
		if (strlen(*name) != (size_t)word.n)
			continue;
		if (validator->kind == FB_V_ONEOF_CASE ? strncasecmp(*name, word.s, (size_t)word.n) == 0 :
							 memcmp(*name, word.s, (size_t)word.n) == 0)
			return true;
	}
	return false;
}

static const char *names(const struct call *call)
{
	const char *text = "";

	for (const char *const *name = call->validator->names; text && *name; name++)
		text = kw_sprintf(call->arena, "%s%s%s", text, name == call->validator->names ? "" : ", ", *name);
	return text;
}

static bool check_oneof(const struct call *call)
{
	const char *how = call->validator->kind == FB_V_ONEOF_CASE ? " (case insensitive)" : "";

	if ((!call->value->null && named(call->validator, call->value->s)) || fb_mutant(FB_M_WORDS_UNCHECKED))
		return true;
	return refuse(call, shown(call), "String must be one of%s: %s", how, names(call));
}

/* ConfigDef.parse drops what a ValidList would call a duplicate. False, without a message, when memory is exhausted. */
static bool drop_duplicates(const struct call *call)
{
	struct fb_value *value = call->value;
	struct fb_named *names = kw_alloc(call->arena, value->nitems * sizeof *names);
	struct fb_twins *twins;
	size_t n = 0;

	for (size_t i = 0; names && i < value->nitems; i++)
		names[i] = (struct fb_named){0, value->items[i]};
	twins = names ? fb_find_twins(names, value->nitems, call->arena) : NULL;
	*call->message = NULL;
	if (!twins)
		return false;
	for (size_t i = 0; i < value->nitems; i++)
		if (twins[i].first == i)
			value->items[n++] = value->items[i];
	value->nitems = n;
	return true;
}

static bool check_each(const struct call *call)
{
	for (size_t i = 0; !call->value->null && i < call->value->nitems; i++)
		if (!named(call->validator, call->value->items[i]))
			return refuse(call, call->value->items[i], "String must be one of: %s", names(call));
	return true;
}

static bool check_list(const struct call *call)
{
	const struct fb_validator *v = call->validator;
	const char *name = call->def->name;

	if (v->loose)
		return check_each(call);
	if (call->value->null)
		return v->null_ok || refuse_plain(call, "Configuration '%s' values must not be null.", name);
	if (call->value->nitems == 0 && !v->empty_ok)
		return refuse_plain(call, "Configuration '%s' must not be empty. Valid values include: %s%s%s", name,
				    v->kind == FB_V_LISTOF ? "[" : "",
				    v->kind == FB_V_LISTOF ? names(call) : "any non-empty value",
				    v->kind == FB_V_LISTOF ? "]" : "");
	if (!drop_duplicates(call))
		return false;
	for (size_t i = 0; i < call->value->nitems; i++) {
		struct kw_str item = call->value->items[i];

		if (item.n == 0)
			return refuse_plain(call, "Configuration '%s' values must not be empty.", name);
		if (v->kind == FB_V_LISTOF && !named(v, item) && !fb_mutant(FB_M_LIST_UNCHECKED))
			return refuse(call, item, "String must be one of: %s", names(call));
	}
	return true;
}

static bool check_entries(const struct call *call)
{
	int64_t max = call->validator->lmax;
	size_t n = call->value->nitems;

	if (call->def->type == FB_STRING)   /* a list in all but name: log.dirs until 4.1 */
		fb_split_list(call->value->s, call->arena, &n);
	if (call->value->null || (int64_t)n <= max)
		return true;
	if (max == 0)
		return refuse(call, shown(call), "List must be empty");
	return refuse(call, shown(call), "List must have no more than %lld %s", (long long)max,
		      max == 1 ? "entry" : "entries");
}

static bool check_nonempty(const struct call *call)
{
	return call->value->null || call->value->s.n > 0 || refuse(call, call->value->s, "String must be non-empty");
}

static bool check_nonnull(const struct call *call)
{
	return !call->value->null || refuse(call, KW_NULL_STR, "entry must be non null");
}

static bool digits(struct kw_str text, int32_t *i)
{
	int32_t from = *i;

	while (*i < text.n && isdigit((uint8_t)text.s[*i]))
		++*i;
	return *i > from;
}

/* "" or PARTITION:BROKER */
static bool replica(struct kw_str item)
{
	int32_t i = 0;

	if (item.n == 0)
		return true;
	return digits(item, &i) && i < item.n && item.s[i++] == ':' && digits(item, &i) && i == item.n;
}

/* Source: ThrottledReplicaListValidator. A list that is nothing but a star, in any number of entries, joins to "*". */
static bool check_replicas(const struct call *call)
{
	const struct fb_value *value = call->value;
	struct kw_str all;
	bool good = true;

	for (size_t i = 0; i < value->nitems; i++)
		good = good && replica(value->items[i]);
	if (good || kw_str_is(fb_join(value->items, value->nitems, "", call->arena), "*"))
		return true;
	all = fb_join(value->items, value->nitems, ", ", call->arena);
	return refuse(call, kw_str(kw_sprintf(call->arena, "[%.*s]", FB_STR(all))), "%s must be the literal '*' or a "
		      "list of replicas in the following format: [partitionId]:[brokerId],[partitionId]:[brokerId],...",
		      call->def->name);
}

static bool host_char(char c)
{
	return isalnum((uint8_t)c) || (c && strchr("-%._:", c));
}

/* Length of "scheme://" at the beginning, 0 without one. */
static int32_t scheme(struct kw_str text)
{
	int32_t i = 0;

	while (i < text.n && text.s[i] != ':' && host_char(text.s[i]))
		i++;
	return text.n - i >= 3 && memcmp(text.s + i, "://", 3) == 0 ? i + 3 : 0;
}

/* Utils.HOST_PORT_PATTERN: [scheme://]host:port, where the host may be in square brackets. */
static bool host_port(struct kw_str text, int64_t *port)
{
	int32_t colon = text.n - 1, from = scheme(text), to;
	struct kw_str number;

	while (colon >= from && text.s[colon] != ':')
		colon--;
	if (colon < from)
		return false;
	number = (struct kw_str){text.s + colon + 1, text.n - colon - 1};
	if (!fb_parse_long(number, 0, INT32_MAX, port) || !isdigit((uint8_t)number.s[0]))
		return false;
	to = colon;
	if (from < to && text.s[from] == '[')
		from++;
	if (from < to && text.s[to - 1] == ']')
		to--;
	for (int32_t i = from; i < to; i++) {
		if (!host_char(text.s[i]))
			return false;
	}
	return true;
}

static bool check_port(const struct call *call, int64_t port)
{
	return port <= UINT16_MAX || refuse_plain(call, "port out of range:%lld", (long long)port);
}

/* Source: QuorumConfig.parseBootstrapServer. */
static bool check_bootstrap(const struct call *call)
{
	int64_t port = 0;

	if (call->value->null)
		return refuse(call, KW_NULL_STR, NULL);
	for (size_t i = 0; i < call->value->nitems; i++) {
		struct kw_str item = call->value->items[i];

		if (!host_port(item, &port))
			return refuse_plain(call, "Failed to parse host name from %.*s for the configuration %s. "
				"Each entry should be in the form \"{host}:{port}\"", FB_STR(item), call->def->name);
		if (!check_port(call, port))
			return false;
	}
	return true;
}

/* Source: QuorumConfig.parseVoterConnections. */
static bool check_voters(const struct call *call)
{
	static const char form[] = "Each entry should be in the form `{id}@{host}:{port}`.";
	int64_t id, port = 0;

	if (call->value->null)
		return refuse(call, KW_NULL_STR, NULL);
	for (size_t i = 0; i < call->value->nitems; i++) {
		struct kw_str item = call->value->items[i], left, right;
		const char *at = item.n ? memchr(item.s, '@', (size_t)item.n) : NULL;

		if (!at || memchr(at + 1, '@', (size_t)(item.s + item.n - at - 1)))
			return refuse_plain(call, "Invalid configuration value for %s. %s", call->def->name, form);
		left = (struct kw_str){item.s, (int32_t)(at - item.s)};
		right = (struct kw_str){at + 1, item.n - left.n - 1};
		if (!fb_parse_long(left, INT32_MIN, INT32_MAX, &id))
			return refuse_plain(call, "Failed to parse voter ID as an integer from %.*s", FB_STR(left));
		if (!host_port(right, &port))
			return refuse_plain(call, "Failed to parse host name from entry %.*s for the configuration "
				"%s. %s", FB_STR(item), call->def->name, form);
		if (!check_port(call, port))
			return false;
	}
	return true;
}

/* One part of an ISO 8601 duration: [sign]digits[.fraction]UNIT. Leaves *i alone if it is not there. */
static bool duration_part(struct kw_str text, int32_t *i, char unit, double seconds, double *sum)
{
	int32_t at = *i, from = at;
	double v;

	if (at < text.n && (text.s[at] == '-' || text.s[at] == '+'))
		from = ++at;
	if (!digits(text, &at))
		return false;
	fb_parse_double((struct kw_str){text.s + from, at - from}, &v);
	if (unit == 'S' && at < text.n && (text.s[at] == '.' || text.s[at] == ',')) {
		int32_t fraction = ++at;

		digits(text, &at);
		if (at - fraction > 9)
			return false;
		v += at > fraction ? 0.5 : 0;      /* how much does not matter, only its sign does */
	}
	if (at >= text.n || toupper((uint8_t)text.s[at]) != unit)
		return false;
	*sum += text.s[*i] == '-' ? -v * seconds : v * seconds;
	*i = at + 1;
	return true;
}

/* java.time.Duration.parse: is text a duration that is not negative? */
static bool duration(struct kw_str text)
{
	bool minus = text.n > 0 && text.s[0] == '-', any = false, time = false;
	int32_t i = minus || (text.n > 0 && text.s[0] == '+');
	double sum = 0;

	if (i >= text.n || toupper((uint8_t)text.s[i++]) != 'P')
		return false;
	any = duration_part(text, &i, 'D', 86400, &sum);
	if (i < text.n && toupper((uint8_t)text.s[i]) == 'T') {
		i++;
		time |= duration_part(text, &i, 'H', 3600, &sum);
		time |= duration_part(text, &i, 'M', 60, &sum);
		time |= duration_part(text, &i, 'S', 1, &sum);
		if (!time)
			return false;
	}
	return (any || time) && i == text.n && (minus ? -sum : sum) >= 0;
}

/* Source: ShareGroupAutoOffsetResetStrategy.Validator. */
static bool check_offset_reset(const struct call *call)
{
	static const char by[] = "by_duration:";
	struct kw_str s = call->value->null ? KW_NULL_STR : call->value->s;
	int32_t n = (int32_t)strlen(by);

	if (kw_str_is(s, "latest") || kw_str_is(s, "earliest"))
		return true;
	if (s.n > n && memcmp(s.s, by, (size_t)n) == 0 && duration((struct kw_str){s.s + n, s.n - n}))
		return true;
	return refuse(call, s, "Invalid value `%.*s` for configuration %s. The value must be either 'earliest', "
		"'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'.", FB_STR(s), call->def->name);
}

/* Up to the second dot, of 0.x up to the third. */
static struct kw_str version_key(struct kw_str text)
{
	int dots = text.n > 1 && memcmp(text.s, "0.", 2) == 0 ? 3 : 2;

	for (int32_t i = 0; i < text.n; i++)
		if (text.s[i] == '.' && --dots == 0)
			return (struct kw_str){text.s, i};
	return text;
}

/* Is it the version, or without its "-IV0"? */
static bool names_version(struct kw_str text, const char *version)
{
	return kw_str_is(text, version) || kw_str_eq(text, (struct kw_str){version, (int32_t)strcspn(version, "-")});
}

/* Source: MetadataVersion.fromVersionString (3.9.0), which knows a version by "0.10.2-IV0" and by "0.10.2". */
static bool check_version(const struct call *call)
{
	static const char *const before_levels[] = {
		"0.8.0", "0.8.1", "0.8.2", "0.9.0", "0.10.0-IV0", "0.10.0-IV1", "0.10.1-IV0", "0.10.1-IV1",
		"0.10.1-IV2", "0.10.2-IV0", "0.11.0-IV0", "0.11.0-IV1", "0.11.0-IV2", "1.0-IV0", "1.1-IV0", "2.0-IV0",
		"2.0-IV1", "2.1-IV0", "2.1-IV1", "2.1-IV2", "2.2-IV0", "2.2-IV1", "2.3-IV0", "2.3-IV1", "2.4-IV0",
		"2.4-IV1", "2.5-IV0", "2.6-IV0", "2.7-IV0", "2.7-IV1", "2.7-IV2", "2.8-IV0", "2.8-IV1", "3.0-IV0",
	};
	enum { LAST_KNOWN = 23 };   /* level of 4.0-IV1 */
	struct kw_str text = call->value->null ? KW_NULL_STR : call->value->s, key = version_key(text);

	for (size_t i = 0; i < sizeof before_levels / sizeof *before_levels; i++)
		if (names_version(key, before_levels[i]))
			return true;
	for (int16_t level = 1; level <= LAST_KNOWN; level++)
		if (names_version(key, fb_level_name(level)))
			return true;
	return refuse(call, text, "Version %.*s is not a valid version", FB_STR(text));
}

static bool (*const checks[])(const struct call *call) = {
	[FB_V_RANGE] = check_range,
	[FB_V_RANGE_OR] = check_range_or,
	[FB_V_ONEOF] = check_oneof,
	[FB_V_ONEOF_CASE] = check_oneof,
	[FB_V_LISTOF] = check_list,
	[FB_V_LIST] = check_list,
	[FB_V_ENTRIES] = check_entries,
	[FB_V_NONEMPTY] = check_nonempty,
	[FB_V_NONNULL] = check_nonnull,
	[FB_V_REPLICAS] = check_replicas,
	[FB_V_VOTERS] = check_voters,
	[FB_V_BOOTSTRAP] = check_bootstrap,
	[FB_V_VERSION] = check_version,
	[FB_V_OFFSET_RESET] = check_offset_reset,
};

bool fb_validate(const struct fb_configdef *def, const struct fb_validator *validator, struct fb_value *value,
		 struct kw_arena *arena, const char **message)
{
	const struct call call = {def, validator, value, arena, message};

	return validator->kind == FB_V_NONE || checks[validator->kind](&call);
}
