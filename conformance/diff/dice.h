/* Chance that a seed repeats. */
#ifndef KASSAY_CONFORMANCE_DIFF_DICE_H
#define KASSAY_CONFORMANCE_DIFF_DICE_H

#include <stdbool.h>
#include <stdint.h>

struct cf_dice {
	uint64_t state;
};

/* splitmix64 */
static inline uint64_t cf_roll64(struct cf_dice *dice)
{
	uint64_t z = dice->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* 0 to n - 1. */
static inline int cf_roll(struct cf_dice *dice, int n)
{
	return (int)(cf_roll64(dice) % (uint64_t)n);
}

/* One time in n. */
static inline bool cf_rarely(struct cf_dice *dice, int n)
{
	return cf_roll(dice, n) == 0;
}

#define CF_PICK(dice, array) ((array)[cf_roll((dice), (int)(sizeof(array) / sizeof *(array)))])

#endif
