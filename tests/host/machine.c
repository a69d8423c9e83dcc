/*
 * CPUs made of threads: sections, interrupts, calls from CPU to CPU. An interrupt is SIGUSR1, an NMI is SIGUSR2; while a
 * handler of the one runs, only the other (for an interrupt) or none (for an NMI) can come. So a nested writer comes at any
 * instruction there is, as on the real machine.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/host/machine.h"
#include "trace/host.h"

struct call {
	void (*fn)(void *);
	void *arg;
	atomic_bool done;
};

/* One CPU. [O] its own thread only, by plain stores that others may read */
static struct cpu {
	pthread_t thread;
	atomic_uint depth;	     /* [O] sections entered */
	atomic_ulong leaves;	     /* [O] times the last one was left */
	atomic_uint handling;	     /* [O] handlers entered and not yet left */
	_Atomic(struct call *) call; /* from another CPU, one at a time */
	void (*task)(void *);
	void *arg;
	atomic_bool busy;
	atomic_bool up; /* its thread knows which CPU it is */
} cpus[HOST_CPUS];

static pthread_mutex_t call_lock = PTHREAD_MUTEX_INITIALIZER;
static void (*_Atomic irq_handler)(void), (*_Atomic nmi_handler)(void);
static atomic_bool stopping;
static _Thread_local unsigned this_cpu;

void host_hold(void)
{
	atomic_fetch_add(&cpus[this_cpu].depth, 1);
}

void host_context(struct host_context *ctx)
{
	*ctx = (struct host_context){.pid = 1 + this_cpu, .cpu = this_cpu};
}

void host_exit(void)
{
	if (atomic_fetch_sub(&cpus[this_cpu].depth, 1) == 1)
		atomic_fetch_add(&cpus[this_cpu].leaves, 1);
}

unsigned long host_cpu(void)
{
	return this_cpu;
}

unsigned host_cpu_count(void)
{
	return HOST_CPUS;
}

void host_synchronize(void)
{
	for (unsigned cpu = 0; cpu < HOST_CPUS; cpu++) {
		unsigned long leaves = atomic_load(&cpus[cpu].leaves);

		while (atomic_load(&cpus[cpu].depth) && atomic_load(&cpus[cpu].leaves) == leaves)
			sched_yield();
	}
}

/* The handler is read after `handling` is up: machine_handlers() writes it before it waits for that to be 0. */
static void handle(void (*_Atomic *handler)(void))
{
	void (*fn)(void);

	atomic_fetch_add(&cpus[this_cpu].handling, 1);
	fn = atomic_load(handler);
	if (fn)
		fn();
	atomic_fetch_sub(&cpus[this_cpu].handling, 1);
}

static void on_irq(int sig)
{
	int saved = errno;
	struct call *call = atomic_exchange(&cpus[this_cpu].call, NULL);

	(void)sig;
	if (call) {
		call->fn(call->arg);
		atomic_store(&call->done, true);
	} else {
		handle(&irq_handler);
	}
	errno = saved;
}

static void on_nmi(int sig)
{
	int saved = errno;

	(void)sig;
	handle(&nmi_handler);
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
		fn(arg);
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

static void *cpu_main(void *arg)
{
	struct cpu *cpu = arg;

	this_cpu = cpu - cpus;
	atomic_store(&cpu->up, true);
	while (!atomic_load(&stopping)) {
		if (atomic_load(&cpu->busy)) {
			cpu->task(cpu->arg);
			atomic_store(&cpu->busy, false);
		}
		sched_yield();
	}
	return NULL;
}

void machine_run(unsigned cpu, void (*fn)(void *), void *arg)
{
	cpus[cpu].task = fn;
	cpus[cpu].arg = arg;
	atomic_store(&cpus[cpu].busy, true);
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
	pthread_kill(cpus[cpu].thread, SIGUSR1);
}

void machine_nmi(unsigned cpu)
{
	pthread_kill(cpus[cpu].thread, SIGUSR2);
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
	for (unsigned cpu = 1; cpu < HOST_CPUS; cpu++)
		pthread_join(cpus[cpu].thread, NULL);
}
