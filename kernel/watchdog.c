/*
 * Each CPU has a timer and counts its beats. With each beat it checks two things:
 *
 * 1. Its neighbour, the next CPU by number. A CPU whose beats stop for `watchdog_thresh` seconds
 *    takes no interrupts any more. The neighbour sends it an NMI, and it reports its place ("hard
 *    LOCKUP"). If it does not take the NMI either, the neighbour reports it.
 * 2. Its own scheduler. A beat makes it run, by a bit of need_resched of its own. If the bit is
 *    still set after twice the time, something holds the CPU with preemption off ("soft lockup").
 *
 * Each beat also restarts the machine's own timer. If no CPU does, that timer resets the machine.
 * Timers: irq context. Legend: [C] only its CPU, [A] atomic, [L] `lock`.
 */
#include "arch/arch.h"
#include "drivers/acpi/acpi.h"
#include "drivers/tco.h"
#include "kernel/base/cmdline.h"
#include "kernel/base/panic.h"
#include "kernel/base/printk.h"
#include "kernel/base/watchdog.h"
#include "kernel/fs/proc.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"

#define NS_PER_SECOND	 1000000000UL
#define BEATS		 5 /* in twice the time */
/* A bit of need_resched, where any bit means that it is wanted; others may overwrite it by 1. */
#define RESCHED_WATCHED	 2u
/* Times watchdog_thresh: longer than it takes to find and report a lockup. */
#define MACHINE_PATIENCE 3
#define THRESH_MAX	 60

enum accused { NOT_ACCUSED, NMI_SENT, NMI_ANSWERED, SPOKEN_FOR };

static struct watch {
	struct timer timer;
	u64 beats;    /* [A] */
	u32 accused;  /* [A] enum accused: by its neighbour, of standing still */
	u64 seen;     /* [C] of the neighbour's beats, */
	u64 seen_ns;  /* [C] when they had last changed */
	u64 asked_ns; /* [C] when its scheduler was asked to run */
	bool told;    /* [C] that it does not */
} watches[MAX_CPUS];

static u64 on, thresh = 10;			  /* [L] */
static u64 hard_panic = 1, soft_panic, nmi_panic; /* [A] */
static struct mutex lock = MUTEX_INIT(lock);
static bool fired;
static const char *no_timer; /* why the machine has none; NULL: it has */

#define say(...) printk(LOG_EMERG, __VA_ARGS__)

static u64 thresh_ns(void)
{
	return READ_ONCE(thresh) * NS_PER_SECOND;
}

/*
 * Ignore heartbeats from a CPU already reported as locked up: its own report is none, or it would
 * be reported again and again.
 */
void watchdog_touch(void)
{
	struct watch *w = &watches[cpu_id()];

	if (atomic_load(&w->accused) == NOT_ACCUSED)
		atomic_add(&w->beats, 1);
	tco_pet();
}

void watchdog_rest(void)
{
	tco_stop();
}

/* ---- 1. the neighbour ---- */

static void tell_hard(const struct regs *r)
{
	say("Watchdog detected hard LOCKUP on cpu %u", cpu_id());
	if (READ_ONCE(hard_panic))
		panic_regs(r, "Hard LOCKUP");
	show_regs(r);
}

/* The accused speaks: NMI context. */
static bool watchdog_nmi(struct regs *r)
{
	if (!atomic_cas(&watches[cpu_id()].accused, NMI_SENT, NMI_ANSWERED))
		return false;
	tell_hard(r);
	return true;
}

static void accuse(unsigned cpu)
{
	struct watch *n = &watches[cpu];

	if (atomic_cas(&n->accused, NOT_ACCUSED, NMI_SENT)) {
		nmi_send(cpu);
	} else if (atomic_cas(&n->accused, NMI_SENT, SPOKEN_FOR)) {
		say("Watchdog detected hard LOCKUP on cpu %u, which takes no NMI either", cpu);
		if (READ_ONCE(hard_panic))
			panic("Hard LOCKUP");
	}
}

static void look_at_neighbour(struct watch *w, u64 now)
{
	unsigned cpu = (cpu_id() + 1) % cpu_count();
	struct watch *n = &watches[cpu];
	u64 beats = atomic_load(&n->beats);

	if (beats != w->seen) {
		w->seen = beats;
		w->seen_ns = now;
		atomic_store(&n->accused, NOT_ACCUSED);
	} else if (cpu != cpu_id() && now - w->seen_ns >= thresh_ns()) {
		accuse(cpu);
	}
}

/* ---- 2. the scheduler ---- */

static void tell_soft(u64 ns)
{
	const struct regs *r = irq_regs();

	say("BUG: soft lockup - CPU#%u stuck for %lus! [%.15s:%d]", cpu_id(), ns / NS_PER_SECOND,
	    current()->comm, current()->pid);
	if (READ_ONCE(soft_panic))
		panic_regs(r, "softlockup: hung tasks");
	show_regs(r);
}

static void look_at_scheduler(struct watch *w, u64 now)
{
	u32 wanted = this_cpu_read(need_resched);

	if (!(wanted & RESCHED_WATCHED)) {
		this_cpu_write(need_resched, wanted | RESCHED_WATCHED);
		w->asked_ns = now;
		w->told = false;
	} else if (!w->told && now - w->asked_ns >= 2 * thresh_ns()) {
		w->told = true;
		tell_soft(now - w->asked_ns);
	}
}

/* ---- beats ---- */

static void watchdog_start_timer(struct watch *w)
{
	timer_start(&w->timer, clock_ns() + 2 * thresh_ns() / BEATS);
}

static void watchdog_beat(struct timer *t)
{
	struct watch *w = container_of(t, struct watch, timer);
	u64 now = clock_ns();

	atomic_add(&w->beats, 1);
	tco_pet();
	look_at_neighbour(w, now);
	look_at_scheduler(w, now);
	watchdog_start_timer(w);
}

/* On each CPU, interrupts off: so no beat is under way there. */
static void watchdog_begin(void *unused __maybe_unused)
{
	struct watch *w = &watches[cpu_id()];
	unsigned next = (cpu_id() + 1) % cpu_count();

	w->seen = atomic_load(&watches[next].beats);
	w->seen_ns = clock_ns();
	timer_setup(&w->timer, watchdog_beat);
	watchdog_start_timer(w);
}

static void watchdog_end(void *unused __maybe_unused)
{
	timer_cancel(&watches[cpu_id()].timer);
}

/*
 * Nothing but a hardware watchdog resets a machine whose CPUs all hang, so the log says whether
 * there is one.
 */
static void watchdog_begin_machine(void)
{
	u64 seconds = thresh * MACHINE_PATIENCE;
	const char *why = no_timer;

	if (!why && !tco_start(seconds))
		why = "the board does not let its timer reset it";
	if (why)
		pr_warn("watchdog: no hardware watchdog: %s", why);
	else
		pr_info("watchdog: the hardware watchdog resets the machine after %lu seconds",
		    seconds);
}

static void begin_all(void)
{
	watchdog_begin_machine();
	cpu_call_all(watchdog_begin, NULL);
}

static void end_all(void)
{
	cpu_call_all(watchdog_end, NULL);
	tco_stop();
}

/* ---- NMIs that nobody sent ---- */

void watchdog_unknown_nmi(const struct regs *r)
{
	pr_warn("NMI for no known reason on CPU %u", cpu_id());
	if (READ_ONCE(nmi_panic))
		panic_regs(r, "NMI: Not continuing");
}

/* ---- settings ---- */

static const struct setting {
	const char *name; /* on the command line, and in /proc/sys/kernel */
	u64 *value, least, most;
} settings[] = {
    {"watchdog", &on, 0, 1},
    {"watchdog_thresh", &thresh, 1, THRESH_MAX},
    {"hardlockup_panic", &hard_panic, 0, 1},
    {"softlockup_panic", &soft_panic, 0, 1},
    {"unknown_nmi_panic", &nmi_panic, 0, 1},
};

static int watchdog_show(struct seq *s, void *ctx)
{
	const struct setting *setting = ctx;

	seq_printf(s, "%lu\n", *setting->value);
	return 0;
}

/* Restarts the running checks with the present settings. */
static int watchdog_store(char *line, size_t n __maybe_unused, void *ctx)
{
	const struct setting *setting = ctx;
	u64 v;
	int err = parse_u64(strstrip(line), 10, &v);

	if (err || v < setting->least || v > setting->most)
		return err ? err : -EINVAL;
	mutex_lock(&lock);
	if (on)
		end_all();
	WRITE_ONCE(*setting->value, v);
	if (on)
		begin_all();
	mutex_unlock(&lock);
	return 0;
}

/* A bare word is 1. */
static void read_param(const struct setting *setting)
{
	const char *text = cmdline_get(setting->name);
	u64 v = 1;

	if (!text)
		return;
	if ((*text && parse_u64(text, 10, &v)) || v < setting->least || v > setting->most)
		pr_warn("%s=%s: a number from %lu to %lu is wanted", setting->name, text,
		    setting->least, setting->most);
	else
		*setting->value = v;
}

void watchdog_find(void)
{
	no_timer = tco_find(acpi_fadt(), &fired);
	if (fired)
		pr_warn("watchdog: the machine's timer has reset it");
}

bool watchdog_fired(void)
{
	return fired;
}

void watchdog_init(void)
{
	char path[64];

	for (unsigned i = 0; i < ARRAY_SIZE(settings); i++) {
		const struct setting *setting = &settings[i];

		read_param(setting);
		fmt_snprintf(path, sizeof(path), "sys/kernel/%s", setting->name);
		proc_register(path, watchdog_show, watchdog_store, (void *)setting);
	}
	nmi_handler_add(watchdog_nmi);
	mutex_lock(&lock);
	if (on)
		begin_all();
	mutex_unlock(&lock);
}
