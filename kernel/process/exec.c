/*
 * execve: the current task becomes another program. Task context. The new address space is complete before the old one is
 * let go, so an error leaves the caller as it was; only then come the steps that cannot fail.
 */
#include "kernel/process/exec.h"

#include "kernel/abi/linux.h"
#include "kernel/base/events.h"
#include "kernel/fs/files.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/process/area.h"
#include "kernel/process/exec_stack.h"
#include "kernel/process/process.h"

/* A program: where it is and what it is told; then the file, opened and planned. By Linux's name, for kprobes. */
struct linux_binprm {
	const char *filename;
	const struct exec_args *args;
	struct file *file;
	struct elf_image image;
};

static int open_program(struct linux_binprm *p, struct vstat *st)
{
	int err = file_open(p->filename, O_RDONLY, 0, &p->file);

	if (err)
		return err;
	err = vfs_fstat(p->file, st);
	if (!err && ((st->mode & S_IFMT) != S_IFREG || !(st->mode & 0111)))
		err = -EACCES;
	if (err)
		file_put(p->file);
	return err;
}

static int read_exactly(struct file *f, void *buf, size_t n, u64 pos)
{
	ssize got = vfs_pread(f, buf, n, pos);

	return got < 0 ? got : (size_t)got == n ? 0 : -ENOEXEC;
}

static int plan_program(struct linux_binprm *p, u64 file_size)
{
	u8 head[ELF_EHDR_SIZE];
	unsigned phnum;
	u64 phoff;
	void *phdrs;
	int err = read_exactly(p->file, head, sizeof(head), 0);

	if (!err)
		err = elf_check_header(head, file_size, &phoff, &phnum);
	if (err)
		return err;
	phdrs = kmalloc(phnum * ELF_PHDR_SIZE);
	if (!phdrs)
		return -ENOMEM;
	err = read_exactly(p->file, phdrs, phnum * ELF_PHDR_SIZE, phoff);
	if (!err)
		err = elf_load_plan(head, phdrs, file_size,
		    USER_END - USER_STACK_SIZE - 2 * USER_STACK_GUARD, &p->image);
	kfree(phdrs);
	return err;
}

static int add_area(
    struct mm *mm, u64 start, u64 end, unsigned prot, struct file *f, u64 offset, u64 file_end)
{
	struct vm_area *a = area_new(start, end, prot, f, offset);

	if (!a)
		return -ENOMEM;
	a->file_end = file_end;
	area_insert(mm, a);
	return 0;
}

/* Nobody else knows this address space yet: no lock is needed for its areas. */
static int map_program(struct mm *mm, const struct linux_binprm *p)
{
	int err = 0;

	for (unsigned i = 0; i < p->image.count && !err; i++) {
		const struct elf_segment *s = &p->image.seg[i];

		err = add_area(mm, s->start, s->end, s->prot, p->file, s->offset, s->file_end);
	}
	mm->brk_start = mm->brk = ALIGN_UP(p->image.end, PAGE_SIZE);
	/* The stack is never executable, whatever the program's headers ask for. */
	if (!err)
		err = add_area(mm, mm->stack_top - USER_STACK_SIZE, mm->stack_top, PROT_R | PROT_W,
		    NULL, 0, ~0UL);
	return err;
}

/* The new program's address space, complete; *sp is its first stack pointer. */
static int build_mm(
    const struct linux_binprm *p, const struct exec_args *a, struct mm **out, u64 *sp)
{
	struct mm *mm = mm_create();
	int err;

	if (!mm)
		return -ENOMEM;
	err = map_program(mm, p);
	if (!err)
		err = exec_build_stack(mm, p->filename, &p->image, a, sp);
	if (err)
		mm_put(mm);
	else
		*out = mm;
	return err;
}

/* What a kernel thread lacks to become a program. */
static int make_process(struct task *t)
{
	if (!t->files)
		t->files = files_create();
	if (!t->arch.fpu)
		t->arch.fpu = fpu_alloc();
	return t->files && t->arch.fpu ? 0 : -ENOMEM;
}

static void switch_mm(struct task *t, struct mm *mm)
{
	struct mm *old = t->mm;

	preempt_disable();
	task_mm_set(t, mm);
	t->arch.as = mm->as;
	aspace_switch(mm->as);
	arch_fpu_init(t->arch.fpu);
	arch_fpu_load(t->arch.fpu);
	arch_set_fs_base(&t->arch, 0);
	t->arch.gs_base = 0;
	preempt_enable();
	if (old)
		mm_release(old);
}

/* Handlers are gone with the program that had them; what was ignored stays so. */
static void reset_signals(struct signals *s)
{
	u64 flags = spin_lock_irqsave(&s->lock);

	for (unsigned i = 0; i < SIG_COUNT; i++) {
		u64 handler = s->action[i].handler;

		s->action[i] =
		    (struct ksigaction){.handler = handler == SIG_IGN ? SIG_IGN : SIG_DFL};
	}
	s->altstack_sp = s->altstack_size = 0;
	s->altstack_flags = ABI_SS_DISABLE;
	s->restart_ns = 0;
	spin_unlock_irqrestore(&s->lock, flags);
}

static void own_group(struct task *t)
{
	u64 flags = spin_lock_irqsave(&task_lock);

	if (!t->pgid)
		t->pgid = t->sid = t->pid;
	spin_unlock_irqrestore(&task_lock, flags);
}

/* The boot's last step. */
static void tell_first_program(void)
{
	static u32 programs; /* [A] */

	if (!READ_ONCE(programs) && !atomic_xchg(&programs, 1))
		trace_boot_step("kernel", "user_task");
}

/* From here on nothing fails. */
static void become(struct task *t, const struct linux_binprm *p, struct mm *mm, u64 sp)
{
	const char *name = strrchr(p->filename, '/');

	switch_mm(t, mm);
	if (t->flags & TASK_KTHREAD)
		process_count_add(1);
	t->flags &= ~(TASK_KTHREAD | TASK_SHELL);
	own_group(t);
	reset_signals(&t->sig);
	t->clear_tid = 0;
	files_close_exec(t->files);
	task_set_comm(t, name ? name + 1 : p->filename);
	trace_sched_process_exec(t, t->pid, p->filename);
	tell_first_program();
	arch_user_regs_init(task_regs(&t->arch), p->image.entry, sp);
}

static int check_args(const struct exec_args *a)
{
	size_t pointers = (a->argc + a->envc + 2UL) * sizeof(u64);

	return a->len + pointers > EXEC_ARGS_MAX ? -E2BIG : 0;
}

/* With Linux's name and argument, for kprobes. */
static int __noinline bprm_execve(struct linux_binprm *bprm)
{
	struct vstat st;
	struct mm *mm = NULL;
	u64 sp;
	int err = check_args(bprm->args);

	if (!err)
		err = open_program(bprm, &st);
	if (err)
		return err;
	err = plan_program(bprm, st.size);
	if (!err)
		err = build_mm(bprm, bprm->args, &mm, &sp);
	file_put(bprm->file); /* the areas count it */
	if (!err)
		err = make_process(current());
	if (err && mm)
		mm_put(mm);
	if (!err)
		become(current(), bprm, mm, sp);
	return err;
}

int task_exec_args(const char *path, const struct exec_args *a)
{
	struct linux_binprm bprm = {.filename = path, .args = a};

	return bprm_execve(&bprm);
}
