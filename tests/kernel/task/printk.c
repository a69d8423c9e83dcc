/*
 * The kernel log: lines come out as they went in, in order, whatever their length. Lines go to the
 * console too, as "# " would not.
 */
#include "arch/arch.h"
#include "drivers/console.h"
#include "kernel/base/log_buffer.h"
#include "kernel/base/printk.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/task.h"
#include "tests/kernel/arch/stepper.h"
#include "tests/kernel/threads.h"

static u64 mark;
static char got[4096];

/* Moves `mark` to the end of the log. */
static void to_end(void)
{
	while (printk_read(&mark, got, sizeof(got)))
		;
}

/* What was logged since, with the times cut off: of each line the part after "] ". */
static const char *since(void)
{
	static char text[4096];
	size_t n = printk_read(&mark, got, sizeof(got) - 1), len = 0;
	got[n] = 0;
	for (char *line = got; *line;) {
		char *end = strchr(line, '\n');
		char *from = strchr(line, ']');
		if (!end || !from)
			break;
		memcpy(text + len, from + 2, end + 1 - (from + 2));
		len += end + 1 - (from + 2);
		line = end + 1;
	}
	text[len] = 0;
	return text;
}

/* Debug level: kept in the log, not shown on the console. */
#define LOG(...) printk(LOG_DEBUG, __VA_ARGS__)

static void lines(void)
{
	to_end();
	LOG("one %d", 1);
	LOG("two\n");
	LOG("three\nfour");
	LOG("%s", "");
	EXPECT_STR(since(), "one 1\ntwo\nthree\nfour\n\n");
	EXPECT_STR(since(), "");
}

static void long_line(void)
{
	static char text[LOG_SLOT_TEXT * 3];
	for (size_t n = LOG_SLOT_TEXT - 1; n < sizeof(text) - 1; n += 53) {
		memset(text, 'a' + n % 26, n);
		text[n] = 0;
		to_end();
		LOG("%s", text);
		const char *back = since();
		EXPECT_EQ(strlen(back), n + 1);
		EXPECT_EQ(memcmp(back, text, n), 0);
	}
}

/* A reader with a small buffer gets the same bytes as one with a big one. */
static void small_reads(void)
{
	char small[256];
	size_t n = 0, some;
	to_end();
	u64 pos = mark;
	LOG("a line that is read in pieces");
	LOG("%0200d", 7);
	while ((some = printk_read(&pos, small + n % 200, 7)))
		n += some;
	size_t whole = printk_read(&mark, got, sizeof(got));
	EXPECT_EQ(n, whole);
	EXPECT_EQ(pos, mark);
}

static void overwritten(void)
{
	to_end();
	u64 old = mark;
	for (unsigned i = 0; i < LOG_SLOTS + 10; i++)
		LOG("line %u", i);
	EXPECT(printk_read(&old, got, 40) > 0);
	got[40] = 0;
	EXPECT(strstr(got, "] line 10\n") != NULL); /* the first ten are gone */
	to_end();
	EXPECT_STR(since(), "");
}

/* A reader in the middle of a line that is lost goes on at the beginning of another. */
static void lost_within_a_line(void)
{
	char piece[24];

	to_end();
	LOG("%060d", 7);
	EXPECT_EQ(printk_read(&mark, piece, sizeof(piece)), sizeof(piece));
	for (unsigned i = 0; i < LOG_SLOTS; i++)
		LOG("%060u", i);
	EXPECT_EQ(printk_read(&mark, piece, sizeof(piece)), sizeof(piece));
	EXPECT_EQ(piece[0], '[');
	to_end();
}

/* ---- readers and writers interrupted at each instruction ---- */

static u32 appended;

/* A line of one letter, the next one each time. */
static void append_letters(void *unused)
{
	char text[LOG_SLOT_TEXT];

	(void)unused;
	memset(text, 'a' + appended++ % 26, sizeof(text));
	log_append(LOG_DEBUG, 0, text, sizeof(text));
}

/* The oldest slot, which the next line takes. */
static void read_oldest(void *slot)
{
	struct log_slot *s = slot;
	u64 seq = 0;

	EXPECT(log_read(&seq, s, false));
	EXPECT_EQ(s->number, seq + 1);
	EXPECT_EQ(s->len, sizeof(s->text));
	for (unsigned i = 1; i < s->len; i++)
		EXPECT_EQ(s->text[i], s->text[0]);
}

/* A reader that a writer overtakes gets a whole line, of before or of after. */
static void overtaken(void)
{
	struct log_slot slot;
	bool reached = true;

	for (unsigned i = 0; i < LOG_SLOTS; i++)
		append_letters(NULL);
	stepper_begin();
	for (u64 at = 0; reached; at++) {
		u64 flags = irq_save();

		reached = stepper_run(read_oldest, &slot, at, append_letters, NULL);
		irq_restore(flags);
	}
	stepper_end();
}

static u64 log_end;

/* Reads up to the first line that is not whole: false, or with `skip` up to the line of '!'. */
static bool finds_nested(bool skip)
{
	struct log_slot slot;

	for (u64 seq = log_end; log_read(&seq, &slot, skip); seq++)
		if (slot.text[0] == '!')
			return true;
	return false;
}

/* An interrupt in the middle of a writer: its line is found if unfinished ones are passed over. */
static void nested_line(void *unused)
{
	(void)unused;
	log_append(LOG_DEBUG, 0, "!", 1);
	EXPECT(finds_nested(true));
	finds_nested(false);
}

static void unfinished(void)
{
	struct log_slot slot;
	bool reached = true;

	stepper_begin();
	for (u64 at = 0; reached; at++) {
		u64 flags = irq_save();

		for (log_end = 0; log_read(&log_end, &slot, true); log_end++)
			;
		reached = stepper_run(append_letters, NULL, at, nested_line, NULL);
		if (reached)
			EXPECT(finds_nested(false)); /* both are whole now */
		irq_restore(flags);
	}
	stepper_end();
	to_end();
}

/* ---- consoles ---- */

static char shown[4096];
static size_t shown_bytes;

static void show(struct console *c, const char *s, size_t n)
{
	(void)c;
	n = MIN(n, sizeof(shown) - 1 - shown_bytes);
	memcpy(shown + shown_bytes, s, n);
	shown_bytes += n;
	shown[shown_bytes] = '\0';
}

static void show_nothing(struct console *c, const char *s, size_t n)
{
	(void)c, (void)s, (void)n;
}

static void forget_shown(void)
{
	shown_bytes = 0;
	shown[0] = '\0';
}

/* A console gets what was logged before, then lines of a level below the console's alone. */
static void levels(void)
{
	static struct console console;
	int before = printk_level();

	console.write = show;
	for (unsigned i = 0; i < LOG_SLOTS; i++)
		LOG("filler");
	printk(LOG_WARNING, "test: before the console came");
	console_add(&console);
	EXPECT(strstr(shown, "] test: before the console came\r\n"));
	printk_set_level(LOG_WARNING);
	forget_shown();
	printk(LOG_WARNING, "test: the console's level");
	EXPECT_STR(shown, "");
	printk(LOG_WARNING - 1, "test: below it");
	EXPECT(strstr(shown, "] test: below it\r\n"));
	printk_set_level(-1);
	EXPECT_EQ(printk_level(), 0);
	printk_set_level(16);
	EXPECT_EQ(printk_level(), 15);
	printk_set_level(before);
	console.write = show_nothing; /* it stays in the list */
}

static bool log_in_nmi(struct regs *r)
{
	(void)r;
	LOG("from an NMI");
	return true;
}

/* An NMI finds the log in whatever state: its line is there, and nothing waits. */
static void nmi(void)
{
	to_end();
	EXPECT_EQ(nmi_handler_add(log_in_nmi), 0);
	preempt_disable();
	const u64 *n = &irq_counts(cpu_id())->n[IRQ_COUNT_NMI];
	for (unsigned i = 0; i < 3; i++) {
		u64 before = READ_ONCE(*n), end = clock_ns() + 5000000000UL;
		nmi_send(cpu_id());
		while (READ_ONCE(*n) == before && clock_ns() < end)
			cpu_relax();
	}
	preempt_enable();
	nmi_handler_remove(log_in_nmi);
	EXPECT_STR(since(), "from an NMI\nfrom an NMI\nfrom an NMI\n");
}

#define WRITERS 4
#define LINES	50

static void writer(void *name)
{
	for (unsigned i = 0; i < LINES; i++) {
		LOG("writer %c line %u", *(const char *)name, i);
		cpu_relax();
	}
}

/* All lines of all writers, each whole, each writer's in its order. */
static void writers(void)
{
	static const char names[WRITERS] = "abcd";
	unsigned next[WRITERS] = {0};
	struct threads t = {0};
	to_end();
	for (unsigned i = 0; i < WRITERS; i++)
		thread_start(&t, writer, (void *)&names[i], i % cpu_count());
	threads_join(&t);
	for (unsigned lines = 0; lines < WRITERS * LINES; lines++) {
		char line[80], want[80];
		size_t n = 0;
		while (n < sizeof(line) - 1 && printk_read(&mark, line + n, 1) && line[n] != '\n')
			n++;
		line[n] = 0;
		char *text = strchr(line, ']');
		unsigned who = text && strlen(text) > 9 ? (unsigned)(text[9] - 'a') : WRITERS;
		if (who >= WRITERS) {
			ktap_fail(__FILE__, __LINE__, "torn line: %s", line);
			break;
		}
		fmt_snprintf(want, sizeof(want), "] writer %c line %u", names[who], next[who]++);
		EXPECT_STR(text, want);
	}
	EXPECT_STR(since(), "");
}

static const struct ktap_case cases[] = {
    {"printk.lines", lines},
    {"printk.long_line", long_line},
    {"printk.small_reads", small_reads},
    {"printk.overwritten", overwritten},
    {"printk.lost_within_a_line", lost_within_a_line},
    {"printk.overtaken", overtaken},
    {"printk.unfinished", unfinished},
    {"printk.levels", levels},
    {"printk.nmi", nmi},
    {"printk.writers", writers},
    {NULL, NULL},
};
extern const struct ktap_suite suite_printk;
const struct ktap_suite suite_printk = {cases};
