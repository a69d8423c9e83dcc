/*
 * A thousand probe events, half of them of returns, through the files: defined, enabled and hit,
 * disabled, deleted. Says how long each took; afterwards everything is as it was.
 */
#include "arch/x86_64/cpu/sections.h"
#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/base/sym.h"
#include "kernel/task/timer.h"
#include "tests/kernel/fs/tools.h"
#include "tests/kernel/process/run_program.h"
#include "tests/kernel/threads.h"

#define PROBES 1000u
#define FILES  "/sys/kernel/tracing/"

/* Lines of a file that contain the text. */
static unsigned count_lines(const char *path, const char *text)
{
	static char line[256];
	unsigned lines = 0, n = 0;
	struct file *f;
	char c;

	if (file_open(path, O_RDONLY, 0, &f))
		return 0;
	while (kernel_read(f, &c, 1) == 1) {
		if (c != '\n' && n < sizeof(line) - 1) {
			line[n++] = c;
			continue;
		}
		line[n] = '\0';
		n = 0;
		lines += strstr(line, text) != NULL;
	}
	file_put(f);
	return lines;
}

static u64 text_sum(void)
{
	u64 sum = 0;

	for (const u8 *p = (const u8 *)__text_start; p < (const u8 *)__text_end; p++)
		sum = sum * 31 + *p;
	return sum;
}

/*
 * At the beginnings of functions, as many as are wanted; those that refuse are passed over. The
 * longest is what counts.
 */
static unsigned define(u64 *longest)
{
	u64 start, size, last = 0;
	unsigned made = 0;
	const char *name;
	char line[96];

	for (unsigned i = 0; made < PROBES && sym_nth(i, &name, &start, &size); i++) {
		if (start == last || arch_probe_refused(start))
			continue;
		last = start;
		fmt_snprintf(line, sizeof(line), "%c:t%u 0x%lx %%di %%si\n", made & 1 ? 'r' : 'p',
		    made, (unsigned long)start);
		u64 before = clock_ns();
		made += !write_text(FILES "kprobe_events", O_APPEND, line);
		*longest = MAX(*longest, clock_ns() - before);
	}
	return made;
}

static void report(const char *what, u64 *since)
{
	u64 now = clock_ns();

	ktap_note("%s: %lu ns each", what, (unsigned long)(now - *since) / PROBES);
	*since = clock_ns();
}

static void a_thousand(void)
{
	u64 text = text_sum(), since = clock_ns(), longest = 0;

	EXPECT_EQ(define(&longest), PROBES);
	report("defined", &since);
	ktap_note("the longest took %lu ns", (unsigned long)longest);
	EXPECT_EQ(count_lines(FILES "kprobe_events", ":kprobes/t"), PROBES);
	since = clock_ns();
	EXPECT_EQ(write_text(FILES "events/kprobes/enable", 0, "1"), 0);
	report("enabled", &since);
	EXPECT(count_lines("/sys/kernel/debug/kprobes/list", "[FTRACE]") > PROBES / 2);
	EXPECT_EQ(count_lines("/sys/kernel/debug/kprobes/list", "[DISABLED]"), 0);
	EXPECT_EQ(run_program("/bin/true", NULL), 0);
	EXPECT(count_lines(FILES "trace", ": t") > 100);
	since = clock_ns();
	EXPECT_EQ(write_text(FILES "events/kprobes/enable", 0, "0"), 0);
	report("disabled", &since);
	EXPECT_EQ(text_sum(), text);
	since = clock_ns();
	EXPECT_EQ(write_text(FILES "kprobe_events", O_TRUNC, "\n"), 0);
	report("deleted", &since);
	EXPECT_EQ(count_lines(FILES "kprobe_events", ""), 0);
	EXPECT_EQ(count_lines("/sys/kernel/debug/kprobes/list", ""), 0);
	EXPECT_EQ(text_sum(), text);
	EXPECT_EQ(write_text(FILES "trace", O_TRUNC, "\n"), 0);
}

/*
 * Twice: what the first time needed for good is there, and the second leaves nothing but the 64
 * places that tracefs keeps (kernel/trace/tracefs.c), each of which can hold a page.
 */
static void thousand_probes(void)
{
	a_thousand();
	u64 before = settled_free_pages();
	a_thousand();
	EXPECT(settled_free_pages() + 64 + 16 >= before);
}

static const struct ktap_case cases[] = {
    {"kprobe.thousand", thousand_probes},
    {NULL, NULL},
};
const struct ktap_suite suite_kprobe_thousand = {cases};
