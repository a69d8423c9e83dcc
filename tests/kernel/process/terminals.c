/*
 * Terminals and job control: two terminals that are joined by a wire, and a program that has both
 * ends, tests/programs/terminal.c. It says what each case shows.
 */
#include "drivers/console.h"
#include "kernel/console/tty.h"
#include "kernel/fs/file.h"
#include "kernel/lib/ktap.h"
#include "tests/kernel/objects.h"
#include "tests/kernel/process/run_program.h"
#include "tests/kernel/threads.h"

#define TTY_CAN_WRITE 4u /* of file_poll() */

static void send_over(struct console *port, const char *s, size_t n);

static void all_is_out(struct console *port)
{
	(void)port;
}

static struct console ports[2] = {
    {"ttyT0", send_over, all_is_out, NULL}, {"ttyT1", send_over, all_is_out, NULL}};
static struct tty *terminals[2];

/* A wire: bytes written at one end come in at the other. */
static void send_over(struct console *port, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		tty_receive(terminals[port == &ports[0]], s[i]);
}

static void run(const char *name)
{
	for (unsigned i = 0; i < 2 && !terminals[i]; i++) {
		terminals[i] = tty_create(&ports[i]);
		EXPECT_EQ(tty_register(terminals[i], ports[i].name, NULL), 0);
	}
	EXPECT_EQ(run_program("/test/terminal", name), 0);
}

#define TERMINAL_CASES(X)                                                                          \
	X(taken)                                                                                   \
	X(stolen)                                                                                  \
	X(given_up)                                                                                \
	X(background_read)                                                                         \
	X(background_read_refused)                                                                 \
	X(background_write)                                                                        \
	X(background_change)                                                                       \
	X(foreground)                                                                              \
	X(foreground_gone)                                                                         \
	X(background_orphan)                                                                       \
	X(signal_characters)                                                                       \
	X(size)                                                                                    \
	X(leader_ends)                                                                             \
	X(lines)                                                                                   \
	X(bytes)                                                                                   \
	X(bytes_interrupted)                                                                       \
	X(flushed)                                                                                 \
	X(mode_wakes)                                                                              \
	X(held)                                                                                    \
	X(held_wakes)                                                                              \
	X(writes_in_part)                                                                          \
	X(writers)

#define TERMINAL_FUNCTION(name)                                                                    \
	static void name(void)                                                                     \
	{                                                                                          \
		run(#name);                                                                        \
	}
TERMINAL_CASES(TERMINAL_FUNCTION)

/*
 * Who is given a terminal anew finds it as it was at first: of no size that anybody knows, and
 * its output goes on.
 */
static void taken_anew(void)
{
	struct file *f;

	run("left");
	EXPECT_EQ(file_open("/dev/ttyT0", O_RDWR | O_NOCTTY, 0, &f), 0);
	EXPECT(!(file_poll(f) & TTY_CAN_WRITE));
	tty_take(f, false); /* this task leads no session, but the terminal is reset */
	EXPECT(file_poll(f) & TTY_CAN_WRITE);
	file_put(f);
	run("size_unknown");
}

/* Files that are opened on a terminal and closed leave no object behind. */
static void nothing_is_left(void)
{
	u64 before;

	run("lines");
	settled_free_pages();
	before = objects_in_use();
	run("lines");
	settled_free_pages();
	EXPECT_EQ(objects_in_use(), before);
}

#define TERMINAL_ROW(name) {"terminal." #name, name},
static const struct ktap_case cases[] = {
    TERMINAL_CASES(TERMINAL_ROW){"terminal.taken_anew", taken_anew},
    {"terminal.nothing_is_left", nothing_is_left}, {NULL, NULL}};
const struct ktap_suite suite_terminals = {cases};
