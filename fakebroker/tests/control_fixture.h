/* What tests of the control API begin with: two brokers that serve, and topic "t". */
#ifndef KASSAY_FAKEBROKER_TESTS_CONTROL_FIXTURE_H
#define KASSAY_FAKEBROKER_TESTS_CONTROL_FIXTURE_H

#include "fakebroker/tests/http.h"
#include "fakebroker/tests/talk.h"

static struct running run;

static inline int set_up(void **state)
{
	struct fb_settings settings = {.nodes = 2, .seed = 7};

	(void)state;
	running_start(&run, &settings);
	make_topic(&run, "t");
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	running_stop(&run);
	return 0;
}

#endif
