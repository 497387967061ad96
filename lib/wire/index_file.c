#include "lib/wire/index_file.h"

#include "lib/wire/buf.h"

static const struct {
	const char *suffix, *word;
	size_t size;
} indexes[] = {
#define KW_X(sym, suffix, size, word) [sym] = {suffix, word, size},
	KW_INDEXES(KW_X)
#undef KW_X
};

const char *kw_index_suffix(enum kw_index index)
{
	return indexes[index].suffix;
}

const char *kw_index_word(enum kw_index index)
{
	return indexes[index].word;
}

size_t kw_index_entry_size(enum kw_index index)
{
	return indexes[index].size;
}

size_t kw_index_count(enum kw_index index, const uint8_t *p, size_t n)
{
	size_t size = indexes[index].size, end = n - n % size;

	/* Nobody prepares room for transactions. */
	while (index != KW_INDEX_TXN && end > 0 && p[end - 1] == 0)
		end--;
	return (end + size - 1) / size;
}

/* Wraps, as Java does. */
static int64_t absolute(int64_t first_offset, const uint8_t *p)
{
	return (int64_t)((uint64_t)first_offset + (uint64_t)(int64_t)(int32_t)kw_rd32(p));
}

void kw_index_read(enum kw_index index, int64_t first_offset, const uint8_t *p, struct kw_index_entry *entry)
{
	*entry = (struct kw_index_entry){0};
	switch (index) {
	case KW_INDEX_OFFSET:
		entry->offset = absolute(first_offset, p);
		entry->position = (int32_t)kw_rd32(p + 4);
		break;
	case KW_INDEX_TIME:
		entry->timestamp = (int64_t)kw_rd64(p);
		entry->offset = absolute(first_offset, p + 8);
		break;
	case KW_INDEX_TXN:
		entry->version = (int16_t)kw_rd16(p);
		entry->producerId = (int64_t)kw_rd64(p + 2);
		entry->firstOffset = (int64_t)kw_rd64(p + 10);
		entry->offset = (int64_t)kw_rd64(p + 18);
		entry->lastStableOffset = (int64_t)kw_rd64(p + 26);
		break;
	case KW_INDEX_KINDS: break;
	}
}
