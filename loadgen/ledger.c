#include "loadgen/ledger.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* An entry: fate in the low three bits, readings above, which stop counting at SEEN_MAX. */
#define FATE 7u
#define SEEN_ONE 8u
#define SEEN_SHIFT 3
#define SEEN_MAX 31u

struct page {
	pthread_mutex_t lock;
	uint8_t *entries;
	int64_t n, cap;
	int64_t highest;            /* greatest sequence read, -1 at first */
	int64_t reordered, unsent_present, corrupt;
};

struct lg_ledger {
	int32_t npartitions;
	struct page *pages;
};

const char *lg_fate_name(enum lg_fate fate)
{
	static const char *const names[] = {
#define LG_X(symbol, name, may, must) name,
		LG_FATES(LG_X)
#undef LG_X
	};
	return names[fate];
}

static bool may_be_present(enum lg_fate fate)
{
	static const bool may_be[] = {
#define LG_X(symbol, name, may, must) may,
		LG_FATES(LG_X)
#undef LG_X
	};
	return may_be[fate];
}

static bool must_be_present(enum lg_fate fate)
{
	static const bool must_be[] = {
#define LG_X(symbol, name, may, must) must,
		LG_FATES(LG_X)
#undef LG_X
	};
	return must_be[fate];
}

const char *lg_guarantee_text(const struct lg_guarantee *guarantee)
{
	if (!guarantee->kept)
		return "none (acks=0): a lost record is no violation";
	if (guarantee->once && guarantee->ordered)
		return "every acknowledged record once and in order";
	if (guarantee->once)
		return "every acknowledged record once, in any order";
	if (guarantee->ordered)
		return "every acknowledged record at least once, in order";
	return "every acknowledged record at least once, in any order";
}

void lg_tally_add(struct lg_tally *sum, const struct lg_tally *part)
{
	for (int i = 0; i < LG_NFATES; i++)
		sum->fates[i] += part->fates[i];
	sum->seen += part->seen;
	sum->lost += part->lost;
	sum->duplicated += part->duplicated;
	sum->reordered += part->reordered;
	sum->refused_present += part->refused_present;
	sum->unacked_present += part->unacked_present;
	sum->unsent_present += part->unsent_present;
	sum->corrupt += part->corrupt;
}

int64_t lg_tally_violations(const struct lg_tally *tally, const struct lg_guarantee *guarantee)
{
	return (guarantee->kept ? tally->lost : 0) + (guarantee->once ? tally->duplicated : 0) +
	       (guarantee->ordered ? tally->reordered : 0) + tally->refused_present + tally->unsent_present +
	       tally->corrupt;
}

int lg_ledger_new(int32_t npartitions, struct lg_ledger **out, struct kt_err *err)
{
	struct lg_ledger *ledger = calloc(1, sizeof *ledger);

	*out = NULL;
	if (ledger)
		ledger->pages = calloc((size_t)npartitions, sizeof *ledger->pages);
	if (!ledger || !ledger->pages) {
		free(ledger);
		return kt_fail(err, KT_ENOMEM, "no memory for the ledger of %d partitions", (int)npartitions);
	}
	ledger->npartitions = npartitions;
	for (int32_t i = 0; i < npartitions; i++) {
		pthread_mutex_init(&ledger->pages[i].lock, NULL);
		ledger->pages[i].highest = -1;
	}
	*out = ledger;
	return 0;
}

void lg_ledger_free(struct lg_ledger *ledger)
{
	if (!ledger)
		return;
	for (int32_t i = 0; i < ledger->npartitions; i++) {
		pthread_mutex_destroy(&ledger->pages[i].lock);
		free(ledger->pages[i].entries);
	}
	free(ledger->pages);
	free(ledger);
}

int32_t lg_ledger_partitions(const struct lg_ledger *ledger)
{
	return ledger->npartitions;
}

static bool page_grow(struct page *page)
{
	int64_t cap = page->cap > 0 ? 2 * page->cap : 4096;
	uint8_t *entries = realloc(page->entries, (size_t)cap);

	if (!entries)
		return false;
	page->entries = entries;
	page->cap = cap;
	return true;
}

int64_t lg_ledger_open(struct lg_ledger *ledger, int32_t partition)
{
	struct page *page = &ledger->pages[partition];
	int64_t sequence = -1;

	pthread_mutex_lock(&page->lock);
	if (page->n < page->cap || page_grow(page)) {
		sequence = page->n++;
		page->entries[sequence] = LG_IN_FLIGHT;
	}
	pthread_mutex_unlock(&page->lock);
	return sequence;
}

void lg_ledger_settle(struct lg_ledger *ledger, int32_t partition, int64_t sequence, enum lg_fate fate)
{
	struct page *page = &ledger->pages[partition];

	pthread_mutex_lock(&page->lock);
	page->entries[sequence] = (uint8_t)((page->entries[sequence] & ~FATE) | fate);
	pthread_mutex_unlock(&page->lock);
}

static void page_see(struct page *page, int64_t sequence)
{
	uint8_t *entry;

	if (sequence < 0 || sequence >= page->n) {
		page->unsent_present++;
		return;
	}
	entry = &page->entries[sequence];
	if (*entry < SEEN_ONE && sequence < page->highest)
		page->reordered++;
	if (sequence > page->highest)
		page->highest = sequence;
	if (*entry >> SEEN_SHIFT < SEEN_MAX)
		*entry = (uint8_t)(*entry + SEEN_ONE);
}

void lg_ledger_see(struct lg_ledger *ledger, int32_t partition, int64_t sequence)
{
	struct page *page;

	if (partition < 0 || partition >= ledger->npartitions)
		return;
	page = &ledger->pages[partition];
	pthread_mutex_lock(&page->lock);
	page_see(page, sequence);
	pthread_mutex_unlock(&page->lock);
}

void lg_ledger_see_corrupt(struct lg_ledger *ledger, int32_t partition)
{
	if (partition < 0 || partition >= ledger->npartitions)
		return;
	pthread_mutex_lock(&ledger->pages[partition].lock);
	ledger->pages[partition].corrupt++;
	pthread_mutex_unlock(&ledger->pages[partition].lock);
}

static void tally_entry(struct lg_tally *tally, enum lg_fate fate, int64_t readings)
{
	if (readings > 0) {
		tally->seen++;
		tally->duplicated += readings - 1;
		tally->refused_present += !may_be_present(fate);
		tally->unacked_present += may_be_present(fate) && !must_be_present(fate);
	} else {
		tally->lost += must_be_present(fate);
	}
}

void lg_ledger_tally(struct lg_ledger *ledger, int32_t partition, bool with_readings, struct lg_tally *tally)
{
	struct page *page = &ledger->pages[partition];

	memset(tally, 0, sizeof *tally);
	pthread_mutex_lock(&page->lock);
	for (int64_t i = 0; i < page->n; i++) {
		enum lg_fate fate = page->entries[i] & FATE;

		tally->fates[fate]++;
		if (with_readings)
			tally_entry(tally, fate, page->entries[i] >> SEEN_SHIFT);
	}
	tally->reordered = page->reordered;
	tally->unsent_present = page->unsent_present;
	tally->corrupt = page->corrupt;
	pthread_mutex_unlock(&page->lock);
}
