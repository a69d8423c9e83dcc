/* Probes of many functions: fprobe.h. */
#include "kernel/kprobe/fprobe.h"
#include "kernel/base/sym.h"
#include "kernel/kprobe/hook.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"
#include "trace/function/function.h"

struct fprobe_function {
	struct kretprobe rp; /* or only the kprobe in it */
	struct fprobe *fp;
};

/* ---- hits ---- */

static int fprobe_on_kprobe(struct kprobe *p, struct regs *r)
{
	struct fprobe *fp = container_of(p, struct fprobe_function, rp.kp)->fp;

	fp->entry_handler(fp, (u64)p->addr, kernel_probe_real_return(r->rsp), r, NULL);
	return 0;
}

static int fprobe_on_entry(struct kretprobe_instance *ri, struct regs *r)
{
	struct fprobe *fp = container_of(ri->rp, struct fprobe_function, rp)->fp;

	return fp->entry_handler(fp, (u64)ri->rp->kp.addr, ri->ret_addr, r, ri->data);
}

static int fprobe_on_return(struct kretprobe_instance *ri, struct regs *r)
{
	struct fprobe *fp = container_of(ri->rp, struct fprobe_function, rp)->fp;

	fp->exit_handler(fp, (u64)ri->rp->kp.addr, ri->ret_addr, r, ri->data);
	return 0;
}

/* ---- registration ---- */

static struct fprobe_function *fprobe_make(struct fprobe *fp, const u64 *addrs, unsigned n)
{
	struct fprobe_function *functions = kzalloc(n * sizeof(*functions));

	for (unsigned i = 0; functions && i < n; i++) {
		struct fprobe_function *f = &functions[i];
		f->fp = fp;
		f->rp.kp.addr = (void *)addrs[i];
		f->rp.kp.flags = KPROBE_FLAG_DISABLED;
		if (!fp->exit_handler) {
			f->rp.kp.pre_handler = fprobe_on_kprobe;
			continue;
		}
		f->rp.handler = fprobe_on_return;
		f->rp.entry_handler = fp->entry_handler ? fprobe_on_entry : NULL;
		f->rp.data_size = fp->entry_data_size;
	}
	return functions;
}

static void fprobe_drop(struct fprobe_function *functions, unsigned n, bool returns)
{
	for (unsigned i = 0; i < n; i++)
		if (returns)
			unregister_kretprobe(&functions[i].rp);
		else
			unregister_kprobe(&functions[i].rp.kp);
	kfree(functions);
}

/* Registers the probes one by one, and patches the text once for all of them. */
static int fprobe_start(struct fprobe *fp, struct fprobe_function *functions, unsigned n)
{
	struct kprobe **probes = kmalloc(n * sizeof(*probes));
	int err = probes ? 0 : -ENOMEM;
	unsigned done = 0;

	for (; !err && done < n; done++) {
		struct kretprobe *rp = &functions[done].rp;
		probes[done] = &rp->kp;
		err = fp->exit_handler ? register_kretprobe(rp) : register_kprobe(&rp->kp);
		if (err)
			break;
	}
	if (!err)
		err = enable_kprobes(probes, n);
	kfree(probes);
	if (err)
		fprobe_drop(functions, done, fp->exit_handler);
	return err;
}

int register_fprobe_ips(struct fprobe *fp, const u64 *addrs, int num)
{
	if (fp->functions || num <= 0 || (!fp->entry_handler && !fp->exit_handler))
		return -EINVAL;
	for (int i = 0; i < num; i++)
		if (!hook_at(addrs[i]))
			return -EINVAL;
	struct fprobe_function *functions = fprobe_make(fp, addrs, num);
	int err = functions ? fprobe_start(fp, functions, num) : -ENOMEM;
	if (err)
		return err;
	fp->functions = functions;
	fp->n = num;
	return 0;
}

int register_fprobe_syms(struct fprobe *fp, const char **syms, int num)
{
	u64 *addrs = num > 0 ? kzalloc(num * sizeof(*addrs)) : NULL;
	int err = num <= 0 ? -EINVAL : addrs ? 0 : -ENOMEM;

	for (int i = 0; i < num && !err; i++) {
		addrs[i] = sym_address(syms[i], NULL);
		err = addrs[i] ? 0 : -ENOENT;
	}
	if (!err)
		err = register_fprobe_ips(fp, addrs, num);
	kfree(addrs);
	return err;
}

/* Writes the addresses of the set's functions that have a hook; returns their number. */
static unsigned fprobe_addresses(const u64 *set, u64 *addrs)
{
	unsigned n = 0;
	u64 addr, size;
	const char *name;

	for (unsigned i = 0; i < sym_count(); i++)
		if (set[i / 64] >> i % 64 & 1 && sym_hooked(i) && sym_nth(i, &name, &addr, &size))
			addrs[n++] = addr;
	return n;
}

int register_fprobe(struct fprobe *fp, const char *filter, const char *notfilter)
{
	size_t words = (sym_count() + 63) / 64;
	u64 *set = kzalloc(2 * words * sizeof(u64)), *unwanted = set + words;
	u64 *addrs = kmalloc(sym_count() * sizeof(u64));
	int err = set && addrs ? 0 : -ENOMEM;

	if (!err)
		err = trace_function_set_word(set, filter ? filter : "*");
	if (!err && notfilter && !trace_function_set_word(unwanted, notfilter))
		for (size_t i = 0; i < words; i++)
			set[i] &= ~unwanted[i];
	if (!err)
		err = register_fprobe_ips(fp, addrs, fprobe_addresses(set, addrs));
	kfree(addrs);
	kfree(set);
	return err;
}

int unregister_fprobe(struct fprobe *fp)
{
	if (!fp->functions)
		return -EINVAL;
	fprobe_drop(fp->functions, fp->n, fp->exit_handler);
	fp->functions = NULL;
	return 0;
}

u64 fprobe_missed(const struct fprobe *fp)
{
	u64 missed = 0;

	for (unsigned i = 0; fp->functions && i < fp->n; i++)
		missed += fp->functions[i].rp.kp.nmissed + fp->functions[i].rp.nmissed;
	return missed;
}
