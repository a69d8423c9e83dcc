/*
 * The ledger: three equations for each CPU and for all, one for each event. Task context under
 * host_lock.
 *
 *   hits     = recorded + filtered + pid_filtered + soft_off + too_deep + refused
 *              (the events' own counts; recorded is the remainder)
 *   recorded = unread + snapshot + read + overwritten + cleared + discarded
 *              (the rings' counts)
 *   refused  = full + commit_overrun + too_large + nested + disabled
 *              (the rings' reasons)
 *
 * Each CPU reads its own numbers with interrupts off while no writer is active on it, and reads
 * them again if an NMI came in between. They belong to one moment, so the equations hold exactly
 * even while events fire.
 */
#include "trace/event/ledger.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/parts.h"
#include "trace/event/snapshot.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"

#define NMI_TRIES 100

struct books {
	struct trace_event_count events;
	struct ring_buffer_totals main, spare; /* the spare one's, and what is gone */
};

struct audit {
	struct trace_array *tr;
	unsigned cpu;
	u32 rows;			   /* files that have counts */
	struct trace_event_count *of_cpu;  /* theirs, on this CPU ... */
	struct trace_event_count *of_file; /* ... and on those before it */
	struct books books;		   /* of this CPU */
};

/* ---- adding up ---- */

static void trace_ledger_add_counts(
    struct trace_event_count *to, const struct trace_event_count *from)
{
	to->hit += from->hit;
	to->lost += from->lost;
	to->filtered += from->filtered;
	to->pid_filtered += from->pid_filtered;
	to->soft_off += from->soft_off;
	to->too_deep += from->too_deep;
	to->trigger_missed += from->trigger_missed;
}

static void trace_ledger_add_totals(
    struct ring_buffer_totals *to, const struct ring_buffer_totals *from)
{
	to->unread += from->unread;
	to->read += from->read;
	to->overrun += from->overrun;
	to->cleared += from->cleared;
	to->discarded += from->discarded;
	to->dropped += from->dropped;
	to->commit_overrun += from->commit_overrun;
	to->too_large += from->too_large;
	to->nested += from->nested;
	to->disabled += from->disabled;
}

static void add_books(struct books *to, const struct books *from)
{
	trace_ledger_add_counts(&to->events, &from->events);
	trace_ledger_add_totals(&to->main, &from->main);
	trace_ledger_add_totals(&to->spare, &from->spare);
}

static u64 not_recorded(const struct trace_event_count *c)
{
	return c->lost + c->filtered + c->pid_filtered + c->soft_off + c->too_deep;
}

/* ---- what is gone ---- */

int trace_ledger_create(struct trace_array *tr)
{
	tr->ledger = host_alloc(host_cpu_limit() * sizeof(*tr->ledger));
	return tr->ledger ? 0 : -ENOMEM;
}

void trace_ledger_free(struct trace_array *tr)
{
	host_free(tr->ledger);
	tr->ledger = NULL;
}

void trace_ledger_close_file(struct trace_event_file *file)
{
	for (unsigned cpu = 0; file->counts && file->tr->ledger && cpu < host_cpu_limit(); cpu++)
		trace_ledger_add_counts(&file->tr->ledger[cpu].events, &file->counts[cpu]);
}

void trace_ledger_close_buffer(struct trace_array *tr, struct ring_buffer *rb)
{
	for (unsigned cpu = 0; rb && cpu < host_cpu_count(); cpu++) {
		struct ring_buffer_totals totals = {0};

		ring_buffer_totals(rb, cpu, &totals);
		totals.cleared += totals.unread;
		totals.unread = 0;
		trace_ledger_add_totals(&tr->ledger[cpu].rings, &totals);
	}
}

/* ---- one moment of one CPU ---- */

static u64 hits_now(const struct audit *a)
{
	struct trace_event_file *file;
	u64 hits = 0;

	list_for_each_entry (file, &a->tr->files, node)
		if (file->counts)
			hits += READ_ONCE(file->counts[a->cpu].hit);
	return hits;
}

static bool read_once(struct audit *a)
{
	struct trace_array *tr = a->tr;
	struct trace_event_file *file;
	u64 hits = 0;
	u32 row = 0;

	a->books =
	    (struct books){.events = tr->ledger[a->cpu].events, .spare = tr->ledger[a->cpu].rings};
	list_for_each_entry (file, &tr->files, node) {
		if (!file->counts)
			continue;
		hits += file->counts[a->cpu].hit;
		a->of_cpu[row] = file->counts[a->cpu];
		trace_ledger_add_counts(&a->books.events, &a->of_cpu[row++]);
	}
	ring_buffer_totals(tr->buffer, a->cpu, &a->books.main);
	if (tr->snapshot)
		ring_buffer_totals(tr->snapshot, a->cpu, &a->books.spare);
	return hits_now(a) == hits;
}

/* On that CPU, interrupts off. */
static void trace_ledger_read_cpu(void *arg)
{
	struct audit *a = arg;

	for (unsigned i = 0; i < NMI_TRIES && !read_once(a); i++)
		;
	for (u32 row = 0; row < a->rows; row++)
		trace_ledger_add_counts(&a->of_file[row], &a->of_cpu[row]);
}

/* ---- the text ---- */

static bool trace_ledger_put_hits(struct seq *s, const struct trace_event_count *c)
{
	u64 others = not_recorded(c);

	seq_printf(s,
	    "hits %lu = recorded %ld + filtered %lu + pid_filtered %lu + soft_off %lu + too_deep "
	    "%lu + refused %lu\n",
	    c->hit, (s64)(c->hit - others), c->filtered, c->pid_filtered, c->soft_off, c->too_deep,
	    c->lost);
	return c->hit >= others;
}

static bool put_recorded(struct seq *s, const struct books *b)
{
	u64 recorded = b->events.hit - not_recorded(&b->events);
	u64 overrun = b->main.overrun + b->spare.overrun, read = b->main.read + b->spare.read;
	u64 cleared = b->main.cleared + b->spare.cleared;
	u64 discarded = b->main.discarded + b->spare.discarded;

	seq_printf(s,
	    "recorded %ld = unread %lu + snapshot %lu + read %lu + overwritten %lu + cleared %lu + "
	    "discarded %lu\n",
	    (s64)recorded, b->main.unread, b->spare.unread, read, overrun, cleared, discarded);
	return recorded == b->main.unread + b->spare.unread + read + overrun + cleared + discarded;
}

static bool put_refused(struct seq *s, const struct books *b)
{
	u64 full = b->main.dropped + b->spare.dropped;
	u64 commit_overrun = b->main.commit_overrun + b->spare.commit_overrun;
	u64 too_large = b->main.too_large + b->spare.too_large;
	u64 nested = b->main.nested + b->spare.nested;
	u64 disabled = b->main.disabled + b->spare.disabled;

	seq_printf(s,
	    "refused %lu = full %lu + commit_overrun %lu + too_large %lu + nested %lu + disabled "
	    "%lu\n",
	    b->events.lost, full, commit_overrun, too_large, nested, disabled);
	return b->events.lost == full + commit_overrun + too_large + nested + disabled;
}

#define NAME_ROOM 320 /* "SYSTEM:EVENT": names of 63 and 255 characters at most */

/* The equations that do not hold, by name; and room for an audit. */
struct verdict {
	struct seq wrong;
	char text[1024];
	struct trace_event_count rows[];
};

static void judge(struct verdict *v, bool holds, const char *who, const char *what)
{
	if (!holds)
		seq_printf(&v->wrong, "not balanced: %s: %s\n", who, what);
}

static void trace_ledger_put_balance(
    struct seq *s, struct verdict *v, const char *who, const struct books *b)
{
	seq_printf(s, "%s: ", who);
	judge(v, trace_ledger_put_hits(s, &b->events), who, "hits");
	seq_printf(s, "%s: ", who);
	judge(v, put_recorded(s, b), who, "recorded");
	seq_printf(s, "%s: ", who);
	judge(v, put_refused(s, b), who, "refused");
	if (b->events.trigger_missed)
		seq_printf(s, "# %s: trigger_missed %lu\n", who, b->events.trigger_missed);
}

static void put_events(struct seq *s, struct verdict *v, const struct audit *a)
{
	const struct trace_event_count *row = a->of_file;
	struct trace_event_file *file;
	char name[NAME_ROOM];

	list_for_each_entry (file, &a->tr->files, node) {
		if (!file->counts)
			continue;
		if (row->hit || not_recorded(row)) {
			fmt_snprintf(name, sizeof(name), "%s:%s", file->call->class->system,
			    file->call->name);
			seq_printf(s, "%s: ", name);
			judge(v, trace_ledger_put_hits(s, row), name, "hits");
		}
		row++;
	}
}

static void show(struct seq *s, struct verdict *v, struct audit *a)
{
	struct books all = {0};

	seq_puts(s, "# what became of every hit: per CPU, in all, per event\n");
	for (a->cpu = 0; a->cpu < host_cpu_count(); a->cpu++) {
		char who[16];

		fmt_snprintf(who, sizeof(who), "cpu%u", a->cpu);
		host_on_quiet_cpu(a->cpu, trace_ledger_read_cpu, a);
		trace_ledger_put_balance(s, v, who, &a->books);
		add_books(&all, &a->books);
	}
	trace_ledger_put_balance(s, v, "all", &all);
	put_events(s, v, a);
	trace_functions_show_calls(s, a->tr);
	if (a->tr->snapshot_missed)
		seq_printf(s, "# snapshots missed: %lu\n", a->tr->snapshot_missed);
	seq_write(s, v->text, v->wrong.len);
	if (!v->wrong.len)
		seq_puts(s, "balanced\n");
}

int trace_ledger_show(struct seq *s, struct trace_array *tr)
{
	struct audit a = {.tr = tr};
	struct trace_event_file *file;
	struct verdict *v;

	list_for_each_entry (file, &tr->files, node)
		a.rows += file->counts != NULL;
	v = host_alloc(sizeof(*v) + 2 * a.rows * sizeof(v->rows[0]));
	if (!v)
		return -ENOMEM;
	a.of_cpu = v->rows;
	a.of_file = v->rows + a.rows;
	seq_init(&v->wrong, v->text, sizeof(v->text));
	trace_snapshot_hold(tr);
	show(s, v, &a);
	trace_snapshot_release(tr);
	host_free(v);
	return 0;
}
