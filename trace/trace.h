/*
 * The tracer core, as its host sees it: start it, and what it must be told.
 */
#pragma once

#include "kernel/lib/types.h"

struct trace_event_call;

/*
 * What happened before there was a tracer: `replay` is called when the events of `system` that the
 * command line wants are on, and none else yet. It hits them in the order of time, each after
 * trace_early_time(), and they are recorded with that time.
 */
struct trace_early {
	const char *system;
	void (*replay)(void);
};

/*
 * Global trace array, event list; then boot parameters trace_event=, trace_buf_size=, trace_clock=
 * ... early: NULL: nothing.
 */
int trace_init(const struct trace_early *early);
/* The time (host_clock()) of the records that follow; one before the last is taken for the last. */
void trace_early_time(u64 clock);

/* For a host that ends: gives back the global trace array. The registered events stay. */
void trace_exit(void);

/* More CPUs came up since trace_init(): their rings. Task context. 0 or -ENOMEM. */
int trace_cpus_up(void);

/*
 * Applies the boot parameters that trace_init() could not: kprobe_event=, ftrace=,
 * ftrace_boot_snapshot, and trace_event= again, for events that were not there yet. Task context,
 * once, before the first file is opened.
 */
void trace_apply_params(void);

/*
 * User events that were to go when unused, and are: takes host_lock. See
 * host_user_events_changed().
 */
void user_events_settle(void);

/* Registers the host's static events (kernel/trace/events.c gives its table). */
void trace_events_register(struct trace_event_call *const *calls, unsigned n);

/* trace_printk(): into the trace as Linux's bprint ("function: text"). Any context. Returns bytes
 * or negative errno. */
int trace_printk(const char *fmt, ...) __printf(1, 2);
int trace_vprintk(u64 ip, const char *fmt, va_list ap);
/* Text that stays where it is: its address is recorded ("bputs"). */
int trace_puts(const char *str);
bool tracing_is_on(void);
void tracing_on(void);
void tracing_off(void);

/* For fmt_set_pointer_hook(): %pS and %ps symbols, %px the bare value, %pH hashed. Any context. */
int trace_pointer_text(char *buf, size_t size, char letter, const void *p);
