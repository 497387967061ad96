#include "fakebroker/log/verifications.h"

#include <stdlib.h>

#include "lib/text/err.h"

enum { FIRST_CAP = 4 };

void fb_verifications_fini(struct fb_verifications *verifications)
{
	free(verifications->v);
	fb_producer_ids_fini(&verifications->ids);
	*verifications = (struct fb_verifications){0};
}

static struct fb_verification *find(const struct fb_verifications *verifications, int64_t producerId)
{
	size_t at;

	return fb_producer_ids_find(&verifications->ids, producerId, &at) ? &verifications->v[at] : NULL;
}

const struct fb_verification *fb_verification_find(const struct fb_verifications *verifications, int64_t producerId)
{
	return find(verifications, producerId);
}

static int reserve(struct fb_verifications *verifications)
{
	size_t cap = verifications->cap ? verifications->cap * 2 : FIRST_CAP;
	struct fb_verification *v;

	if (verifications->n == verifications->cap) {
		v = realloc(verifications->v, cap * sizeof *v);
		if (!v)
			return KT_ENOMEM;
		verifications->v = v;
		verifications->cap = cap;
	}
	return fb_producer_ids_reserve(&verifications->ids);
}

static struct fb_verification *add(struct fb_verifications *verifications, const struct kw_batch *batch, bool bumps,
				   int64_t now)
{
	struct fb_verification *verification;

	if (reserve(verifications) < 0)
		return NULL;
	verification = &verifications->v[verifications->n];
	*verification = (struct fb_verification){
		.producerId = batch->producerId, .guard = ++verifications->guards, .since_ms = now,
		.lowestSequence = batch->baseSequence, .producerEpoch = batch->producerEpoch, .bumps = bumps,
	};
	fb_producer_ids_put(&verifications->ids, batch->producerId, verifications->n++);
	return verification;
}

/* VerificationStateEntry.maybeUpdateLowestSequenceAndEpoch. */
static void take(struct fb_verification *verification, const struct kw_batch *batch)
{
	if (batch->producerEpoch < verification->producerEpoch)
		return;
	if (batch->producerEpoch > verification->producerEpoch || batch->baseSequence < verification->lowestSequence)
		verification->lowestSequence = batch->baseSequence;
	verification->producerEpoch = batch->producerEpoch;
}

uint64_t fb_verification_begin(struct fb_verifications *verifications, const struct kw_batch *batch, bool bumps,
			       int64_t now)
{
	struct fb_verification *verification = find(verifications, batch->producerId);

	if (!verification)
		verification = add(verifications, batch, bumps, now);
	if (!verification)
		return FB_NO_GUARD;
	take(verification, batch);
	return verification->guard;
}

void fb_verification_end(struct fb_verifications *verifications, int64_t producerId)
{
	struct fb_verification *verification = find(verifications, producerId);
	struct fb_verification last;

	if (!verification)
		return;
	last = verifications->v[--verifications->n];
	fb_producer_ids_put(&verifications->ids, last.producerId, (size_t)(verification - verifications->v));
	*verification = last;
	fb_producer_ids_remove(&verifications->ids, producerId);
}

void fb_verification_mark(struct fb_verifications *verifications, int64_t producerId, int16_t producerEpoch)
{
	const struct fb_verification *verification = find(verifications, producerId);

	if (verification && !(verification->bumps && verification->producerEpoch == producerEpoch))
		fb_verification_end(verifications, producerId);
}

void fb_verifications_expire(struct fb_verifications *verifications, int64_t now, int64_t ms)
{
	size_t i = 0;

	while (i < verifications->n) {
		const struct fb_verification *verification = &verifications->v[i];

		if (verification->since_ms > now || now - verification->since_ms < ms)
			i++;
		else
			fb_verification_end(verifications, verification->producerId);
	}
}
