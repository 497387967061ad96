/* Which cases each mutant of the fakebroker must turn red: the files mutants/FAMILY.json.
 *
 *	{"records.crc-unchecked": ["records.crc.mismatch", "records.apart.crc", "records.x@v9"]}
 *
 * A case without @v stands for all of its instances. One that begins with ~ turns red by chance, since its
 * requests race: either outcome is good, and it does not count as noticing the mutant. A mutant's name begins with its
 * family. The file none.json has one list, "none": the cases that no mutant turns red yet.
 */
#ifndef KASSAY_CONFORMANCE_MUTANTS_H
#define KASSAY_CONFORMANCE_MUTANTS_H

#include "conformance/case.h"
#include "conformance/lint.h"

#define CF_MUTANT_NONE "none"

enum { CF_MUTANT_CHANCE = '~' };

struct cf_mutant_list {
	const char *mutant;
	json_t *cases;           /* ids, borrowed of the file */
	size_t file;             /* index in the book */
};

struct cf_mutant_book {
	struct kt_json *files;
	size_t nfiles;
	struct cf_mutant_list *v;
	size_t n;
};

/* Reads every file of the directory. cf_mutant_book_fini() may be called whatever the outcome. */
int cf_mutant_book_load(struct cf_mutant_book *book, const char *dir, struct kt_err *err);
void cf_mutant_book_fini(struct cf_mutant_book *book);

/* NULL if the mutant has no list. */
const struct cf_mutant_list *cf_mutant_find(const struct cf_mutant_book *book, const char *mutant);
/* Is the instance among the cases of the list (NULL: no list)? */
bool cf_mutant_lists(const struct cf_mutant_list *list, const struct cf_instance *instance);
/* Does the list say that it may be red or not? */
bool cf_mutant_by_chance(const struct cf_mutant_list *list, const struct cf_instance *instance);

/* Does a list of a mutant have the instance? */
bool cf_mutant_kills(const struct cf_mutant_book *book, const struct cf_instance *instance);
/* Must some mutant turn it red? Not so the sanity case. */
bool cf_mutant_wanted(const struct cf_instance *instance);

/* Tells of ids that no case has, and of cases that no mutant turns red though they are not listed as such, or that one
 * does though they are. Returns how many. */
size_t cf_mutant_book_lint(const struct cf_mutant_book *book, const struct cf_suite *suite, cf_finding_fn *fn,
			   void *arg);

/* The instances for which red is true, as a list of a file: cases where all instances are red, else single instances. A
 * new array; red has an element for each instance of the suite. */
json_t *cf_mutant_cases(const struct cf_suite *suite, const bool *red);
/* Appends the cases that turn red by chance, of the list there was. */
void cf_mutant_keep_chances(json_t *cases, const struct cf_mutant_list *list);

#endif
