/*
 * The ledger: the outcome of every hit. In a page as tables, in an SVG as lines; without what is
 * zero, and of the span that is drawn. See plot.h.
 */
#include "tools/trapline/trace/ledger.h"
#include "tools/trapline/plot/plot.h"
#include "tools/trapline/trace/stats.h"

#define LINES_MOST 70
#define LINE	   15

/*
 * Of a part of the trace: an event that is not in it has no row. CPUs' and the whole machine's rows
 * have no colon in their names.
 */
static bool is_drawn(const void *plot, const char *who)
{
	const struct plot *p = plot;
	char name[256];

	if (!p->part || !strchr(who, ':'))
		return true;
	for (size_t i = 0; i < p->trace->events; i++) {
		snprintf(name, sizeof(name), "%s:%s", p->trace->event[i].system,
		    p->trace->event[i].name);
		if (p->model.count[i] && !strcmp(name, who))
			return true;
	}
	return false;
}

/* False: the trace has no ledger. */
static bool take_ledger(const struct plot *p, struct ledger *l)
{
	const char *text = stats_ledger(p->trace);

	if (text)
		ledger_parse(l, text, is_drawn, p);
	return text;
}

/* "balanced · numbers are of the whole recording", and what was left out. */
static void put_note(const struct plot *p, const struct ledger *l)
{
	put_string(p, l->verdict);
	fprintf(p->out, "%sNumbers are of the whole recording%s.", l->verdict[0] ? ". " : "",
	    p->part ? "; events that are not in this part of it are left out" : "");
	if (l->folded)
		fprintf(p->out, " %zu rows without a number are left out.", l->folded);
}

/* ---- in a page ---- */

static void put_table(const struct plot *p, const struct ledger_table *t)
{
	fputs("<table>\n<tr><th></th>", p->out);
	for (uint32_t i = 0; i < t->column.count && i < LEDGER_COLUMNS; i++) {
		if (!t->shown[i])
			continue;
		fputs("<th>", p->out);
		put_string(p, t->column.word[i]);
		fputs("</th>", p->out);
	}
	fputs("</tr>\n", p->out);
	for (size_t k = 0; k < t->rows; k++) {
		fputs("<tr><td>", p->out);
		put_string(p, t->row[k].who);
		fputs("</td>", p->out);
		for (unsigned i = 0; i < LEDGER_COLUMNS; i++)
			if (t->shown[i])
				fprintf(p->out, "<td>%llu</td>",
				    (unsigned long long)t->row[k].number[i]);
		fputs("</tr>\n", p->out);
	}
	fputs("</table>\n", p->out);
}

/* Each column once, though more tables have it. */
static void put_meanings(const struct plot *p, const struct ledger *l)
{
	struct words told = {.count = 0};

	fputs("<dl>\n", p->out);
	for (unsigned k = 0; k < l->tables; k++)
		for (uint32_t i = 0; i < l->table[k].column.count && i < LEDGER_COLUMNS; i++) {
			const char *name = l->table[k].column.word[i];
			uint32_t known = told.count;
			if (!l->table[k].shown[i] || !ledger_meaning(name) ||
			    words_add(&told, name, strlen(name)) < known)
				continue;
			fputs("<dt>", p->out);
			put_string(p, name);
			fprintf(p->out, "</dt><dd>%s</dd>\n", ledger_meaning(name));
		}
	fputs("</dl>\n", p->out);
	words_free(&told);
}

void plot_ledger_tables(struct plot *p)
{
	struct ledger l;

	if (!take_ledger(p, &l))
		return;
	fputs("<section class='ledger'><h2>Ledger: what became of every hit</h2>\n<p class='note'>",
	    p->out);
	put_note(p, &l);
	fputs("</p>\n<div class='tables'>", p->out);
	for (unsigned i = 0; i < l.tables; i++)
		if (l.table[i].rows)
			put_table(p, &l.table[i]);
	fputs("</div>\n", p->out);
	put_meanings(p, &l);
	fputs("</section>\n", p->out);
	ledger_free(&l);
}

/* ---- in an SVG ---- */

static void begin_line(struct plot *p, const char *class)
{
	p->y += LINE;
	fprintf(p->out, "<text class='%s' x='20' y='%u'>", class, p->y);
}

static void put_row(struct plot *p, const struct ledger_table *t, const struct ledger_row *row)
{
	static const char *const before[] = {": ", " = ", " + "};
	unsigned put = 0;

	begin_line(p, "mono");
	put_string(p, row->who);
	for (uint32_t i = 0; i < t->column.count && i < LEDGER_COLUMNS; i++) {
		if (!row->number[i])
			continue;
		fputs(before[put < 2 ? put : 2], p->out);
		put++;
		put_string(p, t->column.word[i]);
		fprintf(p->out, " %llu", (unsigned long long)row->number[i]);
	}
	fputs("</text>\n", p->out);
}

/* Of all that it counts this is what nobody expects. */
static void put_refused(struct plot *p, const struct ledger_table *t)
{
	for (uint32_t i = 1; i < t->column.count && i < LEDGER_COLUMNS; i++) {
		if (!t->shown[i] || strcmp(t->column.word[i], "refused"))
			continue;
		begin_line(p, "dim small");
		fprintf(p->out, "refused: %s</text>\n", ledger_meaning("refused"));
	}
}

void plot_ledger(struct plot *p)
{
	unsigned lines = 0;
	struct ledger l;

	if (!take_ledger(p, &l))
		return;
	begin_line(p, "head");
	fputs("Ledger: what became of every hit</text>\n", p->out);
	begin_line(p, "dim small");
	put_note(p, &l);
	fputs("</text>\n", p->out);
	for (unsigned i = 0; i < l.tables; i++)
		for (size_t k = 0; k < l.table[i].rows && lines++ < LINES_MOST; k++)
			put_row(p, &l.table[i], &l.table[i].row[k]);
	for (unsigned i = 0; i < l.tables; i++)
		put_refused(p, &l.table[i]);
	p->y += LINE;
	if (lines > LINES_MOST) {
		begin_line(p, "dim");
		fputs("... and more: trace-cmd report --stat</text>\n", p->out);
	}
	ledger_free(&l);
}
