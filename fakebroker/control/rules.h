/* Rules: which requests are answered otherwise than they should be. */
#ifndef KASSAY_FAKEBROKER_CONTROL_RULES_H
#define KASSAY_FAKEBROKER_CONTROL_RULES_H

#include <jansson.h>

#include "fakebroker/request.h"
#include "lib/text/json.h"

struct fb_rules;

/* X(symbol, name, help) */
#define FB_ACTIONS(X)                                                                          \
	X(FB_ACT_ERROR, "error", "answer with an error code everywhere and change nothing")    \
	X(FB_ACT_DELAY, "delay", "wait before the request is handled")                         \
	X(FB_ACT_CLOSE, "close", "close the connection without an answer")

enum fb_action_kind {
#define FB_X(sym, name, help) sym,
	FB_ACTIONS(FB_X)
#undef FB_X
	FB_ACT_NONE,
};

struct fb_action {
	enum fb_action_kind kind;
	int16_t error;             /* FB_ACT_ERROR */
	int64_t delay_ms;          /* FB_ACT_DELAY */
};

/* For the cluster's requests; it must outlive the rules. */
struct fb_rules *fb_rules_new(const struct fb_cluster *cluster, uint64_t seed);
void fb_rules_free(struct fb_rules *rules);
/* Adds the rule {"name", "match": {...}, "action": {...}, "expect": {...}}, see docs/fakebroker.md, or replaces the one
 * of that name. name NULL: as the rule says; if it says nothing either, it gets one. Returns 0 or the code of json's
 * error. */
int fb_rules_put(struct fb_rules *rules, const char *name, struct kt_obj *json);
bool fb_rules_delete(struct fb_rules *rules, const char *name);
/* All rules with their hit counts; a new reference. */
json_t *fb_rules_json(struct fb_rules *rules);
/* One rule, NULL if there is none of that name. */
json_t *fb_rules_get(struct fb_rules *rules, const char *name);
/* What to do with a parsed request: the first rule that matches. Counts the hit. Any thread. */
struct fb_action fb_rules_match(struct fb_rules *rules, const struct fb_request *req);
/* Rules whose "expect" was not met: number, and their names and counts in text. */
size_t fb_rules_unmet(struct fb_rules *rules, char *text, size_t size);

#endif
