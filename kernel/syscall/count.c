/*
 * How often each system call was made and what became of it (/proc/trapline/syscalls), and the
 * calls that are not here. Any task; counters are atomic, and a single store takes a row of errors.
 */
#include "kernel/abi/linux.h"
#include "kernel/base/printk.h"
#include "kernel/fs/proc.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "kernel/process/mm.h"
#include "kernel/syscall/syscall.h"
#include "kernel/task/task.h"

/* Every number is in one of the two lists. */
#define ARG(type, name)
#define SYSCALL(nr, name, args) NUMBER_##nr,
#define MISSING(nr, name)	NUMBER_##nr,
enum {
#include "kernel/abi/syscalls.def"
#include "kernel/abi/syscalls_missing.def"
};

/* "NR NAME", each with its NUL: the calls that are here; after an empty one, the others. */
#define ARG(type, name)
#define SYSCALL(nr, name, args) #nr " " #name "\0"
#define MISSING(nr, name)	#nr " " #name "\0"
static const char names[] =
#include "kernel/abi/syscalls.def"
    "\0"
#include "kernel/abi/syscalls_missing.def"
    ;

/* C libraries try it in every program, and go on without it: no line in the log. */
#define CALL_RSEQ 334

u64 syscall_calls[SYSCALL_MAX];
static u64 no_calls; /* [A] numbers that are no call of Linux's */

#define ERROR_ROWS 512u

static struct {
	u32 key;   /* [A] number << 16 | errno; 0: free */
	u64 count; /* [A] */
} errors[ERROR_ROWS];
static u64 more_errors; /* [A] the rows were full */

/* The name at `p`, "NR NAME", and its number. */
static const char *sys_parse_name(const char *p, unsigned *nr)
{
	for (*nr = 0; is_digit(*p); p++)
		*nr = *nr * 10 + *p - '0';
	return p + 1;
}

const char *syscall_next_name(const char *name, unsigned *nr)
{
	const char *p = name ? name + strlen(name) + 1 : names;

	return *p ? sys_parse_name(p, nr) : NULL;
}

/* The name of number nr, or NULL; *here: there is such a call. */
static const char *sys_find_name(unsigned nr, bool *here)
{
	*here = true;
	for (const char *p = names; p < names + sizeof(names) - 1; p += strlen(p) + 1) {
		unsigned number;
		*here &= *p != 0;
		const char *name = *p ? sys_parse_name(p, &number) : NULL;
		if (name && number == nr)
			return name;
	}
	return NULL;
}

const char *syscall_name(unsigned nr)
{
	bool here;

	return sys_find_name(nr, &here);
}

long syscall_count_error(long nr, long err)
{
	u32 key = nr << 16 | (u32)-err;

	for (unsigned i = 0, at = key * 2654435761u; i < ERROR_ROWS; i++, at++) {
		u32 *k = &errors[at % ERROR_ROWS].key;

		if (READ_ONCE(*k) == key || (!READ_ONCE(*k) && atomic_cas(k, 0, key)) ||
		    READ_ONCE(*k) == key) {
			atomic_add(&errors[at % ERROR_ROWS].count, 1);
			return err;
		}
	}
	atomic_add(&more_errors, 1);
	return err;
}

void syscall_missing(long nr)
{
	struct mm *mm = current()->mm;
	const char *name = nr >= 0 && nr < SYSCALL_MAX ? syscall_name(nr) : NULL;
	u64 bit = 1UL << ((u64)nr % 64), *told = name ? &mm->missing_calls[nr / 64] : NULL;

	if (!name) {
		atomic_add(&no_calls, 1);
		return;
	}
	atomic_add(&syscall_calls[nr], 1);
	syscall_count_error(nr, -ENOSYS);
	if ((READ_ONCE(*told) & bit) || nr == CALL_RSEQ)
		return;
	atomic_or(told, bit);
	pr_info(
	    "%s[%d]: system call %s (%ld) is not here", current()->comm, current()->tgid, name, nr);
}

/* Calls that are to be done again (or become EINTR) have a number without a name. */
static void sys_show_errors(struct seq *s, unsigned nr)
{
	for (unsigned i = 0; i < ERROR_ROWS; i++) {
		const char *name = errno_name(errors[i].key & 0xffff);

		if (errors[i].key >> 16 == nr && errors[i].count)
			seq_printf(s, " %s:%lu", name ? name : "ERESTART", errors[i].count);
	}
}

/* NUMBER NAME CALLS, and ERROR:CALLS for each that it gave. */
static int sys_show_counts(struct seq *s, void *unused __maybe_unused)
{
	for (unsigned nr = 0; nr < SYSCALL_MAX; nr++) {
		u64 calls = atomic_load(&syscall_calls[nr]);
		bool here;
		const char *name = calls ? sys_find_name(nr, &here) : NULL;

		if (!name)
			continue;
		seq_printf(s, "%u %s %lu", nr, name, calls);
		sys_show_errors(s, nr);
		seq_puts(s, here ? "\n" : " not here\n");
	}
	if (no_calls)
		seq_printf(s, "- - %lu ENOSYS:%lu not here\n", no_calls, no_calls);
	if (more_errors)
		seq_printf(s, "errors not told apart: %lu\n", more_errors);
	return 0;
}

/* Whatever is written: from here on it counts anew. */
static int sys_clear_counts(
    char *line __maybe_unused, size_t n __maybe_unused, void *unused __maybe_unused)
{
	for (unsigned nr = 0; nr < SYSCALL_MAX; nr++)
		atomic_store(&syscall_calls[nr], 0);
	for (unsigned i = 0; i < ERROR_ROWS; i++)
		atomic_store(&errors[i].count, 0);
	atomic_store(&no_calls, 0);
	atomic_store(&more_errors, 0);
	return 0;
}

void syscall_count_init(void)
{
	_Static_assert(SYSCALL_MAX <= 64 * ARRAY_SIZE(((struct mm *)NULL)->missing_calls), "bits");
	proc_register("trapline/syscalls", sys_show_counts, sys_clear_counts, NULL);
}
