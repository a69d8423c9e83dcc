/*
 * Which functions are hooked. The compiler puts the nops (Makefile: HOOKS), tools/symtab makes a
 * bit for each function of where they are. A function without one lies where none has one, or was
 * marked __notrace and says why by NOTRACE(). Read-only: any context.
 */
#include "kernel/kprobe/hook.h"
#include "arch/arch.h"
#include "kernel/base/sym.h"
#include "kernel/fs/proc.h"
#include "kernel/lib/seq.h"

extern const char __text_start[], __boot_text_end[], __trace_text_start[], __trace_text_end[],
    __lib_text_start[], __lib_text_end[], __unhooked_start[], __unhooked_end[], __asm_text_start[],
    __asm_text_end[], __noprobe_start[], __noprobe_end[]; /* linker.ld */
extern const struct notrace_reason __start___notrace[], __stop___notrace[];

static const struct {
	const char *start, *end, *why;
} places[] = {
    {__text_start, __boot_text_end, "code of the boot, in another mode of the CPU"},
    {__trace_text_start, __trace_text_end, "code of the tracer itself"},
    {__lib_text_start, __lib_text_end, "library functions, which the tracer calls"},
    {__unhooked_start, __unhooked_end, "entry code, or code that hooks need themselves"},
    {__asm_text_start, __asm_text_end, "assembly"},
    {__noprobe_start, __noprobe_end, "entry code, or code that probes need themselves"},
};

const char *hook_refused(u64 addr)
{
	for (unsigned i = 0; i < ARRAY_SIZE(places); i++)
		if (addr >= (u64)places[i].start && addr < (u64)places[i].end)
			return places[i].why;
	for (const struct notrace_reason *r = __start___notrace; r < __stop___notrace; r++)
		if (addr == (u64)r->function)
			return r->why;
	return NULL;
}

static int hook_show_notrace(struct seq *s, void *ctx __maybe_unused)
{
	u64 start, size;
	const char *name, *why;

	for (unsigned i = 0; sym_nth(i, &name, &start, &size) && !s->overflow; i++)
		if (!sym_hooked(i) && (why = hook_refused(start)))
			seq_printf(s, "%s: %s\n", name, why);
	return 0;
}

void hook_files_init(void)
{
	proc_register("trapline/notrace", hook_show_notrace, NULL, NULL);
}
