/*
 * Which functions are hooked, and by which users. The compiler places a nop at the beginning of
 * each function (Makefile: HOOKS), and tools/symtab makes a bit map of the functions that have one.
 * A function has none if its section has none, or if it is marked __notrace; NOTRACE() then gives
 * the reason.
 *
 * A user's bit in `masks` is set for each function that it hooks. A function with one user calls
 * that user's own entry; a function with several calls the entry of many, which reads the mask. The
 * probes of a function count as one user and have one of two bits: the entry of probes that read
 * only registers of arguments saves no others. `now` has what the text calls at present.
 *
 * Changes are made under hook_lock: first the mask, then the text, so that a call through the entry
 * of many finds all users of the function. That entry calls the users in the reverse order of their
 * addition, as Linux does. A call that began before the change may still reach a user that has
 * dropped the function, but never a removed one: no task is preempted in an entry
 * (arch_hook_in_entry()), and hook_user_remove() waits until all CPUs have left it.
 *
 * Entries run in any context, NMI included; changes are made in task context.
 */
/* hot: runs with each event */
#include "kernel/kprobe/hook.h"
#include "kernel/base/sym.h"
#include "kernel/base/symtab.h"
#include "kernel/fs/proc.h"
#include "kernel/kprobe/shadow.h"
#include "kernel/kprobe/site.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/sched.h"

extern const char __text_start[], __text_end[], __boot_text_end[], __trace_text_start[],
    __trace_text_end[], __lib_text_start[], __lib_text_end[], __unhooked_start[], __unhooked_end[],
    __asm_text_start[], __asm_text_end[], __noprobe_start[], __noprobe_end[]; /* linker.ld */
extern const struct notrace_reason __start___notrace[], __stop___notrace[];
extern const struct sym_table sym_table;

#define USERS	      30
#define PROBE_BIT     1u
#define ARGUMENTS_BIT 2u /* instead of PROBE_BIT: all probes read only registers of arguments */
#define PROBE_BITS    (PROBE_BIT | ARGUMENTS_BIT)
#define USER_SHIFT    2	 /* user n's bit is n + USER_SHIFT */
#define GRAIN	      64 /* bytes of text */
#define TOUCHED	      0x80

/* Values of `now`. */
enum { NOW_OFF, NOW_MANY, NOW_PROBE, NOW_ARGUMENTS, NOW_DIRECT, NOW_MASK = 0x7f };

static void hook_nobody(struct hook_user *user __maybe_unused, u64 ip __maybe_unused,
    u64 parent __maybe_unused, u64 *slot __maybe_unused)
{
}

static void hook_nobody_entered(struct hook_user *user __maybe_unused, u64 *slot __maybe_unused)
{
}

static void hook_nobody_left(struct hook_user *user __maybe_unused,
    const struct hook_call *call __maybe_unused, const struct hook_returned *ret __maybe_unused)
{
}

/*
 * Placeholders for a number without a user, and for one whose user is being removed. Both have all
 * three functions, because a CPU may still be in either entry of the earlier user.
 */
#define HOOK_NOBODY                                                                                \
	{                                                                                          \
		.fn = hook_nobody, .enter = hook_nobody_entered, .leave = hook_nobody_left         \
	}
static struct hook_user nobody = HOOK_NOBODY, leaving = HOOK_NOBODY;
struct hook_user *kernel_hook_users[USERS] = {
    [0 ... USERS - 1] = &nobody}; /* [A] changed under hook_lock */

static struct mutex hook_lock = MUTEX_INIT(hook_lock);
static u32 generation; /* [hook_lock] of users: tells the calls of successive users apart */
static u32 *masks;     /* [A] by function; NULL: no hook was ever used */
static u8 *now;	       /* [hook_lock] by function: NOW_*, TOUCHED */
static u16 *first_of;  /* [I] by GRAIN of the text: the first function there or above */
/* [hook_lock] a bit map of the functions of each user: its column of `masks`. Allocated once. */
static u64 *functions_of[USERS];

/* ---- finding the function ---- */

/* The number of the function that begins at addr; -1: none, or no hook was ever used. */
static __noprobe long hook_index(u64 addr)
{
	const struct sym_table *t = &sym_table;
	u64 at = addr - t->text_start;
	const u16 *firsts = atomic_load_acquire(&first_of);

	if (!firsts || addr >= t->text_end || addr < t->text_start)
		return -1;
	u32 i = firsts[at / GRAIN];
	while (i < t->count && t->offset[i] < at)
		i++;
	return i < t->count && t->offset[i] == at ? (long)i : -1;
}

static void hook_fill_firsts(u16 *firsts, u32 grains)
{
	const struct sym_table *t = &sym_table;
	u32 i = 0;

	for (u32 g = 0; g < grains; g++) {
		while (i < t->count && t->offset[i] < g * GRAIN)
			i++;
		firsts[g] = i;
	}
}

/* Under hook_lock. */
static int hook_make_tables(void)
{
	u32 grains = (sym_table.text_end - sym_table.text_start) / GRAIN + 1;

	if (first_of)
		return 0;
	masks = masks ? masks : kzalloc(sym_table.count * sizeof(*masks));
	now = now ? now : kzalloc(sym_table.count);
	u16 *firsts = masks && now ? kzalloc(grains * sizeof(*firsts)) : NULL;
	if (!firsts)
		return -ENOMEM;
	hook_fill_firsts(firsts, grains);
	atomic_store_release(&first_of, firsts);
	return 0;
}

int hook_prepare(void)
{
	mutex_lock(&hook_lock);
	int err = hook_make_tables();
	mutex_unlock(&hook_lock);
	return err;
}

bool hook_at(u64 addr)
{
	long i = symtab_find(&sym_table, addr);

	return i >= 0 && symtab_start(&sym_table, i) == addr && symtab_hooked(&sym_table, i);
}

/* ---- entering a hooked function ---- */

/* The handlers see the preemption count of the function's caller. */
static __noprobe u64 hook_call_probes(struct regs *r)
{
	u64 flags = irq_save();

	preempt_count_sub(1);
	u64 next = kernel_hook_probe(r);
	preempt_count_add(1);
	irq_restore(flags);
	return next;
}

/* The stack below the slot becomes what hook_entered_ip() and hook_entered_flags() read. */
_Static_assert(offsetof(struct regs, ss) == sizeof(struct regs) - sizeof(u64),
    "hook_many has it below the place where the hook was called from");
static __noprobe void hook_call_enter(struct hook_user *u, struct regs *r)
{
	u64 flags = irq_save(), ss = r->ss;

	r->ss = flags;
	preempt_count_sub(1);
	u->enter(u, (u64 *)r->rsp);
	preempt_count_add(1);
	r->ss = ss;
	irq_restore(flags);
}

__noprobe u64 kernel_hook_many(struct regs *r)
{
	u64 ip = r->rip - 1, *slot = (u64 *)r->rsp, parent = *slot;
	long i = hook_index(ip);
	u32 mask = i < 0 ? 0 : READ_ONCE(masks[i]);

	for (u32 left = mask >> USER_SHIFT & ~(u32)this_cpu_read(hook_skip); left;) {
		u32 number = 31 - __builtin_clz(left);
		struct hook_user *u = READ_ONCE(kernel_hook_users[number]);
		if (u->enter)
			hook_call_enter(u, r);
		else
			u->fn(u, ip, parent, slot);
		left ^= 1u << number;
	}
	return mask & PROBE_BITS ? hook_call_probes(r) : ip + HOOK_LEN;
}

/* ---- returning from one ---- */

static SHADOW_INLINE struct hook_user *hook_owner(u64 owner)
{
	struct hook_user *u = READ_ONCE(*(struct hook_user **)((s64)(s32)owner - 1));

	return likely(u->calls == (owner & ~HOOK_CALLS_SHARED)) ? u : &nobody;
}

__noprobe void hook_call_returned(const struct shadow_record *r, const struct hook_returned *ret)
{
	struct hook_user *u = hook_owner(r->owner);

	u->leave(u, (const struct hook_call *)r - 1, ret);
}

__noprobe void hook_dropped(const struct shadow_record *r, bool ended)
{
	struct hook_user *u = hook_owner(r->owner);

	atomic_add(ended ? &u->ended : &u->left, 1);
}

/*
 * All records of the slot belong to this return, and to users of hooks. `to` is filled in before
 * the last one is dropped: an unwinder finds the return address in one place or the other.
 */
__noprobe void kernel_hook_returned(struct hook_returned *ret)
{
	struct shadow *s = shadow_of(current());
	u64 slot = (u64)&ret->to;
	struct shadow_record *r;

	ret->to = (u64)hook_return; /* the ret has popped it */
	shadow_drop_stale(s, slot);
	ret->to = 0;
	while ((r = s->top)->slot == slot) {
		hook_call_returned(r, ret);
		if (shadow_below(r)->slot != slot)
			ret->to = r->ret;
		WRITE_ONCE(s->top, shadow_below(r));
	}
}

/* ---- patching ---- */

static u8 hook_wanted(u32 mask)
{
	if (!mask)
		return NOW_OFF;
	if (mask & (mask - 1))
		return NOW_MANY;
	if (mask == PROBE_BIT)
		return NOW_PROBE;
	if (mask == ARGUMENTS_BIT)
		return NOW_ARGUMENTS;
	unsigned number = __builtin_ctz(mask) - USER_SHIFT;
	if (number >= ARCH_HOOK_DIRECT)
		return NOW_MANY;
	const struct hook_user *u = kernel_hook_users[number];

	return NOW_DIRECT + number + (u->enter ? ARCH_HOOK_CALLS : 0) +
	       (u->asks ? ARCH_HOOK_ASKS : 0);
}

static int arch_entry_of(u8 state)
{
	switch (state & NOW_MASK) {
	case NOW_OFF:
		return ARCH_HOOK_OFF;
	case NOW_MANY:
		return ARCH_HOOK_MANY;
	case NOW_PROBE:
		return ARCH_HOOK_PROBE;
	case NOW_ARGUMENTS:
		return ARCH_HOOK_ARGUMENTS;
	default:
		return (state & NOW_MASK) - NOW_DIRECT;
	}
}

/* [hook_lock] Patches not yet made, in the order of addresses. */
static struct {
	struct arch_hook list[ARCH_HOOK_BATCH];
	unsigned n;
} batch;

static void hook_flush(void)
{
	arch_hooks_set(batch.list, batch.n);
	batch.n = 0;
}

/* Brings the text of one function in line with its mask. */
static void hook_update(u32 i)
{
	u8 want = hook_wanted(masks[i]);

	if ((now[i] & NOW_MASK) == want)
		return;
	now[i] = want | TOUCHED;
	batch.list[batch.n++] =
	    (struct arch_hook){symtab_start(&sym_table, i), arch_entry_of(want)};
	if (batch.n == ARCH_HOOK_BATCH)
		hook_flush();
}

static void hook_change(u32 i, u32 bits, u32 set)
{
	WRITE_ONCE(masks[i], (masks[i] & ~bits) | set);
	hook_update(i);
}

static u32 hook_words(void)
{
	return (sym_table.count + 63) / 64;
}

/* A bit map of 64 functions: which of them can be hooked. */
static u64 hook_word(u32 word)
{
	const u32 *hooked = sym_table.hooked;
	u32 high = 2 * word + 1 < (sym_table.count + 31) / 32 ? hooked[2 * word + 1] : 0;

	return hooked[2 * word] | (u64)high << 32;
}

void hook_user_set(struct hook_user *user, const u64 *functions)
{
	u64 *has = functions_of[user->number];
	u32 bit = 1u << (user->number + USER_SHIFT);

	mutex_lock(&hook_lock);
	for (u32 word = 0; word < hook_words(); word++) {
		u64 want = functions ? functions[word] & hook_word(word) : 0;

		for (u64 change = has[word] ^ want; change; change &= change - 1) {
			unsigned at = __builtin_ctzl(change);
			hook_change(word * 64 + at, bit, want >> at & 1 ? bit : 0);
		}
		has[word] = want;
	}
	hook_flush();
	mutex_unlock(&hook_lock);
}

/* A call between the two changes finds the user's bit, or its entry does not test the bit. */
void hook_user_ask(struct hook_user *user, bool ask)
{
	mutex_lock(&hook_lock);
	user->asks = ask;
	for (u32 word = 0; word < hook_words(); word++)
		for (u64 left = functions_of[user->number][word]; left; left &= left - 1)
			hook_update(word * 64 + __builtin_ctzl(left));
	hook_flush();
	mutex_unlock(&hook_lock);
}

void hook_set_probes(const u64 *addrs, unsigned n, enum hook_probes which)
{
	static const u8 bits[] = {
	    [HOOK_PROBES] = PROBE_BIT, [HOOK_ARGUMENT_PROBES] = ARGUMENTS_BIT};

	mutex_lock(&hook_lock);
	for (unsigned k = 0; k < n; k++) {
		long i = hook_index(addrs[k]);

		if (i >= 0)
			hook_change(i, PROBE_BITS, bits[which]);
	}
	hook_flush();
	mutex_unlock(&hook_lock);
}

/* ---- users ---- */

/* The number after all used ones; any free one if the last is used; -1: none is free. */
static int hook_free_number(void)
{
	int i = USERS;

	while (i > 0 && kernel_hook_users[i - 1] == &nobody)
		i--;
	if (i == USERS)
		for (i = 0; i < USERS && kernel_hook_users[i] != &nobody;)
			i++;
	return i < USERS ? i : -1;
}

static int hook_user_number(struct hook_user *user)
{
	int number = hook_free_number();

	if (number < 0)
		return -EBUSY;
	if (!functions_of[number])
		functions_of[number] = kzalloc(hook_words() * sizeof(u64));
	if (!functions_of[number])
		return -ENOMEM;
	user->number = number;
	generation = (generation + 1) & ~(u32)(HOOK_CALLS_SHARED >> 32);
	user->calls = HOOK_CALLS(&kernel_hook_users[number], generation);
	atomic_store_release(&kernel_hook_users[user->number], user);
	return 0;
}

int hook_user_add(struct hook_user *user)
{
	mutex_lock(&hook_lock);
	int err = hook_make_tables();
	if (!err && user->enter)
		err = shadow_stacks_make();
	if (!err)
		err = hook_user_number(user);
	mutex_unlock(&hook_lock);
	return err;
}

/* Once a task has run on each CPU, every section with preemption off has ended. */
void hook_user_remove(struct hook_user *user)
{
	u64 before = current()->cpus_allowed;

	hook_user_set(user, NULL);
	mutex_lock(&hook_lock);
	atomic_store_release(&kernel_hook_users[user->number], &leaving);
	mutex_unlock(&hook_lock);
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		task_set_affinity(current(), 1UL << cpu);
		while (cpu_id() != cpu)
			sched_yield_current();
		preempt_disable();
		hook_user_skip(user, false);
		preempt_enable();
	}
	task_set_affinity(current(), before);
	atomic_store_release(&kernel_hook_users[user->number], &nobody);
}

void hook_user_skip(const struct hook_user *user, bool skip)
{
	u64 bit = 1UL << user->number;

	if (skip)
		atomic_or(&this_cpu()->hook_skip, bit);
	else
		atomic_and(&this_cpu()->hook_skip, ~bit);
}

static const void *hook_user_entry(const struct hook_user *u)
{
	return u->enter ? (const void *)u->enter : (const void *)u->fn;
}

struct hook_state hook_state(unsigned function)
{
	struct hook_state s = {0};

	mutex_lock(&hook_lock);
	u32 mask = first_of ? masks[function] : 0;
	for (u32 left = mask; left; left &= left - 1)
		s.users++;
	s.probed = mask & PROBE_BITS;
	if (first_of) {
		s.touched = now[function] & TOUCHED;
		s.entry = arch_hook_entry(arch_entry_of(now[function]));
	}
	if (s.users == 1 && !s.probed)
		s.fn = hook_user_entry(kernel_hook_users[__builtin_ctz(mask) - USER_SHIFT]);
	mutex_unlock(&hook_lock);
	return s;
}

/* ---- the unpatched text ---- */

enum { OP_INT3 = 0xcc, OP_CALL = 0xe8 };

__noprobe void hook_original(u64 addr, u8 *code, unsigned n)
{
	for (u64 at = MAX(addr - (HOOK_LEN - 1), (u64)__text_start); at < addr + n; at++) {
		u8 first = *(const volatile u8 *)at, nop[HOOK_LEN];
		long i = first == OP_CALL || first == OP_INT3 ? hook_index(at) : -1;

		if (i < 0 || !(sym_table.hooked[i / 32] >> i % 32 & 1))
			continue;
		arch_hook_nop(nop);
		for (unsigned k = 0; k < HOOK_LEN; k++)
			if (at + k - addr < n)
				code[at + k - addr] = nop[k];
	}
}

/* ---- functions without a hook ---- */

static const struct {
	const char *start, *end, *why;
} places[] = {
    {__text_start, __boot_text_end, "code of the boot, in another mode of the CPU"},
    {__trace_text_start, __trace_text_end, "code of the tracer itself"},
    {__lib_text_start, __lib_text_end, "library functions, which the tracer calls"},
    {__unhooked_start, __unhooked_end, "entry code, or code that hooks need themselves"},
    {__asm_text_start, __asm_text_end, "assembly"},
    {__noprobe_start, __noprobe_end, "entry code, or code that probes need themselves"},
};

const char *hook_refused(u64 addr)
{
	for (unsigned i = 0; i < ARRAY_SIZE(places); i++)
		if (addr >= (u64)places[i].start && addr < (u64)places[i].end)
			return places[i].why;
	for (const struct notrace_reason *r = __start___notrace; r < __stop___notrace; r++)
		if (addr == (u64)r->function)
			return r->why;
	return NULL;
}

static int hook_show_notrace(struct seq *s, void *ctx __maybe_unused)
{
	u64 start, size;
	const char *name, *why;

	for (unsigned i = 0; sym_nth(i, &name, &start, &size) && !s->overflow; i++)
		if (!sym_hooked(i) && (why = hook_refused(start)))
			seq_printf(s, "%s: %s\n", name, why);
	return 0;
}

void hook_files_init(void)
{
	proc_register("trapline/notrace", hook_show_notrace, NULL, NULL);
}
