/* What AlterConfigs and IncrementalAlterConfigs share: the check, and applying what it allows. */
#ifndef KASSAY_FAKEBROKER_API_ALTER_H
#define KASSAY_FAKEBROKER_API_ALTER_H

#include "fakebroker/request.h"

/* Checks and, unless validateOnly, applies, resource by resource. The results are in the order of the answer. Under no
 * lock. 0 or KT_ENOMEM. */
int fb_alter(struct fb_request *req, const struct fb_alter_request *alter, bool validateOnly,
	     struct fb_alter_answer *answer);

#endif
