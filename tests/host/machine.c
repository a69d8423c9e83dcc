/*
 * CPUs made of threads: sections, interrupts, calls from CPU to CPU. An interrupt is SIGUSR1, an
 * NMI is SIGUSR2; while a handler of the one runs, only the other (for an interrupt) or none (for
 * an NMI) can come. So a nested writer comes at any instruction there is, as on the real machine.
 *
 * Who sends them in a loop would leave a CPU no time for anything else: under ThreadSanitizer a
 * signal takes longer to be delivered than to be sent. So one of a kind that was not handled yet
 * stands for those sent after it, and after each the CPU is left alone for as long as that one
 * took, from sending to end; what would come in that time is not sent.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/host/machine.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"
#include "trace/host_noise.h"
#include "trace/host_task.h"
#include "trace/host_worker.h"

struct call {
	void (*fn)(void *);
	void *arg;
	atomic_bool done;
};

/* What interrupts one CPU in one way. */
struct line {
	atomic_bool pending; /* sent, and its handler has not ended */
	atomic_ulong sent;   /* when, in TSC ticks */
};

/* One CPU. [O] its own thread only, by plain stores that others may read */
static struct cpu {
	pthread_t thread;
	atomic_uint depth;	     /* [O] sections entered */
	atomic_ulong leaves;	     /* [O] times the last one was left */
	atomic_uint handling;	     /* [O] handlers and calls entered and not yet left */
	_Atomic(struct call *) call; /* from another CPU, one at a time */
	struct line irq, nmi;
	atomic_ulong rest; /* TSC: until then no other interrupt is sent */
	void (*task)(void *);
	void *arg;
	atomic_bool busy;
	atomic_uint news; /* counts what it is to look at: a task, or the end */
	atomic_bool up;	  /* its thread knows which CPU it is */
} cpus[HOST_CPUS];

static pthread_mutex_t call_lock = PTHREAD_MUTEX_INITIALIZER;
static void (*_Atomic irq_handler)(void), (*_Atomic nmi_handler)(void);
static atomic_bool stopping;
static _Thread_local unsigned this_cpu;
static _Thread_local s32 this_pid = -1;
static _Thread_local u8 this_flags;

void host_preempt_disable(void)
{
	atomic_fetch_add(&cpus[this_cpu].depth, 1);
}

void host_context(struct host_context *ctx)
{
	s32 pid = this_pid < 0 ? 1 + (s32)this_cpu : this_pid;

	*ctx = (struct host_context){.pid = pid, .cpu = this_cpu, .flags = this_flags};
}

void machine_flags(u8 flags)
{
	this_flags = flags;
}

void machine_pid(s32 pid)
{
	this_pid = pid;
}

/*
 * A signal that comes while ThreadSanitizer delivers another one makes it forget which ones were
 * blocked before: then all of them stay so (its sctx->oldset has room for one). Undone where
 * neither a handler nor a call is under way.
 */
static void reopen_signals(struct cpu *cpu, unsigned long leaves)
{
#ifdef WATCH_THREADS
	sigset_t set;

	if (leaves % 64 || atomic_load(&cpu->handling))
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
#else
	(void)cpu, (void)leaves;
#endif
}

void host_preempt_enable(void)
{
	struct cpu *cpu = &cpus[this_cpu];

	if (atomic_fetch_sub(&cpu->depth, 1) == 1)
		reopen_signals(cpu, atomic_fetch_add(&cpu->leaves, 1));
}

unsigned long host_cpu(void)
{
	return this_cpu;
}

unsigned host_cpu_limit(void)
{
	return HOST_CPUS;
}

static unsigned cpus_up = HOST_CPUS;

void machine_cpus(unsigned n)
{
	cpus_up = n ? n : HOST_CPUS;
}

unsigned host_cpu_count(void)
{
	return cpus_up;
}

static _Atomic u64 waits;

u64 machine_waits(void)
{
	return atomic_load(&waits);
}

static void (*after_wait)(void);

void machine_after_wait(void (*fn)(void))
{
	after_wait = fn;
}

void host_synchronize(void)
{
	atomic_fetch_add(&waits, 1);
	for (unsigned cpu = 0; cpu < HOST_CPUS; cpu++) {
		unsigned long leaves = atomic_load(&cpus[cpu].leaves);

		while (atomic_load(&cpus[cpu].depth) && atomic_load(&cpus[cpu].leaves) == leaves)
			sched_yield();
	}
	if (after_wait)
		after_wait();
}

/*
 * The handler is read after `handling` is up: machine_handlers() writes it before it waits for that
 * to be 0.
 */
static void handle(struct cpu *cpu, struct line *line, void (*_Atomic *handler)(void))
{
	void (*fn)(void);
	unsigned long now;

	if (!atomic_load(&line->pending))
		return;
	atomic_fetch_add(&cpu->handling, 1);
	fn = atomic_load(handler);
	if (fn)
		fn();
	now = __builtin_ia32_rdtsc();
	atomic_store(&cpu->rest, now + (now - atomic_load(&line->sent)));
	atomic_store(&line->pending, false);
	atomic_fetch_sub(&cpu->handling, 1);
}

static void send(struct cpu *cpu, struct line *line, int sig)
{
	unsigned long now = __builtin_ia32_rdtsc();

	if (now < atomic_load(&cpu->rest) || atomic_load(&line->pending))
		return;
	atomic_store(&line->sent, now);
	atomic_store(&line->pending, true);
	pthread_kill(cpu->thread, sig);
}

static void do_call(void (*fn)(void *), void *arg)
{
	atomic_fetch_add(&cpus[this_cpu].handling, 1);
	fn(arg);
	atomic_fetch_sub(&cpus[this_cpu].handling, 1);
}

static void on_irq(int sig)
{
	int saved = errno;
	struct cpu *cpu = &cpus[this_cpu];
	struct call *call = atomic_exchange(&cpu->call, NULL);

	(void)sig;
	if (call) {
		do_call(call->fn, call->arg);
		atomic_store(&call->done, true);
	}
	handle(cpu, &cpu->irq, &irq_handler);
	errno = saved;
}

static void on_nmi(int sig)
{
	int saved = errno;

	(void)sig;
	handle(&cpus[this_cpu], &cpus[this_cpu].nmi, &nmi_handler);
	errno = saved;
}

/* Interrupts off on this CPU; NMIs still come. */
static void irqs(bool on)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(on ? SIG_UNBLOCK : SIG_BLOCK, &set, NULL);
}

void host_on_cpu(unsigned cpu, void (*fn)(void *), void *arg)
{
	struct call call = {.fn = fn, .arg = arg};

	if (cpu == this_cpu) {
		irqs(false);
		do_call(fn, arg);
		irqs(true);
		return;
	}
	pthread_mutex_lock(&call_lock);
	atomic_store(&cpus[cpu].call, &call);
	pthread_kill(cpus[cpu].thread, SIGUSR1);
	while (!atomic_load(&call.done))
		sched_yield();
	pthread_mutex_unlock(&call_lock);
}

struct quiet_call {
	void (*fn)(void *);
	void *arg;
	bool done;
};

static void if_quiet(void *arg)
{
	struct quiet_call *q = arg;

	q->done = !atomic_load(&cpus[this_cpu].depth);
	if (q->done)
		q->fn(q->arg);
}

void host_on_quiet_cpu(unsigned cpu, void (*fn)(void *), void *arg)
{
	struct quiet_call q = {.fn = fn, .arg = arg};

	while (!q.done)
		host_on_cpu(cpu, if_quiet, &q);
}

void host_on_each_cpu(void (*fn)(void *), void *arg)
{
	for (unsigned cpu = 0; cpu < HOST_CPUS; cpu++)
		host_on_cpu(cpu, fn, arg);
}

/*
 * An idle CPU sleeps until there is news or a signal, but for 1 ms at most: ThreadSanitizer keeps a
 * signal that comes right before the call for later; without the limit, the thread slept on.
 */
static void idle(struct cpu *cpu, unsigned seen)
{
	const struct timespec most = {.tv_nsec = 1000000};

	syscall(SYS_futex, &cpu->news, FUTEX_WAIT_PRIVATE, seen, &most, NULL, 0);
}

static void tell(struct cpu *cpu)
{
	atomic_fetch_add(&cpu->news, 1);
	syscall(SYS_futex, &cpu->news, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *cpu_main(void *arg)
{
	struct cpu *cpu = arg;

	this_cpu = cpu - cpus;
	atomic_store(&cpu->up, true);
	for (;;) {
		unsigned seen = atomic_load(&cpu->news); /* before what it is about */

		if (atomic_load(&stopping))
			return NULL;
		if (atomic_load(&cpu->busy)) {
			cpu->task(cpu->arg);
			atomic_store(&cpu->busy, false);
		} else {
			idle(cpu, seen);
		}
	}
}

void machine_run(unsigned cpu, void (*fn)(void *), void *arg)
{
	cpus[cpu].task = fn;
	cpus[cpu].arg = arg;
	atomic_store(&cpus[cpu].busy, true);
	tell(&cpus[cpu]);
}

void machine_join(unsigned cpu)
{
	while (atomic_load(&cpus[cpu].busy))
		sched_yield();
}

void machine_handlers(void (*irq)(void), void (*nmi)(void))
{
	atomic_store(&irq_handler, irq);
	atomic_store(&nmi_handler, nmi);
	for (unsigned cpu = 0; cpu < HOST_CPUS; cpu++) {
		while (atomic_load(&cpus[cpu].handling))
			sched_yield();
	}
}

void machine_irq(unsigned cpu)
{
	send(&cpus[cpu], &cpus[cpu].irq, SIGUSR1);
}

void machine_nmi(unsigned cpu)
{
	send(&cpus[cpu], &cpus[cpu].nmi, SIGUSR2);
}

/* ---- Workers: they run when the test says so ---- */

struct host_worker {
	int cpu;
	u64 (*step)(void *arg);
	void (*due)(void *arg);
	void *arg;
	char name[16];
};

static struct host_worker workers[HOST_CPUS + 1]; /* step NULL: free */

struct host_worker *host_worker_start_timed(
    const char *name, int cpu, u64 (*step)(void *arg), void (*due)(void *arg), void *arg)
{
	for (unsigned i = 0; i <= HOST_CPUS; i++) {
		struct host_worker *w = &workers[i];

		if (w->step)
			continue;
		void *memory = host_alloc(1); /* may be made to fail */
		if (!memory)
			return NULL;
		host_free(memory);
		*w = (struct host_worker){
		    .cpu = cpu < 0 ? 0 : cpu, .step = step, .due = due, .arg = arg};
		snprintf(w->name, sizeof(w->name), "%s", name);
		return w;
	}
	return NULL;
}

struct host_worker *host_worker_start(const char *name, int cpu, u64 (*step)(void *arg), void *arg)
{
	return host_worker_start_timed(name, cpu, step, NULL, arg);
}

void host_worker_realtime(u32 priority __maybe_unused)
{
}

static char noises[1000];

static void __attribute__((format(printf, 1, 2))) add_noise(const char *format, ...)
{
	size_t n = strlen(noises);
	va_list args;

	va_start(args, format);
	vsnprintf(noises + n, sizeof(noises) - n, format, args);
	va_end(args);
}

const char *machine_noises(void)
{
	static char told[sizeof(noises)];

	memcpy(told, noises, sizeof(told));
	noises[0] = '\0';
	return told;
}

void host_sample_threshold(u64 start, u64 ns, u64 interference)
{
	add_noise("sample %lu %lu %lu\n", (unsigned long)start, (unsigned long)ns,
	    (unsigned long)interference);
}

void host_nmi_noise(u64 start, u64 ns)
{
	add_noise("nmi %lu %lu\n", (unsigned long)start, (unsigned long)ns);
}

void host_irq_noise(int vector, const char *name, u64 start, u64 ns)
{
	add_noise("irq %d %s %lu %lu\n", vector, name, (unsigned long)start, (unsigned long)ns);
}

void host_thread_noise(const void *task, u64 start, u64 ns)
{
	struct host_task of;

	host_task_of(task, &of);
	add_noise("thread %d %lu %lu\n", of.pid, (unsigned long)start, (unsigned long)ns);
}

void host_worker_stop(struct host_worker *w)
{
	w->step = NULL;
}

/* Nobody else runs on that CPU meanwhile. */
void host_worker_move(unsigned cpu)
{
	this_cpu = cpu;
}

static struct host_worker *nth_worker(unsigned nth)
{
	for (struct host_worker *w = workers; w <= &workers[HOST_CPUS]; w++)
		if (w->step && !nth--)
			return w;
	return NULL;
}

u64 machine_work(unsigned nth, char *name)
{
	struct host_worker *w = nth_worker(nth);

	if (!w)
		return 0;
	this_cpu = w->cpu;
	u64 pause = w->step(w->arg);
	w->cpu = this_cpu;
	this_cpu = 0;
	strcpy(name, w->name);
	return pause;
}

bool machine_due(unsigned nth)
{
	struct host_worker *w = nth_worker(nth);

	if (!w || !w->due)
		return false;
	this_cpu = w->cpu;
	w->due(w->arg);
	this_cpu = 0;
	return true;
}

u64 host_irqs_off(void)
{
	irqs(false);
	return 0;
}

void host_irqs_restore(u64 flags)
{
	(void)flags;
	irqs(true);
}

static void catch (int sig, void (*handler)(int))
{
	struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_RESTART};

	sigemptyset(&sa.sa_mask);
	if (sig == SIGUSR2)
		sigaddset(&sa.sa_mask, SIGUSR1);
	sigaction(sig, &sa, NULL);
}

void machine_start(void)
{
	catch (SIGUSR1, on_irq);
	catch (SIGUSR2, on_nmi);
	cpus[0].thread = pthread_self();
	for (unsigned cpu = 1; cpu < HOST_CPUS; cpu++) {
		if (pthread_create(&cpus[cpu].thread, NULL, cpu_main, &cpus[cpu])) {
			perror("pthread_create");
			exit(2);
		}
		while (!atomic_load(&cpus[cpu].up)) /* an interrupt would take it for CPU 0 */
			sched_yield();
	}
}

void machine_stop(void)
{
	atomic_store(&stopping, true);
	for (unsigned cpu = 1; cpu < HOST_CPUS; cpu++) {
		tell(&cpus[cpu]);
		pthread_join(cpus[cpu].thread, NULL);
	}
}
