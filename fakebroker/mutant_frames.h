/* What only mutants find wrong with a request, or fail to find. Without a mutant all of these are false. Private to
 * dispatch. */
#ifndef KASSAY_FAKEBROKER_MUTANT_FRAMES_H
#define KASSAY_FAKEBROKER_MUTANT_FRAMES_H

#include "fakebroker/request.h"

/* Does a mutant refuse the header, which takes `used` bytes of the frame, or the body, which begins at `at`? Both were
 * read. */
bool fb_mutant_refuses_request_header(const struct fb_request *req, size_t used);
bool fb_mutant_refuses_request_body(const struct fb_request *req, size_t at);
/* Does a mutant serve a body that could be read only up to err? */
bool fb_mutant_misses_body_fault(const struct kt_err *err);

#endif
