/*
 * The tables below the drawing in a page: those of events, tasks, functions, latencies and gaps.
 * See plot.h.
 */
#include "tools/trapline/plot/plot.h"

#define ROWS_MOST 200

static void begin_table(const struct plot *p, const char *title, const char *heads)
{
	fprintf(p->out, "<section><h2>%s</h2><table>\n<tr>%s</tr>\n", title, heads);
}

static void end_table(const struct plot *p, size_t rows)
{
	fputs("</table>", p->out);
	if (rows > ROWS_MOST)
		fprintf(p->out, "<p>and %zu more</p>", rows - ROWS_MOST);
	fputs("</section>\n", p->out);
}

static void put_row(const struct plot *p, const char *name, uint64_t number)
{
	fputs("<tr><td>", p->out);
	put_string(p, name);
	fprintf(p->out, "</td><td>%llu</td></tr>\n", (unsigned long long)number);
}

/* ---- events and tasks ---- */

struct row {
	size_t item;
	uint64_t number;
};

static int larger_first(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->number != y->number)
		return x->number > y->number ? -1 : 1;
	return x->item < y->item ? -1 : x->item > y->item;
}

static void put_events(const struct plot *p)
{
	size_t events = p->trace->events, rows = 0;
	struct row *row = xmalloc((events + 1) * sizeof(*row));
	char name[256];

	for (size_t i = 0; i <= events; i++)
		if (p->model.count[i])
			row[rows++] = (struct row){i, p->model.count[i]};
	qsort(row, rows, sizeof(*row), larger_first);
	begin_table(p, "Events", "<th>event</th><th>how many</th>");
	for (size_t i = 0; i < rows && i < ROWS_MOST; i++) {
		const struct event *ev =
		    row[i].item < events ? &p->trace->event[row[i].item] : NULL;
		if (ev)
			snprintf(name, sizeof(name), "%s:%s", ev->system, ev->name);
		put_row(p, ev ? name : "without a format", row[i].number);
	}
	end_table(p, rows);
	free(row);
}

static void put_tasks(const struct plot *p)
{
	size_t tasks = p->model.tasks;
	struct row *row = xmalloc(tasks * sizeof(*row));
	char ran[32];

	for (size_t i = 0; i < tasks; i++)
		row[i] = (struct row){i, p->model.task[i].ran};
	qsort(row, tasks, sizeof(*row), larger_first);
	begin_table(p, "Tasks", "<th>task</th><th>ran</th><th>events</th>");
	for (size_t i = 0; i < tasks && i < ROWS_MOST; i++) {
		const struct task *task = &p->model.task[row[i].item];
		fputs("<tr><td>", p->out);
		put_task(p, task->pid);
		fprintf(p->out, "</td><td>%s</td><td>%llu</td></tr>\n",
		    plot_duration(ran, p, task->ran), (unsigned long long)task->records);
	}
	end_table(p, tasks);
	free(row);
}

/* ---- functions ---- */

static void put_functions(const struct plot *p)
{
	const struct words *words = &p->model.pairing.call_words;
	struct call_sum *sum = calltree_sums(&p->model.calls, words->count);
	struct row *row = xmalloc(words->count * sizeof(*row));
	char own[32], all[32];
	size_t rows = 0;

	for (uint32_t i = 0; i < words->count; i++)
		if (sum[i].calls)
			row[rows++] = (struct row){i, sum[i].self};
	qsort(row, rows, sizeof(*row), larger_first);
	begin_table(
	    p, "Functions", "<th>function</th><th>calls</th><th>its own time</th><th>in all</th>");
	for (size_t i = 0; i < rows && i < ROWS_MOST; i++) {
		const struct call_sum *of = &sum[row[i].item];
		fputs("<tr><td>", p->out);
		put_string(p, words->word[row[i].item]);
		fprintf(p->out, "</td><td>%llu</td><td>%s</td><td>%s</td></tr>\n",
		    (unsigned long long)of->calls, plot_duration(own, p, of->self),
		    plot_duration(all, p, of->total));
	}
	end_table(p, rows);
	free(row);
	free(sum);
}

/* ---- latencies ---- */

/* Of a kind, or a name of it, which stands below it. */
static void put_latency(
    const struct plot *p, const char *name, enum interval_kind kind, uint32_t word)
{
	static const unsigned percents[] = {50, 90, 100};
	struct durations d;
	char text[32];

	model_durations(&p->model, kind, word, &d);
	if (d.count) {
		fputs(word == WORD_ANY ? "<tr><td>" : "<tr><td class='in'>", p->out);
		put_string(p, name);
		fprintf(p->out, "</td><td>%zu</td>", d.count);
		for (size_t i = 0; i < 3; i++)
			fprintf(p->out, "<td>%s</td>",
			    plot_duration(text, p, durations_at(&d, percents[i])));
		fputs("</tr>\n", p->out);
	}
	free(d.value);
}

static void put_latencies(const struct plot *p)
{
	static const char *const names[] = {
	    "wakeup until it runs", "interrupts", "system calls", "marked by programs"};
	const struct words *words = &p->model.pairing.words;

	begin_table(p, "How long it took",
	    "<th>what</th><th>how many</th><th>median</th><th>90 %</th><th>most</th>");
	for (enum interval_kind kind = 0; kind < INTERVAL_KINDS; kind++) {
		put_latency(p, names[kind], kind, WORD_ANY);
		for (uint32_t i = 0; (kind == INTERVAL_IRQ || kind == INTERVAL_SYSCALL) &&
				     i < words->count && i < ROWS_MOST;
		     i++)
			put_latency(p, words->word[i], kind, i);
	}
	end_table(p, words->count);
}

/* ---- losses ---- */

static void put_gaps(const struct plot *p)
{
	char from[32], to[32], number[32];

	if (!p->model.gaps)
		return;
	begin_table(p, "Events lost", "<th>CPU</th><th>how many</th><th>after</th><th>before</th>");
	for (size_t i = 0; i < p->model.gaps && i < ROWS_MOST; i++) {
		const struct gap *g = &p->model.gap[i];
		fprintf(p->out, "<tr><td>%u</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", g->cpu,
		    plot_lost(number, g->lost, g->unknown),
		    g->begin ? plot_time(from, p, g->begin, 1) : "the first",
		    plot_time(to, p, g->end, 1));
	}
	end_table(p, p->model.gaps);
}

void plot_tables(struct plot *p)
{
	fputs("<div class='tables'>\n", p->out);
	put_latencies(p);
	put_gaps(p);
	if (plot_has_calls(p))
		put_functions(p);
	put_tasks(p);
	put_events(p);
	fputs("</div>\n", p->out);
	plot_ledger_tables(p);
}
