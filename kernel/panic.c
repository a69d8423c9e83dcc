/*
 * The last words: the reason, the registers, the call stack; then the action that panic= chooses.
 * Any context. One CPU speaks: the first to take `speaker`; the others are stopped. A fault while
 * speaking says one line and ends.
 */
#include "kernel/base/cmdline.h"
#include "kernel/base/panic.h"
#include "kernel/base/printk.h"
#include "kernel/base/rescue.h"
#include "kernel/base/sym.h"
#include "kernel/base/watchdog.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "kernel/monitor_system.h"
#include "kernel/task/task.h"
#include "kernel/trace/tracing.h"

#define TRACE_MAX   48
#define CODE_BEFORE 43 /* bytes of code shown, as Linux shows them */
#define CODE_BYTES  64
#define NO_CPU	    (~0u)
#define MESSAGE_MAX 512

static u32 speaker = NO_CPU; /* [A] */

#define say(...) printk(LOG_EMERG, __VA_ARGS__)

/*
 * An address of a call's return belongs to the function of the call, even when that is its last
 * instruction.
 */
static void panic_print_symbol(char *buf, size_t size, u64 addr, bool is_return)
{
	u64 start, length;
	const char *name = sym_find(addr - is_return, &start, &length);

	if (name)
		fmt_snprintf(buf, size, "%s+0x%llx/0x%llx", name,
		    (unsigned long long)(addr - start), (unsigned long long)length);
	else
		fmt_snprintf(buf, size, "0x%llx", (unsigned long long)addr);
}

static void print_trace(int level, const u64 *trace, unsigned n, bool from_regs)
{
	char name[128];

	printk(level, "Call Trace:");
	for (unsigned i = 0; i < n; i++) {
		panic_print_symbol(name, sizeof name, trace[i], i > 0 || !from_regs);
		printk(level, " %s", name);
	}
}

/* From the caller of the caller on, or from r. */
static void __noinline panic_print_stack(int level, const struct regs *r)
{
	u64 trace[TRACE_MAX];
	unsigned n = stack_trace(r, trace, TRACE_MAX);
	unsigned own = r || !n ? 0 : 1; /* this function itself */

	print_trace(level, trace + own, n - own, r);
}

void show_stack(const struct regs *r)
{
	panic_print_stack(LOG_EMERG, r);
}

static void panic_print_task(int level, const char *before)
{
	const struct task *t = current();

	if (t)
		printk(level, "%sCPU: %u PID: %d Comm: %.15s", before, cpu_id(), t->pid, t->comm);
	else
		printk(level, "%sCPU: %u, before tasks", before, cpu_id());
}

static void print_code(u64 rip)
{
	char line[4 * CODE_BYTES + 8];
	size_t at = 0;
	u8 byte;

	for (unsigned i = 0; i < CODE_BYTES; i++) {
		const char *form = i == CODE_BEFORE ? "<%02x> " : "%02x ";
		const void *from = (const void *)(rip - CODE_BEFORE + i);
		if (sym_is_text((u64)from) && copy_from_kernel_nofault(&byte, from, 1) == 0)
			at += scnprintf(line + at, sizeof line - at, form, byte);
	}
	say("Code: %s", at ? line : "unreadable");
}

static void print_registers(const struct regs *r)
{
	u64 cr[ARCH_CONTROL_REGISTERS];

	say("RSP: %04llx:%016llx EFLAGS: %08llx", (unsigned long long)r->ss,
	    (unsigned long long)r->rsp, (unsigned long long)r->rflags);
#define ROW(a, x, b, y, c, z)                                                                      \
	say(a ": %016llx " b ": %016llx " c ": %016llx", (unsigned long long)r->x,                 \
	    (unsigned long long)r->y, (unsigned long long)r->z)
	ROW("RAX", rax, "RBX", rbx, "RCX", rcx);
	ROW("RDX", rdx, "RSI", rsi, "RDI", rdi);
	ROW("RBP", rbp, "R08", r8, "R09", r9);
	ROW("R10", r10, "R11", r11, "R12", r12);
	ROW("R13", r13, "R14", r14, "R15", r15);
#undef ROW
	arch_control_registers(cr);
	say("CR0: %016llx CR2: %016llx CR3: %016llx CR4: %016llx", (unsigned long long)cr[0],
	    (unsigned long long)cr[1], (unsigned long long)cr[2], (unsigned long long)cr[3]);
}

void show_regs(const struct regs *r)
{
	char name[128];

	panic_print_task(LOG_EMERG, "");
	if (regs_user(r)) {
		say("RIP: %04llx:0x%llx", (unsigned long long)r->cs, (unsigned long long)r->rip);
	} else {
		panic_print_symbol(name, sizeof name, r->rip, false);
		say("RIP: %04llx:%s", (unsigned long long)r->cs, name);
		print_code(r->rip);
	}
	print_registers(r);
	if (!regs_user(r))
		panic_print_stack(LOG_EMERG, r);
}

/* The monitor does something that ends in another panic: it goes on with its next command. */
static void give_up(const char *what)
{
	static char words[MESSAGE_MAX];

	strscpy(words, what, sizeof(words));
	rescue_give_up(words);
}

/*
 * Nobody else speaks from here on. A second time on the same CPU means that speaking itself went
 * wrong.
 */
static void panic_take_console(const char *what)
{
	u32 me = cpu_id();

	irq_disable();
	if (!atomic_cas(&speaker, NO_CPU, me)) {
		if (atomic_load(&speaker) == me) {
			if (rescue_active())
				give_up(what);
			say("Panic within a panic: %s", what);
		}
		machine_halt();
	}
	printk_panic_mode();
	machine_stop_others();
}

void __noreturn __noprobe __stack_chk_fail(void)
{
	panic("stack-protector: Kernel stack is corrupted in: %pS", __builtin_return_address(0));
}

static const char *end_message;

static void panic_say_end(void)
{
	say("---[ end Kernel panic - not syncing: %s ]---", end_message);
}

/* panic=, as Linux: 0 stay, n > 0 restart after n seconds, n < 0 at once. And `monitor`. */
static void __noreturn panic_finish(const char *message)
{
	const char *value = cmdline_get("panic");
	s64 seconds = 0;

	trace_glue_panic();
	if (value)
		parse_s64(value, 0, &seconds);
	if (seconds > 0)
		say("Rebooting in %lld seconds..", (long long)seconds);
	for (s64 i = 0; i < seconds; i++) {
		delay_us(1000000);
		watchdog_touch();
	}
	if (seconds)
		machine_reboot();
	watchdog_rest();
	end_message = message;
	if (monitor_wanted_after_panic())
		monitor_after_panic(panic_say_end);
	panic_say_end();
	machine_halt();
}

static void announce(char message[MESSAGE_MAX], const char *fmt, va_list ap)
{
	fmt_vsnprintf(message, MESSAGE_MAX, fmt, ap);
	panic_take_console(message);
	say("Kernel panic - not syncing: %s", message);
}

void panic(const char *fmt, ...)
{
	char message[MESSAGE_MAX];
	va_list ap;

	va_start(ap, fmt);
	announce(message, fmt, ap);
	va_end(ap);
	panic_print_task(LOG_EMERG, "");
	panic_print_stack(LOG_EMERG, NULL);
	panic_finish(message);
}

void panic_regs(const struct regs *r, const char *fmt, ...)
{
	char message[MESSAGE_MAX];
	va_list ap;

	va_start(ap, fmt);
	announce(message, fmt, ap);
	va_end(ap);
	show_regs(r);
	panic_finish(message);
}

/* `what` may have several lines; the last one gets the error code. */
void kernel_trap_fatal(struct regs *r, const char *what)
{
	const char *message = this_cpu_read(preempt_count) & (HARDIRQ_MASK | NMI_MASK)
				  ? "Fatal exception in interrupt"
				  : "Fatal exception";
	const char *end;

	panic_take_console(what);
	while ((end = strchr(what, '\n'))) {
		say("%.*s", (int)(end - what), what);
		what = end + 1;
	}
	say("%s: %04llx [#1] SMP", what, (unsigned long long)r->error);
	show_regs(r);
	say("Kernel panic - not syncing: %s", message);
	panic_finish(message);
}

void warn_at(const char *file, int line, const char *what)
{
	char where[MESSAGE_MAX];

	fmt_snprintf(where, sizeof where, "WARNING: %s:%d: %s: ", file, line, what);
	trace_glue_warning();
	printk(LOG_WARNING, "------------[ cut here ]------------");
	panic_print_task(LOG_WARNING, where);
	panic_print_stack(LOG_WARNING, NULL);
	printk(LOG_WARNING, "---[ end trace ]---");
}
