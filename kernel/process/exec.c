/*
 * execve: the current task becomes another program. Task context. The new address space is complete
 * before the old one is let go, so an error leaves the caller as it was; only then come the steps
 * that cannot fail.
 */
#include "kernel/process/exec.h"

#include "kernel/abi/linux.h"
#include "kernel/base/events.h"
#include "kernel/fs/cwd.h"
#include "kernel/fs/file.h"
#include "kernel/fs/files.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/process/area.h"
#include "kernel/process/exec_stack.h"
#include "kernel/process/process.h"
#include "kernel/task/alarm.h"
#include "kernel/task/group.h"

/*
 * A program: where it is and what it is told; then the file, opened and planned. By Linux's name,
 * for kprobes.
 */
struct linux_binprm {
	const char *filename;
	struct exec_args *args; /* a script puts its interpreter in front */
	struct file *file;
	struct elf_image image;
	struct file *interp; /* of a dynamic program; NULL: it runs by itself */
	struct elf_image interp_image;
};

static int exec_open_program(const char *path, struct file **out, struct vstat *st)
{
	struct file *f;
	int err = file_open(path, O_RDONLY, 0, &f);

	if (err)
		return err;
	err = vfs_fstat(f, st);
	if (!err && ((st->mode & S_IFMT) != S_IFREG || !(st->mode & 0111)))
		err = -EACCES;
	if (err)
		file_put(f);
	else
		*out = f;
	return err;
}

static int read_exactly(struct file *f, void *buf, size_t n, u64 pos)
{
	ssize got = vfs_pread(f, buf, n, pos);

	return got < 0 ? got : (size_t)got == n ? 0 : -ENOEXEC;
}

/* The end of what a program and its interpreter may use. */
#define EXEC_TOP (USER_END - USER_STACK_SIZE - 2 * USER_STACK_GUARD)

static int exec_plan(struct file *f, u64 file_size, u64 base, struct elf_image *image)
{
	u8 head[ELF_EHDR_SIZE];
	unsigned phnum;
	u64 phoff;
	void *phdrs;
	int err = read_exactly(f, head, sizeof(head), 0);

	if (!err)
		err = elf_check_header(head, file_size, &phoff, &phnum);
	if (err)
		return err;
	phdrs = kmalloc(phnum * ELF_PHDR_SIZE);
	if (!phdrs)
		return -ENOMEM;
	err = read_exactly(f, phdrs, phnum * ELF_PHDR_SIZE, phoff);
	if (!err)
		err = elf_load_plan(head, phdrs, file_size, base, EXEC_TOP, image);
	kfree(phdrs);
	return err;
}

/* Opens the interpreter that the program names. 0, -ENOEXEC: that is no path, or what open says. */
static int exec_open_interp(struct linux_binprm *p, struct vstat *st)
{
	size_t size = p->image.interp_size;
	char *path = kmalloc(size);
	int err;

	if (!path)
		return -ENOMEM;
	err = read_exactly(p->file, path, size, p->image.interp);
	if (!err && path[size - 1])
		err = -ENOEXEC;
	if (!err)
		err = exec_open_program(path, &p->interp, st);
	kfree(path);
	return err;
}

/* Plans the open interpreter to end where programs may: 0, -ELIBBAD, -ENOMEM. */
static int exec_plan_interp(struct linux_binprm *p, u64 file_size)
{
	struct elf_image *image = &p->interp_image;
	int err = exec_plan(p->interp, file_size, ELF_DYN_BASE, image);

	if (!err && image->seg[0].start < ELF_DYN_BASE)
		err = -ENOEXEC; /* it cannot be moved */
	if (!err) {
		p->image.interp_base = EXEC_TOP - (ALIGN_UP(image->end, PAGE_SIZE) - ELF_DYN_BASE);
		err = exec_plan(p->interp, file_size, p->image.interp_base, image);
	}
	return err == -ENOEXEC ? -ELIBBAD : err;
}

static int exec_plan_program(struct linux_binprm *p, u64 file_size)
{
	struct vstat st;
	int err = exec_plan(p->file, file_size, ELF_DYN_BASE, &p->image);

	if (err || !p->image.interp_size)
		return err;
	err = exec_open_interp(p, &st);
	return err ? err : exec_plan_interp(p, st.size);
}

#define SCRIPT_LINE  256 /* as much of a script's first line counts */
#define SCRIPT_DEPTH 5	 /* scripts that may be there before the program, as on Linux */

/*
 * Cuts the first line of a script: "#!", the interpreter, and the rest as one argument. -ENOEXEC:
 * it is none.
 */
static int exec_parse_script(char *line, char **interpreter, char **arg)
{
	size_t n = strcspn(line, "\n");

	if (strncmp(line, "#!", 2) != 0 || n == SCRIPT_LINE)
		return -ENOEXEC;
	line[n] = 0;
	*interpreter = line + 2 + strspn(line + 2, " \t");
	for (char *end = line + n; end > *interpreter && (end[-1] == ' ' || end[-1] == '\t');)
		*--end = 0;
	*arg = *interpreter + strcspn(*interpreter, " \t");
	if (**arg) {
		*(*arg)++ = 0;
		*arg += strspn(*arg, " \t");
	}
	return **interpreter ? 0 : -ENOEXEC;
}

/*
 * What a script is given comes after its interpreter, the argument and its own path, which stands
 * for its name.
 */
static int exec_script_args(
    struct exec_args *a, const char *interpreter, const char *arg, const char *path)
{
	struct exec_args all = {0};
	const char *s = a->strings;
	int err = exec_args_add(&all, interpreter, false);

	if (!err && *arg)
		err = exec_args_add(&all, arg, false);
	if (!err)
		err = exec_args_add(&all, path, false);
	for (unsigned i = 0; i < a->argc + a->envc && !err; i++) {
		if (i || !a->argc)
			err = exec_args_add(&all, s, i >= a->argc);
		s += strlen(s) + 1;
	}
	exec_args_free(err ? &all : a);
	if (!err)
		*a = all;
	return err;
}

/* 1: the file is a script, and `a` now begins with its interpreter; 0: it is none. */
static int exec_read_script(struct file *f, const char *path, struct exec_args *a)
{
	char line[SCRIPT_LINE + 1], *interpreter, *arg;
	ssize got = vfs_pread(f, line, SCRIPT_LINE, 0);
	int err;

	if (got < 0)
		return got;
	line[got] = 0;
	if (exec_parse_script(line, &interpreter, &arg))
		return 0;
	err = exec_script_args(a, interpreter, arg, path);
	return err ? err : 1;
}

/*
 * Where the program is a script, its interpreter's file takes its place. The name of the program
 * stays the script's.
 */
static int exec_find_interpreter(struct linux_binprm *p, struct vstat *st)
{
	const char *path = p->filename;

	for (unsigned depth = 0; depth <= SCRIPT_DEPTH; depth++) {
		int r = exec_read_script(p->file, path, p->args);

		if (r <= 0)
			return r;
		path = p->args->strings;
		file_put(p->file);
		p->file = NULL;
		r = exec_open_program(path, &p->file, st);
		if (r)
			return r;
	}
	return -ELOOP;
}

static int add_area(
    struct mm *mm, u64 start, u64 end, unsigned prot, struct file *f, u64 offset, u64 file_end)
{
	struct vm_area *a;

	if (!area_range_free(mm, start, end))
		return -ENOEXEC;
	a = area_new(start, end, prot, f, offset);
	if (!a)
		return -ENOMEM;
	a->file_end = file_end;
	area_insert(mm, a);
	return 0;
}

/* Nobody else knows this address space yet: no lock is needed for its areas. */
static int exec_map_image(struct mm *mm, struct file *f, const struct elf_image *image)
{
	int err = 0;

	for (unsigned i = 0; i < image->count && !err; i++) {
		const struct elf_segment *s = &image->seg[i];

		/* Without zeros the last page is the file's, as all the others are. */
		err = add_area(
		    mm, s->start, s->end, s->prot, f, s->offset, s->zeros ? s->file_end : ~0UL);
	}
	return err;
}

static int map_program(struct mm *mm, const struct linux_binprm *p)
{
	int err = exec_map_image(mm, p->file, &p->image);

	if (!err && p->interp)
		err = exec_map_image(mm, p->interp, &p->interp_image);
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

/* Actions that others have too are not the new program's to reset. */
static int own_sighand(struct thread_group *g)
{
	struct sighand *h = NULL;

	if (atomic_load(&g->sighand->refs) == 1)
		return 0;
	h = sighand_copy(g->sighand);
	if (h)
		group_set_sighand(g, h);
	return h ? 0 : -ENOMEM;
}

/* A copy of a shared table: execve() closes files, and only for its own process. */
static bool exec_own_files(struct task *t)
{
	struct files *shared = t->files, *own = files_copy(shared);
	u64 flags;

	if (!own)
		return false;
	flags = spin_lock_irqsave(&task_lock); /* others look */
	t->files = own;
	spin_unlock_irqrestore(&task_lock, flags);
	files_put(shared);
	return true;
}

/* What a kernel thread lacks to become a program. */
static int make_process(struct task *t)
{
	if (t->files && atomic_load(&t->files->refs) > 1 && !exec_own_files(t))
		return -ENOMEM;
	if (!t->files)
		t->files = files_create();
	if (!t->fs)
		t->fs = fs_copy(NULL);
	if (!t->arch.fpu)
		t->arch.fpu = fpu_alloc();
	return t->files && t->fs && t->arch.fpu ? own_sighand(t->group) : -ENOMEM;
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
static void reset_signals(struct task *t)
{
	sighand_reset(t->group->sighand);
	t->sig.altstack_sp = t->sig.altstack_size = 0;
	t->sig.altstack_flags = ABI_SS_DISABLE;
	t->sig.restart_ns = 0;
	WRITE_ONCE(t->group->undumpable, false);
	alarms_remove(t->group, false);
}

static void own_group(struct task *t)
{
	u64 flags = spin_lock_irqsave(&task_lock);

	if (!t->group->pgid)
		t->group->pgid = t->group->sid = t->tgid;
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
static void become(struct task *t, const struct linux_binprm *p, struct mm *mm, u64 sp, int old_pid)
{
	const char *name = strrchr(p->filename, '/');

	exit_mm_release(t);
	switch_mm(t, mm);
	if (t->flags & TASK_KTHREAD)
		process_count_add(1);
	t->flags &= ~(TASK_KTHREAD | TASK_LOCKS_GONE);
	own_group(t);
	reset_signals(t);
	files_close_exec(t->files);
	task_set_comm(t, name ? name + 1 : p->filename);
	trace_sched_process_exec(t, old_pid, p->filename);
	tell_first_program();
	arch_user_regs_init(
	    task_regs(&t->arch), p->image.interp_size ? p->interp_image.entry : p->image.entry, sp);
}

/* With Linux's name and argument, for kprobes. */
static int __noinline bprm_execve(struct linux_binprm *bprm)
{
	struct vstat st;
	struct mm *mm = NULL;
	u64 sp;
	int old_pid = current()->pid;
	int err = exec_open_program(bprm->filename, &bprm->file, &st);

	if (err)
		return err;
	err = exec_find_interpreter(bprm, &st);
	if (!err)
		err = exec_plan_program(bprm, st.size);
	if (!err)
		err = build_mm(bprm, bprm->args, &mm, &sp);
	file_put(bprm->file); /* the areas count it */
	file_put(bprm->interp);
	if (!err)
		err = make_process(current());
	if (!err)
		err = process_be_alone();
	if (err && mm)
		mm_put(mm);
	if (!err)
		become(current(), bprm, mm, sp, old_pid);
	return err;
}

int task_exec_args(const char *path, struct exec_args *a)
{
	struct linux_binprm bprm = {.filename = path, .args = a};

	return bprm_execve(&bprm);
}
