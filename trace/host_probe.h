/*
 * Probes: code of the host that calls the tracer when it runs, or when it returns. Only
 * trace/probe/ needs them.
 */
#pragma once

#include "kernel/lib/types.h"
#include "trace/host_context.h"

struct host_probe;
/*
 * The function is called in any context, between handlers of nothing else of the kind, and stays on
 * its CPU without host_preempt_disable(). `regs` is the host's own; a register lies in it as a u64
 * at host_reg_find() bytes.
 */
struct host_probe_place {
	const char *symbol; /* NULL: addr */
	u64 addr, offset;
	bool is_return;
	int (*fn)(
	    void *arg, const void *regs, u64 ip, u64 ret); /* 0: a host may leave by a jump to it */
	/*
	 * Of a return, n_kept not 0: `keep` stores so many values when the function is entered, and
	 * `kept_fn` gets them in place of fn.
	 */
	u32 n_kept;
	bool arguments; /* fn reads only registers of which host_reg_is_argument() is true */
	void (*keep)(void *arg, const void *regs, u64 *kept);
	int (*kept_fn)(void *arg, const void *regs, u64 ip, u64 ret, const u64 *kept);
	void *arg;
};
/*
 * Made switched off. -ENOENT: there is no such code; -EADDRNOTAVAIL: the symbol occurs more than
 * once; -EILSEQ: inside an instruction; -EINVAL: not to be probed; -ENOMEM. Task context, all of
 * these.
 */
int host_probe_create(const struct host_probe_place *place, struct host_probe **out);
void host_probe_destroy(struct host_probe *p); /* on return fn is not running any more */
/*
 * Takes effect when host_probes_flush() returns, or before: many at once are quicker. Under
 * host_lock.
 */
void host_probe_switch(struct host_probe *p, bool on);
void host_probes_flush(void);
u64 host_probe_missed(const struct host_probe *p);
/*
 * Does a function begin at SYMBOL+offset? 0; -EINVAL: no; -ENOENT: there is no such symbol, or no
 * code.
 */
int host_symbol_entry(const char *symbol, u64 offset);
int host_symbol_check(const char *symbol); /* 0, -ENOENT, -EADDRNOTAVAIL */
int host_reg_find(const char *name);	   /* -EINVAL: no such register */
/*
 * Number n of a function's arguments: in which register, or (negative) -1 - word of the stack at
 * its entry. Any context.
 */
int host_arg_place(unsigned n);
/*
 * Weak: is that place in the registers one that fn finds more cheaply at a function's entry, if it
 * reads no others? (host_context_probed() always finds its own.)
 */
bool host_reg_is_argument(u32 at);
/*
 * Where the name of a file is, for the types %pd ('d') and %pD ('D'): a struct's member that points
 * to it. Weak: false, there is none.
 */
bool host_path_member(char letter, const char **structure, const char **member);
const char *host_stack_register(void); /* names of registers: stack pointer, return value */
const char *host_return_register(void);
/*
 * As host_context(), where fn begins: the flags are those of the code that was probed. Any context.
 */
#ifdef TRACE_HOST_INLINE
static inline void host_context_probed(struct host_context *ctx, const void *regs);
#else
void host_context_probed(struct host_context *ctx, const void *regs);
#endif
