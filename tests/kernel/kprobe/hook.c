/*
 * Hooks: each function of the symbol table begins with one, which is one instruction, or has a
 * reason why not; and the two files that list them list all.
 */
#include "kernel/kprobe/hook.h"
#include "arch/arch.h"
#include "kernel/base/sym.h"
#include "kernel/fs/file.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"

/* One nop of five bytes, and not five of one. */
static bool begins_with_hook(u64 addr)
{
	u8 code[HOOK_LEN + 1];

	memcpy(code, (void *)addr, sizeof(code));
	kernel_probe_original(addr, code, sizeof(code));
	return !memcmp(code, "\x0f\x1f\x44\x00\x00", HOOK_LEN) && code[HOOK_LEN] != 0x90;
}

static void every_function(void)
{
	u64 start, size, last = 0;
	const char *name;

	for (unsigned i = 0; sym_nth(i, &name, &start, &size); i++) {
		if (start == last)
			continue; /* another name */
		last = start;
		if (sym_hooked(i) ? !begins_with_hook(start) || hook_refused(start)
				  : !hook_refused(start))
			ktap_fail(__FILE__, __LINE__, "%s: %s, %s", name,
			    sym_hooked(i) ? "hooked" : "not hooked", hook_refused(start));
	}
}

/* Lines of a file. */
static unsigned hook_test_lines(const char *path)
{
	static char buf[4096];
	unsigned lines = 0;
	struct file *f;
	ssize n;

	if (file_open(path, O_RDONLY, 0, &f))
		return 0;
	while ((n = kernel_read(f, buf, sizeof(buf))) > 0)
		while (n--)
			lines += buf[n] == '\n';
	file_put(f);
	return lines;
}

static void both_files(void)
{
	unsigned hooked = 0, refused = 0;
	u64 start, size;
	const char *name;

	for (unsigned i = 0; sym_nth(i, &name, &start, &size); i++)
		if (sym_hooked(i))
			hooked++;
		else if (hook_refused(start))
			refused++;
	EXPECT(hooked > 1000);
	EXPECT_EQ(hook_test_lines("/sys/kernel/tracing/available_filter_functions"), hooked);
	EXPECT_EQ(hook_test_lines("/sys/kernel/tracing/available_filter_functions_addrs"), hooked);
	EXPECT_EQ(hook_test_lines("/proc/trapline/notrace"), refused);
}

static const struct ktap_case cases[] = {
    {"hooks.every_function", every_function},
    {"hooks.both_files", both_files},
    {NULL, NULL},
};
const struct ktap_suite suite_hooks = {cases};
