/*
 * Prints histograms: the command for `trigger`, and the table for `hist`. Task context under
 * host_lock.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/hist/hist.h"
#include "trace/host_memory.h"
#include "trace/host_symbol.h"
#include "trace/host_system.h"

/* ---- the command ---- */

static const struct {
	u32 flag;
	const char *name;
} modifiers[] = {
    {HIST_HEX, ".hex"},
    {HIST_SYM, ".sym"},
    {HIST_SYM_OFFSET, ".sym-offset"},
    {HIST_EXECNAME, ".execname"},
    {HIST_SYSCALL, ".syscall"},
    {HIST_LOG2, ".log2"},
    {HIST_BUCKETS, ".buckets"},
    {HIST_PERCENT, ".percent"},
    {HIST_GRAPH, ".graph"},
    {HIST_USECS, ".usecs"},
};

/* None after a reference or an expression: theirs are inside. */
void hist_show_modifier(struct seq *s, const struct hist_field *f)
{
	unsigned i = 0;

	if (f->flags & (HIST_REF | HIST_ALIAS | HIST_EXPR))
		return;
	if (f->op == HIST_OP_REC_STACK)
		seq_puts(s, ".stacktrace");
	while (i < ARRAY_SIZE(modifiers) && !(f->flags & modifiers[i].flag))
		i++;
	if (i < ARRAY_SIZE(modifiers))
		seq_puts(s, modifiers[i].name);
	if (f->flags & HIST_BUCKETS)
		seq_printf(s, "=%lu", f->number);
}

static void hist_show_field(struct seq *s, const struct hist_field *f)
{
	if (f->var_name)
		seq_printf(s, "%s=", f->var_name);
	if (f->flags & HIST_CPU)
		seq_puts(s, "common_cpu");
	else if (f->flags & HIST_CONST)
		seq_printf(s, "%lu", f->number);
	else
		seq_printf(s, "%s%s", f->flags & (HIST_REF | HIST_ALIAS) ? "$" : "", f->label);
	hist_show_modifier(s, f);
}

/* Those with or without HIST_VAR among the values. */
static void hist_show_values(struct seq *s, const struct hist *h, u32 var)
{
	bool first = true;

	for (u32 i = h->nohitcount; i < h->n_vals; i++) {
		if ((h->fields[i]->flags & HIST_VAR) != var)
			continue;
		if (!first)
			seq_putc(s, ',');
		hist_show_field(s, h->fields[i]);
		first = false;
	}
}

static void show_sorts(struct seq *s, const struct hist *h)
{
	for (u32 i = 0; i < h->n_sorts; i++) {
		seq_puts(s, i ? "," : ":sort=");
		hist_show_field(s, h->sort[i].field);
		if (h->sort[i].descending)
			seq_puts(s, ".descending");
	}
}

void hist_show_spec(struct seq *s, const struct hist *h)
{
	seq_puts(s, "hist:");
	if (h->name)
		seq_printf(s, "%s:", h->name);
	for (u32 i = 0; i < h->n_keys; i++) {
		seq_puts(s, i ? "," : "keys=");
		hist_show_field(s, h->fields[h->n_vals + i]);
	}
	seq_puts(s, ":vals=");
	hist_show_values(s, h, 0);
	if (h->n_vars) {
		seq_putc(s, ':');
		hist_show_values(s, h, HIST_VAR);
	}
	show_sorts(s, h);
	seq_printf(s, ":size=%u", h->size);
	if (h->timestamps)
		seq_printf(s, ":clock=%s", h->clock);
	if (h->nohitcount)
		seq_puts(s, ":nohitcount");
	hist_show_actions(s, h);
}

/* ---- keys ---- */

void hist_show_frames(struct seq *s, const u64 *frames)
{
	char name[128];

	for (u32 i = 0; i < HIST_FRAMES && frames[i]; i++) {
		host_sym_print(name, sizeof(name), frames[i], true);
		seq_printf(s, "%9s%s\n", "", name);
	}
}

static void show_symbol(struct seq *s, u64 addr, bool offset)
{
	char name[128];

	host_sym_print(name, sizeof(name), addr, offset);
	seq_printf(s, "[%lx] %-*s", addr, offset ? 55 : 45, name);
}

static void show_syscall(struct seq *s, u64 nr)
{
	const char *name = host_syscall_name(nr);

	seq_printf(s, "%s%-*s[%3lu]", name ? "sys_" : "", name ? 26 : 30,
	    name ? name : "unknown_syscall", nr);
}

static void show_key_value(
    struct seq *s, const struct hist *h, const struct hist_field *f, struct hist_entry *e)
{
	const u64 *key = &e->words[f->key_at];

	if (f->flags & HIST_HEX)
		seq_hex(s, *key, 1);
	else if (f->flags & (HIST_SYM | HIST_SYM_OFFSET))
		show_symbol(s, *key, f->flags & HIST_SYM_OFFSET);
	else if (f->flags & HIST_EXECNAME)
		seq_printf(s, "%-16s[%10lu]", hist_text(h->map, e), *key);
	else if (f->flags & HIST_SYSCALL)
		show_syscall(s, *key);
	else if (f->flags & HIST_LOG2)
		seq_printf(s, "~ 2^%-2lu", *key);
	else if (f->flags & HIST_BUCKETS)
		seq_printf(s, "~ %lu-%lu", *key, *key + f->number - 1);
	else if (f->flags & HIST_IS_STRING)
		seq_printf(s, "%-50s", (const char *)key);
	else
		seq_dec(s, *key, 10, ' ');
}

void hist_show_key(struct seq *s, const struct hist *h, struct hist_entry *e)
{
	bool lines = false;

	seq_write(s, "{ ", 2);
	for (u32 i = 0; i < h->n_keys; i++) {
		const struct hist_field *f = h->fields[h->n_vals + i];
		if (i)
			seq_write(s, ", ", 2);
		if (f->flags & HIST_STACKTRACE) {
			seq_printf(s, f->field ? "%s.stacktrace" : "%s:\n", f->label);
			hist_show_frames(s, &e->words[f->key_at]);
			lines = true;
			continue;
		}
		seq_puts(s, f->label);
		seq_write(s, ": ", 2);
		show_key_value(s, h, f, e);
	}
	seq_puts(s, lines ? "}" : " }");
}

/* ---- values ---- */

#define BAR_MAX	 20
#define NO_SHARE UINT32_MAX

/* Of all entries, for .percent and .graph. */
struct totals {
	u64 sum, max;
};

/* Hundredths of a percent. */
static u32 hist_percentage(u64 part, u64 whole)
{
	if (part >= ~0UL / 10000) {
		whole /= 10000;
		return whole ? part / whole : part ? NO_SHARE : 0;
	}
	if (!whole)
		return part ? NO_SHARE : 0;
	return part * 10000 / whole;
}

static void show_percent(struct seq *s, u32 parts)
{
	if (parts == NO_SHARE)
		seq_puts(s, "[ERROR]");
	else
		seq_printf(s, " %3u.%02u", parts / 100, parts % 100);
}

static void show_bar(struct seq *s, u32 parts)
{
	u32 n = parts * (u64)BAR_MAX / 10000;

	if (parts == NO_SHARE) {
		seq_printf(s, "%*s", BAR_MAX, "[ERROR]");
		return;
	}
	for (u32 i = 0; i < BAR_MAX; i++)
		seq_putc(s, i < n ? '#' : ' ');
}

static void show_value(
    struct seq *s, const struct hist_field *f, u64 v, const struct totals *totals)
{
	seq_write(s, "  ", 2);
	seq_puts(s, f->label);
	if (f->flags & HIST_PERCENT) {
		seq_puts(s, " (%):");
		show_percent(s, hist_percentage(v, totals->sum));
	} else if (f->flags & HIST_GRAPH) {
		seq_puts(s, ": ");
		show_bar(s, hist_percentage(v, totals->max));
	} else if (f->flags & HIST_HEX) {
		seq_printf(s, ": %10lx", v);
	} else {
		seq_write(s, ": ", 2);
		seq_dec(s, v, 10, ' ');
	}
}

static void show_entry(
    struct seq *s, const struct hist *h, struct hist_entry *e, const struct totals *totals)
{
	hist_show_key(s, h, e);
	if (!h->nohitcount) {
		seq_puts(s, " hitcount: ");
		seq_dec(s, hist_sum(h->map, e, 0), 10, ' ');
	}
	for (u32 i = 1; i < h->n_vals; i++) {
		const struct hist_field *f = h->fields[i];
		if (!(f->flags & (HIST_VAR | HIST_EXPR)))
			show_value(s, f, hist_sum(h->map, e, f->index), &totals[f->index]);
	}
	hist_show_tracked(s, h, e);
	seq_putc(s, '\n');
}

/* ---- order ---- */

/*
 * An entry with what it is sorted by, as numbers that compare without a sign; strings are looked at
 * in the key.
 */
struct ranked {
	u64 by[HIST_SORTS_MAX];
	struct hist_entry *e;
};

#define SIGN_BIT (1UL << 63)

static bool is_key(const struct hist_field *f)
{
	return f->flags & HIST_KEY;
}

static u64 rank(const struct hist *h, const struct hist_sort *sort, const struct hist_entry *e)
{
	const struct hist_field *f = sort->field;
	u64 v = is_key(f) ? e->words[f->key_at] : hist_sum(h->map, e, f->index);

	if (f->flags & HIST_PLACED)
		return 0;
	if (is_key(f) && f->is_signed)
		v ^= SIGN_BIT;
	return sort->descending ? ~v : v;
}

static int compare_text(
    const struct hist_sort *sort, const struct ranked *a, const struct ranked *b)
{
	u32 at = sort->field->key_at;
	int c = strcmp((const char *)&a->e->words[at], (const char *)&b->e->words[at]);

	return sort->descending ? -c : c;
}

/*
 * What is equal otherwise comes in descending order of the keys, so that the same table is always
 * shown the same.
 */
static bool is_after_by_key(
    const struct hist *h, const struct hist_entry *a, const struct hist_entry *b)
{
	for (u32 i = h->n_vals; i < h->n_fields; i++) {
		const struct hist_field *f = h->fields[i];
		const u64 *x = &a->words[f->key_at], *y = &b->words[f->key_at];
		if (f->flags & HIST_IS_STRING) {
			int c = strcmp((const char *)x, (const char *)y);
			if (c)
				return c < 0;
		} else if (*x != *y) {
			return *x < *y;
		}
	}
	return false;
}

static bool hist_sorts_after(const struct hist *h, const struct ranked *a, const struct ranked *b)
{
	for (u32 i = 0; i < h->n_sorts; i++) {
		if (a->by[i] != b->by[i])
			return a->by[i] > b->by[i];
		const struct hist_field *f = h->sort[i].field;
		int c =
		    f->flags & HIST_IS_STRING && is_key(f) ? compare_text(&h->sort[i], a, b) : 0;
		if (c)
			return c > 0;
	}
	return is_after_by_key(h, a->e, b->e);
}

/*
 * Heap sort: in place, and never slow. list[at] sinks among its children until it is behind both.
 */
static void hist_sift_down(const struct hist *h, struct ranked *list, u32 at, u32 n)
{
	struct ranked sinking = list[at];

	for (u32 child; (child = 2 * at + 1) < n; at = child) {
		child += child + 1 < n && hist_sorts_after(h, &list[child + 1], &list[child]);
		if (!hist_sorts_after(h, &list[child], &sinking))
			break;
		list[at] = list[child];
	}
	list[at] = sinking;
}

static void sort_entries(const struct hist *h, struct ranked *list, u32 n)
{
	for (u32 i = n / 2; i-- > 0;)
		hist_sift_down(h, list, i, n);
	while (n > 1) {
		struct ranked last = list[--n];
		list[n] = list[0];
		list[0] = last;
		hist_sift_down(h, list, 0, n);
	}
}

/* ---- the table ---- */

#define SHORTEST_LINE 32 /* "{ a:          5 } hitcount:          2", less a little */

static u32 collect(const struct hist *h, struct ranked *list, u32 max)
{
	struct hist_entry **found = (struct hist_entry **)list;
	u32 n = hist_map_entries(h->map, found, max);

	/* From the last on: what is written lies after what is still to be read. */
	for (u32 i = n; i-- > 0;) {
		struct hist_entry *e = found[i];
		list[i].e = e;
		for (u32 k = 0; k < h->n_sorts; k++)
			list[i].by[k] = rank(h, &h->sort[k], e);
	}
	return n;
}

static void add_up(const struct hist *h, const struct ranked *list, u32 n, struct totals *totals)
{
	memset(totals, 0, HIST_VALS_MAX * sizeof(*totals));
	for (u32 i = 0; i < n; i++)
		for (u32 k = 0; k < h->n_sums; k++) {
			u64 v = hist_sum(h->map, list[i].e, k);
			totals[k].sum += v;
			totals[k].max = MAX(totals[k].max, v);
		}
}

/* Lines that cannot fit are not made: the caller comes again with more room. */
static void show_entries(struct seq *s, const struct hist *h, struct ranked *list, u32 n)
{
	struct totals totals[HIST_VALS_MAX];

	if (s->size - s->len < (size_t)n * SHORTEST_LINE) {
		s->overflow = true;
		return;
	}
	add_up(h, list, n, totals);
	sort_entries(h, list, n);
	for (u32 i = 0; i < n && !s->overflow; i++)
		show_entry(s, h, list[i].e, totals);
}

int hist_show_table(struct seq *s, struct hist *h)
{
	u32 max = atomic_load_relaxed(&h->map->fresh);
	struct ranked *list = host_alloc((max + 1UL) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	u32 n = collect(h, list, max);
	show_entries(s, h, list, n);
	host_free(list);
	hist_show_snapshot(s, h);
	seq_printf(s, "\nTotals:\n    Hits: %lu\n    Entries: %u\n    Dropped: %lu\n",
	    hist_map_hits(h->map), n, hist_map_drops(h->map));
	return 0;
}
