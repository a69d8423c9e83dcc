/*
 * Terminals and job control: one process has both ends of a wire between two terminals, the first
 * of which controls its session. terminal CASE runs one case; tests/kernel/process/terminals.c has
 * the names, and the wire.
 */
#include "tests/programs/raw.h"

enum { IO = -5, NXIO = -6 };
enum { WRONLY = 1, RDWR = 2, NOCTTY = 0400, NONBLOCK = 04000 };
enum { L_TTIN = 21, L_TTOU = 22, L_WINCH = 28, L_IGN = 1, UNTRACED = 2 };
enum {
	GET_MODE = 0x5401,
	SET_MODE,
	SET_MODE_AND_WAIT,
	SET_MODE_AND_FLUSH,
	BREAK = 0x5409,
	FLOW,
	FLUSH,
	TAKE = 0x540e,
	GET_FRONT,
	SET_FRONT,
	WAITING,
	GET_SIZE = 0x5413,
	SET_SIZE,
	AVAILABLE = 0x541b,
	GIVE_UP = 0x5422,
	LONG_BREAK = 0x5425,
	GET_SESSION = 0x5429,
};
enum { ISIG = 1, ICANON = 2, ECHO = 8, TOSTOP = 0x100 };
enum { VTIME = 5, VMIN = 6 };
enum { CHANGES = 7 };

static int term, line; /* the terminal of the session, and the wire's other end */

/* Notes that the processes of one case leave for each other. */
static struct notes {
	volatile int hung_up, continued, resized, interrupted;
	volatile long results[8];
	volatile int ready; /* how many processes of the case have prepared what it is about */
} * notes;

static void is_ready(struct notes *n)
{
	__atomic_add_fetch(&n->ready, 1, __ATOMIC_SEQ_CST);
}

static void on_signal(int sig)
{
	volatile int *n = sig == L_HUP	   ? &notes->hung_up
			  : sig == L_CONT  ? &notes->continued
			  : sig == L_WINCH ? &notes->resized
					   : &notes->interrupted;

	++*n;
}

static void note(int sig)
{
	set_handler(sig, on_signal, 0);
}

static long open_terminal(const char *name, int flags)
{
	return syscall3(SYS_open, (long)name, flags, 0);
}

static long control(int fd, long cmd, long arg)
{
	return syscall3(SYS_ioctl, fd, cmd, arg);
}

struct mode {
	uint32_t iflag, oflag, cflag, lflag;
	uint8_t line, cc[19];
};

/* Lines, signal characters and Ctrl-S; `lflag` beside them. */
static struct mode cooked(unsigned lflag)
{
	return (struct mode){
	    0x500, 0, 0xbf, ISIG | ICANON | lflag, 0, {3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26}};
}

static long set_lflag(unsigned lflag)
{
	struct mode m = cooked(lflag);

	return control(term, SET_MODE, (long)&m);
}

static void type(const char *text)
{
	CHECK_EQ(syscall3(SYS_write, line, (long)text, strlen(text)), strlen(text));
}

static long read_term(void)
{
	char text[10];

	return syscall3(SYS_read, term, (long)text, sizeof(text));
}

static long write_term(void)
{
	return syscall3(SYS_write, term, (long)"out", 3);
}

/* This came out at the other end. */
static void shown(const char *text)
{
	char got[100];
	long n = syscall3(SYS_read, line, (long)got, sizeof(got) - 1);

	got[n > 0 ? n : 0] = 0;
	CHECK(!strcmp(got, text));
}

static long front(void)
{
	int pgid = -1;
	long e = control(term, GET_FRONT, (long)&pgid);

	return e ? e : pgid;
}

static long put_in_front(int pgid)
{
	return control(term, SET_FRONT, (long)&pgid);
}

static long own_pid(void)
{
	return syscall0(SYS_getpid);
}

static void send(long pid, int sig)
{
	CHECK_EQ(syscall2(SYS_kill, pid, sig), 0);
}

/* A child that runs fn and exits with 0, or 99 after a check that failed. */
static long begin(void (*fn)(void))
{
	long pid;

	fflush(stdout);
	pid = syscall0(SYS_fork);
	if (pid)
		return pid;
	fn();
	fflush(stdout);
	exit_now(check_failures ? 99 : 0);
	return 0;
}

/* The same, in the group `pgid`, or (0) in its own. */
static long begin_in(long pgid, void (*fn)(void))
{
	static volatile int *placed;
	long pid;

	if (!placed)
		placed = (void *)map_pages(0, 1, P_READ | P_WRITE, M_SHARED);
	*placed = 0;
	fflush(stdout);
	pid = syscall0(SYS_fork);
	if (pid) {
		CHECK_EQ(syscall2(SYS_setpgid, pid, pgid ? pgid : pid), 0);
		*placed = 1;
		return pid;
	}
	while (!*placed)
		syscall0(SYS_sched_yield);
	fn();
	fflush(stdout);
	exit_now(check_failures ? 99 : 0);
	return 0;
}

/* The signal that stops the child, or minus its wait status. */
static long stopped_by(long pid)
{
	int status = 0;

	CHECK_EQ(syscall4(SYS_wait4, pid, (long)&status, UNTRACED, 0), pid);
	return (status & 0xff) == 0x7f ? status >> 8 : -status;
}

static void end(long pid)
{
	send(pid, L_KILL);
	CHECK_EQ(wait_for(pid), L_KILL);
}

static void wait_for_signals(void)
{
	for (;;)
		syscall0(SYS_pause);
}

/* ---- who gets a terminal ---- */

static void terminal_of_none(void)
{
	int n;

	CHECK_EQ(open_terminal("/dev/tty", RDWR), NXIO);
	CHECK_EQ(front(), NOTTY);
	CHECK_EQ(control(term, GET_SESSION, (long)&n), NOTTY);
	CHECK_EQ(put_in_front(own_pid()), NOTTY);
	CHECK_EQ(control(term, GIVE_UP, 0), NOTTY);
}

/* Another session: the terminal is taken already. */
static void other_session(void)
{
	syscall0(SYS_setsid);
	CHECK(open_terminal("/dev/ttyT0", RDWR) > 0);
	terminal_of_none();
	CHECK_EQ(control(term, TAKE, 0), PERM);
	/* A file that cannot be read takes no terminal, nor one that is opened with O_NOCTTY. */
	open_terminal("/dev/ttyT1", WRONLY);
	terminal_of_none();
	open_terminal("/dev/ttyT1", RDWR | NOCTTY);
	terminal_of_none();
	CHECK_EQ(syscall1(SYS_getsid, 0), own_pid());
}

static void member_of_session(void)
{
	int sid = 0;

	CHECK(open_terminal("/dev/tty", RDWR) > 0);
	CHECK_EQ(control(term, GET_SESSION, (long)&sid), 0);
	CHECK_EQ(sid, syscall0(SYS_getppid));
	CHECK_EQ(control(term, TAKE, 0), PERM);
	CHECK_EQ(front(), sid);
}

/* The first terminal that a leader opens controls its session, and no other session. */
static void taken(void)
{
	CHECK_EQ(control(term, TAKE, 0), 0);
	CHECK_EQ(control(line, TAKE, 0), PERM); /* it has one */
	CHECK_EQ(in_child(member_of_session), 0);
	CHECK_EQ(in_child(other_session), 0);
	CHECK_EQ(front(), own_pid());
}

static void steal(void)
{
	int sid = 0;

	syscall0(SYS_setsid);
	CHECK_EQ(control(term, TAKE, 0), PERM);
	CHECK_EQ(control(term, TAKE, 2), PERM);
	CHECK_EQ(control(term, TAKE, 1), 0);
	CHECK_EQ(control(term, GET_SESSION, (long)&sid), 0);
	CHECK_EQ(sid, own_pid());
	CHECK_EQ(front(), own_pid());
	notes->results[1] = check_failures;
	notes->results[0] = 1;
	wait_for_signals();
}

/* A leader takes another session's terminal, which has none then. */
static void stolen(void)
{
	long pid = begin(steal);

	note(L_HUP);
	note(L_CONT);
	while (!notes->results[0])
		syscall0(SYS_sched_yield);
	CHECK_EQ(notes->results[1], 0);
	terminal_of_none();
	CHECK_EQ(notes->hung_up + notes->continued, 0); /* as on Linux */
	end(pid);
}

static void without_terminal(void)
{
	terminal_of_none();
	syscall0(SYS_setsid);
	CHECK(open_terminal("/dev/ttyT1", RDWR) > 0);
	CHECK(open_terminal("/dev/tty", RDWR) > 0);
}

static void no_leader(void)
{
	CHECK(open_terminal("/dev/ttyT0", RDWR) > 0);
	terminal_of_none();
	CHECK_EQ(control(term, TAKE, 0), PERM);
}

static void give_up(void)
{
	CHECK_EQ(control(line, GIVE_UP, 0), NOTTY);
	CHECK_EQ(control(term, GIVE_UP, 0), 0);
	CHECK_EQ(control(term, GIVE_UP, 0), NOTTY);
	CHECK_EQ(in_child(without_terminal), 0);
	terminal_of_none();
}

static void hear_of_it(void)
{
	note(L_HUP);
	note(L_CONT);
	notes->results[0] = 1;
	while (!notes->hung_up || !notes->continued)
		syscall0(SYS_pause);
	terminal_of_none();
	CHECK_EQ(write_term(), 3); /* the terminal itself is not hung up */
}

/*
 * A process that gives its terminal up has none, nor have its children until they lead a session. A
 * leader takes it from all, and tells those in the foreground.
 */
static void given_up(void)
{
	long pid;

	CHECK_EQ(in_child(give_up), 0);
	CHECK_EQ(front(), own_pid());
	set_handler(L_HUP, (void *)L_IGN, 0);
	pid = begin(hear_of_it);
	while (!notes->results[0])
		syscall0(SYS_sched_yield);
	CHECK_EQ(control(term, GIVE_UP, 0), 0);
	CHECK_EQ(wait_for(pid), 0);
	terminal_of_none();
	line = open_terminal("/dev/ttyT1", RDWR | NOCTTY | NONBLOCK); /* it was hung up */
	type("\003"); /* this group is in the foreground no more */
	CHECK_EQ(in_child(no_leader), 0);
	CHECK(open_terminal("/dev/ttyT0", RDWR) > 0);
	CHECK_EQ(front(), own_pid());
}

/* ---- the background ---- */

static void read_a_line(void)
{
	CHECK_EQ(read_term(), 3);
}

/* A read in the background stops the whole group; in the foreground it is done again. */
static void background_read(void)
{
	long group = begin_in(0, wait_for_signals), reader = begin_in(group, read_a_line);

	CHECK_EQ(stopped_by(reader), L_TTIN);
	CHECK_EQ(stopped_by(group), L_TTIN);
	type("ab\n");
	send(-group, L_CONT);
	CHECK_EQ(stopped_by(reader), L_TTIN);
	CHECK_EQ(put_in_front(group), 0);
	CHECK_EQ(front(), group);
	send(-group, L_CONT);
	CHECK_EQ(wait_for(reader), 0);
	end(group);
}

static void read_refused(void)
{
	long mask = 1L << (L_TTIN - 1);

	set_handler(L_TTIN, on_signal, 0);
	CHECK_EQ(read_term(), INTR);
	CHECK_EQ(syscall3(SYS_read, term, 0, 0), INTR);
	CHECK_EQ(notes->interrupted, 2);
	syscall4(SYS_rt_sigprocmask, ABI_SIG_BLOCK, (long)&mask, 0, 8);
	CHECK_EQ(read_term(), IO);
	syscall4(SYS_rt_sigprocmask, ABI_SIG_UNBLOCK, (long)&mask, 0, 8);
	set_handler(L_TTIN, (void *)L_IGN, 0);
	CHECK_EQ(read_term(), IO);
	CHECK_EQ(notes->interrupted, 2);
}

/* A read in the background whose signal would stop nobody fails. */
static void background_read_refused(void)
{
	type("ab\n");
	CHECK_EQ(wait_for(begin_in(0, read_refused)), 0);
	CHECK_EQ(read_term(), 3);
}

static void write_once(void)
{
	CHECK_EQ(write_term(), 3);
}

static void write_unstopped(void)
{
	set_handler(L_TTOU, (void *)L_IGN, 0);
	CHECK_EQ(write_term(), 3);
}

/* A write in the background stops the group if the mode is set so and the signal has an effect. */
static void background_write(void)
{
	long pid;

	CHECK_EQ(wait_for(begin_in(0, write_once)), 0);
	shown("out");
	CHECK_EQ(set_lflag(TOSTOP), 0);
	pid = begin_in(0, write_once);
	CHECK_EQ(stopped_by(pid), L_TTOU);
	shown("");
	CHECK_EQ(wait_for(begin_in(0, write_unstopped)), 0);
	shown("out");
	CHECK_EQ(put_in_front(pid), 0);
	send(pid, L_CONT);
	CHECK_EQ(wait_for(pid), 0);
	shown("out");
}

/* Those of `changes` and putting a group in front. */
static void change(int which)
{
	struct mode m = cooked(0);
	const long changes[][2] = {{SET_MODE, (long)&m}, {SET_MODE_AND_WAIT, (long)&m},
	    {SET_MODE_AND_FLUSH, (long)&m}, {BREAK, 0}, {LONG_BREAK, 0}, {FLOW, 1}, {FLUSH, 0}};

	if (which < CHANGES)
		CHECK_EQ(control(term, changes[which][0], changes[which][1]), 0);
	else
		CHECK_EQ(put_in_front(own_pid()), 0);
}

static int chosen;

static void change_chosen(void)
{
	change(chosen);
}

static void change_nothing(void)
{
	struct mode m;
	int size[2];

	CHECK_EQ(control(term, GET_MODE, (long)&m), 0);
	CHECK_EQ(control(term, GET_SIZE, (long)size), 0);
	CHECK_EQ(control(term, SET_SIZE, (long)size), 0);
	CHECK_EQ(control(term, AVAILABLE, (long)size), 0);
	CHECK_EQ(front(), syscall0(SYS_getppid));
}

static void change_unstopped(void)
{
	set_handler(L_TTOU, (void *)L_IGN, 0);
	for (int i = 0; i <= CHANGES; i++)
		change(i);
	CHECK_EQ(front(), own_pid());
}

/* Each request that changes the terminal stops a background group first, and no other request. */
static void background_change(void)
{
	for (chosen = 0; chosen <= CHANGES; chosen++) {
		long pid = begin_in(0, change_chosen);

		CHECK_EQ(stopped_by(pid), L_TTOU);
		CHECK_EQ(front(), own_pid());
		end(pid);
	}
	CHECK_EQ(wait_for(begin_in(0, change_nothing)), 0);
	CHECK_EQ(wait_for(begin_in(0, change_unstopped)), 0);
}

/* ---- the foreground ---- */

static void lead_other_session(void)
{
	syscall0(SYS_setsid);
	notes->results[0] = own_pid();
	wait_for_signals();
}

/* Only a group of the session comes to the front, and only its processes put it there. */
static void foreground(void)
{
	long member = begin_in(0, wait_for_signals), other = begin(lead_other_session);
	int sid = 0;

	while (!notes->results[0])
		syscall0(SYS_sched_yield);
	CHECK_EQ(put_in_front(other), PERM);
	CHECK_EQ(put_in_front(other + 1000), NOSRCH);
	CHECK_EQ(put_in_front(0), NOSRCH);
	CHECK_EQ(put_in_front(-1), INVAL);
	CHECK_EQ(control(term, SET_FRONT, 8), FAULT);
	CHECK_EQ(control(line, SET_FRONT, (long)&other), NOTTY);
	CHECK_EQ(front(), own_pid());
	CHECK_EQ(put_in_front(member), 0);
	CHECK_EQ(front(), member);
	CHECK_EQ(control(term, GET_SESSION, (long)&sid), 0);
	CHECK_EQ(sid, own_pid());
	end(member);
	end(other);
}

/*
 * A leader's group has nobody outside who could continue it: in the background its calls fail at
 * once.
 */
static void foreground_gone(void)
{
	long member = begin_in(0, wait_for_signals), own = begin(wait_for_signals);

	CHECK_EQ(put_in_front(own), 0); /* Linux takes a process for a group, too */
	CHECK_EQ(front(), own);
	CHECK_EQ(put_in_front(member), NOTTY);
	set_handler(L_TTOU, (void *)L_IGN, 0);
	CHECK_EQ(put_in_front(member), 0);
	set_handler(L_TTOU, NULL, 0);
	end(member);
	type("ab\n");
	CHECK_EQ(front(), member);
	CHECK_EQ(read_term(), IO);
	CHECK_EQ(write_term(), 3);
	CHECK_EQ(set_lflag(TOSTOP), IO);
	CHECK_EQ(put_in_front(own_pid()), NOTTY);
	set_handler(L_TTOU, (void *)L_IGN, 0);
	CHECK_EQ(put_in_front(member), NOSRCH);
	CHECK_EQ(set_lflag(TOSTOP), 0);
	set_handler(L_TTOU, NULL, 0);
	CHECK_EQ(write_term(), IO);
	set_handler(L_TTOU, (void *)L_IGN, 0);
	CHECK_EQ(put_in_front(own_pid()), 0);
	CHECK_EQ(read_term(), 3);
	end(own);
}

static void use_as_orphan(void)
{
	while (syscall0(SYS_getppid) == notes->results[0])
		syscall0(SYS_sched_yield);
	CHECK_EQ(read_term(), IO);
	CHECK_EQ(set_lflag(0), IO);
	CHECK_EQ(write_term(), IO);
	notes->results[2] = check_failures;
	notes->results[1] = 1;
}

static void leave_orphan(void)
{
	notes->results[0] = own_pid();
	begin(use_as_orphan);
}

/*
 * In a group of an orphan and of one that has ended nobody has a parent who could continue it: it
 * is not stopped, either.
 */
static void background_orphan(void)
{
	long pid;

	CHECK_EQ(set_lflag(TOSTOP), 0);
	pid = begin_in(0, leave_orphan);
	while (!notes->results[1])
		syscall0(SYS_sched_yield);
	CHECK_EQ(notes->results[2], 0);
	CHECK_EQ(wait_for(pid), 0);
}

static void count_interrupts(void)
{
	note(L_INT);
	notes->results[0]++;
	wait_for_signals();
}

/* Ctrl-C, Ctrl-\ and Ctrl-Z go to each process of the foreground group, and to no other. */
static void signal_characters(void)
{
	long pid = begin_in(0, wait_for_signals), member = begin_in(pid, wait_for_signals);
	long other = begin_in(0, wait_for_signals), counts = begin_in(other, count_interrupts);

	while (!notes->results[0])
		syscall0(SYS_sched_yield);
	CHECK_EQ(put_in_front(pid), 0);
	type("\032");
	CHECK_EQ(stopped_by(pid), L_TSTP);
	CHECK_EQ(stopped_by(member), L_TSTP);
	send(-pid, L_CONT);
	type("\003");
	CHECK_EQ(wait_for(pid), L_INT);
	CHECK_EQ(wait_for(member), L_INT);
	set_handler(L_TTOU, (void *)L_IGN, 0);
	type("\003"); /* nobody is there */
	CHECK_EQ(notes->interrupted, 0);
	CHECK_EQ(put_in_front(other), 0);
	type("\034");
	CHECK_EQ(wait_for(other) & 0x7f, L_QUIT);
	CHECK_EQ(wait_for(counts) & 0x7f, L_QUIT);
}

/* The foreground group hears of another size, and not of one that is the same. */
static void size(void)
{
	uint16_t size[4] = {24, 80, 640, 480}, got[4];

	note(L_WINCH);
	CHECK_EQ(control(term, SET_SIZE, (long)size), 0);
	CHECK_EQ(notes->resized, 1);
	CHECK_EQ(control(line, SET_SIZE, (long)size), 0);
	CHECK_EQ(control(term, SET_SIZE, (long)size), 0);
	CHECK_EQ(control(term, SET_SIZE, 8), FAULT);
	CHECK_EQ(notes->resized, 1);
	size[3]++;
	CHECK_EQ(control(term, SET_SIZE, (long)size), 0);
	CHECK_EQ(notes->resized, 2);
	CHECK_EQ(control(term, GET_SIZE, (long)got), 0);
	CHECK(!memcmp(got, size, sizeof(size)));
}

/* Leaves the terminal with a size of its own and its output held. */
static void left(void)
{
	uint16_t size[4] = {24, 80, 640, 480};

	CHECK_EQ(control(term, SET_SIZE, (long)size), 0);
	CHECK_EQ(control(term, FLOW, 0), 0);
}

/* The size is not known again. */
static void size_unknown(void)
{
	uint16_t none[4] = {0}, got[4];

	CHECK_EQ(control(term, GET_SIZE, (long)got), 0);
	CHECK(!memcmp(got, none, sizeof(none)));
}

/* ---- the end of a session ---- */

/* A file of a terminal that is hung up reads end of file, and all else fails. */
static void use_after_hangup(void)
{
	struct abi_pollfd p = {term, 1, 0};
	struct mode m = cooked(0);
	int n;

	CHECK_EQ(read_term(), 0);
	CHECK_EQ(write_term(), IO);
	CHECK_EQ(control(term, SET_MODE, (long)&m), IO);
	CHECK_EQ(control(term, GET_SESSION, (long)&n), IO);
	CHECK_EQ(control(term, TAKE, 0), IO);
	CHECK_EQ(syscall3(SYS_poll, (long)&p, 1, 0), 1);
	CHECK_EQ(p.revents, 0x19); /* to be read, an error, hung up */
	CHECK_EQ(open_terminal("/dev/tty", RDWR), NXIO);
}

static void outlive_in_front(void)
{
	long mask = 1L << (L_HUP - 1) | 1L << (L_CONT - 1);

	note(L_HUP);
	note(L_CONT);
	syscall4(SYS_rt_sigprocmask, ABI_SIG_BLOCK, (long)&mask, 0, 8);
	is_ready(notes);
	CHECK_EQ(read_term(), 0); /* nothing is ever typed */
	syscall4(SYS_rt_sigprocmask, ABI_SIG_UNBLOCK, (long)&mask, 0, 8);
	CHECK_EQ(notes->hung_up, 1);
	CHECK_EQ(notes->continued, 1);
	use_after_hangup();
	notes->results[2] = check_failures;
	notes->results[1] = 1;
}

static void outlive_in_background(void)
{
	struct notes *in_front = notes++;

	note(L_HUP);
	note(L_CONT);
	is_ready(in_front);
	while (!in_front->results[1])
		syscall0(SYS_sched_yield);
	CHECK_EQ(notes->hung_up, 0);
	CHECK_EQ(notes->continued, 0);
	use_after_hangup();
	notes->results[2] = check_failures;
	notes->results[1] = 1;
}

static void write_until_hangup(void)
{
	set_handler(L_HUP, (void *)L_IGN, 0);
	is_ready(notes);
	CHECK_EQ(write_term(), IO);
	use_after_hangup();
	notes->results[4] = check_failures;
	notes->results[3] = 1;
}

static void lead_and_end(void)
{
	syscall0(SYS_setsid);
	term = open_terminal("/dev/ttyT0", RDWR);
	CHECK_EQ(control(term, FLOW, 0), 0);
	begin(write_until_hangup);
	begin_in(0, outlive_in_background);
	begin_in(own_pid(), outlive_in_front);
	while (notes->ready < 3)
		syscall0(SYS_sched_yield);
	sleep_ms(10); /* now those in front wait, for input and to write */
}

/* A leader ends: its terminal is hung up, the foreground hears of it, and others may have it. */
static void leader_ends(void)
{
	set_handler(L_HUP, (void *)L_IGN, 0);
	CHECK_EQ(control(term, GIVE_UP, 0), 0);
	CHECK_EQ(in_child(lead_and_end), 0);
	while (!notes->results[1] || !notes[1].results[1] || !notes->results[3])
		syscall0(SYS_sched_yield);
	CHECK_EQ(notes->results[2] + notes[1].results[2] + notes->results[4], 0);
	CHECK_EQ(read_term(), 0); /* this file was open on it, too */
	term = open_terminal("/dev/ttyT0", RDWR);
	CHECK_EQ(front(), own_pid());
}

/* ---- input ---- */

static long available_on(int fd)
{
	int n = -1;

	CHECK_EQ(control(fd, AVAILABLE, (long)&n), 0);
	return n;
}

static long available(void)
{
	return available_on(term);
}

static int polled(void)
{
	struct abi_pollfd p = {term, ABI_POLLIN | ABI_POLLOUT, 0};

	syscall3(SYS_poll, (long)&p, 1, 0);
	return p.revents;
}

static void set_mode(unsigned lflag, unsigned min, unsigned time)
{
	struct mode m = cooked(0);

	m.lflag = lflag;
	m.cc[VMIN] = min;
	m.cc[VTIME] = time;
	CHECK_EQ(control(term, SET_MODE, (long)&m), 0);
}

/* A read gets what it asks for of a finished line, and the rest next time. */
static void lines(void)
{
	char text[10];

	term = open_terminal("/dev/tty", RDWR | NONBLOCK);
	set_mode(ICANON, 0, 0); /* VMIN and VTIME do not count */
	CHECK_EQ(syscall3(SYS_read, term, (long)text, 0), 0);
	type("abcdef");
	CHECK_EQ(polled(), ABI_POLLOUT);
	CHECK_EQ(available(), 0);
	CHECK_EQ(read_term(), AGAIN);
	type("\ngh\n\004");
	CHECK_EQ(polled(), ABI_POLLIN | ABI_POLLOUT);
	CHECK_EQ(syscall3(SYS_read, term, (long)text, 3), 3);
	CHECK(!memcmp(text, "abc", 3));
	CHECK_EQ(syscall3(SYS_read, term, (long)text, 10), 4);
	CHECK(!memcmp(text, "def\n", 4));
	CHECK_EQ(read_term(), 3);
	CHECK_EQ(read_term(), 0); /* the end of file that was typed */
	CHECK_EQ(read_term(), AGAIN);
}

static void type_late(void)
{
	sleep_ms(150);
	type("xx");
}

static void type_slowly(void)
{
	sleep_ms(5);
	type("x");
	sleep_ms(5);
	type("xyz");
}

/* Without lines VMIN and VTIME say how many bytes a read waits for, and how long. */
static void bytes(void)
{
	const long tenth = 100000000;
	char text[4] = "....";
	long pid, t;

	set_mode(0, 3, 0);
	pid = begin(type_slowly);
	CHECK_EQ(syscall3(SYS_read, term, (long)text, 3), 3);
	CHECK(!memcmp(text, "xxy.", 4));
	CHECK_EQ(wait_for(pid), 0);
	set_mode(0, 0, 0);
	CHECK_EQ(read_term(), 1);
	CHECK_EQ(read_term(), 0);
	type("x");
	CHECK_EQ(read_term(), 1);
	set_mode(0, 0, 1);
	t = now_ns();
	CHECK_EQ(read_term(), 0);
	CHECK(now_ns() - t >= tenth);
	set_mode(0, 2, 1);
	type("x");
	t = now_ns();
	CHECK_EQ(read_term(), 1);
	CHECK(now_ns() - t >= tenth);
	pid = begin(type_late);
	CHECK_EQ(read_term(), 2); /* the time counts from the first byte on */
	CHECK_EQ(wait_for(pid), 0);
	term = open_terminal("/dev/tty", RDWR | NONBLOCK);
	CHECK_EQ(read_term(), AGAIN);
	set_mode(0, 0, 0);
	CHECK_EQ(read_term(), 0);
	type("x");
	CHECK_EQ(read_term(), 1);
}

static void type_and_interrupt(void)
{
	type("x");
	while (!notes->results[0]) {
		sleep_ms(1);
		send(syscall0(SYS_getppid), L_USR1);
	}
}

/* A signal ends a read that waits for more; it keeps no byte back, nor does its time go on. */
static void bytes_interrupted(void)
{
	long pid;

	set_handler(L_USR1, on_signal, 0);
	set_mode(0, 3, 0);
	pid = begin(type_and_interrupt);
	while (available() || !notes->interrupted)
		CHECK_EQ(read_term(), 1);
	notes->results[0] = 1;
	wait_for(pid);
	set_mode(0, 0, 1);
	type("x");
	CHECK_EQ(read_term(), 1);
	sleep_ms(150);
}

/* Input that nobody has read is thrown away where that is asked for, and only there. */
static void flushed(void)
{
	struct mode m = cooked(0);

	type("ab\n");
	CHECK_EQ(control(term, FLUSH, 1), 0);
	CHECK_EQ(control(term, SET_MODE_AND_WAIT, (long)&m), 0);
	CHECK_EQ(control(term, FLUSH, 3), INVAL);
	CHECK_EQ(available(), 3);
	CHECK_EQ(control(term, FLUSH, 0), 0);
	CHECK_EQ(available(), 0);
	type("ab\n");
	CHECK_EQ(control(term, FLUSH, 2), 0);
	CHECK_EQ(available(), 0);
	type("ab\n");
	CHECK_EQ(control(term, SET_MODE_AND_FLUSH, 8), FAULT);
	CHECK_EQ(available(), 3);
	CHECK_EQ(control(term, SET_MODE_AND_FLUSH, (long)&m), 0);
	CHECK_EQ(available(), 0);
}

static void read_byte(void)
{
	char c;

	CHECK_EQ(syscall3(SYS_read, term, (long)&c, 1), 1);
}

/* A reader that waits for the end of a line takes what is there when lines count no more. */
static void mode_wakes(void)
{
	long pid = begin(read_byte);

	type("x");
	sleep_ms(10); /* now it waits */
	set_mode(0, 1, 0);
	CHECK_EQ(wait_for(pid), 0);
}

/* ---- output ---- */

static void wait_for_room(void)
{
	struct abi_pollfd p = {term, ABI_POLLOUT, 0};

	CHECK_EQ(syscall3(SYS_poll, (long)&p, 1, -1), 1);
}

/* Ctrl-S or a request holds the output, until Ctrl-Q or another lets it go. */
static void held(void)
{
	int waiting = -1;

	CHECK_EQ(control(term, WAITING, (long)&waiting), 0);
	CHECK_EQ(waiting, 0);
	term = open_terminal("/dev/tty", RDWR | NONBLOCK);
	for (int i = 0; i < 2; i++) {
		if (i)
			type("\023");
		else
			CHECK_EQ(control(term, FLOW, 0), 0);
		CHECK_EQ(polled(), 0);
		CHECK_EQ(write_term(), AGAIN);
		CHECK_EQ(control(term, FLOW, 2), 0);
		CHECK_EQ(control(term, FLOW, 3), 0);
		CHECK_EQ(control(term, FLOW, 4), INVAL);
		CHECK_EQ(polled(), 0);
		if (i)
			type("\021");
		else
			CHECK_EQ(control(term, FLOW, 1), 0);
		CHECK_EQ(polled(), ABI_POLLOUT);
		CHECK_EQ(write_term(), 3);
		shown("out");
	}
}

static void let_go(int how)
{
	struct mode m = cooked(0);

	m.iflag = 0; /* knows no Ctrl-S */
	if (!how)
		CHECK_EQ(control(term, FLOW, 1), 0);
	else if (how == 1)
		type("\021");
	else
		CHECK_EQ(control(term, SET_MODE, (long)&m), 0);
}

/* Whoever waits for output to go on, in write() or in poll(), is woken when it does. */
static void held_wakes(void)
{
	for (int i = 0; i < 3; i++) {
		long pid, polls;

		type("\023");
		pid = begin(write_once);
		polls = begin(wait_for_room);
		sleep_ms(10); /* now they wait */
		shown("");
		let_go(i);
		CHECK_EQ(wait_for(polls), 0);
		CHECK_EQ(wait_for(pid), 0);
		shown("out");
	}
}

/* More than a terminal sends at a time. */
static char long_text[30000];
#define LONG_TEXT_CONTROL 10 /* where it has its one other byte */

/* A long write with the byte c near its beginning, which the other end sends back. */
static long write_long(int fd, char c)
{
	struct mode m = cooked(0);

	m.lflag = ECHO;
	m.iflag = 0;
	CHECK_EQ(control(line, SET_MODE, (long)&m), 0);
	memset(long_text, 'a', sizeof(long_text));
	long_text[LONG_TEXT_CONTROL] = c;
	return syscall3(SYS_write, fd, (long)long_text, sizeof(long_text));
}

/* How much of it came out at the other end. */
static long count_shown(void)
{
	static char got[sizeof(long_text)];

	return syscall3(SYS_read, line, (long)got, sizeof(got));
}

/* A write that is held or interrupted in the middle says how much it has done. */
static void writes_in_part(void)
{
	int impatient = open_terminal("/dev/tty", RDWR | NONBLOCK);
	long part;

	note(L_INT);
	part = write_long(term, 3);
	CHECK(part > 10 && part < (long)sizeof(long_text));
	CHECK_EQ(notes->interrupted, 1);
	CHECK_EQ(count_shown(), part);
	part = write_long(impatient, 19);
	CHECK(part > 10 && part < (long)sizeof(long_text));
	CHECK_EQ(write_long(impatient, 19), AGAIN);
	CHECK_EQ(count_shown(), part);
	type("\021");
	CHECK_EQ(write_long(term, 'b'), sizeof(long_text));
}

static void write_long_held(void)
{
	CHECK_EQ(write_long(term, 19), sizeof(long_text));
}

/* A write comes out in one piece: another one waits for its end. */
static void writers(void)
{
	long first = begin(write_long_held), second, part;

	while (available_on(line) <= LONG_TEXT_CONTROL)
		syscall0(SYS_sched_yield);
	second = begin(write_once);
	sleep_ms(10);
	part = count_shown();
	CHECK_EQ(control(term, FLOW, 1), 0);
	CHECK_EQ(wait_for(first), 0);
	CHECK_EQ(wait_for(second), 0);
	CHECK_EQ(syscall3(SYS_read, line, (long)long_text, sizeof(long_text) - part),
	    sizeof(long_text) - part);
	CHECK(!memchr(long_text, 'o', sizeof(long_text)));
	shown("out");
}

/* ---- one case ---- */

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
    {"taken", taken},
    {"stolen", stolen},
    {"given_up", given_up},
    {"background_read", background_read},
    {"background_read_refused", background_read_refused},
    {"background_write", background_write},
    {"background_change", background_change},
    {"foreground", foreground},
    {"foreground_gone", foreground_gone},
    {"background_orphan", background_orphan},
    {"signal_characters", signal_characters},
    {"size", size},
    {"left", left},
    {"size_unknown", size_unknown},
    {"leader_ends", leader_ends},
    {"lines", lines},
    {"bytes", bytes},
    {"bytes_interrupted", bytes_interrupted},
    {"flushed", flushed},
    {"mode_wakes", mode_wakes},
    {"held", held},
    {"held_wakes", held_wakes},
    {"writes_in_part", writes_in_part},
    {"writers", writers},
};
static const char *wanted;

/* As the leader of a session that has the terminal. */
static void run_case(void)
{
	struct mode raw = cooked(0);

	raw.lflag = raw.iflag = 0;
	CHECK_EQ(syscall0(SYS_setsid), own_pid());
	term = open_terminal("/dev/ttyT0", RDWR);
	line = open_terminal("/dev/ttyT1", RDWR | NOCTTY | NONBLOCK);
	CHECK_EQ(set_lflag(0), 0);
	CHECK_EQ(control(term, FLOW, 1), 0);
	CHECK_EQ(control(term, FLUSH, 2), 0);
	CHECK_EQ(control(line, SET_MODE_AND_FLUSH, (long)&raw), 0);
	CHECK_EQ(front(), own_pid());
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(cases[i].name, wanted))
			cases[i].run();
}

int main(int argc, char **argv)
{
	long pid;

	wanted = argc > 1 ? argv[1] : "";
	notes = (struct notes *)map_pages(0, 1, P_READ | P_WRITE, M_SHARED);
	pid = begin(run_case);
	CHECK_EQ(stopped_by(pid), 0);
	return check_failures != 0;
}
