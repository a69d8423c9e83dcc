/*
 * Probes of many functions at once, with Linux's names. The kernel calls one handler when it enters
 * one of the functions, and another when that function returns. They are kprobes and return probes
 * at the functions' hooks: kernel/kprobe/kprobe.h has the contexts, and what a handler may do.
 */
#pragma once

#include "arch/arch.h"

struct fprobe;
struct fprobe_function;

/*
 * `entry_ip`: where the function begins; `ret_ip`: where it returns to; `regs`: at the entry, or at
 * the return; `entry_data`: entry_data_size bytes from the entry handler to the exit handler, NULL
 * if there is no exit handler. If the entry handler returns nonzero, the exit handler is not called
 * for this call.
 */
typedef int (*fprobe_entry_cb)(
    struct fprobe *fp, u64 entry_ip, u64 ret_ip, struct regs *regs, void *entry_data);
typedef void (*fprobe_exit_cb)(
    struct fprobe *fp, u64 entry_ip, u64 ret_ip, struct regs *regs, void *entry_data);

/* The caller sets one handler or both, and entry_data_size, and zeroes the rest. */
struct fprobe {
	fprobe_entry_cb entry_handler;
	fprobe_exit_cb exit_handler;
	size_t entry_data_size; /* at most KRETPROBE_DATA_MAX */
	/* Private to kernel/kprobe/fprobe.c. */
	struct fprobe_function *functions; /* NULL: not registered */
	unsigned n;
};

/*
 * Registers a probe of all functions that match `filter` (NULL: all) and do not match `notfilter`
 * (NULL: none): a name or a glob. Skips functions without a hook. 0, -EINVAL (no handler, no such
 * function, registered already), -ENOMEM. Task context, as for all calls here.
 */
int register_fprobe(struct fprobe *fp, const char *filter, const char *notfilter);
/* Probes the functions at these addresses, or with these names (-ENOENT): all of them or none. */
int register_fprobe_ips(struct fprobe *fp, const u64 *addrs, int num);
int register_fprobe_syms(struct fprobe *fp, const char **syms, int num);
/* When this returns, none of its handlers runs any more. 0; -EINVAL: it was not registered. */
int unregister_fprobe(struct fprobe *fp);
/* The number of calls since the registration for which the kernel could not call a handler. */
u64 fprobe_missed(const struct fprobe *fp);
