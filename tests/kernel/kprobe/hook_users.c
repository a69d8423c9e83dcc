/*
 * Users of hooks: which users a call of a function reaches, in which order and with what; and to
 * which user the return of a followed call belongs when users come and go meanwhile.
 */
#include "kernel/base/sym.h"
#include "kernel/kprobe/hook.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/sched.h"
#include "kernel/task/task.h"
#include "tests/kernel/threads.h"

#define MOST_USERS  30 /* there may be at a time */
#define LEAST_USERS 20 /* that this test gets, whoever has some already */

static u64 __noipa hook_users_target(u64 a)
{
	barrier();
	return a + 1;
}

static u64 *set; /* of hook_users_target() alone */

static void hook_users_make_set(void)
{
	long i = sym_index((u64)hook_users_target);

	EXPECT(i >= 0);
	set = kzalloc((sym_count() + 63) / 64 * sizeof(*set));
	EXPECT(set != NULL);
	if (set && i >= 0)
		set[i / 64] |= 1UL << i % 64;
}

static void hook_users_free_set(void)
{
	kfree(set);
	set = NULL;
}

/* The address that the function's first instruction calls. */
static u64 hook_users_text_calls(void)
{
	const u8 *at = (const u8 *)hook_users_target;
	s32 distance;

	memcpy(&distance, at + 1, sizeof(distance));
	return *at == 0xe8 ? (u64)at + HOOK_LEN + distance : 0;
}

static struct hook_state hook_users_state(void)
{
	return hook_state(sym_index((u64)hook_users_target));
}

/* ---- who is called ---- */

struct counting_user {
	struct hook_user user;
	unsigned calls, order; /* order: the place of its last call among those of all */
	u64 ip, parent;
};

static unsigned called;

static __notrace void on_call(struct hook_user *user, u64 ip, u64 parent, u64 *slot)
{
	struct counting_user *c = container_of(user, struct counting_user, user);

	(void)slot;
	c->calls++;
	c->order = ++called;
	c->ip = ip;
	c->parent = parent;
}
NOTRACE(on_call, "a test calls it at the entry of functions");

static void __noinline hook_users_call(void)
{
	called = 0;
	EXPECT_EQ(hook_users_target(1), 2);
}

/* All at once in the reverse order of their addition, then each as the function's only user. */
static void expect_calls(struct counting_user *u, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		u[i].calls = 0;
		hook_user_set(&u[i].user, set);
	}
	hook_users_call();
	for (unsigned i = 0; i < n; i++) {
		EXPECT_EQ(u[i].calls, 1);
		EXPECT_EQ(u[i].ip, (u64)hook_users_target);
		EXPECT_STR(sym_find(u[i].parent, NULL, NULL), "hook_users_call");
		hook_user_set(&u[i].user, NULL);
	}
	for (unsigned i = 0; i < n; i++) {
		hook_user_set(&u[i].user, set);
		hook_users_call();
		EXPECT_EQ(u[i].calls, 2);
		EXPECT_EQ(called, 1);
		EXPECT_EQ(hook_users_text_calls(), hook_users_state().entry);
		EXPECT_EQ((u64)hook_users_state().fn, (u64)on_call);
		hook_user_set(&u[i].user, NULL);
	}
	EXPECT_EQ(hook_users_text_calls(), 0);
}

static void as_many_as_there_may_be(void)
{
	static struct counting_user u[MOST_USERS + 1];
	unsigned n = 0;

	hook_users_make_set();
	for (; n <= MOST_USERS; n++) {
		u[n] = (struct counting_user){.user.fn = on_call};
		int err = hook_user_add(&u[n].user);

		if (err) {
			EXPECT_EQ(err, -EBUSY);
			break;
		}
	}
	EXPECT(n >= LEAST_USERS);
	EXPECT_EQ(u[n - 1].user.number, MOST_USERS - 1);
	expect_calls(u, n);
	for (unsigned i = 0; i < n; i++)
		hook_user_set(&u[i].user, set);
	hook_users_call();
	for (unsigned i = 0; i < n; i++)
		EXPECT_EQ(u[i].order, n - i);
	/* One in the middle leaves; the next one has its number. */
	int number = u[n / 2].user.number;
	hook_user_remove(&u[n / 2].user);
	u[n / 2] = (struct counting_user){.user.fn = on_call};
	EXPECT_EQ(hook_user_add(&u[n / 2].user), 0);
	EXPECT_EQ(u[n / 2].user.number, number);
	hook_users_call();
	EXPECT_EQ(called, n - 1);
	for (unsigned i = 0; i < n; i++)
		hook_user_remove(&u[i].user);
	hook_users_call();
	EXPECT_EQ(called, 0);
	hook_users_free_set();
}

/* ---- users that are skipped ---- */

/* The number of calls of u that a call makes, while u is skipped or not. */
static unsigned hook_users_calls(struct counting_user *u, bool skip)
{
	u->calls = 0;
	preempt_disable();
	hook_user_skip(&u->user, skip);
	hook_users_call();
	preempt_enable();
	return u->calls;
}

/* As the function's only user, and as one of two. */
static void skipped(void)
{
	static struct counting_user u, other;

	hook_users_make_set();
	u = other = (struct counting_user){.user.fn = on_call};
	u64 before = current()->cpus_allowed;
	task_set_affinity(current(), 1);
	for (unsigned round = 0; round < 2; round++) {
		EXPECT_EQ(hook_user_add(&u.user), 0);
		hook_user_set(&u.user, set);
		hook_user_ask(&u.user, true);
		EXPECT_EQ(hook_users_text_calls(), hook_users_state().entry);
		hook_users_call();
		EXPECT_EQ(called, 1); /* it is not skipped, though its number was */
		EXPECT_EQ(hook_users_calls(&u, true), 0);
		EXPECT_EQ(hook_users_calls(&u, false), 1);
		EXPECT_EQ(hook_user_add(&other.user), 0);
		hook_user_set(&other.user, set);
		EXPECT_EQ(hook_users_calls(&u, true), 0);
		EXPECT_EQ(called, 1);
		EXPECT_EQ(hook_users_calls(&u, false), 1);
		EXPECT_EQ(called, 2);
		hook_user_remove(&other.user);
		EXPECT_EQ(hook_users_calls(&u, true), 0);
		hook_user_ask(&u.user, false);
		EXPECT_EQ(hook_users_text_calls(), hook_users_state().entry);
		hook_user_remove(&u.user);
		EXPECT_EQ(current()->cpus_allowed, 1);
		u.user.asks = 0;
	}
	task_set_affinity(current(), before);
	hook_users_free_set();
}

/* ---- probes beside users ---- */

static struct regs probe_seen_regs;
static u32 probe_seen_count;

static int on_probe(struct kprobe *p, struct regs *r)
{
	(void)p;
	probe_seen_regs = *r;
	probe_seen_count = this_cpu_read(preempt_count);
	return 0;
}

static int on_probe_arguments(struct kprobe *p, struct regs *r)
{
	(void)p, (void)r;
	probe_seen_count = this_cpu_read(preempt_count);
	return 0;
}

static __notrace void on_enter_nothing(struct hook_user *user, u64 *slot)
{
	(void)user, (void)slot;
}
NOTRACE(on_enter_nothing, "a test calls it at the entry of functions");

static __notrace void on_leave_nothing(
    struct hook_user *user, const struct hook_call *call, const struct hook_returned *ret)
{
	(void)user, (void)call, (void)ret;
}
NOTRACE(on_leave_nothing, "a test calls it where functions return");

/* A probe sees the same preemption count and segment whether users are there or not. */
static void probes_beside_users(void)
{
	struct kprobe all = {.symbol_name = "hook_users_target", .pre_handler = on_probe};
	struct kprobe arguments = {.symbol_name = "hook_users_target",
	    .pre_handler = on_probe_arguments,
	    .flags = KPROBE_FLAG_ARGUMENTS};
	static struct hook_user follower;
	u64 ss = 0;

	hook_users_make_set();
	follower = (struct hook_user){.enter = on_enter_nothing, .leave = on_leave_nothing};
	EXPECT_EQ(register_kprobe(&arguments), 0);
	probe_seen_count = ~0u;
	hook_users_call();
	EXPECT_EQ(probe_seen_count, this_cpu_read(preempt_count));
	EXPECT_EQ(hook_users_state().users, 1);
	EXPECT(hook_users_state().probed);
	EXPECT(!hook_users_state().fn);
	unregister_kprobe(&arguments);
	EXPECT_EQ(register_kprobe(&all), 0);
	EXPECT(!hook_users_state().fn);
	for (unsigned users = 0; users < 2; users++) {
		probe_seen_count = ~0u;
		hook_users_call();
		EXPECT_EQ(probe_seen_count, this_cpu_read(preempt_count));
		EXPECT_EQ(probe_seen_regs.rip, (u64)hook_users_target + 1);
		EXPECT_EQ(hook_users_state().users, users + 1);
		ss = users ? ss : probe_seen_regs.ss;
		EXPECT_EQ(probe_seen_regs.ss, ss);
		if (!users) {
			EXPECT_EQ(hook_user_add(&follower), 0);
			hook_user_set(&follower, set);
		}
	}
	hook_user_remove(&follower);
	unregister_kprobe(&all);
	hook_users_free_set();
}

/* ---- followed calls ---- */

struct following_user {
	struct hook_user user;
	unsigned enters, leaves;
};

static __notrace void on_enter(struct hook_user *user, u64 *slot)
{
	struct following_user *f = container_of(user, struct following_user, user);
	struct hook_call call = {.ip = hook_entered_ip(slot), .start = 7, .level = 0};

	f->enters++;
	hook_call_follow(user, slot, &call);
}
NOTRACE(on_enter, "a test calls it at the entry of functions");

static __notrace void on_leave(
    struct hook_user *user, const struct hook_call *call, const struct hook_returned *ret)
{
	struct following_user *f = container_of(user, struct following_user, user);

	(void)ret;
	f->leaves += call->start == 7;
}
NOTRACE(on_leave, "a test calls it where functions return");

static struct following_user first, second;
static bool exchange, end;

static void follow(struct following_user *f)
{
	*f = (struct following_user){.user.enter = on_enter, .user.leave = on_leave};
	EXPECT_EQ(hook_user_add(&f->user), 0);
	hook_user_set(&f->user, set);
}

/*
 * In the followed call another user takes the number of the one that follows it, or the task ends.
 */
static u64 __noipa hook_users_inside(u64 a)
{
	if (exchange) {
		hook_user_remove(&first.user);
		follow(&second);
		EXPECT_EQ(second.user.number, first.user.number);
	}
	if (end)
		do_exit(0);
	barrier();
	return a + 1;
}

static void hook_users_runs_inside(void *unused)
{
	(void)unused;
	EXPECT_EQ(hook_users_inside(2), 3);
}

static void followed_calls(void)
{
	struct threads t = {0};
	long i = sym_index((u64)hook_users_inside);

	hook_users_make_set();
	set[i / 64] |= 1UL << i % 64;
	exchange = end = false;
	follow(&first);
	EXPECT_EQ(hook_users_inside(1), 2);
	EXPECT_EQ(first.enters, 1);
	EXPECT_EQ(first.leaves, 1);
	EXPECT_EQ(first.user.missed, 0);
	/* A call that the first one followed is no call of its successor. */
	exchange = true;
	EXPECT_EQ(hook_users_inside(1), 2);
	exchange = false;
	EXPECT_EQ(first.enters, 2);
	EXPECT_EQ(first.leaves, 1);
	EXPECT_EQ(second.enters, 0);
	EXPECT_EQ(second.leaves, 0);
	EXPECT_EQ(hook_users_inside(1), 2);
	EXPECT_EQ(second.leaves, 1);
	end = true;
	thread_start(&t, hook_users_runs_inside, NULL, -1);
	threads_join(&t);
	settled_free_pages();
	end = false;
	EXPECT_EQ(second.user.ended, 1);
	EXPECT_EQ(second.user.left, 0);
	hook_user_remove(&second.user);
	hook_users_free_set();
}

/* ---- a user that is being removed ---- */

static u32 watching, added; /* [A] */

/* Keeps the second CPU, so that the removal waits for it, until another user was added. */
static void hook_users_keeps_cpu(void *unused)
{
	(void)unused;
	preempt_disable();
	atomic_store(&watching, 1);
	while (!atomic_load(&added))
		cpu_relax();
	preempt_enable();
}

static void hook_users_adds(void *unused)
{
	(void)unused;
	while (READ_ONCE(kernel_hook_users[first.user.number]) == &first.user)
		sched_yield_current();
	follow(&second);
	atomic_store(&added, 1);
}

/* Its number is not free before no CPU can be in its entry. */
static void number_of_a_leaving_user(void)
{
	u64 before = current()->cpus_allowed;
	struct threads t = {0};

	if (cpu_count() < 2) {
		ktap_skip("one CPU");
		return;
	}
	hook_users_make_set();
	task_set_affinity(current(), 1);
	atomic_store(&watching, 0);
	atomic_store(&added, 0);
	follow(&first);
	thread_start(&t, hook_users_keeps_cpu, NULL, 1);
	while (!atomic_load(&watching))
		sched_yield_current();
	thread_start(&t, hook_users_adds, NULL, 0);
	hook_user_remove(&first.user);
	threads_join(&t);
	EXPECT(second.user.number != first.user.number);
	hook_user_remove(&second.user);
	task_set_affinity(current(), before);
	hook_users_free_set();
}

static const struct ktap_case cases[] = {
    {"hook_users.as_many_as_there_may_be", as_many_as_there_may_be},
    {"hook_users.skipped", skipped},
    {"hook_users.probes_beside_users", probes_beside_users},
    {"hook_users.followed_calls", followed_calls},
    {"hook_users.number_of_a_leaving_user", number_of_a_leaving_user},
    {NULL, NULL},
};
const struct ktap_suite suite_hook_users = {cases};
