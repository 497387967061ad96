#include "fakebroker/hooks/traffic_table.h"

#include <stdlib.h>
#include <string.h>

#include "fakebroker/hooks/utf8.h"

#define NAME_SIZE 250              /* most bytes of a name, NUL included */
#define ALIASES 16                 /* names that are not presentable and are known without being made so again */

static const struct kassay_str other = {"(other)", 7}, none = {"(none)", 6};

/* A client that makes up names of one hash makes lookups longer, but by no more than the table's limit. */
struct fb_traffic_key fb_traffic_key(const struct kassay_str *parts, int n)
{
	struct fb_traffic_key key;
	uint64_t hash = 0;

	key.n = n;
	for (int i = 0; i < n; i++) {
		key.part[i] = parts[i];
		if (key.part[i].size >= NAME_SIZE)
			key.part[i].size = NAME_SIZE - 1;
		hash = fb_name_hash(hash, key.part[i].data, key.part[i].size);
	}
	key.hash = (uint32_t)(hash ^ hash >> 32);
	return key;
}

static bool same(const struct fb_traffic_row *row, const struct fb_traffic_key *key)
{
	const char *name = row->names;

	if (row->hash != key->hash)
		return false;
	for (int i = 0; i < key->n; i++) {
		int32_t size = key->part[i].size;

		if (row->sizes[i] != size || !fb_name_same(name, key->part[i].data, size))
			return false;
		name += size > 0 ? size + 1 : 1;
	}
	return true;
}

/* The slot that holds the key, or the free one where it belongs. There is one, because at most half of them are
 * used. */
static uint32_t *find_slot(const struct fb_traffic_table *table, const struct fb_traffic_key *key)
{
	uint32_t i = key->hash & table->mask;

	while (table->slots[i] && !same(&table->rows[table->slots[i] - 1], key))
		i = (i + 1) & table->mask;
	return &table->slots[i];
}

/* Puts a key that is not in the table into its next row. NULL without memory. */
static struct fb_traffic_row *append(struct fb_traffic_table *table, const struct fb_traffic_key *key)
{
	struct fb_traffic_row *row = &table->rows[table->n];
	size_t room = 0;
	char *name;
	int i;

	for (i = 0; i < key->n; i++)
		room += key->part[i].size > 0 ? (size_t)key->part[i].size + 1 : 1;
	row->names = name = calloc(1, room);
	if (!name)
		return NULL;
	row->hash = key->hash;
	for (i = 0; i < key->n; i++) {
		row->sizes[i] = key->part[i].size;
		if (row->sizes[i] > 0)
			memcpy(name, key->part[i].data, (size_t)row->sizes[i]);
		name += row->sizes[i] > 0 ? row->sizes[i] + 1 : 1;
	}
	*find_slot(table, key) = ++table->n;
	return row;
}

static uint32_t slots_for(uint32_t limit)
{
	uint32_t slots = 4;

	while (slots < 2 * (limit + 1 + ALIASES))
		slots *= 2;
	return slots;
}

size_t fb_traffic_table_bytes(uint32_t limit)
{
	return (limit + (size_t)1 + ALIASES) * sizeof(struct fb_traffic_row) + slots_for(limit) * sizeof(uint32_t);
}

int fb_traffic_table_init(struct fb_traffic_table *table, int parts, uint32_t limit)
{
	const struct kassay_str names[FB_TRAFFIC_PARTS] = {other, other, other};
	const struct fb_traffic_key key = fb_traffic_key(names, parts);
	uint32_t slots = slots_for(limit);

	*table = (struct fb_traffic_table){.limit = limit, .mask = slots - 1};
	table->rows = calloc((size_t)limit + 1 + ALIASES, sizeof *table->rows);
	table->slots = calloc(slots, sizeof *table->slots);
	if (table->rows && table->slots && append(table, &key))
		return 0;
	fb_traffic_table_fini(table);
	return -1;
}

void fb_traffic_table_fini(struct fb_traffic_table *table)
{
	while (table->n > 0)
		free(table->rows[--table->n].names);
	free(table->rows);
	free(table->slots);
	*table = (struct fb_traffic_table){0};
}

/* Writes a name as it is shown; returns it. */
static struct kassay_str presentable(struct kassay_str name, char out[NAME_SIZE])
{
	int32_t i;

	if (name.size < 0)
		return none;
	for (i = 0; i < name.size; i++)
		out[i] = name.data[i] ? name.data[i] : '?';
	out[i] = '\0';
	fb_utf8_mend(out);
	return (struct kassay_str){out, name.size};
}

/* The row of the presentable names. Some of the others get a row that leads there: of a client without an id come many
 * requests. Of what somebody makes up there is no end, so they take no room from the rest. */
static struct fb_traffic_row *add_alias(struct fb_traffic_table *table, const struct fb_traffic_key *key,
					const struct kassay_str *shown)
{
	const struct fb_traffic_key good = fb_traffic_key(shown, key->n);
	struct fb_traffic_row *same_as = fb_traffic_row(table, &good);
	struct fb_traffic_row *row = table->aliases < ALIASES ? append(table, key) : NULL;

	if (row) {
		row->same_as = same_as;
		table->aliases++;
	}
	return same_as;
}

static struct fb_traffic_row *add(struct fb_traffic_table *table, const struct fb_traffic_key *key)
{
	char shown[FB_TRAFFIC_PARTS][NAME_SIZE];
	struct kassay_str names[FB_TRAFFIC_PARTS];
	struct fb_traffic_row *row;
	bool changed = false;
	int i;

	for (i = 0; i < key->n; i++) {
		names[i] = presentable(key->part[i], shown[i]);
		changed |= names[i].size != key->part[i].size ||
			   memcmp(names[i].data, key->part[i].data, (size_t)names[i].size) != 0;
	}
	if (changed)
		return add_alias(table, key, names);
	row = table->n - table->aliases <= table->limit ? append(table, key) : NULL;
	return row ? row : &table->rows[0];
}

struct fb_traffic_row *fb_traffic_row(struct fb_traffic_table *table, const struct fb_traffic_key *key)
{
	uint32_t number = *find_slot(table, key);
	struct fb_traffic_row *row;

	if (number == 0)
		return add(table, key);
	row = &table->rows[number - 1];
	return row->same_as ? row->same_as : row;
}

const struct fb_traffic_row *fb_traffic_row_of(const struct fb_traffic_table *table, const struct fb_traffic_key *key)
{
	uint32_t number = *find_slot(table, key);

	return number == 0 ? NULL : &table->rows[number - 1];
}
