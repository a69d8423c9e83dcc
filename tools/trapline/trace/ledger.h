/*
 * The ledger of a trace as tables. In the file it is lines, each an equation of somebody:
 *
 *     cpu0: hits 12 = recorded 10 + filtered 0 + refused 2
 *
 * A table for each left side: a row for each line, a column for each number. Rows and columns that
 * are all zeros are left out. Pure.
 */
#pragma once

#include "tools/trapline/lib/words.h"

#define LEDGER_COLUMNS 12
#define LEDGER_TABLES  4

struct ledger_row {
	char *who;
	uint64_t number[LEDGER_COLUMNS];
};

struct ledger_table {
	struct words column; /* the left side, then the parts of the right one */
	bool shown[LEDGER_COLUMNS];
	struct ledger_row *row;
	size_t rows;
};

struct ledger {
	struct ledger_table table[LEDGER_TABLES];
	unsigned tables;
	size_t folded; /* rows that were left out */
	char *verdict; /* "balanced"; "": it says nothing of that */
};

/* Rows that `wanted` does not want are left out; NULL: none of them. */
void ledger_parse(struct ledger *l, const char *text,
    bool (*wanted)(const void *context, const char *who), const void *context);
void ledger_free(struct ledger *l);
/* What a column counts; NULL: nobody knows. */
const char *ledger_meaning(const char *column);
