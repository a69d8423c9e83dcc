/* System calls about the machine as a whole: its log, its memory and load. Task context. */
#include "arch/arch.h"
#include "kernel/base/printk.h"
#include "kernel/mem/mem.h"
#include "kernel/process/process.h"
#include "kernel/syscall/user.h"
#include "kernel/task/load.h"
#include "kernel/task/sync.h"

/* ---- the log ---- */

/* syslog(2); the rest of its numbers is for a daemon that reads line by line. */
enum {
	LOG_READ_ALL = 3,
	LOG_READ_CLEAR,
	LOG_CLEAR,
	LOG_CONSOLE_OFF,
	LOG_CONSOLE_ON,
	LOG_CONSOLE_LEVEL,
	LOG_SIZE = 10
};

#define LOG_BUFFER (128u << 10) /* more than the log ever is as text */

static struct mutex log_lock = MUTEX_INIT(log_lock);
static u64 log_cleared;	  /* [log_lock] what printk_read() begins with */
static int log_level_was; /* [log_lock] before LOG_CONSOLE_OFF; 0: it is not off */

/* The end of the log, at most len bytes. Log locked. */
static long log_copy(u64 to, size_t len, bool clear)
{
	u64 pos = log_cleared;
	char *buf = kmalloc(LOG_BUFFER);
	size_t n, some;
	long ret;

	if (!buf)
		return -ENOMEM;
	n = printk_read(&pos, buf, LOG_BUFFER);
	some = MIN(n, len);
	ret = copy_to_user(to, buf + n - some, some) ? -EFAULT : (long)some;
	if (ret >= 0 && clear)
		log_cleared = pos;
	kfree(buf);
	return ret;
}

/* Log locked. */
static long log_clear(void)
{
	char line[256];

	while (printk_read(&log_cleared, line, sizeof(line)))
		;
	return 0;
}

/* Log locked. */
static long log_console(u32 action, s32 level)
{
	if (action == LOG_CONSOLE_LEVEL && (level < 1 || level > 8))
		return -EINVAL;
	if (action == LOG_CONSOLE_LEVEL) {
		printk_set_level(level);
		log_level_was = 0;
	} else if (action == LOG_CONSOLE_OFF && !log_level_was) {
		log_level_was = printk_level();
		printk_set_level(console_printk[2]);
	} else if (action == LOG_CONSOLE_ON && log_level_was) {
		printk_set_level(log_level_was);
		log_level_was = 0;
	}
	return 0;
}

static long log_action(const struct regs *r)
{
	switch ((u32)r->rdi) {
	case LOG_READ_ALL:
	case LOG_READ_CLEAR:
		return (s32)r->rdx < 0
			   ? -EINVAL
			   : log_copy(r->rsi, (u32)r->rdx, (u32)r->rdi == LOG_READ_CLEAR);
	case LOG_CLEAR:
		return log_clear();
	case LOG_CONSOLE_OFF:
	case LOG_CONSOLE_ON:
	case LOG_CONSOLE_LEVEL:
		return log_console(r->rdi, r->rdx);
	case LOG_SIZE:
		return LOG_BUFFER;
	default:
		return -EINVAL;
	}
}

long __x64_sys_syslog(const struct regs *r)
{
	long ret;

	mutex_lock(&log_lock);
	ret = log_action(r);
	mutex_unlock(&log_lock);
	return ret;
}

/* ---- memory and load ---- */

long __x64_sys_sysinfo(const struct regs *r)
{
	struct abi_sysinfo info = {
	    .uptime = clock_ns() / 1000000000,
	    .totalram = page_total() * PAGE_SIZE,
	    .freeram = page_free_count() * PAGE_SIZE,
	    .procs = process_count(),
	    .mem_unit = 1,
	};

	load_averages(info.loads);
	for (unsigned i = 0; i < 3; i++)
		info.loads[i] <<= ABI_SI_LOAD_SHIFT - LOAD_SHIFT;
	return copy_to_user(r->rdi, &info, sizeof(info));
}
