/*
 * The lists of pids of events and of functions. They change in task context under host_lock, and in
 * any context by fork and exit (options/event-fork, options/function-fork). Each switch and wake-up
 * reads them, with preemption off. Events read only trace_array.pid_ignore; function hooks are told
 * of changes.
 *
 * A set has a bitmap for possible pids, whose bits change atomically one by one. As on Linux, it
 * also accepts and shows larger numbers, which no task has; they are in a sorted list, which is
 * replaced as a whole.
 */
/* hot: runs with each event */
#include "trace/event/pid_filter.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "trace/event/enable.h"
#include "trace/event/event.h"
#include "trace/event/word.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_function.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"

#define PIDS	  32768 /* tasks have smaller ones */
#define LARGEST	  ((1u << 30) - 1)
#define LARGE_MAX 8192 /* larger numbers in a list: bounds its memory and the time of a write */
#define WORD_BITS 64

struct large {
	u32 count;
	u32 pid[]; /* sorted, no two the same */
};

struct pid_set {
	u64 bits[PIDS / WORD_BITS]; /* [A] */
	struct large *large;	    /* [A] NULL: none */
};

static struct trace_pids *active; /* [A] */
static struct trace_key *keys[TRACE_KEYS_AT_ONCE];
static unsigned key_count;

void trace_pid_set_keys(struct trace_key *const *list, unsigned n)
{
	key_count = MIN(n, (unsigned)TRACE_KEYS_AT_ONCE);
	memcpy(keys, list, key_count * sizeof(*keys));
}

/* ---- sets ---- */

/* The first of them that is not smaller. */
static u32 find_large(const struct large *l, u32 pid)
{
	u32 from = 0, to = l->count;

	while (from < to) {
		u32 mid = from + (to - from) / 2;
		if (l->pid[mid] < pid)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static bool trace_pid_is_listed(const struct pid_set *set, u32 pid)
{
	if (pid < PIDS)
		return READ_ONCE(set->bits[pid / WORD_BITS]) >> pid % WORD_BITS & 1;
	const struct large *l = READ_ONCE(set->large);
	if (!l)
		return false;
	u32 at = find_large(l, pid);
	return at < l->count && l->pid[at] == pid;
}

static void add(struct pid_set *set, u32 pid)
{
	if (pid < PIDS)
		atomic_or(&set->bits[pid / WORD_BITS], 1UL << pid % WORD_BITS);
}

static void del(struct pid_set *set, u32 pid)
{
	if (pid < PIDS)
		atomic_and(&set->bits[pid / WORD_BITS], ~(1UL << pid % WORD_BITS));
}

static void set_free(struct pid_set *set)
{
	if (set)
		host_free(set->large);
	host_free(set);
}

/* ---- who is ignored where ---- */

static bool ignored(const struct trace_pids *p, s32 pid)
{
	const struct pid_set *wanted = READ_ONCE(p->wanted), *unwanted = READ_ONCE(p->unwanted);

	return (wanted && !trace_pid_is_listed(wanted, pid)) ||
	       (unwanted && trace_pid_is_listed(unwanted, pid));
}

/* Each list by itself must agree about both tasks. */
static bool both_ignored(const struct trace_pids *p, s32 a, s32 b)
{
	const struct pid_set *wanted = READ_ONCE(p->wanted), *unwanted = READ_ONCE(p->unwanted);

	return (wanted && !trace_pid_is_listed(wanted, a) && !trace_pid_is_listed(wanted, b)) ||
	       (unwanted && trace_pid_is_listed(unwanted, a) && trace_pid_is_listed(unwanted, b));
}

/* For the task that runs on this CPU from now on. */
static void tell(const struct trace_pids *p, bool ignore)
{
	struct host_hook *hook;

	if (p->of == TRACE_PIDS_EVENTS)
		WRITE_ONCE(p->tr->pid_ignore[host_cpu()], ignore);
	else if ((hook = atomic_load_acquire(&p->tr->hook)))
		host_hook_skip(hook, ignore);
}

#define for_each_active(p)                                                                         \
	for (struct trace_pids *p = atomic_load_acquire(&active); p; p = READ_ONCE(p->next))

void trace_pid_switch_begin(s32 prev, s32 next)
{
	for_each_active (p)
		if (p->of == TRACE_PIDS_EVENTS)
			tell(p, both_ignored(p, prev, next));
}

void trace_pid_switch_end(s32 next)
{
	for_each_active (p)
		tell(p, ignored(p, next));
}

void trace_pid_wakeup_begin(s32 woken)
{
	for_each_active (p)
		if (p->of == TRACE_PIDS_EVENTS && READ_ONCE(p->tr->pid_ignore[host_cpu()]))
			tell(p, ignored(p, woken));
}

void trace_pid_wakeup_end(s32 current_pid)
{
	trace_pid_switch_end(current_pid);
}

/* On each CPU, interrupts off: for who runs there. */
static void trace_pid_look_again(void *arg)
{
	struct trace_pids *p = arg;
	struct host_context ctx;

	host_enter(&ctx);
	tell(p, ignored(p, ctx.pid));
	host_preempt_enable();
}

/* ---- fork and exit ---- */

static bool trace_pids_follow(const struct trace_pids *p)
{
	return READ_ONCE(p->tr->options) &
	       (p->of == TRACE_PIDS_EVENTS ? TRACE_OPT_EVENT_FORK : TRACE_OPT_FUNC_FORK);
}

static void follow(struct pid_set *set, s32 parent, s32 child)
{
	if (set && trace_pid_is_listed(set, parent))
		add(set, child);
}

static void forget(struct trace_pids *p, s32 pid)
{
	if (p->wanted)
		del(p->wanted, pid);
	if (p->unwanted)
		del(p->unwanted, pid);
}

/* A pid that comes back belongs to another task. */
static void forget_old(struct trace_pids *p, s32 pid)
{
	for (u32 i = 0; i < TRACE_PIDS_GONE; i++)
		if (atomic_cas(&p->gone[i], pid, 0))
			forget(p, pid);
}

void trace_pid_fork(s32 parent, s32 child)
{
	for_each_active (p) {
		if (!trace_pids_follow(p))
			continue;
		forget_old(p, child);
		follow(READ_ONCE(p->wanted), parent, child);
		follow(READ_ONCE(p->unwanted), parent, child);
	}
}

void trace_pid_free(s32 pid)
{
	for_each_active (p) {
		if (!trace_pids_follow(p))
			continue;
		u32 at = atomic_fetch_add(&p->gone_next, 1) % TRACE_PIDS_GONE;
		s32 old = atomic_xchg(&p->gone[at], pid);
		if (old)
			forget(p, old);
	}
}

/* ---- switching on and off ---- */

static void list_add_active(struct trace_pids *p)
{
	p->next = active;
	atomic_store_release(&active, p);
}

/* It keeps its own `next` for who stands on it. */
static void list_del_active(struct trace_pids *p)
{
	struct trace_pids **at = &active;

	while (*at != p)
		at = &(*at)->next;
	WRITE_ONCE(*at, p->next);
}

static void trace_pids_ask(const struct trace_pids *p, bool ask)
{
	struct host_hook *hook = p->of == TRACE_PIDS_FUNCTIONS ? p->tr->hook : NULL;

	if (hook)
		host_hook_ask(hook, ask);
}

/*
 * The switches are followed before the first look, and all CPUs looked at before an event may ask.
 */
static void activate(struct trace_pids *p)
{
	list_add_active(p);
	trace_keys_use(keys, key_count, 1);
	p->active = true;
	trace_pids_ask(p, true);
	host_on_each_cpu(trace_pid_look_again, p);
	if (p->of == TRACE_PIDS_EVENTS)
		trace_array_set_way(p->tr, TRACE_WAY_PID, true);
}

static void deactivate(struct trace_pids *p)
{
	if (p->of == TRACE_PIDS_EVENTS)
		trace_array_set_way(p->tr, TRACE_WAY_PID, false);
	trace_pids_ask(p, false);
	trace_keys_use(keys, key_count, -1);
	list_del_active(p);
	p->active = false;
}

void trace_pid_set_hook(struct trace_array *tr, struct host_hook *hook)
{
	struct trace_pids *p = tr->pids[TRACE_PIDS_FUNCTIONS];

	atomic_store_release(&tr->hook, hook);
	if (!p || !p->active)
		return;
	trace_pids_ask(p, true);
	host_on_each_cpu(trace_pid_look_again, p);
}

/* ---- the files ---- */

static struct pid_set **set_of(struct trace_pids *p, bool notrace)
{
	return notrace ? &p->unwanted : &p->wanted;
}

/* What is left of a write. */
struct pid_text {
	const char *at;
	size_t left;
};

/*
 * Takes the next pid: 1, 0 if there is none, -EINVAL, -EPERM. Like Linux it looks at the low 32
 * bits of a number only.
 */
static int trace_pid_next(struct pid_text *text, u32 *pid)
{
	char word[TRACE_WORD_MAX + 1];
	u64 v;

	if (!text->left)
		return 0;
	ssize taken = trace_word_take(text->at, text->left, word);
	if (taken < 0)
		return -EINVAL;
	text->at += taken;
	text->left -= taken;
	if (!*word)
		return 0;
	if (parse_u64(word, 0, &v))
		return -EINVAL;
	if ((u32)v > LARGEST)
		return -EPERM;
	*pid = v;
	return 1;
}

/* Checks the pids of a write and counts them; *text is moved to what is not taken. */
static int count_pids(struct pid_text *text, u32 *count, u32 *large)
{
	u32 pid;
	int more;

	*count = *large = 0;
	while ((more = trace_pid_next(text, &pid)) > 0) {
		++*count;
		*large += pid >= PIDS;
	}
	return more;
}

static int insert_large(struct large *l, u32 pid, u32 room)
{
	u32 at = find_large(l, pid);

	if (at < l->count && l->pid[at] == pid)
		return 0;
	if (l->count == room)
		return -EPERM;
	memmove(l->pid + at + 1, l->pid + at, (l->count++ - at) * sizeof(*l->pid));
	l->pid[at] = pid;
	return 0;
}

/*
 * Makes a list of the old one and `more` new ones, sorted. -ENOMEM, or -EPERM for more than
 * LARGE_MAX in all.
 */
static int merge_large(const struct large *old, struct pid_text text, u32 more, struct large **out)
{
	u32 have = old ? old->count : 0, room = MIN(have + (u64)more, (u64)LARGE_MAX), pid;
	size_t size = sizeof(struct large) + room * sizeof(u32);
	struct large *l = host_memory_check("a list of tasks", size) ? NULL : host_alloc(size);
	int err = 0;

	if (!l)
		return -ENOMEM;
	if (have)
		memcpy(l->pid, old->pid, have * sizeof(*l->pid));
	l->count = have;
	while (!err && trace_pid_next(&text, &pid) > 0)
		if (pid >= PIDS)
			err = insert_large(l, pid, room);
	if (err)
		host_free(l);
	else
		*out = l;
	return err;
}

/* What the change needs: everything that can fail. */
struct change {
	struct trace_pids *p;
	struct pid_set *set; /* new or the old one */
	struct large *large; /* NULL: stays as it is */
};

static int prepare(struct change *c, struct trace_array *tr, enum trace_pid_lists of, bool notrace,
    struct pid_text text, u32 large)
{
	int err = 0;

	c->p = tr->pids[of] ? tr->pids[of] : host_alloc(sizeof(*c->p));
	if (!c->p)
		return -ENOMEM;
	c->p->tr = tr;
	c->p->of = of;
	tr->pids[of] = c->p; /* inactive until it has a set */
	struct pid_set *old = *set_of(c->p, notrace);
	c->set = old ? old : host_alloc(sizeof(*c->set));
	if (!c->set)
		return -ENOMEM;
	if (large)
		err = merge_large(old ? old->large : NULL, text, large, &c->large);
	if (err && !old)
		set_free(c->set);
	return err;
}

static void apply(struct change *c, bool notrace, struct pid_text text)
{
	struct large *old = c->set->large;
	u32 pid;

	while (trace_pid_next(&text, &pid) > 0)
		add(c->set, pid);
	if (c->large)
		atomic_store_release(&c->set->large, c->large);
	atomic_store_release(set_of(c->p, notrace), c->set);
	if (c->p->active)
		host_on_each_cpu(trace_pid_look_again, c->p);
	else
		activate(c->p);
	if (c->large && old) {
		host_synchronize();
		host_free(old);
	}
}

ssize trace_pid_write(
    struct trace_array *tr, enum trace_pid_lists of, bool notrace, const char *buf, size_t n)
{
	host_assert_locked();
	struct pid_text text = {buf, n}, rest = text;
	struct change c = {.large = NULL};
	u32 count, large;
	int err = count_pids(&rest, &count, &large);

	if (!err && count)
		err = prepare(&c, tr, of, notrace, text, large);
	if (err)
		return err;
	if (count)
		apply(&c, notrace, text);
	return n - rest.left;
}

/* Makes function hooks call again. Events do not read pid_ignore while there is no list. */
void trace_pid_clear(struct trace_array *tr, enum trace_pid_lists of, bool notrace)
{
	host_assert_locked();
	struct trace_pids *p = tr->pids[of];
	struct pid_set *old = p ? *set_of(p, notrace) : NULL;

	if (!old)
		return;
	if (!*set_of(p, !notrace))
		deactivate(p);
	atomic_store_release(set_of(p, notrace), NULL);
	if (p->active || of == TRACE_PIDS_FUNCTIONS)
		host_on_each_cpu(trace_pid_look_again, p);
	host_synchronize();
	set_free(old);
}

void trace_pid_show(
    struct seq *s, const struct trace_array *tr, enum trace_pid_lists of, bool notrace)
{
	const struct pid_set *set = tr->pids[of] ? *set_of(tr->pids[of], notrace) : NULL;

	if (!set && of == TRACE_PIDS_FUNCTIONS)
		seq_puts(s, "no pid\n");
	for (u32 pid = 0; set && pid < PIDS; pid++)
		if (trace_pid_is_listed(set, pid))
			seq_printf(s, "%u\n", pid);
	for (u32 i = 0; set && set->large && i < set->large->count; i++)
		seq_printf(s, "%u\n", set->large->pid[i]);
}

void trace_pid_drop(struct trace_array *tr)
{
	for (int of = TRACE_PIDS_EVENTS; of <= TRACE_PIDS_FUNCTIONS; of++) {
		trace_pid_clear(tr, of, false);
		trace_pid_clear(tr, of, true);
		host_free(tr->pids[of]);
		tr->pids[of] = NULL;
	}
}
