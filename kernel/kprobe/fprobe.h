/*
 * Probes of many functions at once, with Linux's names: a handler when one of them is entered,
 * another when it returns. Those are kprobes and return probes at the functions' hooks; contexts
 * and what a handler may do are those of kernel/kprobe/kprobe.h.
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

/* Zeroed but for its handlers, of which one may be missing, and the size. */
struct fprobe {
	fprobe_entry_cb entry_handler;
	fprobe_exit_cb exit_handler;
	size_t entry_data_size; /* at most KRETPROBE_DATA_MAX */
	/* Of kernel/kprobe/fprobe.c. */
	struct fprobe_function *functions; /* NULL: not registered */
	unsigned n;
};

/*
 * Of all functions that `filter` names and `notfilter` does not (NULL: all are wanted): a name or a
 * glob. Functions without a hook do not count. 0, -EINVAL (no handler, no such function, registered
 * already), -ENOMEM. Task context, all of these.
 */
int register_fprobe(struct fprobe *fp, const char *filter, const char *notfilter);
/* Of the functions that begin there; that have these names (-ENOENT). All of them or none. */
int register_fprobe_ips(struct fprobe *fp, const u64 *addrs, int num);
int register_fprobe_syms(struct fprobe *fp, const char **syms, int num);
/* On return none of its handlers runs any more. 0; -EINVAL: it was not registered. */
int unregister_fprobe(struct fprobe *fp);
/* Calls for which no handler was called, since the registration. */
u64 fprobe_missed(const struct fprobe *fp);
