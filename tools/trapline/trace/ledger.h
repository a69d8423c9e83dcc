/*
 * The ledger of a trace as tables. In the file it has a line for each equation:
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
	size_t folded; /* rows left out */
	char *verdict; /* "balanced"; "": it says nothing of that */
};

/* Leaves out rows that `wanted` rejects; NULL: keeps all. */
void ledger_parse(struct ledger *l, const char *text,
    bool (*wanted)(const void *context, const char *who), const void *context);
void ledger_free(struct ledger *l);
/* The meaning of a column; NULL: not known. */
const char *ledger_meaning(const char *column);
