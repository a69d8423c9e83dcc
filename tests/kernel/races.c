/*
 * Races of the kernel itself, for `trapline explore`: each is right in the schedule that its two
 * tasks have anyway, and wrong in others. `races` on the command line makes /proc/trapline/races.
 * tests/races/races.c writes "NAME begin", "NAME a" and "NAME b" from two threads, then "NAME end",
 * which is -EIO if it went wrong. Those that cannot wait for the end hang or panic. Task context.
 */
#include "kernel/fs/proc.h"
#include "kernel/init.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "kernel/base/panic.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"
#include "trace/event/event.h"

struct kernel_race {
	const char *name;
	void (*begin)(void);
	void (*role[2])(void); /* a, b */
	bool (*went_wrong)(void);
};

static struct mutex race_lock = MUTEX_INIT(race_lock), other_lock = MUTEX_INIT(other_lock);
static struct wait_queue race_queue = WAIT_QUEUE_INIT(race_queue);

static bool race_never_wrong(void)
{
	return false;
}

/* ---- lost update: a number that is kept as a text ---- */

static char count_text[24];

static void count_begin(void)
{
	strscpy(count_text, "0", sizeof(count_text));
}

static void count_up(void)
{
	char text[24];
	u64 is = 0;

	parse_u64(count_text, 10, &is);
	fmt_snprintf(text, sizeof(text), "%lu", is + 1);
	strscpy(count_text, text, sizeof(count_text));
}

static bool count_is_wrong(void)
{
	return strcmp(count_text, "2") != 0;
}

/* ---- check, then act: each under the lock, but not both together ---- */

static int balance;

static void balance_begin(void)
{
	balance = 100;
}

static void balance_withdraw(void)
{
	mutex_lock(&race_lock);
	bool enough = balance >= 100;
	mutex_unlock(&race_lock);
	if (!enough)
		return;
	mutex_lock(&race_lock);
	balance -= 100;
	mutex_unlock(&race_lock);
}

static bool balance_is_wrong(void)
{
	return balance < 0;
}

/* ---- missed wake-ups ---- */

static bool signal_came;

static void signal_begin(void)
{
	signal_came = false;
}

/* It does not look again when it is on the queue. */
static void signal_wait(void)
{
	struct wait_entry e;

	if (READ_ONCE(signal_came))
		return;
	wait_prepare(&race_queue, &e, true);
	schedule();
	wait_finish(&race_queue, &e);
}

static void signal_give(void)
{
	WRITE_ONCE(signal_came, true);
	wake_up(&race_queue);
}

struct work {
	struct list_head node;
};
static struct list_head work_list;
static unsigned work_done;

static void work_begin(void)
{
	list_init(&work_list);
	work_done = 0;
}

/* It empties the list after it has done the work, and not before. */
static void work_consume(void)
{
	while (work_done < 2) {
		struct work *w, *next;
		if (wait_event_interruptible(&race_queue, !list_empty(&work_list)))
			return;
		list_for_each_entry_safe (w, next, &work_list, node) {
			work_done++;
			kfree(w);
		}
		mutex_lock(&race_lock);
		list_init(&work_list);
		mutex_unlock(&race_lock);
	}
}

static void work_produce(void)
{
	for (int i = 0; i < 2; i++) {
		struct work *w = kmalloc(sizeof(*w));
		if (!w)
			return;
		mutex_lock(&race_lock);
		list_add_tail(&w->node, &work_list);
		mutex_unlock(&race_lock);
		wake_up(&race_queue);
	}
}

/* ---- order ---- */

#define MADE 0x6d616465u

struct object {
	u32 magic, refs;
};
static struct object *object;
static bool saw_wrong;

static void object_begin(void)
{
	kfree(object);
	object = NULL;
	saw_wrong = false;
}

static void object_make(void)
{
	struct object *o = kzalloc(sizeof(*o));

	if (!o)
		return;
	mutex_lock(&race_lock);
	object = o;
	mutex_unlock(&race_lock);
	o->magic = MADE;
}

static void object_look(void)
{
	mutex_lock(&race_lock);
	struct object *o = object;
	mutex_unlock(&race_lock);
	if (o && o->magic != MADE)
		saw_wrong = true;
}

static bool object_is_wrong(void)
{
	return saw_wrong;
}

static char news[24];
static bool news_are_there;

static void news_begin(void)
{
	news_are_there = saw_wrong = false;
	news[0] = '\0';
}

/* It says so before they are. */
static void news_publish(void)
{
	WRITE_ONCE(news_are_there, true);
	mutex_lock(&race_lock);
	fmt_snprintf(news, sizeof(news), "%lu", current()->run_total_ns);
	mutex_unlock(&race_lock);
}

static void news_read(void)
{
	if (READ_ONCE(news_are_there) && !news[0])
		saw_wrong = true;
}

/* ---- deadlocks ---- */

static void nothing_begin(void)
{
}

static void both_locks(struct mutex *first, struct mutex *second)
{
	mutex_lock(first);
	mutex_lock(second);
	mutex_unlock(second);
	mutex_unlock(first);
}

static void locks_one_way(void)
{
	both_locks(&race_lock, &other_lock);
}

static void locks_other_way(void)
{
	both_locks(&other_lock, &race_lock);
}

static int tokens;

static void tokens_begin(void)
{
	tokens = 2;
}

static bool token_take_one(void)
{
	mutex_lock(&race_lock);
	bool got = tokens > 0;
	tokens -= got;
	mutex_unlock(&race_lock);
	return got;
}

static void token_give(void)
{
	mutex_lock(&race_lock);
	tokens++;
	mutex_unlock(&race_lock);
	wake_up(&race_queue);
}

/* Each keeps one while it makes room for its work, and waits for the other. */
static void tokens_take_two(void)
{
	void *room[8];

	if (wait_event_interruptible(&race_queue, token_take_one()))
		return;
	for (unsigned i = 0; i < ARRAY_SIZE(room); i++)
		room[i] = kmalloc(64);
	if (wait_event_interruptible(&race_queue, token_take_one()))
		return;
	for (unsigned i = 0; i < ARRAY_SIZE(room); i++)
		kfree(room[i]);
	token_give();
	token_give();
}

/* ---- ABA ---- */

#define CELLS 16

static struct cell {
	struct cell *next;
	bool taken;
} cells[CELLS];
static struct cell *cells_top;

/* How many were looked at. */
static unsigned cells_seen;

static void cells_count(void)
{
	mutex_lock(&race_lock);
	cells_seen++;
	mutex_unlock(&race_lock);
}

static void cells_begin(void)
{
	for (unsigned i = 0; i < CELLS; i++)
		cells[i] = (struct cell){i + 1 < CELLS ? &cells[i + 1] : NULL, false};
	cells_top = cells;
}

/* Takes n of them from the top, if there are so many: returns the first. */
static struct cell *cells_take(unsigned n)
{
	for (;;) {
		struct cell *first = atomic_load(&cells_top), *rest = first;
		for (unsigned i = 0; i < n && rest; i++) {
			rest = atomic_load(&rest->next);
			cells_count();
		}
		if (!first || atomic_cas(&cells_top, first, rest))
			return first;
	}
}

static void cells_mark(struct cell *first, unsigned n, bool taken)
{
	for (; first && n; first = first->next, n--)
		first->taken = taken;
}

static void cells_take_some(void)
{
	cells_mark(cells_take(CELLS / 2), CELLS / 2, true);
}

/* The first one comes back, and what was below it does not. */
static void cells_take_two_give_one(void)
{
	struct cell *a = cells_take(1), *b = cells_take(1);

	cells_mark(b, 1, true);
	do
		a->next = atomic_load(&cells_top);
	while (!atomic_cas(&cells_top, a->next, a));
}

static bool cells_are_wrong(void)
{
	for (const struct cell *c = cells_top; c; c = c->next)
		if (c->taken)
			return true;
	return false;
}

/* ---- use after free ---- */

static void session_begin(void)
{
	object = kzalloc(sizeof(*object));
	if (object)
		*object = (struct object){MADE, 1};
}

static void session_put(struct object *o)
{
	if (atomic_sub(&o->refs, 1))
		return;
	o->magic = 0;
	kfree(o);
}

/* It counts itself when it has let go of the lock that kept the object. */
static void session_use(void)
{
	mutex_lock(&race_lock);
	struct object *o = object;
	mutex_unlock(&race_lock);
	if (!o)
		return;
	atomic_add(&o->refs, 1);
	BUG_ON(o->magic != MADE);
	session_put(o);
}

static void session_end(void)
{
	mutex_lock(&race_lock);
	struct object *o = object;
	object = NULL;
	mutex_unlock(&race_lock);
	if (o)
		session_put(o);
}

/* ---- a lockup: it spins until the other one has come, and lets nobody else run ---- */

static bool came;

static void lockup_begin(void)
{
	came = false;
}

static void lockup_end(void)
{
	WRITE_ONCE(came, true);
}

static void lockup_wait(void)
{
	preempt_disable();
	while (!READ_ONCE(came))
		;
	preempt_enable();
}

/* ---- a ledger: who finds the other one at it counts its hit, and nothing records it ---- */

static bool entry_busy;

static void entry_begin(void)
{
	entry_busy = false;
}

static void entry_write(void)
{
	struct trace_event_file *file = trace_event_find("sched", "sched_switch")->files;

	if (READ_ONCE(entry_busy)) {
		if (file && file->counts)
			file->counts[cpu_id()].hit++;
		return;
	}
	WRITE_ONCE(entry_busy, true);
	mutex_lock(&race_lock);
	mutex_unlock(&race_lock);
	WRITE_ONCE(entry_busy, false);
}

/* ---- the file ---- */

static const struct kernel_race races[] = {
    {"lost_update", count_begin, {count_up, count_up}, count_is_wrong},
    {"check_then_act", balance_begin, {balance_withdraw, balance_withdraw}, balance_is_wrong},
    {"missed_signal", signal_begin, {signal_wait, signal_give}, race_never_wrong},
    {"missed_work", work_begin, {work_consume, work_produce}, race_never_wrong},
    {"used_before_made", object_begin, {object_make, object_look}, object_is_wrong},
    {"published_early", news_begin, {news_publish, news_read}, object_is_wrong},
    {"lock_order", nothing_begin, {locks_one_way, locks_other_way}, race_never_wrong},
    {"two_tokens", tokens_begin, {tokens_take_two, tokens_take_two}, race_never_wrong},
    {"stack_aba", cells_begin, {cells_take_some, cells_take_two_give_one}, cells_are_wrong},
    {"use_after_free", session_begin, {session_use, session_end}, race_never_wrong},
    {"lockup", lockup_begin, {lockup_end, lockup_wait}, race_never_wrong},
    {"lost_entry", entry_begin, {entry_write, entry_write}, race_never_wrong},
};

static int races_show(struct seq *s, void *unused __maybe_unused)
{
	for (unsigned i = 0; i < ARRAY_SIZE(races); i++)
		seq_printf(s, "%s\n", races[i].name);
	return 0;
}

static int races_store(char *line, size_t n __maybe_unused, void *unused __maybe_unused)
{
	char *word = strstrip(line), *what = strchr(word, ' ');

	if (!what)
		return -EINVAL;
	*what++ = '\0';
	for (const struct kernel_race *r = races; r < races + ARRAY_SIZE(races); r++) {
		if (strcmp(r->name, word) != 0)
			continue;
		if (!strcmp(what, "end"))
			return r->went_wrong() ? -EIO : 0;
		if (!strcmp(what, "begin"))
			r->begin();
		else
			r->role[*what == 'b']();
		return 0;
	}
	return -EINVAL;
}

void races_files_init(void)
{
	proc_register("trapline/races", races_show, races_store, NULL);
}
