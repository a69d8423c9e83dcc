/*
 * Page faults: demand paging, copy on write, and what happens when there is nothing to page in.
 * Task context (a fault of ring 3, or of a user copy with interrupts on); mm->lock protects areas
 * and page tables.
 *
 * Out of memory ends the task that faulted, never the kernel.
 */
/* hot: runs with each event */
#include "kernel/process/fault.h"
#include "kernel/base/events.h"
#include "kernel/base/printk.h"
#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/process/area.h"
#include "kernel/task/explore.h"
#include "kernel/task/task.h"

enum { FAULT_PRESENT = 1, FAULT_WRITE = 2, FAULT_USER = 4, FAULT_FETCH = 16 };
/* Linux's, of handle_mm_fault(). */
enum { FAULT_FLAG_WRITE = 1, FAULT_FLAG_USER = 0x40, FAULT_FLAG_INSTRUCTION = 0x100 };

/* Reads one page of a file into `to`; bytes past file_end and past the file's own end are zeros. */
static enum mm_fault read_file_page(const struct vm_area *a, u64 offset, u8 *to)
{
	size_t want = MIN(PAGE_SIZE, a->file_end - offset), got = 0;

	while (got < want) {
		ssize n = vfs_pread(a->file, to + got, want - got, offset + got);

		if (n < 0)
			return MM_FAULT_BUS;
		if (n == 0)
			break;
		got += n;
	}
	if (!got)
		return MM_FAULT_BUS;
	memset(to + got, 0, PAGE_SIZE - got);
	return MM_FAULT_OK;
}

/* A page of its own for an address of a private area. */
static enum mm_fault private_page(const struct vm_area *a, u64 va, u64 *pa)
{
	u64 offset = a->offset + (va - a->start);
	bool zero = !a->file || offset >= a->file_end;
	enum mm_fault ret = MM_FAULT_OK;

	*pa = user_page_alloc(zero);
	if (!*pa)
		return MM_FAULT_OOM;
	if (!zero)
		ret = read_file_page(a, offset, phys_to_virt(*pa));
	if (ret)
		page_put(*pa);
	return ret;
}

/* The file's own page for an address of a private area, if all of it is the file's; 0: none. */
static u64 file_page(const struct vm_area *a, u64 va)
{
	u64 offset = a->offset + (va - a->start);
	struct vnode *v = a->file ? a->file->vnode : NULL;

	if (!v || !v->ops->page || offset >= a->file_end || a->file_end - offset < PAGE_SIZE)
		return 0;
	return v->ops->page(v, offset / PAGE_SIZE);
}

/* A private area reads the file's own pages; its first write to one makes it a copy. */
static enum mm_fault fault_bring_page(struct mm *mm, struct vm_area *a, u64 va, bool write)
{
	unsigned prot = mm_page_prot(a);
	enum mm_fault ret = MM_FAULT_OK;
	u64 pa;

	if (a->page) {
		pa = a->page(a, (a->offset + (va - a->start)) / PAGE_SIZE);
		if (!pa)
			return MM_FAULT_BUS;
	} else if (!write && (pa = file_page(a, va))) {
		prot &= ~PROT_W;
	} else {
		ret = private_page(a, va, &pa);
		if (ret)
			return ret;
	}
	if (aspace_map(mm->as, va, pa, prot) == 0)
		return MM_FAULT_OK;
	if (!a->page)
		page_put(pa);
	return MM_FAULT_OOM;
}

/* A write to a page that is mapped read-only in an area that may be written. */
static enum mm_fault fault_copy_page(struct mm *mm, struct vm_area *a, u64 va, u64 pa)
{
	u64 copy;

	if (a->page || page_refs(pa) == 1) {
		aspace_map(mm->as, va, pa, mm_page_prot(a)); /* the entry exists: cannot fail */
		aspace_flush(mm->as, va, PAGE_SIZE);
		return MM_FAULT_OK;
	}
	copy = user_page_alloc(false);
	if (!copy)
		return MM_FAULT_OOM;
	memcpy(phys_to_virt(copy), phys_to_virt(pa), PAGE_SIZE);
	aspace_map(mm->as, va, copy, mm_page_prot(a));
	aspace_flush(mm->as, va, PAGE_SIZE);
	page_put(pa);
	return MM_FAULT_OK;
}

static bool allowed(const struct vm_area *a, u64 error)
{
	if (error & FAULT_WRITE)
		return a->prot & PROT_W;
	if (error & FAULT_FETCH)
		return a->prot & PROT_X;
	return a->prot != 0;
}

enum mm_fault __noinline handle_mm_fault(
    struct vm_area *vma, u64 address, u32 flags, struct regs *regs)
{
	u64 va = ALIGN_DOWN(address, PAGE_SIZE), pa;
	unsigned prot;

	pa = aspace_lookup(vma->mm->as, va, &prot);
	if (!pa)
		return fault_bring_page(vma->mm, vma, va, flags & FAULT_FLAG_WRITE);
	if ((flags & FAULT_FLAG_WRITE) && !(prot & PROT_W))
		return fault_copy_page(vma->mm, vma, va, pa);
	/*
	 * The tables allow it: the CPU saw an old TLB entry, or another thread was here first. The
	 * kernel comes here by its user copies alone, which the CPU lets touch what ring 3 may. But
	 * ring 3 may not have the CPU do it as if it were the kernel (iret, in emulators).
	 */
	return regs && regs_user(regs) && !(flags & FAULT_FLAG_USER) ? MM_FAULT_ACCESS
								     : MM_FAULT_OK;
}

static u32 fault_flags(u64 error)
{
	return (error & FAULT_WRITE ? FAULT_FLAG_WRITE : 0) |
	       (error & FAULT_USER ? FAULT_FLAG_USER : 0) |
	       (error & FAULT_FETCH ? FAULT_FLAG_INSTRUCTION : 0);
}

static enum mm_fault fault_locked(struct mm *mm, u64 addr, u64 error, struct regs *regs)
{
	struct vm_area *a = area_find(mm, addr);

	if (!a)
		return MM_FAULT_NO_AREA;
	if (!allowed(a, error))
		return MM_FAULT_ACCESS;
	return handle_mm_fault(a, addr, fault_flags(error), regs);
}

enum mm_fault mm_fault(struct mm *mm, u64 addr, u64 error, struct regs *regs)
{
	enum mm_fault ret;

	if (addr >= USER_END)
		return MM_FAULT_NO_AREA;
	mutex_lock(&mm->lock);
	ret = fault_locked(mm, addr, error, regs);
	mutex_unlock(&mm->lock);
	return ret;
}

/*
 * The page at va, brought in and writable whatever the area says (execve fills areas before they
 * run). 0: no.
 */
static u64 page_to_fill(struct mm *mm, u64 va, enum mm_fault *why)
{
	struct vm_area *a = area_find(mm, va);
	unsigned prot;
	u64 pa;

	*why = MM_FAULT_NO_AREA;
	if (!a || a->page)
		return 0;
	pa = aspace_lookup(mm->as, va, &prot);
	if (!pa)
		*why = fault_bring_page(mm, a, va, true);
	else if (page_refs(pa) > 1)
		*why = fault_copy_page(mm, a, va, pa);
	else
		*why = MM_FAULT_OK;
	return *why ? 0 : aspace_lookup(mm->as, va, &prot);
}

int mm_write(struct mm *mm, u64 addr, const void *src, size_t n)
{
	enum mm_fault why = MM_FAULT_OK;

	mutex_lock(&mm->lock);
	while (n) {
		u64 in_page = addr & (PAGE_SIZE - 1), pa;
		size_t part = MIN(n, PAGE_SIZE - in_page);

		pa = page_to_fill(mm, addr - in_page, &why);
		if (!pa)
			break;
		memcpy((char *)phys_to_virt(pa) + in_page, src, part);
		addr += part;
		src = (const char *)src + part;
		n -= part;
	}
	mutex_unlock(&mm->lock);
	return !why ? 0 : why == MM_FAULT_OOM ? -ENOMEM : -EFAULT;
}

static int fault_errno(enum mm_fault why)
{
	return !why ? 0 : why == MM_FAULT_OOM ? -ENOMEM : -EFAULT;
}

int mm_touch(struct mm *mm, u64 addr)
{
	return fault_errno(mm_fault(mm, addr, FAULT_WRITE | FAULT_USER, NULL));
}

/* Bits are numbered on through the bytes, as in a little-endian word of any size. */
static void change_bit(u8 *at, unsigned bit, bool on)
{
	u8 mask = 1u << bit % 8;

	if (on)
		atomic_or(at + bit / 8, mask);
	else
		atomic_and(at + bit / 8, (u8)~mask);
}

int mm_change_bit(struct mm *mm, u64 addr, unsigned bit, bool on)
{
	enum mm_fault why;
	unsigned prot;
	u64 pa;

	addr += bit / 8;
	if (addr >= USER_END)
		return -EFAULT;
	mutex_lock(&mm->lock);
	why = fault_locked(mm, addr, FAULT_WRITE | FAULT_USER, NULL);
	if (!why) {
		pa = aspace_lookup(mm->as, ALIGN_DOWN(addr, PAGE_SIZE), &prot);
		change_bit((u8 *)phys_to_virt(pa) + (addr & (PAGE_SIZE - 1)), bit % 8, on);
	}
	mutex_unlock(&mm->lock);
	return fault_errno(why);
}

/* " in prog[401000+1000]" for the area that holds rip. */
static void fault_area_text(char *buf, size_t size, struct mm *mm, u64 rip)
{
	struct vm_area *a;
	const char *name;

	buf[0] = 0;
	mutex_lock(&mm->lock);
	a = area_find(mm, rip);
	if (a && a->file && a->file->path) {
		name = strrchr(a->file->path, '/');
		fmt_snprintf(buf, size, " in %.32s[%lx+%lx]", name ? name + 1 : a->file->path,
		    (unsigned long)a->start, (unsigned long)(a->end - a->start));
	}
	mutex_unlock(&mm->lock);
}

void fault_report(const struct regs *r, const char *what, u64 addr)
{
	struct task *t = current();
	char in[80];

	fault_area_text(in, sizeof(in), t->mm, r->rip);
	pr_info("%s[%d]: %s at %lx ip %016lx sp %016lx error %lx%s", t->comm, t->pid, what,
	    (unsigned long)addr, (unsigned long)r->rip, (unsigned long)r->rsp,
	    (unsigned long)r->error, in);
}

void trap_report(const struct regs *r, const char *what)
{
	struct task *t = current();
	char in[80];

	fault_area_text(in, sizeof(in), t->mm, r->rip);
	pr_info("traps: %s[%d] %s ip:%lx sp:%lx error:%lx%s", t->comm, t->pid, what,
	    (unsigned long)r->rip, (unsigned long)r->rsp, (unsigned long)r->error, in);
}

static void fault_out_of_memory(void)
{
	struct task *t = current();
	struct signal_info info = {.code = SI_KERNEL};

	mem_exhausted();
	pr_err("Out of memory: Killed process %d (%s)", t->pid, t->comm);
	signal_send_info(t, SIGKILL, &info, true);
}

static void user_fault(struct regs *r, u64 addr, enum mm_fault why)
{
	if (why == MM_FAULT_OOM) {
		fault_out_of_memory();
	} else if (why == MM_FAULT_BUS) {
		if (signal_fatal(SIGBUS))
			fault_report(r, "bus error", addr);
		signal_force(r, SIGBUS, BUS_ADRERR, addr);
	} else {
		if (addr >= USER_END)
			r->error |= FAULT_PRESENT; /* what is there is none of its business */
		if (signal_fatal(SIGSEGV))
			fault_report(r, "segfault", addr);
		signal_force(r, SIGSEGV, why == MM_FAULT_ACCESS ? SEGV_ACCERR : SEGV_MAPERR, addr);
	}
}

/*
 * From ring 3 always resolved: the page comes, or a signal does. From the kernel only for a task's
 * user copies, made with interrupts on; a false return lets entry code look for the copy's way out,
 * or end the kernel.
 */
bool kernel_page_fault(struct regs *r, u64 addr)
{
	struct task *t = current();
	bool user = regs_user(r);
	enum mm_fault why;

	explore_fault(r);
	if (user)
		trace_page_fault_user(addr, r, r->error);
	else
		trace_page_fault_kernel(addr, r, r->error);
	if (!t || !t->mm)
		return false;
	why = mm_fault(t->mm, addr, r->error, r);
	if (why && user)
		user_fault(r, addr, why);
	else if (why == MM_FAULT_OOM)
		fault_out_of_memory();
	return user || !why;
}
