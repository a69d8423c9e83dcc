/*
 * The tracer's probes (trace/host_probe.h) by the kernel's (kernel/kprobe/kprobe.h). Contexts are
 * those of that header.
 */
/* hot: runs with each event */
#include "kernel/base/printk.h"
#include "kernel/base/sym.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "trace/host_probe.h"

struct host_probe {
	struct kretprobe rp; /* or only the kprobe in it */
	bool is_return;
	u64 addr;
	int (*fn)(void *arg, const void *regs, u64 ip, u64 ret);
	void (*keep)(void *arg, const void *regs, u64 *kept);
	int (*kept_fn)(void *arg, const void *regs, u64 ip, u64 ret, const u64 *kept);
	void *arg;
};

static LEAVES_BY_JUMP int host_probe_on_hit(struct kprobe *p, struct regs *r)
{
	struct host_probe *hp = container_of(p, struct host_probe, rp.kp);

	return hp->fn(hp->arg, r, hp->addr, 0);
}

static LEAVES_BY_JUMP int host_probe_on_return(struct kretprobe_instance *ri, struct regs *r)
{
	struct host_probe *hp = container_of(ri->rp, struct host_probe, rp);

	return hp->fn(hp->arg, r, hp->addr, ri->ret_addr);
}

static int host_probe_on_entry(struct kretprobe_instance *ri, struct regs *r)
{
	struct host_probe *hp = container_of(ri->rp, struct host_probe, rp);

	hp->keep(hp->arg, r, ri->data);
	return 0;
}

static int host_probe_on_kept_return(struct kretprobe_instance *ri, struct regs *r)
{
	struct host_probe *hp = container_of(ri->rp, struct host_probe, rp);

	return hp->kept_fn(hp->arg, r, hp->addr, ri->ret_addr, ri->data);
}

int host_symbol_check(const char *symbol)
{
	unsigned count = 0;

	if (!sym_address(symbol, &count) && !sym_data_address(symbol))
		return -ENOENT;
	return count > 1 ? -EADDRNOTAVAIL : 0;
}

/*
 * As on Linux an offset may lead into another function, and a symbol may be a variable. -ENOENT:
 * there is no such symbol, or the place is not the kernel's; -EINVAL: it is, but in no function.
 */
static int host_probe_find_place(const char *symbol, u64 offset, u64 *addr, u64 *function)
{
	u64 start = symbol ? sym_address(symbol, NULL) : 0;

	if (symbol && !start)
		start = sym_data_address(symbol);
	*addr = start + offset;
	if (symbol && !start)
		return -ENOENT;
	if (sym_find(*addr, function, NULL))
		return 0;
	return kprobe_in_image(*addr) ? -EINVAL : -ENOENT;
}

int host_symbol_entry(const char *symbol, u64 offset)
{
	u64 addr, function;
	int err = host_probe_find_place(symbol, offset, &addr, &function);

	if (err == -EINVAL && !offset)
		return 0; /* a variable's: it is refused later */
	return err ? err : addr == function ? 0 : -EINVAL;
}

/* Where a probe could be instead: the boundaries before and after addr. */
static void host_probe_warn_of_boundary(u64 addr)
{
	char wanted[128], before[128], after[128];
	unsigned len;
	u64 at = arch_probe_insn(addr, &len);

	if (!at)
		return;
	sym_print(wanted, sizeof(wanted), addr, true);
	sym_print(before, sizeof(before), at, true);
	sym_print(after, sizeof(after), at + len, true);
	pr_warn("no probe at %s: it is inside the instruction at %s; the next one is at %s", wanted,
	    before, after);
}

int host_probe_create(const struct host_probe_place *place, struct host_probe **out)
{
	struct host_probe *hp = kzalloc(sizeof(*hp));
	int err = hp ? 0 : -ENOMEM;
	u64 addr = 0, function;

	if (!err)
		err = host_probe_find_place(
		    place->symbol, place->symbol ? place->offset : place->addr, &addr, &function);
	if (!err) {
		hp->addr = addr;
		hp->fn = place->fn;
		hp->arg = place->arg;
		hp->is_return = place->is_return;
		hp->rp.kp.addr = (void *)addr;
		hp->rp.kp.flags = KPROBE_FLAG_DISABLED;
		if (place->arguments && !hp->is_return)
			hp->rp.kp.flags |= KPROBE_FLAG_ARGUMENTS;
		hp->rp.kp.pre_handler = hp->is_return ? NULL : host_probe_on_hit;
		hp->rp.handler = host_probe_on_return;
		if (place->n_kept) {
			hp->keep = place->keep;
			hp->kept_fn = place->kept_fn;
			hp->rp.entry_handler = host_probe_on_entry;
			hp->rp.handler = host_probe_on_kept_return;
			hp->rp.data_size = place->n_kept * sizeof(u64);
		}
		err = hp->is_return ? register_kretprobe(&hp->rp) : register_kprobe(&hp->rp.kp);
		if (err && hp->rp.kp.why)
			pr_warn("no probe at %llx: %s", (unsigned long long)addr, hp->rp.kp.why);
		if (err == -EILSEQ)
			host_probe_warn_of_boundary(addr);
	}
	if (err)
		kfree(hp);
	else
		*out = hp;
	return err;
}

void host_probe_destroy(struct host_probe *hp)
{
	if (hp->is_return)
		unregister_kretprobe(&hp->rp);
	else
		unregister_kprobe(&hp->rp.kp);
	kfree(hp);
}

/* All of them are to be on, or all off. [host_lock] */
static struct {
	struct kprobe *p[ARCH_PROBE_BATCH];
	unsigned n;
	bool on;
} waiting;

void host_probes_flush(void)
{
	if (waiting.n && waiting.on)
		enable_kprobes(waiting.p, waiting.n);
	else if (waiting.n)
		disable_kprobes(waiting.p, waiting.n);
	waiting.n = 0;
}

void host_probe_switch(struct host_probe *hp, bool on)
{
	if (waiting.n == ARRAY_SIZE(waiting.p) || waiting.on != on)
		host_probes_flush();
	waiting.on = on;
	waiting.p[waiting.n++] = &hp->rp.kp;
}

u64 host_probe_missed(const struct host_probe *hp)
{
	return hp->rp.kp.nmissed + hp->rp.nmissed;
}

/* ---- registers, by Linux's names ---- */

#define REG(name_, field_)                                                                         \
	{                                                                                          \
		name_, offsetof(struct regs, field_)                                               \
	}

static const struct {
	const char *name;
	u8 at;
} registers[] = {
    REG("ax", rax),
    REG("bx", rbx),
    REG("cx", rcx),
    REG("dx", rdx),
    REG("si", rsi),
    REG("di", rdi),
    REG("bp", rbp),
    REG("sp", rsp),
    REG("ip", rip),
    REG("r8", r8),
    REG("r9", r9),
    REG("r10", r10),
    REG("r11", r11),
    REG("r12", r12),
    REG("r13", r13),
    REG("r14", r14),
    REG("r15", r15),
    REG("cs", cs),
    REG("ss", ss),
    REG("flags", rflags),
    REG("orig_ax", orig_rax),
};

int host_reg_find(const char *name)
{
	for (unsigned i = 0; i < ARRAY_SIZE(registers); i++)
		if (!strcmp(registers[i].name, name))
			return registers[i].at;
	return -EINVAL;
}

bool host_path_member(char letter, const char **structure, const char **member)
{
	*structure = letter == 'D' ? "file" : "path";
	*member = letter == 'D' ? "path" : "name";
	return true;
}

const char *host_stack_register(void)
{
	return "sp";
}

const char *host_return_register(void)
{
	return "ax";
}

/* System V ABI: six in registers, then on the stack, above the return address. */
int host_arg_place(unsigned n)
{
	static const char *const names[] = {"di", "si", "dx", "cx", "r8", "r9"};

	return n < ARRAY_SIZE(names) ? host_reg_find(names[n])
				     : -1 - (int)(n - ARRAY_SIZE(names) + 1);
}

/* Those of KPROBE_FLAG_ARGUMENTS. */
bool host_reg_is_argument(u32 at)
{
	return at >= offsetof(struct regs, r9) && at <= offsetof(struct regs, rdi) &&
	       at != offsetof(struct regs, rax);
}
