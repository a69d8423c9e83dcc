/*
 * deaths [DEATHS [SEED]]: programs that die in the middle of anything leave no reference to a user
 * event behind. DEATHS (100) programs register, write, unregister, delete, map the page, fork and
 * become others, in both ways there are to register, and are killed after a while, with all their
 * children; meanwhile their parent switches the events on and off. At the end nothing is busy and
 * no bit is set, all events can go, and none is left.
 */
#include "tests/programs/random.h"
#include "tests/programs/user_events.h"

#define WORKERS	   3 /* at a time */
#define FILES	   4
#define WORDS	   32	 /* in each of two pages */
#define LAST_STEPS 40	 /* of what a worker forks */
#define PATIENCE   10000 /* milliseconds */
#define NAP_NS	   100000

/* What all processes count, in one page that they share. */
static volatile struct {
	unsigned long steps, forks, execs, suicides;
} * counts;

/* ---- a worker: what it has may be anything ---- */

static long files[FILES] = {-1, -1, -1, -1};
static uint32_t *pages[2]; /* of words: private, shared with its children */
static bool is_child;

static volatile uint32_t *any_word(void)
{
	return &pages[any(2)][any(WORDS)];
}

static long any_file(void)
{
	return files[any(FILES)];
}

/* A name always has the same fields, whatever of it is registered first. */
static const char *any_definition(void)
{
	static const char *const definitions[] = {"d0", "d1 u32 a", "d2 u32 a; u32 b",
	    "d3 __data_loc char[] s", "d4 u8 a", "d5 char[16] s", "d6 struct x y 12", "d7 u64 a"};

	return definitions[any(sizeof(definitions) / sizeof(*definitions))];
}

static void step_open(void)
{
	long *f = &files[any(FILES)];

	syscall1(SYS_close, *f);
	*f = open_data();
}

static void step_close(void)
{
	syscall1(SYS_close, any_file());
}

static void step_register_bit(void)
{
	reg_bit(any_file(), any_definition(), NULL);
}

static void step_register_word(void)
{
	reg_word(any_file(), any_definition(), any_word(), 4, any(4), any(4));
}

static void step_unregister(void)
{
	unreg(any_file(), any_word(), any(4));
}

static void step_delete(void)
{
	char name[3] = {'d', '0' + any(8), '\0'};

	del(any_file(), name);
}

static void step_write(void)
{
	uint32_t words[8] = {any(6)};

	syscall3(SYS_write, any_file(), (long)words, 4 + any(28));
}

static void step_map(void)
{
	long fd = open_tracing("user_events_status", L_RDWR);
	long page = syscall6(SYS_mmap, 0, PAGE, P_READ, M_SHARED, fd, 0);

	syscall1(SYS_close, fd);
	if (page > 0 && any(2))
		syscall2(SYS_munmap, page, PAGE);
}

/* The words' page goes, and another comes: the kernel goes on setting bits there. */
static void step_remap(void)
{
	long at = (long)pages[0];

	syscall2(SYS_munmap, at, PAGE);
	if (map_pages(at, 1, P_READ | P_WRITE, M_PRIVATE | M_FIXED) != at)
		exit_now(1);
}

static void die(void)
{
	counts->suicides++;
	syscall2(SYS_kill, syscall0(SYS_getpid), L_KILL);
}

static void nap(unsigned long most)
{
	struct abi_timespec t = {0, any(most)};

	syscall2(SYS_nanosleep, (long)&t, 0);
}

static void steps(unsigned long n);

static void step_fork(void)
{
	if (is_child || syscall0(SYS_fork))
		return;
	counts->forks++;
	is_child = true;
	steps(any(LAST_STEPS));
	die();
}

/* A child in the memory of its parent, which waits for it. */
static void step_vfork(void)
{
	static char *argv[] = {"/bin/true", NULL};

	if (syscall0(SYS_vfork))
		return;
	step_register_word();
	step_unregister();
	if (any(2))
		syscall3(SYS_execve, (long)argv[0], (long)argv, (long)(argv + 1));
	syscall2(SYS_kill, syscall0(SYS_getpid), L_KILL);
	exit_now(1);
}

/* Its words go, its files stay. */
static void step_exec(void)
{
	char seed[24], *argv[] = {"/test/deaths", "worker", seed, NULL};

	if (is_child || any(8))
		return;
	counts->execs++;
	snprintf(seed, sizeof(seed), "%lu", random_state);
	syscall3(SYS_execve, (long)argv[0], (long)argv, (long)(argv + 3));
}

/* The children that are dead. */
static void step_reap(void)
{
	int status;

	while (syscall4(SYS_wait4, -1, (long)&status, ABI_WNOHANG, 0) > 0)
		;
}

static void steps(unsigned long n)
{
	static void (*const all[])(void) = {step_open, step_close, step_register_bit,
	    step_register_bit, step_register_word, step_register_word, step_register_word,
	    step_unregister, step_unregister, step_delete, step_write, step_write, step_map,
	    step_remap, step_fork, step_vfork, step_exec, step_reap};

	for (; n; n--) {
		all[any(sizeof(all) / sizeof(*all))]();
		counts->steps++;
		if (!any(4))
			nap(NAP_NS); /* or nobody else gets far */
	}
}

static void map_words(void)
{
	pages[0] = (uint32_t *)map_pages(0, 1, P_READ | P_WRITE, M_PRIVATE);
	pages[1] = (uint32_t *)map_pages(0, 1, P_READ | P_WRITE, M_SHARED);
	for (int i = 0; i < FILES; i++)
		files[i] = open_data();
}

/* What a worker becomes in step_exec(): the same once more, but that nobody can see its counts. */
static void work_on(const char *seed)
{
	static struct {
		unsigned long steps, forks, execs, suicides;
	} unseen;

	counts = (void *)&unseen;
	random_state = strtoul(seed, NULL, 10) | 1;
	map_words();
	steps(-1UL);
}

/* ---- their parent ---- */

static long workers[WORKERS];

static void start(int slot, unsigned long seed, unsigned long number)
{
	long pid = syscall0(SYS_fork);

	if (!pid) {
		syscall2(SYS_setpgid, 0, 0); /* so that its children are found, too */
		random_begin(seed, number);
		map_words();
		steps(-1UL);
	}
	workers[slot] = pid;
}

static void kill_worker(int slot)
{
	int status = -1;

	if (syscall2(SYS_kill, -workers[slot], L_KILL)) /* it has not made its group yet */
		CHECK_EQ(syscall2(SYS_kill, workers[slot], L_KILL), 0);
	CHECK_EQ(syscall4(SYS_wait4, workers[slot], (long)&status, 0, 0), workers[slot]);
	CHECK_EQ(status, L_KILL);
}

/* Until all of a group are gone whose first has been waited for. */
static void wait_for_group(long group)
{
	int ms = 0;

	while (syscall2(SYS_kill, -group, L_KILL) == 0 && ms++ < PATIENCE)
		sleep_ms(1);
	CHECK(ms < PATIENCE);
}

/* For as long as some steps take, and sometimes for as long as none does. */
static void wait_a_while(void)
{
	if (any(4))
		nap(10 * NAP_NS);
	for (unsigned long n = any(20000); n; n--)
		__asm__ volatile("pause");
}

static void kill_many(unsigned long deaths, unsigned long seed)
{
	unsigned long number = 0;

	random_begin(seed, 0);
	for (int slot = 0; slot < WORKERS; slot++)
		start(slot, seed, ++number);
	for (; number < deaths + WORKERS && !check_failures; number++) {
		int slot = any(WORKERS);
		long group = workers[slot];

		wait_a_while();
		put_text("events/user_events/enable", 0, any(2) ? "1" : "0"); /* if there is one */
		kill_worker(slot);
		wait_for_group(group);
		start(slot, seed, number + 1);
	}
	for (int slot = 0; slot < WORKERS; slot++) {
		kill_worker(slot);
		wait_for_group(workers[slot]);
	}
}

static void check_nothing_left(void)
{
	long fd = open_tracing("user_events_status", L_RDWR);
	unsigned char *page = (unsigned char *)syscall6(SYS_mmap, 0, PAGE, P_READ, M_SHARED, fd, 0);

	put_text("events/enable", 0, "0");
	for (unsigned i = 0; i < PAGE; i++)
		CHECK_EQ(page[i], 0);
	CHECK(has_line("user_events_status", "Busy: 0"));
	CHECK_EQ(put_text("dynamic_events", L_TRUNC, "\n"), 0); /* EBUSY if one has a reference */
	CHECK(has_line("user_events_status", "Active: 0"));
	syscall1(SYS_close, fd);
	syscall2(SYS_munmap, (long)page, PAGE);
}

int main(int argc, char **argv)
{
	unsigned long deaths = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
	unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 0) : (unsigned long)now_ns() | 1;

	if (argc == 3 && !strcmp(argv[1], "worker"))
		work_on(argv[2]);
	printf("# seed %lu\n", seed);
	fflush(stdout);
	counts = (void *)map_pages(0, 1, P_READ | P_WRITE, M_SHARED);
	kill_many(deaths, seed);
	printf("# %lu steps, %lu children, %lu execs, %lu killed themselves\n", counts->steps,
	    counts->forks, counts->execs, counts->suicides);
	CHECK(counts->steps > deaths && counts->forks && counts->suicides);
	check_nothing_left();
	return check_failures != 0;
}
