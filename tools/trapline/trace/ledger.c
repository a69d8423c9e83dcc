/* See ledger.h. A line that is no equation is a comment, or the verdict. */
#include "tools/trapline/trace/ledger.h"

#include <stdlib.h>
#include <string.h>

/* "NAME NUMBER" up to the end or to what stands between two of them. */
struct term {
	const char *name;
	size_t length;
	uint64_t number;
};

static const char *find_end(const char *at, const char *end)
{
	for (const char *p = at; p + 3 <= end; p++)
		if (!memcmp(p, " + ", 3) || !memcmp(p, " = ", 3))
			return p;
	return end;
}

/* The next term of a line; false: there is none. */
static bool next_term(const char **at, const char *end, struct term *term)
{
	const char *stop = find_end(*at, end), *number = stop;

	while (number > *at && number[-1] >= '0' && number[-1] <= '9')
		number--;
	if (number == stop || number <= *at + 1 || number[-1] != ' ')
		return false;
	*term = (struct term){*at, number - 1 - *at, strtoull(number, NULL, 10)};
	*at = stop == end ? end : stop + 3;
	return true;
}

static struct ledger_table *find_table(struct ledger *l, const struct term *left)
{
	for (unsigned i = 0; i < l->tables; i++) {
		const char *name = l->table[i].column.word[0];
		if (strlen(name) == left->length && !memcmp(name, left->name, left->length))
			return &l->table[i];
	}
	if (l->tables == LEDGER_TABLES)
		return NULL;
	words_add(&l->table[l->tables].column, left->name, left->length);
	return &l->table[l->tables++];
}

static void add_row(struct ledger_table *t, struct ledger_row row, const char *who, size_t length)
{
	if (!(t->rows & (t->rows - 1)))
		t->row = xrealloc(t->row, (t->rows ? t->rows * 2 : 1) * sizeof(*t->row));
	row.who = xstrndup(who, length);
	t->row[t->rows++] = row;
	for (unsigned i = 0; i < LEDGER_COLUMNS; i++)
		t->shown[i] |= row.number[i] > 0;
}

static bool is_wanted(const char *who, size_t length,
    bool (*wanted)(const void *context, const char *who), const void *context)
{
	char *name = xstrndup(who, length);
	bool is = !wanted || wanted(context, name);

	free(name);
	return is;
}

/* False: it is no equation. */
static bool parse_line(struct ledger *l, const char *line, const char *end,
    bool (*wanted)(const void *context, const char *who), const void *context)
{
	const char *at = memmem(line, end - line, ": ", 2), *who_end = at;
	struct ledger_row row = {.who = NULL};
	struct ledger_table *t;
	struct term term;
	uint64_t any = 0;

	if (!at)
		return false;
	at += 2;
	const char *first = at;
	if (!next_term(&at, end, &term) || at == end || at - first < 4 || at[-2] != '=')
		return false;
	if (!(t = find_table(l, &term)))
		return true;
	do {
		uint32_t column = words_add(&t->column, term.name, term.length);
		if (column < LEDGER_COLUMNS)
			row.number[column] = term.number;
		any |= term.number;
	} while (at < end && next_term(&at, end, &term));
	if (any && is_wanted(line, who_end - line, wanted, context))
		add_row(t, row, line, who_end - line);
	else
		l->folded++;
	return true;
}

void ledger_parse(struct ledger *l, const char *text,
    bool (*wanted)(const void *context, const char *who), const void *context)
{
	*l = (struct ledger){.tables = 0};
	for (const char *end; *text; text = *end ? end + 1 : end) {
		end = text + strcspn(text, "\n");
		if (parse_line(l, text, end, wanted, context) || text == end || *text == '#')
			continue;
		free(l->verdict);
		l->verdict = xstrndup(text, end - text);
	}
	if (!l->verdict)
		l->verdict = xstrndup("", 0);
}

void ledger_free(struct ledger *l)
{
	for (unsigned i = 0; i < l->tables; i++) {
		for (size_t k = 0; k < l->table[i].rows; k++)
			free(l->table[i].row[k].who);
		free(l->table[i].row);
		words_free(&l->table[i].column);
	}
	free(l->verdict);
}

const char *ledger_meaning(const char *column)
{
	static const struct {
		const char *column, *meaning;
	} meanings[] = {
	    {"hits", "times that the event came while it was enabled"},
	    {"recorded", "hits that became records"},
	    {"filtered", "left out by the event's filter"},
	    {"pid_filtered", "left out, as set_event_pid names other tasks"},
	    {"soft_off", "left out while a trigger had switched the event off"},
	    {"too_deep", "came within too many other events: there was no room to work in"},
	    {"refused", "reached the ring buffer, which took no record: recording was off or the "
			"buffer was changed, "
			"it was full and keeps the oldest, or the record was too large or too "
			"deeply nested"},
	    {"seen", "in this file, or overwritten after the file was begun"},
	    {"unread", "still in the buffer when the ledger was written: what this file holds"},
	    {"snapshot", "in the snapshot"},
	    {"read", "read by trace_pipe or a like file, and gone"},
	    {"overwritten", "the oldest records, which made room for newer ones"},
	    {"cleared", "removed by a write to trace, or by a change of the buffer"},
	    {"discarded", "given up by their writer after all"},
	    {"full", "refused: the buffer was full and keeps the oldest records"},
	    {"commit_overrun", "refused: an interrupt came while the writer below it had not "
			       "finished, and the buffer is too small"},
	    {"too_large", "refused: larger than a page of the buffer"},
	    {"nested", "refused: more writers within each other than there are contexts"},
	    {"disabled",
		"refused: recording was off (tracing_on 0, or while the buffer was changed)"},
	};

	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (!strcmp(meanings[i].column, column))
			return meanings[i].meaning;
	return NULL;
}
