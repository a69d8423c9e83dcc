/*
 * printk: lines into the log, from there to the console. Any context.
 *
 * Who wants the console and finds it taken leaves the line in the log: the holder looks for such
 * lines after it let go, so none stays behind, and nobody waits with interrupts off or in an NMI.
 * Raw bytes (console_write) do wait for their turn. `console_owner` is held with interrupts off,
 * for one line at a time.
 */
#include "kernel/base/printk.h"

#include "arch/arch.h"
#include "drivers/console.h"
#include "kernel/base/cmdline.h"
#include "kernel/base/events.h"
#include "kernel/base/log_buffer.h"
#include "kernel/base/watchdog.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/string.h"

#define LOG_LINE_MAX  1024
#define PREFIX_MAX    32
#define RAW_CHUNK     512 /* bytes written with interrupts off */
#define LEVEL_DEFAULT 7
#define LEVEL_QUIET   4
#define LEVEL_DEBUG   10
#define LEVEL_MAX     15

static u32 console_owner; /* [A] 0: free, else CPU + 1 */
static u64 console_seq;	  /* [owner] next slot to print */
/*
 * Linux's four levels, under the name that people look at: what the console shows is below the
 * first. The others are kept as Linux has them: of messages without a level, the least and the
 * usual first.
 */
int console_printk[4] = {LEVEL_DEFAULT, 4, 1, LEVEL_DEFAULT};
#define console_level console_printk[0]
static bool panicking; /* from now on nobody is waited for */

/* "[    0.123456] " */
static size_t format_prefix(char *buf, u64 ns)
{
	return scnprintf(buf, PREFIX_MAX, "[%5llu.%06llu] ", (unsigned long long)(ns / 1000000000),
	    (unsigned long long)(ns / 1000 % 1000000));
}

static bool console_try_lock(void)
{
	return panicking || atomic_cas(&console_owner, 0, cpu_id() + 1);
}

static void console_unlock(void)
{
	atomic_store_release(&console_owner, 0);
}

/* To one console, or (NULL) to all. Console held. */
static void console_put(struct console *only, const char *s, size_t n)
{
	watchdog_touch(); /* a slow line is no lockup */
	if (only)
		only->write(only, s, n);
	else
		consoles_write(s, n);
}

/* Prints what is left of the line at *seq, all its parts. False: nothing there. Console held. */
static bool console_print_line(struct console *only, u64 *seq)
{
	struct log_slot s;
	if (!log_read(seq, &s, panicking))
		return false;
	for (;;) {
		++*seq;
		if (s.level < console_level) {
			char prefix[PREFIX_MAX];
			if (s.part == 0)
				console_put(only, prefix, format_prefix(prefix, s.ns));
			console_put(only, s.text, s.len);
			if (s.part + 1 == s.parts)
				console_put(only, "\r\n", 2);
		}
		if (s.part + 1 >= s.parts || !log_read(seq, &s, panicking))
			return true;
	}
}

/* Prints all lines that wait, unless somebody else is at it: then he will. */
static void console_flush(void)
{
	do {
		u64 flags = irq_save();
		bool mine = console_try_lock();
		bool printed = mine && console_print_line(NULL, &console_seq);
		if (mine)
			console_unlock();
		irq_restore(flags);
		if (!printed)
			return;
	} while (log_has(atomic_load_relaxed(&console_seq)));
}

/* Waits for the console; false: this CPU holds it already (an NMI or a fault came in between) or
 * nobody is waited for. */
static bool console_lock(void)
{
	while (!console_try_lock()) {
		if (atomic_load_relaxed(&console_owner) == cpu_id() + 1)
			return false;
		cpu_relax();
	}
	return !panicking;
}

/* How much to write in one go: up to the last newline if there is one, so that other lines come
 * between lines. */
static size_t raw_chunk(const char *s, size_t n)
{
	if (n <= RAW_CHUNK)
		return n;
	for (size_t i = RAW_CHUNK; i > 0; i--)
		if (s[i - 1] == '\n')
			return i;
	return RAW_CHUNK;
}

void console_write_to(struct console *only, const char *s, size_t n)
{
	while (n) {
		size_t chunk = raw_chunk(s, n);
		u64 flags = irq_save();
		bool locked = console_lock();
		console_put(only, s, chunk);
		if (locked)
			console_unlock();
		irq_restore(flags);
		s += chunk;
		n -= chunk;
	}
	if (log_has(atomic_load_relaxed(&console_seq)))
		console_flush();
}

void console_write(const char *s, size_t n)
{
	console_write_to(NULL, s, n);
}

void console_add(struct console *c)
{
	u64 flags = irq_save(), seq = 0;
	bool locked = console_lock();

	while (seq < console_seq && console_print_line(c, &seq))
		;
	consoles_add(c);
	if (locked)
		console_unlock();
	irq_restore(flags);
}

/* One log line for each line of the text. */
static void log_text(int level, const char *text, size_t n)
{
	u64 now = clock_ns();
	do {
		const char *nl = memchr(text, '\n', n);
		size_t len = nl ? (size_t)(nl - text) : n;
		log_append(level, now, text, len);
		if (nl)
			len++;
		text += len;
		n -= len;
	} while (n);
}

void printk(int level, const char *fmt, ...)
{
	char line[LOG_LINE_MAX];
	va_list ap;
	va_start(ap, fmt);
	int len = fmt_vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	size_t n = MIN((size_t)MAX(len, 0), sizeof(line) - 1);
	while (n && line[n - 1] == '\n')
		n--;
	log_text(level, line, n);
	trace_console(line, n);
	console_flush();
}

size_t printk_read(u64 *pos, char *buf, size_t n)
{
	size_t done = 0;
	while (done < n) {
		struct log_slot s;
		u64 seq = *pos >> 8, wanted = seq;
		unsigned from = *pos & 0xff;
		if (!log_read(&seq, &s, panicking))
			break;
		if (seq != wanted)
			from = 0;
		char text[PREFIX_MAX + LOG_SLOT_TEXT + 1];
		size_t len = s.part == 0 ? format_prefix(text, s.ns) : 0;
		memcpy(text + len, s.text, s.len);
		len += s.len;
		if (s.part + 1 == s.parts)
			text[len++] = '\n';
		size_t some = MIN(n - done, len - MIN((size_t)from, len));
		memcpy(buf + done, text + from, some);
		done += some;
		*pos = from + some >= len ? (seq + 1) << 8 : seq << 8 | (from + some);
	}
	return done;
}

void printk_set_level(int level)
{
	console_level = MAX(0, MIN(level, LEVEL_MAX));
}

int printk_level(void)
{
	return console_level;
}

void printk_panic_mode(void)
{
	panicking = true;
	printk_set_level(LEVEL_MAX);
	console_flush();
}

void printk_init(void)
{
	int level = LEVEL_DEFAULT;
	if (cmdline_flag("quiet"))
		level = LEVEL_QUIET;
	if (cmdline_flag("debug"))
		level = LEVEL_DEBUG;
	printk_set_level(cmdline_u64("loglevel", level));
}
